"""`extends`: a config laid over another one, which may be laid over a third."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from adjudge.domain import Problem
from adjudge.domain import shown as shortened
from adjudge.located import FileLine, Located, parse_yaml, read_text

MAX_LEVELS = 8
"""How often a config may extend another one; so a chain has at most nine files."""


class Chain:
    """A config with everything that it extends, laid over each other.

    Attributes:
        root: The merged config; `None` when the first file is empty or cannot be read.
        base: The file at the end of the chain, from whose folder paths start.
        files: Every file, the first one first.
    """

    def __init__(self, path: Path, shown: str) -> None:
        self.problems: list[Problem] = []
        self.shown = shown
        self.files: list[Path] = []
        self.base = path
        self.root = self._read(path, shown)
        overlays = [self.root] if self.root is not None else []
        node = self.root
        while node is not None and isinstance(node.value, dict) and "extends" in node.value:
            node = self._next(node)
            if node is not None:
                overlays.append(node)
        if len(overlays) > 1:
            merged = overlays[-1]
            for overlay in reversed(overlays[:-1]):
                merged = _merged(merged, overlay)
            merged.value.pop("extends", None)
            self.root = merged

    def _read(self, path: Path, shown: str) -> Located | None:
        self.files.append(path)
        text = read_text(path, shown)
        if isinstance(text, Problem):
            self.problems.append(text)
            return None
        root, problems = parse_yaml(text, shown)
        self.problems += problems
        return root

    def _next(self, node: Located) -> Located | None:
        """The config that a config extends."""
        place = node.value["extends"]
        name = place.value
        here = self.files[-1]
        if not isinstance(name, str):
            return None  # which is nothing, or what the reader of the keys refuses
        if Path(name).is_absolute():
            self._add(place, f"must be a path relative to this file, got {name!r}")
            return None
        path = here.parent / name
        if not os.path.isfile(path):  # noqa: PTH113 - says no where Path.is_file raises
            self._add(place, f"there is no file {shortened(name)} beside this one")
            return None
        if any(path.resolve() == seen.resolve() for seen in self.files):
            self._add(place, f"{name} extends this file, directly or not")
            return None
        if len(self.files) > MAX_LEVELS:
            self._add(place, f"the chain is longer than {MAX_LEVELS} levels")
            return None
        shown = os.path.relpath(path)
        root = self._read(path, shown)
        if root is not None and not isinstance(root.value, dict):
            self._add(place, f"{name} holds no mapping")
            return None
        self.base = path
        if root is not None:
            _mark(root, shown)
        return root

    def _add(self, node: Located, message: str) -> None:
        file = getattr(node.line, "file", self.shown)
        self.problems.append(
            Problem(file=file, line=int(node.line), column=node.column, key="extends", message=message)
        )


def _mark(node: Located, shown: str) -> None:
    """Let every position in a file name the file."""
    node.line = FileLine(node.line, shown)
    node.keys = {key: (FileLine(line, shown), column) for key, (line, column) in node.keys.items()}
    if isinstance(node.value, dict):
        for child in node.value.values():
            _mark(child, shown)
    elif isinstance(node.value, list):
        for child in node.value:
            _mark(child, shown)


def _merged(base: Located, over: Located) -> Located:
    """Mappings merge key by key, lists entry by entry, anything else is replaced; so is a list tagged `!replace`."""
    if isinstance(base.value, dict) and isinstance(over.value, dict):
        values = dict(base.value)
        for key, node in over.value.items():
            values[key] = _merged(values[key], node) if key in values else node
        return Located(values, over.line, over.column, {**base.keys, **over.keys})
    if isinstance(base.value, list) and isinstance(over.value, list) and not over.replaces:
        return Located(_lists(base.value, over.value), over.line, over.column)
    return over


def _lists(base: list[Located], over: list[Located]) -> list[Located]:
    """Mappings are the same entry when they have the same `id`, else the same `name`; other entries when they are
    equal. What is new stands at the end; two entries of one file that claim one name both stay, for the reader to see.
    """
    made = list(base)
    taken: set[int] = set()
    for entry in over:
        key = _identity(entry)
        index = next((i for i, other in enumerate(made) if _identity(other) == key), None)
        if index is None or (index in taken and key[0]):
            taken.add(len(made))
            made.append(entry)
        else:
            taken.add(index)
            made[index] = _merged(made[index], entry)
    return made


def _identity(node: Located) -> tuple[str, Any]:
    if isinstance(node.value, dict):
        for key in ("id", "name"):
            if key in node.value and isinstance(node.value[key].value, str):
                return key, node.value[key].value
    return "", repr(node.plain())
