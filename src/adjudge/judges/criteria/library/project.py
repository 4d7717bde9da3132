"""Criteria on a project's tests. They run the work's own code, so the tests should be the author's."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from adjudge.domain import MissingExtraError
from adjudge.judges.criteria.finding import Finding
from adjudge.judges.criteria.library.reading import UnusableError, brief, clean, cut, failing, need_string
from adjudge.judges.criteria.library.running import MAX_EVIDENCE, Ran, folder, need_seconds, run

_MAX_REPORT = 32 * 1024 * 1024
_MAX_LISTED = 20
# A folder with a pytest.py must not stand in for pytest; after the import it comes first, as `python -m pytest` has it.
_PYTEST = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import pytest
sys.path.insert(0, "")
sys.exit(pytest.main(sys.argv[1:]))
"""
_QUIET = ("-q", "-p", "no:cacheprovider", "-p", "no:benchmark")
_COVERAGE = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
from coverage.cmdline import main
sys.exit(main())
"""


@failing(False)
def pytest_passes(
    workspace: Path, path: str = ".", args: Sequence[str] = (), timeout: float = 300, cwd: str | None = None
) -> Finding:
    """Whether pytest runs at least one test and all that it runs pass.

    The first Python on PATH that has pytest is used, else the one that runs adjudge.

    Raises:
        MissingExtraError: none has pytest.
    """
    need_seconds(timeout)
    given = [*_arguments(args), need_string("path", path)]
    home = folder(workspace, cwd)
    python = _python("pytest_passes", "pytest")
    with tempfile.TemporaryDirectory(prefix="adjudge-pytest-") as name:
        report = Path(name, "junit.xml")
        ran = _run(python, ["-c", _PYTEST, f"--junitxml={report}", *_QUIET, *given], home, timeout)
        if ran.code is None:
            return Finding(False, ran.evidence("the tests did not end"))
        counts = _counts(report)
    if counts is None:
        return Finding(False, ran.evidence("pytest gave no report"))
    said = f"{counts.passed} passed, {len(counts.failed)} failed, {counts.skipped} skipped"
    if counts.failed:
        more = f"\nand {len(counts.failed) - _MAX_LISTED} more" if len(counts.failed) > _MAX_LISTED else ""
        return Finding(False, cut("\n".join([said, *counts.failed[:_MAX_LISTED]]), MAX_EVIDENCE) + more)
    if ran.code != 0 or counts.passed == 0:
        return Finding(False, ran.evidence(said))
    return Finding(True, said)


@failing(False)
def coverage_at_least(
    workspace: Path, percent: float, source: str = ".", path: str = ".", timeout: float = 300
) -> Finding:
    """Whether the tests reach a percentage of the lines of `source`; tests that fail cover lines too.

    The project's own settings of coverage are not used, since they could leave out what is not covered.

    Raises:
        MissingExtraError: no Python has both pytest and coverage.
    """
    if isinstance(percent, bool) or not isinstance(percent, int | float) or not 0 <= percent <= 100:
        raise ValueError(f"percent must be from 0 to 100, got {brief(percent)}")
    need_seconds(timeout)
    need_string("source", source)
    need_string("path", path)
    home = folder(workspace, None)
    python = _python("coverage_at_least", "pytest", "coverage")
    with tempfile.TemporaryDirectory(prefix="adjudge-coverage-") as name:
        settings, data, report, script = (Path(name, part) for part in ("rc", "data", "report.json", "run_pytest.py"))
        settings.touch()
        script.write_text(_PYTEST)
        measured = ["run", f"--source={source}", f"--data-file={data}", str(script), *_QUIET, path]
        ran = _run(python, _coverage(settings, *measured), home, timeout)
        if ran.code not in (0, 1):
            return Finding(False, ran.evidence("the tests did not run"))
        told = _run(python, _coverage(settings, "json", f"--data-file={data}", "-o", str(report)), home, timeout)
        covered = _covered(report)
    if covered is None:
        return Finding(False, told.evidence("coverage gave no report"))
    tests = "" if ran.code == 0 else "; not all tests pass"
    return Finding(covered >= percent, f"{covered:.1f} % of {source} is covered, wanted {percent:g} %{tests}")


class _Counts(NamedTuple):
    passed: int
    skipped: int
    failed: list[str]


def _coverage(settings: Path, verb: str, *arguments: str) -> list[str]:
    return ["-c", _COVERAGE, verb, f"--rcfile={settings}", *arguments]


def _arguments(args: Sequence[str]) -> list[str]:
    if isinstance(args, str) or not all(isinstance(item, str) for item in args):
        raise ValueError(f"args must be a list of strings, got {brief(args)}")
    return list(args)


def _run(python: str, arguments: list[str], home: Path, timeout: float) -> Ran:
    # Judging must leave the work as it was.
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return run([python, *arguments], cwd=home, timeout=timeout, environ=environ, name="python")


def _python(criterion: str, *modules: str) -> str:
    """The first Python that has the modules."""
    for name in ("python", "python3"):
        found = shutil.which(name)
        if found and _has(found, modules):
            return found
    if all(importlib.util.find_spec(module) for module in modules):
        return sys.executable
    raise MissingExtraError(f"{criterion} needs {' and '.join(modules)}: pip install {' '.join(modules)}")


@functools.lru_cache(maxsize=32)
def _has(python: str, modules: tuple[str, ...]) -> bool:
    code = "import importlib.util, sys; sys.exit(any(importlib.util.find_spec(m) is None for m in sys.argv[1:]))"
    try:
        done = subprocess.run(
            [python, "-c", code, *modules],
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _counts(report: Path) -> _Counts | None:
    """What a JUnit report says, or nothing where it is none: code under test may end the process as it likes."""
    from xml.etree import ElementTree

    try:
        if report.stat().st_size > _MAX_REPORT:
            raise UnusableError("the report of pytest is too large to read")
        cases = list(ElementTree.parse(report).iter("testcase"))
    except (OSError, ElementTree.ParseError, ValueError):
        return None
    passed, skipped, failed = 0, 0, []
    for case in cases:
        results = {child.tag: child for child in case}
        wrong = results.get("failure", results.get("error"))
        if wrong is not None:
            name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
            message = (wrong.get("message") or "").strip().partition("\n")[0]
            failed.append(cut(clean(f"{name}: {message}"), 300))
        elif "skipped" in results:
            skipped += 1
        else:
            passed += 1
    return _Counts(passed, skipped, failed)


def _covered(report: Path) -> float | None:
    try:
        return float(json.loads(report.read_text(encoding="utf-8"))["totals"]["percent_covered"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
