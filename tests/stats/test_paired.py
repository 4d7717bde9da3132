"""Paired comparisons: against scipy, known answers, and how often intervals hold and tests reject."""

from __future__ import annotations

import itertools
import math
import os
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from adjudge.stats import bootstrap_mean, effect_size, holm, interval_method, mcnemar, mean_t, sign_test, wilcoxon
from adjudge.stats.paired import MAX_RESAMPLED

SOAK = os.environ.get("ADJUDGE_SOAK") == "1"
REPEATS = 3_000 if SOAK else 250
COUNT = st.integers(0, 3000)
LIKERT = st.lists(st.integers(-4, 4), min_size=1, max_size=50)


@given(wins=COUNT, losses=COUNT)
@example(wins=501, losses=500)
@example(wins=2900, losses=2000)
@example(wins=0, losses=3000)
@example(wins=10, losses=1065)
def test_the_sign_test_is_scipys(wins: int, losses: int) -> None:
    """SciPy gives 0 for some that are below 1e-290."""
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_test(wins, losses) == pytest.approx(expected, rel=1e-9, abs=1e-290)
    assert mcnemar(losses, wins) == sign_test(wins, losses)


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    [
        pytest.param(0, 0, 1.0, id="nothing to tell by"),
        pytest.param(1, 0, 1.0, id="one"),
        pytest.param(5, 0, 1 / 16, id="five of five"),
        pytest.param(9, 1, 22 / 1024, id="nine of ten"),
        pytest.param(5, 5, 1.0, id="a half"),
        pytest.param(59, 121, 4.434e-6, id="a large one"),
    ],
)
def test_the_sign_test_gives_hand_computed_answers(wins: int, losses: int, p: float) -> None:
    assert sign_test(wins, losses) == pytest.approx(p, rel=1e-3)


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        mcnemar(-1, 3)


def test_a_million_discordant_cases_take_no_time() -> None:
    assert sign_test(500_000, 500_000) == pytest.approx(1.0)
    assert 0 < sign_test(501_000, 499_000) < 0.05


@given(values=st.lists(st.integers(1, 10**6), min_size=1, max_size=50, unique=True), signs=st.randoms())
def test_the_exact_signed_rank_test_without_ties_is_scipys(values: list[int], signs: random.Random) -> None:
    differences = [value * signs.choice((-1, 1)) for value in values]
    theirs = stats.wilcoxon(differences, method="exact")
    ours = wilcoxon(differences)
    assert ours.exact
    assert ours.p == pytest.approx(float(theirs.pvalue), rel=1e-9)
    assert min(ours.statistic, ours.n * (ours.n + 1) / 2 - ours.statistic) == pytest.approx(float(theirs.statistic))


@given(differences=st.lists(st.integers(-4, 4), min_size=1, max_size=10))
def test_with_ties_it_counts_every_sign(differences: list[int]) -> None:
    kept = [d for d in differences if d]
    ranks = list(stats.rankdata([abs(d) for d in kept])) if kept else []
    observed = sum(rank for rank, d in zip(ranks, kept, strict=True) if d > 0)
    sums = [
        sum(rank for rank, up in zip(ranks, signs, strict=True) if up)
        for signs in itertools.product((0, 1), repeat=len(kept))
    ]
    low, high = (sum(s <= observed for s in sums), sum(s >= observed for s in sums))
    assert wilcoxon(differences).p == pytest.approx(min(1.0, 2 * min(low, high) / len(sums)))


@given(differences=st.lists(st.integers(-4, 4).filter(bool), min_size=51, max_size=300))
def test_the_approximation_is_scipys(differences: list[int]) -> None:
    theirs = stats.wilcoxon(differences, method="asymptotic", correction=True)
    ours = wilcoxon(differences)
    assert not ours.exact
    assert ours.p == pytest.approx(float(theirs.pvalue), rel=1e-9)


@given(differences=LIKERT, zeros=st.integers(0, 9))
def test_neither_zeros_nor_direction_nor_order_nor_unit_matter(differences: list[int], zeros: int) -> None:
    found = wilcoxon(differences)
    assert wilcoxon([*differences, *[0] * zeros]).p == found.p
    assert wilcoxon([-d for d in differences]).p == pytest.approx(found.p)
    assert wilcoxon(differences[::-1]).p == found.p
    assert wilcoxon([d * 0.25 for d in differences]).p == found.p


def test_wilcoxons_published_answers() -> None:
    # Darwin's maize as in Fisher (1935): 15 pairs, sum of negative ranks 24, p 0.041 (R: wilcox.test, exact).
    maize = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    found = wilcoxon(maize)
    assert found.statistic == 96
    assert found.p == pytest.approx(0.04126, abs=5e-5)
    assert wilcoxon([1, 2, 3, 4, 5]).p == 2 / 32
    assert wilcoxon([0, 0.0]) == (0.0, 1.0, 0, True)


def test_what_is_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        wilcoxon([1.0, math.nan])


def test_fifty_and_fifty_one_differences_agree() -> None:
    generator = random.Random(3)
    differences = [generator.gauss(0.3, 1) for _ in range(50)]
    assert wilcoxon([*differences, 1e-9]).p == pytest.approx(wilcoxon(differences).p, abs=0.02)


@pytest.mark.parametrize(
    ("ps", "adjusted"),
    [
        pytest.param([], [], id="none"),
        pytest.param([0.03], [0.03], id="one"),
        pytest.param([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02], id="as R's p.adjust"),
        pytest.param([0.5, 0.9, 0.6], [1.0, 1.0, 1.0], id="no more than one"),
        pytest.param([0.02, 0.02], [0.04, 0.04], id="equal"),
    ],
)
def test_holm_gives_known_answers(ps: list[float], adjusted: list[float]) -> None:
    assert holm(ps) == pytest.approx(adjusted)


@given(ps=st.lists(st.floats(0, 1), max_size=20))
def test_holm_keeps_order_and_lies_between_the_raw_p_and_bonferroni(ps: list[float]) -> None:
    adjusted = holm(ps)
    for (p, q), (r, s) in itertools.combinations(zip(ps, adjusted, strict=True), 2):
        assert p >= r or q <= s
    assert all(p <= q <= min(1.0, len(ps) * p) + 1e-15 for p, q in zip(ps, adjusted, strict=True))


@pytest.mark.parametrize("p", [-0.1, 1.1, math.nan], ids=repr)
def test_what_is_no_probability_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        holm([0.5, p])


def test_the_effect_is_the_mean_in_standard_deviations() -> None:
    assert effect_size([1, 2, 3]) == pytest.approx(2.0)
    assert effect_size([-1, 1]) == 0
    assert effect_size([2.0]) is None
    assert effect_size([0.1, 0.1, 0.1]) is None
    assert effect_size([]) is None


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("kind", ["normal", "skewed", "booleans", "likert"])
def test_the_bootstrap_is_scipys(method: str, kind: str) -> None:
    generator = random.Random(kind)
    draws: dict[str, Callable[[], float]] = {
        "normal": lambda: generator.gauss(0.4, 1),
        "skewed": lambda: generator.expovariate(1) - 0.5,
        "booleans": lambda: generator.choice((-1, 0, 0, 0, 1, 1)),
        "likert": lambda: generator.randint(-3, 4),
    }
    differences = [float(draws[kind]()) for _ in range(60)]
    scipys = {"percentile": "percentile", "bca": "BCa"}[method]
    theirs = stats.bootstrap((differences,), np.mean, n_resamples=20_000, method=scipys, rng=1).confidence_interval
    ours = bootstrap_mean(differences, method=method, seed=1)
    width = theirs.high - theirs.low
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.06 * width)


def test_the_bootstrap_repeats_itself_and_takes_a_seed() -> None:
    differences = [0.1 * k for k in range(-3, 9)]
    assert bootstrap_mean(differences, seed=4) == bootstrap_mean(differences, seed=4)
    assert bootstrap_mean(differences, seed=4) != bootstrap_mean(differences, seed=5)


@pytest.mark.parametrize("differences", [[], [0.5], [0.0] * 9, [0.1] * 3], ids=repr)
def test_what_does_not_vary_has_no_interval(differences: list[float]) -> None:
    assert bootstrap_mean(differences) is None


def test_many_cases_have_the_t_interval_and_say_so() -> None:
    generator = random.Random(8)
    differences = [generator.choice((-1, 0, 1, 1)) for _ in range(MAX_RESAMPLED + 1)]
    bounds = bootstrap_mean(differences)
    assert bounds == mean_t(differences)
    assert interval_method(len(differences)) == "t"
    assert interval_method(MAX_RESAMPLED) == "bootstrap bca"
    resampled = bootstrap_mean(differences[:MAX_RESAMPLED], resamples=2000)
    assert resampled == pytest.approx(bounds, abs=0.01)


@given(differences=st.lists(st.integers(-5, 5), min_size=2, max_size=30), method=st.sampled_from(["bca", "percentile"]))
@settings(max_examples=40)
def test_the_interval_stays_within_the_data(differences: list[int], method: str) -> None:
    bounds = bootstrap_mean(differences, method=method, resamples=300)
    if bounds is not None:
        assert min(differences) <= bounds[0] <= bounds[1] <= max(differences)


@pytest.mark.parametrize("wrong", [{"level": 0.0}, {"level": 95.0}, {"method": "t"}, {"resamples": 0}], ids=repr)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="need"):
        bootstrap_mean([1, 2], **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "n"), [("normal", 30), ("skewed", 60), ("booleans", 40)], ids=["normal", "skewed", "booleans"]
)
def test_the_bca_interval_holds_the_mean_about_95_times_in_100(kind: str, n: int) -> None:
    generator = random.Random(n)
    held = 0
    for repeat in range(REPEATS):
        if kind == "normal":
            truth, differences = 0.0, [generator.gauss(0, 1) for _ in range(n)]
        elif kind == "skewed":
            truth, differences = 1.0, [generator.expovariate(1) for _ in range(n)]
        else:
            truth, differences = 0.1, [float(generator.choices((-1, 0, 1), (2, 5, 3))[0]) for _ in range(n)]
        bounds = bootstrap_mean(differences, seed=repeat, resamples=600)
        assert bounds is not None
        held += bounds[0] <= truth <= bounds[1]
    reach = 4 * math.sqrt(0.94 * 0.06 / REPEATS)
    assert 0.935 - reach <= held / REPEATS <= 0.955 + reach


@pytest.mark.parametrize("n", [12, 50, 80])
def test_the_signed_rank_test_rejects_what_is_true_at_most_5_times_in_100(n: int) -> None:
    generator = random.Random(n)
    rejected = sum(wilcoxon([generator.randint(-3, 3) for _ in range(n)]).p <= 0.05 for _ in range(REPEATS))
    assert rejected / REPEATS <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / REPEATS)
    powerful = sum(wilcoxon([generator.randint(-1, 3) for _ in range(n)]).p <= 0.05 for _ in range(REPEATS))
    assert powerful / REPEATS > 0.5
