"""A criterion looks at the workspace each time: nothing of an earlier run stands for it."""

from __future__ import annotations

from pathlib import Path

from tests.support.llm import call, environment


def test_a_resumed_run_sees_what_changed(tmp_path: Path) -> None:
    app, tests = tmp_path / "app", tmp_path / "tests"
    app.mkdir()
    tests.mkdir()
    (tests / "checks.py").write_text("import rewardkit as rk\nrk.file_exists('a.txt')\n")
    output = tmp_path / "out" / "reward.json"
    command = ("rewardkit", tests, "--workspace", app, "--output", output, "--run-dir", tmp_path / "run")
    assert call(*command, cwd=tmp_path, env=environment(tmp_path)).stdout == "reward: 0.0\n"
    (app / "a.txt").write_text("x")
    assert call(*command, cwd=tmp_path, env=environment(tmp_path)).stdout == "reward: 1.0\n"
