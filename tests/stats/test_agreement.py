"""Agreement: against scikit-learn and by hand, and how often kappa's interval holds the truth."""

from __future__ import annotations

import math
import os
import random
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.stats.agreement import Weights, bias, cohen_kappa, confusion, exact_agreement, rates, within
from adjudge.stats.intervals import wilson

REPEATS = 5_000 if os.environ.get("ADJUDGE_SOAK") == "1" else 300
PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=60)
WEIGHTS: list[Weights] = ["none", "linear", "quadratic"]


@given(pairs=PAIRS, weights=st.sampled_from(WEIGHTS))
def test_kappa_is_scikit_learns(pairs: list[tuple[int, int]], weights: Weights) -> None:
    metrics = import_module("sklearn.metrics")
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    ours = cohen_kappa(a, b, weights=weights, labels=range(1, 6))
    if len({*a, *b}) == 1:
        assert ours.value is None
        return
    theirs = metrics.cohen_kappa_score(a, b, labels=[1, 2, 3, 4, 5], weights=None if weights == "none" else weights)
    assert ours.value == pytest.approx(theirs, abs=1e-9)
    if ours.low is not None and ours.high is not None:
        assert ours.low <= theirs + 1e-9
        assert theirs - 1e-9 <= ours.high <= 1


@given(pairs=PAIRS, weights=st.sampled_from(WEIGHTS))
def test_kappa_is_that_of_statsmodels(pairs: list[tuple[int, int]], weights: Weights) -> None:
    rater = pytest.importorskip("statsmodels.stats.inter_rater", reason="statsmodels is not installed")
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    ours = cohen_kappa(a, b, weights=weights, labels=range(1, 6))
    if len({*a, *b}) == 1:
        assert ours.value is None
        return
    table = [[pairs.count((x, y)) for y in range(1, 6)] for x in range(1, 6)]
    theirs = rater.cohens_kappa(table, wt=None if weights == "none" else weights, return_results=False)
    assert ours.value == pytest.approx(theirs, abs=1e-9)


def test_what_is_not_defined_is_none() -> None:
    assert cohen_kappa([1, 1, 1], [1, 1, 1]).value is None
    assert cohen_kappa([], []).value is None
    assert exact_agreement([None], [1]).value is None
    assert bias([None], [1]).value is None
    assert [rate.value for rate in rates([True, False], [True, True])] == [0.5, None]


def test_figures_by_hand() -> None:
    a, b = [1, 2, 3, 4, None, 5], [1, 3, 3, 2, 4, 5]
    assert exact_agreement(a, b).value == 0.6
    assert within(a, b).value == 0.8
    assert within(a, b).n == 5
    assert bias(a, b).value == pytest.approx(0.2)
    assert confusion(["x", "y"], ["y", "y"]).counts == ((0, 1), (0, 1))
    exact = exact_agreement(a, b)
    assert (exact.low, exact.high) == wilson(3, 5)


def test_perfect_agreement_is_not_certainty() -> None:
    found = cohen_kappa([0, 1] * 15, [0, 1] * 15)
    assert found.value == 1
    assert found.high == 1
    assert found.low is not None
    assert 0.5 < found.low < 0.95


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="3 labels but 2"):
        cohen_kappa([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="distinct"):
        cohen_kappa([1, 9], [1, 2], labels=[1, 2])
    with pytest.raises(ValueError, match="sorted"):
        confusion([1, "a"], ["a", 1])


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("kappa", "n"), [(0.3, 100), (0.5, 30), (0.85, 30), (0.7, 100)])
def test_the_interval_of_kappa_holds_the_truth_about_95_times_in_100(kappa: float, n: int, weights: Weights) -> None:
    generator = random.Random(f"{kappa}{n}{weights}")
    points = range(1, 6)
    held = 0
    for _ in range(REPEATS):
        human = generator.choices(points, k=n)
        judge = [x if generator.random() < kappa else generator.choice(points) for x in human]
        found = cohen_kappa(judge, human, weights=weights, labels=points)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= kappa <= found.high
    reach = 4 * math.sqrt(0.95 * 0.05 / REPEATS)
    assert 0.93 - reach <= held / REPEATS <= 0.97 + reach
