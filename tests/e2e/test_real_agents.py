"""The real claude and codex programs as judges, confined, with our loopback server as their model.

They are installed from the npm registry into a throwaway prefix, or found in the folder `ADJUDGE_AGENT_CLIS`.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

from adjudge.domain import AgentJudge, AgentSpec, AnswerBy, Case, Place, Score
from adjudge.sandbox import Kind, strongest
from tests.support.agent_server import AgentRequest, AgentServer, Say, Use, shell_call
from tests.support.agents import agent_judge, run_judge

VERDICT = json.dumps({"rationale": "read it", "passed": True})

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(strongest() is Kind.NONE, reason="nothing confines programs here")]


def judged(programs: Path, server: AgentServer, judge: AgentJudge, **case: object) -> Score:
    environ = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "ANTHROPIC_API_KEY": "dummy-key-0123456789",
        "ANTHROPIC_BASE_URL": server.url,
        "OPENAI_API_KEY": "dummy-key-0123456789",
        "OPENAI_BASE_URL": f"{server.url}/v1",
    }
    chosen = Case(id="case", **case) if case else None  # type: ignore[arg-type]
    return run_judge(judge, environ, case=chosen).scores[0]


def played(server: AgentServer) -> list[str]:
    return [text for request in server.requests for text in request.tool_results]


def claude(script: Sequence[Say | Use], programs: Path, tmp_path: Path) -> tuple[Score, list[str]]:
    with AgentServer(script) as server:
        score = judged(programs, server, agent_judge(model="claude-sonnet-4-5"))
        return score, played(server)


def test_claude_reads_the_work_and_writes_its_verdict(programs: Path, tmp_path: Path) -> None:
    passed = Use("Write", {"file_path": "output/score.json", "content": VERDICT})
    score, results = claude([Use("Read", {"file_path": "_output/answer.md"}), passed, Say("done")], programs, tmp_path)
    assert "the answer" in results[0]
    assert (score.value, score.rationale) == (True, "read it")
    assert score.usage is not None
    assert score.usage.cost_usd
    assert (score.usage.input, score.usage.output) == (300, 30)


def test_claude_is_refused_everything_else_and_that_is_recorded(programs: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("s3cret")
    other = socket.create_server(("127.0.0.1", 0))
    other.settimeout(0.1)
    attempts = [
        Use("Write", {"file_path": "evil.txt", "content": "x"}),
        Use("Write", {"file_path": "output/../evil.txt", "content": "x"}),
        Use("NotebookEdit", {"notebook_path": "x.ipynb", "new_source": "x"}),
        Use("Read", {"file_path": str(secret)}),
        Use("Read", {"file_path": "/etc/passwd"}),
        Use("Bash", {"command": f"cat {secret}; curl http://127.0.0.1:{other.getsockname()[1]}"}),
        Use("WebFetch", {"url": f"http://127.0.0.1:{other.getsockname()[1]}", "prompt": "x"}),
    ]
    score, results = claude([*attempts, Say(VERDICT)], programs, tmp_path)
    assert score.value is True
    assert len(results) == len(attempts)
    assert not any("s3cret" in text or "root:" in text for text in results)
    assert sum(score.denials.values()) == len(attempts)
    with pytest.raises(TimeoutError):
        other.accept()
    other.close()


def test_claude_without_a_verdict_is_unscored(programs: Path, tmp_path: Path) -> None:
    score, _ = claude([Say("I like it.")], programs, tmp_path)
    assert score.error is not None
    assert score.error.kind == "unparseable"


def test_what_is_judged_does_not_set_claude_up(programs: Path, tmp_path: Path) -> None:
    """A CLAUDE.md, hooks and settings among the work are not followed."""
    marker = "PLANTED-INSTRUCTION"
    settings = json.dumps({"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch output/x"}]}]}})
    outputs = {"CLAUDE.md": marker, ".claude/settings.json": settings, ".mcp.json": "{}"}
    with AgentServer([Say(VERDICT)]) as server:
        score = judged(programs, server, agent_judge(model="claude-sonnet-4-5"), outputs=outputs)
        assert not any(marker in json.dumps(request.body) for request in server.requests)
    assert score.value is True


def folder_judge(agent: str, model: str) -> AgentJudge:
    return agent_judge(
        "",
        place=Place.FOLDER,
        answer_by=AnswerBy.STRUCTURED,
        agent=AgentSpec(name=agent),
        model=model,
        attempts=3,
    )


def test_claude_answers_by_its_structured_output(programs: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("hello")
    script = [
        Use("Bash", {"command": f"cat a.txt; echo x > evil.txt; echo x > {work}/evil2.txt; ls"}),
        Use("StructuredOutput", {"rationale": "ran it", "passed": False}),
    ]
    with AgentServer(script) as server:
        score = judged(programs, server, folder_judge("claude-code", "claude-sonnet-4-5"), directory=str(work))
        (shown,) = [text for text in played(server) if "hello" in text]
    assert "Read-only file system" in shown
    assert (score.value, score.rationale) == (False, "ran it")
    assert [path.name for path in work.iterdir()] == ["a.txt"]


def test_codex_runs_commands_and_answers(programs: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("hello")
    secret = tmp_path / "secret.txt"
    secret.write_text("s3cret")

    def script(request: AgentRequest) -> Say | Use:
        if request.tool_results:
            return Say(VERDICT)
        return shell_call(request, f"cat a.txt {secret}; echo x > {work}/evil.txt")

    with AgentServer(script) as server:
        score = judged(programs, server, folder_judge("codex", "gpt-5.4"), directory=str(work))
        (shown,) = [text for text in played(server) if "hello" in text]
    assert "s3cret" not in shown
    assert "Read-only file system" in shown
    assert (score.value, score.rationale) == (True, "read it")
    assert [path.name for path in work.iterdir()] == ["a.txt"]


def test_codex_judges_staged_work(programs: Path, tmp_path: Path) -> None:
    def script(request: AgentRequest) -> Say | Use:
        if request.tool_results:
            return Say("done")
        return shell_call(request, f"cat _output/answer.md && echo '{VERDICT}' > output/score.json; echo x > evil.txt")

    with AgentServer(script) as server:
        score = judged(programs, server, agent_judge(agent=AgentSpec(name="codex"), model="gpt-5.4"))
        assert any("the answer" in text and "Read-only" in text for text in played(server))
    assert (score.value, score.rationale) == (True, "read it")


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_a_model_that_fails_leaves_no_verdict(programs: Path, tmp_path: Path, agent: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with AgentServer([Say(VERDICT)]) as server:
        url = server.url
    judge = folder_judge(agent, "m")
    environ = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "ANTHROPIC_API_KEY": "dummy-key-0123456789",
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "OPENAI_API_KEY": "dummy-key-0123456789",
        "OPENAI_BASE_URL": f"{url}/v1",
    }
    judge = AgentJudge(**{n: getattr(judge, n) for n in judge.__struct_fields__ if n != "timeout_s"}, timeout_s=20.0)
    score = run_judge(judge, environ, case=Case(id="case", directory=str(work))).scores[0]
    assert score.error is not None
    assert score.error.kind in ("connection", "provider_error", "timeout")


@pytest.mark.parametrize("agent", ["opencode", "pi"])
def test_others_where_they_are_installed(programs: Path, tmp_path: Path, agent: str) -> None:
    """They are not installed for this; a folder that `ADJUDGE_AGENT_CLIS` names may hold them."""
    if not (programs / agent).exists():
        pytest.skip(f"{agent} is not in {programs}")
    work = tmp_path / "work"
    work.mkdir()
    with AgentServer([Say(VERDICT)]) as server:
        judge = folder_judge(agent, "anthropic/claude-sonnet-4-5")
        score = judged(programs, server, judge, directory=str(work))
    assert (score.value, score.rationale) == (True, "read it")
    assert score.usage is not None
    assert (score.usage.input, score.usage.output) == (100, 10)
