"""What a run left of its cases: trajectories, streams, metrics, steps, hook data, and what the harness wrote itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.cases import CaseFolder, RunRecord, case_record, read_case_events, read_dataset, read_run
from adjudge.domain import Case, Metrics, StepRecord, TokenUsage, Traces

RAW = "\n".join(
    json.dumps(event)
    for event in (
        {"type": "system", "subtype": "init", "model": "m"},
        {
            "type": "assistant",
            "message": {"id": "a", "model": "m", "content": [{"type": "text", "text": "Raw words."}]},
        },
        {"type": "result", "subtype": "success", "total_cost_usd": 0.5},
    )
)
CODEX = json.dumps({"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": "Of codex."}})
FLAT = json.dumps([{"type": "assistant", "text": "Flat words."}])


def write(home: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


class Run:
    """A data set with one case, and a run's folder with what was made for it."""

    def __init__(self, folder: Path) -> None:
        self.data, self.root = folder / "data", folder / "run"
        self.home = self.root / "cases" / "a"
        self.home.mkdir(parents=True)
        write(self.data, {"a/input.yaml": "ask: x\n"})

    def folder(self, *outputs: str, **keys: Any) -> CaseFolder:
        found, problems = read_dataset(self.data, workspace=self.root, outputs=outputs, shown="data", **keys)
        assert not problems
        folder = found.ref("a")
        assert isinstance(folder, CaseFolder)
        return folder

    def case(self, *outputs: str, **keys: Any) -> Case:
        return self.folder(*outputs, **keys).load()

    def record(self, *outputs: str, **keys: Any) -> dict[str, Any]:
        return case_record(self.case(*outputs, **keys))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


@pytest.mark.parametrize(
    ("own", "of_run", "said"),
    [
        ({"events.json": FLAT, "events.jsonl": RAW, "stdout.log": RAW}, {}, "Flat words."),
        ({"events.jsonl": RAW, "stdout.log": CODEX}, {"events.json": FLAT}, "Raw words."),
        ({"events.jsonl": CODEX}, {}, "Of codex."),
        ({"events.json": f"[{RAW.replace(chr(10), ',')}]"}, {}, "Raw words."),
        ({"stdout.log": RAW}, {"events.json": FLAT}, "Raw words."),
        ({"stdout.log": f"a warning\n{RAW}\n42"}, {}, "Raw words."),
        ({"stdout.log": "plain"}, {}, "plain"),
        ({}, {"events.json": FLAT, "stdout.log": RAW}, "Flat words."),
        ({}, {"events.jsonl": RAW}, "Raw words."),
        ({}, {"stdout.log": RAW}, "Raw words."),
        ({}, {"stdout.log": "plain"}, "plain"),
        ({}, {}, ""),
        ({"events.json": "[]", "stdout.log": "plain"}, {"events.json": FLAT}, "plain"),
    ],
)
def test_a_trajectory_is_looked_for_in_order(run: Run, own: Any, of_run: Any, said: str) -> None:
    write(run.home, own)
    write(run.root, of_run)
    case = run.case()
    assert case_record(case)["conversation"] == said
    whole = any("whole batch" in note for note in case.notes)
    assert whole == (bool(of_run) and not own)


def test_a_text_that_quotes_an_event_is_no_stream(run: Run) -> None:
    """Else a file that an agent's program shows could speak with its voice."""
    text = "\n".join(["I looked at this:", RAW.splitlines()[1], "and it is wrong.", "So it fails."])
    write(run.home, {"stdout.log": text})
    case = run.case()
    assert case.events == ()
    assert case_record(case)["conversation"] == text


def test_a_stream_with_other_lines_is_noted(run: Run) -> None:
    write(run.home, {"events.jsonl": f"plain\n{RAW}\n42"})
    assert "events.jsonl: 2 lines are no events and were left out" in run.case().notes


def test_a_long_stream_is_read_whole_and_not_to_the_cap_of_a_text(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adjudge.cases.files.MAX_FILE_BYTES", 10_000)
    filler = json.dumps({"type": "user", "message": {"content": "x" * 900}})
    write(run.home, {"stdout.log": "\n".join([*[filler] * 20, RAW])})
    assert run.record()["conversation"] == "Raw words."


def test_transcripts_of_subagents_are_part_of_a_stream(run: Run) -> None:
    line = {"type": "assistant", "message": {"id": "s", "content": [{"type": "text", "text": "Sub."}]}}
    write(run.home, {"stdout.log": RAW, "subagents/worker.jsonl": json.dumps(line), "subagents/notes.txt": "x"})
    (run.home / "subagents" / "link.jsonl").symlink_to(run.home / "stdout.log")
    record = run.record()
    assert record["conversation"] == "Raw words."
    assert record["subagents"] == {"worker": "Sub."}


def test_transcripts_beside_flat_events_are_read_unless_they_hold_them(run: Run) -> None:
    line = {"type": "assistant", "message": {"id": "s", "content": [{"type": "text", "text": "Sub."}]}}
    write(run.home, {"events.json": FLAT, "subagents/worker.jsonl": json.dumps(line)})
    assert run.record()["subagents"] == {"worker": "Sub."}
    write(run.home, {"events.json": json.dumps([{"type": "assistant", "text": "Merged.", "agent_id": "worker"}])})
    assert run.record()["subagents"] == {"worker": "Merged."}


def test_a_folder_of_transcripts_that_is_a_link_is_not_followed(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", {"x.jsonl": RAW})
    write(run.home, {"stdout.log": RAW})
    (run.home / "subagents").symlink_to(tmp_path / "elsewhere")
    assert run.record()["subagents"] == {}


def test_reading_a_folder_alone(tmp_path: Path) -> None:
    write(tmp_path, {"stdout.log": RAW})
    notes: list[str] = []
    found = read_case_events(str(tmp_path), notes=notes)
    assert found.metrics is not None
    assert (found.metrics.cost_usd, len(found.events), notes) == (0.5, 3, [])


# --- metrics -------------------------------------------------------------------------------------------------------


def level(**keys: Any) -> dict[str, str]:
    return {"run_result.json": json.dumps(keys)}


@pytest.mark.parametrize(
    ("own", "of_run", "expected"),
    [
        ({"exit_code": 3}, {"exit_code": 1, "per_case": {"a": {"exit_code": 2}}}, Metrics(exit_code=3)),
        ({}, {"exit_code": 1, "per_case": {"a": {"exit_code": 2}}}, Metrics()),
        (None, {"exit_code": 1, "per_case": {"a": {"exit_code": 2}}}, Metrics(exit_code=2)),
        (None, {"exit_code": 1, "cost_usd": 2.0, "per_case": {"a": {"cost_usd": None}}}, Metrics(exit_code=1)),
        (None, {"exit_code": 1, "per_case": {"b": {"exit_code": 2}}}, Metrics(exit_code=1)),
        (None, {"num_turns": 4, "per_case": None}, Metrics(num_turns=4)),
        (
            None,
            {"per_case": {"a": {"duration_s": 2, "token_usage": {"input": 1, "cache_create": 2}}}},
            Metrics(duration_s=2.0, token_usage=TokenUsage(input=1, cache_create=2)),
        ),
        (None, {"per_case": {"a": {"num_turns": "many", "exit_code": 0}}}, Metrics(exit_code=0)),
        (None, {"per_case": [1]}, Metrics()),
    ],
)
def test_metrics_are_the_cases_own_else_its_entry_else_the_runs(run: Run, own: Any, of_run: Any, expected: Any) -> None:
    write(run.root, level(**of_run))
    write(run.home, {} if own is None else level(**own))
    assert run.case().metrics == expected


def test_figures_of_a_whole_run_are_noted(run: Run) -> None:
    write(run.root, level(exit_code=0, cost_usd=5.0, per_case={"a": {"cost_usd": 1.0}}))
    assert "run_result.json: exit_code are those of the whole run" in run.case().notes


def test_without_a_record_the_figures_are_those_of_the_stream(run: Run) -> None:
    write(run.home, {"stdout.log": RAW})
    assert run.case().metrics.cost_usd == 0.5
    write(run.root, level(per_case={"a": {"cost_usd": None}}))
    assert run.case().metrics.cost_usd is None


@pytest.mark.parametrize("broken", ["{cut", "[1]", "", "[" * 50_000, '{"num_turns": 1' + "0" * 30 + "}"])
def test_a_runs_record_that_cannot_be_read_is_a_note_and_no_crash(run: Run, broken: str) -> None:
    write(run.root, {"run_result.json": broken})
    case = run.case()
    assert case.metrics == Metrics()
    assert any("run_result.json" in note for note in case.notes)


def test_a_runs_record_that_is_a_link_is_not_followed(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", level(exit_code=7))
    (run.root / "run_result.json").symlink_to(tmp_path / "elsewhere" / "run_result.json")
    assert run.case().metrics == Metrics()


def test_a_runs_record_is_read_once_for_all_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"case-{k}" for k in range(50)]
    write(tmp_path / "data", {f"{name}/input.yaml": "ask: x\n" for name in names})
    write(tmp_path / "run", {f"cases/{name}/stdout.log": "x" for name in names})
    write(tmp_path / "run", level(per_case={name: {"num_turns": k} for k, name in enumerate(names)}))
    read: list[str] = []

    def counted(root: str) -> RunRecord:
        read.append(root)
        return read_run(root)

    monkeypatch.setattr("adjudge.cases.dataset.read_run", counted)
    folder, _ = read_dataset(tmp_path / "data", workspace=tmp_path / "run", outputs=(), shown="data")
    (tmp_path / "run" / "run_result.json").unlink()
    assert [folder.ref(name).load().metrics.num_turns for name in names] == list(range(50))
    assert len(read) == 1


def test_the_folder_of_cases_may_be_named_itself(run: Run) -> None:
    write(run.root, level(per_case={"a": {"exit_code": 2}}))
    folder, _ = read_dataset(run.data, workspace=run.root / "cases", outputs=(), shown="data")
    assert folder.ref("a").load().metrics.exit_code == 2


def test_a_batch_is_read_once_for_all_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["a", "b", "c"]
    write(tmp_path / "data", {f"{name}/input.yaml": "ask: x\n" for name in names})
    write(tmp_path / "run", {"stdout.log": RAW, **{f"cases/{name}/out.md": name for name in names}})
    folder, _ = read_dataset(tmp_path / "data", workspace=tmp_path / "run", outputs=(), shown="data")
    cases = [folder.ref(name).load() for name in names]
    assert cases[0].events
    assert cases[0].events is cases[1].events is cases[2].events
    write(tmp_path / "run", {"stdout.log": RAW.replace("Raw words", "New words")})
    assert case_record(folder.ref("a").load())["conversation"] == "New words."


# --- switches ------------------------------------------------------------------------------------------------------


def test_what_is_switched_off_is_not_read(run: Run) -> None:
    write(run.home, {"stdout.log": RAW, "stderr.log": "err", **level(exit_code=1)})
    write(run.root, {"stdout.log": "of the batch", **level(exit_code=2)})
    assert run.record(traces=Traces(stdout=False, events=False))["conversation"] == ""
    assert run.case(traces=Traces(stdout=False)).events == ()
    assert run.case(traces=Traces(stdout=False)).stdout == ""
    assert run.case(traces=Traces(stderr=False)).stderr == ""
    assert run.case(traces=Traces(metrics=False)).metrics == Metrics()
    assert run.record(traces=Traces(events=False))["conversation"] == RAW
    on = run.case()
    assert (on.stdout, on.stderr, on.metrics.exit_code, len(on.events)) == (RAW, "err", 1, 3)


def test_what_is_switched_off_may_be_unreadable(run: Run) -> None:
    write(run.home, {"events.json": "{broken", "run_result.json": "{broken"})
    case = run.case(traces=Traces(events=False, metrics=False))
    assert (case.events, case.metrics, case.notes) == ((), Metrics(), ())
    with pytest.raises(ValueError, match=r"events\.json"):
        run.case()


def test_the_switches_hold_for_steps_too(run: Run) -> None:
    write(run.home, {"steps/one/stdout.log": RAW, "steps/one/stderr.log": "err"})
    (step,) = run.case(traces=Traces(stdout=False, stderr=False, metrics=False)).steps
    assert step == StepRecord(id="one")


# --- hook data -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, {}),
        ({"hook_outputs.yaml": "url: http://x\nn: {a: [1]}\n"}, {"url": "http://x", "n": {"a": [1]}}),
        ({"hook_outputs.json": '{"a": 1}'}, {"a": 1}),
        ({"hook_outputs.yaml": ""}, {}),
    ],
)
def test_hook_outputs(run: Run, files: Any, expected: Any) -> None:
    write(run.home, files)
    assert run.record()["hook_outputs"] == expected
    assert run.case().notes == ()


@pytest.mark.parametrize("broken", ["[1]", "a: [", "plain", "!!python/object:os.system {}", "a: &x [*x]"])
@pytest.mark.parametrize("ending", ["yaml", "json"])
def test_hook_outputs_that_cannot_be_read_are_a_note_and_no_crash(run: Run, broken: str, ending: str) -> None:
    write(run.home, {f"hook_outputs.{ending}": broken})
    case = run.case()
    assert case.hook_outputs == {}
    assert any("hook_outputs" in note for note in case.notes)


def test_hook_outputs_of_a_batch_are_those_of_the_run_unless_the_case_has_its_own(run: Run) -> None:
    write(run.root, {"hook_outputs.yaml": "a: run\n"})
    assert run.case().hook_outputs == {"a": "run"}
    write(run.home, {"hook_outputs.yaml": "a: case\n"})
    assert run.case().hook_outputs == {"a": "case"}


def test_a_part_for_an_unknown_case_is_empty() -> None:
    assert RunRecord("/nowhere").part("a") == {}
