"""Which modules of a tree import which at their top level, as far as it is reached from some of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from adjudge.judges.patch.reading import MAX_FILES, read, walk
from adjudge.judges.patch.syntax import NotParsedError, parse

_ROOTS = ("src", "lib", "python")


@dataclass(slots=True)
class Graph:
    """Edges between files with the line of the import, the files that could not be looked at, and whether all were."""

    edges: dict[str, dict[str, int]] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    complete: bool = True


def import_graph(root: Path, start: list[str]) -> Graph:
    """The graph of what is reached from some files by imports that run when a module is imported."""
    files, complete = walk(root, ".py")
    graph = Graph(complete=complete)
    tree = _Tree(files)
    waiting = [path for path in start if path in tree.names]
    while waiting:
        path = waiting.pop()
        if path in graph.edges:
            continue
        if len(graph.edges) >= MAX_FILES:
            graph.complete = False
            break
        graph.edges[path] = {}
        source = read(root, path)
        if source.text is None:
            graph.unread[path] = source.why or "not there"
            continue
        try:
            module = parse(source.text)
        except NotParsedError as error:
            graph.unread[path] = str(error)
            continue
        for line, target in tree.imports(path, module):
            if target != path:
                graph.edges[path].setdefault(target, line)
        waiting += graph.edges[path]
    return graph


class _Tree:
    """The modules of a tree by the dotted names under which they can be imported."""

    def __init__(self, files: list[str]) -> None:
        known = set(files)
        self.names: dict[str, str] = {}
        """The dotted name of each file, below the folder that holds its topmost package."""
        self.files: dict[str, str] = {}
        for path in files:
            parts = path[: -len(".py")].split("/")
            base = len(parts) - 1
            while base > 0 and "/".join([*parts[:base], "__init__.py"]) in known:
                base -= 1
            bases = {base, 0, *((1,) if parts[0] in _ROOTS and len(parts) > 1 else ())}
            for start in sorted(bases, reverse=True):
                name = ".".join(parts[start:]).removesuffix(".__init__")
                self.names.setdefault(path, name)
                self.files.setdefault(name, path)

    def imports(self, path: str, module: ast.Module) -> Iterator[tuple[int, str]]:
        """The lines and files of the imports at the top level of a module."""
        own = self.names[path]
        package = own if path.endswith("__init__.py") else own.rpartition(".")[0]
        for node in _top_level(module.body):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    # `import package` within the package binds a name that is used later, and breaks nothing.
                    if alias.name in self.files and not f"{own}.".startswith(f"{alias.name}."):
                        yield node.lineno, self.files[alias.name]
            elif isinstance(node, ast.ImportFrom):
                source = node.module or ""
                if node.level:
                    parts = package.split(".") if package else []
                    if node.level - 1 > len(parts):
                        continue
                    source = ".".join([*parts[: len(parts) - node.level + 1], *([source] if source else [])])
                for alias in node.names:
                    target = self.files.get(f"{source}.{alias.name}" if source else alias.name) or self.files.get(
                        source
                    )
                    if target:
                        yield node.lineno, target


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run when a module is imported, below `if`, `try` and `with` too, not for type checkers alone."""
    waiting = list(reversed(body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.If):
            if not _never_on_import(node.test):
                waiting += reversed(node.body)
            waiting += reversed(node.orelse)
        elif isinstance(node, (ast.Try, ast.TryStar)):
            for handler in node.handlers:
                waiting += reversed(handler.body)
            waiting += [*reversed(node.finalbody), *reversed(node.orelse), *reversed(node.body)]
        elif isinstance(node, (ast.With, ast.For, ast.While)):
            waiting += reversed(node.body)


def _never_on_import(test: ast.expr) -> bool:
    if isinstance(test, ast.Constant):
        return not test.value
    if isinstance(test, ast.Compare):
        return isinstance(test.left, ast.Name) and test.left.id == "__name__"
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(map(_never_on_import, test.values))
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def circles(graph: Graph) -> list[set[str]]:
    """Sets of files that import each other in a circle: Tarjan's strongly connected components, without recursion."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    found: list[set[str]] = []
    for start in graph.edges:
        if start in number:
            continue
        work = [(start, iter(graph.edges[start]))]
        number[start] = low[start] = len(number)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, rest = work[-1]
            other = next((other for other in rest if other not in number or other in on_stack), None)
            if other is not None and other not in number:
                number[other] = low[other] = len(number)
                stack.append(other)
                on_stack.add(other)
                work.append((other, iter(graph.edges.get(other, {}))))
            elif other is not None:
                low[node] = min(low[node], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    at = stack.index(node)
                    found.append(set(stack[at:]))
                    on_stack.difference_update(stack[at:])
                    del stack[at:]
    return [circle for circle in found if len(circle) > 1]


def way(graph: Graph, within: set[str], start: str, end: str) -> list[str]:
    """The shortest way from one file to another along imports within a circle; both ends are part of it."""
    came: dict[str, str] = {start: ""}
    waiting = [start]
    for node in waiting:
        if node == end:
            break
        for other in graph.edges.get(node, {}):
            if other in within and other not in came:
                came[other] = node
                waiting.append(other)
    path = [end]
    while path[-1] != start and came.get(path[-1]):
        path.append(came[path[-1]])
    return path[::-1]
