"""A warm Python that becomes other programs: each script runs in a child of its own, as `python script.py` would.

Runs as a script. Requests come as JSON lines on standard input: {id, script, file, argv, cwd, stdout, stderr, env}.
Answers go as JSON lines to standard output: {id, pid} when the child runs, {id, status} when it has ended.
When standard input ends, so do all children.
"""

import atexit
import contextlib
import json
import os
import resource
import select
import signal
import sys
import threading
import traceback
import types

MAX_FILE = 2 * 1024**3
"""Bytes that a script may write to one file, its output among them."""


def main() -> None:
    source, out = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    loaded = frozenset(sys.modules)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    running: dict[int, int] = {}
    pending = b""
    while True:
        ready, _, _ = select.select([source, woken], [], [])
        if woken in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(woken, 4096)
            reap(running, out)
        if source not in ready:
            continue
        data = os.read(source, 1 << 20)
        if not data:
            for pid in running:
                with contextlib.suppress(OSError):
                    os.killpg(pid, signal.SIGKILL)
            return
        *lines, pending = (pending + data).split(b"\n")
        for line in lines:
            request = json.loads(line)
            pid = os.fork()
            if pid == 0:
                for handle in (source, out, woken, wake):
                    os.close(handle)
                become(request, loaded)
            running[pid] = request["id"]
            tell(out, {"id": request["id"], "pid": pid})
        reap(running, out)


def reap(running: dict[int, int], out: int) -> None:
    while running:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        if pid in running:
            tell(out, {"id": running.pop(pid), "status": os.waitstatus_to_exitcode(status)})


def tell(out: int, answer: dict[str, int]) -> None:
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[os.write(out, data) :]


def become(request: dict[str, object], loaded: frozenset[str]) -> None:
    """Run the script in this process, which is a child, and end."""
    code = 70
    try:
        set_up(request)
        code = run(request, loaded)
    finally:
        os._exit(code & 0xFF)


def set_up(request: dict[str, object]) -> None:
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, key in ((1, "stdout"), (2, "stderr")):
        handle = os.open(str(request[key]), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        os.dup2(handle, number)
        os.close(handle)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = MAX_FILE if hard == resource.RLIM_INFINITY else min(MAX_FILE, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    os.chdir(str(request["cwd"]))
    env = request["env"]
    assert isinstance(env, dict)
    os.environ.update(env)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]


def run(request: dict[str, object], loaded: frozenset[str]) -> int:
    file = str(request["file"])
    folder = os.path.dirname(os.path.abspath(file))  # noqa: PTH100, PTH120
    sys.path[0:0] = [folder]
    forget_what_stands_beside(folder, loaded)
    argv = request["argv"]
    assert isinstance(argv, list)
    sys.argv = [file, *argv]
    program = types.ModuleType("__main__")
    program.__dict__.update(__file__=file, __builtins__=__builtins__, __spec__=None, __cached__=None)
    sys.modules["__main__"] = program
    code = 0
    try:
        exec(compile(str(request["script"]), file, "exec", dont_inherit=True), program.__dict__)
    except SystemExit as error:
        code = exit_code(error.code)
    except BaseException as error:
        show(error)
        code = 1
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    except SystemExit as error:
        code = exit_code(error.code)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 120
    return code


def show(error: BaseException) -> None:
    """The traceback as Python prints it, without the frame that is ours."""
    trace = error.__traceback__.tb_next if error.__traceback__ is not None else None
    if sys.excepthook is not sys.__excepthook__:
        sys.excepthook(type(error), error, trace)
    else:
        traceback.print_exception(type(error), error, trace)


def exit_code(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)
    return 1


def forget_what_stands_beside(folder: str, loaded: frozenset[str]) -> None:
    """A module beside the script stands before one of the same name that is loaded here already."""
    try:
        names = {name.partition(".")[0] for name in os.listdir(folder)}  # noqa: PTH208
    except OSError:
        return
    for module in loaded:
        if module.partition(".")[0] in names and module not in ("__main__", "sys", "builtins"):
            sys.modules.pop(module, None)


if __name__ == "__main__":
    main()
