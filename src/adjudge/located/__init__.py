"""Config files whose values remember the file, line and column they came from."""

from __future__ import annotations

from adjudge.domain import Problem
from adjudge.located.nodes import MAX_BYTES, FileLine, Located, kind_name, read_text


def parse_yaml(text: str, shown: str) -> tuple[Located | None, list[Problem]]:
    """Parse one YAML document. Returns (root or `None` when empty or broken, problems)."""
    from adjudge.located import yaml_nodes  # yaml is imported with the first document

    return yaml_nodes.parse_yaml(text, shown)


def parse_toml(text: str, shown: str) -> tuple[Located | None, list[Problem]]:
    """Parse a TOML document. Returns (root or `None` when broken, problems)."""
    from adjudge.located import toml_nodes

    return toml_nodes.parse_toml(text, shown)


__all__ = [
    "MAX_BYTES",
    "FileLine",
    "Located",
    "kind_name",
    "parse_toml",
    "parse_yaml",
    "read_text",
]
