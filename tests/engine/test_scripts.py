"""Scripts beside other judges of a suite."""

from __future__ import annotations

from pathlib import Path

import adjudge
from adjudge.domain import Case, CheckJudge, ErrorKind, ScriptJudge, Suite
from tests.support.configs import ANSWER, check, write_suite

PASSES = CheckJudge(name="check", code="return True, 'fine'")


def test_scripts_and_checks_judge_the_same_case(tmp_path: Path) -> None:
    judges = (PASSES, ScriptJudge(name="script", script="import os\nassert os.listdir() == ['here']"))
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "here").touch()
    result = adjudge.run(Suite(name="s", cases=[Case(id="c", directory=str(folder))], judges=judges), output="run")
    assert [(score.judge, score.value) for score in result.scores] == [("check", True), ("script", True)]


def test_a_case_that_cannot_be_read_fails_scripts_like_the_others(tmp_path: Path) -> None:
    suite = adjudge.load(write_suite(tmp_path, [check()]))
    (tmp_path / "cases" / "case-1").rename(tmp_path / "elsewhere")
    made = Suite(name="s", cases=suite.cases, judges=(*suite.judges, ScriptJudge(name="script", script="pass")))
    result = adjudge.run(made, output="run")
    kinds = {score.judge: score.error.kind for score in result.scores if score.error is not None}
    assert kinds == {"ok": ErrorKind.INPUT, "script": ErrorKind.INPUT}


def test_a_trajectory_that_cannot_be_read_fails_only_who_looks_at_it(tmp_path: Path) -> None:
    checks = [check(), check("looks", "return bool(outputs['events'])")]
    suite = adjudge.load(write_suite(tmp_path, checks, cases={"case-1": {"events.json": "no list", **ANSWER}}))
    script = ScriptJudge(name="script", script="pass")
    made = [Suite(name="s", cases=suite.cases, judges=judges) for judges in ((suite.judges[0], script), suite.judges)]
    alone, beside = (adjudge.run(suite, output=f"run{k}") for k, suite in enumerate(made))
    assert [score.value for score in alone.scores] == [True, True]
    assert [score.value for score in beside.scores] == [True, None]
    assert beside.scores[1].error is not None
    assert "events.json" in beside.scores[1].error.message
