"""A whole run of an eval.yaml: the real claude under test and as a judge, our server as the model of both."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

import adjudge
import adjudge.api
from adjudge.domain import RunState
from adjudge.sandbox import Kind, strongest
from tests.support.agent_server import AgentRequest, AgentServer, Say, Step, Use
from tests.support.llm import QUICK

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(strongest() is Kind.NONE, reason="nothing confines programs here")]


class Model(AgentServer):
    """The model behind the agent under test, the agent judge and the pairwise judge."""

    def __init__(self, word: str) -> None:
        super().__init__(self.play)
        self.word = word
        self.compared: list[str] = []
        self._said = threading.Lock()

    def answer(self, request: AgentRequest) -> tuple[Step, int]:
        if "submit_comparison" not in request.tools:
            return super().answer(request)
        with self._said:
            self.requests.append(request)
            self.compared.append(request.prompt)
            better = "A" if request.prompt.index("better") < request.prompt.index("worse") else "B"
            answer = {"rationale": "it says better", "preferred": better}
            return Use("submit_comparison", answer), len(self.requests)

    def play(self, request: AgentRequest) -> Step:
        judge = "score.json" in request.prompt
        if request.tool_results:
            return Say("done")
        if judge:
            verdict = json.dumps({"rationale": "read it", "score": 4})
            return Use("Write", {"file_path": "output/score.json", "content": verdict})
        return Use("Write", {"file_path": "output/answer.md", "content": f"{self.word} answer"})


def write(folder: Path) -> Path:
    for name in ("one", "two"):
        (folder / "cases" / name).mkdir(parents=True, exist_ok=True)
        (folder / "cases" / name / "input.yaml").write_text(f"topic: {name}\n")
    config: dict[str, Any] = {
        "name": "whole",
        "execution": {
            "timeout": 120,
            "parallelism": 2,
            "steps": [{"id": "write", "prompt": "Write output/answer.md about {topic}."}],
        },
        "runner": {"type": "claude-code", "permission_mode": "acceptEdits"},
        "models": {"skill": "claude-sonnet-4-5", "judge": "claude-sonnet-4-5"},
        "dataset": {"path": "cases"},
        "outputs": [{"path": "output"}],
        "hooks": {
            "before_each": [{"command": "echo 'data: {expected: answer}' > .hook-outputs.yaml"}],
            "after_all": [{"command": f"touch {folder}/after_all"}],
        },
        "judges": [
            {
                "name": "written",
                "step": "write",
                "check": 'said = outputs["files"].get("output/answer.md", "")\n'
                'return outputs["hook_outputs"]["expected"] in said, said',
            },
            {
                "name": "good",
                "prompt": "Judge the answer by reading it.\n\n{{ inputs }}",
                "score_range": [1, 5],
                "agent": {"max_budget_usd": 1},
            },
            {"name": "pairwise", "prompt": "Which tells more of {{ inputs }}?"},
        ],
        "thresholds": {"written": {"min_pass_rate": 1}, "good": {"min_mean": 4}, "pairwise": {"min_win_rate": 0.6}},
        "reward": {"weights": {"written": 1, "good": 1}},
    }
    path = folder / "eval.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return path


def test_the_real_agent_is_run_judged_compared_and_gated(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("ANTHROPIC", "CLAUDE", "OPENAI"))]:
        monkeypatch.delenv(name)
    config = write(tmp_path)

    def run(word: str, **options: Any) -> tuple[Any, Model]:
        with Model(word) as model:
            environ = {
                "PATH": f"{programs}:{os.environ['PATH']}",
                "HOME": str(home),
                "ANTHROPIC_API_KEY": "dummy-key-0123456789",
                "ANTHROPIC_BASE_URL": model.url,
            }
            return adjudge.run(config, environ=environ, workers=1, retry=QUICK, **options), model

    worse, _ = run("worse", output="worse")
    assert worse.execution is not None
    assert [(r.case, r.state) for r in worse.execution.cases] == [("one", RunState.OK), ("two", RunState.OK)]
    assert worse.decision == "inconclusive"  # nothing to compare with, and a threshold on that

    result, model = run("better", output="better", baseline="worse")
    assert result.execution is not None
    assert result.decision == "pass", result.gate.reasons
    assert (tmp_path / "after_all").exists()
    for case in ("one", "two"):
        assert result.score(case, "written").value is True
        assert result.score(case, "good").value == 4
        reward = json.loads((tmp_path / "better" / "cases" / case / "reward.json").read_text())["reward"]
        assert reward == pytest.approx((1 + 0.75) / 2)
    (compared,) = result.pairwise
    assert (compared.wins, compared.losses, compared.ties, compared.flips) == (2, 0, 0, 0)
    assert compared.win_rate == 1
    assert len(model.compared) == 4
    ran = json.loads((tmp_path / "better" / "run_result.json").read_text())
    assert ran["exit_code"] == 0
    assert ran["per_case"]["one"]["steps"]["write"]["exit_code"] == 0
    assert ran["per_case"]["one"]["token_usage"]["output"]
    events = json.loads((tmp_path / "better" / "cases" / "one" / "events.json").read_text())
    assert any(call["name"] == "Write" for event in events for call in event.get("tools", []))
    assert "dummy-key" not in (tmp_path / "better" / "cases" / "one" / "stdout.log").read_text()
    page = adjudge.api.write_html(tmp_path / "better").read_text()
    assert "worse" in page
    assert "dummy-key" not in page
    assert yaml.safe_load((tmp_path / "better" / "summary.yaml").read_text())["pairwise"]["wins_a"] == 2
