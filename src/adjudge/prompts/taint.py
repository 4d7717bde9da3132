"""Which expressions of a template can print what the agent made.

A template's syntax tree is walked before it is compiled: a name is the agent's when it is one of the agent's variables,
or is set, looped or passed from an expression that uses such a name. Every printed expression that uses one is wrapped
in a filter that fences whatever comes out of it, as one block. So it does not matter what filters, methods, slices or
operators a template applies: the values themselves are plain.

What a block of statements collects (a `set` block, a `filter` block, a macro) is fenced where it is printed, not
inside.
Names are not told apart by scope, which errs on the side of a fence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

FENCE = "fence_evaluated_material"

_REBOUND = "outputs, bound by the template itself"
"""Stands among the names when `outputs` may be anything, so that no key of it is known to be the author's."""

_N = TypeVar("_N", bound=nodes.Node)


def fence_outputs(template: nodes.Template, agent_made: frozenset[str]) -> nodes.Template:
    """Wrap every printed expression that can hold what the agent made. Changes and returns the tree."""
    names = set(agent_made)
    if any(name.name == "outputs" and name.ctx != "load" for name in template.find_all(nodes.Name)):
        names.add(_REBOUND)
    while True:
        before = len(names)
        for source, targets in _flows(template):
            if _uses(source, names):
                names |= targets
        if any(_binds_namespace(target) and _uses(source, names) for source, target in _assignments(template)):
            names |= {name.name for name in template.find_all(nodes.Name) if name.ctx != "load"}  # it may have aliases
        if len(names) == before:
            break
    return _Wrapper(names).visit(template)  # type: ignore[no-any-return]


def _flows(template: nodes.Template) -> Iterator[tuple[list[nodes.Node], set[str]]]:
    """(what is read, the names that it reaches) for every statement that binds a name."""
    for loop in template.find_all(nodes.For):
        yield [loop.iter], _bound(loop.target) | {"loop"}
    for assign in template.find_all(nodes.Assign):
        yield [assign.node], _bound(assign.target)
    for block in template.find_all(nodes.AssignBlock):
        yield [*block.body, *([block.filter] if block.filter else [])], _bound(block.target)
    for scope in template.find_all(nodes.With):
        for target, value in zip(scope.targets, scope.values, strict=True):
            yield [value], _bound(target)
    for macro in template.find_all(nodes.Macro):
        yield [*macro.body, *macro.defaults], {macro.name}
        for argument, default in zip(reversed(macro.args), reversed(macro.defaults), strict=False):
            yield [default], {argument.name}
    for macro in template.find_all(nodes.Macro):  # whatever any call hands over may reach any macro
        yield _handed_over(template), {argument.name for argument in macro.args} | {"varargs", "kwargs", "caller"}
    for part in template.find_all(nodes.Block):
        yield [*part.body], {"self"}
    for call in template.find_all(nodes.CallBlock):
        yield [call.call, *call.body, *call.defaults], {argument.name for argument in call.args}


def _assignments(template: nodes.Template) -> Iterator[tuple[list[nodes.Node], nodes.Node]]:
    for assign in template.find_all(nodes.Assign):
        yield [assign.node], assign.target
    for block in template.find_all(nodes.AssignBlock):
        yield block.body, block.target


def _binds_namespace(target: nodes.Node) -> bool:
    return isinstance(target, nodes.NSRef) or target.find(nodes.NSRef) is not None


def _handed_over(template: nodes.Template) -> list[nodes.Node]:
    """Every argument of every call, and what call blocks hold."""
    parts: list[nodes.Node] = []
    for call in template.find_all(nodes.Call):
        parts += [*call.args, *call.kwargs, *(part for part in (call.dyn_args, call.dyn_kwargs) if part)]
    for block in template.find_all(nodes.CallBlock):
        parts += block.body
    return parts


def _bound(target: nodes.Node) -> set[str]:
    parts: list[nodes.Node] = [target, *target.find_all(nodes.Name), *target.find_all(nodes.NSRef)]
    return {part.name for part in parts if isinstance(part, nodes.Name | nodes.NSRef)}


def _uses(parts: Iterable[nodes.Node], names: set[str]) -> bool:
    """True if one of the parts can give what a name holds. What a condition only decides on does not count."""
    for part in parts:
        if isinstance(part, nodes.Name):
            if part.name in names:
                return True
        elif _REBOUND not in names and _key_of_outputs(part).startswith("annotation"):
            continue  # what people wrote, although it is reached through the record
        elif isinstance(part, nodes.CondExpr):
            if _uses([part.expr1, *([part.expr2] if part.expr2 else [])], names):
                return True
        elif _uses(part.iter_child_nodes(), names):
            return True
    return False


class _Wrapper(NodeTransformer):
    """Puts the fence round printed expressions. Inside of collecting blocks nothing is printed yet."""

    def __init__(self, names: set[str]) -> None:
        self.names = names
        self.collected = 0

    def visit_Output(self, node: nodes.Output) -> nodes.Output:
        node.nodes = [self._fenced(child) for child in node.nodes]
        return node

    def visit_AssignBlock(self, node: nodes.AssignBlock) -> nodes.AssignBlock:
        return node

    def visit_Macro(self, node: nodes.Macro) -> nodes.Macro:
        return node

    def visit_FilterBlock(self, node: nodes.FilterBlock) -> Any:
        return self._collect(node, nodes.AssignBlock(self._name("store"), node.filter, node.body))

    def visit_CallBlock(self, node: nodes.CallBlock) -> Any:
        return self._collect(node, nodes.AssignBlock(self._name("store"), None, [node]))

    def _collect(self, node: _N, block: nodes.AssignBlock) -> _N | list[nodes.Node]:
        """Print what a block collects through a name of its own, fenced, when it holds what the agent made."""
        if not _uses([node], self.names):
            return node
        printed = nodes.Output([self._wrap(self._name("load"), "material")])
        self.collected += 1
        return [block.set_lineno(node.lineno), printed.set_lineno(node.lineno)]

    def _name(self, context: str) -> nodes.Name:
        return nodes.Name(f"collected_material_{self.collected}", context)

    def _fenced(self, expression: nodes.Expr) -> nodes.Expr:
        return self._wrap(expression, _label(expression)) if _uses([expression], self.names) else expression

    def _wrap(self, expression: nodes.Expr, label: str) -> nodes.Expr:
        filtered = nodes.Filter(expression, FENCE, [nodes.Const(label)], [], None, None)
        filtered.set_lineno(expression.lineno or 1)
        return filtered


def _label(expression: nodes.Node) -> str:
    """A name for the block: the file that is picked by a constant, else the first variable that is used."""
    if isinstance(expression, nodes.Getitem) and _key_of_outputs(expression.node) == "files":
        return str(expression.arg.value) if isinstance(expression.arg, nodes.Const) else "files"
    if _key_of_outputs(expression) not in ("", "files"):
        return _key_of_outputs(expression)
    found = expression if isinstance(expression, nodes.Name) else expression.find(nodes.Name)
    return found.name if found is not None else "material"


def _key_of_outputs(expression: nodes.Node) -> str:
    """The key, when an expression picks one from `outputs`; else nothing."""
    if not isinstance(expression, nodes.Getattr | nodes.Getitem) or not isinstance(expression.node, nodes.Name):
        return ""
    if expression.node.name != "outputs":
        return ""
    if isinstance(expression, nodes.Getattr):
        return expression.attr
    return str(expression.arg.value) if isinstance(expression.arg, nodes.Const) else ""
