"""The steps of a case, the files that are an agent's own, and the record of both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from adjudge.cases import CaseFolder, case_record
from adjudge.domain import BinaryFile, Case, Traces
from tests.cases.test_case_runs import FLAT, RAW, Run, level, write


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


STEPS = {
    "steps/plan/stdout.log": RAW,
    "steps/plan/stderr.log": "err of plan",
    "steps/plan/plan.md": "the plan",
    "steps/act/stdout.log": "plain act",
    "stdout.log": "plain act",
}


@pytest.mark.parametrize(
    "recorded",
    [
        {"plan": {"exit_code": -1, "cost_usd": 0.25}, "act": {"exit_code": 0}, "late": {"exit_code": 9}},
        [
            {"id": "plan", "exit_code": -1, "cost_usd": 0.25},
            {"step": "act", "exit_code": 0},
            {"name": "late", "exit_code": 9},
        ],
    ],
    ids=["mapping", "list"],
)
def test_steps_are_in_order_and_each_has_its_own_figures(run: Run, recorded: Any) -> None:
    write(run.home, STEPS)
    write(run.root, level(exit_code=0, per_case={"a": {"exit_code": 0, "steps": recorded}}))
    steps = run.record()["steps"]
    assert list(steps) == ["plan", "act", "late"]
    assert [step["exit_code"] for step in steps.values()] == [-1, 0, 9]
    assert [step["output"] for step in steps.values()] == ["Raw words.", "plain act", ""]
    assert steps["plan"]["files"] == {"plan.md": "the plan"}
    assert steps["plan"]["cost_usd"] == 0.25


def test_a_record_of_a_step_is_the_steps_own(run: Run) -> None:
    write(run.home, {**STEPS, "events.json": FLAT, "out/x.md": "x"})
    write(run.root, level(per_case={"a": {"exit_code": 0, "num_turns": 9, "steps": {"plan": {"exit_code": 4}}}}))
    case = run.case("out")
    record = case_record(case, "plan")
    whole = case_record(case)
    assert (record["conversation"], whole["conversation"]) == ("Raw words.", "Flat words.")
    assert (record["stdout"], record["stderr"]) == (RAW, "err of plan")
    assert (record["exit_code"], record["num_turns"], whole["num_turns"]) == (4, None, 9)
    assert len(record["events"]) == 3
    assert record["files"] == whole["files"] == {"out/x.md": "x"}
    assert record["inputs"] == whole["inputs"]


@pytest.mark.parametrize("step", ["act", "PLAN", "../plan"])
def test_a_step_that_did_not_run_is_never_the_whole_case(run: Run, step: str) -> None:
    write(run.home, {"steps/plan/stdout.log": "x", "stdout.log": "whole"})
    with pytest.raises(LookupError, match="did not run"):
        case_record(run.case(), step)


def test_a_step_that_a_record_names_is_no_path(run: Run) -> None:
    write(run.root, {"secret/stdout.log": "s3cret", **level(per_case={"a": {"steps": {"../../../secret": {}}}})})
    write(run.home, {"steps/plan/stdout.log": "x"})
    assert [(step.id, step.stdout) for step in run.case().steps] == [("../../../secret", ""), ("plan", "x")]


def test_links_among_steps_are_not_followed(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", {"stdout.log": "s3cret"})
    write(run.home, {"steps/plan/stderr.log": "x"})
    (run.home / "steps" / "link").symlink_to(tmp_path / "elsewhere")
    (run.home / "steps" / "plan" / "stdout.log").symlink_to(tmp_path / "elsewhere" / "stdout.log")
    assert [(step.id, step.stdout) for step in run.case().steps] == [("plan", "")]


# --- files ---------------------------------------------------------------------------------------------------------

SPENT = json.dumps({"cost_usd": 0.1, "num_turns": 2, "token_usage": {"input": 1}, "model": "m"})


def test_what_the_harness_wrote_into_an_output_folder_is_not_the_agents(run: Run) -> None:
    write(run.home, {"stdout.log": RAW, "stderr.log": "err", "output/answer.md": "hi"})
    write(run.home, {"output/stdout.log": RAW, "output/stderr.log": "err", "output/metrics.json": SPENT})
    case = run.case("output")
    assert dict(case.outputs) == {"output/answer.md": "hi"}
    assert sum("not by the agent" in note for note in case.notes) == 3
    assert case_record(case)["output_content"] == "hi"


def test_files_of_such_names_that_the_agent_made_are_kept(run: Run) -> None:
    made = {
        "output/stdout.log": "another",
        "output/metrics.json": '{"accuracy": 0.9}',
        "output/deep/stdout.log": RAW,
        "output/deep/metrics.json": SPENT,
        "other/stderr.log": "err",
        "other/metrics.json": '{"model": "only a name"}',
        "third/metrics.json": "[1]",
    }
    write(run.home, {"stdout.log": RAW, **made})
    assert dict(run.case("output", "other", "third").outputs) == made


def test_a_file_that_is_declared_itself_is_kept(run: Run) -> None:
    write(run.home, {"stdout.log": RAW, "output/stdout.log": RAW, "output/metrics.json": SPENT})
    kept = run.case("output", "output/stdout.log", "output/metrics.json").outputs
    assert set(kept) == {"output/stdout.log", "output/metrics.json"}


def test_the_first_declared_of_two_folders_of_one_name_gives_the_short_keys(run: Run) -> None:
    write(run.home, {"a/out/x.md": "first", "b/out/y.md": "second", "c/z.md": "other"})
    for folders, content in ((("a/out", "b/out", "c"), "first"), (("b/out", "c", "a/out"), "second")):
        case = run.case(*folders)
        record = case_record(case)
        assert record["out_content"] == content
        (note,) = case.notes
        assert note.startswith("out_content is that of ")
        assert record["notes"] == [note]


def test_a_declared_folder_comes_before_one_that_the_agent_made(run: Run) -> None:
    write(run.home, {"output/report/forged.md": "forged", "report/x.md": "true", "output/a.md": "a"})
    record = run.record("output", "report")
    assert (record["report_content"], record["report_file"]) == ("true", f"{run.home}/report/x.md")


@pytest.mark.parametrize(
    "name", ["hooks_test.py", "hooks.md", "subagents.py", ".workflow.yml", "src/hooks/a.py", ".work"]
)
def test_no_changed_file_is_dropped_for_how_its_name_begins(run: Run, name: str) -> None:
    write(run.home, {f"_modified/{name}": "x"})
    assert run.record()["modified_files"] == {name: "x"}


def test_tools_that_are_outputs_are_globs(run: Run) -> None:
    tools: list[dict[str, Any]] = [
        {"name": name, "id": name, "input": {}} for name in ("mcp__a__x", "Read", "ReadNotebook")
    ]
    write(run.home, {"events.json": json.dumps([{"type": "assistant", "text": "", "tools": tools}])})
    record = run.record(tools=("mcp__a*", "Read"))
    assert [call["name"] for call in record["tool_calls"]] == ["mcp__a__x", "Read"]
    assert "Tool calls: 3" in record["evidence"]


def test_a_case_goes_to_a_worker_and_back(run: Run) -> None:
    write(run.home, {**STEPS, "hook_outputs.yaml": "a: 2025-01-01\n"})
    write(run.root, level(per_case={"a": {"exit_code": 1, "steps": {"plan": {"exit_code": 1}}}}))
    folder = run.folder("out", tools=("X",), traces=Traces(stderr=False))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(folder), type=CaseFolder) == folder
    case = folder.load()
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(case), type=Case) == case
    record = case_record(case)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(record)) == record


def test_files_of_a_step_may_be_binary(run: Run) -> None:
    (run.home / "steps" / "one").mkdir(parents=True)
    (run.home / "steps" / "one" / "a.png").write_bytes(b"\0\1")
    (step,) = run.case().steps
    assert isinstance(step.outputs["a.png"], BinaryFile)
    assert case_record(run.case())["steps"]["one"]["files"]["a.png"]["_binary"] is True
