"""The quickstart as a newcomer runs it, and the figures that its README prints."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import yaml

from adjudge.domain import result_schema
from tests.conftest import ROOT
from tests.support.llm import call, environment
from tests.support.provider import LoopbackProvider
from tests.support.replies import Reply, Verdict
from tests.support.request import Request

QUICKSTART = ROOT / "examples" / "quickstart"


def test_the_demo_passes_and_the_readme_tells_its_figures(tmp_path: Path) -> None:
    done = call("run", QUICKSTART, "--no-llm", "--output", "run", cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "left out: claims_match_diff (--no-llm)" in done.stdout
    assert "run directory: run" in done.stdout
    result = json.loads((tmp_path / "run" / "result.json").read_bytes())
    jsonschema.validate(result, result_schema())
    people = {judge["judge"]: judge["people"] for judge in result["judges"]}
    row = re.compile(r"^\| `(\w+)` \| (\d+) of (\d+) \| (\d+) \| (\d+) \|", re.MULTILINE)
    told = {name: tuple(map(int, rest)) for name, *rest in row.findall((QUICKSTART / "README.md").read_text())}
    assert told == {
        name: (told_["agree"], told_["n"], told_["false_pass"], told_["false_fail"]) for name, told_ in people.items()
    }


def test_a_judge_that_answers_like_the_reviewer_agrees_with_the_reviewer(tmp_path: Path) -> None:
    """The LLM judges end to end: prompts of real cases out, verdicts in, set beside the labels."""
    labels = {}
    for case in sorted((QUICKSTART / "cases").iterdir()):
        request = yaml.safe_load((case / "input.yaml").read_text())["request"]
        labels[request.split("\n")[0]] = yaml.safe_load((case / "annotations.yaml").read_text())

    def reply(request: Request) -> Reply:
        label = next(label for first, label in labels.items() if first in request.prompt)
        judge = "claims_match_diff" if request.tool_name == "submit_evaluation" else "solves_request"
        said = label.get("verdicts", {}).get(judge, label["acceptable"])
        if judge == "claims_match_diff":
            return Verdict({"rationale": "as the reviewer", "passed": bool(said)})
        return Verdict({"rationale": "as the reviewer", "score": said if type(said) is int else 5 if said else 1})

    with LoopbackProvider(reply) as provider:
        env = environment(tmp_path, provider)
        done = call("run", QUICKSTART, "--judge-model", "openai:/any", "--output", "run", cwd=tmp_path, env=env)
        assert len(provider.requests) == 32
        assert all("[BEGIN EVALUATED MATERIAL: outputs #" in request.prompt for request in provider.requests)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "run" / "result.json").read_bytes())
    people = {judge["judge"]: judge["people"] for judge in result["judges"]}
    assert people["claims_match_diff"]["agree"] == people["claims_match_diff"]["n"] == 16
    assert people["solves_request"]["agree"] == people["solves_request"]["n"] == 16


def test_the_code_in_the_readme_runs(tmp_path: Path) -> None:
    """Every Python block of the README, and the suite it shows."""
    assert call("init", "my-evals", cwd=tmp_path, env=environment(tmp_path)).returncode == 0
    readme = (ROOT / "README.md").read_text()
    (config,) = [block for block in re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL) if block.startswith("judges:")]
    suite = "dataset: {path: cases}\noutputs: [{path: output}]\n" + config
    (tmp_path / "my-evals" / "eval.yaml").write_text(suite)
    env = environment(tmp_path, OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    assert call("validate", "my-evals", cwd=tmp_path, env=env).returncode == 0
    planned = call("plan", "my-evals", "--judge-model", "openai:/x", cwd=tmp_path, env=env)
    assert planned.returncode == 0, planned.stderr
    (code,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    ran = subprocess.run(
        [sys.executable, "-c", code], check=False, cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["fail", "0.0", "0"]
