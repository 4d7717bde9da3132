"""YAML with positions."""

from __future__ import annotations

import datetime
from typing import Any

import yaml

from adjudge.domain import Problem
from adjudge.located.nodes import Located

MAX_NODES = 100_000
MAX_DEPTH = 100

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
_MERGE = "tag:yaml.org,2002:merge"


def parse_yaml(text: str, shown: str) -> tuple[Located | None, list[Problem]]:
    """Parse one YAML document. Returns (root or `None` when empty or broken, problems)."""
    try:
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return None, []
            reader = _Reader(loader, shown)
            located = reader.read(root, "", 0)
            return located, reader.problems
        finally:
            loader.dispose()
    except _TooLargeError as error:
        return None, [Problem(file=shown, line=error.line, column=error.column, message=str(error))]
    except yaml.MarkedYAMLError as error:
        return None, [_syntax_problem(error, text, shown)]
    except (yaml.YAMLError, ValueError) as error:
        return None, [Problem(file=shown, message=f"not valid YAML: {error}")]
    except RecursionError:
        return None, [Problem(file=shown, message="nested too deeply")]


class _TooLargeError(Exception):
    def __init__(self, message: str, node: yaml.Node) -> None:
        super().__init__(message)
        self.line, self.column = _place(node)


class _Reader:
    """Turns composed nodes into `Located` ones. Aliases are copied, with a cap on how much they may expand to."""

    def __init__(self, loader: Any, shown: str) -> None:
        self.loader = loader
        self.shown = shown
        self.problems: list[Problem] = []
        self.open: set[int] = set()
        self.count = 0

    def read(self, node: yaml.Node, path: str, depth: int) -> Located:
        line, column = _place(node)
        self.count += 1
        if self.count > MAX_NODES:
            raise _TooLargeError(f"the file expands to more than {MAX_NODES} values", node)
        if depth > MAX_DEPTH:
            raise _TooLargeError(f"nested more than {MAX_DEPTH} levels deep", node)
        if id(node) in self.open:
            self.add(node, path, "an anchor contains itself", "write the value out instead of referring to it")
            return Located(None, line, column)
        self.open.add(id(node))
        try:
            replaces = isinstance(node, yaml.SequenceNode) and node.tag == "!replace"
            if not isinstance(node, yaml.ScalarNode) and node.tag not in _TAGS and not replaces:
                self.add(node, path, f"the tag {node.tag} is not plain YAML")
                return Located(None, line, column)
            if isinstance(node, yaml.MappingNode):
                return self.mapping(node, path, depth)
            if isinstance(node, yaml.SequenceNode):
                items = [self.read(child, f"{path}[{i}]", depth + 1) for i, child in enumerate(node.value)]
                return Located(items, line, column, replaces=replaces)
            return Located(self.scalar(node, path), line, column)
        finally:
            self.open.discard(id(node))

    def mapping(self, node: yaml.MappingNode, path: str, depth: int) -> Located:
        line, column = _place(node)
        values: dict[str, Located] = {}
        places: dict[str, tuple[int, int]] = {}
        merged: list[Located] = []
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                merged += self.merge(value_node, path, depth)
                continue
            key = self.scalar(key_node, path) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str):
                if key is None or not isinstance(key, bool | int | float | datetime.date):
                    self.add(key_node, path, "a key must be text")
                    continue
                key = str(key_node.value)
            where = f"{path}.{key}" if path else key
            if key in values:
                self.add(key_node, where, f"the key {key!r} stands twice", f"the first is on line {places[key][0]}")
            places[key] = _place(key_node)
            values[key] = self.read(value_node, where, depth + 1)
        for other in merged:
            for key, value in other.value.items():
                if key not in values:
                    values[key] = value
                    places[key] = other.keys[key]
        return Located(values, line, column, places)

    def merge(self, node: yaml.Node, path: str, depth: int) -> list[Located]:
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        read = [self.read(source, path, depth + 1) for source in sources]
        if not all(isinstance(located.value, dict) for located in read):
            self.add(node, path, "<< must refer to a mapping")
            return []
        return read

    def scalar(self, node: yaml.Node, path: str) -> Any:
        try:
            return self.loader.construct_object(node, deep=True)
        except yaml.MarkedYAMLError as error:
            self.add(node, path, f"cannot be read: {error.problem}")
        except Exception as error:
            self.add(node, path, f"cannot be read: {error}")
        return None

    def add(self, node: yaml.Node, path: str, message: str, hint: str = "") -> None:
        line, column = _place(node)
        self.problems.append(Problem(file=self.shown, line=line, column=column, key=path, message=message, hint=hint))


def _place(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _syntax_problem(error: yaml.MarkedYAMLError, text: str, shown: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
    message = " ".join(part for part in (error.problem, error.context) if part) or "not valid YAML"
    lines = text.splitlines()
    here = lines[line - 1] if 0 < line <= len(lines) else ""
    indent = here[: len(here) - len(here.lstrip())]
    hint = "indent with spaces: this line has a tab" if "\t" in indent or here[column - 1 : column] == "\t" else ""
    return Problem(file=shown, line=line, column=column, message=f"not valid YAML: {message}", hint=hint)
