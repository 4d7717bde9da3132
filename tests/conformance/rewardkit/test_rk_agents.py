"""4: agent judges of Reward Kit, with a stand-in for the claude program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.domain import AgentJudge, ConfigError
from adjudge.engine import read_run
from adjudge.formats.rewardkit import Overrides, details
from adjudge.sandbox import Kind, strongest
from tests.support.agents import started, with_claude
from tests.support.judge_folders import GOOD, criteria, loaded, put, refused
from tests.support.llm import ROOT, call

HEAD = '[judge]\njudge = "claude-code"\nisolated = true\nprompt_template = "t.md"\n'
YES = {"rationale": "looked", "passed": True}


def judged(tmp_path: Path, prompt: str, text: str = HEAD + GOOD, **options: Any) -> tuple[dict[str, Any], Path]:
    """(the details of the only reward, the run directory)."""
    tests = {"quality.toml": text, "t.md": f"Judge by these:\n{{criteria}}\n{prompt}\n"}
    suite = loaded(tmp_path, tests, workspace={"main.py": "x = 1\n"}, **options)
    result = adjudge.run(suite, environ=with_claude(tmp_path), output="run", workers=1)
    snapshot, _ = read_run(Path("run"))
    made: dict[str, Any] = details(result, snapshot)["reward"]
    return made, Path("run")


def structured(value: object) -> str:
    return f"STRUCTURED: {json.dumps(value)}"


def test_the_structured_answer_is_the_verdict(tmp_path: Path) -> None:
    made, _ = judged(tmp_path, structured(YES))
    assert (made["kind"], made["score"]) == ("agent", 1.0)
    (row,) = made["criteria"]
    assert (row["raw"], row["reasoning"]) == ("yes", "looked")
    assert made["judge"]["agent"] == "claude-code"
    assert made["judge"]["isolated"] is True
    assert made["usage"]["cost_usd"] == 0.25


def test_several_criteria_are_answered_in_one_run(tmp_path: Path) -> None:
    made, _ = judged(tmp_path, structured({"a": YES, "b": {**YES, "passed": False}}), HEAD + criteria("a", "b"))
    assert [row["value"] for row in made["criteria"]] == [1.0, 0.0]
    argv = started()["argv"]
    assert json.loads(argv[argv.index("--json-schema") + 1])["required"] == ["a", "b"]


def test_an_answer_without_a_verdict_is_asked_for_up_to_three_times(tmp_path: Path) -> None:
    made, run = judged(tmp_path, "SAY: I like it")
    assert made["score"] is None
    assert made["criteria"][0]["unscored"] == "unparseable"
    assert len(list(run.rglob("*.stdout.txt"))) == 3


@pytest.mark.skipif(strongest() is Kind.NONE, reason="nothing confines programs here")
def test_isolated_is_a_view_that_cannot_be_changed_by_any_path(tmp_path: Path) -> None:
    app = tmp_path / "app"
    attempts = ["open('new', 'w')", f"open('{app}/new', 'w')", "os.remove('main.py')", f"os.chmod('{app}/main.py', 0)"]
    judged(tmp_path, "\n".join(f"DO: {attempt}" for attempt in attempts) + f"\n{structured(YES)}")
    assert len(started()["failures"]) == 4
    assert [(path.name, path.read_text()) for path in app.iterdir()] == [("main.py", "x = 1\n")]


def test_the_rubric_is_not_seen(tmp_path: Path) -> None:
    tests = tmp_path / "tests" / "quality.toml"
    judged(tmp_path, f"DO: open('{tests}')\n{structured(YES)}")
    assert len(started()["failures"]) == (1 if strongest() is not Kind.NONE else 0)


def test_agents_that_would_share_the_workspace_are_refused(tmp_path: Path) -> None:
    text = '[judge]\njudge = "codex"\nsamples = 2\n' + GOOD
    (problem,) = refused(tmp_path, text)
    assert "2 runs of agents would share the workspace" in problem.message
    assert loaded(tmp_path, text, yolo=True).judges
    assert loaded(tmp_path, text.replace("samples", "isolated = true\nsamples")).judges


def test_agents_of_several_files_share_it_too(tmp_path: Path) -> None:
    two = {"a.toml": '[judge]\njudge = "codex"\n' + GOOD, "b.toml": '[judge]\njudge = "fx"\n' + GOOD}
    assert len(refused(tmp_path, two)) == 2


def test_servers_have_allowlists_environments_headers_and_time_outs(tmp_path: Path) -> None:
    servers = (
        '[[judge.mcp_servers]]\nname = "shop"\ntransport = "stdio"\ncommand = "npx"\nargs = ["-y", "$PKG"]\n'
        'allowed_tools = ["buy"]\nenv = {A = "1"}\nstartup_timeout = 5\ntool_timeout = 7\n'
        '[[judge.mcp_servers]]\nname = "web"\ntransport = "streamable-http"\nurl = "http://x/mcp"\n'
        'headers = {B = "2"}\n'
    )
    read = "DO: print(json.dumps({'type': 'x', 'started': json.load(open(os.environ['HOME'] + '/mcp.json'))}))"
    made, run = judged(tmp_path, f"{read}\n{structured(YES)}", HEAD + servers + GOOD)
    assert made["score"] == 1.0
    (file,) = run.rglob("*.stdout.txt")
    config, start = (json.loads(line)["started"] for line in file.read_text().splitlines()[:2])
    shop, web = config["mcpServers"]["shop"], config["mcpServers"]["web"]
    assert (shop["type"], shop["args"], shop["env"]) == ("stdio", ["-y", ""], {"A": "1"})
    assert (web["type"], web["headers"]) == ("http", {"B": "2"})
    assert "mcp__shop__buy mcp__web" in " ".join(start["argv"])
    assert (start["env"]["MCP_TIMEOUT"], start["env"]["MCP_TOOL_TIMEOUT"]) == ("5000", "7000")


@pytest.mark.parametrize(
    ("agent", "server", "words"),
    [
        ("codex", 'transport = "sse"\nurl = "http://x"', "codex takes no sse servers"),
        ("fx", 'transport = "stdio"\ncommand = "x"\nallowed_tools = ["a"]', "fx cannot be held"),
    ],
)
def test_what_an_agent_cannot_do_is_told_at_load(tmp_path: Path, agent: str, server: str, words: str) -> None:
    text = f'[judge]\njudge = "{agent}"\n[[judge.mcp_servers]]\nname = "s"\n{server}\n{GOOD}'
    (problem,) = refused(tmp_path, text)
    assert words in problem.message


def test_model_and_effort_stand_in_the_command(tmp_path: Path) -> None:
    judged(tmp_path, structured(YES), overrides=Overrides(model="anthropic/claude-opus-5-5", effort="high"))
    argv = " ".join(started()["argv"])
    assert "--model claude-opus-5-5" in argv
    assert "--effort high" in argv


def test_a_cwd_outside_of_an_isolated_workspace_is_no_verdict(tmp_path: Path) -> None:
    made, _ = judged(tmp_path, structured(YES), HEAD + f'cwd = "{tmp_path}"\n' + GOOD)
    assert made["criteria"][0]["unscored"] == "config"


def test_the_judge_is_told_where_files_and_trajectory_lie(tmp_path: Path) -> None:
    text = HEAD.replace('prompt_template = "t.md"\n', "") + 'files = ["main.py"]\natif-trajectory = "/logs/t.json"\n'
    suite = loaded(tmp_path, text + GOOD, workspace={"main.py": "x"})
    (judge,) = suite.judges
    assert isinstance(judge, AgentJudge)
    adjudge.run(suite, environ=with_claude(tmp_path), output="run", workers=1)
    prompt = next(Path("run").rglob("*.prompt.txt")).read_text()
    for words in ("- main.py", "/logs/t.json", "Is it good?"):
        assert words in prompt


def test_a_version_that_is_not_installed_is_no_verdict(tmp_path: Path) -> None:
    made, _ = judged(tmp_path, structured(YES), HEAD + 'version = "9.9.9"\n' + GOOD)
    assert made["criteria"][0]["unscored"] == "config"


def test_an_agent_that_is_not_there_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="claude, which is not on the PATH"):
        adjudge.run(loaded(tmp_path, '[judge]\njudge = "claude-code"\n' + GOOD), environ={"PATH": "/nowhere"})


def test_transcripts_lie_where_the_logs_of_a_verifier_do(tmp_path: Path) -> None:
    put(tmp_path / "tests", {"quality.toml": HEAD + GOOD, "t.md": f"{{criteria}}\n{structured(YES)}\n"})
    put(tmp_path / "app", {"main.py": "x"})
    logs = tmp_path / "logs"
    env = {**with_claude(tmp_path), "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "REWARDKIT_LOG_DIR": str(logs)}
    arguments = ["rewardkit", "tests", "--workspace", "app", "--output", "out/reward.json"]
    ended = call(*arguments, cwd=tmp_path, env=env)
    assert ended.returncode == 0, ended.stderr
    assert json.loads((tmp_path / "out" / "reward.json").read_text()) == {"reward": 1.0}
    (file,) = logs.iterdir()
    assert file.name == "trajectory.claude-code.quality.00.jsonl"
    assert '"structured_output"' in file.read_text()
