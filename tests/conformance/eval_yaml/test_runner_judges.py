"""`runner:/<model>` in an eval.yaml: the suite's runner answers for the judge."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import adjudge
from tests.support.configs import errors, llm, write_suite

PROGRAM = """\
import json, os, sys
model, prompt = sys.argv[1], sys.stdin.read()
print(json.dumps({"rationale": f"{model} saw {sorted(os.listdir())}", "score": 4 if "request" in prompt else 1}))
"""


@pytest.mark.parametrize("where", ["judge", "models.judge", "variable"])
def test_the_runner_answers_for_a_judge(tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(PROGRAM)
    judge = llm("ok", score_range=[1, 5], prompt="Good? {{ inputs }} {{ outputs }}", model=...)
    sections: dict[str, Any] = {
        "runner": {"type": "cli", "command": [sys.executable, str(tmp_path / "program.py"), "{model}"]}
    }
    if where == "judge":
        judge["model"] = "runner:/inner"
    elif where == "models.judge":
        sections["models"] = {"judge": "runner:/inner"}
    else:
        monkeypatch.setenv("EVAL_JUDGE_MODEL", "runner:/inner")
    cases = {"case-1": {"input.yaml": "request: say it\n", "output/a.md": "said"}}
    config = write_suite(tmp_path, [judge], cases, **sections)
    result = adjudge.run(config, workspace="cases", output="run", workers=1)
    score = result.score("case-1", "ok")
    assert score.value == 4, score.error
    assert score.rationale == "inner saw ['output']"  # its own, for its answer


def test_what_cannot_answer_for_a_judge_is_an_error(tmp_path: Path) -> None:
    judge = llm("ok", model="runner:/inner", score_range=[1, 5])
    found = errors(write_suite(tmp_path / "a", [judge], runner={"type": "responses-api"}))
    assert any("no judge can be run by it" in error for error in found)
    nameless = llm("ok", model="runner:/", score_range=[1, 5])
    assert any("names no model" in error for error in errors(write_suite(tmp_path / "b", [nameless])))
