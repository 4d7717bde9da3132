"""Python as a syntax tree, or the reason why not. Nothing is compiled or run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

MAX_DEPTH = 200
"""Levels of a tree that the checks go down. What is deeper was made by a program, or against one."""


class NotParsedError(Exception):
    """A text is no Python that can be looked at; the message says why."""


def parse(text: str) -> ast.Module:
    """The syntax tree of a module.

    Raises:
        NotParsedError: it is no Python of this version, or too deep or too large for the parser.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(text)
    except SyntaxError as error:
        deep = "too many nested" in str(error.msg) or "too complex" in str(error.msg)
        raise NotParsedError("nested too deeply" if deep else f"no valid Python (line {error.lineno})") from None
    except (RecursionError, MemoryError):
        raise NotParsedError("nested too deeply") from None
    except (ValueError, OverflowError) as error:
        raise NotParsedError(f"no valid Python ({error})") from None
    level: list[ast.AST] = [tree]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise NotParsedError("nested too deeply")
        below: list[ast.AST] = []
        for node in level:
            if isinstance(node, ast.Constant):
                node.kind = None  # u"" and "" are the same
                if type(node.value) is int and node.value.bit_length() > 8000:
                    raise NotParsedError("a number too large to print")
            below.extend(ast.iter_child_nodes(node))
        level = below
    return tree


def lines_of(node: ast.AST) -> range:
    """The lines that a statement or expression takes up."""
    start = int(getattr(node, "lineno", 0))
    return range(start, int(getattr(node, "end_lineno", start) or start) + 1)


def shown(node: ast.AST | None) -> str:
    """A node as source on one line, short."""
    if node is None:
        return ""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else text[:57] + "..."


def body_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module) -> list[ast.stmt]:
    """The statements of a body without its docstring."""
    body = node.body
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return body[1:]
    return body


def leaf(node: ast.AST) -> str:
    """The last name of a dotted one: `raises` of `pytest.raises`; of a call, that of what is called."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def constants(nodes: Sequence[ast.AST]) -> set[str]:
    """The literals below some nodes as text; True, False, None and `...` are none."""
    return {
        repr(inner.value)
        for node in nodes
        for inner in ast.walk(node)
        if isinstance(inner, ast.Constant) and type(inner.value) in (str, bytes, int, float, complex)
    }


def named(nodes: Sequence[ast.AST]) -> set[str]:
    """Every name and attribute used below some nodes."""
    found: set[str] = set()
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name):
                found.add(inner.id)
            elif isinstance(inner, ast.Attribute):
                found.add(inner.attr)
    return found
