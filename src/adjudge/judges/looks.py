"""What a snippet of Python looks at in the record, where its text says so beyond doubt."""

from __future__ import annotations

import ast
import textwrap

_REACH_ANYWHERE = frozenset({"eval", "exec", "compile", "locals", "vars", "globals", "dir", "__import__"})
_FRAMES = frozenset({"f_locals", "_getframe", "currentframe", "stack", "getframeinfo", "gi_frame", "tb_frame"})


def keys_used(code: str, *, expression: bool = False) -> frozenset[str] | None:
    """The keys of `outputs` that a check's body, or a condition (an `expression`), can ask for; `None` for any.

    It is sure only where `outputs` stands nowhere but in `outputs["key"]` and `outputs.get("key", ...)`, and nothing
    in the text could come by it in another way.
    """
    try:
        tree = ast.parse(code if expression else textwrap.dedent(code), mode="eval" if expression else "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes = list(ast.walk(tree))
    if any(map(_escapes, nodes)):
        return None
    asked = dict(filter(None, map(_asked, nodes)))
    stands = {id(node) for node in nodes if isinstance(node, ast.Name) and node.id == "outputs"}
    return frozenset(asked.values()) if stands <= asked.keys() else None


def _escapes(node: ast.AST) -> bool:
    """Whether a node can name `outputs` without writing it, or give the name to something else."""
    if isinstance(node, ast.Name):
        return node.id in _REACH_ANYWHERE
    if isinstance(node, ast.Attribute):
        return node.attr in _FRAMES
    if isinstance(node, ast.arg):
        return node.arg == "outputs"
    return isinstance(node, ast.Global | ast.Nonlocal) and "outputs" in node.names


def _asked(node: ast.AST) -> tuple[int, str] | None:
    """(the place of `outputs`, the key) where a node asks for one key."""
    place: ast.expr
    key: ast.expr
    if isinstance(node, ast.Subscript):
        place, key = node.value, node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        place, key = node.func.value, node.args[0]
    else:
        return None
    if isinstance(place, ast.Name) and place.id == "outputs" and isinstance(key, ast.Constant):
        return (id(place), key.value) if isinstance(key.value, str) else None
    return None
