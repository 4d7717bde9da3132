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
WORKER_FOLDER = "ADJUDGE_WORKER_FOLDER"
"""Where a worker's temporary files lie."""

# There is a worker for each core; a numeric library that starts a thread for each core too only gets in its way.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def worker_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of judges in code: without anything that looks like a secret.

    `ADJUDGE_JUDGE_ENV` lists, with commas, the names that they may see all the same.
    """
    allowed = {name.strip() for name in environ.get("ADJUDGE_JUDGE_ENV", "").split(",")}
    kept = {name: value for name, value in environ.items() if name in allowed or not looks_secret(name, value)}
    return {**_ONE_THREAD, **kept, WORKER_MARK: "1"}


class WorkerProcess(subprocess.Popen[bytes]):
    """A worker, in a session of its own, that waits for its `Setup` on standard input.

    Its temporary files lie in a folder of its own, which goes when it ends, however it ends.
    """

    def __init__(self, cwd: str | None = None) -> None:
        self._folder = _make_folder()
        super().__init__(
            # -P: what is judged may lie in the current folder, and must not stand in for a module of ours.
            [sys.executable, "-P", "-m", "adjudge.engine.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=cwd,
            env={**worker_environment(os.environ), "TMPDIR": self._folder, WORKER_FOLDER: self._folder},
            start_new_session=True,
        )

    def end(self) -> None:
        """End the process and everything in its process group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(timeout=5)
        for stream in (self.stdin, self.stdout):
            if stream is not None:
                stream.close()
        remove_folder(self._folder)


def remove_folder(folder: str) -> None:
    """Remove a folder with what is in it, as far as that can be done."""
    try:
        os.rmdir(folder)  # noqa: PTH106 - without importing what removes trees: most are empty
    except OSError:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def _make_folder() -> str:
    """What `tempfile.mkdtemp` does, without the time that importing it takes.

    Raises:
        OSError: there is no place for temporary files.
    """
    names = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    places = [place for place in (*names, "/tmp", "/var/tmp") if place and os.access(place, os.W_OK | os.X_OK)]
    folder = os.path.join(os.path.realpath(places[0] if places else "."), f"adjudge-worker-{os.urandom(6).hex()}")  # noqa: PTH118
    os.mkdir(folder, 0o700)  # noqa: PTH102
    return folder
