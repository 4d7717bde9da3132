"""Deterministic checks: they see the work, and nothing else of the agent's."""

import subprocess
import sys
from pathlib import Path


def run_checks(workdir: Path) -> list[dict]:
    ran = _python(workdir, "-m", "unittest", "-q")
    behaviour = _python(workdir, "-c", BEHAVIOUR)
    return [
        {"name": "tests_pass", "passed": ran.returncode == 0, "detail": ran.stderr[-500:]},
        {"name": "behaves", "passed": behaviour.returncode == 0, "detail": behaviour.stderr[-500:]},
    ]


def _python(workdir: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=workdir, capture_output=True, text=True, timeout=120, check=False
    )


BEHAVIOUR = """
from limits import Allowance

a = Allowance(3, 60)
assert [a.allow(t) for t in (0, 10, 20, 30, 59, 60, 61)] == [True, True, True, False, False, True, False]
"""
