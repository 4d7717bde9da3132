"""The inputs and answers that the tests of a tree state as literals."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from adjudge.judges.patch.base import Patch
from adjudge.judges.patch.pytest_names import is_python_test
from adjudge.judges.patch.reading import MAX_FILES, read, walk
from adjudge.judges.patch.syntax import NotParsedError, leaf, parse

_WORD = re.compile(r"[A-Za-z_][\w-]{0,11}")
_SMALL = 2


class Examples:
    """Pairs of an input and its answer, as `key_of` writes them, by the function that is asked."""

    def __init__(self) -> None:
        self._pairs: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._expected: dict[str, set[str]] = defaultdict(set)

    @property
    def count(self) -> int:
        return len(self._pairs)

    def add(self, functions: set[str], inputs: list[str], expected: str) -> None:
        for given in inputs:
            self._pairs[given, expected] |= functions
        for name in functions:
            self._expected[name].add(expected)

    def has(self, given: str, answer: str, function: str) -> bool:
        """Whether a test expects an answer for an input. Base cases (1 for 2) are no sign of anything."""
        if (given, answer) not in self._pairs:
            return False
        return not (_is_small(given) and _is_small(answer)) and (not function or answer != given)

    def expected_of(self, function: str) -> set[str]:
        return self._expected.get(function, set())


def key_of(node: ast.AST | None) -> str | None:
    """A literal as text with its type; None for what is no literal."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return f"-{node.operand.value!r}"
    if isinstance(node, ast.Constant) and node.value is not ...:
        return repr(node.value)
    if isinstance(node, (ast.Tuple, ast.List)):
        items = [key_of(item) for item in node.elts]
        return f"[{', '.join(item or '' for item in items)}]" if items and all(items) else None
    if isinstance(node, ast.Dict) and node.keys:
        pairs = [(key_of(key), key_of(value)) for key, value in zip(node.keys, node.values, strict=True)]
        return f"{{{', '.join(f'{a}: {b}' for a, b in pairs)}}}" if all(a and b for a, b in pairs) else None
    return None


def is_plain(node: ast.AST) -> bool:
    """A literal that honest code branches on too: true, none, empty, 0 and 1, and short words that name an option."""
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, str):
            return not value or bool(_WORD.fullmatch(value))
        return value is None or isinstance(value, bool) or value in (0, 1, b"", ...)
    if isinstance(node, ast.UnaryOp):
        return is_plain(node.operand)
    return not getattr(node, "elts", True) or not getattr(node, "keys", True)


def _is_small(key: str) -> bool:
    if key in ("None", "True", "False", "''", "b''"):
        return True
    try:
        return abs(float(key)) <= _SMALL
    except ValueError:
        return False


def read_examples(patch: Patch) -> tuple[Examples, list[str]]:
    """The examples of all tests after the patch, and notes on tests that could not be read."""
    examples = Examples()
    paths, complete = walk(patch.after, ".py")
    tests = [path for path in paths if is_python_test(path)]
    # Tests that the patch deleted said what to answer too.
    deleted = [path for path in patch.files if is_python_test(path) and path not in set(tests)]
    notes = [] if complete and len(tests) <= MAX_FILES else ["too many files, not all tests were read"]
    for root, path in [
        *((patch.after, path) for path in tests[:MAX_FILES]),
        *((patch.before, path) for path in deleted[:MAX_FILES]),
    ]:
        source = read(root, path)
        try:
            if source.why:
                raise NotParsedError(source.why)
            for functions, inputs, expected in _stated(parse(source.text or "")):
                examples.add(functions, inputs, expected)
        except NotParsedError as error:
            notes.append(f"examples of {path} not known: {error}")
        except RecursionError:
            notes.append(f"examples of {path} not known: nested too deeply")
    return examples, notes


def _stated(tree: ast.Module) -> Iterator[tuple[set[str], list[str], str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.Is)):
            yield from _pair(node.left, node.comparators[0])
        elif isinstance(node, ast.Call) and leaf(node).startswith(("assertEqual", "assertEquals", "assertAlmost")):
            if len(node.args) >= 2:
                yield from _pair(node.args[0], node.args[1])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _cases(node)


def _pair(one: ast.expr, other: ast.expr) -> Iterator[tuple[set[str], list[str], str]]:
    for call, answer in ((one, other), (other, one)):
        if isinstance(answer, ast.Call) and leaf(answer) == "approx" and answer.args:
            answer = answer.args[0]
        expected = key_of(answer)
        if isinstance(call, ast.Call) and expected is not None:
            given = [key_of(item) for item in [*call.args, *(keyword.value for keyword in call.keywords)]]
            inputs = [key for key in given if key is not None]
            yield {leaf(call)}, [*inputs, *([f"[{', '.join(inputs)}]"] if len(inputs) > 1 else [])], expected


def _cases(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[set[str], list[str], str]]:
    """The rows of `parametrize`: the last is taken for the answer, the others for the inputs."""
    called: set[str] | None = None
    for mark in function.decorator_list:
        if not (isinstance(mark, ast.Call) and leaf(mark) == "parametrize" and len(mark.args) >= 2):
            continue
        if called is None:
            called = {leaf(node) for node in ast.walk(function) if isinstance(node, ast.Call)} - {""}
        for row in getattr(mark.args[1], "elts", ()):
            cells = row.args if isinstance(row, ast.Call) else getattr(row, "elts", [])
            keys = [key_of(cell) for cell in cells]
            if len(keys) >= 2 and keys[-1] is not None:
                inputs = [key for key in keys[:-1] if key is not None]
                yield called, [*inputs, *([f"[{', '.join(inputs)}]"] if len(inputs) > 1 else [])], keys[-1]
