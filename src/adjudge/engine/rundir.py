"""Run directories: which one a run writes to, and that only one process does."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from adjudge.domain import StoreError
from adjudge.engine.store import Store

HOME = Path(".adjudge")
JOURNAL = "journal.db"


def choose(
    suite: str, output: Path | None, fingerprint: str, *, fresh: bool, finished: bool = False, runs: str = ""
) -> Path:
    """The directory of this run: `output`, else the newest run of the same plan if it is unfinished, else a new one.

    With `finished` the newest run will do although it was finished. `runs` is where the suite's runs lie.
    """
    if output is not None:
        return output
    parent = Path(runs) if runs else HOME / "runs" / suite
    if not fresh and parent.is_dir():
        earlier = sorted((path for path in parent.iterdir() if (path / JOURNAL).is_file()), reverse=True)
        if earlier and _is_of(earlier[0], fingerprint, finished=finished):
            return earlier[0]
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return parent / f"{stamp}-{secrets.token_hex(2)}"


def _is_of(run: Path, fingerprint: str, *, finished: bool) -> bool:
    try:
        store = Store(run / JOURNAL, readonly=True)
    except StoreError:
        return False
    try:
        return (finished or store.meta("finished") is None) and store.meta("fingerprint") == fingerprint.encode()
    finally:
        store.close()


@contextlib.contextmanager
def locked(run: Path) -> Iterator[None]:
    """Hold the run directory for this process; the lock goes with the process, however it ends.

    Raises:
        StoreError: another process holds it, or it cannot be written.
    """
    import fcntl

    try:
        run.mkdir(parents=True, exist_ok=True)
        handle = os.open(run / "run.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreError(f"the run directory {run} cannot be written: {error.strerror}") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(f"another adjudge process (pid {_holder(handle)}) is running in {run}") from None
        with contextlib.suppress(OSError):
            os.ftruncate(handle, 0)
            os.pwrite(handle, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(handle)


def _holder(handle: int) -> str:
    with contextlib.suppress(OSError):
        return os.pread(handle, 20, 0).decode("ascii", "replace").strip() or "unknown"
    return "unknown"
