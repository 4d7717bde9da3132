"""Confining a program by what the operating system offers: bubblewrap, else namespaces of our own, else nothing."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from adjudge.sandbox import inside

USER = 1000
"""Who the program is within: nobody special, since some agents refuse to run as root."""
_SYSTEM = ("/usr", "/opt")
_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = (
    *("ssl", "ca-certificates", "pki", "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime"),
    *("nsswitch.conf", "hosts", "host.conf", "passwd", "group", "resolv.conf", "mime.types", "fonts", "gitconfig"),
)


class Kind(StrEnum):
    """What confines a program."""

    BUBBLEWRAP = "bubblewrap"
    NAMESPACES = "namespaces"
    NONE = "none"


class View(msgspec.Struct, frozen=True, kw_only=True):
    """What a confined program sees besides the system's programs and libraries.

    Attributes:
        cwd: Where it starts.
        reads: Paths that it may read.
        writes: Paths that it may change, also where they lie within `reads`.
        hides: Folders within those that it finds empty.
        network: It keeps the machine's network.
    """

    cwd: Path
    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    hides: tuple[Path, ...] = ()
    network: bool = False


def confined(
    kind: Kind, argv: Sequence[str], view: View, *, env: Mapping[str, str], ports: Mapping[int, Path], scratch: Path
) -> list[str]:
    """The command line that runs `argv` confined. `scratch` is a folder of ours, for files that this needs.

    `ports` are ports of loopback within that lead to unix sockets outside; see `Relay`.
    """
    program = shutil.which(argv[0], path=env.get("PATH")) or argv[0]
    reads = [*view.reads, *program_paths(program, argv)]
    if ports or kind is Kind.NAMESPACES:
        reads += [Path(inside.__file__).resolve(), *python_paths(), *ports.values()]
    mounts = _mounts(reads, view)
    plan: dict[str, object] = {
        "argv": [program, *argv[1:]],
        "cwd": str(view.cwd),
        "ports": {str(port): str(path) for port, path in ports.items()},
    }
    script = [sys.executable, "-I", str(Path(inside.__file__).resolve()), str(scratch / "plan.json")]
    if kind is Kind.BUBBLEWRAP:
        start: list[str] = script if ports else [program, *argv[1:]]
        if ports:
            mounts.append(("ro", str(scratch / "plan.json"), str(scratch / "plan.json")))
        (scratch / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        return [*_bwrap(mounts, view), *start]
    if kind is Kind.NAMESPACES:
        root = scratch / "root"
        root.mkdir(exist_ok=True)
        plan |= {"root": str(root), "mounts": [list(mount) for mount in mounts]}
        (scratch / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        return [*_unshare(view), *script]
    return [program, *argv[1:]]


def _bwrap(mounts: Sequence[tuple[str, str, str]], view: View) -> list[str]:
    argv = [_bubblewrap() or "bwrap", "--unshare-all", "--unshare-user", "--uid", str(USER), "--gid", str(USER)]
    argv += ["--die-with-parent", "--new-session", *(["--share-net"] if view.network else [])]
    spelled = {"ro": "--ro-bind", "rw": "--bind", "link": "--symlink"}
    for kind, source, target in mounts:
        if kind in spelled:
            argv += [spelled[kind], source, target]
        else:
            argv += [{"tmp": "--tmpfs", "proc": "--proc", "dev": "--dev"}[kind], target]
    return [*argv, "--chdir", str(view.cwd), "--"]


def _unshare(view: View) -> list[str]:
    argv = ["unshare", "--user", "--map-root-user", "--mount", "--ipc", "--uts", "--pid", "--fork", "--kill-child"]
    return [*argv, *([] if view.network else ["--net"]), "--"]


def _mounts(reads: Sequence[Path], view: View) -> list[tuple[str, str, str]]:
    """Parents before children, so that what is inside stays what it was made."""
    mounts = [("ro", path, path) for path in _SYSTEM if Path(path).is_dir()]
    for path in _LINKS:
        if Path(path).is_symlink():
            mounts.append(("link", str(Path(path).readlink()), path))
        elif Path(path).is_dir():
            mounts.append(("ro", path, path))
    mounts += [("ro", f"/etc/{name}", f"/etc/{name}") for name in _ETC if Path("/etc", name).exists()]
    mounts += [("proc", "", "/proc"), ("dev", "", "/dev"), ("tmp", "", "/tmp"), ("tmp", "", "/var/tmp")]
    own = {path: "ro" for path in map(_absolute, reads) if not _in_system(path)}
    own |= {_absolute(path): "rw" for path in view.writes}
    own |= {_absolute(path): "tmp" for path in view.hides}
    mounts += [(kind, str(path), str(path)) for path, kind in sorted(own.items(), key=lambda item: len(item[0].parts))]
    return mounts


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - links are kept


def _in_system(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in (*_SYSTEM, *_LINKS))


def program_paths(program: str, argv: Sequence[str]) -> list[Path]:
    """What a program needs to be read: itself, where it is installed, and scripts among its arguments."""
    found = [*_installed(Path(program)), *_installed(Path(program).resolve())]
    for argument in argv[1:]:
        path = Path(argument)
        if argument.startswith("/") and len(argument) < 1000 and path.is_file():
            found.append(path)
    if Path(program).resolve().is_relative_to(Path(sys.base_prefix).resolve()):
        found += python_paths()
    first = _first_line(Path(program))
    if first.startswith("#!"):
        words = first[2:].split()
        name = words[1] if len(words) > 1 and words[0].endswith("/env") else (words or [""])[0]
        interpreter = shutil.which(name)
        if interpreter:
            found += [*_installed(Path(interpreter)), *_installed(Path(interpreter).resolve())]
    return list(dict.fromkeys(found))


def python_paths() -> list[Path]:
    """What the Python that runs us needs to be read."""
    return list(dict.fromkeys(Path(path) for path in (sys.prefix, sys.base_prefix, sys.exec_prefix)))


_PARTS = ("bin", "shims", "lib", "lib64", "libexec", "share", "versions", "version", "plugins", "pyvenv.cfg")
"""What belongs to an installation, of a folder that has programs in its `bin`; all else there may be anything."""


def _installed(path: Path) -> list[Path]:
    """The folders that hold a program with what came with it, as far as that can be told from its path."""
    parts = path.parts
    if "node_modules" in parts:
        return [Path(*parts[: parts.index("node_modules") + 1])]
    prefix = path.parent.parent
    personal = (Path("/"), Path.home(), Path.home() / ".local")
    installation = path.parent.name == "bin" and prefix not in personal and (prefix / "lib").is_dir()
    if installation or path.parent.name == "shims":
        return [prefix / part for part in _PARTS if (prefix / part).exists()]
    return [path]


def _first_line(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.readline(400).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _bubblewrap() -> str | None:
    return shutil.which("bwrap")


@functools.cache
def probe(kind: Kind) -> str:
    """Why a kind of confinement does not work on this machine; empty when it does. It is tried, not looked up."""
    if kind is Kind.NONE:
        return ""
    if sys.platform != "linux":
        return "it needs Linux; on this system agents are confined by copies and by their own rules only"
    if kind is Kind.BUBBLEWRAP and _bubblewrap() is None:
        return "bwrap is not installed"
    if kind is Kind.NAMESPACES and shutil.which("unshare") is None:
        return "unshare is not installed"
    with tempfile.TemporaryDirectory(prefix="adjudge-") as folder:
        work, secret = Path(folder, "work"), Path(folder, "secret")
        work.mkdir()
        secret.write_text("x", encoding="utf-8")
        test = f"! test -e {secret} && ! touch {work}/x 2>/dev/null && ! kill -0 {os.getpid()} 2>/dev/null"
        view = View(cwd=work, reads=(work,))
        argv = confined(kind, ["/bin/sh", "-c", test], view, env=dict(os.environ), ports={}, scratch=Path(folder))
        try:
            ended = subprocess.run(argv, check=False, capture_output=True, timeout=20, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    if ended.returncode == 0:
        return ""
    said = ended.stderr.decode("utf-8", "replace").strip().splitlines()
    return said[-1][:200] if said else "it does not confine what it should"


def strongest() -> Kind:
    """The first kind that works here."""
    return next(kind for kind in Kind if not probe(kind))


def why_none() -> str:
    """Why nothing confines programs here."""
    return "; ".join(f"{kind.value}: {probe(kind)}" for kind in (Kind.BUBBLEWRAP, Kind.NAMESPACES))
