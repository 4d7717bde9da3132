"""The tests of a Python file that a runner would collect, and what keeps them from running."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from adjudge.judges.patch.syntax import body_of, leaf, shown

Function = ast.FunctionDef | ast.AsyncFunctionDef
_SKIPS = frozenset({"skip", "xfail", "skipif", "skipIf", "skipUnless", "expectedFailure"})
_SKIP_CALLS = frozenset({"skip", "xfail", "skipTest", "SkipTest", "exit"})
_ALWAYS = re.compile(
    r"""sys\.version_info(?:\.major|\[\d\]|\[:\d\])?\ >=?\ (?:\([23],?\)|\([23],\ \d\b|[23]\b)
    | (?:sys\.platform|os\.name|platform\.system\(\))\ (?:==|in)\ .*(?:linux|posix|Linux)
    | (?:sys\.platform|os\.name|platform\.system\(\))\ !=\ ['"](?!linux|posix|Linux)
    | sys\.platform\.startswith\(['"]linux
    | .*\b(?:PYTEST_CURRENT_TEST|CI)\b""",
    re.X,
)
"""Conditions that hold on the machines that run tests, or wherever they are run."""


@dataclass(slots=True)
class Test:
    """A test function; `name` has the names of its classes before it."""

    path: str
    name: str
    node: Function
    marks: list[ast.expr] = field(default_factory=list)
    """Its own decorators, those of its classes and the module's `pytestmark`."""

    @property
    def leaf(self) -> str:
        return self.node.name

    @property
    def where(self) -> str:
        return f"{self.path}:{self.node.lineno}"


@dataclass(slots=True)
class Collected:
    """What a file holds: tests by name, functions that are none, and lists by the name they are assigned to."""

    tests: dict[str, Test] = field(default_factory=dict)
    helpers: dict[str, Test] = field(default_factory=dict)
    lists: dict[str, ast.expr] = field(default_factory=dict)
    skipped: str = ""
    """A skip of the whole file, with its condition."""


def collect(tree: ast.Module, path: str, *, is_test: bool) -> Collected:
    """The tests of a module by the names that runners look for; the later of two with one name hides the other."""
    found = Collected()
    _collect(tree, path, "", [], is_test, found)
    for node in _reached(tree.body):
        call = node.value if isinstance(node, ast.Expr) else node.exc if isinstance(node, ast.Raise) else None
        if isinstance(call, ast.Call) and leaf(call) in ("skip", "exit", "SkipTest"):
            found.skipped = f"line {node.lineno}: {shown(call)}"
    return found


def _collect(
    scope: ast.Module | ast.ClassDef, path: str, prefix: str, marks: list[ast.expr], is_test: bool, found: Collected
) -> None:
    own = [*marks]
    if any(_sets(node, "__test__", False) for node in scope.body):
        is_test = False
    for node in scope.body:
        if isinstance(node, ast.Assign) and any(leaf(target) == "pytestmark" for target in node.targets):
            own += node.value.elts if isinstance(node.value, (ast.List, ast.Tuple)) else [node.value]
    for node in _reached(scope.body):
        if isinstance(node, Function):
            test = Test(path, f"{prefix}{node.name}", node, [*node.decorator_list, *own])
            is_one = is_test and node.name.startswith("test") and not _is_fixture(node)
            (found.tests if is_one else found.helpers)[test.name] = test
        elif isinstance(node, ast.ClassDef):
            collected = is_test and (bool(node.bases) or (node.name.startswith("Test") and not _has_init(node)))
            inner = [*node.decorator_list, *own]
            _collect(node, path, f"{prefix}{node.name}.", inner, collected, found)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name) and node.value is not None:
                    found.lists[target.id] = node.value
                    _hidden(f"{prefix}{target.id}", found)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                _hidden(f"{prefix}{leaf(target)}", found)


def _hidden(name: str, found: Collected) -> None:
    """`test_x = None` and `del TestX` take away what was defined above."""
    for other in [other for other in found.tests if other == name or other.startswith(f"{name}.")]:
        del found.tests[other]


def _sets(node: ast.stmt, name: str, value: bool) -> bool:
    return (
        isinstance(node, ast.Assign)
        and any(leaf(target) == name for target in node.targets)
        and isinstance(node.value, ast.Constant)
        and node.value.value is value
    )


def _has_init(node: ast.ClassDef) -> bool:
    return any(isinstance(inner, Function) and inner.name == "__init__" for inner in node.body)


def _is_fixture(node: Function) -> bool:
    return any(leaf(mark) == "fixture" for mark in node.decorator_list)


def _reached(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module or class, also those below `if`, `try` and `with`, that are not below a fixed false."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            fixed = fixed_truth(node.test)
            yield from _reached(node.body) if fixed is not False else ()
            yield from _reached(node.orelse) if fixed is not True else ()
        elif isinstance(node, ast.Try):
            yield from _reached([*node.body, *node.orelse, *node.finalbody])
        elif isinstance(node, ast.With):
            yield from _reached(node.body)


def fixed_truth(test: ast.expr) -> bool | None:
    """Whether a condition is always true or always false; None where that cannot be seen."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, (ast.Tuple, ast.List, ast.Set)):
        return bool(test.elts)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = fixed_truth(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        parts = [fixed_truth(value) for value in test.values]
        decides = isinstance(test.op, ast.Or)
        if decides in parts:
            return decides
        return None if None in parts else not decides
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, right = test.left, test.comparators[0]
        if isinstance(left, (ast.Constant, ast.Name)) and ast.dump(left) == ast.dump(right):
            return True if isinstance(test.ops[0], (ast.Eq, ast.Is, ast.LtE, ast.GtE)) else None
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            if isinstance(test.ops[0], ast.Eq):
                return bool(left.value == right.value)
            if isinstance(test.ops[0], ast.NotEq):
                return bool(left.value != right.value)
    return None


def skips(test: Test) -> dict[str, str]:
    """What keeps a test from running or from counting: the text of each mark and call, and `always` or `sometimes`."""
    found: dict[str, str] = {}
    for mark in test.marks:
        name = leaf(mark)
        if name in _SKIPS:
            condition = mark.args[0] if isinstance(mark, ast.Call) and mark.args else None
            depends = name in ("skipif", "skipIf", "skipUnless") or (name == "xfail" and condition is not None)
            found[shown(mark)] = _when(condition, negated=name == "skipUnless") if depends else "always"
    found.update(_skip_calls(test.node.body, ""))
    return found


def _skip_calls(body: list[ast.stmt], condition: str) -> Iterator[tuple[str, str]]:
    for node in body:
        call = node.value if isinstance(node, ast.Expr) else node.exc if isinstance(node, ast.Raise) else None
        name = leaf(call) if call is not None else ""
        if name in _SKIP_CALLS and (isinstance(call, ast.Call) or isinstance(node, ast.Raise)):
            yield shown(call), condition or "always"
        if isinstance(node, ast.If):
            yield from _skip_calls(node.body, condition or _when(node.test))
            yield from _skip_calls(node.orelse, condition or _when(node.test, negated=True))
        elif isinstance(node, (ast.With, ast.AsyncWith, ast.For, ast.While)):
            yield from _skip_calls(node.body, condition)
        elif isinstance(node, ast.Try):
            yield from _skip_calls([*node.body, *node.finalbody, *node.orelse], condition)
            for handler in node.handlers:
                # A module that is not installed is a reason to skip; a test that failed is none.
                is_import = handler.type is not None and leaf(handler.type).endswith(("ImportError", "NotFoundError"))
                yield from _skip_calls(handler.body, condition or ("sometimes" if is_import else "always"))


def _when(condition: ast.expr | None, *, negated: bool = False) -> str:
    """`always` for a condition that holds wherever tests are run, `sometimes` for any other."""
    if condition is None:
        return "always"
    fixed = fixed_truth(condition)
    if fixed is not None:
        return "always" if fixed is not negated else "sometimes"
    if not negated and _ALWAYS.match(ast.unparse(condition)):
        return "always"
    return "sometimes"


def cases_of(test: Test, lists: dict[str, ast.expr]) -> dict[str, list[ast.expr]]:
    """The rows of each `parametrize` of a test, by the names of its arguments; lists given by name are looked up."""
    found: dict[str, list[ast.expr]] = {}
    for mark in test.marks:
        if isinstance(mark, ast.Call) and leaf(mark) == "parametrize":
            given = [
                *mark.args,
                *(keyword.value for keyword in mark.keywords if keyword.arg in ("argvalues", "argnames")),
            ]
            if len(given) < 2:
                continue
            rows = given[1]
            if isinstance(rows, ast.Name):
                rows = lists.get(rows.id, rows)
            if isinstance(rows, (ast.List, ast.Tuple, ast.Set)):
                found.setdefault(ast.unparse(given[0]).replace(" ", ""), []).extend(rows.elts)
    return found


def bare_body(test: Test) -> str:
    """The text of a test without docstring, marks and name: equal for a test that was only moved or renamed."""
    node = test.node
    return ast.dump(node.args) + "|" + "|".join(ast.dump(statement) for statement in body_of(node))
