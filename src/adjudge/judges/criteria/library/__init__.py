"""The ready criteria, one function each: `name(workspace, ...) -> Finding`. Nothing is imported before it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.judges.criteria.finding import Finding

LIBRARY: dict[str, str] = {
    "file_exists": "files",
    "file_not_exists": "files",
    "file_contains": "files",
    "file_contains_regex": "files",
    "file_matches": "files",
    "files_equal": "files",
    "file_count": "files",
    "diff_ratio": "difference",
    "command_succeeds": "commands",
    "command_output_contains": "commands",
    "command_output_matches": "commands",
    "command_output_matches_regex": "commands",
    "json_key_equals": "data",
    "json_path_equals": "data",
    "json_schema_valid": "data",
    "yaml_key_equals": "data",
    "csv_cell_equals": "tables",
    "xlsx_cell_equals": "tables",
    "sqlite_query_equals": "databases",
    "http_status_equals": "web",
    "http_response_contains": "web",
    "http_json_equals": "web",
    "image_size_equals": "images",
    "image_similarity": "images",
    "image_ssim": "images",
    "trajectory_tool_used": "trajectory",
    "trajectory_tool_not_used": "trajectory",
    "trajectory_turn_count": "trajectory",
    "git_diff_within": "repository",
    "no_new_files": "repository",
    "pytest_passes": "project",
    "coverage_at_least": "project",
    "semantic_similarity": "meaning",
}
"""Every ready criterion with the module of this package that holds it."""


def load(name: str) -> Callable[..., Finding]:
    """Import a ready criterion.

    Raises:
        KeyError: there is none of that name.
    """
    import importlib

    if name not in LIBRARY:
        raise KeyError(f"there is no ready criterion {name!r}; there are: {', '.join(sorted(LIBRARY))}")
    function: Callable[..., Finding] = getattr(importlib.import_module(f"{__name__}.{LIBRARY[name]}"), name)
    return function


def describe(name: str, arguments: Mapping[str, Any]) -> str:
    """What a criterion asks with these arguments, in at most 200 characters: `out.txt contains 'x'`.

    Raises:
        KeyError: there is none of that name.
    """
    from adjudge.judges.criteria.library.descriptions import describe as filled

    return filled(name, arguments)


__all__ = ["LIBRARY", "describe", "load"]
