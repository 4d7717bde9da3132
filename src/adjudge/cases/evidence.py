"""What an agent did, in a few lines: how much it used, which tools, which files it read and wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from adjudge.domain import Metrics

_READS = frozenset({"Read", "NotebookRead", "read_file", "view"})
_WRITES = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit", "write_file", "apply_patch", "create"})
_PATH_KEYS = ("file_path", "path", "notebook_path", "filename")
_MOST_FILES = 50


def evidence(calls: Sequence[Mapping[str, Any]], metrics: Metrics) -> str:
    """A summary of tool activity, from calls as {name, input}; nothing when there is nothing to say."""
    lines = []
    if metrics.num_turns is not None:
        lines.append(f"Turns: {metrics.num_turns}")
    if metrics.cost_usd is not None:
        lines.append(f"Cost: ${metrics.cost_usd:.4f}")
    if metrics.duration_s is not None:
        lines.append(f"Duration: {metrics.duration_s:.1f} s")
    used = Counter(" ".join(str(call.get("name", "?")).split()) for call in calls)
    if used:
        lines.append(f"Tool calls: {sum(used.values())} ({', '.join(f'{name} {n}' for name, n in used.most_common())})")
    for title, tools in (("Files read", _READS), ("Files written", _WRITES)):
        paths = [path for call in calls if call.get("name") in tools and (path := _path(call))]
        names = list(dict.fromkeys(paths))
        if names:
            more = f" and {len(names) - _MOST_FILES} more" if len(names) > _MOST_FILES else ""
            lines.append(f"{title}: {', '.join(names[:_MOST_FILES])}{more}")
    return "\n".join(lines)


def _path(call: Mapping[str, Any]) -> str:
    given = call.get("input")
    found = (
        next((given[key] for key in _PATH_KEYS if isinstance(given.get(key), str)), "")
        if isinstance(given, Mapping)
        else ""
    )
    return " ".join(found.split())[:300]
