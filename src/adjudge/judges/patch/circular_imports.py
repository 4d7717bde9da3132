"""Does the patch make modules import each other in a circle that did not before?"""

from __future__ import annotations

from itertools import pairwise

from adjudge.judges.patch.base import Finding, Patch, told
from adjudge.judges.patch.import_graph import Graph, circles, import_graph, way
from adjudge.judges.patch.unified import take_apart


def circular_imports(patch: Patch) -> Finding:
    """Pass when no circle of top-level imports goes through a touched module that was in no such circle before.

    Only what is reached from the touched modules is read: a new circle has to go through one of them.
    """
    touched = [path for path in patch.files if path.endswith(".py")]
    if not touched:
        return Finding(True, "no Python module was touched, so no import changed")
    after = import_graph(patch.after, touched)
    found = circles(after)
    renamed = {file.new: file.old for file in take_apart(patch.diff) if file.renamed and file.new and file.old}
    faults: list[str] = []
    notes = []
    if found:
        old_names = [renamed.get(path, path) for circle in found for path in circle]
        before = import_graph(patch.before, [*old_names, *touched])
        had = circles(before)
        for circle in found:
            if edge := _new_edge(after, circle, had, before, renamed):
                faults.append(_shown(after, circle, *edge))
            else:
                notes.append("a circle of imports was there before")
    unseen = [f"{path}: {after.unread[path]}" for path in touched if path in after.unread]
    others = [f"{path}: {why}, its imports are not known" for path, why in after.unread.items() if path not in touched]
    if not after.complete:
        unseen.append("the tree has too many files, not all imports were followed")
    return told(
        sorted(faults),
        clean=f"no new circle of imports through {len(touched)} touched modules ({len(after.edges)} modules read)",
        notes=[*others, *dict.fromkeys(notes)],
        unseen=unseen,
    )


def _new_edge(
    after: Graph, circle: set[str], had: list[set[str]], before: Graph, renamed: dict[str, str]
) -> tuple[str, str] | None:
    """An import within a circle whose two ends were in no circle together before."""
    old = {path: _before(path, before, renamed) for path in circle}
    gone = [path for other in had for path in other if path not in after.edges and path not in old.values()]
    for node in sorted(circle):
        for other in sorted(after.edges[node]):
            if other not in circle:
                continue
            ends = {old[node], old[other]}
            if any(ends <= circle_before for circle_before in had):
                continue
            # A module of an old circle that was split or moved is the old circle still.
            rest = {old[path] for path in circle} & set(before.edges)
            if gone and any(set(gone) & circle_before and rest & circle_before for circle_before in had):
                continue
            return node, other
    return None


def _before(path: str, before: Graph, renamed: dict[str, str]) -> str:
    """The name that a module had: by git's word, or as a package where it was a file, and the other way round."""
    if path in before.edges:
        return path
    if path in renamed:
        return renamed[path]
    if path.endswith("/__init__.py"):
        return path.removesuffix("/__init__.py") + ".py"
    return path.removesuffix(".py") + "/__init__.py"


def _shown(graph: Graph, circle: set[str], node: str, other: str) -> str:
    ring = [node, *way(graph, circle, other, node)]
    steps = [f"{path}:{graph.edges[path].get(to, 0)}" for path, to in pairwise(ring)]
    return " -> ".join([*steps, node])
