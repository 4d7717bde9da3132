"""Krippendorff's alpha and shares: against the krippendorff package, scipy and by hand."""

from __future__ import annotations

from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from adjudge.stats.krippendorff import Level, krippendorff_alpha
from adjudge.stats.length_bias import longer_share, slot_share

UNITS = st.lists(st.lists(st.sampled_from([None, 1, 2, 3, 5, 8]), min_size=3, max_size=3), min_size=1, max_size=30)


@given(units=UNITS, level=st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_is_that_of_the_krippendorff_package(units: list[list[int | None]], level: Level) -> None:
    oracle = import_module("krippendorff")
    ours = krippendorff_alpha(units, level=level)
    kept = [unit for unit in units if sum(value is not None for value in unit) > 1]
    if len({value for unit in kept for value in unit if value is not None}) < 2:
        assert ours is None
        return
    data = [[float("nan") if unit[rater] is None else unit[rater] for unit in kept] for rater in range(3)]
    assert ours == pytest.approx(oracle.alpha(data, level_of_measurement=level), abs=1e-9)


def test_alpha_takes_words_and_refuses_what_cannot_be() -> None:
    assert krippendorff_alpha([["a", "a"], ["b", "b"]]) == 1
    assert krippendorff_alpha([["a", "a"], ["a", None]]) is None
    with pytest.raises(ValueError, match="numbers"):
        krippendorff_alpha([["a", "b"]], level="interval")
    with pytest.raises(ValueError, match="order"):
        krippendorff_alpha([["a", 1]], level="ordinal")


def test_shares_count_decisive_results_only() -> None:
    found = longer_share([(10, 5), (9, 3), (4, 4), (1, 7)])
    assert (found.won, found.n) == (2, 3)
    slots = slot_share([True] * 9 + [False])
    assert slots.p == pytest.approx(stats.binomtest(9, 10).pvalue)
    assert slots.value == 0.9
    assert slot_share([]).value is None
