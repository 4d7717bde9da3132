"""Two runs side by side: what is tested with what, what is counted, and what is not compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.domain import (
    Binary,
    CaseRun,
    CaseStub,
    Comparison,
    Criterion,
    ErrorKind,
    ExecutionResult,
    Failure,
    JudgeComparison,
    Levels,
    Likert,
    Numeric,
    RunResult,
    Scale,
    Score,
    Status,
    TokenUsage,
    Usage,
    Value,
)
from adjudge.scoring import compare, compose, normalise
from adjudge.stats import holm, mcnemar, wilcoxon
from tests.support.build import judge, lost, result, said, score, skipped, snapshot, summary


def scored(
    values: Sequence[Value | None],
    scale: Scale | None = None,
    *,
    negate: bool = False,
    by: str = "good",
    first: int = 0,
) -> list[Score]:
    """Scores as the engine makes them, normalised on the scale; the cases called by number, from `first`."""
    criterion = Criterion(name=by, scale=scale, negate=negate)
    return [
        score(value, str(k), by, normalised=None if value is None else normalise(criterion, value))
        for k, value in enumerate(values, first)
    ]


def run(*columns: list[Score], **fields: Any) -> RunResult:
    judges = [summary(column, column[0].judge) for column in columns]
    return result([one for column in columns for one in column], judges=judges, **fields)


def one(ours: list[Score], theirs: list[Score], **options: Any) -> JudgeComparison:
    (found,) = compare(run(ours), run(theirs), **options).judges
    return found


def test_booleans_are_tested_with_mcnemar() -> None:
    found = one(scored([True] * 8 + [False] * 2), scored([False] * 6 + [True] * 3 + [False]))
    assert (found.metric, found.test, found.n) == ("pass_rate", "mcnemar exact", 10)
    assert (found.value_a, found.value_b) == (0.8, 0.3)
    assert found.difference == pytest.approx(0.5)
    assert (found.better, found.worse, found.equal) == (6, 1, 3)
    assert found.p == mcnemar(6, 1)
    assert found.p_holm == found.p
    assert found.interval is not None
    assert found.interval.low < 0.5 < found.interval.high
    assert found.interval.method == "bootstrap bca"


def test_numbers_are_tested_with_the_signed_rank_test() -> None:
    ours, theirs = [5, 4, 4, 3, 5, 2], [3, 4, 2, 4, 3, 1]
    found = one(scored(ours, Likert(5)), scored(theirs, Likert(5)))
    assert (found.metric, found.test) == ("mean", "wilcoxon signed-rank")
    assert found.p == wilcoxon([2, 0, 2, -1, 2, 1]).p
    assert (found.value_a, found.value_b) == pytest.approx((23 / 6, 17 / 6))
    assert (found.better, found.worse, found.equal) == (4, 1, 1)
    assert found.effect == pytest.approx(1 / (8 / 5) ** 0.5)


def test_levels_are_compared_by_their_place() -> None:
    scale = Levels(("poor", "fair", "good"))
    found = one(scored(["good", "fair", "good"], scale), scored(["poor", "fair", "fair"], scale))
    assert found.metric == "mean"
    assert (found.value_a, found.value_b) == pytest.approx((5 / 6, 1 / 3))
    assert (found.better, found.worse, found.equal) == (2, 0, 1)
    assert found.disagreements[0].value_a == "good"


def test_differences_that_binary_fractions_make_are_none() -> None:
    found = one(scored([0.1 + 0.2, 0.3, 0.8]), scored([0.3, 0.1, 0.6]))
    assert (found.better, found.worse, found.equal) == (2, 0, 1)
    assert found.p == wilcoxon([1, 1]).p


@pytest.mark.parametrize("scale", [None, Binary(), Likert(5), Numeric(0, 10)], ids=repr)
def test_where_less_is_better_a_rise_is_worse(scale: Scale | None) -> None:
    low, high = (False, True) if scale in (None, Binary()) else (1, 4)
    ours, theirs = [high, high, low], [low, low, low]
    found = one(scored(ours, scale, negate=True), scored(theirs, scale, negate=True))
    assert found.lower_is_better
    assert (found.better, found.worse, found.equal) == (0, 2, 1)
    assert found.difference is not None
    assert found.difference > 0
    plain = one(scored(ours, scale), scored(theirs, scale))
    assert not plain.lower_is_better
    assert (plain.better, plain.worse) == (2, 0)


@pytest.mark.parametrize(
    ("ours", "theirs", "why"),
    [
        pytest.param(scored([True, 3]), scored([True, False]), "the run has values of several kinds", id="mixture"),
        pytest.param(scored([2, 3]), scored([True, 4]), "the baseline has values of several kinds", id="mixed before"),
        pytest.param(scored([2, 3]), scored([True, False]), "the run has numbers, the baseline booleans", id="kinds"),
        pytest.param(
            scored([2, 3], Likert(5)), scored([2, 3], Numeric(0, 10)), "the scales differ", id="the same values"
        ),
        pytest.param(
            scored([2, 3], Likert(5)), scored([6, 7], Numeric(0, 10)), "the scales differ", id="no value in common"
        ),
        pytest.param(
            scored([True, True]), scored([True, False], negate=True), "the scales differ", id="one of them negated"
        ),
        pytest.param(
            scored(["b", "c"], Levels(("a", "b", "c"))),
            scored(["b", "c"], Levels(("b", "c"))),
            "the scales differ",
            id="labels",
        ),
        pytest.param(scored([None, None]), scored([True, False]), "no case has a score in both runs", id="no score"),
        pytest.param(scored([True, None]), scored([None, True]), "no case has a score in both runs", id="no pair"),
        pytest.param(scored([1.7e308]), scored([-1.7e308]), "the values are too large to subtract", id="huge"),
    ],
)
def test_what_cannot_be_compared_is_not_and_says_so(ours: list[Score], theirs: list[Score], why: str) -> None:
    found = one(ours, theirs)
    assert found.note == f"not compared: {why}"
    assert (found.metric, found.test, found.p, found.p_holm, found.interval) == (None, "", None, None, None)


def test_a_scale_that_one_run_alone_shows_is_a_note_and_no_hindrance() -> None:
    found = one(scored([2, 5], Likert(5)), scored([3, 4]))
    assert found.p is not None
    assert found.note == "the scale is known for one of the runs only"


def test_scales_that_the_scores_cannot_tell_apart_are_compared() -> None:
    assert one(scored([5, 5], Likert(5)), scored([5, 4], Likert(5))).n == 2
    assert one(scored([5, 5], Likert(5)), scored([1, 1], Likert(5))).better == 2


def test_each_case_is_counted_once_as_paired_unscored_alone_or_skipped() -> None:
    theirs = scored([True, False, None, True, True])
    ours = [
        *scored([True, None, None]),
        score(case="3", status=Status.SKIPPED),
        score(case="5", status=Status.ABSTAINED),
        *scored([True], first=6),
    ]
    found = one(ours, theirs)
    assert (found.n, found.unscored_a, found.unscored_b) == (1, 2, 1)
    assert (found.only_in_a, found.only_in_b) == (2, 2)


def test_p_is_corrected_for_every_judge_that_has_one() -> None:
    a = [scored([True] * 9, by="x"), scored([5, 4, 5, 4], by="y"), scored([None], by="z")]
    b = [scored([False] * 9, by="x"), scored([1, 1, 1, 2], by="y"), scored([True], by="z")]
    x, y, z = compare(run(*a), run(*b)).judges
    assert x.p is not None
    assert y.p is not None
    assert [x.p_holm, y.p_holm] == holm([x.p, y.p])
    assert x.p_holm == 2 * x.p
    assert z.p_holm is None


def test_the_largest_differences_are_shown_first_and_of_equal_ones_those_for_the_worse() -> None:
    ours, theirs = [3, 5, 1, 2, 3], [3, 4, 2, 5, 3]
    a = [msgspec.structs.replace(one, rationale="r" * 400) for one in scored(ours)]
    found = one(a, scored(theirs)).disagreements
    assert [(d.case, d.value_a, d.value_b) for d in found] == [("3", 2, 5), ("2", 1, 2), ("1", 5, 4)]
    assert found[0].rationale_a == "r" * 300
    assert found[0].rationale_b == ""
    many = one(scored([True] * 40), scored([False] * 40))
    assert [d.case for d in many.disagreements] == [str(k) for k in range(10)]


def test_what_either_run_lacks_is_named() -> None:
    a = run(scored([True], by="x"), scored([True, True], by="new"), suite="mine")
    b = run(scored([True], by="x"), scored([True], by="old", first=7), suite="theirs")
    found = compare(a, b, names=("runs/a", "runs/b"))
    assert (found.a.name, found.b.name) == ("runs/a", "runs/b")
    assert (found.judges_only_in_a, found.judges_only_in_b) == (("new",), ("old",))
    assert (found.cases_only_in_a, found.cases_only_in_b) == (("1",), ("7",))
    assert found.notes == ("the runs are of different suites: mine and theirs",)


def test_runs_without_a_judge_in_common_say_so() -> None:
    found = compare(run(scored([True], by="x")), run(scored([True], by="y")))
    assert found.judges == ()
    assert found.notes == ("the runs have no judge in common",)


def test_a_change_of_the_judging_model_is_told() -> None:
    columns = scored([True])
    a, b = (result(columns, judges=[summary(columns, model=model)]) for model in ("m1 at x", "m2 at x"))
    assert "judged by m1 at x, in the baseline by m2 at x" in compare(a, b).notes[0]


def test_costs_and_tokens_stand_beside_each_other_where_they_are_known() -> None:
    columns = scored([True])
    paid = Usage(calls=1, input=10, output=2, cost_usd=0.25, price_source="list")
    ran = ExecutionResult(
        agent="a",
        cases=(CaseRun(case="0", cost_usd=1.5, token_usage=TokenUsage(input=5, output=7)), CaseRun(case="1")),
    )
    a = result(columns, judges=[summary(columns, usage=paid)], usage=paid, execution=ran)
    found = compare(a, run(columns))
    assert (found.judges[0].cost_a, found.judges[0].cost_b) == (0.25, None)
    assert found.a.judging == paid
    assert (found.a.agent_cost_usd, found.a.agent_tokens) == (1.5, TokenUsage(input=5, output=7))
    assert (found.b.agent_cost_usd, found.b.agent_tokens) == (None, None)


def test_what_the_engine_composes_compares_with_itself() -> None:
    asked = [judge(scale=Likert(5)), judge("other")]
    verdicts = [said(3), said(4, "b"), lost("c"), said(True, by="other"), skipped("b", "other"), lost("c", "other")]
    made = compose(snapshot(asked, "abc"), verdicts)
    first, second = compare(made, made).judges
    assert (first.n, first.unscored_a, first.difference, first.p, first.interval) == (2, 1, 0, 1.0, None)
    assert (second.n, second.only_in_a) == (1, 0)


VALUES = st.lists(st.none() | st.integers(1, 5), min_size=1, max_size=12)


@given(ours=VALUES, theirs=VALUES)
def test_changing_sides_turns_every_figure_round(ours: list[int | None], theirs: list[int | None]) -> None:
    a, b = run(scored(ours, Likert(5))), run(scored(theirs, Likert(5)))
    there, back = compare(a, b).judges[0], compare(b, a).judges[0]
    assert (there.better, there.worse, there.equal) == (back.worse, back.better, back.equal)
    assert (there.unscored_a, there.only_in_a) == (back.unscored_b, back.only_in_b)
    assert there.p == (None if back.p is None else pytest.approx(back.p))
    assert there.difference == (None if back.difference is None else pytest.approx(-back.difference))
    assert there.better + there.worse + there.equal == (there.n if there.metric else 0)


@given(ours=VALUES, theirs=VALUES, seed=st.integers())
def test_the_same_runs_and_seed_give_the_same_comparison_which_survives_json(
    ours: list[int | None], theirs: list[int | None], seed: int
) -> None:
    a, b = run(scored(ours)), run(scored(theirs))
    found = compare(a, b, seed=seed % 2**32)
    assert compare(a, b, seed=seed % 2**32) == found
    assert msgspec.json.decode(msgspec.json.encode(found), type=Comparison) == found


def test_an_unscored_case_is_never_a_zero() -> None:
    failed = score(case="1", error=Failure(ErrorKind.TIMEOUT))
    found = one([*scored([5]), failed], scored([5, 5]))
    assert (found.n, found.difference, found.unscored_a) == (1, 0, 1)


def test_cases_keep_their_ids() -> None:
    a = run(scored([True]), cases=(CaseStub(id="0"), CaseStub(id="extra")))
    assert compare(a, run(scored([True]))).cases_only_in_a == ("extra",)


def test_pairwise_judges_which_speak_of_two_runs_stay_out() -> None:
    columns = scored(["A", "B"], Levels(("A", "tie", "B")))
    made = result(columns, judges=[summary(columns, kind="pairwise")])
    found = compare(made, made)
    assert found.judges == ()
