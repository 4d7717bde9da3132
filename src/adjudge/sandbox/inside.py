"""Runs within the sandbox, as a script that needs nothing but Python: mounts, opens the way to the model, and starts
the program.

usage: inside.py PLAN.json

The plan: `argv`, `cwd`, `ports` ({port on loopback: path of a unix socket}), and, where nobody has mounted anything
yet, `root` (an empty folder) with `mounts` ([kind, source, target] with the kinds ro, rw, tmp, proc, dev, link).
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import sys
import threading

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_NOATIME, MS_RELATIME = 1, 2, 4, 8, 1024, 1 << 21
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 32, 4096, 16384, 1 << 18, 2
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
PR_SET_NO_NEW_PRIVS, CLONE_NEWUSER = 38, 0x10000000
USER = 1000

libc = ctypes.CDLL(None, use_errno=True)


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123
        plan = json.load(file)
    if plan.get("root"):
        enter(plan["root"], plan["mounts"])
    if plan["ports"]:
        loopback_up()
        for port, path in plan["ports"].items():
            serve(int(port), path)
    os.chdir(plan["cwd"])
    return run(plan["argv"], drop=bool(plan.get("root")))


def run(argv: list[str], *, drop: bool) -> int:
    """Start the program, hand signals on, and end as it ends."""
    pid = os.fork()
    if pid == 0:
        try:
            if drop:
                become_nobody_special()
            libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            os.execvp(argv[0], argv)
        except OSError as error:
            sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
            os._exit(127)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda received, _: os.kill(pid, received))
    while True:
        child, status = os.wait()  # we may be the first process, and then others are ours too
        if child == pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def become_nobody_special() -> None:
    """A user namespace within ours, with no power over the mounts made so far: what is read-only stays so."""
    if libc.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{USER} 0 1"), ("gid_map", f"{USER} 0 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123
            file.write(text)


def loopback_up() -> None:
    """A network of our own begins with its loopback down; bubblewrap brings it up, and then this says no."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, 0x8914, struct.pack("16sh14x", b"lo", 1 | 64))


def serve(port: int, path: str) -> None:
    """Hand every connection to a port of loopback on to a unix socket."""
    listener = socket.create_server(("127.0.0.1", port))

    def accept() -> None:
        while True:
            near, _ = listener.accept()
            far = socket.socket(socket.AF_UNIX)
            try:
                far.connect(path)
            except OSError:
                near.close()
                continue
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=pipe, args=(source, target), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def pipe(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def enter(root: str, mounts: list[list[str]]) -> None:
    """Build a file system out of parts of this one, and make it the only one there is."""
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")
    for kind, source, target in mounts:
        place(kind, source, root + target)
    old = f"{root}/.old"
    os.makedirs(old, exist_ok=True)  # noqa: PTH103
    os.chdir(root)
    number = PIVOT_ROOT.get(os.uname().machine, 155)
    if libc.syscall(number, b".", b".old") != 0:
        raise OSError(ctypes.get_errno(), "pivot_root")
    os.chdir("/")
    if libc.umount2(b"/.old", MNT_DETACH) != 0:
        raise OSError(ctypes.get_errno(), "umount")
    os.rmdir("/.old")  # noqa: PTH106
    mount("none", "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def place(kind: str, source: str, target: str) -> None:
    if kind == "link":
        os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120
        os.symlink(source, target)  # noqa: PTH211
        return
    if os.path.exists(target):  # noqa: PTH110 - within a part that is mounted already, perhaps read-only
        pass
    elif kind in ("ro", "rw") and not os.path.isdir(source):  # noqa: PTH112
        os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120
        with open(target, "a", encoding="utf-8"):  # noqa: PTH123
            pass
    else:
        os.makedirs(target, exist_ok=True)  # noqa: PTH103
    if kind == "tmp":
        mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
    elif kind == "proc":
        mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    elif kind == "dev":
        mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755")
        for name in DEVICES:
            place("rw", f"/dev/{name}", f"{target}/{name}")
        os.makedirs(f"{target}/shm", exist_ok=True)  # noqa: PTH103
        mount("tmpfs", f"{target}/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
    else:
        mount(source, target, None, MS_BIND | MS_REC)
        if kind == "ro":
            mount("none", target, None, MS_REMOUNT | MS_BIND | MS_RDONLY | kept_flags(target))


def kept_flags(path: str) -> int:
    """What a mount is marked with, and must stay marked with when it is made read-only."""
    names = ((os.ST_NOSUID, MS_NOSUID), (os.ST_NODEV, MS_NODEV), (os.ST_NOEXEC, MS_NOEXEC))
    flags = os.statvfs(path).f_flag
    kept = sum(flag for bit, flag in names if flags & bit)
    return kept | (MS_NOATIME if flags & os.ST_NOATIME else 0) | (MS_RELATIME if flags & os.ST_RELATIME else 0)


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    given = (source.encode(), target.encode(), kind.encode() if kind else None, flags, options.encode() or None)
    if libc.mount(*given) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"mount {kind or 'bind'} {source} on {target}: {os.strerror(number)}")


if __name__ == "__main__":
    sys.exit(main())
