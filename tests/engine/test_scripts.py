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
    config = write_suite(tmp_path, [check()], cases={"case-1": {"events.json": "no list", **ANSWER}})
    suite = adjudge.load(config)
    made = Suite(name="s", cases=suite.cases, judges=(*suite.judges, ScriptJudge(name="script", script="pass")))
    result = adjudge.run(made, output="run")
    kinds = {score.judge: score.error.kind for score in result.scores if score.error is not None}
    assert kinds == {"ok": ErrorKind.INPUT, "script": ErrorKind.INPUT}
