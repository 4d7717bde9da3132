"""Numbers and names that are larger than what the files in between can hold as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from adjudge.domain import Status
from adjudge.formats.eval_yaml.summary import read_summary
from tests.support.configs import ANSWER, check, judged, only_score, write_suite

LARGE = [2**64, -(2**63) - 1, 10**400]
LOADERS: list[Any] = [yaml.SafeLoader, *([yaml.CSafeLoader] if hasattr(yaml, "CSafeLoader") else [])]
SAYS = "return True, repr(outputs['events'])"


def event(number: int) -> dict[str, Any]:
    return {"type": "assistant", "text": "t", "tools": [{"name": "Read", "input": {"n": number, "small": 2**53}}]}


@pytest.mark.parametrize("number", LARGE, ids=["above", "below", "400 digits"])
@pytest.mark.parametrize("name", ["events.json", "events.jsonl"])
def test_an_integer_beyond_64_bits_is_its_digits_and_the_case_is_scored(tmp_path: Path, name: str, number: int) -> None:
    line = json.dumps(event(number))
    content = f"[{line}]" if name == "events.json" else f"{line}\n"
    score = only_score(write_suite(tmp_path, [check("ok", SAYS)], {"case-1": {**ANSWER, name: content}}))
    assert score.status is Status.SCORED, score.error
    assert f"'n': '{number}'" in score.rationale
    assert f"'small': {2**53}" in score.rationale


@pytest.mark.parametrize("digits", ["1" + "0" * 5000, "1e999", "-1e999"])
def test_a_number_that_no_float_holds_is_its_text_too(tmp_path: Path, digits: str) -> None:
    events = json.dumps([event(123123)]).replace("123123", digits)
    code = "return True, outputs['events'][0]['tools'][0]['input']['n'][:20]"
    score = only_score(write_suite(tmp_path, [check("ok", code)], {"case-1": {**ANSWER, "events.json": events}}))
    assert (score.status, score.rationale) == (Status.SCORED, digits[:20])


def test_the_largest_integers_of_64_bits_stay_numbers(tmp_path: Path) -> None:
    events = json.dumps([{"type": "x", "n": [2**64 - 1, -(2**63), 10**18]}])
    code = "return outputs['events'][0]['n'] == [2**64 - 1, -(2**63), 10**18], ''"
    assert only_score(write_suite(tmp_path, [check("ok", code)], {"case-1": {**ANSWER, "events.json": events}})).value


def test_a_raw_stream_with_such_a_number_is_read(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "1", "name": "Read", "input": {"n": 2**70}}
    lines = [
        {"type": "assistant", "message": {"id": "m", "content": [call]}},
        {"type": "result", "subtype": "success", "total_cost_usd": 2**2000, "num_turns": 2**70},
    ]
    stdout = "".join(json.dumps(line) + "\n" for line in lines)
    score = only_score(write_suite(tmp_path, [check("ok", SAYS)], {"case-1": {**ANSWER, "stdout.log": stdout}}))
    assert score.status is Status.SCORED, score.error
    assert str(2**70) in score.rationale


def test_a_metric_with_such_a_number_is_unknown_and_noted(tmp_path: Path) -> None:
    recorded = json.dumps({"exit_code": 0, "num_turns": 2**70, "cost_usd": 0.5})
    code = "return outputs['num_turns'] is None and outputs['cost_usd'] == 0.5, str(outputs['notes'])"
    score = only_score(write_suite(tmp_path, [check("ok", code)], {"case-1": {**ANSWER, "run_result.json": recorded}}))
    assert (score.status, score.value) == (Status.SCORED, True)
    assert "num_turns" in score.rationale


@pytest.mark.parametrize("name", ["input.yaml", "input.json"])
def test_a_long_number_of_an_input_is_its_digits(tmp_path: Path, name: str) -> None:
    content = json.dumps({"account": 12345678901234567890123, "k": 3})
    code = "return outputs['input'] == {'account': '12345678901234567890123', 'k': 3}, ''"
    assert only_score(write_suite(tmp_path, [check("ok", code)], {"case-1": {**ANSWER, name: content}})).value is True


@pytest.mark.parametrize("name", ["j" * 1022, "j" * 1023, "j" * 5000, '"\\' * 500, "\u00e9" * 1000])
def test_a_judge_with_the_longest_name_is_read_back_by_every_loader(tmp_path: Path, name: str) -> None:
    result = judged(write_suite(tmp_path, [check(name), check("short")]))
    for loader in LOADERS:
        found = yaml.load((tmp_path / "run" / "summary.yaml").read_bytes(), Loader=loader)
        assert found["judges"].keys() == found["per_case"]["case-1"].keys() == {name, "short"}
        assert found["judges"][name]["pass_rate"] == 1.0
    assert {score.judge for score in read_summary(tmp_path / "run").scores} == {score.judge for score in result.scores}


def test_a_long_rationale_changes_no_key(tmp_path: Path) -> None:
    judged(write_suite(tmp_path, [check("ok", "return True, 'a: b ' * 400")]))
    assert json.loads((tmp_path / "run" / "summary.yaml").read_text())["judges"]["ok"]["pass_rate"] == 1.0
