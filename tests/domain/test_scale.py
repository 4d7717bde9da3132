"""Scales: what lies on one, how it normalises, and what a judge is told of it."""

from __future__ import annotations

import math
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.domain import Binary, Criterion, Levels, Likert, Numeric, OffScaleError, Scale, Value, finite, plain, shown

GRADES = Levels(("poor", "fair", "good"))
WHOLE = Numeric(0, 5, integer=True)
LOOSE = Numeric(1, 5, integer=True, enforced=False)
SCALES: list[Scale] = [Binary(), Numeric(), WHOLE, LOOSE, Numeric(-1, 1), Likert(7), GRADES]
NAMES = [scale.describe() + ("" if getattr(scale, "enforced", True) else ", loose") for scale in SCALES]
ANYTHING: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.sampled_from(["poor", "true", "3", b"good", (1,), [3], {"score": 3}, 10**400, -(10**400), complex(1, 0)]),
)


@pytest.mark.parametrize(
    ("scale", "raw", "value"),
    [
        pytest.param(Binary(), True, True, id="true"),
        pytest.param(Binary(), False, False, id="false"),
        pytest.param(Numeric(0, 1), 0, 0, id="lowest"),
        pytest.param(Numeric(0, 1), 1, 1, id="highest"),
        pytest.param(Numeric(0, 1), 0.25, 0.25, id="fraction"),
        pytest.param(WHOLE, 4.6, 5, id="within the range, rounded to whole"),
        pytest.param(WHOLE, 5.0, 5, id="whole float"),
        pytest.param(LOOSE, 9, 9, id="stated but not enforced"),
        pytest.param(Likert(5), 1, 1, id="lowest point"),
        pytest.param(Likert(5), 5.0, 5, id="whole float on likert"),
        pytest.param(GRADES, "fair", "fair", id="label"),
    ],
)
def test_accepts_what_lies_on_the_scale(scale: Scale, raw: Any, value: Value) -> None:
    accepted = scale.validate(raw)
    assert accepted == value
    assert type(accepted) is type(value)


@pytest.mark.parametrize(
    ("scale", "raw"),
    [
        pytest.param(Binary(), 1, id="number for a boolean"),
        pytest.param(Binary(), "true", id="text for a boolean"),
        pytest.param(Binary(), "false", id="text that means no"),
        pytest.param(Binary(), None, id="nothing for a boolean"),
        pytest.param(Numeric(0, 5), True, id="boolean for a number"),
        pytest.param(Numeric(0, 5), "3", id="digits in text"),
        pytest.param(Numeric(0, 5), math.nan, id="nan"),
        pytest.param(Numeric(0, 5), math.inf, id="infinity"),
        pytest.param(Numeric(0, 5), -0.001, id="just below"),
        pytest.param(Numeric(0, 5), 10**400, id="too large for a float"),
        pytest.param(WHOLE, 5.4, id="would round into the range from above"),
        pytest.param(WHOLE, -0.4, id="would round into the range from below"),
        pytest.param(LOOSE, math.nan, id="nan where the range is not enforced"),
        pytest.param(LOOSE, False, id="boolean where the range is not enforced"),
        pytest.param(Likert(5), 0, id="below the first point"),
        pytest.param(Likert(5), 6, id="above the last point"),
        pytest.param(Likert(5), 3.5, id="between two points"),
        pytest.param(Likert(5), True, id="boolean for a point"),
        pytest.param(Likert(5), math.inf, id="infinite point"),
        pytest.param(GRADES, "Good", id="label in another case"),
        pytest.param(GRADES, "good ", id="label with a blank"),
        pytest.param(GRADES, 2, id="index for a label"),
    ],
)
def test_refuses_what_is_off_the_scale(scale: Scale, raw: Any) -> None:
    with pytest.raises(OffScaleError):
        scale.validate(raw)


@pytest.mark.parametrize("scale", SCALES, ids=NAMES)
@given(raw=ANYTHING)
def test_anything_is_either_on_the_scale_or_off_it(scale: Scale, raw: Any) -> None:
    try:
        value = scale.validate(raw)
    except OffScaleError:
        return
    assert scale.validate(value) == value
    assert isinstance(value, bool) == isinstance(scale, Binary)


@pytest.mark.parametrize("scale", [s for s in SCALES if s is not LOOSE], ids=[n for n in NAMES if "loose" not in n])
@given(raw=ANYTHING.filter(lambda raw: raw == raw and not isinstance(raw, complex)))
def test_what_the_schema_admits_lies_on_the_scale(scale: Scale, raw: Any) -> None:
    if jsonschema.Draft202012Validator(scale.schema()).is_valid(raw):
        assert scale.validate(raw) == raw


@pytest.mark.parametrize(
    ("scale", "value", "share"),
    [
        pytest.param(Binary(), True, 1.0, id="true"),
        pytest.param(Binary(), False, 0.0, id="false"),
        pytest.param(Numeric(-1, 1), 0, 0.5, id="middle of a numeric scale"),
        pytest.param(Numeric(2, 4), 3.5, 0.75, id="three quarters"),
        pytest.param(Likert(5), 1, 0.0, id="first point"),
        pytest.param(Likert(5), 4, 0.75, id="fourth of five points"),
        pytest.param(GRADES, "poor", 0.0, id="worst label"),
        pytest.param(GRADES, "fair", 0.5, id="middle label"),
        pytest.param(GRADES, "good", 1.0, id="best label"),
    ],
)
def test_normalises_linearly_from_worst_to_best(scale: Scale, value: Value, share: float) -> None:
    assert scale.normalise(value) == pytest.approx(share)


@given(
    bounds=st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)).filter(lambda pair: pair[0] < pair[1]),
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_numbers_keep_their_order_and_stay_in_the_unit_interval(
    bounds: tuple[float, float], shares: tuple[float, float]
) -> None:
    low, high = bounds
    scale = Numeric(low, high)
    first, second = (min(high, max(low, low + share * (high - low))) for share in sorted(shares))
    assert 0 <= scale.normalise(first) <= scale.normalise(second) <= 1


@pytest.mark.parametrize(("value", "share"), [(-1e308, 0.0), (0.0, 0.5), (1e308, 1.0)])
def test_the_widest_scale_normalises_too(value: float, share: float) -> None:
    assert Numeric(-1e308, 1e308).normalise(value) == pytest.approx(share)


@pytest.mark.parametrize("value", [0, 6, 2.5, "3", True, math.nan], ids=repr)
def test_a_likert_scale_normalises_only_its_points(value: Any) -> None:
    with pytest.raises(OffScaleError):
        Likert(5).normalise(value)


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        pytest.param(Numeric, (1, 1), id="empty range"),
        pytest.param(Numeric, (2, 1), id="bounds the wrong way round"),
        pytest.param(Numeric, (math.nan, 1), id="nan bound"),
        pytest.param(Numeric, (0, math.inf), id="infinite bound"),
        pytest.param(Likert, (1,), id="one point"),
        pytest.param(Levels, (("only",),), id="one label"),
        pytest.param(Levels, (("same", "same"),), id="a label twice"),
        pytest.param(Levels, (("good", "  "),), id="a blank label"),
    ],
)
def test_a_scale_that_cannot_tell_two_answers_apart_is_refused(kind: Any, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError):
        kind(*arguments)


def test_a_bad_scale_in_data_is_refused_when_it_is_read() -> None:
    with pytest.raises(msgspec.ValidationError, match="min < max"):
        msgspec.convert({"name": "c", "scale": {"type": "numeric", "min": 5, "max": 1}}, Criterion)


@pytest.mark.parametrize("scale", SCALES, ids=NAMES)
def test_a_scale_survives_json(scale: Scale) -> None:
    criterion = Criterion(name="c", scale=scale)
    assert msgspec.json.decode(msgspec.json.encode(criterion), type=Criterion) == criterion


@pytest.mark.parametrize(
    ("scale", "text"),
    [
        (Numeric(1, 5, integer=True), "a whole number from 1 to 5"),
        (Numeric(0, 0.5), "a number from 0 to 0.5"),
        (Likert(7), "a whole number from 1 to 7"),
        (Levels(("no", "yes")), 'one of "no", "yes"'),
    ],
)
def test_a_scale_reads_as_people_write_it(scale: Scale, text: str) -> None:
    assert scale.describe() == text


def test_an_off_scale_message_names_the_answer_and_the_scale() -> None:
    with pytest.raises(OffScaleError, match=r"5\.4 lies outside \[0, 5\]"):
        WHOLE.validate(5.4)
    with pytest.raises(OffScaleError, match="'great' is none of the levels 'poor', 'fair', 'good'"):
        GRADES.validate("great")


@given(number=st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False))
def test_finite_numbers_come_back_as_they_are(number: float) -> None:
    assert finite(number) is number


@pytest.mark.parametrize(("number", "kind"), [(5.0, int), (0.5, float), (-3.0, int)])
def test_plain_drops_only_an_empty_fraction(number: float, kind: type) -> None:
    assert plain(number) == number
    assert type(plain(number)) is kind


class _Raises:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class _Steers:
    def __repr__(self) -> str:
        return "\x1b[2Jpassed\u202e\ud800"


@pytest.mark.parametrize(
    "raw",
    [_Raises(), _Steers(), "x" * 10**6, 10**5000, "\x1b[2J\u202e\x00\ud800", [[]] * 1000],
    ids=["raising repr", "steering repr", "long", "huge integer", "hostile text", "long list"],
)
def test_any_value_is_shown_short_and_safe(raw: Any) -> None:
    text = shown(raw)
    assert 0 < len(text) <= 80
    assert text.isprintable()
