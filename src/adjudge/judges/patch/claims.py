"""What a Python test claims: each assertion in one form, whichever way it is written, and how much it says."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from adjudge.judges.patch.python_tests import fixed_truth
from adjudge.judges.patch.syntax import constants, leaf, named, shown

_HELPERS = ("assert", "check", "verify", "expect", "ensure", "validate", "should")


class Strength(IntEnum):
    """How much a claim says, roughly."""

    NOTHING = 0
    SOME = 1
    NEAR = 2
    EXACT = 3


class Claim(NamedTuple):
    """One assertion: its form, what it is about (sides, as text), and how much it says.

    `tolerance` is what it allows around a number. `raises` is the family of a claim that something raises or warns,
    and `broad` says that any error will do.
    """

    key: str
    about: frozenset[str]
    strength: Strength
    node: ast.AST
    tolerance: float = 0.0
    raises: str = ""
    broad: bool = False

    @property
    def said(self) -> str:
        return shown(self.node)

    @property
    def literals(self) -> set[str]:
        return constants([self.node])

    @property
    def names(self) -> set[str]:
        return named([self.node])


def claims_of(body: Sequence[ast.stmt]) -> list[Claim]:
    """The claims that a body makes when it runs: not below a fixed false, after a return, or swallowed at once."""
    return list(_claims(body))


def _claims(body: Sequence[ast.stmt]) -> Iterator[Claim]:
    for node in body:
        if isinstance(node, ast.Assert):
            yield from _asserted(node.test, node)
        elif isinstance(node, ast.Expr):
            value = node.value.value if isinstance(node.value, ast.Await) else node.value
            if isinstance(value, ast.Call):
                yield from _called(value)
        elif isinstance(node, ast.If):
            fixed = fixed_truth(node.test)
            yield from _claims(node.body) if fixed is not False else ()
            yield from _claims(node.orelse) if fixed is not True else ()
            if fixed is not True and _fails(node.body):
                yield from _denied(node.test, node)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            yield from _with(node)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            if not (isinstance(node, ast.While) and fixed_truth(node.test) is False):
                yield from _claims([*node.body, *node.orelse])
        elif isinstance(node, (ast.Try, ast.TryStar)):
            if not any(_swallows_failure(handler) for handler in node.handlers):
                yield from _claims(node.body)
            yield from _claims([*node.orelse, *node.finalbody])
            for handler in node.handlers:
                yield from _claims(handler.body)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                yield from _claims(case.body)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _claims(node.body)
        elif (
            isinstance(node, (ast.Assign, ast.AnnAssign))
            and isinstance(node.value, ast.Call)
            and leaf(node.value).startswith(("assert", "raises"))
        ):
            yield from _called(node.value)
        if isinstance(node, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
            return


def _fails(body: Sequence[ast.stmt]) -> bool:
    """`if x != 1: pytest.fail(...)` and `raise AssertionError` are assertions too."""
    for node in body:
        if isinstance(node, ast.Raise) and node.exc is not None and leaf(node.exc) == "AssertionError":
            return True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and leaf(node.value) == "fail":
            return True
    return False


def _swallows_failure(handler: ast.ExceptHandler) -> bool:
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    catches = any(kind is None or leaf(kind) in ("Exception", "BaseException", "AssertionError") for kind in types)
    return (
        catches
        and not any(isinstance(node, (ast.Raise, ast.Assert)) for node in ast.walk(handler))
        and not any(
            isinstance(node, ast.Call) and leaf(node).startswith(("fail", "assert")) for node in ast.walk(handler)
        )
    )


def _with(node: ast.With | ast.AsyncWith) -> Iterator[Claim]:
    hidden = False
    for item in node.items:
        call = item.context_expr
        if isinstance(call, ast.Call):
            name = leaf(call)
            if name == "suppress" and any(
                leaf(kind) in ("Exception", "BaseException", "AssertionError") for kind in call.args
            ):
                hidden = True
            else:
                yield from _called(call, in_with=node)
    if not hidden:
        yield from _claims(node.body)


def _claim(kind: str, sides: Sequence[ast.AST], strength: Strength, node: ast.AST, *, ordered: bool = True) -> Claim:
    texts = [ast.unparse(side) for side in sides]
    key = f"{kind}({', '.join(texts if ordered else sorted(texts))})"
    return Claim(
        key, frozenset(text for text, side in zip(texts, sides, strict=True) if not _literal(side)), strength, node
    )


def _nothing(sides: Sequence[ast.expr], node: ast.AST) -> Claim:
    """A claim that holds whatever happens, about everything that it mentions."""
    mentioned = (inner for side in sides for inner in ast.walk(side))
    about = {ast.unparse(inner) for inner in mentioned if isinstance(inner, (ast.Name, ast.Attribute, ast.Call))}
    return _claim("nothing", sides, Strength.NOTHING, node)._replace(about=frozenset(about))


def _literal(node: ast.AST) -> bool:
    return all(
        isinstance(
            inner, (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.UnaryOp, ast.expr_context, ast.unaryop)
        )
        for inner in ast.walk(node)
    )


def _asserted(test: ast.expr, node: ast.AST) -> Iterator[Claim]:
    if isinstance(test, ast.NamedExpr):
        test = test.value
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for value in test.values:
            yield from _asserted(value, value)
    elif fixed_truth(test) is True or (isinstance(test, ast.Compare) and _same_sides(test)):
        yield _nothing([test], node)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _denied(test.operand, node)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        yield _compared(type(test.ops[0]), test.left, test.comparators[0], node)
    elif isinstance(test, ast.Compare):
        strength = Strength.EXACT if all(isinstance(op, (ast.Eq, ast.Is)) for op in test.ops) else Strength.SOME
        yield _claim("chain", [test.left, *test.comparators], strength, node)
    elif isinstance(test, ast.BoolOp):
        made = _claim("any", test.values, Strength.SOME, node)
        sides = [
            side for value in test.values if isinstance(value, ast.Compare) for side in (value.left, *value.comparators)
        ]
        yield made._replace(about=made.about | {ast.unparse(side) for side in sides if not _literal(side)})
    elif isinstance(test, ast.Call) and leaf(test) in ("isclose", "allclose", "array_equal"):
        yield (
            _near(test.args[0], test.args[1], test, node)
            if len(test.args) > 1
            else _claim("true", [test], Strength.SOME, node)
        )
    elif isinstance(test, ast.Call) and leaf(test) in ("isinstance", "callable", "hasattr", "issubclass") and test.args:
        yield _claim(leaf(test), test.args, Strength.SOME, node)
    else:
        yield _claim("true", [test], Strength.SOME, node)


def _same_sides(test: ast.Compare) -> bool:
    """`x == x` says nothing; `f() == f()` says that f gives the same twice."""
    return (
        len(test.ops) == 1
        and isinstance(test.ops[0], (ast.Eq, ast.Is, ast.LtE, ast.GtE))
        and ast.dump(test.left) == ast.dump(test.comparators[0])
        and not any(isinstance(inner, (ast.Call, ast.Await)) for inner in ast.walk(test.left))
    )


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
}  # fmt: skip


def _denied(test: ast.expr, node: ast.AST) -> Iterator[Claim]:
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        yield _compared(_OPPOSITE[type(test.ops[0])], test.left, test.comparators[0], node)
    elif fixed_truth(test) is False:
        yield _nothing([test], node)
    else:
        yield _claim("false", [test], Strength.SOME, node)


def _compared(op: type[ast.cmpop], left: ast.expr, right: ast.expr, node: ast.AST) -> Claim:
    for one, other in ((left, right), (right, left)):
        if op is ast.Eq and isinstance(other, ast.Call) and leaf(other) == "approx" and other.args:
            return _near(one, other.args[0], other, node)
    if op in (ast.Eq, ast.Is):
        return _claim("==", [left, right], Strength.EXACT, node, ordered=False)
    if op in (ast.NotEq, ast.IsNot):
        return _claim("!=", [left, right], Strength.SOME, node, ordered=False)
    if op in (ast.Gt, ast.GtE):
        op, left, right = (ast.Lt if op is ast.Gt else ast.LtE), right, left
    names: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.In: "in", ast.NotIn: "not in"}
    return _claim(names[op], [left, right], Strength.SOME, node)


def _number(node: ast.expr) -> float | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return float(value) if isinstance(value, (int, float)) and abs(value) < 1e300 else None


def _near(one: ast.expr, other: ast.expr, call: ast.Call, node: ast.AST) -> Claim:
    words = ("rel", "abs", "rel_tol", "abs_tol", "rtol", "atol", "delta")
    given = [keyword.value for keyword in call.keywords if keyword.arg in words]
    places = [keyword.value for keyword in call.keywords if keyword.arg == "places"]
    if leaf(call) == "approx":
        given += call.args[1:3]
    elif leaf(call) == "assertAlmostEqual":
        places += call.args[2:3]
    allowed = [abs(number) for number in map(_number, given) if number is not None]
    digits = [number for number in map(_number, places) if number is not None]
    allowed += [10.0 ** -min(place, 300) for place in digits if place > -300]
    made = _claim("near", [one, other], Strength.NEAR, node, ordered=False)
    tolerance = max(allowed, default=1e-6)
    return made._replace(key=f"{made.key} within {tolerance:g}", tolerance=tolerance)


_UNITTEST: dict[str, type[ast.cmpop]] = {
    "assertNotEqual": ast.NotEq, "assertIn": ast.In, "assertNotIn": ast.NotIn, "assertIs": ast.Is,
    "assertIsNot": ast.IsNot, "assertLess": ast.Lt, "assertLessEqual": ast.LtE, "assertGreater": ast.Gt,
    "assertGreaterEqual": ast.GtE,
}  # fmt: skip
_EQUAL = (
    "assertEqual", "assertEquals", "assertDictEqual", "assertListEqual", "assertTupleEqual", "assertSetEqual",
    "assertMultiLineEqual", "assertSequenceEqual", "assertCountEqual", "assert_equal", "assert_array_equal",
)  # fmt: skip


def _called(call: ast.Call, *, in_with: ast.With | ast.AsyncWith | None = None) -> Iterator[Claim]:
    name, args = leaf(call), call.args
    none = ast.Constant(None)
    if name in ("raises", "assertRaises", "assertRaisesRegex", "warns", "assertWarns", "deprecated_call"):
        yield _raised(call, in_with)
    elif name in _EQUAL and len(args) >= 2:
        same = ast.Compare(args[0], [ast.Eq()], [args[1]])
        if fixed_truth(same) is True or _same_sides(same):
            yield _nothing(args[:2], call)
        else:
            yield _compared(ast.Eq, args[0], args[1], call)
    elif name in _UNITTEST and len(args) >= 2:
        yield _compared(_UNITTEST[name], args[0], args[1], call)
    elif name in ("assertIsNone", "assertIsNotNone") and args:
        yield _compared(ast.Is if name == "assertIsNone" else ast.IsNot, args[0], none, call)
    elif name == "assertTrue" and args:
        yield from _asserted(args[0], call)
    elif name == "assertFalse" and args:
        yield from _denied(args[0], call)
    elif name in ("assertAlmostEqual", "assert_allclose", "assert_almost_equal") and len(args) >= 2:
        yield _near(args[0], args[1], call, call)
    elif name in ("assertIsInstance", "assertNotIsInstance") and len(args) >= 2:
        yield _claim("isinstance", args[:2], Strength.SOME, call)
    elif name.startswith("assert_") and isinstance(call.func, ast.Attribute):
        # Of a mock: what it was called with says more than that it was called.
        given = [*args, *(keyword.value for keyword in call.keywords)]
        strength = Strength.EXACT if given or "not_called" in name or "any" in name else Strength.SOME
        made = _claim(name, [call.func.value, *given], strength, call)
        yield made._replace(about=frozenset({ast.unparse(call.func.value)}))
    elif not in_with and name.lstrip("_").lower().startswith(_HELPERS):
        yield _claim(name, [call], Strength.EXACT, call)
    elif name == "fail" and not in_with:
        yield _claim("fail", [call], Strength.SOME, call)


def _raised(call: ast.Call, block: ast.With | ast.AsyncWith | None) -> Claim:
    """That something raises: about what is run, which is the block or what follows the kinds of errors."""
    kinds = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "expected_exception"), None)
    items = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    names = sorted(leaf(kind) for kind in items if kind is not None)
    broad = any(name in ("Exception", "BaseException") for name in names)
    family = "warns" if "arn" in leaf(call) or leaf(call) == "deprecated_call" else "raises"
    run = "; ".join(map(ast.unparse, block.body if block else call.args[1:]))
    return Claim(
        f"{family}({'|'.join(names)}: {run})",
        frozenset({f"{family} {run}"}),
        Strength.SOME if broad else Strength.EXACT,
        block or call,
        raises=family,
        broad=broad,
    )
