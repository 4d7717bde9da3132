"""The files of a run directory that users of an eval.yaml expect: read by any YAML loader, whatever they hold."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

import adjudge
from adjudge.domain import RunResult, StoreError
from adjudge.formats.eval_yaml.summary import read_summary
from tests.support.configs import ANSWER, Files, asked, check, judged, llm, write_suite
from tests.support.llm import call, environment
from tests.support.provider import LoopbackProvider
from tests.support.replies import Verdict

LOADERS: list[Any] = [yaml.SafeLoader, *([yaml.CSafeLoader] if hasattr(yaml, "CSafeLoader") else [])]
HOSTILE = {
    "controls": "".join(map(chr, range(32))),
    "delete": "a\x7fb\x80c\x9fd",
    "line ends": "a\x85b\u2028c\u2029d\r\ne\rf\n\n  g\n",
    "tabs": "\ta\t\tb\t",
    "no characters": "a\ufffeb\uffffc",
    "byte order mark": "\ufeffa\ufeff",
    "emoji": "a\U0001f600b\U0010ffff",
    "yaml": "key: [a, {b: !!python/object:os.system x}] # 'no' \"quote\" \\ %TAG &a *a",
    "documents": "---\na\n...\n---\n",
    "backslashes": "\\u0041 \\x41 \\n \\",
    "spaces": "   a   ",
    "empty": " ",
    "script": "</script><!-- --> <b>",
}


def summary(run: Path = Path("run")) -> dict[str, Any]:
    found = yaml.safe_load((run / "summary.yaml").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def saying(text: str, value: str = "True") -> dict[str, Any]:
    return check("ok", f"return {value}, {text!r}")


def values_of(result: RunResult) -> dict[tuple[str, str], Any]:
    return {(s.case, s.judge): (s.status, s.value, s.rationale) for s in result.scores}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_read_back_as_it_was(tmp_path: Path, text: str) -> None:
    result = judged(write_suite(tmp_path, [saying(text)]))
    kept = result.score("case-1", "ok").rationale
    assert kept.strip() == text.strip() or text.strip() in kept
    for loader in LOADERS:
        found = yaml.load((tmp_path / "run" / "summary.yaml").read_bytes(), Loader=loader)
        assert found["per_case"]["case-1"]["ok"].get("rationale", "") == kept
    assert values_of(read_summary(tmp_path / "run")) == values_of(result)


def test_lone_surrogates_never_keep_the_file_from_being_written(tmp_path: Path) -> None:
    judged(write_suite(tmp_path, [check("ok", r"return True, 'a\ud800b \U0001f600 c\udfff'")]))
    (record,) = summary()["per_case"]["case-1"].values()
    assert "\U0001f600" in record["rationale"]
    assert (record["value"], record["rationale"][0]) == (True, "a")


def test_a_line_of_5_mb_is_written_and_read(tmp_path: Path) -> None:
    result = judged(write_suite(tmp_path, [check("ok", "return True, 'x\"\\\\' * 1_700_000")]))
    kept = result.score("case-1", "ok").rationale
    found = yaml.load((tmp_path / "run" / "summary.yaml").read_bytes(), Loader=LOADERS[-1])
    assert found["per_case"]["case-1"]["ok"]["rationale"] == kept
    assert len(kept) > 1000


@pytest.mark.parametrize(
    "value",
    ["1e-7", "1e22", "1.5e300", "-2.5e-9", "0.1", "3", "-0.0", "2.0", "2**53 + 1", "1e16", "123456789012345678.0"],
)
def test_a_number_is_a_number_to_every_loader(tmp_path: Path, value: str) -> None:
    result = judged(write_suite(tmp_path, [saying("1e5 and 2E9", value)]))
    expected = result.score("case-1", "ok").value
    for loader in LOADERS:
        found = yaml.load((tmp_path / "run" / "summary.yaml").read_bytes(), Loader=loader)
        record = found["per_case"]["case-1"]["ok"]
        assert (record["value"], type(record["value"])) == (expected, type(expected))
        assert record["rationale"] == "1e5 and 2E9"
        assert found["judges"]["ok"]["mean"] == expected
    assert json.loads((tmp_path / "run" / "summary.yaml").read_text())["judges"]["ok"]["mean"] == expected


def test_a_tiny_cost_is_a_number(tmp_path: Path) -> None:
    with LoopbackProvider() as provider:
        result = asked(write_suite(tmp_path, [llm("good", model="gpt-5-nano")]), provider)
    cost = result.usage.cost_usd
    assert cost is not None
    assert 0 < cost < 1e-4
    found = summary()
    assert found["total_cost_usd"] == cost
    assert found["judge_usage"]["good"] == {
        "input": 100,
        "output": 20,
        "cache_read": 0,
        "cache_create": 0,
        "cost_usd": cost,
    }


def test_a_whole_run_is_read_back_with_the_same_values(tmp_path: Path) -> None:
    cases: Mapping[str, Files] = {f"case-{k}": {**ANSWER, "input.yaml": f"k: {k}\n"} for k in range(4)}
    judges = [
        check("even", "return outputs['input']['k'] % 2 == 0, 'parity'"),
        check("k", "return outputs['input']['k'] / 3, ''"),
        check("breaks", "return 1 / (outputs['input']['k'] - 2), 'x'"),
        check("some", "return True, ''", condition="outputs['input']['k'] > 1"),
        check("on", "return True, 'a name that YAML takes for a boolean'"),
        check("1.0", "return False, 'a name that YAML takes for a number'"),
    ]
    result = judged(write_suite(tmp_path, judges, cases))
    read = read_summary(tmp_path / "run")
    assert {key: (status, value) for key, (status, value, _) in values_of(read).items()} == {
        key: (status, value) for key, (status, value, _) in values_of(result).items()
    }
    for ours in result.judges:
        theirs = read.summary(ours.judge)
        assert (theirs.metric, theirs.value, theirs.n) == (ours.metric, ours.value, ours.n)
        assert (theirs.unscored, theirs.skipped) == (ours.unscored, ours.skipped)
    assert [stub.id for stub in read.cases] == [stub.id for stub in result.cases]
    (error,) = [score.error for score in read.scores if score.error is not None]
    assert "division by zero" in error.message


def test_samples_are_read_back(tmp_path: Path) -> None:
    said = iter([True, True, False])
    with LoopbackProvider(lambda _: Verdict({"rationale": "r", "passed": next(said)})) as provider:
        result = asked(write_suite(tmp_path, [llm("good", samples=3)]), provider)
    stability = summary()["per_case"]["case-1"]["good"]["stability"]
    assert (stability["samples"], sorted(stability["values"]), stability["stable"]) == (3, [False, True, True], False)
    ours, theirs = result.score("case-1", "good"), read_summary(tmp_path / "run").score("case-1", "good")
    assert [s.value for s in theirs.samples] == [s.value for s in ours.samples]
    assert (theirs.value, theirs.agreement) == (ours.value, ours.agreement)


def test_the_summary_has_what_the_peers_tools_look_for(tmp_path: Path) -> None:
    judged(write_suite(tmp_path, [check("ok"), check("num", "return 3, 'three'"), check("bad", "1 / 0")]))
    found = summary()
    assert found["run_id"] == "run"
    assert {"judges", "per_case", "run_metrics", "judge_usage", "total_cost_usd"} <= found.keys()
    judges = found["judges"]
    assert (judges["ok"]["pass_rate"], judges["ok"]["scored_cases"], judges["ok"]["errored_cases"]) == (1.0, 1, 0)
    assert (judges["num"]["mean"], judges["num"]["pass_rate"]) == (3.0, None)
    assert (judges["bad"]["mean"], judges["bad"]["scored_cases"], judges["bad"]["errored_cases"]) == (None, 0, 1)
    records = found["per_case"]["case-1"]
    assert records["num"]["value"] == 3
    assert records["num"]["rationale"] == "three"
    assert records["bad"]["value"] is None
    assert "ZeroDivisionError" in records["bad"]["error"]


def test_a_skipped_case_is_told_from_an_error(tmp_path: Path) -> None:
    judged(write_suite(tmp_path, [check("ok", condition="False")]))
    record = summary()["per_case"]["case-1"]["ok"]
    assert record["rationale"].startswith("Skipped: ")
    assert "error" not in record
    assert read_summary(tmp_path / "run").summary("ok").skipped == 1


def test_reading_the_directory_prefers_the_journal_and_does_without_it(tmp_path: Path) -> None:
    result = judged(write_suite(tmp_path, thresholds={"ok": {"min_pass_rate": 1}}))
    assert adjudge.read("run").decision == "pass"
    (tmp_path / "run" / "journal.db").unlink()
    again = adjudge.read("run")
    assert values_of(again) == values_of(result)
    assert again.decision == "inconclusive"
    assert "no thresholds" in again.gate.reasons[0]


def test_other_formats_have_no_summary_of_the_peer(tmp_path: Path) -> None:
    suite = adjudge.Suite(
        name="s",
        cases=[adjudge.Case(id="a", inputs={}, outputs={"a.md": "a"})],
        judges=(adjudge.CheckJudge(name="ok", code="return True"),),
    )
    adjudge.run(suite, output="run", workers=1)
    assert (tmp_path / "run" / "result.json").exists()
    assert not (tmp_path / "run" / "summary.yaml").exists()


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    config = write_suite(tmp_path, [check("ok")], reward={"formula": "default"})
    judged(config)
    before = (tmp_path / "run" / "summary.yaml").open()
    old = os.fstat(before.fileno()).st_ino
    write_suite(tmp_path, [check("ok", "return False, 'now'")], reward={"formula": "default"})
    judged(config, fresh=True)
    assert (tmp_path / "run" / "summary.yaml").stat().st_ino != old
    with before:
        assert yaml.safe_load(before)["judges"]["ok"]["pass_rate"] == 1.0
    assert summary()["judges"]["ok"]["pass_rate"] == 0.0
    assert not [path for path in (tmp_path / "run").rglob(".*") if path.is_file()]


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged(write_suite(tmp_path, [check("ok")]))
    kept = (tmp_path / "run" / "summary.yaml").read_bytes()

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoreError, match="No space left"):
        judged(write_suite(tmp_path, [check("ok", "return False, ''")]), fresh=True)
    monkeypatch.undo()
    assert (tmp_path / "run" / "summary.yaml").read_bytes() == kept
    assert not list((tmp_path / "run").glob(".summary*"))


def test_rewards_of_several_cases_lie_in_their_folders_alone(tmp_path: Path) -> None:
    judged(write_suite(tmp_path, [check("ok")], ["a", "b"], reward={"formula": "default"}))
    for case in "ab":
        assert json.loads((tmp_path / "run" / "cases" / case / "reward.json").read_text()) == {"ok": 1.0, "reward": 1.0}
    assert not (tmp_path / "run" / "reward.json").exists()


def test_the_command_writes_them_too(tmp_path: Path) -> None:
    config = write_suite(tmp_path, [check("ok")], reward={"formula": "default"})
    done = call("run", config, "--output", "out", cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 0, done.stderr
    assert summary(tmp_path / "out")["run_id"] == "out"
    assert (tmp_path / "out" / "reward.txt").read_text() == "1.0\n"


def collected(folder: Path, record: Mapping[str, Any]) -> Path:
    """A run directory of the peer with two cases that left an output, and what it says of how they went."""
    for case in ("a", "b"):
        (folder / "cases" / case / "output").mkdir(parents=True)
        (folder / "cases" / case / "output" / "x.md").write_text("text")
    (folder / "run_result.json").write_text(json.dumps(record))
    return folder


def test_a_case_that_failed_in_a_run_of_the_peer_fails_the_gate_by_name(tmp_path: Path) -> None:
    """Its run's own exit code is the largest of its cases', 0 here."""
    record = {
        "exit_code": 0,
        "agent": "cli",
        "per_case": {"a": {"exit_code": 0, "cost_usd": 0.5}, "b": {"exit_code": -1}},
    }
    place = collected(tmp_path / "theirs", record)
    result = judged(write_suite(tmp_path, cases=["a", "b"]), workspace=place)
    assert result.decision == "fail"
    assert result.gate.reasons == ["the agent's run ended badly in 1 of 2 cases: b (timeout)"]
    assert result.execution is not None
    assert result.execution.cost_usd == 0.5
    assert adjudge.read("run").execution == result.execution
    alone = judged(write_suite(tmp_path, cases=["a", "b"]), workspace=place, cases=["a"], output="alone")
    assert alone.decision == "pass"
    execution = {"prompt": "do it", "max_failure_rate": 0.5}
    config = write_suite(tmp_path, cases=["a", "b"], execution=execution, runner={"type": "cli", "command": "true"})
    assert judged(config, workspace=place, output="admitted").decision == "pass"


@pytest.mark.parametrize(("code", "decision"), [(0, "pass"), (3, "fail")])
def test_a_batch_of_the_peer_that_failed_fails_the_gate(tmp_path: Path, code: int, decision: str) -> None:
    place = collected(tmp_path / "theirs", {"exit_code": code, "execution_mode": "batch", "cost_usd": 1})
    result = judged(write_suite(tmp_path, cases=["a", "b"]), workspace=place)
    assert result.decision == decision
    assert result.execution is not None
    assert [run.case for run in result.execution.failed] == (["a", "b"] if code else [])


def test_a_record_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    place = collected(tmp_path / "theirs", {})
    (place / "run_result.json").write_text("{")
    result = judged(write_suite(tmp_path, cases=["a", "b"]), workspace=place)
    assert (result.decision, result.execution) == ("pass", None)
    (warning,) = result.warnings
    assert "run_result.json is not valid JSON" in warning.message
