"""The record of a case, from the case itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from adjudge.cases import case_record, inputs_text, read_dataset
from adjudge.domain import BinaryFile, Case, Metrics, TokenUsage
from tests.support.build import JSON, TEXT

ALWAYS = {
    *("case_id", "files", "inputs", "annotations", "conversation", "tool_calls", "events", "stdout", "stderr"),
    *("case_dir", "exit_code", "duration_s", "cost_usd", "num_turns", "token_usage", "reasoning", "tool_trace"),
    *("evidence", "hook_outputs", "steps", "subagents"),
}


def test_the_keys_are_there_for_an_empty_case_too() -> None:
    assert case_record(Case(id="a")).keys() >= ALWAYS


def test_what_is_unknown_is_none_and_not_zero() -> None:
    record = case_record(Case(id="a"))
    assert {record[key] for key in ("exit_code", "duration_s", "cost_usd", "num_turns", "token_usage")} == {None}


def test_metrics_are_plain_numbers() -> None:
    usage = TokenUsage(input=1, output=2, cache_read=3, cache_create=4)
    record = case_record(Case(id="a", metrics=Metrics(0, 1.5, 0.0, 3, usage)))
    assert (record["exit_code"], record["duration_s"], record["cost_usd"], record["num_turns"]) == (0, 1.5, 0.0, 3)
    assert record["token_usage"] == {"input": 1, "output": 2, "cache_read": 3, "cache_create": 4}


def test_without_a_trajectory_the_conversation_is_what_was_printed() -> None:
    assert case_record(Case(id="a", stdout="printed"))["conversation"] == "printed"
    spoken = ({"type": "assistant", "text": "spoken"},)
    assert case_record(Case(id="a", stdout="printed", events=spoken))["conversation"] == "spoken"


def test_a_trajectory_in_which_nothing_was_said_is_not_replaced_by_the_raw_stream() -> None:
    silent = ({"type": "assistant", "text": "", "tools": []},)
    assert case_record(Case(id="a", stdout='{"type": "assistant"}', events=silent))["conversation"] == ""


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        pytest.param({"out/b.md": "b", "out/c.md": "c"}, {"out_content": "b", "out_file": "out/b.md"}, id="first"),
        pytest.param({"a/out/x.md": "a"}, {"out_content": "a", "out_file": "a/out/x.md"}, id="last part of the path"),
        pytest.param(
            {"out/a.png": BinaryFile("/x/a.png", 3), "out/b.md": "b"},
            {"out_content": "b", "out_file": "out/b.md"},
            id="first that is text",
        ),
        pytest.param({"report.md": "r"}, {}, id="no folder"),
        pytest.param({"_modified/src/a.py": "x"}, {}, id="modified files have none"),
    ],
)
def test_shortcuts_name_the_first_text_of_each_output_folder(outputs: Any, expected: dict[str, str]) -> None:
    record = case_record(Case(id="a", outputs=outputs))
    found = {key: value for key, value in record.items() if key not in ALWAYS and key.endswith(("_content", "_file"))}
    assert found == expected


def test_no_output_takes_the_place_of_a_key_of_the_record() -> None:
    """An agent names its folders; none of them may forge what people wrote."""
    forged: dict[str, str | BinaryFile] = {
        f"{folder}/x.md": "forged" for folder in ("annotation_gold", "annotations", "annotation_other")
    }
    record = case_record(Case(id="a", outputs=forged, references={"gold": "true"}, annotations={"k": 1}))
    assert record["annotation_gold_content"] == "true"
    assert record["annotations"] == {"k": 1}
    assert "annotation_other_content" not in record


def test_binary_files_say_so() -> None:
    record = case_record(Case(id="a", outputs={"out/deep/a.png": BinaryFile("/x/a.png", 3, "hash")}))
    shown = record["files"]["out/deep/a.png"]
    assert (shown["_binary"], shown["path"], shown["name"]) == (True, "/x/a.png", "a.png")


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({}, ""),
        ({"a": "x", "b": "y z"}, "**a**: x\n\n**b**: y z"),
        ({"n": 3, "f": 2.5, "t": True, "none": None}, "**n**: 3\n\n**f**: 2.5\n\n**t**: True\n\n**none**: None"),
        ({"l": ["a", "ü"]}, "**l**: - a\n- ü"),
        ({"m": {"z": 1, "a": [2]}}, "**m**: z: 1\na:\n- 2"),
        ({"t": "two\nlines"}, "**t**: two\nlines"),
    ],
)
def test_inputs_are_text_a_field_and_a_blank_line(inputs: dict[str, Any], text: str) -> None:
    assert inputs_text(inputs) == text


PLAIN = st.dictionaries(TEXT, JSON, max_size=4)


@given(PLAIN)
def test_any_inputs_give_text_that_has_every_key(inputs: dict[str, Any]) -> None:
    text = inputs_text(inputs)
    assert all(f"**{key}**: " in text for key in inputs)


@given(inputs=PLAIN, annotations=PLAIN, outputs=st.dictionaries(TEXT, TEXT, max_size=4), stdout=TEXT)
def test_a_record_survives_the_way_to_a_worker(**fields: Any) -> None:
    record = case_record(Case(id="a", **fields))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(record)) == record
    assert record["files"] == fields["outputs"]
    assert record["input"] == fields["inputs"]


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("tags: [a, b]", ("a", "b")),
        ("tags: slow", ("slow",)),
        ("tags: [1, true]", ("1", "True")),
        ("tags: {a: 1}", ()),
        ("tags:", ()),
        ("other: x", ()),
    ],
)
def test_tags_of_a_case_are_its_annotation(tmp_path: Path, text: str, tags: tuple[str, ...]) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "input.yaml").write_text("ask: x\n")
    (tmp_path / "a" / "annotations.yaml").write_text(text)
    folder, problems = read_dataset(tmp_path, workspace=None, outputs=(), shown="cases")
    assert not problems
    assert [stub.tags for stub in folder.stubs()] == [tags]


@pytest.mark.parametrize(
    ("raw", "metrics"),
    [
        ('{"exit_code": -1, "cost_usd": null}', Metrics(exit_code=-1)),
        ('{"cost_usd": 1, "duration_s": 3}', Metrics(cost_usd=1.0, duration_s=3.0)),
        ('{"token_usage": {"input": 5, "surprise": 1}}', Metrics(token_usage=TokenUsage(input=5))),
        ('{"token_usage": "many", "num_turns": 2}', Metrics(num_turns=2)),
        ("[1]", Metrics()),
        ("{cut", Metrics()),
        ("", Metrics()),
        ("[" * 50_000, Metrics()),
    ],
)
def test_metrics_are_what_the_run_recorded_and_never_a_guess(tmp_path: Path, raw: str, metrics: Metrics) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "input.yaml").write_text("ask: x\n")
    (tmp_path / "a" / "run_result.json").write_text(raw)
    folder, _ = read_dataset(tmp_path, workspace=None, outputs=(), shown="cases")
    case = folder.ref("a").load()
    assert case.metrics == metrics
    assert bool(case.notes) == (not raw.startswith("{") or raw == "{cut" or "many" in raw)


def test_one_metric_of_an_odd_type_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "input.yaml").write_text("ask: x\n")
    (tmp_path / "a" / "run_result.json").write_text('{"cost_usd": 0.5, "num_turns": 3.0, "exit_code": "0"}')
    folder, _ = read_dataset(tmp_path, workspace=None, outputs=(), shown="cases")
    case = folder.ref("a").load()
    assert case.metrics.cost_usd == 0.5
    assert case.metrics.exit_code is None
    assert case.notes


def test_a_case_that_vanishes_after_it_was_found_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "input.yaml").write_text(yaml.safe_dump({"ask": "x"}))
    folder, _ = read_dataset(tmp_path, workspace=None, outputs=(), shown="cases")
    (tmp_path / "a" / "input.yaml").unlink()
    (tmp_path / "a").rmdir()
    with pytest.raises(OSError, match="vanished"):
        folder.ref("a").load()
