"""Programs that we do not know are started for their task, and for nothing else."""

from __future__ import annotations

from pathlib import Path

from adjudge.domain import AnswerBy, Case, Place
from tests.support.agents import agent_judge, program, score_of


def test_a_program_is_started_once_for_one_verdict(tmp_path: Path) -> None:
    """It is not asked for its version or its help: it may take that for a task."""
    log = tmp_path / "work" / "log"
    log.parent.mkdir()
    text = f"import sys, json\nopen('{log}', 'a').write(repr(sys.argv[1:]) + '\\n')\nprint(json.dumps({{'score': 1}}))"
    judge = agent_judge(agent=program(text, tmp_path), place=Place.FOLDER, answer_by=AnswerBy.SCORE_01, isolated=False)
    assert score_of(judge, case=Case(id="c", directory=str(log.parent))).value is True
    assert log.read_text().splitlines() == ["[]"]
