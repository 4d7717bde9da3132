"""A folder for an agent judge: copies of what it judges and of what it may consult, and a place for its verdict."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from adjudge.domain import BinaryFile

OUTPUT = "output"
"""The folder for the verdict. Work that lies there is staged below `_output/`, so that nothing can stand in for it."""
CONTEXT = ".context"
RESERVED = {OUTPUT: "_output", CONTEXT: "_context"}
_OF_AGENTS = frozenset({".claude", ".codex", ".cursor", ".gemini", ".opencode", ".mcp.json", "opencode.json", ".git"})
"""What agents take for their own settings. Work of these names is staged below `_settings/`."""


class StagingError(Exception):
    """Something that was to be judged or consulted cannot be read: a judge must not grade a tree with holes in it."""


class Staged(msgspec.Struct, frozen=True):
    """What became of a staging: names that had to change, and what was left out, in words."""

    notes: tuple[str, ...]


def stage(
    workspace: Path,
    outputs: Mapping[str, str | BinaryFile],
    context: Sequence[Path],
    *,
    only: Sequence[str] = (),
) -> Staged:
    """Copy a case's outputs and the context into a new folder.

    `only` names the output folders that are wanted; none, or `.`, is all of them.

    Raises:
        StagingError: content cannot be read or written.
    """
    notes: list[str] = []
    workspace.mkdir(parents=True)
    (workspace / OUTPUT).mkdir()
    wanted = [name for name in only if name != "."] if "." not in only else []
    staged = 0
    for name, content in outputs.items():
        path = _relative(name)
        if path is None:
            notes.append(f"{name}: not staged: it leads out of the workspace")
            continue
        if wanted and not any(path.is_relative_to(folder) for folder in wanted):
            continue
        moved = _moved(path)
        if moved != path:
            notes.append(f"{path} is staged as {moved}")
        _put(workspace / moved, content)
        staged += 1
    there = [path for path in map(_relative, outputs) if path is not None]
    notes += [
        f"{folder}: nothing to stage: the case has no such output"
        for folder in wanted
        if not any(path.is_relative_to(folder) for path in there)
    ]
    for entry in context:
        _copy_context(entry, workspace / CONTEXT / entry.name, notes)
    return Staged(tuple(notes))


def _relative(name: str) -> PurePosixPath | None:
    """A path below the workspace, or `None` for one that would leave it."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or "\0" in name or not path.parts:
        return None
    return path


def _moved(path: PurePosixPath) -> PurePosixPath:
    first = path.parts[0]
    if first.casefold() in RESERVED:
        return PurePosixPath(RESERVED[first.casefold()], *path.parts[1:])
    if any(part.casefold() in _OF_AGENTS for part in path.parts):
        return PurePosixPath("_settings", *(part.lstrip(".") or "_" for part in path.parts))
    return path


def _put(target: Path, content: str | BinaryFile) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, BinaryFile):
            shutil.copyfile(content.path, target)
        else:
            target.write_bytes(content.encode("utf-8", "surrogateescape"))
    except (OSError, UnicodeError) as error:
        raise StagingError(f"{target.name} cannot be staged: {error}") from None


def _copy_context(source: Path, target: Path, notes: list[str]) -> None:
    """Copy a file or a folder. Links out of it, dangling links, loops, sockets and pipes are left out, and told of."""
    try:
        mode = source.stat().st_mode
    except OSError as error:
        raise StagingError(f"context {source} cannot be read: {error.strerror}") from None
    if stat.S_ISREG(mode):
        target.parent.mkdir(parents=True, exist_ok=True)
        _copy_file(source, target)
    else:
        _copy_folder(source, target, source.resolve(), notes, above=(source.resolve(),))


def _copy_folder(source: Path, target: Path, root: Path, notes: list[str], *, above: tuple[Path, ...]) -> None:
    try:
        names = sorted(os.listdir(source))  # noqa: PTH208
    except OSError as error:
        raise StagingError(f"context {source} cannot be read: {error.strerror}") from None
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        entry, copy = source / name, target / name
        real = Path(os.path.realpath(entry))
        if entry.is_symlink() and (problem := _link_problem(entry, real, root, above)):
            notes.append(f"context {entry}: left out: {problem}")
            continue
        mode = entry.stat().st_mode
        if stat.S_ISDIR(mode):
            _copy_folder(entry, copy, root, notes, above=(*above, real))
        elif stat.S_ISREG(mode):
            _copy_file(entry, copy)
        else:
            notes.append(f"context {entry}: left out: it is no file")


def _link_problem(entry: Path, real: Path, root: Path, above: tuple[Path, ...]) -> str:
    if not entry.exists():
        return "a link to nothing"
    if not real.is_relative_to(root):
        return "a link out of the folder"
    return "a link to a folder that it lies in" if real in above else ""


def _copy_file(source: Path, target: Path) -> None:
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        raise StagingError(f"context {source} cannot be read: {error.strerror}") from None
