"""From what was said of both orders to a winner, a win rate and its figures, without any model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.domain import (
    CaseStub,
    ErrorKind,
    PairwiseCase,
    PairwiseJudge,
    PairwiseResult,
    RunResult,
    Snapshot,
    Status,
    Threshold,
    Verdict,
    unscored,
)
from adjudge.scoring import compose

NAME = "pairwise"
Answer = str | None
Pair = tuple[Answer, Answer]
"""What is preferred with the run first, and with the baseline first; `None` for an answer that could not be had."""


def verdict(case: str, order: str, said: Answer, sample: int = 0) -> Verdict:
    if said is None:
        return unscored(case, NAME, order, ErrorKind.TIMEOUT, sample=sample)
    return Verdict(case=case, judge=NAME, criterion=order, sample=sample, status=Status.SCORED, value=said)


def composed(cases: Sequence[Sequence[Pair]], **thresholds: Threshold) -> RunResult:
    """A run over these cases, each with its samples."""
    judge = PairwiseJudge(name=NAME, samples=max(map(len, cases), default=1))
    stubs = tuple(CaseStub(id=str(k)) for k in range(len(cases)))
    verdicts = [
        verdict(str(k), order, pair[place], sample)
        for k, samples in enumerate(cases)
        for sample, pair in enumerate(samples)
        for place, order in enumerate(("run_first", "baseline_first"))
    ]
    snapshot = Snapshot(suite="suite", judges=(judge,), cases=stubs, thresholds=thresholds, baseline="old")
    return compose(snapshot, verdicts)


def compared(*cases: Pair) -> PairwiseResult:
    (result,) = composed([[pair] for pair in cases]).pairwise
    return result


def sampled(*samples: Pair) -> PairwiseCase:
    ((case,),) = [result.cases for result in composed([samples]).pairwise]
    return case


WIN, LOSS, TIE, FLIP, LOST = ("A", "B"), ("B", "A"), ("tie", "tie"), ("A", "A"), ("A", None)


@pytest.mark.parametrize(
    ("samples", "winner", "flipped"),
    [
        pytest.param([WIN, WIN, LOSS], "run", False, id="two of three"),
        pytest.param([LOSS, LOSS, WIN], "baseline", False, id="the first does not decide"),
        pytest.param([WIN, LOSS, TIE], "tie", False, id="one each"),
        pytest.param([WIN, WIN, LOSS, LOSS], "tie", False, id="half is not most"),
        pytest.param([WIN, TIE, TIE], "tie", False, id="most are ties"),
        pytest.param([FLIP, FLIP, WIN], "tie", True, id="most flip"),
        pytest.param([FLIP, TIE, WIN], "tie", False, id="one flips"),
        pytest.param([("A", "tie")], "tie", False, id="a win and a tie is no flip"),
        pytest.param([WIN, WIN, LOST], "run", False, id="one is lost"),
        pytest.param([WIN, LOST], "run", False, id="half is usable"),
        pytest.param([WIN, LOST, LOST], "", False, id="most are lost"),
        pytest.param([LOST, LOST], "", False, id="all are lost"),
        pytest.param([(None, "A"), ("A", None)], "", False, id="no sample has both orders"),
    ],
)
def test_the_winner_is_what_most_of_the_usable_samples_came_to(samples: list[Pair], winner: str, flipped: bool) -> None:
    case = sampled(*samples)
    assert (case.winner, case.flipped) == (winner, flipped)
    assert (case.failure is None) == bool(winner)


def test_what_each_sample_came_to_is_kept_in_order() -> None:
    assert sampled(WIN, FLIP, LOSS, LOST, WIN).samples == ("run", "tie", "baseline", "", "run")


def test_a_lone_sample_is_not_listed() -> None:
    assert sampled(WIN).samples == ()


def test_one_order_without_an_answer_is_unscored_with_its_reason() -> None:
    for pair in (("A", None), (None, "A"), (None, None), ("tie", None)):
        result = compared(pair)
        (case,) = result.cases
        assert (result.n, result.ties, result.unscored, case.winner) == (0, 0, 1, "")
        assert case.failure is not None
        assert case.failure.kind is ErrorKind.TIMEOUT


def test_nothing_usable_has_no_figures() -> None:
    result = compared(LOST)
    assert (result.win_rate, result.low, result.high, result.p) == (None, None, None, None)
    assert composed([[LOST]], pairwise=Threshold(min_win_rate=0.0)).decision == "broken"


def test_a_lost_case_is_in_no_rate() -> None:
    result = compared(WIN, LOST)
    assert (result.n, result.win_rate, result.unscored) == (1, 1.0, 1)


def test_what_was_not_asked_yet_is_unscored() -> None:
    judge = PairwiseJudge(name=NAME)
    snapshot = Snapshot(suite="suite", judges=(judge,), cases=(CaseStub(id="0"),))
    (result,) = compose(snapshot, [verdict("0", "run_first", "A")]).pairwise
    (case,) = result.cases
    assert case.failure is not None
    assert (case.winner, case.failure.kind) == ("", ErrorKind.INTERRUPTED)


@pytest.mark.parametrize(
    ("wins", "losses", "ties", "p"),
    [(5, 0, 0, 0.0625), (0, 5, 3, 0.0625), (6, 0, 0, 0.03125), (3, 3, 0, 1.0), (0, 0, 4, 1.0), (8, 1, 0, 20 / 512)],
)
def test_the_sign_test_is_exact_and_leaves_ties_out(wins: int, losses: int, ties: int, p: float) -> None:
    result = compared(*[WIN] * wins, *[LOSS] * losses, *[TIE] * ties)
    assert result.p == pytest.approx(p, abs=1e-12)


def test_an_interval_needs_cases_that_differ() -> None:
    assert compared(WIN, WIN, WIN).low is None
    assert compared(WIN).low is None
    result = compared(WIN, WIN, LOSS)
    assert result.low is not None


@pytest.mark.parametrize(
    ("cases", "share"),
    [([WIN], 0.5), ([FLIP], 1.0), ([("B", "B")], 0.0), ([FLIP, WIN], 0.75), ([TIE], None), ([LOST], 1.0)],
)
def test_the_share_of_the_first_place_is_over_answers_that_prefer_any(cases: list[Pair], share: float | None) -> None:
    assert compared(*cases).first_share == share


def test_every_sample_counts_in_the_share_of_the_first_place() -> None:
    (result,) = composed([[WIN, FLIP]]).pairwise
    assert result.first_share == 0.75


ANSWERS = st.lists(st.tuples(st.sampled_from(["A", "B", "tie", None]), st.sampled_from(["A", "B", "tie", None])))
CASES = st.lists(ANSWERS.filter(bool).map(lambda made: (made * 3)[:3]), min_size=1, max_size=6)


def mirrored(cases: Iterable[Sequence[Pair]]) -> list[list[Pair]]:
    """The same answers where the run is the baseline, and the other way round."""
    return [[(after, before) for before, after in samples] for samples in cases]


@given(CASES)
def test_swapping_the_runs_swaps_the_winners_and_nothing_else(cases: list[list[Pair]]) -> None:
    (ours,), (theirs,) = composed(cases).pairwise, composed(mirrored(cases)).pairwise
    assert (ours.wins, ours.losses, ours.ties, ours.flips) == (theirs.losses, theirs.wins, theirs.ties, theirs.flips)
    assert (ours.n, ours.unscored, ours.p) == (theirs.n, theirs.unscored, theirs.p)
    assert ours.first_share == theirs.first_share
    if ours.win_rate is not None and theirs.win_rate is not None:
        assert ours.win_rate + theirs.win_rate == pytest.approx(1.0)


@given(CASES)
def test_the_counts_add_up(cases: list[list[Pair]]) -> None:
    (result,) = composed(cases).pairwise
    assert result.n == result.wins + result.losses + result.ties
    assert result.n + result.unscored == len(cases)
    assert result.flips <= result.ties
    assert (result.win_rate is None) == (result.n == 0)
    if result.low is not None and result.high is not None:
        assert result.win_rate is not None
        assert 0 <= result.low <= result.win_rate <= result.high <= 1


def test_a_result_survives_json() -> None:
    result = compared(WIN, LOSS, FLIP, LOST)
    assert msgspec.json.decode(msgspec.json.encode(result), type=PairwiseResult) == result
