"""Student's t against scipy and against the closed forms."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from adjudge.stats import t_cdf, t_quantile

DEGREES = st.integers(1, 10_000)
LEVELS = st.floats(0.5, 0.9999)


@given(level=LEVELS, df=DEGREES)
@example(level=0.95, df=1)
@example(level=0.95, df=10_000_000)
def test_the_quantiles_of_intervals_are_scipys(level: float, df: int) -> None:
    p = (1 + level) / 2
    assert t_quantile(p, df) == pytest.approx(float(stats.t.ppf(p, df)), rel=1e-9)


@given(p=st.floats(1e-9, 1 - 1e-9), df=DEGREES)
@example(p=0.5001, df=200)
@example(p=1e-8, df=3)
def test_every_quantile_is_scipys(p: float, df: int) -> None:
    assert t_quantile(p, df) == pytest.approx(float(stats.t.ppf(p, df)), rel=1e-9, abs=1e-12)


@given(p=st.floats(1e-9, 1 - 1e-6))
@example(p=0.5001)
@example(p=1e-8)
def test_one_and_two_degrees_have_closed_forms(p: float) -> None:
    cauchy = -1 / math.tan(math.pi * p)
    assert t_quantile(p, 1) == pytest.approx(cauchy, rel=1e-9, abs=1e-12)
    assert t_quantile(p, 2) == pytest.approx((2 * p - 1) / math.sqrt(2 * p * (1 - p)), rel=1e-9, abs=1e-12)


@given(t=st.floats(-1e3, 1e3), df=DEGREES)
@example(t=2.88e-7, df=12)
def test_the_distribution_function_is_scipys(t: float, df: int) -> None:
    assert t_cdf(t, df) == pytest.approx(float(stats.t.cdf(t, df)), rel=2e-9, abs=1e-13)


@given(t=st.floats(-50, 50), df=DEGREES)
def test_the_distribution_is_symmetric(t: float, df: int) -> None:
    assert t_cdf(t, df) + t_cdf(-t, df) == pytest.approx(1, abs=1e-14)


@given(p=st.floats(0.01, 0.99), df=DEGREES)
def test_the_quantile_undoes_the_distribution_function(p: float, df: int) -> None:
    assert t_cdf(t_quantile(p, df), df) == pytest.approx(p, abs=1e-10)


@given(ps=st.tuples(st.floats(0.001, 0.999), st.floats(0.001, 0.999)), df=DEGREES)
def test_quantiles_keep_the_order_of_shares(ps: tuple[float, float], df: int) -> None:
    assert t_quantile(min(ps), df) <= t_quantile(max(ps), df)


@pytest.mark.parametrize("df", [1, 2, 7, 1000])
def test_the_median_is_zero(df: int) -> None:
    assert t_quantile(0.5, df) == pytest.approx(0, abs=1e-12)


def test_many_degrees_are_the_normal_distribution() -> None:
    assert t_quantile(0.975, 1_000_000) == pytest.approx(NormalDist().inv_cdf(0.975), abs=1e-5)


@pytest.mark.parametrize(("df", "printed"), [(1, 12.706), (2, 4.303), (5, 2.571), (10, 2.228), (30, 2.042)])
def test_the_97_5_percent_points_are_those_of_printed_tables(df: int, printed: float) -> None:
    assert round(t_quantile(0.975, df), 3) == printed


@pytest.mark.parametrize("t", [math.inf, 1e200, -1e200, -math.inf], ids=repr)
def test_the_far_ends_are_zero_and_one(t: float) -> None:
    assert t_cdf(t, 5) == (1.0 if t > 0 else 0.0)


@pytest.mark.parametrize(
    ("p", "df"), [(0.0, 5), (1.0, 5), (-0.1, 5), (1.1, 5), (math.nan, 5), (0.975, 0), (0.975, -3)], ids=repr
)
def test_what_is_no_share_or_no_degree_is_refused(p: float, df: int) -> None:
    with pytest.raises(ValueError, match="0 < p < 1 and df >= 1"):
        t_quantile(p, df)
