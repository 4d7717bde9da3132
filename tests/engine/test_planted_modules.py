"""What is judged may lie where adjudge is started, with modules of its own; none of them is ever imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.llm import environment

COMMAND = Path(sys.executable).with_name("adjudge")
MARK = "import pathlib\npathlib.Path({mark!r}).write_text('ran')\n"


@pytest.mark.parametrize("name", ["msgspec", "json", "adjudge", "sitecustomize", "rewardkit", "jinja2"])
def test_a_module_in_the_current_folder_is_not_imported(name: str, tmp_path: Path) -> None:
    app, tests, mark = tmp_path / "app", tmp_path / "tests", tmp_path / "mark"
    app.mkdir()
    tests.mkdir()
    (app / f"{name}.py").write_text(MARK.format(mark=str(mark)))
    (tests / "checks.py").write_text("import rewardkit as rk\nrk.file_exists('nothing')\n")
    env = {key: value for key, value in environment(tmp_path).items() if key != "PYTHONPATH"}
    output = tmp_path / "out" / "reward.json"
    command = list(map(str, (COMMAND, "rewardkit", tests, "--workspace", app, "--output", output)))
    done = subprocess.run(command, check=False, cwd=app, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "reward: 0.0\n"
    assert not mark.exists()
