"""Inline Python of check judges: the body of a function that sees `outputs` and `arguments`."""

from __future__ import annotations

import ast
import textwrap
import warnings
from types import CodeType


def compile_snippet(code: str, name: str) -> CodeType:
    """Compile a snippet to a module that defines `check(outputs, arguments)`.

    Line numbers are those of the snippet, and multi-line strings in it stay as they are.

    Raises:
        SyntaxError: it is not the body of a function.
        ValueError: it holds a NUL byte.
    """
    filename = f"<check {name}>"
    body = ast.parse(textwrap.dedent(code), filename).body or [ast.Pass()]
    module = ast.parse("def check(outputs, arguments): pass", filename)
    function = module.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = body
    ast.fix_missing_locations(module)
    with warnings.catch_warnings(action="ignore"):
        return compile(module, filename, "exec", dont_inherit=True)
