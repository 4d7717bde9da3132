"""What `--update-baseline accept` takes and what it leaves."""

from __future__ import annotations

import pytest

from adjudge.domain import TaskBaseline, TaskRules, Word
from adjudge.scoring.tasks import next_baseline, standings
from tests.conformance.golden.test_golden_gate import rules, score

OLD: dict[str, tuple[float, ...]] = {"scope": (5.0, 5.0, 5.0), "other": (2.0, 2.0, 2.0)}


def versioned(given: TaskRules, *, before: str, now: str) -> TaskRules:
    assert given.baseline is not None
    tasks = {name: TaskBaseline(digest=before, scores=one.scores) for name, one in given.baseline.tasks.items()}
    baseline = type(given.baseline)(tasks=tasks)
    return type(given)(judge="rubric", baseline=baseline, digests={"a": now}, selected=given.selected)


@pytest.mark.parametrize("selected", [False, True])
def test_a_task_that_is_gone_is_dropped_by_a_whole_run_alone(selected: bool) -> None:
    given = rules({"a": OLD, "gone": OLD}, selected=selected)
    scores = [score("a", [4, 4, 4]), score("a", [2, 2, 2], "other")]
    made = next_baseline(given, ["a"], scores, accept=True, samples=3)
    assert ("gone" in made.tasks) is selected
    later = TaskRules(judge="rubric", baseline=made)
    missing = [one.task for one in standings(later, ["a"], scores) if one.word is Word.MISSING]
    assert missing == (["gone"] if selected else [])
    assert "gone" in next_baseline(given, ["a"], scores, accept=False, samples=3).tasks


@pytest.mark.parametrize("changed", [False, True])
def test_what_could_not_be_told_keeps_its_score_unless_it_is_of_another_version(changed: bool) -> None:
    given = versioned(rules({"a": OLD}), before="one", now="two" if changed else "one")
    scores = [score("a", [4, 4, 4]), score("a", [None, None, None], "other")]
    made = next_baseline(given, ["a"], scores, accept=True, samples=3).tasks["a"]
    assert made.scores == {"scope": (4, 4, 4), **({} if changed else {"other": (2, 2, 2)})}
    assert made.digest == ("two" if changed else "one")


def test_a_task_of_which_nothing_was_measured_stays_as_it_is() -> None:
    """Else its old scores would pass for those of its new version."""
    given = versioned(rules({"a": OLD}), before="one", now="two")
    for scores in ([], [score("a", [None, None, None]), score("a", [None], "other")]):
        made = next_baseline(given, ["a"], scores, accept=True, samples=3)
        assert made.tasks["a"] == TaskBaseline(digest="one", scores=OLD)
