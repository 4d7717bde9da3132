"""A sentence for every ready criterion."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MAX_DESCRIPTION = 200
_MAX_ARGUMENT = 80

DESCRIPTIONS: dict[str, str] = {
    "file_exists": "{path} exists",
    "file_not_exists": "{path} does not exist",
    "file_contains": "{path} contains {text!r}",
    "file_contains_regex": "{path} has a match of the pattern {pattern!r}",
    "file_matches": "{path} reads exactly {expected!r}",
    "files_equal": "{path1} and {path2} have the same content",
    "file_count": "files that match {pattern}[, exactly {exactly}][, at least {minimum}][, at most {maximum}]",
    "diff_ratio": "how much of {path} is as in {expected!r}",
    "command_succeeds": "`{cmd}` succeeds[ in {cwd}]",
    "command_output_contains": "`{cmd}` prints {text!r}[ in {cwd}]",
    "command_output_matches": "`{cmd}` prints exactly {expected!r}[ in {cwd}]",
    "command_output_matches_regex": "`{cmd}` prints a match of the pattern {pattern!r}[ in {cwd}]",
    "json_key_equals": "{key} is {expected!r} in {path}",
    "json_path_equals": "{json_path} is {expected!r} in {path}",
    "json_schema_valid": "{path} is valid by the schema {schema}",
    "yaml_key_equals": "{key} is {expected!r} in {path}",
    "csv_cell_equals": "row {row}, column {col} of {path} is {expected!r}",
    "xlsx_cell_equals": "cell {cell} of {path}[ on the sheet {sheet!r}] is {expected!r}",
    "sqlite_query_equals": "{query!r} on {db_path} gives {expected!r}",
    "http_status_equals": "{url} answers with status {status}",
    "http_response_contains": "{url} answers with {text!r}",
    "http_json_equals": "{json_path} is {expected!r} in what {url} answers",
    "image_size_equals": "{path} is {width} by {height} pixels",
    "image_similarity": "share of equal pixels of {path1} and {path2}",
    "image_ssim": "structural similarity of {path1} and {path2}",
    "trajectory_tool_used": "the agent calls {tool_name} at least {min_count} time(s)",
    "trajectory_tool_not_used": "the agent never calls {tool_name}",
    "trajectory_turn_count": "the agent takes at most {max_turns} turn(s)",
    "git_diff_within": "only {paths} changed since {base}[ in {cwd}]",
    "no_new_files": "no new files since {base}[ but {allowed}]",
    "pytest_passes": "all tests of {path} pass[ in {cwd}]",
    "coverage_at_least": "the tests of {path} cover at least {percent} % of {source}",
    "semantic_similarity": "closeness in meaning of {path} to {reference!r}[, at least {minimum}]",
}
"""`{name}` shows an argument as it is, `{name!r}` as Python writes it; a part in brackets needs its argument set."""

DEFAULTS: dict[str, Any] = {"status": 200, "min_count": 1, "base": "HEAD"}
_DEFAULTS_OF: dict[str, dict[str, Any]] = {
    "pytest_passes": {"path": "the project"},
    "coverage_at_least": {"path": "the project", "source": "the project"},
}

_PART = re.compile(r"\[([^\]]*)\]")
_FIELD = re.compile(r"\{(\w+)(!r)?\}")


def describe(name: str, arguments: Mapping[str, Any]) -> str:
    """The template of a criterion, filled in once, so that braces and brackets in an argument are only text.

    Raises:
        KeyError: there is no criterion of that name.
    """
    template = DESCRIPTIONS[name]
    values = {**DEFAULTS, **_DEFAULTS_OF.get(name, {}), **arguments}

    def optional(part: re.Match[str]) -> str:
        return part[1] if all(_is_set(values.get(field)) for field, _ in _FIELD.findall(part[1])) else ""

    def filled(field: re.Match[str]) -> str:
        return _short(values[field[1]], quoted=bool(field[2])) if field[1] in values else "?"

    text = _FIELD.sub(filled, _PART.sub(optional, template))
    return text if len(text) <= MAX_DESCRIPTION else f"{text[: MAX_DESCRIPTION - 3]}..."


def _is_set(value: Any) -> bool:
    return value is not None and value != () and value != []


def _short(value: Any, *, quoted: bool) -> str:
    if isinstance(value, list | tuple) and not quoted:
        text = ", ".join(str(item) for item in value[:20])
    elif isinstance(value, Mapping) and not quoted:
        text = "given"
    else:
        text = repr(value) if quoted else str(value)
    text = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * _MAX_ARGUMENT]).split(" "))
    return text if len(text) <= _MAX_ARGUMENT else f"{text[: _MAX_ARGUMENT - 3]}..."
