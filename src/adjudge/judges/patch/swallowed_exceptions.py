"""Does the patch hide errors: handlers that catch everything and do nothing?"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from adjudge.judges.patch.base import Finding, Patch, told
from adjudge.judges.patch.reading import MAX_FILES, read
from adjudge.judges.patch.swallowed_elsewhere import LANGUAGES, language, swallows_in_text
from adjudge.judges.patch.syntax import NotParsedError, leaf, lines_of, parse, shown
from adjudge.judges.patch.unified import FileDiff, take_apart

_BROAD = frozenset({"Exception", "BaseException"})


class _Swallow(NamedTuple):
    key: str
    line: int
    what: str
    lines: range


def swallowed_exceptions(patch: Patch) -> Finding:
    """Pass when no handler was added that catches everything and then does nothing with it.

    Handlers that only moved do not count: those of all touched files before are held against those after.
    """
    diffs = {file.path: file for file in take_apart(patch.diff)}
    had: Counter[str] = Counter()
    now: list[tuple[bool, str, str, str]] = []
    notes: list[str] = []
    unseen = [f"{len(patch.files) - MAX_FILES} of {len(patch.files)} files"] if len(patch.files) > MAX_FILES else []
    looked = 0
    for path in patch.files[:MAX_FILES]:
        kind = language(path)
        if kind is None:
            continue
        looked += 1
        old, new, why = _sides(patch, path) if kind == "python" else ([], [], "")
        if kind != "python" or why:
            diff = diffs.get(path)
            if why:
                (notes if diff else unseen).append(f"{path}: {why}" + (", judged by its diff" if diff else ""))
            old, new = _by_diff(diff, kind)
        had.update(swallow.key for swallow in old)
        added = {line.number for line in diffs[path].lines("+")} if path in diffs else set()
        now += [(bool(added & set(item.lines)), item.key, f"{path}:{item.line}", item.what) for item in new]
    if not looked and not unseen:
        return Finding(True, f"no file touched that could swallow an exception ({', '.join(LANGUAGES)})")
    faults = []
    for key, count in Counter(key for _, key, _, _ in now).items():
        extra = count - had[key]
        # Those on lines that the patch added are the new ones, where the same handler is there more than once.
        same = sorted((item for item in now if item[1] == key), key=lambda item: not item[0])
        faults += [f"{where}: {what}" for _, _, where, what in same[: max(0, extra)]]
    return told(faults, clean=f"no swallowed exception added in {looked} files", notes=notes, unseen=unseen)


def _sides(patch: Patch, path: str) -> tuple[list[_Swallow], list[_Swallow], str]:
    """What a Python file swallows before and after, or why that cannot be told from its syntax."""
    sides: list[list[_Swallow]] = []
    for root, side in ((patch.before, "before"), (patch.after, "after")):
        source = read(root, path)
        if source.why:
            return [], [], source.why
        try:
            sides.append(list(_swallows(parse(source.text))) if source.text else [])
        except NotParsedError as error:
            return [], [], f"{error} {side} the patch"
        except RecursionError:
            return [], [], "nested too deeply"
    return sides[0], sides[1], ""


def _by_diff(diff: FileDiff | None, kind: str) -> tuple[list[_Swallow], list[_Swallow]]:
    if diff is None:
        return [], []
    sides: list[list[_Swallow]] = [[], []]
    for hunk in diff.hunks:
        for side, sign in zip(sides, "-+", strict=True):
            lines = [line for line in hunk if line.sign in (" ", sign)]
            for start, end, what in swallows_in_text([line.text for line in lines], kind):
                if any(line.sign == sign for line in lines[start : end + 1]):
                    number = lines[start].number
                    key = "".join(line.text.strip() for line in lines[start : end + 1])
                    side.append(_Swallow(key, number, what, range(number, lines[end].number + 1)))
    return sides[0], sides[1]


def _swallows(tree: ast.Module) -> Iterator[_Swallow]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type) and all(map(_does_nothing, node.body)):
            caught = f"except {shown(node.type)}" if node.type else "bare except"
            does = "; ".join(shown(statement) for statement in node.body)
            key = f"{shown(node.type)}:{'|'.join(ast.dump(statement) for statement in node.body)}"
            yield _Swallow(key, node.lineno, f"{caught}: {does}", lines_of(node))
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and leaf(call) == "suppress" and any(map(_is_broad, call.args)):
                    yield _Swallow(ast.dump(call), call.lineno, f"with {shown(call)}", lines_of(call))


def _is_broad(node: ast.expr | None) -> bool:
    if node is None:
        return True
    if isinstance(node, ast.Tuple):
        return any(map(_is_broad, node.elts))
    return leaf(node) in _BROAD


def _does_nothing(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Pass, ast.Continue, ast.Break)):
        return True
    if isinstance(node, ast.Return):
        return node.value is None or _is_fixed(node.value)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_fixed(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_fixed(node.operand)
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return all(map(_is_fixed, node.elts))
    if isinstance(node, ast.Dict):
        return not node.keys
    return isinstance(node, ast.Constant)
