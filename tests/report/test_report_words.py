"""Numbers and names as every report writes them."""

from __future__ import annotations

import msgspec
import pytest

from adjudge.domain import Threshold
from adjudge.report import words

BOUNDS = [field.name for field in msgspec.structs.fields(Threshold) if field.name != "decide_by"]


@pytest.mark.parametrize("bound", BOUNDS)
def test_every_bound_of_a_threshold_is_told(bound: str) -> None:
    assert words.threshold(msgspec.convert({bound: 0.25}, Threshold)) == f"{bound} 0.25"


def test_bounds_stand_in_one_order_and_none_is_nothing() -> None:
    assert words.threshold(Threshold(max_drop=0, min_mean=3)) == "min_mean 3, max_drop 0"
    assert words.threshold(None) == words.threshold(Threshold()) == ""
