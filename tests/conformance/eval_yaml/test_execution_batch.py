"""Many cases of an eval.yaml: in one run of the agent, at once, and again after a stop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

import adjudge
from adjudge.domain import Decision, RunResult, RunState
from tests.support.configs import Files, check, errors, judged, warnings, write_suite

RUNS = {"type": "cli", "command": "true"}


def cases(*names: str) -> dict[str, Files]:
    return {name: {"input.yaml": f"request: {name}\n"} for name in names}


def ran(
    folder: Path, script: str, given: Mapping[str, Files], options: Mapping[str, Any] = {}, **keys: Any
) -> RunResult:
    """Run a script as the agent on cases; `keys` are sections, but for `execution`, which is added to."""
    execution = {"prompt": "do it", **keys.pop("execution", {})}
    runner = {"type": "cli", "command": ["sh", "-c", script, "agent", "{request}"], **keys.pop("runner", {})}
    return judged(write_suite(folder, cases=given, runner=runner, execution=execution, **keys), **options)


def batch(folder: Path, script: str, given: Mapping[str, Files], pattern: str = "", **keys: Any) -> RunResult:
    entry = {"path": "output", **({"batch_pattern": pattern} if pattern else {})}
    return ran(folder, script, given, execution={"mode": "batch"}, outputs=[entry], **keys)


def owned(folder: Path, case: str) -> list[str]:
    home = folder / "run/cases" / case / "output"
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file())


def count(folder: Path) -> list[str]:
    """The cases on which the agent was run, in order of time."""
    path = folder / "count"
    return path.read_text().split() if path.exists() else []


def test_a_batch_is_one_run_that_is_given_all_inputs(tmp_path: Path) -> None:
    script = f"echo x >> {tmp_path}/count; cp batch.yaml output/001.yaml; touch output/002.md"
    found = batch(tmp_path, script, cases("a", "b"), "{n:03d}")
    assert count(tmp_path) == ["x"]
    given = yaml.safe_load((tmp_path / "run/cases/a/output/001.yaml").read_text())
    assert given == [{"request": "a"}, {"request": "b"}]
    assert (owned(tmp_path, "a"), owned(tmp_path, "b")) == (["001.yaml"], ["002.md"])
    order = yaml.safe_load((tmp_path / "run/case_order.yaml").read_text())
    assert order == [{"case_id": "a", "entry_count": 1}, {"case_id": "b", "entry_count": 1}]
    assert [score.value for score in found.scores] == [True, True]


def test_a_number_does_not_take_what_begins_with_it(tmp_path: Path) -> None:
    names = [f"c{number:02d}" for number in range(1, 11)]
    script = "for n in 1 2 10; do echo $n > output/RFE-$n.md; echo $n > output/RFE-$n-notes.md; done"
    batch(tmp_path, script, cases(*names), "RFE-{n}")
    assert owned(tmp_path, "c01") == ["RFE-1-notes.md", "RFE-1.md"]
    assert owned(tmp_path, "c02") == ["RFE-2-notes.md", "RFE-2.md"]
    assert owned(tmp_path, "c10") == ["RFE-10-notes.md", "RFE-10.md"]
    assert owned(tmp_path, "c03") == []


def test_a_star_gives_everything_to_every_case(tmp_path: Path) -> None:
    batch(tmp_path, "echo 1 > output/report.md", cases("a", "b"), "*")
    assert owned(tmp_path, "a") == owned(tmp_path, "b") == ["report.md"]


def test_without_a_pattern_names_with_numbers_belong_together_in_order(tmp_path: Path) -> None:
    script = "for n in 9 10; do echo $n > output/JIRA-$n.md; echo $n > output/JIRA-$n-x.md; done"
    batch(tmp_path, script, cases("a", "b"))
    assert owned(tmp_path, "a") == ["JIRA-9-x.md", "JIRA-9.md"]
    assert owned(tmp_path, "b") == ["JIRA-10-x.md", "JIRA-10.md"]


def test_what_a_program_tells_of_itself_is_given_to_no_case(tmp_path: Path) -> None:
    metrics = '{"cost_usd": 1, "num_turns": 4, "token_usage": {"input": 5, "output": 2}}'
    script = f"echo '{metrics}' > output/metrics.json; echo 1 > output/x.md; echo 2 > output/y.md"
    batch(tmp_path, script, cases("a", "b"))
    assert (owned(tmp_path, "a"), owned(tmp_path, "b")) == (["x.md"], ["y.md"])


def test_a_case_may_have_several_entries(tmp_path: Path) -> None:
    given: dict[str, Files] = {
        "a": {"input.yaml": "- request: one\n- request: two\n"},
        "b": {"input.yaml": "request: three\n"},
    }
    script = "for n in 1 2 3; do echo $n > output/$n.md; done; cp batch.yaml output/3-batch.yaml"
    batch(tmp_path, script, given, "{n}")
    assert owned(tmp_path, "a") == ["1.md", "2.md"]
    assert owned(tmp_path, "b") == ["3-batch.yaml", "3.md"]
    whole = yaml.safe_load((tmp_path / "run/cases/b/output/3-batch.yaml").read_text())
    assert [one["request"] for one in whole] == ["one", "two", "three"]
    order = yaml.safe_load((tmp_path / "run/case_order.yaml").read_text())
    assert [one["entry_count"] for one in order] == [2, 1]


def test_the_first_entry_fills_the_template_of_a_batch(tmp_path: Path) -> None:
    given: dict[str, Files] = {
        "a": {"input.yaml": "- request: one\n- request: two\n"},
        "b": {"input.yaml": "request: x\n"},
    }
    ran(tmp_path, "cat > output/1.md", given, execution={"mode": "batch", "prompt": "<{request}>"}, outputs=[
        {"path": "output", "batch_pattern": "{n}"}
    ])  # fmt: skip
    assert (tmp_path / "run/cases/a/output/1.md").read_text() == "<one>"


def test_cost_and_tokens_of_a_batch_are_shared_out_and_add_up(tmp_path: Path) -> None:
    metrics = '{"cost_usd": 0.9, "num_turns": 4, "token_usage": {"input": 10, "output": 2}}'
    batch(tmp_path, f"echo '{metrics}' > output/metrics.json; exit 3", cases("a", "b", "c"), "{n}")
    whole = json.loads((tmp_path / "run/run_result.json").read_text())
    assert [whole["per_case"][case]["cost_usd"] for case in "abc"] == pytest.approx([0.3] * 3)
    assert (whole["cost_usd"], whole["num_turns"], whole["exit_code"]) == (0.9, 4, 3)
    assert (whole["token_usage"]["input"], whole["token_usage"]["output"]) == (10, 2)


def test_a_case_without_outputs_in_a_batch_has_its_own_input(tmp_path: Path) -> None:
    code = "return outputs['input'] == {'request': outputs['case_id']}, str(outputs['input'])"
    found = batch(tmp_path, "true", cases("a", "b"), "{n}", judges=[check(code=code)])
    assert [score.value for score in found.scores] == [True, True]
    assert yaml.safe_load((tmp_path / "run/cases/b/input.yaml").read_text()) == {"request": "b"}


def test_what_is_nobodys_is_left_out(tmp_path: Path) -> None:
    batch(
        tmp_path,
        "echo 1 > output/1.md; echo 2 > output/2.md; echo 9 > output/9.md; echo x > output/x",
        cases("a", "b"),
        "{n}",
    )
    assert (owned(tmp_path, "a"), owned(tmp_path, "b")) == (["1.md"], ["2.md"])


def test_judges_of_a_batch_see_what_the_first_hook_handed_on(tmp_path: Path) -> None:
    hooks = {"before_all": [{"command": "echo 'data: {server: up}' > .hook-outputs.yaml"}]}
    judge = check(code="return outputs['hook_outputs'] == {'server': 'up'}, str(outputs['hook_outputs'])")
    found = batch(tmp_path, "true", cases("a", "b"), "{n}", hooks=hooks, judges=[judge])
    assert [score.value for score in found.scores] == [True, True]


def test_a_batch_runs_again_as_a_whole_and_only_when_it_has_to(tmp_path: Path) -> None:
    script = f"echo x >> {tmp_path}/count; cp batch.yaml output/1.md; cp batch.yaml output/2.md"
    given = cases("a", "b")
    for expected in (1, 1):
        batch(tmp_path, script, given, "{n}")
        assert len(count(tmp_path)) == expected
    batch(tmp_path, script, {**given, "b": {"input.yaml": "request: other\n"}}, "{n}")
    assert len(count(tmp_path)) == 2
    for case, name in (("a", "1.md"), ("b", "2.md")):
        seen = yaml.safe_load((tmp_path / "run/cases" / case / "output" / name).read_text())
        assert seen == [{"request": "a"}, {"request": "other"}]


def test_a_run_is_read_again_as_it_was(tmp_path: Path) -> None:
    found = ran(tmp_path, "[ $1 = a ]", cases("a", "b"))
    before = (tmp_path / "run/result.json").read_bytes()
    again = adjudge.read(tmp_path / "run")
    assert again.execution == found.execution
    assert again.gate == found.gate
    command = [str(Path(sys.executable).with_name("adjudge")), "report", "run"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    assert (tmp_path / "run/result.json").read_bytes() == before


def test_companions_are_not_for_batches(tmp_path: Path) -> None:
    dataset = {"path": "cases", "workspace": {"files": ["a.txt"]}}
    execution = {"prompt": "x", "mode": "batch"}
    config = write_suite(tmp_path, dataset=dataset, execution=execution, runner={"type": "cli", "command": "true"})
    assert [line for line in warnings(config) if "dataset.workspace.files" in line]


def test_cases_run_at_once_and_no_more_than_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "now").mkdir()
    script = f"cd {tmp_path}; touch now/$1; sleep 0.4; ls now | wc -l >> seen; sleep 0.1; rm now/$1"
    ran(tmp_path, script, cases("a", "b", "c", "d", "e"), execution={"parallelism": 2})
    seen = [int(line) for line in (tmp_path / "seen").read_text().split()]
    assert len(seen) == 5
    assert max(seen) == 2


def test_cases_run_one_after_the_other_unless_more_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "now").mkdir()
    ran(tmp_path, f"cd {tmp_path}; touch now/$1; sleep 0.1; ls now | wc -l >> seen; rm now/$1", cases("a", "b", "c"))
    assert (tmp_path / "seen").read_text().split() == ["1", "1", "1"]


def test_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    given = cases("a", "b")
    for _ in range(2):
        found = ran(tmp_path, f"echo $1 >> {tmp_path}/count; exit 1", given)
    assert count(tmp_path) == ["a", "b"]
    assert found.execution is not None
    assert [run.exit_code for run in found.execution.cases] == [1, 1]
    assert json.loads((tmp_path / "run/run_result.json").read_text())["num_cases"] == 2
    ran(tmp_path, f"echo $1 >> {tmp_path}/count; exit 1", given, {"fresh": True})
    assert count(tmp_path) == ["a", "b", "a", "b"]


def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    script = f"echo $1 >> {tmp_path}/count; [ $1 != b ] || [ -e {tmp_path}/go ] || sleep 60; echo $1 > output/x"
    given = cases("a", "b", "c")
    command = ["sh", "-c", script, "agent", "{request}"]
    runner = {"type": "cli", "command": command}
    config = write_suite(tmp_path, cases=given, runner=runner, execution={"prompt": "do it"})
    argv = [str(Path(sys.executable).with_name("adjudge")), "run", str(config), "--output", "run", "-q"]
    process = subprocess.Popen(argv, start_new_session=True)
    deadline = time.monotonic() + 30
    while count(tmp_path) != ["a", "b"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    (tmp_path / "go").touch()
    found = judged(config)
    assert count(tmp_path) == ["a", "b", "b", "c"]
    assert [score.value for score in found.scores] == [True, True, True]
    assert [owned(tmp_path, case) for case in "abc"] == [["x"]] * 3


def test_a_run_that_is_interrupted_ends_its_agents_and_runs_its_last_hooks(tmp_path: Path) -> None:
    script = f"echo $1 >> {tmp_path}/count; [ -e {tmp_path}/go ] || {{ echo $$ > {tmp_path}/pid; sleep 604; }}"
    runner = {"type": "cli", "command": ["sh", "-c", script, "agent", "{request}"]}
    hooks = {phase: [{"command": f"echo {phase} >> {tmp_path}/story"}] for phase in ("after_each", "after_all")}
    config = write_suite(tmp_path, cases=cases("a"), runner=runner, hooks=hooks, execution={"prompt": "do it"})
    argv = [str(Path(sys.executable).with_name("adjudge")), "run", str(config), "--output", "run", "-q"]
    process = subprocess.Popen(argv, start_new_session=True, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not (tmp_path / "pid").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.1)
    for _ in range(100):
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.3)
    assert process.wait(30) == 130
    stat = Path("/proc", (tmp_path / "pid").read_text().strip(), "stat")
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"
    assert (tmp_path / "story").read_text().split() == ["after_each", "after_all"]
    (tmp_path / "go").touch()
    assert judged(config).gate.decision is Decision.PASS
    assert count(tmp_path) == ["a", "a"]


def test_a_case_that_could_not_run_is_run_again(tmp_path: Path) -> None:
    hooks = {"before_each": [{"command": f"[ $CASE_ID = a ] || [ -e {tmp_path}/go ]"}]}
    script = f"echo $1 >> {tmp_path}/count"
    assert ran(tmp_path, script, cases("a", "b"), hooks=hooks).gate.decision is Decision.BROKEN
    (tmp_path / "go").touch()
    found = ran(tmp_path, script, cases("a", "b"), hooks=hooks)
    assert found.gate.decision is Decision.PASS
    assert count(tmp_path) == ["a", "b"]


def test_a_case_that_ended_badly_is_run_again_when_that_is_asked_for(tmp_path: Path) -> None:
    script = f"echo $1 >> {tmp_path}/count; [ $1 = a ]"
    ran(tmp_path, script, cases("a", "b"))
    ran(tmp_path, script, cases("a", "b"), {"retry_unscored": True})
    assert count(tmp_path) == ["a", "b", "b"]


@pytest.mark.parametrize("what", ["input", "answers", "companion", "folder", "fixture", "skill"])
def test_what_the_agent_is_given_decides_what_runs_again(tmp_path: Path, what: str) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills/SKILL.md").write_text("old")
    (tmp_path / "fixture.txt").write_text("old")
    files: list[Any] = ["note.txt", "data", {"dest": "f.txt", "source": "fixture.txt"}]
    sections = {"dataset": {"path": "cases", "workspace": {"files": files}}}
    script = f"echo $1 >> {tmp_path}/count"
    more = {"answers.yaml": "q: a\n", "note.txt": "old", "data/x/y": "old", "annotations.yaml": "a: 1\n"}
    given: dict[str, Files] = {name: {**one, **more} for name, one in cases("a", "b").items()}
    ran(tmp_path, script, given, **sections)
    name = {"input": "input.yaml", "answers": "answers.yaml", "companion": "note.txt", "folder": "data/x/y"}.get(what)
    if name is not None:
        given["b"] = {**given["b"], name: "request: b\nmore: 1\n"}
    elif what == "fixture":
        (tmp_path / "fixture.txt").write_text("new")
    else:
        (tmp_path / "skills/SKILL.md").write_text("new")
    ran(tmp_path, script, given, **sections)
    assert count(tmp_path) == (["a", "b", "b"] if name is not None else ["a", "b", "a", "b"])


def test_what_only_judges_see_makes_nothing_run_again(tmp_path: Path) -> None:
    script = f"echo $1 >> {tmp_path}/count"
    ran(tmp_path, script, cases("a"))
    given: dict[str, Files] = {"a": {**cases("a")["a"], "annotations.yaml": "gold: 2\n"}}
    found = ran(tmp_path, script, given, judges=[check(code="return outputs['annotations'] == {'gold': 2}, ''")])
    assert count(tmp_path) == ["a"]
    assert found.scores[0].value is True


def test_a_batch_whose_workspace_cannot_be_made_is_an_error_of_its_cases(tmp_path: Path) -> None:
    (tmp_path / "bad").touch()
    hooks = {
        "before_all": [{"command": f'! [ -e {tmp_path}/bad ] || touch "$AGENT_EVAL_WORKSPACE/batch"'}],
        "after_all": [{"command": f"echo after >> {tmp_path}/story"}],
    }
    script = f"echo x >> {tmp_path}/count; echo 1 > output/1.md; echo 2 > output/2.md"
    found = batch(tmp_path, script, cases("a", "b"), "{n}", hooks=hooks)
    assert found.execution is not None
    assert [run.state for run in found.execution.cases] == [RunState.ERROR] * 2
    assert all("the workspace of the batch cannot be made: " in run.error for run in found.execution.cases)
    assert [score.value for score in found.scores] == [None, None]
    assert found.gate.decision is Decision.BROKEN
    assert (tmp_path / "story").read_text() == "after\n"
    (tmp_path / "bad").unlink()
    assert batch(tmp_path, script, cases("a", "b"), "{n}", hooks=hooks).gate.decision is Decision.PASS
    assert count(tmp_path) == ["x"]


def test_outputs_that_cannot_be_copied_are_an_error_of_their_case_alone(tmp_path: Path) -> None:
    script = "echo 2 > output/2.md; cd output; d=1-$(printf '%0215d' 0); mkdir $d; cd $d; d=$(printf '%0200d' 0); "
    script += "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do mkdir $d; cd $d || exit; done; echo 1 > f"
    found = batch(tmp_path, script, cases("a", "b"), "{n}")
    assert found.execution is not None
    first, second = found.execution.cases
    assert (first.state, second.state) == (RunState.ERROR, RunState.OK)
    assert "its outputs cannot be collected: " in first.error
    assert owned(tmp_path, "b") == ["2.md"]
    assert [score.value for score in found.scores] == [None, True]


@pytest.mark.parametrize("template", ["<{request}>", "<{{ input.request }}>"])
def test_only_the_first_entry_of_a_batch_must_fill_its_template(tmp_path: Path, template: str) -> None:
    execution = {"mode": "batch", "prompt": template}
    outputs = [{"path": "output", "batch_pattern": "*"}]
    others: dict[str, Files] = {"a": {"input.yaml": "[]"}, "b": cases("b")["b"], "c": {"input.yaml": "other: x\n"}}
    ran(tmp_path, "cat > output/told", others, execution=execution, outputs=outputs)
    assert (tmp_path / "run/cases/c/output/told").read_text() == "<b>"
    lacking: dict[str, Files] = {"a": {"input.yaml": "other: x\n"}, "b": {"input.yaml": "other: x\n"}}
    (found,) = errors(write_suite(tmp_path / "lacking", cases=lacking, runner=RUNS, execution=execution))
    assert found.startswith("a: ")
    assert "request" in found


def test_an_entry_that_is_no_mapping_is_the_prompt_of_a_batch(tmp_path: Path) -> None:
    given: dict[str, Files] = {"a": {"input.yaml": "- do this\n- do that\n"}}
    ran(tmp_path, "cat > output/1.md", given, execution={"mode": "batch", "prompt": "<{prompt}>"})
    assert (tmp_path / "run/cases/a/output/1.md").read_text() == "<do this>"
