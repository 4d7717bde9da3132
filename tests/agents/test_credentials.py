"""Which credentials an agent gets: one way in, and no other's."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.agents import AgentError, Ask, Launch, agent_of
from adjudge.domain import AGENTS, AgentSpec


def launch(name: str, tmp_path: Path, prompt: str = "Is it good?", **environ: str) -> Launch:
    spec = AgentSpec(name=name)
    ask = Ask(spec=spec, prompt=prompt, cwd=tmp_path, home=tmp_path / "home", confined=True, environ=environ)
    return agent_of(spec).launch(ask)


KEY, TOKEN = {"ANTHROPIC_API_KEY": "key"}, {"CLAUDE_CODE_OAUTH_TOKEN": "token"}
FORCED = {"REWARDKIT_FORCE_SUBSCRIPTION": "1"}


@pytest.mark.parametrize(
    ("environ", "seen"),
    [
        (KEY, KEY),
        (TOKEN, TOKEN),
        ({**KEY, **TOKEN}, KEY),
        ({**KEY, **TOKEN, **FORCED}, TOKEN),
        ({**KEY, "OPENAI_API_KEY": "x", "GITHUB_TOKEN": "y"}, KEY),
    ],
)
def test_claude_gets_a_key_or_a_token(tmp_path: Path, environ: dict[str, str], seen: dict[str, str]) -> None:
    env = launch("claude-code", tmp_path, **environ).env
    secrets = ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "OPENAI_API_KEY", "GITHUB_TOKEN")
    assert {name: env[name] for name in secrets if name in env} == seen


def test_a_subscription_that_is_asked_for_must_be_there(tmp_path: Path) -> None:
    for name in ("claude-code", "codex"):
        with pytest.raises(AgentError, match="REWARDKIT_FORCE_SUBSCRIPTION"):
            launch(name, tmp_path, **KEY, **FORCED, OPENAI_API_KEY="x")


def test_codex_gets_its_key_under_a_name_of_its_own_or_a_login(tmp_path: Path) -> None:
    by_key = launch("codex", tmp_path, OPENAI_API_KEY="key", CODEX_AUTH_JSON="{}")
    assert by_key.env["CODEX_API_KEY"] == "key"
    assert "OPENAI_API_KEY" not in by_key.env
    assert "codex/auth.json" not in by_key.files
    by_login = launch("codex", tmp_path, OPENAI_API_KEY="key", CODEX_AUTH_JSON='{"a": 1}', **FORCED)
    assert "CODEX_API_KEY" not in by_login.env
    assert by_login.files["codex/auth.json"] == '{"a": 1}'


@pytest.mark.parametrize("name", AGENTS)
def test_no_agent_sees_what_is_not_for_it(tmp_path: Path, name: str) -> None:
    secrets = {"GITHUB_TOKEN": "g", "DATABASE_PASSWORD": "d", "MY_SECRET": "m"}
    made = launch(name, tmp_path, "the prompt", PATH="/bin", AI_GATEWAY_API_KEY="a", **secrets)
    assert not secrets.keys() & made.env.keys()
    assert made.env["HOME"] == str(tmp_path / "home")
    assert "the prompt" not in made.argv
    assert "the prompt" in made.stdin.decode() or "the prompt" in made.files.values()


def test_a_prompt_is_never_a_command_of_claude(tmp_path: Path) -> None:
    assert not launch("claude-code", tmp_path, "/compact", **KEY).stdin.lstrip().startswith(b"/")
