"""The CI gate: every dimension of every task against baseline.json."""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from adjudge.domain import (
    ConfigError,
    Decision,
    JudgeIdentity,
    Problem,
    Quarantined,
    SampleRecord,
    Score,
    Status,
    SuiteBaseline,
    TaskBaseline,
    TaskRules,
    Word,
)
from adjudge.formats.golden import BASELINE, read_baseline
from adjudge.scoring.tasks import next_baseline, standings, task_checks
from adjudge.stats.falls import falls
from tests.cli.test_cli import run as adjudge
from tests.support.golden import agent, judged, scoring, write_suite
from tests.support.provider import LoopbackProvider

SOAK = os.environ.get("ADJUDGE_SOAK") == "1"
SOLVES = """\
printf 'def load(config):\\n    return config.get("name", "unnamed")\\n' > app.py
printf '\\n\\ndef test_unnamed():\\n    assert load({}) == "unnamed"\\n' >> test_app.py
echo "Made load() fall back to unnamed."
"""


def score(task: str, values: list[float | None], dimension: str = "scope") -> Score:
    samples = tuple(SampleRecord(Status.SCORED if value is not None else Status.ABSTAINED, value) for value in values)
    usable = [value for value in values if value is not None]
    status = Status.SCORED if usable else Status.ABSTAINED
    value = usable[0] if usable else None
    return Score(case=task, judge="rubric", criterion=dimension, status=status, value=value, samples=samples)


def rules(tasks: Mapping[str, Mapping[str, tuple[float, ...]]], **fields: object) -> TaskRules:
    baseline = SuiteBaseline(tasks={name: TaskBaseline(scores=dict(scores)) for name, scores in tasks.items()})
    return TaskRules(judge="rubric", baseline=baseline, **fields)  # type: ignore[arg-type]


def words(given: TaskRules, scores: list[Score], tasks: list[str] | None = None) -> dict[str, Word]:
    names = tasks if tasks is not None else list(dict.fromkeys(one.case for one in scores))
    return {f"{one.task}.{one.dimension}".strip("."): one.word for one in standings(given, names, scores)}


def test_a_fall_of_every_task_is_a_regression() -> None:
    many = {f"t{n}": {"scope": (5.0, 5.0, 5.0)} for n in range(10)}
    found = words(rules(many), [score(name, [3, 3, 3]) for name in many])
    assert found["scope"] is Word.REGRESSED


def test_one_point_of_one_sample_is_noise_and_does_not_gate() -> None:
    given = rules({"a": {"scope": (5.0, 5.0, 5.0)}})
    scores = [score("a", [4, 5, 5])]
    assert words(given, scores) == {"a.scope": Word.NOISE}
    assert all(check.decision is Decision.PASS for check in task_checks(given, ["a"], scores))


def test_gate_point_fails_on_any_fall_beyond_the_drop() -> None:
    given = rules({"a": {"scope": (5.0,)}}, against_point=True)
    assert words(given, [score("a", [4])]) == {"a.scope": Word.REGRESSED}
    assert words(given, [score("a", [5])]) == {"a.scope": Word.SAME}


def test_exactly_the_drop_is_no_regression() -> None:
    given = rules({"a": {"scope": (4.0, 4.0, 4.0)}}, against_point=True, max_drop=1.0)
    assert words(given, [score("a", [3, 3, 3])]) == {"a.scope": Word.SAME}


def test_a_judge_that_can_tell_nothing_at_all_measures_nothing() -> None:
    given = rules({"a": {"scope": (4.0,)}})
    silent = [score("a", [None]), score("a", [None], "size")]
    assert [c.decision for c in task_checks(given, ["a"], silent) if "any task" in c.reason] == [Decision.INCONCLUSIVE]
    assert not [c for c in task_checks(given, ["a"], [*silent, score("b", [4])]) if "any task" in c.reason]


def test_a_zero_is_compared_with_nothing() -> None:
    given = rules({"a": {"scope": (4.0,)}}, against_point=True)
    assert words(given, [score("a", [None])]) == {"a.scope": Word.ABSTAINED}


def test_a_missing_task_fails_unless_only_some_were_selected() -> None:
    given = rules({"a": {"scope": (4.0,)}, "gone": {"scope": (4.0,)}})
    checks = task_checks(given, ["a"], [score("a", [4])])
    assert [check.decision for check in checks if check.metric == "missing"] == [Decision.FAIL]
    selected = msgspec.structs.replace(given, selected=True)
    assert "gone" not in words(selected, [score("a", [4])])


def test_a_missing_task_fails_also_when_no_judge_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = write_suite(tmp_path, agent=agent(tmp_path, SOLVES))
    kept = {"version": 1, "judge": {"model": "another"}, "tasks": {"fix-load": {"scores": {"scope": [5]}}}}
    (root / BASELINE).write_text(json.dumps(kept))
    whole = adjudge("run", str(root), "--no-llm", cwd=tmp_path)
    assert whole.returncode == 0, whole.stdout + whole.stderr
    assert "pairwise" not in whole.stdout  # which nobody asked for
    kept["tasks"] = {"fix-load": {}, "gone": {"scores": {"scope": [5]}}}
    (root / BASELINE).write_text(json.dumps(kept))
    without = adjudge("run", str(root), "--no-llm", "--fresh", cwd=tmp_path)
    assert without.returncode == 1
    assert "gone: missing" in without.stdout
    assert "1 missing" in without.stdout


def test_new_changed_and_unscored_are_words_of_their_own() -> None:
    given = rules({"a": {"scope": (4.0,)}, "old": {"scope": (4.0,)}}, digests={"old": "new", "a": ""})
    baseline = msgspec.structs.replace(
        given.baseline,  # type: ignore[type-var]
        tasks={"a": TaskBaseline(scores={"scope": (4.0,)}), "old": TaskBaseline(digest="x", scores={"scope": (4.0,)})},
    )
    given = msgspec.structs.replace(given, baseline=baseline)
    lost = Score(case="a", judge="rubric", criterion="scope", status=Status.UNSCORED)
    found = words(given, [lost, score("old", [4]), score("fresh", [4])])
    assert found == {"a.scope": Word.UNSCORED, "old": Word.CHANGED, "fresh": Word.NEW}
    decisions = {c.metric: c.decision for c in task_checks(given, ["a", "old", "fresh"], [lost, score("old", [4])])}
    assert decisions["changed"] is Decision.INCONCLUSIVE
    assert decisions["unscored"] is Decision.BROKEN


def test_a_dimension_that_is_new_has_its_score() -> None:
    given = rules({"a": {"scope": (4.0,)}})
    told = standings(given, ["a"], [score("a", [4]), score("a", [3, 2], "fresh")])
    assert [(one.word, one.before, one.after) for one in told if one.dimension == "fresh"] == [(Word.NEW, None, 2.5)]


def test_a_task_in_quarantine_is_shown_and_does_not_gate() -> None:
    away = (Quarantined(task="a", until="2999-01-01"),)
    given = rules({"a": {"scope": (5.0,)}}, against_point=True, quarantined=away)
    scores = [score("a", [1])]
    assert words(given, scores) == {"a.scope": Word.FLAKY}
    assert all(check.decision is Decision.PASS for check in task_checks(given, ["a"], scores))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("spread", [0.3, 0.5])
@pytest.mark.parametrize(("tasks", "samples"), [(1, 3), (2, 3), (2, 5), (3, 5), (10, 3)])
def test_equal_runs_rarely_fail(tasks: int, samples: int, spread: float, shared: bool) -> None:
    """At most 2% of pairs of equal runs, although the agent's work itself differs from run to run, by so many points
    (standard deviation), in each dimension by itself or in all of a task alike."""
    generator = random.Random(4)
    failed = 0
    rounds = 2_000 if SOAK else 300
    for _ in range(rounds):
        cells = []
        for _ in range(tasks):
            runs = [generator.gauss(0, spread), generator.gauss(0, spread)]
            for _ in range(4):
                true = generator.uniform(2.5, 5)
                pair = []
                for run in runs:
                    work = true + (run if shared else generator.gauss(0, spread))
                    pair.append([min(5, max(1, round(work + generator.gauss(0, 0.4)))) for _ in range(samples)])
                cells.append((pair[0], pair[1]))
        groups = [list(range(first, len(cells), 4)) for first in range(4)] if tasks > 1 else []
        singles, grouped = falls(cells, groups)
        failed += any(one.certain and one.drop > 0.3 for one in (*singles, *grouped))
    chance = 0 if spread < 0.5 or SOAK else 2 * math.sqrt(0.02 * 0.98 / rounds)  # of so few rounds
    assert failed / rounds <= 0.02 + chance


@pytest.mark.parametrize(("tasks", "drop", "least"), [(10, 1, 97), (5, 2, 97), (1, 3, 93)])
def test_a_fall_is_mostly_found(tasks: int, drop: int, least: int) -> None:
    """Of all ten tasks by a point, of half of them by two, or of one by three."""
    generator = random.Random(4)
    found = 0
    for _ in range(100):
        cells: list[tuple[list[int], list[int]]] = []
        for cell in range(40):
            true = generator.uniform(4, 5)
            fallen = [0, drop if cell < tasks * 4 else 0]
            works = [true - by + generator.gauss(0, 0.3) for by in fallen]
            sides = [[min(5, max(1, round(w + generator.gauss(0, 0.4)))) for _ in range(3)] for w in works]
            cells.append((sides[0], sides[1]))
        singles, grouped = falls(cells, [list(range(first, 40, 4)) for first in range(4)])
        found += any(one.certain for one in (*singles, *grouped))
    assert found >= least


@pytest.mark.parametrize(
    ("later", "fell"),
    [({"a": 1}, {"a"}), ({"a": 2, "b": 4}, {"a"}), ({"a": 3, "b": 3, "c": 3}, {""}), ({"a": 1, "b": 1}, {"a", "b"})],
)
def test_a_fall_of_points_in_few_tasks_is_no_scatter_of_equal_runs(later: dict[str, int], fell: set[str]) -> None:
    """One of two tasks, or two of four, collapse in every dimension, or all of three fall by two points."""
    tasks = "abcd" if fell == {"a", "b"} else "abc" if "c" in later else "ab"
    dimensions = ("w", "x", "y", "z")
    given = rules({task: dict.fromkeys(dimensions, (5.0, 5.0, 5.0)) for task in tasks})
    scores = [score(task, [later.get(task, 5)] * 3, name) for task in tasks for name in dimensions]
    found = {(one.task, one.dimension) for one in standings(given, list(tasks), scores) if one.word is Word.REGRESSED}
    assert {(task, name) for task in fell for name in dimensions} <= found


def test_what_became_better_does_not_hide_what_became_worse() -> None:
    tasks = {f"t{n}": {"scope": (3.0, 3.0, 3.0), "size": (3.0, 3.0, 3.0)} for n in range(4)}
    later = {"t0": 5, "t1": 1}
    scores = [score(name, [later.get(name, 3)] * 3, dimension) for name in tasks for dimension in ("scope", "size")]
    assert words(rules(tasks), scores)["t1.scope"] is not Word.REGRESSED  # two points of one task are not enough
    grown = {name: {"scope": (4.0, 4.0, 4.0), "size": (4.0, 4.0, 4.0)} for name in tasks}
    worse = [
        score(name, [1 if name == "t1" else 5 if name == "t0" else 4] * 3, d) for name in tasks for d in grown[name]
    ]
    assert words(rules(grown), worse)["t1.scope"] is Word.REGRESSED


def test_the_ratchet_takes_what_is_new_and_better_and_lets_nothing_creep() -> None:
    steady: dict[str, dict[str, tuple[float, ...]]] = {f"t{n}": {"scope": (4.0, 4.0, 4.0)} for n in range(6)}
    given = rules(
        {"a": {"scope": (2.0, 2.0, 2.0)}, "b": {"scope": (4.0, 4.0, 4.0)}, "away": {"scope": (2.0,)}, **steady}
    )
    scores = [score("a", [5, 5, 5]), score("b", [4, 4, 3]), score("c", [2, 2, 2])]
    scores += [score(name, [4, 4, 4]) for name in steady]
    made = next_baseline(given, ["a", "b", "c", *steady], scores, accept=False, samples=3).tasks
    assert made["a"].scores["scope"] == (5, 5, 5)
    assert made["b"].scores["scope"] == (4, 4, 4)  # not a bit lower with every run
    assert made["c"].scores["scope"] == (2, 2, 2)
    assert made["away"].scores["scope"] == (2,)  # a part of the tasks deletes nothing


def test_accepting_takes_lower_scores_and_keeps_what_could_not_be_told() -> None:
    given = rules({"a": {"scope": (5.0,), "other": (4.0,)}})
    scores = [score("a", [2]), score("a", [None], "other")]
    made = next_baseline(given, ["a"], scores, accept=True, samples=1).tasks["a"]
    assert made.scores == {"scope": (2,), "other": (4,)}


def test_the_articles_own_baseline_is_read_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / BASELINE
    path.write_text(json.dumps({"a": {"scope": 4.5, "other": 0}}))
    problems: list[Problem] = []
    read = read_baseline(path, "baseline.json", problems)
    assert read is not None
    assert read.tasks["a"].scores == {"scope": (4.5,)}  # a 0 said that the judge could not tell
    assert [problem.warning for problem in problems] == [True]


def test_scores_of_another_judge_are_refused_before_anything_is_paid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    root = write_suite(tmp_path, agent=agent(tmp_path, SOLVES))
    kept = {"version": 1, "judge": msgspec.to_builtins(JudgeIdentity(model="another")), "tasks": {}}
    (root / BASELINE).write_text(json.dumps(kept))
    with LoopbackProvider(scoring(correctness=5, scope=5)) as provider:
        with pytest.raises(ConfigError, match=r"another judge.*another -> "):
            judged(root, provider)
        assert provider.requests == []
        assert judged(root, provider, accept_baseline=True).gate.decision is Decision.PASS


def test_from_a_first_baseline_to_a_regression_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    root = write_suite(tmp_path, agent=agent(tmp_path, SOLVES), gate="point")
    with LoopbackProvider(scoring(correctness=5, scope=5)) as provider:
        first = adjudge("run", str(root), "--update-baseline", "accept", cwd=tmp_path, **provider.env())
        assert first.returncode == 0, first.stdout + first.stderr
        assert "wrote" in first.stderr
    kept = json.loads((root / BASELINE).read_text())
    assert kept["tasks"]["fix-load"]["scores"]["scope"] == [5]
    assert kept["judge"]["model"]
    with LoopbackProvider(scoring(correctness=5, scope=3)) as provider:
        second = adjudge("run", str(root), "--fresh", "--update-baseline", "ratchet", cwd=tmp_path, **provider.env())
    assert second.returncode == 1
    assert "fix-load.scope: regressed, 5.00 -> 3.00" in second.stdout
    assert "stays as it is: the run did not pass" in second.stderr
    assert json.loads((root / BASELINE).read_text()) == kept
