"""Making texts fit: fairly among texts of equal standing, in proportion along a trajectory. What is cut is said."""

from __future__ import annotations

from collections.abc import Sequence

_HEAD_SHARE = 0.6
_LEAST_STEP = 120


def fair_cap(lengths: Sequence[int], room: int) -> int:
    """The largest length such that texts cut to it take at most `room` together; short ones leave theirs to others."""
    left = max(0, room)
    ordered = sorted(lengths)
    for index, length in enumerate(ordered):
        share = left // (len(ordered) - index)
        if length > share:
            return share
        left -= length
    return ordered[-1] if ordered else left


def cut(text: str, cap: int) -> str:
    """The text in at most `cap` characters: its head and tail, with a mark between them that counts what is gone."""
    if len(text) <= cap:
        return text
    gone = len(text) - cap + len(_mark(0))
    while len(text) - gone + len(mark := _mark(gone)) > cap:  # the mark grows with the number in it
        gone += 1
    keep = len(text) - gone
    if keep < 20:
        return text[: cap - 1] + "…" if cap > 0 else ""
    head = int(keep * _HEAD_SHARE)
    return text[:head] + mark + text[len(text) - (keep - head) :]


def _mark(gone: int) -> str:
    return f"\n[... cut: {gone} characters ...]\n"


def in_proportion(parts: Sequence[str], room: int) -> list[str]:
    """The parts in at most `room` characters together: short ones whole, long ones cut in proportion to their length.

    Every part keeps some of its text, as long as `room` allows a character for each.
    """
    lengths = [len(part) for part in parts]
    total = sum(lengths)
    if total <= room:
        return list(parts)
    least = [min(length, _LEAST_STEP) for length in lengths]
    if sum(least) > room:
        some = sum(length > 0 for length in lengths)
        share = max(0, room - some) / max(1, sum(least) - some)
        first = int(room >= some)
        return [cut(part, first + int((floor - 1) * share)) for part, floor in zip(parts, least, strict=True)]
    spare = (room - sum(least)) / (total - sum(least))
    caps = [floor + int((length - floor) * spare) for floor, length in zip(least, lengths, strict=True)]
    return [cut(part, cap) for part, cap in zip(parts, caps, strict=True)]
