"""TOML with positions: tomllib reads it, and a scan over the same text finds where each key stands."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from adjudge.domain import Problem
from adjudge.located.nodes import Located

Path = tuple[str | int, ...]
_AT = re.compile(r" \(at line (\d+), column (\d+)\)$")
_KEY = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|[A-Za-z0-9_-]+')
_CLOSERS = {"[": "]", "{": "}"}
_SKIP = re.compile(r'"""(?:[^\\]|\\.)*?"""+|\'\'\'.*?\'\'\'+|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL)


def parse_toml(text: str, shown: str) -> tuple[Located | None, list[Problem]]:
    """Parse a TOML document. Returns (root or `None` when broken, problems)."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        match = _AT.search(message)
        line, column = (int(match[1]), int(match[2])) if match else (text.count("\n") + 1, 1)
        message = f"not valid TOML: {_AT.sub('', message)}"
        return None, [Problem(file=shown, line=line, column=column, message=message)]
    except RecursionError:
        return None, [Problem(file=shown, message="nested too deeply")]
    return _located(data, (), _places(text), (1, 1)), []


def _located(value: Any, path: Path, places: dict[Path, tuple[int, int]], outer: tuple[int, int]) -> Located:
    place = places.get(path, outer)
    if isinstance(value, dict):
        items = {key: _located(item, (*path, key), places, place) for key, item in value.items()}
        keys = {key: places.get((*path, key), place) for key in value}
        return Located(items, *place, keys)
    if isinstance(value, list):
        return Located([_located(item, (*path, i), places, place) for i, item in enumerate(value)], *place)
    return Located(value, *place)


def _places(text: str) -> dict[Path, tuple[int, int]]:
    """Where each table header and each key of a valid document stands; (line, column), both from 1."""
    found: dict[Path, tuple[int, int]] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    position = 0
    while position < len(text):
        character = text[position]
        if character in " \t\r\n":
            position += 1
        elif character == "#":
            position = _line_end(text, position)
        elif character == "[":
            repeated = text.startswith("[[", position)
            keys, end = _keys(text, position + 1 + repeated)
            table = _resolved(keys[:-1], counts) + keys[-1:]
            if repeated:
                counts[table] = counts.get(table, -1) + 1
                found.setdefault(table, _place(text, position))
                table = (*table, counts[table])
            found[table] = _place(text, position)
            position = _line_end(text, end)
        else:
            keys, end = _keys(text, position)
            for depth in range(1, len(keys) + 1):
                found.setdefault((*table, *keys[:depth]), _place(text, position))
            position = _value_end(text, end)
    return found


def _keys(text: str, position: int) -> tuple[Path, int]:
    """The parts of a dotted key, and where it ends."""
    keys: list[str | int] = []
    while True:
        while text[position] in " \t":
            position += 1
        match = _KEY.match(text, position)
        if match is None:
            return tuple(keys), position
        raw = match[0]
        keys.append(tomllib.loads(f"k = {raw}")["k"] if raw[0] in "\"'" else raw)
        position = match.end()
        while position < len(text) and text[position] in " \t":
            position += 1
        if position >= len(text) or text[position] != ".":
            return tuple(keys), position
        position += 1


def _resolved(keys: Path, counts: dict[Path, int]) -> Path:
    """The keys of a header, where one that names a repeated table stands for its latest."""
    path: Path = ()
    for key in keys:
        path = (*path, key)
        if path in counts:
            path = (*path, counts[path])
    return path


def _value_end(text: str, position: int) -> int:
    """The end of the line that a value ends on."""
    depth = 0
    while position < len(text):
        match = _SKIP.match(text, position)
        if match:
            position = match.end()
            continue
        character = text[position]
        depth += (character in _CLOSERS) - (character in _CLOSERS.values())
        if character == "\n" and depth <= 0:
            return position + 1
        position += 1
    return position


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1


def _place(text: str, position: int) -> tuple[int, int]:
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
