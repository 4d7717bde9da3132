"""`runner:/` models: the suite's own runner is handed the prompt, in a folder with nothing in it."""

from __future__ import annotations

from pathlib import Path

import adjudge
from adjudge.domain import Case, Suite
from tests.support.agents import program
from tests.support.llm import llm_judge

PROGRAM = """\
import json, os, sys
prompt = sys.stdin.read()
seen = sorted(name for name in os.listdir() if name != "output")
print(json.dumps({"rationale": f"{os.environ['MODEL']} saw {seen}", "passed": "the answer" in prompt}))
"""


def test_the_runner_answers_from_the_prompt_alone(tmp_path: Path) -> None:
    case = Case(id="c", inputs={"request": "say it"}, outputs={"output/a.md": "the answer"})
    judge = llm_judge(model="runner:/inner-model")
    suite = Suite(name="s", cases=[case], judges=(judge,), runner=program(PROGRAM, tmp_path))
    score = adjudge.run(suite, output="run", workers=1).scores[0]
    assert (score.value, score.rationale) == (True, "inner-model saw []")
