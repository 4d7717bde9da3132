"""The folder that an agent under test works in: made for one case, with what the case gives it and nothing else."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import Output, WorkspaceFile
from adjudge.sandbox import Checkout

GIVEN = ("input.yaml", "input.yml", "input.json", "answers.yaml")
"""Files of a case that its agent always gets."""
RESOURCES = ("CLAUDE.md", "AGENTS.md", ".context", "scripts", "skills", ".claude", ".agents")
"""Files and folders of the project that an agent may need. Copies: what it writes stays in the workspace."""
_PRIVATE = ("settings.json", "settings.local.json", "projects", "worktrees", "todos", "__pycache__")
HARNESS = frozenset({".git", ".hook-outputs.yaml", ".hook-outputs.json", "batch.yaml", *GIVEN})
"""What is ours in a workspace: never collected as the agent's work."""

State = tuple[int, int, int]
"""Size, time of change in ns, and inode of a file."""


class Workspace(msgspec.Struct, frozen=True, kw_only=True):
    """A workspace and what was in it before the agent came: path -> state of each file. `left_out` are links whose
    content it was not given. A `checkout` knows that by itself."""

    folder: Path
    before: Mapping[str, State]
    left_out: tuple[str, ...] = ()
    checkout: Checkout | None = None


def make_workspace(
    folder: Path,
    *,
    case: Path | None,
    inputs: Mapping[str, Any] | None = None,
    files: Sequence[WorkspaceFile] = (),
    outputs: Sequence[Output] = (),
    project: Path | None = None,
    extra: Mapping[str, str] | None = None,
) -> Workspace:
    """Make the folder anew. `inputs` replace the case's input file when fields of it are overridden; `extra` are
    further files, path -> text.

    Raises:
        OSError: something cannot be copied or written.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    left: list[str] = []
    if project is not None:
        for name in RESOURCES:
            _copy(project / name, folder / name, name=name, within=project, left=left, below=project)
    if case is not None:
        for name in GIVEN:
            _copy(case / name, folder / name, name=name, within=case, left=left)
    if inputs is not None:
        import yaml

        text = yaml.safe_dump(dict(inputs), allow_unicode=True, sort_keys=False)
        (folder / "input.yaml").write_text(text, encoding="utf-8")
    for file in files:
        source = Path(file.source) if file.source else case / file.dest if case is not None else None
        if source is not None:
            _copy(source, folder / file.dest, name=file.dest, within=None if file.source else case, left=left)
    for output in outputs:
        if output.path and not Path(output.path).suffix:
            (folder / output.path).mkdir(parents=True, exist_ok=True)
    (folder / "output").mkdir(exist_ok=True)
    for name, text in (extra or {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    _commit(folder)
    return Workspace(folder=folder, before=states(folder), left_out=tuple(left))


def links_left_out(project: Path) -> list[str]:
    """The links among the project's resources whose content no workspace is given."""
    found: list[str] = []
    for name in RESOURCES:
        place = project / name
        if place.is_symlink():
            found += [name] if _behind(place, project) is None else []
        elif place.is_dir():
            for folder, folders, files in os.walk(place):
                left = set(_not_copied(folder, [*folders, *files], project))
                folders[:] = sorted(entry for entry in folders if entry not in left)
                links = sorted(entry for entry in left if os.path.islink(f"{folder}/{entry}"))  # noqa: PTH114
                found += [Path(folder, entry).relative_to(project).as_posix() for entry in links]
    return found


def _copy(
    source: Path, target: Path, *, name: str, within: Path | None, left: list[str], below: Path | None = None
) -> None:
    """Copy what is there. What leads out of `within` is left out, and so are links, but for those to a file below the
    folder `below`, of which that file is copied. `left` gets the links that are left out, by their names under `name`.
    """
    behind = _behind(source, below)
    if behind is None:
        left.append(name)
        return
    if not behind.exists() or (within is not None and not behind.resolve().is_relative_to(within.resolve())):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if behind.is_dir():

        def leave(folder: str, names: list[str]) -> list[str]:
            out = _not_copied(folder, names, below)
            links = [entry for entry in out if os.path.islink(f"{folder}/{entry}")]  # noqa: PTH114
            left.extend((name / Path(folder, entry).relative_to(behind)).as_posix() for entry in sorted(links))
            return out

        shutil.copytree(behind, target, symlinks=False, ignore=leave, dirs_exist_ok=True)
    elif behind.is_file():
        shutil.copyfile(behind, target)
        shutil.copymode(behind, target)


def _behind(place: Path, below: Path | None) -> Path | None:
    """What a copy of a place holds: the place itself, or for a link the file that it leads to, when that lies below
    `below` and is not one that stays with its user; else `None`."""
    if not place.is_symlink():
        return place
    if below is None:
        return None
    try:
        root, found = below.resolve(), place.resolve(strict=True)
    except (OSError, RuntimeError):  # it leads nowhere, or in a circle
        return None
    if not found.is_file() or not found.is_relative_to(root):
        return None
    parts = found.relative_to(root).parts
    private = ".git" in parts or any(
        part == ".claude" and parts[i + 1] in _PRIVATE for i, part in enumerate(parts[:-1])
    )
    return None if private else found


def content_key(path: Path, *, below: Path | None = None) -> str:
    """Of what a copy of a file or folder would hold, with links to files below `below`; the same when there is nothing
    to copy."""
    digest = hashlib.sha256()
    pending = [path]
    while pending:
        place = pending.pop()
        behind = _behind(place, below)
        if behind is None:
            continue
        digest.update(f"{place.relative_to(path)}\0".encode("utf-8", "replace"))
        with contextlib.suppress(OSError):
            if behind.is_dir():
                names = sorted(entry.name for entry in behind.iterdir())
                left = set(_not_copied(str(behind), names, below))
                pending += [place / name for name in names if name not in left]
            elif behind.is_file():
                digest.update(hashlib.sha256(behind.read_bytes()).digest())
    return digest.hexdigest()


def _not_copied(folder: str, names: Sequence[str], below: Path | None) -> list[str]:
    private = _PRIVATE if Path(folder).name == ".claude" else ("__pycache__",)
    return [name for name in names if name in private or _behind(Path(folder, name), below) is None]


def _commit(folder: Path) -> None:
    """A repository with one commit, as agents expect one. Without git there is none, and nothing depends on it."""
    if shutil.which("git") is None:
        return
    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_NAME": "adjudge" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "adjudge@localhost" for who in ("AUTHOR", "COMMITTER")},
    }
    with contextlib.suppress(subprocess.TimeoutExpired):
        for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "--allow-empty", "-m", "before the agent")):
            subprocess.run(["git", *arguments], cwd=folder, env=env, check=False, capture_output=True, timeout=60)


def states(folder: Path) -> dict[str, State]:
    """Every file below a folder but git's own, links left out, and what cannot be read."""
    found: dict[str, State] = {}
    pending = [""]
    while pending:
        place = pending.pop()
        with contextlib.suppress(OSError), os.scandir(folder / place) as entries:
            for entry in entries:
                name = f"{place}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != ".git":
                        pending.append(f"{name}/")
                    continue
                info = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(info.st_mode):
                    found[name] = (info.st_size, info.st_mtime_ns, info.st_ino)
    return found
