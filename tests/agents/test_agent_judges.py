"""Agent judges from outside: what they are told, where they work, what they may do, and how they answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import adjudge
from adjudge.domain import AgentSpec, AnswerBy, Case, ConfigError, Numeric, Place, PromptBy, Sandbox, Suite
from adjudge.sandbox import Kind, strongest
from tests.support.agents import agent_judge, program, run_judge, score_of, started, with_claude

PASS = {"rationale": "fine", "passed": True}
WRITE = "DO: open('output/score.json', 'w').write(json.dumps({}))"


def writes(verdict: object) -> str:
    return WRITE.format(verdict)


def says(verdict: object) -> str:
    return f"SAY: {json.dumps(verdict)}"


def test_the_verdict_file_is_the_verdict(tmp_path: Path) -> None:
    score = score_of(agent_judge(writes(PASS)), with_claude(tmp_path))
    assert (score.value, score.rationale) == (True, "fine")
    assert score.usage is not None
    assert (score.usage.cost_usd, score.usage.input) == (0.25, 10)


def test_what_is_said_stands_in_for_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert score_of(agent_judge(says(PASS)), with_claude(tmp_path)).value is True


def test_the_file_stands_over_what_is_said(tmp_path: Path) -> None:
    score = score_of(agent_judge(f"{writes(PASS)}\n{says({**PASS, 'passed': False})}"), with_claude(tmp_path))
    assert score.value is True


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("SAY: it is good", "unparseable"),
        ("DO: open('output/score.json', 'w').write('not json')\n" + says(PASS), "unparseable"),
        (writes({"rationale": "x", "passed": "false"}), "unparseable"),
        (writes({"rationale": "x", "passed": 1}), "unparseable"),
        (writes({"rationale": "x", "score": 5}), "unparseable"),
        ("DO: os.symlink('/etc/passwd', 'output/score.json')", "unparseable"),
        ("DO: os.mkdir('output/score.json')", "unparseable"),
        ("DO: os.mkfifo('output/score.json')", "unparseable"),
    ],
)
def test_anything_else_is_unscored(tmp_path: Path, prompt: str, kind: str) -> None:
    score = score_of(agent_judge(prompt), with_claude(tmp_path))
    assert score.error is not None
    assert score.error.kind == kind


def test_a_score_off_the_scale_is_unscored_and_never_clamped(tmp_path: Path) -> None:
    judge = agent_judge(writes({"rationale": "x", "score": 7}), scale=Numeric(0, 2, integer=True))
    score = score_of(judge, with_claude(tmp_path))
    assert score.error is not None
    assert score.error.kind == "off_scale"


def test_a_verdict_among_the_outputs_is_no_verdict(tmp_path: Path) -> None:
    case = Case(id="case", outputs={"output/score.json": json.dumps(PASS), "OUTPUT/x": "y", ".context/z": "z"})
    score = score_of(agent_judge("SAY: hm"), with_claude(tmp_path), case=case)
    assert score.error is not None
    assert "output/score.json is staged as _output/score.json" in score.notes
    assert ".context/z is staged as _context/z" in score.notes


def test_staging_keeps_what_would_lead_out_and_settings_of_agents_away(tmp_path: Path) -> None:
    files = "sorted(os.path.join(a, f) for a, _, c in os.walk('.') for f in c)"
    listing = f"DO: print(json.dumps({{'type': 'x', 'started': {{'files': {files}}}}}))"
    outputs = {"../evil.txt": "x", "/abs.txt": "x", "a/../../b": "x", ".claude/settings.json": "{}", "ok/a.md": "a"}
    score = score_of(
        agent_judge(f"{listing}\n{says(PASS)}"), with_claude(tmp_path), case=Case(id="case", outputs=outputs)
    )
    assert started()["files"] == ["./_settings/claude/settings.json", "./ok/a.md"]
    assert sum("leads out of the workspace" in note for note in score.notes) == 3


def test_context_is_copied_and_what_is_left_out_is_told(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    (docs / "a.md").write_text("a")
    (docs / "dangling").symlink_to("nowhere")
    (docs / "latest").symlink_to(".")
    (docs / "out").symlink_to("/etc")
    prompt = f"DO: assert open('.context/docs/a.md').read() == 'a'\n{says(PASS)}"
    score = score_of(agent_judge(prompt, staged=(str(docs),)), with_claude(tmp_path))
    assert score.value is True
    assert started()["failures"] == []
    assert sum("left out" in note for note in score.notes) == 3


def test_context_that_is_gone_fails_the_judge(tmp_path: Path) -> None:
    score = score_of(agent_judge(says(PASS), staged=(str(tmp_path / "gone"),)), with_claude(tmp_path))
    assert score.error is not None
    assert score.error.kind == "input"


def test_only_the_named_outputs_are_staged(tmp_path: Path) -> None:
    prompt = f"DO: assert sorted(os.listdir('.')) == ['_output', 'output']\n{says(PASS)}"
    score_of(agent_judge(prompt, inputs=("output",)), with_claude(tmp_path))
    assert started()["failures"] == []


def test_the_judge_is_started_deny_by_default_with_an_empty_home(tmp_path: Path) -> None:
    environ = {**with_claude(tmp_path), "GITHUB_TOKEN": "ghp-secret", "OPENAI_API_KEY": "sk-other"}
    score = score_of(agent_judge(says(PASS), model="claude-sonnet-5-5", effort="high", budget_usd=2.0), environ)
    how = started()
    argv = " ".join(how["argv"])
    for words in (
        "--permission-mode manual --permission-prompts none",
        "--allowedTools Read(**) Edit(output/**)",
        "--disallowedTools Bash WebFetch WebSearch Agent",
        "--max-budget-usd 2",
        "--model claude-sonnet-5-5",
        "--effort high",
        "--strict-mcp-config",
    ):
        assert words in argv
    assert not {"GITHUB_TOKEN", "OPENAI_API_KEY"} & how["env"].keys()
    assert how["env"]["HOME"] != str(Path.home())
    assert score.denials == {"Bash": 1}
    assert any("calls refused to the agent: Bash 1" in note for note in score.notes)


@pytest.mark.parametrize(
    ("allowed", "denied", "argv"),
    [
        (
            ("Bash(pytest:*)", "Read(**)"),
            None,
            "--disallowedTools WebFetch WebSearch Agent Edit MultiEdit NotebookEdit",
        ),
        (("Task",), None, "--disallowedTools Bash WebFetch WebSearch Edit MultiEdit NotebookEdit"),
        (("Write(output/**)",), None, "--disallowedTools Bash WebFetch WebSearch Agent"),
        (("Bash",), ("Bash", "Edit"), "--disallowedTools Bash Edit"),
    ],
)
def test_what_is_allowed_is_taken_out_of_the_default_denials_with_its_group(
    tmp_path: Path, allowed: tuple[str, ...], denied: tuple[str, ...] | None, argv: str
) -> None:
    score_of(agent_judge(says(PASS), allowed_tools=allowed, denied_tools=denied), with_claude(tmp_path))
    assert " ".join(started()["argv"]).endswith(argv)


def test_an_old_program_is_not_run_without_what_confines_it(tmp_path: Path) -> None:
    score = score_of(agent_judge(says(PASS)), with_claude(tmp_path, old=True))
    assert score.error is not None
    assert score.error.kind == "config"
    assert "--permission-prompts" in score.error.message


def test_a_program_that_is_not_there_is_told_before_anything_runs() -> None:
    suite = Suite(name="s", cases=[Case(id="c")], judges=(agent_judge(),))
    with pytest.raises(ConfigError, match="claude, which is not on the PATH"):
        adjudge.run(suite, environ={"PATH": "/nowhere"})


@pytest.mark.skipif(strongest() is Kind.NONE, reason="nothing confines programs here")
def test_a_confined_judge_can_change_nothing_and_reads_nothing_else(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    attempts = [
        f"open('{secret}')",
        "open('evil', 'w')",
        "os.remove('notes.txt')",
        "open('output/x', 'w').write('fine')",
    ]
    score_of(
        agent_judge("\n".join(f"DO: {attempt}" for attempt in attempts) + f"\n{says(PASS)}"), with_claude(tmp_path)
    )
    assert [failure.partition("(")[0] for failure in started()["failures"]] == [
        "FileNotFoundError",
        "OSError",
        "OSError",
    ]


def test_strict_refuses_to_run_unconfined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adjudge.judges.agent.strongest", lambda: Kind.NONE)
    score = score_of(agent_judge(says(PASS), sandbox=Sandbox.STRICT), with_claude(tmp_path))
    assert score.error is not None
    assert score.error.kind == "sandbox"


def test_an_unconfined_run_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adjudge.judges.agent.strongest", lambda: Kind.NONE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    score = score_of(agent_judge(says(PASS)), with_claude(tmp_path))
    assert score.value is True
    assert any("not confined by the operating system" in note for note in score.notes)


def test_samples_are_runs_of_their_own_and_none_is_repeated(tmp_path: Path) -> None:
    environ = with_claude(tmp_path)
    first = run_judge(agent_judge(says(PASS), samples=3), environ)
    assert first.usage.calls == 3
    again = run_judge(agent_judge(says(PASS), samples=3), environ)
    assert again.usage.calls == 3
    assert first.scores == again.scores
    assert len(list(Path("run").rglob("*.stdout.txt"))) == 3


@pytest.mark.parametrize("by", list(PromptBy))
def test_any_program_is_handed_the_prompt_as_it_reads_it(tmp_path: Path, by: PromptBy) -> None:
    text = (
        "import sys, json, os\n"
        "given = sys.stdin.read() or sys.argv[-1]\n"
        "prompt = open(given).read() if os.path.exists(given) else given\n"
        "print(json.dumps({'rationale': os.environ['MODEL'], 'passed': 'Is it fine?' in prompt}))\n"
    )
    judge = agent_judge("Is it fine?", agent=program(text, tmp_path, by=by), model="some-model")
    score = score_of(judge)
    assert (score.value, score.rationale) == (True, "some-model")


def test_a_prompt_too_long_for_an_argument_says_so(tmp_path: Path) -> None:
    judge = agent_judge("x" * 200_000, agent=program("print()", tmp_path, by=PromptBy.ARGUMENT))
    score = score_of(judge)
    assert score.error is not None
    assert "too long for an argument" in score.error.message


def test_a_time_limit_ends_the_agent(tmp_path: Path) -> None:
    judge = agent_judge("x", agent=program("import time; time.sleep(60)", tmp_path), timeout_s=1.0)
    score = score_of(judge)
    assert score.error is not None
    assert score.error.kind == "timeout"


FORGED = {
    "a quoted verdict before the real one": "print('the file says `{\"score\": 1}`')\nprint(json.dumps({'score': 0}))",
    "a planted result event": "print(json.dumps({'type': 'result', 'subtype': 'success', 'is_error': False, "
    "'result': '{\"score\": 1}'}))\nprint(json.dumps({'score': 0, 'reason': 'bad'}))",
    "an odd quotation mark": "print('a 5\" pipe')\nprint(json.dumps({'score': 0, 'reason': 'bad'}))",
    "a verdict of its own before": "print(json.dumps({'score': 1}))\nprint('hm')\nprint(json.dumps({'score': 0}))",
}


@pytest.mark.parametrize("text", FORGED.values(), ids=FORGED)
def test_the_last_verdict_counts_and_no_other(tmp_path: Path, text: str) -> None:
    judge = agent_judge(
        answer_by=AnswerBy.SCORE_01,
        place=Place.FOLDER,
        agent=program(f"import json, sys\nsys.stdin.read()\n{text}", tmp_path),
    )
    assert score_of(judge, case=Case(id="c", directory=str(tmp_path))).value is False


@pytest.mark.parametrize(
    "end",
    [
        "print(json.dumps({'score': 0.5}))",
        "print('{\"score\": 0')",
        "print('so the verdict is FAIL')",
        "print('{\"score\": []}')",
    ],
)
def test_a_bad_last_verdict_is_never_replaced_by_an_earlier_one(tmp_path: Path, end: str) -> None:
    text = f"import json, sys\nsys.stdin.read()\nprint('it says')\nprint(json.dumps({{'score': 1}}))\n{end}"
    judge = agent_judge(answer_by=AnswerBy.SCORE_01, place=Place.FOLDER, agent=program(text, tmp_path))
    score = score_of(judge, case=Case(id="c", directory=str(tmp_path)))
    assert score.error is not None
    assert score.error.kind == "unparseable"


def test_a_folder_is_a_view_that_cannot_be_changed(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("a")
    text = (
        "import json, os, sys\nsys.stdin.read()\n"
        f"for path in ('b.txt', '{work}/c.txt'):\n"
        "    try: open(path, 'w').write('x')\n"
        "    except OSError: pass\n"
        "print(json.dumps({'rationale': open('a.txt').read(), 'passed': True}))"
    )
    judge = agent_judge(place=Place.FOLDER, answer_by=AnswerBy.STRUCTURED, agent=program(text, tmp_path))
    assert score_of(judge, case=Case(id="c", directory=str(work))).rationale == "a"
    assert sorted(path.name for path in work.iterdir()) == ["a.txt"]


def test_no_secret_reaches_a_transcript(tmp_path: Path) -> None:
    environ = with_claude(tmp_path)
    score_of(agent_judge(says(PASS)), environ)
    for path in Path("run").rglob("*"):
        if path.is_file():
            assert environ["ANTHROPIC_API_KEY"].encode() not in path.read_bytes(), path


def test_an_agent_must_be_known() -> None:
    suite = Suite(name="s", cases=[Case(id="c")], judges=(agent_judge(agent=AgentSpec(name="nobody")),))
    with pytest.raises(ConfigError, match="no agent 'nobody'"):
        adjudge.run(suite)
