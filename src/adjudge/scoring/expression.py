"""The small language of reward formulas: arithmetic over judges, and nothing that could do anything else."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

MAX_NODES = 200
MAX_CONSTANT = 1e6
MAX_DIGITS = 300
"""Of `round`; no float has more."""
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def _mean(values: Iterable[float]) -> float:
    held = list(values)
    return sum(held) / len(held)


def _round(number: float, digits: int | None = None) -> float:
    return round(number) if digits is None else round(number, max(-MAX_DIGITS, min(MAX_DIGITS, digits)))


_CALLS: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "abs": abs,
    "round": _round,
    "sum": sum,
    "len": len,
    "mean": _mean,
}
NAMED = "judge"
"""`judge("my-judge")` is a judge whose name is no identifier; `my_judge` is too, where that is nobody else's name."""


class FormulaError(ValueError):
    """A formula that is not of this language, or that has no value for a case."""


def _parsed(text: str) -> ast.Module:
    """A formula as Python reads it between parentheses, where line breaks mean nothing; with assignments, a statement
    a line."""
    try:
        # Brackets of both kinds: a text that closes the one and opens it again would fit within that kind alone.
        ast.parse(f"(\n{text}\n)", mode="eval")
        listed = ast.parse(f"[\n{text}\n]", mode="eval").body
        if isinstance(listed, ast.List) and len(listed.elts) == 1:
            return ast.Module([ast.Expr(listed.elts[0])], [])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FormulaError(f"is no expression: {getattr(error, 'msg', None) or error}") from None


class Formula:
    """A formula over judges: one expression, on any number of lines, or assignments with an expression as the last.

    Raises (when made):
        FormulaError: it is not of the language, or refers to what is no judge.
    """

    def __init__(self, text: str, judges: Iterable[str]) -> None:
        names = list(judges)
        self._aliases = {name: name for name in names if name.isidentifier()}
        for name in names:
            plain = "".join(letter if letter.isalnum() else "_" for letter in name)
            if plain.isidentifier() and sum(_plain(other) == plain for other in names) == 1:
                self._aliases.setdefault(plain, name)
        self._judges = frozenset(names)
        tree = _parsed(text.strip())
        if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
            raise FormulaError(f"is too long: more than {MAX_NODES} parts")
        if not tree.body or not isinstance(tree.body[-1], ast.Expr):
            raise FormulaError("must end with an expression")
        self._body = tree.body
        self.judges: tuple[str, ...] = ()
        """The judges that it refers to."""
        found: list[str] = []
        bound: set[str] = set()
        for statement in tree.body:
            self._check(statement, bound, found)
        lost = next((statement for statement in tree.body[:-1] if isinstance(statement, ast.Expr)), None)
        if lost is not None:
            raise FormulaError(f"line {lost.lineno} comes to nothing: only the value of the last line counts")
        read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        if bound - read:
            raise FormulaError(f"{min(bound - read)} is assigned and never used: the last line is the whole value")
        self.judges = tuple(dict.fromkeys(found))

    def value(self, values: Mapping[str, float]) -> float:
        """The formula's value, given those of its judges.

        Raises:
            FormulaError: a judge has no value, or the result is no finite number.
        """
        missing = [name for name in self.judges if name not in values]
        if missing:
            raise FormulaError(f"{', '.join(missing)} has no value")
        names: dict[str, Any] = {alias: values[name] for alias, name in self._aliases.items() if name in values}
        result: Any = None
        try:
            for statement in self._body:
                result = self._run(statement, names, values)
            finite = isinstance(result, int | float) and math.isfinite(result)
        except (ArithmeticError, TypeError, ValueError, LookupError) as error:
            raise FormulaError(str(error) or type(error).__name__) from None
        if isinstance(result, bool):
            return float(result)
        if not finite:
            said = "a list" if isinstance(result, list) else repr(result)
            raise FormulaError(f"comes to {said}, which is no finite number")
        return float(result)

    def _check(self, node: ast.AST, bound: set[str], found: list[str]) -> None:
        if isinstance(node, ast.Assign):
            if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
                raise FormulaError("assigns to something that is no name")
            self._check(node.value, bound, found)
            bound.add(node.targets[0].id)
        elif isinstance(node, ast.Expr):
            self._check(node.value, bound, found)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, bool):
                return
            if not isinstance(node.value, int | float) or not abs(node.value) <= MAX_CONSTANT:
                said = (
                    "an integer" if isinstance(node.value, int) else repr(node.value)
                )  # which may be too long to print
                raise FormulaError(f"{said} is no number up to {MAX_CONSTANT:g}")
        elif isinstance(node, ast.Name):
            if node.id not in bound:
                found.append(self._judge(node.id))
        elif isinstance(node, ast.Call):
            self._check_call(node, bound, found)
        elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            self._check_all((node.left, node.right), bound, found)
        elif isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
            self._check(node.operand, bound, found)
        elif isinstance(node, ast.BoolOp):
            self._check_all(node.values, bound, found)
        elif isinstance(node, ast.Compare) and all(type(op) in _COMPARE for op in node.ops):
            self._check_all((node.left, *node.comparators), bound, found)
        elif isinstance(node, ast.IfExp):
            self._check_all((node.test, node.body, node.orelse), bound, found)
        elif isinstance(node, ast.List | ast.Tuple):
            self._check_all(node.elts, bound, found)
        else:
            raise FormulaError(f"{type(node).__name__} is not part of the language")

    def _check_all(self, nodes: Iterable[ast.AST], bound: set[str], found: list[str]) -> None:
        for node in nodes:
            self._check(node, bound, found)

    def _check_call(self, node: ast.Call, bound: set[str], found: list[str]) -> None:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise FormulaError("calls something that is no function of the language")
        if node.func.id == NAMED and NAMED not in self._aliases:
            given = node.args[0].value if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) else None
            if not isinstance(given, str):
                raise FormulaError('judge() takes the name of a judge: judge("my-judge")')
            if given not in self._judges:
                raise FormulaError(f"there is no judge {given!r}")
            found.append(given)
            return
        if node.func.id not in _CALLS:
            raise FormulaError(f"there is no function {node.func.id!r}; there are: {', '.join(_CALLS)}, {NAMED}")
        self._check_all(node.args, bound, found)

    def _judge(self, name: str) -> str:
        if name not in self._aliases:
            raise FormulaError(f"there is no judge {name!r}")
        return self._aliases[name]

    def _run(self, node: Any, names: dict[str, Any], values: Mapping[str, float]) -> Any:
        def run(inner: ast.AST) -> Any:
            return self._run(inner, names, values)

        if isinstance(node, ast.Assign):
            names[node.targets[0].id] = run(node.value)  # type: ignore[attr-defined]
            return None
        if isinstance(node, ast.Expr):
            return run(node.value)
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return names[node.id]
        if isinstance(node, ast.Call):
            assert isinstance(node.func, ast.Name)
            if node.func.id == NAMED and NAMED not in self._aliases:
                return values[node.args[0].value]  # type: ignore[attr-defined]
            return _CALLS[node.func.id](*map(run, node.args))
        if isinstance(node, ast.BinOp):
            left, right = run(node.left), run(node.right)
            if isinstance(left, list) or isinstance(right, list):
                raise TypeError("arithmetic is over numbers, not over lists")  # nor are lists to be multiplied
            return _BINARY[type(node.op)](left, right)
        if isinstance(node, ast.UnaryOp):
            return _UNARY[type(node.op)](run(node.operand))
        if isinstance(node, ast.BoolOp):
            return _logic(isinstance(node.op, ast.And), node.values, run)
        if isinstance(node, ast.Compare):
            sides = [run(node.left), *map(run, node.comparators)]
            return all(_COMPARE[type(op)](a, b) for op, a, b in zip(node.ops, sides, sides[1:], strict=False))
        if isinstance(node, ast.IfExp):
            return run(node.body) if run(node.test) else run(node.orelse)
        return [run(item) for item in node.elts]


def _logic(every: bool, nodes: Iterable[ast.AST], run: Callable[[ast.AST], Any]) -> Any:
    """`and` and `or` as Python has them: the value that decides."""
    result: Any = every
    for node in nodes:
        result = run(node)
        if bool(result) is not every:
            break
    return result


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)
