"""Does the patch make tests check less than they did?"""

from __future__ import annotations

import ast
import posixpath
import re
from collections import Counter
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from adjudge.judges.patch.base import Finding, Patch, told
from adjudge.judges.patch.claims import Strength, claims_of
from adjudge.judges.patch.compared_tests import Context, bones, compare, lost
from adjudge.judges.patch.pytest_names import is_for_tests, is_other_test, is_python_test
from adjudge.judges.patch.python_tests import Collected, Test, bare_body, collect
from adjudge.judges.patch.reading import MAX_FILES, read, walk
from adjudge.judges.patch.settings_of_tests import SECTIONS, pytest_settings, weakened_conftest, weakened_settings
from adjudge.judges.patch.syntax import NotParsedError, constants, leaf, named, parse
from adjudge.judges.patch.tests_elsewhere import holds_tests, moves_of, weakened_by_diff, weakened_scripts
from adjudge.judges.patch.unified import FileDiff, take_apart

_ALIKE = 0.6
_MARK = re.compile(r"\bmark\.(\w{1,80})")
_MAX_ALIKE = 150
"""Tests of each side that are held against each other by likeness."""


@dataclass(slots=True)
class _Side:
    """The touched Python files of one tree."""

    trees: dict[str, ast.Module] = field(default_factory=dict)
    collected: dict[str, Collected] = field(default_factory=dict)

    @property
    def tests(self) -> dict[tuple[str, str], Test]:
        return {(path, name): test for path, held in self.collected.items() for name, test in held.tests.items()}


@dataclass(slots=True)
class _Report:
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)


def weakened_tests(patch: Patch) -> Finding:
    """Pass when no test that was there was deleted, skipped, emptied or made to claim less.

    A test that moved, was renamed, split, merged or went with the code that it tested is none of these, and an
    expected value that changed is only told.
    """
    report = _Report()
    if len(patch.files) > MAX_FILES:
        report.unseen.append(f"{len(patch.files) - MAX_FILES} of {len(patch.files)} files")
    files = patch.files[:MAX_FILES]
    diffs = take_apart(patch.diff)
    by_path = {path: diff for diff in diffs for path in (diff.old, diff.new) if path}
    extra, settings = _settings(patch, files, report)
    before, after, by_diff = _read(patch, files, extra, by_path, report)
    gained = _compare_python(before, after, report)
    _conftests(patch, before, after, gained, report)
    moves = moves_of(diffs) if by_diff or any(holds_tests(diff) for diff in diffs) else None
    others = 0
    for diff in diffs:
        report.faults += weakened_scripts(diff)
        python = diff.path.endswith(".py")
        if moves and (diff.path in by_diff if python else holds_tests(diff)):
            others += 1
            in_code = not python and not is_other_test(diff.path) and not is_other_test(diff.old or "")
            faults, notes = weakened_by_diff(diff, moves, in_code=in_code)
            report.faults += faults
            report.notes += notes
    seen = {path for path in files if is_other_test(path) and path not in by_path}
    report.unseen += [f"{path}: not in the diff" for path in sorted(seen)]
    count = len({path for path, held in [*before.collected.items(), *after.collected.items()] if held.tests}) + others
    clean = (
        f"no test weakened in {count} touched test files" if count or settings else "no test or its settings touched"
    )
    return told(report.faults, clean=clean, notes=report.notes, unseen=report.unseen)


def _settings(patch: Patch, files: tuple[str, ...], report: _Report) -> tuple[tuple[str, ...], bool]:
    """Hold pytest's settings against each other; the patterns of test files before, and whether any were touched."""
    extra: list[str] = []
    for name in SECTIONS:
        extra += pytest_settings(patch.before, name)[0].get("python_files", ())
    touched = [path for path in files if posixpath.basename(path) in SECTIONS]
    if touched:
        tests = [path for path in walk(patch.before, ".py")[0] if is_python_test(path, tuple(extra))]
        present = set(tests)
        tests = [path for path in tests if path in present and read(patch.after, path).text is not None]
    for path in touched:
        (old, why_old), (new, why_new) = pytest_settings(patch.before, path), pytest_settings(patch.after, path)
        if why_new or why_old:
            report.unseen.append(f"{path}: {why_new or why_old}")
            continue
        folder = posixpath.dirname(path)
        report.faults += [f"{path}: {fault}" for fault in weakened_settings(old, new, tests, folder)]
    return tuple(extra), bool(touched)


def _read(
    patch: Patch, files: tuple[str, ...], extra: tuple[str, ...], diffs: dict[str, FileDiff], report: _Report
) -> tuple[_Side, _Side, set[str]]:
    """Both sides of the touched Python files, and the paths of tests that can be judged by their diff alone."""
    sides = (_Side(), _Side())
    by_diff: set[str] = set()
    for path in files:
        if not path.endswith(".py"):
            continue
        is_test = is_python_test(path, extra)
        trees: list[ast.Module | None] = []
        why = ""
        for root, when in ((patch.before, "before"), (patch.after, "after")):
            source = read(root, path)
            try:
                if source.why:
                    raise NotParsedError(source.why)
                trees.append(parse(source.text) if source.text is not None else None)
            except NotParsedError as error:
                why = f"{path}: {error} {when} the patch"
        if why:
            if (is_test or is_for_tests(path)) and path in diffs:
                by_diff.add(diffs[path].path)
                report.notes.append(f"{why}, judged by its diff")
            elif is_test or posixpath.basename(path) == "conftest.py":
                report.unseen.append(why)
            continue
        for side, tree in zip(sides, trees, strict=True):
            if tree is not None:
                side.trees[path] = tree
                side.collected[path] = collect(tree, path, is_test=is_test)
    return (*sides, by_diff)


def _compare_python(before: _Side, after: _Side, report: _Report) -> set[str]:
    """Hold the tests against each other; the marks that tests were given."""
    old, new = before.tests, after.tests
    pairs, gone, fresh = _paired(old, new)
    context = _context(before, after, pairs, fresh)
    told_of: Counter[tuple[str, str]] = Counter()
    gained: set[str] = set()
    for one, other in pairs:
        gained |= {leaf(mark) for mark in other.marks} - {leaf(mark) for mark in one.marks}
        try:
            faults, notes = compare(one, other, context)
        except RecursionError:
            report.unseen.append(f"{other.where}: nested too deeply")
            continue
        for fault in faults:
            told_of[other.path, fault] += 1
            if told_of[other.path, fault] == 1:  # a skip of a class or file is one fault
                report.faults.append(f"{other.where} {other.leaf}: {fault}")
        report.notes += [f"{other.where} {other.leaf}: {note}" for note in notes]
    for path, held in after.collected.items():
        was = before.collected.get(path)
        if held.skipped and was and was.tests and not was.skipped:
            report.faults.append(f"{path}: the whole file is skipped, {held.skipped}")
    helpers = {bare_body(test): test for held in after.collected.values() for test in held.helpers.values()}
    for test in gone:
        left = lost(test, context)
        now = helpers.get(bare_body(test))
        if now is not None and now.node.name != "" and left:
            report.faults.append(f"{test.where} {test.name}: no longer collected, now {now.where} {now.name}")
        elif left:
            report.faults.append(f"{test.where} {test.name}: deleted, nothing checks now: {left}")
        else:
            report.notes.append(f"{test.where} {test.name}: gone, with what it tested or into another test")
    return gained


def _paired(
    old: dict[tuple[str, str], Test], new: dict[tuple[str, str], Test]
) -> tuple[list[tuple[Test, Test]], list[Test], list[Test]]:
    """Tests of both sides that are the same test, those that are gone, and those that are new."""
    pairs = [(test, new[key]) for key, test in old.items() if key in new]
    gone = [test for key, test in old.items() if key not in new]
    fresh = [test for key, test in new.items() if key not in old]
    by_body: dict[str, list[Test]] = {}
    for test in fresh:
        by_body.setdefault(bare_body(test), []).append(test)
    for test in list(gone):
        same = by_body.get(bare_body(test))
        if same:
            same.sort(key=lambda other: other.leaf != test.leaf, reverse=True)
            pairs.append((test, same.pop()))
            gone.remove(test)
            fresh.remove(pairs[-1][1])
    texts = {id(test): ast.unparse(test.node).splitlines()[1:] for test in [*gone[:_MAX_ALIKE], *fresh[:_MAX_ALIKE]]}
    likely = []
    for at, test in enumerate(gone[:_MAX_ALIKE]):
        for place, other in enumerate(fresh[:_MAX_ALIKE]):
            needed = _ALIKE / 2 if test.leaf == other.leaf else _ALIKE
            matcher = SequenceMatcher(None, texts[id(test)][:200], texts[id(other)][:200], autojunk=False)
            if matcher.quick_ratio() >= needed and (ratio := matcher.ratio()) >= needed:
                likely.append((-ratio - (test.leaf == other.leaf), at, place))
    used_old: set[int] = set()
    used_new: set[int] = set()
    for _, at, place in sorted(likely):
        if at not in used_old and place not in used_new:
            used_old.add(at)
            used_new.add(place)
            pairs.append((gone[at], fresh[place]))
    return (
        pairs,
        [test for at, test in enumerate(gone) if at not in used_old],
        [test for at, test in enumerate(fresh) if at not in used_new],
    )


def _context(before: _Side, after: _Side, pairs: list[tuple[Test, Test]], fresh: list[Test]) -> Context:
    context = Context()
    context.lists_before = {path: held.lists for path, held in before.collected.items()}
    context.lists_after = {path: held.lists for path, held in after.collected.items()}
    defined = [
        {
            node.name
            for path, tree in side.trees.items()
            if not is_for_tests(path)
            for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and len(node.name) > 2
        }
        for side in (before, after)
    ]
    context.gone = defined[0] - defined[1]
    earlier = {id(other): one for one, other in pairs}
    called = {name for test in after.tests.values() for name in named([test.node])}
    for path, held in after.collected.items():
        was = before.collected.get(path, Collected()).helpers
        helpers = [(test, was.get(name)) for name, test in held.helpers.items() if test.leaf in called]
        tests = [(test, earlier.get(id(test))) for test in held.tests.values()]
        for test, other in [*helpers, *tests] if is_for_tests(path) else []:
            had = {bones(claim) for claim in claims_of(other.node.body)} if other else set()
            says = [claim for claim in claims_of(test.node.body) if claim.strength > Strength.NOTHING]
            context.moved |= {bones(claim) for claim in says} - had
    context.bodies = {bare_body(test) for test in after.tests.values()}
    changed = [other for one, other in pairs if ast.dump(one.node) != ast.dump(other.node)]
    for test in [*fresh, *changed]:
        rows = [
            context.lists_after[test.path][name]
            for name in named([test.node])
            if name in context.lists_after[test.path]
        ]
        nodes: list[ast.AST] = [test.node, *rows]
        if any(claim.strength >= Strength.NEAR for claim in claims_of(test.node.body)):
            context.fresh.append((test, constants(nodes), named(nodes)))
    return context


def _conftests(patch: Patch, before: _Side, after: _Side, gained: set[str], report: _Report) -> None:
    used: set[str] | None = None
    for path, tree in after.trees.items():
        if posixpath.basename(path) != "conftest.py":
            continue
        if used is None:
            tests = [test for test in walk(patch.before, ".py")[0] if is_python_test(test)][:MAX_FILES]
            used = {mark for test in tests for mark in _MARK.findall(read(patch.before, test).text or "")}
        faults = weakened_conftest(before.trees.get(path), tree, gained | used)
        report.faults += [f"{path}: {fault}" for fault in faults]
