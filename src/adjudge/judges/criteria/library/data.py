"""Criteria on JSON and YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adjudge.domain import MissingExtraError
from adjudge.judges.criteria.finding import Finding
from adjudge.judges.criteria.library.reading import (
    MAX_PARSED,
    UnusableError,
    brief,
    clean,
    cut,
    failing,
    locate,
    need_string,
    read_text,
    same,
)

_MAX_YAML = 1024 * 1024
_MAX_DEPTH = 200
_MAX_NUMBER = 4_000
_MAX_MERGED = 100_000
_MAX_ERRORS = 5
_INDEX = re.compile(r"-?[0-9]{1,9}")
_ABSENT = object()


@failing(False)
def json_key_equals(workspace: Path, path: str, key: str, expected: Any) -> Finding:
    """Whether a key of the object in a JSON file has the expected value."""
    need_string("key", key)
    data, note = read_json(workspace, path)
    if not isinstance(data, dict):
        return Finding(False, f"{path} holds {brief(data)}, not an object{note}")
    return compared(data.get(key, _ABSENT), expected, key, path, note)


@failing(False)
def json_path_equals(workspace: Path, path: str, json_path: str, expected: Any) -> Finding:
    """Whether the value at a path has the expected value: keys with dots between, whole numbers index lists."""
    need_string("json_path", json_path)
    data, note = read_json(workspace, path)
    return compared(follow(data, json_path), expected, json_path, path, note)


@failing(False)
def json_schema_valid(workspace: Path, path: str, schema: Mapping[str, Any] | str) -> Finding:
    """Whether a JSON file is valid by a JSON Schema, given as it is or as the path of its file.

    Raises:
        MissingExtraError: jsonschema is not installed.
        ValueError: the schema is no schema.
    """
    try:
        import jsonschema
        import referencing
    except ImportError:
        raise MissingExtraError("json_schema_valid needs jsonschema: pip install jsonschema") from None
    rules = _schema(workspace, schema)
    kind = jsonschema.validators.validator_for(rules, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(rules)
    except jsonschema.SchemaError as error:
        raise _bad_schema(workspace, schema, cut(error.message, 200)) from None
    data, note = read_json(workspace, path)
    try:
        # With a registry of its own, nothing is fetched for a `$ref`.
        errors = list(_first(kind(rules, registry=referencing.Registry()).iter_errors(data)))
    except RecursionError:
        return Finding(False, f"{path} is nested too deeply to be checked{note}")
    except (referencing.exceptions.Unresolvable, re.error) as error:
        raise _bad_schema(workspace, schema, cut(str(error), 200)) from None
    if not errors:
        return Finding(True, f"{path} is valid by the schema{note}")
    listed = "; ".join(f"{cut(error.json_path, 100)}: {cut(clean(error.message), 200)}" for error in errors)
    return Finding(False, f"{path} is not valid by the schema: {listed}{note}")


@failing(False)
def yaml_key_equals(workspace: Path, path: str, key: str, expected: Any) -> Finding:
    """Whether a key of a YAML file, with dots for deeper ones, has the expected value."""
    need_string("key", key)
    data, note = _read_yaml(workspace, path)
    return compared(follow(data, key), expected, key, path, note)


def read_json(workspace: Path, path: str, limit: int = MAX_PARSED) -> tuple[Any, str]:
    """What a JSON file holds, and a note on how it was read.

    Raises:
        UnusableError: it cannot be read or is no JSON.
    """
    text, note = read_text(workspace, path, limit)
    return parse_json(text, f"{path}{note and f' ({note[2:]})'}"), note


def parse_json(text: str, name: str) -> Any:
    """
    Raises:
        UnusableError: it is no JSON.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise UnusableError(f"{name} is nested too deeply") from None
    except ValueError as error:
        raise UnusableError(f"{name} is no JSON: {cut(str(error), 200)}") from None


def follow(data: Any, path: str) -> Any:
    """The value at a path, or a mark that `compared` knows."""
    for part in path.split("."):
        if isinstance(data, dict):
            # Keys of YAML need not be strings, while a path is one.
            keys = [part] if part in data else [key for key in data if part in _texts(key)]
            data = data[keys[0]] if keys else _ABSENT
        elif isinstance(data, list) and _INDEX.fullmatch(part) and -len(data) <= int(part) < len(data):
            data = data[int(part)]
        else:
            return _ABSENT
    return data


def compared(actual: Any, expected: Any, key: str, path: str, note: str = "") -> Finding:
    """Whether a value that was looked up is the expected one."""
    if actual is _ABSENT:
        return Finding(False, f"{path} has no {brief(key)}{note}")
    if same(expected, actual):
        return Finding(True, f"{brief(key)} is {brief(actual)} in {path}{note}")
    return Finding(False, f"{brief(key)} is {brief(actual)} in {path}, not {brief(expected)}{note}")


def _texts(key: Any) -> tuple[str, ...]:
    """How a key of YAML that is no string may be written; `on` is true, as in a workflow of GitHub."""
    if isinstance(key, str):
        return ()
    if isinstance(key, bool):
        return ("true", "yes", "on") if key else ("false", "no", "off")
    try:
        return ("null",) if key is None else (str(key),)
    except ValueError:  # a number of very many digits
        return ()


def _first(errors: Any) -> Any:
    return (error for error, _ in zip(errors, range(_MAX_ERRORS), strict=False))


def _schema(workspace: Path, schema: Any) -> Any:
    if isinstance(schema, Mapping):
        return dict(schema)
    try:
        return read_json(workspace, need_string("schema", schema))[0]
    except UnusableError as error:
        raise _bad_schema(workspace, schema, str(error)) from None


def _bad_schema(workspace: Path, schema: Any, reason: str) -> Exception:
    """Who is to blame for a schema: whoever is judged, where it is a file in the workspace, else the author."""
    if isinstance(schema, str):
        try:
            own = locate(workspace, schema).is_relative_to(locate(workspace, "."))
        except UnusableError:
            own = True
        if own:
            return UnusableError(f"the schema in the workspace cannot be used: {reason}")
    return ValueError(f"the schema cannot be used: {reason}")


def _read_yaml(workspace: Path, path: str) -> tuple[Any, str]:
    import yaml

    text, note = read_text(workspace, path, _MAX_YAML)
    try:
        # The parser in C recurses on the C stack while it composes, and not while it gives events.
        depth = 0
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                raise UnusableError(f"{path} is nested too deeply{note}")
        return yaml.load(text, Loader=_loader()), note
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise UnusableError(f"{path} is no YAML: {cut(clean(str(error)), 200)}{note}") from None


def _loader() -> Any:
    """The safe loader, without what lets a small file take hours: long numbers and merges of merges."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]
        def construct_scalar(self, node: Any) -> Any:
            numbers = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
            if node.tag in numbers and len(node.value) > _MAX_NUMBER:
                raise yaml.constructor.ConstructorError(None, None, "a number has too many digits", node.start_mark)
            return super().construct_scalar(node)

        def flatten_mapping(self, node: Any) -> None:
            for key, value in node.value:
                if key.tag == "tag:yaml.org,2002:merge" and isinstance(value, yaml.CollectionNode):
                    parts = [value] if isinstance(value, yaml.MappingNode) else value.value
                    for part in parts:
                        if isinstance(part, yaml.MappingNode):
                            self.flatten_mapping(part)
                    if sum(len(part.value) for part in parts) > _MAX_MERGED:
                        raise yaml.constructor.ConstructorError(None, None, "merges too much", node.start_mark)
            super().flatten_mapping(node)

    return Loader
