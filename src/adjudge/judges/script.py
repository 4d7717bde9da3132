"""Scripts as judges: exit status 0 passes, any other fails, and an end by a signal or for its time is no verdict."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from adjudge.agents.process import MARK, end_all, run_process
from adjudge.domain import ErrorKind, Failure, ScriptJudge
from adjudge.judges import script_server
from adjudge.judges.outcome import MAX_PRINTED, Outcome, cap

_TAIL = 100_000


class ScriptRunner:
    """Runs scripts, at most `at_once` together. One instance a run; the warm process starts with the first script."""

    def __init__(self, environ: Mapping[str, str], *, at_once: int) -> None:
        self._environ = dict(environ)
        self._places = asyncio.Semaphore(at_once)
        self._server: asyncio.subprocess.Process | None = None
        self._starting = asyncio.Lock()
        self._reading: asyncio.Task[None] | None = None
        self._started: dict[int, asyncio.Future[int]] = {}
        self._ended: dict[int, asyncio.Future[int]] = {}
        self._count = 0

    async def run(self, judge: ScriptJudge, folder: Path, files: Path) -> Outcome:
        """Run a script in a folder. Its output is kept in `files`.stdout.txt and `files`.stderr.txt."""
        async with self._places:
            files.mkdir(parents=True, exist_ok=True)
            stdout, stderr = Path(f"{files}.stdout.txt"), Path(f"{files}.stderr.txt")
            for path in (stdout, stderr):
                path.unlink(missing_ok=True)
            with tempfile.TemporaryDirectory(prefix="adjudge-script-", ignore_cleanup_errors=True) as name:
                private = Path(name)
                file = judge.path
                if not file:
                    file = str(private / "inline_check.py")
                    Path(file).write_text(judge.script, encoding="utf-8")
                context = private / "context.json"
                context.write_text(json.dumps({**judge.context, "output_dir": str(files)}), encoding="utf-8")
                try:
                    if judge.spawn:
                        status = await self._spawned(judge, file, context, folder, stdout, stderr)
                    else:
                        status = await self._forked(judge, file, context, folder, stdout, stderr)
                except OSError as error:
                    return Outcome(failure=Failure(ErrorKind.CRASHED, f"the script cannot be started: {error}"))
            return await asyncio.to_thread(_outcome, judge, status, stdout, stderr)

    async def _spawned(
        self, judge: ScriptJudge, file: str, context: Path, folder: Path, stdout: Path, stderr: Path
    ) -> int | None:
        argv = [sys.executable, file, str(context)]
        if judge.path:  # what runs is what was read, whatever became of the file since
            argv = [sys.executable, "-c", _RUN_AS, file, str(context)]
        ran = await run_process(
            argv,
            env=self._environ,
            cwd=folder,
            stdin=judge.script.encode() if judge.path else b"",
            stdout=stdout,
            stderr=stderr,
            limit_s=judge.timeout_s,
        )
        return ran.status

    async def _forked(
        self, judge: ScriptJudge, file: str, context: Path, folder: Path, stdout: Path, stderr: Path
    ) -> int | None:
        server = await self._warm()
        loop = asyncio.get_running_loop()
        self._count += 1
        number = self._count
        token = secrets.token_hex(12)
        started = self._started[number] = loop.create_future()
        ended = self._ended[number] = loop.create_future()
        request = {
            "id": number,
            "script": judge.script,
            "file": file,
            "argv": [str(context)],
            "cwd": str(folder),
            "stdout": str(stdout),
            "stderr": str(stderr),
            "env": {MARK: token},
        }
        assert server.stdin is not None
        server.stdin.write(json.dumps(request).encode() + b"\n")
        pid = await started
        try:
            return await asyncio.wait_for(asyncio.shield(ended), judge.timeout_s)
        except TimeoutError:
            return None
        finally:
            end_all(pid, token)
            with contextlib.suppress(Exception):
                await asyncio.wait_for(ended, 5)

    async def _warm(self) -> asyncio.subprocess.Process:
        async with self._starting:
            if self._server is None or self._server.returncode is not None:
                self._server = await asyncio.create_subprocess_exec(
                    sys.executable,
                    str(Path(script_server.__file__)),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.DEVNULL,
                    env=self._environ,
                    start_new_session=True,
                )
                self._reading = asyncio.create_task(self._read(self._server))
        return self._server

    async def _read(self, server: asyncio.subprocess.Process) -> None:
        assert server.stdout is not None
        while line := await server.stdout.readline():
            answer = json.loads(line)
            waiting = self._started if "pid" in answer else self._ended
            future = waiting.pop(answer["id"])
            if not future.done():
                future.set_result(answer.get("pid", answer.get("status")))
        for future in (*self._started.values(), *self._ended.values()):
            if not future.done():
                future.set_exception(OSError("the process that runs scripts is gone"))
        self._started.clear()
        self._ended.clear()

    async def close(self) -> None:
        server = self._server
        if server is None:
            return
        if server.stdin is not None:
            server.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(server.wait(), 5)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(server.pid, signal.SIGKILL)
        if self._reading is not None:
            await asyncio.gather(self._reading, return_exceptions=True)


_RUN_AS = (
    "import sys;text=sys.stdin.read();file=sys.argv[1];sys.argv=sys.argv[1:];"
    "import os;sys.path[0]=os.path.dirname(os.path.abspath(file));"
    "g=sys.modules['__main__'].__dict__;g['__file__']=file;exec(compile(text,file,'exec'),g)"
)


def _outcome(judge: ScriptJudge, status: int | None, stdout: Path, stderr: Path) -> Outcome:
    said, complained = _tail(stdout), _tail(stderr)
    printed = cap("\n".join(filter(None, (said.strip(), complained.strip())))[-MAX_PRINTED:], MAX_PRINTED)
    for path in (stdout, stderr):
        if path.exists() and path.stat().st_size == 0:
            path.unlink()
    if status is None:
        text = f"the script ran longer than {judge.timeout_s:g} s and was stopped, with all it started"
        return Outcome(failure=Failure(ErrorKind.TIMEOUT, text), printed=printed)
    if status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        return Outcome(
            failure=Failure(ErrorKind.CRASHED, f"the script was killed by {name}"), printed=printed, exit_code=status
        )
    if status == 0:
        return Outcome(True, rationale=_last(said), printed=printed, exit_code=0)
    reason = _last(complained) or _last(said)
    return Outcome(False, rationale=cap(reason or f"exit status {status}", 2000), printed=printed, exit_code=status)


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _last(text: str) -> str:
    """The last line that says something; of a traceback, the message with the lines that go on from it."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""
