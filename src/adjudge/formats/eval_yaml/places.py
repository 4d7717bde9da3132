"""Where a key stands in a file, by its path."""

from __future__ import annotations

import re

from adjudge.located import Located

_PART = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def place_of(root: Located, path: str) -> tuple[int, int]:
    """(line, column) of a path such as `execution.steps[0].timeout`; of the nearest thing above it that is there."""
    node, place = root, (root.line, root.column)
    for name, index in _PART.findall(path):
        if index and isinstance(node.value, list) and int(index) < len(node.value):
            node = node.value[int(index)]
            place = (node.line, node.column)
        elif name and isinstance(node.value, dict) and name in node.value:
            place = node.keys.get(name, (node.line, node.column))
            node = node.value[name]
        else:
            break
    return place
