"""From a workspace to the run directory: declared outputs, and whatever else the agent changed."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from adjudge.domain import Output
from adjudge.execution.workspace import HARNESS, State, Workspace, states

MAX_FILES = 20_000
MAX_BYTES = 512 * 1024 * 1024
MODIFIED = "_modified"


def collect(
    workspace: Workspace, home: Path, outputs: Sequence[Output], notes: list[str], *, own_metrics: bool = False
) -> dict[str, int]:
    """Copy what the agent made; returns output path -> number of files, and `_modified` -> changes elsewhere.

    Changes are found by comparing with what was there before, so that a commit of the agent's hides none. What lies
    beyond the caps is left out and noted; links are not followed. With `own_metrics` the program wrote
    `output/metrics.json` for us, and it is not among what it made.
    """
    after = states(workspace.folder)
    declared = [output.path for output in outputs if output.path]
    counts = dict.fromkeys(declared, 0)
    budget = [MAX_FILES, MAX_BYTES]
    lost: list[str] = []
    for name in sorted(after):
        if own_metrics and name == "output/metrics.json":
            continue
        place = next((path for path in declared if name == path or name.startswith(f"{path}/")), None)
        if place is None:
            if not _is_change(name, after[name], workspace.before):
                continue
            target, key = f"{MODIFIED}/{name}", MODIFIED
        else:
            target, key = name, place
        if _kept(workspace.folder / name, home / target, after[name], budget):
            counts[key] = counts.get(key, 0) + 1
        elif min(budget) >= 0:
            lost.append(name)
    if lost:
        notes.append(f"could not be copied: {_named(lost)}")
    if min(budget) < 0:
        notes.append(f"not everything was collected: more than {MAX_FILES} files or {MAX_BYTES} bytes")
    gone = sorted(name for name in workspace.before if name not in after and name.partition("/")[0] not in HARNESS)
    if gone:
        notes.append(f"the agent removed {_named(gone)}")
    return counts


def _named(names: Sequence[str]) -> str:
    """A few of the names, as text that can be written down whatever they hold."""
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return ", ".join(names[:20]).encode("utf-8", "backslashreplace").decode() + more


def _is_change(name: str, state: State, before: Mapping[str, State]) -> bool:
    return name.partition("/")[0] not in HARNESS and before.get(name) != state


def _kept(source: Path, target: Path, state: State, budget: list[int]) -> bool:
    budget[0] -= 1
    budget[1] -= state[0]
    if min(budget) < 0:
        return False
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return False
        try:
            with target.open("wb") as out:
                shutil.copyfileobj(file, out, 1 << 16)
        except OSError:
            return False
    return True
