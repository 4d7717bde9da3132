"""A judge beside what people said of the same cases."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.domain import Binary, CaseStub, Criterion, HumanAgreement, Likert, Numeric, Scale, Threshold, Value
from adjudge.scoring import compare_with_people, human_label
from tests.support.build import scores, stubs


def beside(
    values: list[Value | None], labels: dict[int, Any], scale: Scale | None = None, threshold: Threshold | None = None
) -> HumanAgreement | None:
    """Judge the cases 0, 1, 2... and set them beside the labels that some of them have."""
    cases = stubs(len(values), labels)
    return compare_with_people(Criterion(name="good", scale=scale), scores(values), cases, threshold, judge="good")


def test_agreement_and_both_ways_to_differ_are_counted_and_named() -> None:
    found = beside([True, True, False, False, True], {0: True, 1: False, 2: True, 3: False, 4: False}, Binary())
    assert found == HumanAgreement(
        n=5, agree=2, false_pass=2, false_fail=1, false_pass_cases=("1", "4"), false_fail_cases=("2",)
    )


@given(pairs=st.lists(st.tuples(st.booleans() | st.none(), st.booleans() | st.none()), max_size=20))
def test_only_cases_with_both_a_value_and_a_label_count(pairs: list[tuple[bool | None, bool | None]]) -> None:
    values, labels = [m for m, _ in pairs], {k: h for k, (_, h) in enumerate(pairs) if h is not None}
    both = [(m, h) for m, h in pairs if m is not None and h is not None]
    found = beside(list(values), labels, Binary())
    if not both:
        assert found is None
        return
    assert found is not None
    assert (found.n, found.agree) == (len(both), sum(m == h for m, h in both))
    assert (found.false_pass, found.false_fail) == (
        sum(m and not h for m, h in both),
        sum(h and not m for m, h in both),
    )
    assert (len(found.false_pass_cases), len(found.false_fail_cases)) == (found.false_pass, found.false_fail)


@pytest.mark.parametrize(
    ("scale", "threshold", "cut"),
    [
        pytest.param(Numeric(0, 10), None, 5, id="middle of the scale"),
        pytest.param(Likert(5), None, 3, id="middle of a likert scale"),
        pytest.param(Numeric(0, 10), Threshold(min_mean=7), 7, id="the gate's own bound"),
        pytest.param(None, Threshold(min_mean=2.5), 2.5, id="the gate's own bound without a scale"),
        pytest.param(Numeric(0, 10), Threshold(max_error_rate=0.1), 5, id="a threshold without a mean"),
    ],
)
def test_a_number_passes_from_the_cut_upwards(scale: Scale | None, threshold: Threshold | None, cut: float) -> None:
    found = beside([cut, cut - 0.5, cut + 0.5], {0: True, 1: False, 2: True}, scale, threshold)
    assert found == HumanAgreement(n=3, agree=3, false_pass=0, false_fail=0, cut=cut)


def test_numbers_that_people_gave_are_cut_at_the_same_place() -> None:
    found = beside([4, 2, 5], {0: 5, 1: 4, 2: 1}, Numeric(1, 5))
    assert found == HumanAgreement(
        n=3, agree=1, false_pass=1, false_fail=1, cut=3, false_pass_cases=("2",), false_fail_cases=("1",)
    )


def test_a_boolean_judge_has_no_cut() -> None:
    found = beside([True], {0: True}, Binary(), Threshold(min_pass_rate=0.5))
    assert found is not None
    assert found.cut is None


def test_a_number_without_a_scale_or_a_bound_cannot_be_cut() -> None:
    assert beside([3, 4], {0: True, 1: False}) is None


def test_no_labelled_case_is_no_agreement() -> None:
    assert beside([True, False], {}, Binary()) is None


@pytest.mark.parametrize("label", ["yes", "", [True], {"passed": True}, math.nan, math.inf, None], ids=repr)
def test_a_label_that_is_neither_a_boolean_nor_a_number_is_left_out(label: Any) -> None:
    assert beside([3], {0: label}, Numeric(1, 5)) is None


@pytest.mark.parametrize(
    ("annotations", "label"),
    [
        pytest.param({"acceptable": False}, False, id="one word for every judge"),
        pytest.param({"verdicts": {"good": True}}, True, id="a word for this judge"),
        pytest.param({"verdicts": {"good": True}, "acceptable": False}, True, id="this judge's comes first"),
        pytest.param({"verdicts": {"good": False}, "acceptable": True}, False, id="also when it is no"),
        pytest.param({"verdicts": {"good": 0}, "acceptable": True}, 0, id="also when it is zero"),
        pytest.param({"verdicts": {"other": True}, "acceptable": False}, False, id="another judge's does not count"),
        pytest.param({"verdicts": {"good": None}, "acceptable": True}, True, id="left blank"),
        pytest.param({"verdicts": "good", "acceptable": True}, True, id="verdicts that are no mapping"),
        pytest.param({}, None, id="nothing"),
    ],
)
def test_a_label_for_this_judge_comes_before_one_for_the_case(annotations: dict[str, Any], label: Any) -> None:
    assert human_label(annotations, "good") is label


def test_a_judge_is_held_to_the_labels_of_its_own_name() -> None:
    cases = {"0": CaseStub(id="0", annotations={"verdicts": {"good": False, "style": True}})}
    found = compare_with_people(Criterion(name="good", scale=Binary()), scores([True]), cases, None, judge="style")
    assert found is not None
    assert found.agree == 1
