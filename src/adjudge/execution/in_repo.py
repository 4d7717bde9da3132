"""The project before and after an agent that works in it: what it changed there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from adjudge.execution.workspace import content_key, states
from adjudge.sandbox import CACHES, GitError, git


class ProjectState(msgspec.Struct, frozen=True, kw_only=True):
    """The last commit, and path -> how what is there differs from it. What git ignores is among it, a folder as one;
    caches of tools are not."""

    commit: str
    files: dict[str, str]


def project_state(folder: Path, ours: Sequence[str]) -> ProjectState | None:
    """The state of a project now, without what lies below the folders `ours`; `None` where git does not tell."""
    words = ("--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching", "--", ".")
    try:
        start = _git(folder, "rev-parse", "--show-prefix").rstrip("\n")
        lines = _git(folder, "status", *words).split("\0")
    except GitError:
        return None
    files: dict[str, str] = {}
    for line in filter(None, lines):
        status, path = line[:2], line[3:]
        if status == "!!" and path.endswith("/"):
            name = "" if start.startswith(path) else path.removeprefix(start)  # the whole project may be ignored
            held = sorted(_held(folder, name, ours))
            if held:
                files[name or "./"] = hashlib.sha256("\0".join(held).encode("utf-8", "surrogateescape")).hexdigest()
            continue
        name = path.removeprefix(start)
        if name.startswith(tuple(ours)) or (status in ("!!", "??") and _in_cache(name)):
            continue
        files[name] = _stamp(folder / name) if status == "!!" else f"{status} {content_key(folder / name)}"
    return ProjectState(commit=_commit(folder), files=files)


def changed(folder: Path, before: ProjectState, after: ProjectState | None) -> tuple[str, ...]:
    """The paths that differ between two states of a project."""
    if after is None:
        return (".git",)
    names = {name for name, _ in before.files.items() ^ after.files.items()}
    if before.commit == after.commit:
        return tuple(sorted(names))
    return tuple(sorted(names | _committed(folder, before.commit))) or ("HEAD",)


def _held(folder: Path, name: str, ours: Sequence[str]) -> Iterator[str]:
    """Each file of an ignored folder, with what changes when it is written. Nobody wants to read all of these."""
    for inner, state in states(folder / name).items():
        path = f"{name}{inner}"
        if not path.startswith(tuple(ours)) and not _in_cache(path):
            yield f"{inner} {state}"


def _in_cache(name: str) -> bool:
    return not set(CACHES).isdisjoint(PurePosixPath(name).parts)


def _stamp(path: Path) -> str:
    try:
        info = path.lstat()
    except OSError:
        return ""
    return f"{info.st_size} {info.st_mtime_ns} {info.st_ino}"


def _commit(folder: Path) -> str:
    """The last commit; empty where there is none yet."""
    try:
        return _git(folder, "rev-parse", "--verify", "--quiet", "HEAD").strip()
    except GitError:
        return ""


def _committed(folder: Path, before: str) -> set[str]:
    """What differs between an earlier commit and the last one."""
    try:
        told = _git(folder, "diff", "--name-only", "-z", "--no-renames", "--relative", before, "HEAD") if before else ""
    except GitError:
        return set()
    return set(filter(None, told.split("\0")))


def _git(folder: Path, *words: str) -> str:
    return git(*words, cwd=folder, plain=False)
