"""Three reruns tell which tasks are flaky, and quarantine.json keeps them from gating for a while."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.domain import JudgeIdentity, Quarantined, Score, Status, TaskRules
from adjudge.scoring.flaky import Rerun, quarantine, spreads, unlike
from tests.cli.test_cli import run as adjudge
from tests.conformance.golden.test_golden_gate import SOLVES, score
from tests.support.golden import agent, judged, scoring, write_suite
from tests.support.provider import LoopbackProvider

TODAY = datetime.date(2026, 12, 3)


def reruns(*values: float | None, check: list[bool] | None = None, **fields: object) -> list[Rerun]:
    rules = TaskRules(judge="rubric", hard={"a": ("checks",)} if check else {}, **fields)  # type: ignore[arg-type]
    made = []
    for n, value in enumerate(values):
        scores = [score("a", [value])]
        if check:
            scores.append(Score(case="a", judge="checks", criterion="checks", status=Status.SCORED, value=check[n]))
        made.append(Rerun(name=f"run{n}", rules=rules, tasks=("a",), scores=tuple(scores)))
    return made


def test_more_than_a_point_apart_is_flaky_and_both_measures_are_shown() -> None:
    (one,) = spreads(reruns(5, 3, 4))
    assert (one.flaky, one.range, one.variance) == (True, 2.0, 1.0)
    (one,) = spreads(reruns(5, 4, 4))
    assert (one.flaky, one.range) == (False, 1.0)
    (one,) = spreads(reruns(5, 4, 4), most=0.5)
    assert one.flaky


@given(st.lists(st.floats(1, 5), min_size=3, max_size=5))
def test_a_variance_above_one_point_is_always_flaky_too(values: list[float]) -> None:
    (one,) = spreads(reruns(*values))
    assert one.range is not None
    assert one.variance is not None
    assert one.flaky or one.variance <= 1


def test_a_score_that_could_not_be_had_is_no_value_and_two_are_no_measurement() -> None:
    (one,) = spreads(reruns(5, None, 1))
    assert (one.flaky, one.range, one.values) == (False, None, (5.0, None, 1.0))


def test_a_hard_check_that_flips_puts_the_whole_task_away() -> None:
    found = spreads(reruns(5, 5, 5, check=[True, False, True]))
    assert {one.dimension: one.flaky for one in found} == {"checks": True, "scope": False}
    (entry,) = quarantine(found, [], today=TODAY, days=7)
    assert (entry.task, entry.dimension, entry.until, entry.reruns) == ("a", "", "2026-12-10", 3)


def test_entries_stay_and_their_last_day_is_put_off() -> None:
    kept = [Quarantined(task="a", dimension="scope", until="2026-12-04"), Quarantined(task="b", until="2026-12-04")]
    found = {e.task: e for e in quarantine(spreads(reruns(5, 1, 5)), kept, today=TODAY, days=14)}
    assert found["a"].until == "2026-12-17"
    assert found["b"] == kept[1]


def test_a_later_day_that_somebody_set_stays_and_reruns_without_a_score_do_not_count() -> None:
    kept = Quarantined(task="a", dimension="scope", until="2027-06-30")
    (entry,) = quarantine(spreads(reruns(5, 1, None, 3)), [kept], today=TODAY, days=7)
    assert (entry.until, entry.reruns) == ("2027-06-30", 3)
    assert "in 3 reruns" in entry.reason


def test_reruns_of_other_judges_or_tasks_are_not_mixed() -> None:
    assert unlike(reruns(5, 4, 3)) == ""
    other = reruns(5, identity=JudgeIdentity(model="other"))
    assert "model" in unlike([*reruns(5, 4), *other])
    first, second = reruns(5, digests={"a": "1"}), reruns(5, digests={"a": "2"})
    assert "another task" in unlike([*first, *second])


def test_three_runs_of_an_agent_that_does_as_it_likes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = write_suite(tmp_path, {"fix-load": {}, "other": {}}, agent=agent(tmp_path, SOLVES))
    for run, correctness in (("run1", 5), ("run2", 2), ("run3", 5)):
        with LoopbackProvider(scoring(correctness=correctness, scope=4)) as provider:
            judged(root, provider, output=run, fresh=True)
    assert adjudge("flaky", "run1", "run2", cwd=tmp_path).returncode == 2
    assert adjudge("flaky", "run1", "run2", "run2", cwd=tmp_path).returncode == 2
    done = adjudge("flaky", "run1", "run2", "run3", "--quarantine", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "5.00 2.00 5.00" in done.stdout
    entries = json.loads((root / "quarantine.json").read_text())
    assert [(one["task"], one["dimension"]) for one in entries] == [
        ("fix-load", "correctness"),
        ("other", "correctness"),
    ]
    assert entries[0]["range"] == 3.0
    assert entries[0]["variance"] == 3.0
    with LoopbackProvider(scoring(correctness=5, scope=5)) as provider:
        result = judged(root, provider, output="run4")
    assert result.exit_code == 0
    again = adjudge("flaky", "run1", "run3", "run4", "--json", cwd=tmp_path)
    assert {one["dimension"]: one.get("flaky", False) for one in json.loads(again.stdout)}["scope"] is False
