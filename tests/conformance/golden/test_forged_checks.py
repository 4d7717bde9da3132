"""What a patch brings along does not say how the task's own checks went."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.golden import SOLUTION, patch_of, ran_done, scoring, write_done

NEVER = """\
import subprocess


def run_checks(workdir):
    import app  # of the work itself, which may be imported
    return [{"name": "never", "passed": False, "detail": "no"}]
"""
FORGED = """\
import os, sys
def dumps(*given): return '[{"name": "never", "passed": true}]'
def loads(*given): return {}
def signature(call): raise SystemExit(0)
"""


@pytest.mark.parametrize("path", ["", ".", ":"], ids=["none", "here", "empty entries"])
@pytest.mark.parametrize("module", ["json", "inspect", "msgspec", "pathlib", "subprocess", "sitecustomize"])
def test_a_module_of_the_patch_does_not_stand_in_for_one_of_python(tmp_path: Path, module: str, path: str) -> None:
    root = write_done(tmp_path, "a")
    (root / "tasks" / "a" / "checks.py").write_text(NEVER)
    (tmp_path / "work" / "a.patch").write_text(patch_of(root / "repo", {**SOLUTION, f"{module}.py": FORGED}))
    done = ran_done(root, scoring(correctness=5, scope=5), **({"PYTHONPATH": path} if path else {}))
    score = done.score("a", "checks")
    assert (score.value, score.rationale) == (False, "failed never: no"), score
    assert done.requests == ()


def test_what_checks_start_may_use_as_many_addresses_as_elsewhere(tmp_path: Path) -> None:
    """Node reserves 10 GB of them for each memory of WebAssembly, so that its fetch() would fail."""
    root = write_done(tmp_path, "a")
    (root / "tasks" / "a" / "checks.py").write_text(
        "import subprocess, sys\n\n"
        "def run_checks(workdir):\n"
        "    code = 'import mmap as m; m.mmap(-1, 40 << 30, flags=m.MAP_PRIVATE | m.MAP_ANON, prot=m.PROT_READ)'\n"
        "    ran = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)\n"
        "    return [{'name': 'room', 'passed': ran.returncode == 0, 'detail': ran.stderr[-200:]}]\n"
    )
    done = ran_done(root, scoring(correctness=5, scope=5))
    assert (done.score("a", "checks").value, done.score("a", "checks").rationale) == (True, "passed room")


def test_checks_that_return_nothing_have_checked_nothing(tmp_path: Path) -> None:
    root = write_done(tmp_path, "a")
    (root / "tasks" / "a" / "checks.py").write_text("def run_checks(workdir):\n    return []\n")
    done = ran_done(root, scoring(correctness=5, scope=5))
    assert done.done.returncode == 4
    assert "run_checks returned no result" in str(done.score("a", "checks").error)
    assert done.requests == ()


def test_checks_that_raise_are_run_once(tmp_path: Path) -> None:
    root = write_done(tmp_path, "a")
    log = tmp_path / "log"
    (root / "tasks" / "a" / "checks.py").write_text(
        f"import sys\n\n\ndef run_checks(workdir):\n    open({str(log)!r}, 'a').write('x')\n    sys.exit('no')\n"
    )
    done = ran_done(root, scoring(correctness=5, scope=5))
    assert log.read_text() == "x"
    assert all("no" in str(done.score("a", name).error) for name in ("checks", "soft_checks"))
