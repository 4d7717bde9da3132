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
from widgets.loader import WidgetConfig, load_widget

assert load_widget({"name": "n"}).config == WidgetConfig()
assert load_widget({"name": "n", "config": {"size": 2}}).config.size == 2
"""
