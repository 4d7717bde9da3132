"""The journal of a run and the cache across runs: SQLite, written by one thread that commits in groups.

A write is durable (fsynced) before its future resolves; `kill -9` at any moment loses only what was under way.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import CaseRun, StoreError, Verdict
from adjudge.models import ModelRequest, Reply, TextPart

SCHEMA_VERSION = 1

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS calls (
  key TEXT PRIMARY KEY, model TEXT NOT NULL, reply BLOB NOT NULL, cost_usd REAL, seconds REAL, origin TEXT NOT NULL,
  at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
CREATE TABLE IF NOT EXISTS spending (key TEXT NOT NULL, cost_usd REAL);
CREATE TABLE IF NOT EXISTS verdicts (
  case_id TEXT NOT NULL, judge TEXT NOT NULL, criterion TEXT NOT NULL, sample INTEGER NOT NULL,
  key TEXT NOT NULL, plan TEXT NOT NULL, final INTEGER NOT NULL, verdict BLOB NOT NULL,
  PRIMARY KEY (case_id, judge, criterion, sample)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS times (
  case_id TEXT NOT NULL, judge TEXT NOT NULL, started REAL NOT NULL, ended REAL NOT NULL,
  PRIMARY KEY (case_id, judge)
) WITHOUT ROWID;
"""

_MORE_TABLES = """
CREATE TABLE IF NOT EXISTS prompts (key TEXT PRIMARY KEY, prompt BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS executions (case_id TEXT PRIMARY KEY, key TEXT NOT NULL, run BLOB NOT NULL) WITHOUT ROWID;
"""

Statement = tuple[str, Sequence[Any]]

_PUT_CALL = "INSERT OR REPLACE INTO calls (key, model, reply, cost_usd, seconds, origin) VALUES (?, ?, ?, ?, ?, ?)"
_PUT_VERDICT = "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_PUT_META = "INSERT OR REPLACE INTO meta VALUES (?, ?)"


def put_call(key: str, model: str, reply: Reply, *, seconds: float, origin: str) -> Statement:
    """Statement that keeps a model's reply. `origin` is `asked` or `cache`; only asked ones were paid for here."""
    return _PUT_CALL, (key, model, msgspec.json.encode(reply), reply.usage.cost_usd, seconds, origin)


def put_prompt(key: str, request: ModelRequest) -> Statement:
    """Statement that keeps what a call asked, for people to read: all its texts; images stand as a mark."""
    parts = [request.system, request.fixed + request.prompt]
    parts += [part.text if isinstance(part, TextPart) else "[image]" for part in request.material]
    parts.append(request.correction)
    text = "\n\n".join(part for part in parts if part)
    return "INSERT OR REPLACE INTO prompts VALUES (?, ?)", (key, zlib.compress(text.encode("utf-8", "replace"), 1))


def put_spending(key: str, reply: Reply) -> Statement:
    """Statement that remembers what a call cost, also when its reply is replaced later."""
    return "INSERT INTO spending VALUES (?, ?)", (key, reply.usage.cost_usd)


def put_verdict(verdict: Verdict, key: str, plan: str) -> Statement:
    """Statement that keeps a verdict under the key of everything that could have changed it, for a plan."""
    final = not (verdict.error and verdict.error.kind.transient)
    where = (verdict.case, verdict.judge, verdict.criterion, verdict.sample)
    return _PUT_VERDICT, (*where, key, plan, int(final), msgspec.msgpack.encode(verdict))


def put_times(case_id: str, judge: str, started: float, ended: float) -> Statement:
    """Statement that keeps when a judge was asked about a case, in seconds since 1970."""
    return "INSERT OR REPLACE INTO times VALUES (?, ?, ?, ?)", (case_id, judge, started, ended)


def put_execution(run: CaseRun, key: str) -> Statement:
    """Statement that keeps how the agent's run of a case ended, under the key of everything that could change it."""
    return "INSERT OR REPLACE INTO executions VALUES (?, ?, ?)", (run.case, key, msgspec.msgpack.encode(run))


class Store:
    """One SQLite file. Reads happen on the caller's thread, writes on the store's own.

    Raises (on opening):
        StoreError: the file cannot be created, is no journal, or is of a newer version.
    """

    def __init__(self, path: Path, *, durable: bool = True, readonly: bool = False) -> None:
        self.path = path
        self._writes: queue.SimpleQueue[tuple[list[Statement], asyncio.Future[None] | None] | None] = (
            queue.SimpleQueue()
        )
        self._failure: StoreError | None = None
        self._thread: threading.Thread | None = None
        try:
            if readonly:
                self._reader = _open_existing(path)
                self._check_version()
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
            self._writer.execute("PRAGMA journal_mode = WAL")
            self._writer.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._writer.executescript(_TABLES + _MORE_TABLES)
            self._writer.execute("INSERT OR IGNORE INTO meta VALUES ('schema_version', ?)", (str(SCHEMA_VERSION),))
            self._reader = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
            self._check_version()
        except (sqlite3.Error, OSError) as error:
            raise StoreError(_explain(error, path)) from None
        self._thread = threading.Thread(target=self._write_loop, name="adjudge-journal", daemon=True)
        self._thread.start()

    def _check_version(self) -> None:
        (version,) = self._reader.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone() or ("0",)
        if str(version) != str(SCHEMA_VERSION):
            raise StoreError(
                f"{self.path} was written by another version of adjudge (schema {version}); use a new --output"
            )

    async def write(self, statements: list[Statement]) -> None:
        """Write in one transaction, and return once it is on disk.

        Raises:
            StoreError: the disk is full, the file went away, ...
        """
        if self._failure is not None:
            raise self._failure
        future = asyncio.get_running_loop().create_future()
        self._writes.put((statements, future))
        await future

    def write_later(self, statements: list[Statement]) -> None:
        """Queue a write that nobody waits for; it is done before `close` returns."""
        self._writes.put((statements, None))

    def reply(self, key: str) -> Reply | None:
        """The kept reply of a call, if there is one.

        Raises:
            StoreError: the file is damaged.
        """
        try:
            row = self._reader.execute("SELECT reply FROM calls WHERE key = ?", (key,)).fetchone()
            return msgspec.json.decode(row[0], type=Reply) if row else None
        except (sqlite3.Error, msgspec.MsgspecError) as error:
            raise StoreError(f"{self.path} is damaged: {error}") from None

    def prompt(self, key: str) -> str:
        """What a call asked; nothing when it was not kept."""
        try:
            row = self._reader.execute("SELECT prompt FROM prompts WHERE key = ?", (key,)).fetchone()
        except sqlite3.OperationalError:  # a journal from before prompts were kept
            return ""
        return zlib.decompress(row[0]).decode() if row else ""

    def seconds(self, key: str) -> float | None:
        """How long a call took; `None` for one that was answered from a cache."""
        row = self._reader.execute("SELECT seconds FROM calls WHERE key = ? AND origin = 'asked'", (key,)).fetchone()
        return row[0] if row else None

    def final_keys(self, case_id: str, *, scored: bool = False) -> dict[str, str]:
        """Judge -> key, for verdicts of a case that need not be asked again; with `scored` only those with a score."""
        query = "SELECT judge, MIN(key) FROM verdicts WHERE case_id = ? GROUP BY judge"
        rows = self._reader.execute(query + " HAVING COUNT(DISTINCT key) = 1 AND MIN(final) = 1", (case_id,))
        keys = dict(rows.fetchall())
        if scored:
            kept = {judge: self.kept(case_id, judge, key) for judge, key in keys.items()}
            keys = {judge: keys[judge] for judge in keys if all(verdict.error is None for verdict in kept[judge])}
        return keys

    def verdicts(self, plan: str) -> Iterator[Verdict]:
        """The verdicts of one plan, in a fixed order; those of earlier plans stay in the file but do not count."""
        query = "SELECT verdict FROM verdicts WHERE plan = ? ORDER BY case_id, judge, criterion, sample"
        rows = self._reader.execute(query, (plan,))
        decoder = msgspec.msgpack.Decoder(Verdict)
        for (data,) in rows:
            yield decoder.decode(data)

    def kept(self, case_id: str, judge: str, key: str) -> list[Verdict]:
        """The verdicts of one judge on one case under a key, whatever plan they were made for."""
        query = "SELECT verdict FROM verdicts WHERE case_id = ? AND judge = ? AND key = ? ORDER BY criterion, sample"
        rows = self._reader.execute(query, (case_id, judge, key))
        return [msgspec.msgpack.decode(data, type=Verdict) for (data,) in rows]

    def times(self) -> dict[tuple[str, str], tuple[float, float]]:
        """(case, judge) -> (started, ended), for judges whose times are kept."""
        rows = self._reader.execute("SELECT case_id, judge, started, ended FROM times")
        return {(case, judge): (started, ended) for case, judge, started, ended in rows}

    def executions(self) -> dict[str, tuple[str, CaseRun]]:
        """Case -> (key, how the agent's run of it ended)."""
        try:
            rows = self._reader.execute("SELECT case_id, key, run FROM executions").fetchall()
        except sqlite3.OperationalError:  # a journal from before agents were run
            return {}
        return {case: (key, msgspec.msgpack.decode(run, type=CaseRun)) for case, key, run in rows}

    def spent_usd(self) -> float:
        """What the calls asked from this run directory cost, as far as it is known."""
        (total,) = self._reader.execute("SELECT TOTAL(cost_usd) FROM spending").fetchone()
        return float(total)

    def meta(self, key: str) -> bytes | None:
        row = self._reader.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def put_meta(self, key: str, value: bytes) -> Statement:
        return _PUT_META, (key, value)

    def close(self) -> None:
        """Finish the queued writes and fold the log into the file."""
        if self._thread is not None:
            self._writes.put(None)
            self._thread.join()
        self._reader.close()
        if self._thread is not None:
            with contextlib.suppress(sqlite3.Error):
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._writer.close()

    def _write_loop(self) -> None:
        while True:
            batch = [self._writes.get()]
            while not self._writes.empty():
                batch.append(self._writes.get())
            entries = [entry for entry in batch if entry is not None]
            error = self._commit([statement for statements, _ in entries for statement in statements])
            futures = [future for _, future in entries if future is not None]
            if futures:
                with contextlib.suppress(RuntimeError):
                    futures[0].get_loop().call_soon_threadsafe(_settle, futures, error)
            if len(entries) < len(batch):
                return

    def _commit(self, statements: list[Statement]) -> StoreError | None:
        if self._failure is not None or not statements:
            return self._failure
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            for sql, parameters in statements:
                self._writer.execute(sql, parameters)
            self._writer.execute("COMMIT")
        except sqlite3.Error as error:
            with contextlib.suppress(sqlite3.Error):
                self._writer.execute("ROLLBACK")
            self._failure = StoreError(_explain(error, self.path))
        return self._failure


def _open_existing(path: Path) -> sqlite3.Connection:
    """Open for reading. Where it may be written too, closing it clears the log files away."""
    for mode in ("rw", "ro"):
        try:
            connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, check_same_thread=False)
            connection.execute("SELECT 1 FROM meta").fetchone()
            return connection
        except sqlite3.OperationalError as error:
            failure = error
    raise failure


def _settle(futures: list[asyncio.Future[None]], error: StoreError | None) -> None:
    for future in futures:
        if future.done():
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)


def _explain(error: Exception, path: Path) -> str:
    text = getattr(error, "strerror", None) or str(error)
    if isinstance(error, sqlite3.DatabaseError) and "not a database" in text:
        return f"{path} is not a journal of adjudge ({text})"
    return f"the journal {path} cannot be written: {text}"
