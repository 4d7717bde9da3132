"""Pipelines of an eval.yaml: several runs of an agent in the workspace of one case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import Decision, ErrorKind, RunResult
from tests.support.configs import Files, check, judged, write_suite

INPUT: Files = {"input.yaml": "request: say it\n"}
DOES = {"type": "cli", "command": ["sh", "-c", 'sh -c "$(cat)"']}
"""An agent that does what its prompt says."""


def ran(folder: Path, *steps: dict[str, Any], **sections: Any) -> RunResult:
    """Run steps, whose prompts are shell scripts."""
    whole: dict[str, Any] = {"cases": {"case-1": INPUT}, "runner": DOES, "execution": {"steps": list(steps)}}
    return judged(write_suite(folder, **{**whole, **sections}))


def step(name: str, script: str, **keys: Any) -> dict[str, Any]:
    return {"id": name, "prompt": script, **keys}


def entry(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run/cases/case-1/run_result.json").read_text())
    return found


def output(folder: Path, name: str) -> str:
    return (folder / "run/cases/case-1/output" / name).read_text()


def test_steps_share_a_workspace(tmp_path: Path) -> None:
    ran(tmp_path, step("a", "echo one > notes.txt"), step("b", "cat notes.txt > output/seen; echo two >> notes.txt"))
    assert output(tmp_path, "seen") == "one\n"
    assert (tmp_path / "run/cases/case-1/_modified/notes.txt").read_text() == "one\ntwo\n"


def test_a_step_may_use_what_an_earlier_one_said_and_made(tmp_path: Path) -> None:
    shown = "{{ steps.a.output }}|{{ steps.a.exit_code }}|{{ steps.a.files | join(',') }}|{{ input.request }}"
    later = f"cat > output/seen <<'END'\n{shown}\nEND"
    ran(tmp_path, step("a", "echo the plan; echo x > output/plan.md; echo y > other"), step("b", later))
    assert output(tmp_path, "seen").split("|") == ["the plan\n", "0", "output/plan.md", "say it\n"]


def test_what_a_step_said_is_not_filled_again(tmp_path: Path) -> None:
    first = "echo '{''{ input.request }''}'"
    ran(tmp_path, step("a", first), step("b", "cat > output/seen <<'END'\n{{ steps.a.output }}\nEND"))
    assert output(tmp_path, "seen").strip() == "{{ input.request }}"


def test_what_a_step_said_is_capped(tmp_path: Path) -> None:
    ran(
        tmp_path, step("a", "head -c 9000 /dev/zero | tr '\\0' x"), step("b", "echo {{ steps.a.output }} > output/seen")
    )
    assert 3900 < len(output(tmp_path, "seen")) <= 4100


def test_a_step_that_fails_ends_the_pipeline(tmp_path: Path) -> None:
    found = ran(tmp_path, step("a", "true"), step("b", "exit 4"), step("c", "echo x > output/c"))
    told = entry(tmp_path)
    assert told["aborted_at_step"] == "b"
    assert list(told["steps"]) == ["a", "b"]
    assert [told["steps"][name]["exit_code"] for name in "ab"] == [0, 4]
    assert (told["exit_code"], told["state"]) == (4, "failed")
    assert not (tmp_path / "run/cases/case-1/output/c").exists()
    assert found.gate.decision is Decision.FAIL


def test_a_step_that_may_fail_does_not_end_the_pipeline_and_is_not_hidden(tmp_path: Path) -> None:
    found = ran(tmp_path, step("a", "exit 4", on_failure="continue"), step("b", "echo x > output/b"))
    told = entry(tmp_path)
    assert "aborted_at_step" not in told
    assert list(told["steps"]) == ["a", "b"]
    assert told["exit_code"] == 4
    assert output(tmp_path, "b") == "x\n"
    assert found.gate.decision is Decision.FAIL


def test_a_step_out_of_time_counts_before_all_others(tmp_path: Path) -> None:
    late = step("a", "sleep 60", timeout=1, on_failure="continue")
    ran(tmp_path, late, step("b", "exit 7", on_failure="continue"), step("c", "true"))
    told = entry(tmp_path)
    assert told["steps"]["a"]["exit_code"] == -1
    assert (told["exit_code"], told["state"]) == (-1, "timeout")


def test_each_step_has_its_own_streams_and_the_case_has_all_events(tmp_path: Path) -> None:
    says = 'echo \'{"type": "assistant", "message": {"id": "%s", "content": [{"type": "text", "text": "%s"}]}}\''
    ran(tmp_path, step("a", says % ("1", "first")), step("b", says % ("2", "second") + "; echo oops >&2"))
    home = tmp_path / "run/cases/case-1"
    assert "first" in (home / "steps/a/stdout.log").read_text()
    assert "second" not in (home / "steps/a/stdout.log").read_text()
    assert (home / "steps/b/stderr.log").read_text() == "oops\n"
    assert [event["text"] for event in json.loads((home / "events.json").read_text())] == ["first", "second"]


def test_a_judge_of_a_step_sees_that_step(tmp_path: Path) -> None:
    code = "return True, repr((outputs['stdout'].strip(), outputs['exit_code'], sorted(outputs['steps'])))"
    judges = [check("first", code, step="a"), check("second", code, step="b"), check("whole", code)]
    steps = (step("a", "echo one"), step("b", "echo two; exit 2"))
    found = ran(tmp_path, *steps, judges=judges)
    said = {score.judge: score.rationale for score in found.scores}
    assert said["first"] == repr(("one", 0, ["a", "b"]))
    assert said["second"] == repr(("two", 2, ["a", "b"]))
    assert "2" in said["whole"]


def test_a_judge_of_a_step_that_did_not_run_has_no_score(tmp_path: Path) -> None:
    judges = [check("first", step="a"), check("second", step="b")]
    found = ran(tmp_path, step("a", "exit 1"), step("b", "true"), judges=judges)
    scores = {score.judge: score for score in found.scores}
    assert scores["first"].value is True
    assert scores["second"].value is None
    assert scores["second"].error is not None
    assert "did not run" in scores["second"].error.message


def test_each_step_may_have_its_own_agent_variables_and_skill(tmp_path: Path) -> None:
    other = {"type": "cli", "command": ["sh", "-c", 'echo "$1 $2 $WHO" > output/other', "x", "{agent}", "{args}"]}
    second = {"id": "b", "skill": "review", "arguments": "of {request}", "runner": other, "env": {"WHO": "me"}}
    shows = step("a", 'echo "$WHO" > output/first')
    ran(tmp_path, shows, second, execution={"env": {"WHO": "all"}, "steps": [shows, second]})
    assert output(tmp_path, "first") == "all\n"
    assert output(tmp_path, "other") == "review of say it me\n"


def test_costs_of_steps_are_added_up_once(tmp_path: Path) -> None:
    costs = 'echo \'{"cost_usd": %s, "num_turns": %s}\' > output/metrics.json'
    ran(tmp_path, step("a", costs % (0.5, 2)), step("b", "true"), step("c", costs % (0.25, 1)))
    told = entry(tmp_path)
    assert [told["steps"][name]["cost_usd"] for name in "abc"] == [0.5, None, 0.25]
    assert (told["cost_usd"], told["num_turns"]) == (0.75, 3)


def test_a_step_whose_program_is_not_there_breaks_the_case(tmp_path: Path) -> None:
    absent = step("b", "x", runner={"type": "cli", "command": ["./no-such-program"]})
    found = ran(tmp_path, step("a", "true"), absent, step("c", "true"))
    assert entry(tmp_path)["state"] == "error"
    assert entry(tmp_path)["aborted_at_step"] == "b"
    assert found.gate.decision is Decision.BROKEN
    assert found.scores[0].value is None
    assert found.scores[0].error is not None
    assert found.scores[0].error.kind is ErrorKind.INPUT


@pytest.mark.parametrize("text", ["{{ steps.a.absent }}", "{{ steps.a.output.x.y }}"])
def test_a_step_whose_template_cannot_be_filled_breaks_the_case_and_says_why(tmp_path: Path, text: str) -> None:
    found = ran(tmp_path, step("a", "true"), step("b", text))
    assert entry(tmp_path)["state"] == "error"
    assert "template" in entry(tmp_path)["error"]
    assert found.gate.decision is Decision.BROKEN
