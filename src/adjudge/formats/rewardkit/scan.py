"""A tests folder as it lies on disk: judge TOMLs, reward.toml and folders below."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from adjudge.domain import Problem, closest
from adjudge.formats.rewardkit.reading import TomlFile
from adjudge.located import parse_toml, read_text

REWARD_FILE = "reward.toml"
_KNOWN = ("judge", "criterion", "scoring", "reward")
_MEANT = {"judges": "judge", "criteria": "criterion", "criterions": "criterion", "rewards": "reward"}


@dataclass(slots=True)
class Folder:
    """One folder of the tree. `relative` is its path below the root, empty for the root itself."""

    path: Path
    relative: str
    judges: list[TomlFile] = field(default_factory=list)
    reward: TomlFile | None = None
    children: list[Folder] = field(default_factory=list)
    has_python: bool = False

    @property
    def name(self) -> str:
        return self.path.name


def scan(root: Path, problems: list[Problem]) -> Folder:
    """Read every TOML of a tests folder. `problems` gets what is wrong with those that cannot be read."""
    return _folder(root, "", problems, set())


def _folder(path: Path, relative: str, problems: list[Problem], seen: set[str]) -> Folder:
    folder = Folder(path, relative)
    seen.add(os.path.realpath(path))
    try:
        with os.scandir(path) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        problems.append(Problem(file=str(path), message=f"the folder cannot be read: {error.strerror}"))
        return folder
    for entry in found:
        if entry.name.endswith(".toml") and entry.is_file():
            _read(folder, Path(entry.path), problems)
        folder.has_python = folder.has_python or (entry.name.endswith(".py") and entry.is_file())
    for entry in found:
        if entry.is_dir() and not entry.name.startswith((".", "__")) and os.path.realpath(entry.path) not in seen:
            below = f"{relative}/{entry.name}" if relative else entry.name
            folder.children.append(_folder(Path(entry.path), below, problems, seen))
    return folder


def _read(folder: Folder, path: Path, problems: list[Problem]) -> None:
    """Take a TOML for what it is: a judge by its keys, the folder's reward by its name, else nothing of ours."""
    shown = str(path)
    text = read_text(path, shown)
    if isinstance(text, Problem):
        problems.append(text)
        return
    root, broken = parse_toml(text, shown)
    problems += broken
    if root is None:
        return
    file = TomlFile(path, shown, root)
    if "judge" in root.value or "criterion" in root.value:
        if path.name == REWARD_FILE:
            file.warn([], "this reward.toml is a judge, so that the folder has no rule of its own")
        folder.judges.append(file)
        return
    if path.name == REWARD_FILE:
        folder.reward = file
        return
    for key in root.value:
        meant = _MEANT.get(key.lower()) or ("judge" if _looks_like(key, root.value) else "")
        if meant:
            file.error([key], f"this looks like a judge, and [{key}] is no key of one", hint=f"did you mean [{meant}]?")
            problems += file.converter.problems
            return


def _looks_like(key: str, tables: dict[str, object]) -> bool:
    """A key that is nearly `judge`, in a file where nothing else says what it is for."""
    return key not in _KNOWN and "judge" in closest(key, ("judge",)) and len(tables) <= 3
