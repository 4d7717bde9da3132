"""Settings that keep tests from running: pytest's, in its five files, and those of conftest.py."""

from __future__ import annotations

import ast
import configparser
import posixpath
import re
import shlex
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from adjudge.judges.patch.pytest_names import PYTHON_FILES
from adjudge.judges.patch.reading import read
from adjudge.judges.patch.syntax import leaf, named, shown

SECTIONS = {
    "pytest.ini": "pytest",
    ".pytest.ini": "pytest",
    "tox.ini": "pytest",
    "setup.cfg": "tool:pytest",
    "pyproject.toml": "",
}
MAX_CHARACTERS = 200_000
"""Of a file of settings; the parsers take quadratic time on some."""
Settings = dict[str, tuple[str, ...]]
_DESELECTS = ("--ignore", "--ignore-glob", "--deselect", "-k", "-m", "--co", "--collect-only", "--lf", "--last-failed",
              "--sw", "--stepwise", "--exitfirst", "-x", "--maxfail", "--noconftest")  # fmt: skip
_WITH_VALUE = ("--ignore", "--ignore-glob", "--deselect", "-k", "-m", "--maxfail")
_HARMLESS = ("--exitfirst", "-x", "--maxfail", "--sw", "--stepwise")
_HOOKS = ("pytest_collection_modifyitems", "pytest_ignore_collect", "pytest_runtest_setup", "pytest_runtest_call",
          "pytest_runtest_makereport", "pytest_pycollect_makeitem", "pytest_pyfunc_call", "pytest_collect_file",
          "pytest_sessionfinish", "pytest_runtest_protocol", "pytest_collection_finish")  # fmt: skip
_ANSWERS = ("pytest_ignore_collect", "pytest_pyfunc_call", "pytest_runtest_protocol")
"""Hooks whose True says that there is nothing left to run."""
_TAMPERS = frozenset({"skip", "skipif", "xfail", "pytest_deselected", "remove", "pop", "clear"})


def pytest_settings(root: Path, path: str) -> tuple[Settings, str]:
    """The settings of pytest in a file, each as its words, and why they cannot be told."""
    source = read(root, path)
    if source.text is None or len(source.text) > MAX_CHARACTERS:
        return {}, source.why or (f"over {MAX_CHARACTERS} characters" if source.text else "")
    name = posixpath.basename(path)
    try:
        if name == "pyproject.toml":
            tool = tomllib.loads(source.text).get("tool")
            found = tool.get("pytest") if isinstance(tool, dict) else None
            options = found.get("ini_options") if isinstance(found, dict) else None
            table = options if isinstance(options, dict) else {}
            return {key: _words(value) for key, value in table.items()}, ""
        parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
        parser.read_string(source.text)
        section = SECTIONS[name]
        return {key: _words(value) for key, value in (parser[section].items() if section in parser else ())}, ""
    except (ValueError, configparser.Error, RecursionError) as error:
        return {}, f"cannot be read: {type(error).__name__}"


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(str(item) for item in value if isinstance(item, str))
    if isinstance(value, str) and len(value) > 100_000:
        raise ValueError("too long")
    if not isinstance(value, str):
        return (str(value),) if isinstance(value, (int, float)) else ()
    try:
        return tuple(shlex.split(value))
    except ValueError:
        return tuple(value.split())


def weakened_settings(old: Settings, new: Settings, tests: list[str], folder: str) -> Iterator[str]:
    """What the settings of a file in a folder leave out after and not before, of the tests that there were."""
    had = set(_left_out(old.get("addopts", ())))
    yield from (f"addopts has {option} now" for option in _left_out(new.get("addopts", ())) if option not in had)
    for word in new.get("norecursedirs", ()):
        if word not in old.get("norecursedirs", ()):
            inside = [path for path in tests if any(fnmatchcase(part, word) for part in path.split("/")[:-1])]
            if inside and "norecursedirs" in new:
                yield f"norecursedirs leaves out {word}, with {inside[0]}"
    paths = old.get("testpaths", ())
    kept = [posixpath.normpath(posixpath.join(folder, path)) for path in new.get("testpaths", ())]
    if kept and new.get("testpaths") != paths:
        before = [posixpath.normpath(posixpath.join(folder, path)) for path in paths]
        lost = [path for path in tests if _below(path, before) and not _below(path, kept)]
        if before and lost:
            yield f"testpaths no longer has {lost[0]}"
    patterns = new.get("python_files", ())
    if patterns and patterns != old.get("python_files", ()):
        earlier = old.get("python_files") or PYTHON_FILES[:2]
        lost = [path for path in tests if _named_like(path, earlier) and not _named_like(path, patterns)]
        if lost:
            yield f"python_files no longer has {lost[0]}"
    for key, usual in (("python_functions", "test"), ("python_classes", "Test")):
        words = new.get(key, ())
        narrowed = set(old.get(key) or (usual,)) - set(words)
        if words and narrowed and not any(word in ("*", "", usual[:1]) for word in words):
            yield f"{key} is {' '.join(words)} now"


def _left_out(options: tuple[str, ...]) -> Iterator[str]:
    at = 0
    while at < len(options):
        word = options[at]
        at += 1
        flag, _, value = word.partition("=")
        if re.match(r"-[km].", word):
            flag, value = word[:2], word[2:]
        if flag not in _DESELECTS or flag in _HARMLESS:
            continue
        if not value and flag in _WITH_VALUE and at < len(options):
            value = options[at]
            at += 1
        yield f"{flag} {value}".strip()


def _below(path: str, folders: list[str]) -> bool:
    return any(folder == "." or path == folder or path.startswith(f"{folder}/") for folder in folders)


def _named_like(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(posixpath.basename(path), pattern) for pattern in patterns)


def weakened_conftest(old: ast.Module | None, new: ast.Module, marks: set[str]) -> Iterator[str]:
    """What a conftest.py leaves out after and not before.

    `marks` are those that tests had before, or were given by the patch. A hook that skips only tests with a mark of
    its own (`--runslow`) leaves out none of them.
    """
    had = _ignored(old) if old else set()
    yield from (
        f"line {line}: collect_ignore has {text} now" for text, line in _ignored(new).items() if text not in had
    )
    before = {ast.dump(node) for node in ast.walk(old) if isinstance(node, ast.FunctionDef)} if old else set()
    for node in new.body:
        if not isinstance(node, ast.FunctionDef) or ast.dump(node) in before:
            continue
        fixture = next((mark for mark in node.decorator_list if leaf(mark) == "fixture"), None)
        automatic = isinstance(fixture, ast.Call) and any(
            keyword.arg == "autouse" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
            for keyword in fixture.keywords
        )
        if not (node.name in _HOOKS or automatic):
            continue
        earlier = next((other for other in old.body if getattr(other, "name", "") == node.name), None) if old else None
        tampers = _tampering(node) - (_tampering(earlier) if earlier else set())
        asked = _marks_asked(node)
        if tampers and not (asked and not asked & marks):
            what = "a fixture for all tests" if automatic else node.name
            yield f"line {node.lineno}: {what} leaves out tests or changes their result ({', '.join(sorted(tampers))})"


def _ignored(tree: ast.Module | None) -> dict[str, int]:
    found: dict[str, int] = {}
    for node in ast.walk(tree) if tree else ():
        value: ast.expr | None = None
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = node.value if any(leaf(target).startswith("collect_ignore") for target in targets) else None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            value = node.args[0] if leaf(node.func.value).startswith("collect_ignore") else None
        if value is not None:
            items = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
            found.update({shown(item): item.lineno for item in items})
    return found


def _tampering(node: ast.AST) -> set[str]:
    found = named([node]) & _TAMPERS
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assign):
            for target in inner.targets:
                if isinstance(target, ast.Subscript) and leaf(target.value) == "items":
                    found.add("items")
                if isinstance(target, ast.Attribute) and target.attr in ("outcome", "exitstatus"):
                    found.add(target.attr)
        elif isinstance(inner, ast.Return) and isinstance(inner.value, ast.Constant) and inner.value.value is True:
            found |= {"return True"} if getattr(node, "name", "") in _ANSWERS else set()
    return found


def _marks_asked(node: ast.AST) -> set[str]:
    """The marks that a hook asks for before it skips: `"slow" in item.keywords`, `get_closest_marker("slow")`."""
    found: set[str] = set()
    for inner in ast.walk(node):
        if (
            isinstance(inner, ast.Compare)
            and isinstance(inner.left, ast.Constant)
            and isinstance(inner.left.value, str)
        ):
            if leaf(inner.comparators[0]) == "keywords" and isinstance(inner.ops[0], ast.In):
                found.add(inner.left.value)
        elif isinstance(inner, ast.Call) and leaf(inner) in ("get_closest_marker", "iter_markers"):
            found.update(
                given.value
                for given in inner.args[:1]
                if isinstance(given, ast.Constant) and isinstance(given.value, str)
            )
    return found
