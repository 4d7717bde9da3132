"""The folder that an agent under test works in: made for one case, with what the case gives it and nothing else."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import Output, WorkspaceFile

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
    """A workspace and what was in it before the agent came: path -> state of each file."""

    folder: Path
    before: Mapping[str, State]


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
    if project is not None:
        for name in RESOURCES:
            _copy(project / name, folder / name, within=project)
    if case is not None:
        for name in GIVEN:
            _copy(case / name, folder / name, within=case)
    if inputs is not None:
        import yaml

        text = yaml.safe_dump(dict(inputs), allow_unicode=True, sort_keys=False)
        (folder / "input.yaml").write_text(text, encoding="utf-8")
    for file in files:
        source = Path(file.source) if file.source else case / file.dest if case is not None else None
        if source is not None:
            _copy(source, folder / file.dest, within=None if file.source else case)
    for output in outputs:
        if output.path and not Path(output.path).suffix:
            (folder / output.path).mkdir(parents=True, exist_ok=True)
    (folder / "output").mkdir(exist_ok=True)
    for name, text in (extra or {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    _commit(folder)
    return Workspace(folder=folder, before=states(folder))


def _copy(source: Path, target: Path, *, within: Path | None) -> None:
    """Copy what is there; links are followed nowhere, and what leads out of `within` is left out."""
    if source.is_symlink() or not source.exists():
        return
    if within is not None and not source.resolve().is_relative_to(within.resolve()):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=False, ignore=_left_out, dirs_exist_ok=True)
    elif source.is_file():
        shutil.copyfile(source, target)
        shutil.copymode(source, target)


def content_key(path: Path) -> str:
    """Of what a copy of a file or folder would hold; the same when there is nothing to copy."""
    digest = hashlib.sha256()
    pending = [path]
    while pending:
        place = pending.pop()
        if place.is_symlink():
            continue
        digest.update(f"{place.relative_to(path)}\0".encode("utf-8", "replace"))
        with contextlib.suppress(OSError):
            if place.is_dir():
                names = sorted(entry.name for entry in place.iterdir())
                left = set(_left_out(str(place), names))
                pending += [place / name for name in names if name not in left]
            elif place.is_file():
                digest.update(hashlib.sha256(place.read_bytes()).digest())
    return digest.hexdigest()


def _left_out(folder: str, names: list[str]) -> Iterable[str]:
    private = _PRIVATE if Path(folder).name == ".claude" else ("__pycache__",)
    return [name for name in names if name in private or os.path.islink(f"{folder}/{name}")]  # noqa: PTH114


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
