"""Cutting texts to fit: never more than there is room for, little less, and what is gone is counted."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adjudge.prompts import cut, fair_cap
from adjudge.prompts.budget import in_proportion

LENGTHS = st.lists(st.integers(0, 3000), max_size=12)
MARK = re.compile(r"\n\[\.\.\. cut: (\d+) characters \.\.\.\]\n")


@given(text=st.text(max_size=400), cap=st.integers(-5, 450))
@example(text="x" * 100, cap=100)
@example(text="x" * 1100, cap=1000)
def test_a_cut_text_is_never_longer_than_its_cap(text: str, cap: int) -> None:
    shown = cut(text, cap)
    assert len(shown) <= max(0, cap)
    if len(text) <= cap:
        assert shown == text
    elif cap > 0:
        assert shown
        assert "cut: " in shown or shown.endswith("…")


@given(length=st.integers(1, 200_000), cap=st.integers(60, 200_000))
@example(length=1047, cap=1000)
@example(length=100_010, cap=99_999)
@example(length=10_000, cap=9_999)
def test_the_mark_counts_exactly_what_is_gone(length: int, cap: int) -> None:
    text = "".join(chr(0x4E00 + k % 20_000) for k in range(length))
    shown = cut(text, cap)
    mark = MARK.search(shown)
    if length <= cap:
        assert shown == text
        return
    assert mark is not None
    head, tail = shown[: mark.start()], shown[mark.end() :]
    assert int(mark[1]) == length - len(head) - len(tail)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert head
    assert tail
    assert cap - len(shown) <= 1


def test_head_and_tail_are_both_kept() -> None:
    shown = cut("HEAD" + "x" * 5000 + "TAIL", 500)
    assert shown.startswith("HEAD")
    assert shown.endswith("TAIL")


@given(lengths=LENGTHS, room=st.integers(-10, 20_000))
def test_the_fair_cap_is_the_largest_that_fits(lengths: list[int], room: int) -> None:
    cap = fair_cap(lengths, room)

    def taken(cap: int) -> int:
        return sum(min(length, cap) for length in lengths)

    assert taken(cap) <= max(0, room)
    if lengths and cap < max(lengths):
        assert taken(cap + 1) > room


@pytest.mark.parametrize(
    ("lengths", "room", "cap"),
    [
        ([], 10, 10),
        ([5], 10, 5),
        ([10, 10], 10, 5),
        ([1, 100], 50, 49),
        ([100, 1, 100], 51, 25),
        ([3, 3, 3], 0, 0),
        ([3, 3, 3], -5, 0),
    ],
)
def test_short_texts_leave_their_room_to_long_ones(lengths: list[int], room: int, cap: int) -> None:
    assert fair_cap(lengths, room) == cap


@given(lengths=LENGTHS, room=st.integers(0, 20_000))
@example(lengths=[1, 1000], room=60)
@example(lengths=[1] * 10 + [3000], room=11)
@example(lengths=[0, 0, 500], room=3)
def test_parts_in_proportion_fit_and_each_keeps_some(lengths: list[int], room: int) -> None:
    parts = [chr(97 + k % 26) * length for k, length in enumerate(lengths)]
    fitted = in_proportion(parts, room)
    assert len(fitted) == len(parts)
    assert sum(map(len, fitted)) <= room or fitted == parts
    assert sum(map(len, fitted)) <= max(room, 0)
    if sum(lengths) <= room:
        assert fitted == parts
    elif room >= sum(length > 0 for length in lengths):
        assert all(kept for kept, part in zip(fitted, parts, strict=True) if part)


@given(lengths=st.lists(st.integers(1, 50_000), min_size=1, max_size=60), share=st.floats(0.05, 1))
def test_the_room_is_used_well(lengths: list[int], share: float) -> None:
    least = sum(min(length, 120) for length in lengths)
    room = max(least, int(sum(lengths) * share))
    used = sum(map(len, in_proportion(["x" * length for length in lengths], room)))
    assert used <= room
    assert used >= room - 3 * len(lengths)


def test_long_parts_are_cut_in_proportion_and_short_ones_not_at_all() -> None:
    fitted = in_proportion(["a" * 100, "b" * 10_000, "c" * 40_000], 20_000)
    assert fitted[0] == "a" * 100
    assert len(fitted[2]) / len(fitted[1]) == pytest.approx(4, rel=0.05)
    assert in_proportion([], 5) == []
