"""Intervals: against scipy, known answers, and how often they hold the truth."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Hashable, Sequence
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from adjudge.stats import clustered_mean, mean_of, mean_t, wilson

REPEATS = 200_000 if os.environ.get("ADJUDGE_SOAK") == "1" else 4_000
TOLERANCE = 4 * math.sqrt(0.95 * 0.05 / REPEATS)
VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40)
COUNTS = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
LEVEL = st.floats(0.01, 0.999)


@given(counts=COUNTS, level=LEVEL)
def test_wilson_is_scipys(counts: tuple[int, int], level: float) -> None:
    successes, n = counts
    theirs = stats.binomtest(successes, n).proportion_ci(confidence_level=level, method="wilson")
    assert wilson(successes, n, level=level) == pytest.approx((theirs.low, theirs.high), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        pytest.param(0, 10, 0.0, 0.2775, id="none of ten"),
        pytest.param(10, 10, 0.7225, 1.0, id="all of ten"),
        pytest.param(5, 10, 0.2366, 0.7634, id="half of ten"),
        pytest.param(81, 263, 0.2553, 0.3662, id="Newcombe 1998, table I"),
        pytest.param(15, 148, 0.0624, 0.1605, id="Newcombe 1998, table I, small rate"),
        pytest.param(1, 29, 0.0061, 0.1718, id="Newcombe 1998, table I, one of 29"),
    ],
)
def test_wilson_gives_the_published_answers(successes: int, n: int, low: float, high: float) -> None:
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


@given(counts=COUNTS, level=LEVEL)
def test_a_rate_lies_in_its_interval_and_the_interval_in_the_unit(counts: tuple[int, int], level: float) -> None:
    successes, n = counts
    low, high = wilson(successes, n, level=level)
    assert 0 <= low <= successes / n + 1e-12
    assert successes / n - 1e-12 <= high <= 1
    assert low < high


@given(counts=COUNTS)
def test_passes_and_failures_mirror_each_other(counts: tuple[int, int]) -> None:
    successes, n = counts
    low, high = wilson(successes, n)
    assert wilson(n - successes, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(counts=COUNTS, levels=st.tuples(LEVEL, LEVEL))
def test_more_confidence_is_a_wider_interval(counts: tuple[int, int], levels: tuple[float, float]) -> None:
    narrow, wide = (wilson(*counts, level=level) for level in sorted(levels))
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]


def _in(value: float, bounds: tuple[float, float]) -> bool:
    return bounds[0] <= value <= bounds[1]


@given(value=st.floats(allow_nan=False, allow_infinity=False), n=st.integers(1, 30))
@example(value=0.7, n=3)
@example(value=1.7e308, n=3)
def test_the_mean_of_equal_values_is_that_value(value: float, n: int) -> None:
    assert mean_of([value] * n) == value


@given(values=VALUES)
def test_the_mean_is_rounded_once(values: list[float]) -> None:
    exact = sum(map(Fraction, values)) / len(values)
    assert mean_of(values) == pytest.approx(float(exact), rel=1e-15, abs=1e-300)
    assert mean_of(values[::-1]) == mean_of(values)


def test_the_mean_of_the_largest_numbers_is_finite() -> None:
    assert mean_of([1.7e308, 1.6e308, 1.7e308]) == pytest.approx(5 / 3 * 1e308)
    assert mean_of([1.7e308, -1.7e308]) == 0


def test_none_and_all_reach_the_very_ends() -> None:
    assert {wilson(0, n)[0] for n in range(1, 300)} == {0.0}
    assert {wilson(n, n)[1] for n in range(1, 300)} == {1.0}


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-1, 5), (6, 5), (1, -1)])
def test_counts_that_cannot_be_are_refused(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="successes"):
        wilson(successes, n)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95, math.nan], ids=repr)
def test_levels_outside_zero_and_one_are_refused(level: float) -> None:
    with pytest.raises(ValueError, match="level"):
        wilson(1, 2, level=level)
    with pytest.raises(ValueError, match="level"):
        mean_t([1, 2], level=level)
    with pytest.raises(ValueError, match="level"):
        clustered_mean([1, 2], [0, 1], level=level)


@given(values=VALUES, level=LEVEL)
def test_the_interval_of_a_mean_is_scipys(values: list[float], level: float) -> None:
    error = float(stats.sem(values))
    centre = math.fsum(values) / len(values)
    reach = float(stats.t.ppf((1 + level) / 2, len(values) - 1)) * error
    size = max(map(abs, values))
    assert mean_t(values, level=level) == pytest.approx((centre - reach, centre + reach), rel=1e-6, abs=1e-9 * size)


def test_the_interval_of_a_mean_gives_a_hand_computed_answer() -> None:
    assert mean_t([1, 2, 3, 4, 5]) == pytest.approx((3 - 1.96324, 3 + 1.96324), abs=1e-5)


@pytest.mark.parametrize("values", [[], [0.5]], ids=["none", "one"])
def test_fewer_than_two_values_have_no_interval(values: list[float]) -> None:
    assert mean_t(values) is None


@given(value=st.floats(-1e6, 1e6), n=st.integers(2, 30))
def test_values_that_do_not_differ_have_an_interval_of_no_width(value: float, n: int) -> None:
    assert mean_t([value] * n) == pytest.approx((value, value), rel=1e-12, abs=1e-300)


@given(values=VALUES)
def test_one_value_a_cluster_is_the_ordinary_interval(values: list[float]) -> None:
    labels = [f"case-{k}" for k in range(len(values))]
    assert clustered_mean(values, labels) == mean_t(values)


@given(values=VALUES, copies=st.integers(2, 5))
def test_asking_the_same_again_adds_no_certainty(values: list[float], copies: int) -> None:
    repeated = [value for value in values for _ in range(copies)]
    clusters = [k for k in range(len(values)) for _ in range(copies)]
    once = mean_t(values)
    assert once is not None
    assert clustered_mean(repeated, clusters) == pytest.approx(once, rel=1e-6, abs=1e-9 * max(map(abs, values)))


@given(data=st.lists(st.tuples(st.floats(-100, 100), st.integers(0, 5)), min_size=2, max_size=30), seed=st.randoms())
def test_neither_order_nor_names_of_clusters_matter(data: list[tuple[float, int]], seed: random.Random) -> None:
    shuffled = data[:]
    seed.shuffle(shuffled)
    first = clustered_mean([value for value, _ in data], [cluster for _, cluster in data])
    second = clustered_mean([value for value, _ in shuffled], [f"c{cluster}" for _, cluster in shuffled])
    if first is None:
        assert second is None
    else:
        assert second == pytest.approx(first, abs=1e-9)


def test_the_clustered_interval_gives_a_hand_computed_answer() -> None:
    # Mean 3.5; cluster residuals -4, 0, 4; variance 32 * 3/2 / 36 = 4/3; t(0.975, 2) = 4.30265.
    reach = 4.3026527 * math.sqrt(4 / 3)
    values, clusters = [1, 2, 3, 4, 5, 6], ["a", "a", "b", "b", "c", "c"]
    assert clustered_mean(values, clusters) == pytest.approx((3.5 - reach, 3.5 + reach), abs=1e-6)


@pytest.mark.parametrize(
    ("values", "clusters"), [([], []), ([1.0], ["a"]), ([1.0, 2.0, 3.0], ["a", "a", "a"])], ids=["none", "one", "three"]
)
def test_fewer_than_two_clusters_have_no_interval(values: list[float], clusters: Sequence[Hashable]) -> None:
    assert clustered_mean(values, clusters) is None


def test_a_label_for_every_value_is_needed() -> None:
    with pytest.raises(ValueError, match="3 values but 2 cluster labels"):
        clustered_mean([1, 2, 3], ["a", "b"])


@pytest.mark.parametrize("n", [2, 5, 20])
def test_the_t_interval_holds_the_mean_of_normal_values_95_times_in_100(n: int) -> None:
    generator = random.Random(n)
    held = 0
    for _ in range(REPEATS):
        bounds = mean_t([generator.gauss(3, 2) for _ in range(n)])
        assert bounds is not None
        held += _in(3, bounds)
    assert held / REPEATS == pytest.approx(0.95, abs=TOLERANCE)


def _clustered_coverage(*, clusters: int, samples: int, seed: int) -> tuple[float, float]:
    """How often the clustered and the plain interval hold the mean 0, when cases differ more than samples."""
    generator = random.Random(seed)
    labels = [k for k in range(clusters) for _ in range(samples)]
    held = plain = 0
    for _ in range(REPEATS // 4):
        cases = [generator.gauss(0, 1) for _ in range(clusters)]
        values = [cases[k] + generator.gauss(0, 0.5) for k in labels]
        robust, naive = clustered_mean(values, labels), mean_t(values)
        assert robust is not None
        assert naive is not None
        held += _in(0, robust)
        plain += _in(0, naive)
    return held / (REPEATS // 4), plain / (REPEATS // 4)


@pytest.mark.parametrize("clusters", [4, 12])
def test_the_clustered_interval_holds_the_mean_of_repeated_samples_95_times_in_100(clusters: int) -> None:
    held, plain = _clustered_coverage(clusters=clusters, samples=5, seed=clusters)
    assert held == pytest.approx(0.95, abs=2 * TOLERANCE)
    assert plain < 0.8


@pytest.mark.parametrize(("rate", "n"), [(0.5, 20), (0.8, 30), (0.9, 50), (0.05, 100)])
def test_the_wilson_interval_holds_the_rate_as_often_as_can_be_counted(rate: float, n: int) -> None:
    generator = random.Random(n)
    bounds = [wilson(k, n) for k in range(n + 1)]
    exact = sum(float(stats.binom.pmf(k, n, rate)) for k, ends in enumerate(bounds) if _in(rate, ends))
    held = 0
    for _ in range(REPEATS):
        held += _in(rate, bounds[sum(generator.random() < rate for _ in range(n))])
    assert held / REPEATS == pytest.approx(exact, abs=TOLERANCE)
    assert 0.92 <= exact <= 0.98


@pytest.mark.parametrize("n", [5, 10, 30, 100])
def test_the_wilson_interval_is_right_on_average_over_all_rates(n: int) -> None:
    bounds = [wilson(k, n) for k in range(n + 1)]
    coverage = [
        sum(float(p) for p, ends in zip(stats.binom.pmf(range(n + 1), n, rate), bounds, strict=True) if _in(rate, ends))
        for rate in ((k + 0.5) / 400 for k in range(400))
    ]
    assert sum(coverage) / len(coverage) == pytest.approx(0.95, abs=0.01)
