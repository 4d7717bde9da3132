"""Starting worker processes, also before it is known what they will be asked: they take as long to import as we do."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping

from adjudge.domain.secrets import looks_secret

WORKER_MARK = "ADJUDGE_IN_WORKER"
"""Set in the environment of worker processes."""

# There is a worker for each core; a numeric library that starts a thread for each core too only gets in its way.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def worker_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of judges in code: without anything that looks like a secret.

    `ADJUDGE_JUDGE_ENV` lists, with commas, the names that they may see all the same.
    """
    allowed = {name.strip() for name in environ.get("ADJUDGE_JUDGE_ENV", "").split(",")}
    kept = {name: value for name, value in environ.items() if name in allowed or not looks_secret(name, value)}
    return {**_ONE_THREAD, **kept, WORKER_MARK: "1"}


def start_worker(cwd: str | None = None) -> subprocess.Popen[bytes]:
    """A worker process, in a session of its own, that waits for its `Setup` on standard input."""
    return subprocess.Popen(
        # -P: what is judged may lie in the current folder, and must not stand in for a module of ours.
        [sys.executable, "-P", "-m", "adjudge.engine.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd=cwd,
        env=worker_environment(os.environ),
        start_new_session=True,
    )


def end_worker(process: subprocess.Popen[bytes]) -> None:
    """End a process and everything in its process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
