"""The real claude solves a task of examples/golden: checks, rubric, baseline, and a run again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_server import AgentRequest, AgentServer, Say, Step, Use
from tests.support.llm import ROOT, call

pytestmark = pytest.mark.e2e
TASK = "rate-limit"
EXAMPLE = ROOT / "examples" / "golden"
TASK_CHECKS = (
    "expected_files",
    "blast_radius",
    "weakened_tests",
    "circular_imports",
    "hard_coded_values",
    "swallowed_exceptions",
    "commit_message",
)
SAID = "allow() now remembers the times of allowed calls. I added a test of the window."
DIMENSIONS = ("correctness_beyond_tests", "minimal_diff", "code_quality", "communication")
SCORES = dict(zip(DIMENSIONS, (5, 5, 4, 4), strict=True))


class Model(AgentServer):
    """The model behind the agent, which writes the reference solution file by file, and behind the rubric's judge."""

    def __init__(self, solution: dict[str, str]) -> None:
        super().__init__(self.work)
        self.judged: list[str] = []
        self.plan: list[tuple[str, dict[str, str]]] = []
        for name, text in solution.items():
            self.plan += [("Read", {"file_path": name}), ("Write", {"file_path": name, "content": text})]
        self.plan.append(("Bash", {"command": "python3 -m unittest -q", "description": "run the tests"}))

    def answer(self, request: AgentRequest) -> tuple[Step, int]:
        if "submit_verdicts" not in request.tools:
            return super().answer(request)
        self.judged.append(request.prompt)
        scores = {name: {"rationale": "read it", "score": score} for name, score in SCORES.items()}
        return Use("submit_verdicts", scores), len(self.judged)

    def work(self, request: AgentRequest) -> Step:
        turn = sum(message["role"] == "assistant" for message in request.body["messages"])
        if turn >= len(self.plan):
            return Say(SAID)
        tool, given = self.plan[turn]
        place = {"file_path": f"{working_folder(request)}/{given['file_path']}"} if "file_path" in given else {}
        return Use(tool, {**given, **place})


def working_folder(request: AgentRequest) -> str:
    """As claude tells its model."""
    told = f"{request.system}\n{request.prompt}"
    return next(line.split(": ", 1)[1] for line in told.splitlines() if "orking directory: " in line)


def solution_of(task: Path, folder: Path) -> dict[str, str]:
    """The files that the reference solution changes, as it leaves them."""
    subprocess.run(["git", "clone", "--quiet", str(task / "repo.bundle"), "--branch", "main", str(folder)], check=True)
    subprocess.run(["git", "apply", str(task / "golden.patch")], check=True, cwd=folder)
    told = subprocess.run(["git", "diff", "--name-only"], check=True, cwd=folder, capture_output=True, text=True)
    return {name: (folder / name).read_text() for name in told.stdout.split()}


def test_the_real_claude_solves_a_task_and_its_scores_become_the_baseline(programs: Path, tmp_path: Path) -> None:
    suite = shutil.copytree(EXAMPLE, tmp_path / "evals")
    home = tmp_path / "home"
    home.mkdir()

    def run(output: str, model: AgentServer, *more: str) -> Any:
        env = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "ANTHROPIC_API_KEY": "dummy-key-0123456789",
            "ANTHROPIC_BASE_URL": model.url,
        }
        words = ("--case", TASK, "--output", output, "--model", "claude-sonnet-4-5", "--json", *more)
        done = call("run", suite, *words, cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return json.loads(done.stdout)

    with Model(solution_of(suite / "tasks" / TASK, tmp_path / "clone")) as model:
        first = run("first", model, "--update-baseline", "accept")
        asked = [len(model.main_requests), len(model.judged)]
        second = run("second", model)  # the agent works anew, and does the same: the judge's answers are there
        asked += [len(model.main_requests), len(model.judged)]
        run("second", model)  # everything is there
        asked += [len(model.main_requests), len(model.judged)]
    turns = len(model.plan) + 1
    assert asked == [turns, 3, 2 * turns, 3, 2 * turns, 3]

    checks = {score["judge"]: score["value"] for score in first["scores"] if score["status"] == "scored"}
    assert checks.pop("rubric")
    assert checks == dict.fromkeys((*TASK_CHECKS, "checks", "soft_checks"), True)
    for result in (first, second):
        scored = {score["criterion"]: score["value"] for score in result["scores"] if score["judge"] == "rubric"}
        assert scored == SCORES

    ran = [text for request in model.main_requests for text in request.tool_results]
    assert any("Ran 2 tests" in text and "OK" in text for text in ran)
    trace = json.loads((tmp_path / "first" / "cases" / TASK / "trace.json").read_text())
    assert [tool["name"] for tool in trace["tools"]] == [tool for tool, _ in model.plan]
    assert trace["tools"][-1]["detail"] == "python3 -m unittest -q"
    assert trace["final_message"] == SAID
    assert [file["path"] for file in trace["files"]] == ["limits.py", "test_limits.py"]  # and no cache of Python's
    assert "+        self._allowed = deque()" in trace["diff"]
    for text in (trace["prompt"].strip(), "+        self._allowed = deque()", "Bash", SAID):
        assert text in model.judged[0]
    assert "Ran 2 tests" not in model.judged[0]

    kept = json.loads((suite / "baseline.json").read_text())
    assert kept["judge"]["model"] == "claude-sonnet-4-6"
    assert kept["tasks"][TASK]["scores"] == {name: [score] * 3 for name, score in SCORES.items()}
    for path in (path for path in (tmp_path / "first").rglob("*") if path.is_file()):
        assert b"dummy-key" not in path.read_bytes(), path
