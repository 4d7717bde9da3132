"""Sections 4 and 6 and the page: how agents are started, what they see, and how their verdict is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.domain import AgentJudge
from tests.conformance.banana.projects import (
    CONFIG,
    PASS,
    agent,
    argv,
    judge,
    judged,
    loaded,
    ran,
    refused,
    says,
    script,
    write_project,
)

_ = pytest.param
EFFORT = 'reasoning_effort_flag = ["--effort", "{effort}"]\n'
ENV = "env | sed 's/^/ENV /' >&2"


@pytest.mark.parametrize("name", ["codex", "claude", "gemini", "grok", "openhands", "opencode", "pi"])
def test_built_in_agents_are_known(tmp_path: Path, name: str) -> None:
    write_project(tmp_path, {"eval_checks/a.yaml": judge("a")})
    (made,) = loaded(tmp_path, agent=name).suite.judges
    assert isinstance(made, AgentJudge)


@pytest.mark.parametrize(
    ("name", "model", "effort"), [("codex", "gpt-5.6-sol", "high"), ("grok", "grok-4.5", "high"), ("claude", "", "")]
)
def test_defaults_of_built_in_agents(tmp_path: Path, name: str, model: str, effort: str) -> None:
    write_project(tmp_path, {"eval_checks/a.yaml": judge("a")})
    (made,) = loaded(tmp_path, agent=name).suite.judges
    assert isinstance(made, AgentJudge)
    assert (made.model, made.effort) == (model, effort)


def test_an_unknown_agent_is_an_error_before_anything_runs(tmp_path: Path) -> None:
    write_project(tmp_path, {"eval_checks/a.yaml": judge("a")})
    assert "nobody" in refused(tmp_path, agent="nobody")


def test_a_new_agent_needs_a_command(tmp_path: Path) -> None:
    config = '[harness]\nagent = "mine"\n[agents.mine]\nshared_flags = ["-x"]\n'
    write_project(tmp_path, {CONFIG: config, "eval_checks/a.yaml": judge("a")})
    assert "agents.mine.command" in refused(tmp_path)


@pytest.mark.parametrize(
    ("harness", "keys", "expected"),
    [
        _("", "", "PROMPT", id="bare"),
        _("", 'prompt_flag = "-p"\n', "-p PROMPT", id="prompt flag"),
        _("", 'shared_flags = ["-s", "t"]\nprompt_position = "tail"\n', "-s t PROMPT", id="tail"),
        _("", 'shared_flags = ["-s"]\nprompt_position = "after_command"\n', "PROMPT -s", id="after command"),
        _('model = "m"', "", "--model m PROMPT", id="model flag by default"),
        _('model = "m"', 'model_flag = "-M"\n', "-M m PROMPT", id="model flag"),
        _("", 'default_model = "d"\n', "--model d PROMPT", id="default model"),
        _('model = "m"', 'default_model = "d"\n', "--model m PROMPT", id="model over default model"),
        _('reasoning_effort = "low"', EFFORT, "--effort low PROMPT", id="effort"),
        _("", EFFORT, "PROMPT", id="no effort"),
        _("", f'reasoning_effort = "max"\n{EFFORT}', "--effort max PROMPT", id="effort of the agent"),
        _(
            'reasoning_effort = "low"',
            f'reasoning_effort = "max"\n{EFFORT}',
            "--effort low PROMPT",
            id="effort over that of the agent",
        ),
        _(
            'model = "m"\nreasoning_effort = "low"',
            f'shared_flags = ["-s"]\nprompt_flag = "-p"\n{EFFORT}',
            "-s --model m --effort low -p PROMPT",
            id="all, tail",
        ),
        _(
            'model = "m"\nreasoning_effort = "low"',
            f'shared_flags = ["-s"]\nprompt_flag = "-p"\nprompt_position = "after_command"\n{EFFORT}',
            "-p PROMPT -s --model m --effort low",
            id="all, after command",
        ),
    ],
)
def test_the_order_of_the_command_line(tmp_path: Path, harness: str, keys: str, expected: str) -> None:
    found = judged(tmp_path, says(PASS), agent(harness=harness, keys=keys))
    assert argv(found) == expected.split()


def test_the_words_of_a_command_come_first(tmp_path: Path) -> None:
    config = agent(command='["./agent.sh", "exec", "-x"]', keys='shared_flags = ["-s"]\n')
    assert argv(judged(tmp_path, says(PASS), config)) == ["exec", "-x", "-s", "PROMPT"]


def test_the_model_of_a_check_wins(tmp_path: Path) -> None:
    found = judged(
        tmp_path, says(PASS), agent(harness='model = "m"'), "--harness-model", "c", check=judge("a", "model: own\n")
    )
    assert argv(found) == ["--model", "own", "PROMPT"]
    assert found.checks["a"]["details"]["model"] == "own"


def test_a_built_in_agent_is_changed_by_the_keys_that_are_given(tmp_path: Path) -> None:
    found = judged(tmp_path, says(PASS), agent(name="codex", keys='default_model = "d"\n'))
    assert argv(found) == ["--model", "d", "-c", "model_reasoning_effort=high", "PROMPT"]


@pytest.mark.parametrize("key", ["model", "reasoning_effort"])
def test_what_an_agent_cannot_be_told_is_no_verdict(tmp_path: Path, key: str) -> None:
    found = judged(tmp_path, says(PASS), agent(harness=f'{key} = "x"', keys='model_flag = ""\n'))
    assert found.code in (2, 4)
    assert "takes no" in found.out + found.err


def test_the_prompt_holds_description_and_instructions(tmp_path: Path) -> None:
    found = judged(tmp_path, says(PASS))
    prompt = next(found.run.glob("checks/*.prompt.txt")).read_text()
    assert prompt.index("About a.") < prompt.index("Read README.md.")
    assert '"score"' in prompt
    assert argv(found) == ["PROMPT"]


def env(found: dict[str, str]) -> dict[str, str]:
    lines = [line[4:] for line in found["stderr"].splitlines() if line.startswith("ENV ")]
    return dict(line.split("=", 1) for line in lines if "=" in line)


def test_what_every_agent_sees(tmp_path: Path) -> None:
    found = env(judged(tmp_path, says(PASS, ENV)).checks["a"])
    assert found["CI"] == "1"
    assert found["PYTHONUNBUFFERED"] == "1"
    assert found["EVAL_BANANA_PROJECT_ROOT"] == str(tmp_path.resolve())
    assert found["EVAL_BANANA_HARNESS_AGENT"] == "fake"
    assert "PATH" in found


def test_variables_for_the_agent_and_which_of_them_win(tmp_path: Path) -> None:
    config = agent(
        harness='model = "m"\n[harness.env]\nA = "harness"\nB = "$HOME"\nCI = "0"\nM = "harness"\n'
        'EVAL_BANANA_PROJECT_ROOT = "no"\n',
        keys='model_env_vars = ["M", "N"]\n'
        'provider_env = {A = "provider", K = "{env:MINE}", L = "a-{env:MINE}-{env:ABSENT}"}\n',
    )
    found = judged(tmp_path, says(PASS, ENV), config, MINE="value", PARENT="seen")
    seen = env(found.checks["a"])
    assert {name: seen[name] for name in "ABKL"} == {"A": "harness", "B": "$HOME", "K": "value", "L": "a-value-"}
    assert (seen["M"], seen["N"]) == ("m", "m")
    assert (seen["CI"], seen["PARENT"]) == ("0", "seen")
    assert seen["EVAL_BANANA_PROJECT_ROOT"] == str(tmp_path.resolve())
    assert "ABSENT" in found.err


def test_an_agent_starts_at_the_root_and_reads_the_project(tmp_path: Path) -> None:
    write_project(tmp_path, {"README.md": "hello reader"})
    found = judged(tmp_path, says(PASS, "pwd >&2; cat README.md >&2"))
    assert str(tmp_path.resolve()) in found.checks["a"]["stderr"]
    assert "hello reader" in found.checks["a"]["stderr"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        _('{"score": 1, "reason": "x"}', ("passed", "x"), id="one"),
        _('{"score": 0, "reason": "y"}', ("failed", "y"), id="zero"),
        _('{"score": 1}', ("passed", None), id="no reason"),
        _('{"score": 1, "reason": null}', ("passed", None), id="null reason"),
        _('{"score": true}', ("passed", None), id="true"),
        _('{"score": false}', ("failed", None), id="false"),
        _('{"score": 1.0}', ("passed", None), id="1.0"),
        _('{"score": 0.0}', ("failed", None), id="0.0"),
        _('{"score": 1, "reason": "x", "more": [1]}', ("passed", "x"), id="extra keys"),
        _('{"score": 1, "reason": "a } b { c"}', ("passed", "a } b { c"), id="braces in the reason"),
        _('```json\n{"score": 1, "reason": "x"}\n```', ("passed", "x"), id="fence"),
        _('```\n{"score": 0}\n```\n', ("failed", None), id="bare fence"),
        _('I read the files.\n\nMy verdict: {"score": 1, "reason": "x"}', ("passed", "x"), id="preamble"),
        _('I read it.\n\n{"score": 1, "reason": "x"}', ("passed", "x"), id="preamble on lines of its own"),
        _('{"score": 1, "reason": "x"}\nDone.', ("passed", "x"), id="words after"),
        _('{\n  "score": 0,\n  "reason": "x"\n}\n\n', ("failed", "x"), id="many lines"),
        _('{"score": 1}\n\nOn second thought:\n{"score": 0, "reason": "last"}', ("failed", "last"), id="last wins"),
        _('{"score": 0}\n{"score": 1, "reason": "last"}', ("passed", "last"), id="last wins, other way"),
        _('{"event": "start"}\n{"event": "read"}\n{"score": 1}', ("passed", None), id="streaming events before"),
        _('{"score": 0.5}\n{"score": 1}', ("passed", None), id="an invalid one before"),
        _("It passes.", None, id="none"),
        _("", None, id="nothing"),
        _('{"score": 2}', None, id="2"),
        _('{"score": -1}', None, id="-1"),
        _('{"score": 0.5}', None, id="half"),
        _('{"score": "1"}', None, id="text"),
        _('{"score": null}', None, id="null"),
        _('{"score": [1]}', None, id="a list"),
        _('{"reason": "x"}', None, id="no score"),
        _('{"score": 1, "reason": 3}', None, id="a reason that is no text"),
        _('{"score": 1', None, id="cut off"),
        _("[1]", None, id="no object"),
    ],
)
def test_the_verdict_in_what_an_agent_prints(
    tmp_path: Path, text: str, expected: tuple[str, str | None] | None
) -> None:
    found = judged(tmp_path, says(text))
    check = found.checks["a"]
    if expected is None:
        assert (check["status"], check["score"], found.code) == ("error", 0, 4)
        assert check["error_detail"]
    else:
        assert (check["status"], check["reason"]) == expected
        assert found.code == (0 if expected[0] == "passed" else 1)


def test_an_exit_status_is_an_error_whatever_the_verdict(tmp_path: Path) -> None:
    found = judged(tmp_path, says(PASS, after="exit 3"))
    assert (found.checks["a"]["status"], found.checks["a"]["exit_code"], found.code) == ("error", 3, 4)


def test_standard_error_is_never_a_verdict(tmp_path: Path) -> None:
    found = judged(tmp_path, says("no verdict", f"echo '{PASS}' >&2"))
    assert found.checks["a"]["status"] == "error"


def test_a_timeout_is_an_error_whatever_was_printed(tmp_path: Path) -> None:
    found = judged(tmp_path, says(PASS, after="exec sleep 60"), "", "--harness-timeout-seconds", "1")
    check = found.checks["a"]
    assert (check["status"], found.code) == ("error", 4)
    assert check["details"]["timeout_seconds"] == 1
    assert check["duration_ms"] < 30_000


def test_an_agent_that_cannot_be_started_is_an_error_beside_the_others(tmp_path: Path) -> None:
    files = {
        CONFIG: agent(command='["no-such-program"]'),
        "eval_checks/a.yaml": judge("a"),
        "eval_checks/b.yaml": script("b"),
    }
    found = ran(tmp_path, files)
    assert found.code in (2, 4)
    assert "no-such-program" in found.out + found.err


@pytest.mark.parametrize("verb", ["run", "validate"])
def test_a_judge_without_an_agent_stops_run_and_validate(tmp_path: Path, verb: str) -> None:
    """The page: they abort before running anything."""
    from tests.conformance.banana.projects import run_banana

    body = "open('ran', 'w').close()"
    write_project(tmp_path, {"eval_checks/a.yaml": judge("a"), "eval_checks/b.yaml": script("b", body)})
    done = run_banana(verb, cwd=tmp_path)
    assert done.returncode == 2
    assert "eval_checks/a.yaml" in done.stderr
    assert not (tmp_path / "ran").exists()
