"""Ready criteria on a project's tests: real pytest and coverage in processes of their own."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import MissingExtraError
from adjudge.judges.criteria import Finding
from adjudge.judges.criteria.library import project
from adjudge.judges.criteria.library.project import coverage_at_least, pytest_passes


@pytest.fixture(autouse=True)
def this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python of these tests has pytest; one elsewhere on PATH need not."""
    folder = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def write(home: Path, **files: str) -> None:
    for name, text in files.items():
        (home / f"{name}.py").write_text(text)


def test_all_pass(tmp_path: Path) -> None:
    write(tmp_path, test_a="def test_one(): pass\ndef test_two(): pass\n")
    assert pytest_passes(tmp_path) == Finding(True, "2 passed, 0 failed, 0 skipped")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["test_a.py"], "judging leaves nothing behind"


def test_each_failure_is_listed(tmp_path: Path) -> None:
    write(
        tmp_path,
        test_a="import pytest\n"
        "def test_one(): pass\n"
        "def test_two(): assert 1 + 1 == 3\n"
        "@pytest.fixture\ndef bad(): raise OSError('no room')\n"
        "def test_three(bad): pass\n"
        "@pytest.mark.skip\ndef test_four(): pass\n",
    )
    finding = pytest_passes(tmp_path)
    assert finding.value is False
    assert finding.evidence.startswith("1 passed, 2 failed, 1 skipped\n")
    assert "test_a::test_two: assert (1 + 1) == 3" in finding.evidence
    assert "test_a::test_three: " in finding.evidence
    assert "test_one" not in finding.evidence


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("", id="no tests"),
        pytest.param("import pytest\n@pytest.mark.skip\ndef test_a(): pass\n", id="all skipped"),
        pytest.param("import pytest\n@pytest.mark.xfail\ndef test_a(): assert 0\n", id="all expected to fail"),
        pytest.param("import os\nos._exit(0)\n", id="ends the process with success"),
        pytest.param("import nothing_of_that_name\n", id="import error"),
        pytest.param("def test_a(:\n", id="syntax error"),
        pytest.param("import os\ndef test_a(): os.kill(os.getpid(), 9)\n", id="kills itself"),
        pytest.param("def test_a(): pass\ndef test_b():\n import os\n os._exit(0)\n", id="stops after the first"),
        pytest.param("import sys\nsys.exit(0)\n", id="leaves while collected"),
    ],
)
def test_a_suite_that_shows_nothing_is_false(tmp_path: Path, source: str) -> None:
    write(tmp_path, test_a=source)
    finding = pytest_passes(tmp_path)
    assert finding.value is False
    assert finding.evidence


def test_tests_that_never_end(tmp_path: Path) -> None:
    write(tmp_path, test_a="import time\ndef test_a(): time.sleep(60)\n")
    started = time.monotonic()
    finding = pytest_passes(tmp_path, timeout=1.5)
    assert finding.value is False
    assert "timed out after 1.5 seconds" in finding.evidence
    assert time.monotonic() - started < 6


def test_paths_arguments_and_folders(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write(
        tmp_path / "in", test_a="def test_one(): pass\ndef test_two(): assert 0\n", helper="", test_b="import helper\n"
    )
    assert pytest_passes(tmp_path, "in/test_a.py::test_one").value is True
    assert pytest_passes(tmp_path, "test_a.py", ["-k", "one"], cwd="in").value is True
    assert pytest_passes(tmp_path, "in", ["-k", "two"]).value is False
    assert pytest_passes(tmp_path, "nope").value is False
    assert "to run in does not exist" in pytest_passes(tmp_path, cwd="nope").evidence
    assert pytest_passes(tmp_path, args=["--no-such-option"]).value is False


def test_modules_of_the_folder_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    write(tmp_path, app="VALUE = 3\n")
    write(tmp_path / "tests", test_a="import app\ndef test_a(): assert app.VALUE == 3\n")
    assert pytest_passes(tmp_path).value is True


def test_a_pytest_of_the_work_does_not_stand_in_for_it(tmp_path: Path) -> None:
    write(tmp_path, pytest="import sys\ndef main(*_): sys.exit(0)\n", test_a="def test_a(): assert 0\n")
    finding = pytest_passes(tmp_path)
    assert finding.value is False
    assert finding.evidence.startswith("0 passed, 1 failed")


def test_many_failures_are_counted_and_cut(tmp_path: Path) -> None:
    write(tmp_path, test_a="".join(f"def test_{n}(): assert 0, 'x' * 500\n" for n in range(40)))
    evidence = pytest_passes(tmp_path).evidence
    assert evidence.startswith("0 passed, 40 failed")
    assert evidence.endswith("and 20 more")
    assert len(evidence) <= 2100


@pytest.mark.parametrize("arguments", [{"args": "-x"}, {"args": [3]}, {"path": 3}, {"timeout": 0}])
def test_bad_arguments_are_the_authors(tmp_path: Path, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        pytest_passes(tmp_path, **arguments)


def test_without_pytest_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(MissingExtraError, match="pytest_passes needs pytest: pip install pytest"):
        pytest_passes(tmp_path)
    with pytest.raises(MissingExtraError, match="pip install pytest coverage"):
        coverage_at_least(tmp_path, 50)


# --- coverage


@pytest.fixture
def covered(tmp_path: Path) -> Path:
    """A project of which a test reaches two lines of four."""
    try:
        project._python("coverage_at_least", "pytest", "coverage")
    except MissingExtraError:
        pytest.skip("coverage is not installed")
    home = tmp_path / "project"
    (home / "app").mkdir(parents=True)
    (home / "app" / "__init__.py").touch()
    write(home / "app", half="def a():\n    return 1\ndef b():\n    return 2\n")
    write(home, test_app="from app import half\ndef test_a(): assert half.a() == 1\n")
    return home


def test_lines_that_tests_reach(covered: Path) -> None:
    enough = coverage_at_least(covered, 75, source="app")
    assert enough == Finding(True, "75.0 % of app is covered, wanted 75 %")
    assert coverage_at_least(covered, 76, source="app").value is False
    assert sorted(path.name for path in covered.iterdir()) == ["app", "test_app.py"], "judging leaves nothing behind"


def test_what_is_never_imported_counts_and_settings_of_the_work_do_not(covered: Path) -> None:
    write(covered / "app", other="x = 1\ny = 2\nz = 3\nw = 4\n")
    (covered / ".coveragerc").write_text("[run]\nomit = app/other.py\n")
    assert "37.5 % of app is covered" in coverage_at_least(covered, 50, source="app").evidence


def test_failing_tests_are_said(covered: Path) -> None:
    write(covered, test_bad="def test_bad(): assert 0\n")
    assert coverage_at_least(covered, 75, source="app").evidence.endswith("not all tests pass")


def test_no_tests_cover_nothing(covered: Path) -> None:
    (covered / "test_app.py").unlink()
    assert coverage_at_least(covered, 0, source="app").value is False


@pytest.mark.parametrize("percent", [-1, 101, "50", True, None])
def test_a_percentage_is_from_0_to_100(tmp_path: Path, percent: Any) -> None:
    with pytest.raises(ValueError, match="percent must be from 0 to 100"):
        coverage_at_least(tmp_path, percent)
