"""What can be known of a suite's Python without running it."""

from __future__ import annotations

import ast
import builtins
import importlib.util
import os
from pathlib import Path

from adjudge.domain import closest


def code_problem(module: str, function: str, code_paths: tuple[str, ...]) -> tuple[str, str] | None:
    """(key, message) when a code judge's module cannot be found, or its source defines no such function."""
    parts = module.split(".")
    if not all(part.isidentifier() for part in [*parts, *function.split(".")]):
        return None
    source = _source(parts, code_paths)
    if source is None:
        top = parts[0]
        inside = any(os.path.isdir(os.path.join(path, top)) for path in code_paths)  # noqa: PTH112, PTH118
        try:
            found = not inside and importlib.util.find_spec(top) is not None
        except (ImportError, ValueError):
            found = False
        where = "beside this file, in the current folder or installed"
        return None if found else ("module", f"there is no module {module!r} {where}")
    try:
        names = _top_level_names(ast.parse(source.read_bytes()))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return "module", f"{source.name} cannot be read as Python: {error}"
    name = function.split(".")[0]
    if "*" in names or name in names:
        return None
    hint = closest(name, names)
    return "function", f"{source.name} defines no {name!r}" + (f"; {hint}" if hint else "")


def _source(parts: list[str], code_paths: tuple[str, ...]) -> Path | None:
    for base in code_paths:
        for candidate in (Path(base, *parts).with_suffix(".py"), Path(base, *parts, "__init__.py")):
            if os.path.isfile(candidate):  # noqa: PTH113 - says no where Path.is_file raises
                return candidate
    return None


def _top_level_names(tree: ast.Module) -> set[str]:
    """Names that a module binds at its top level, also inside `if` and `try`; `*` for a star import."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return names


def unknown_names(expression: str) -> set[str]:
    """Names that a condition reads and that are neither its variables, Python's own, nor bound inside it."""
    tree = ast.parse(expression.strip(), mode="eval")
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    return read - bound - {"annotations", "outputs"} - set(dir(builtins))
