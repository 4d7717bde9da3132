"""How much two texts have in common."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from difflib import Match, SequenceMatcher
from pathlib import Path

from adjudge.judges.criteria.finding import Finding
from adjudge.judges.criteria.library.reading import MAX_PARSED, failing, need_string, read_text

BUDGET = 10_000_000
"""Comparisons of one pair of characters or lines: a second or two. A number and not a time, so that the same texts
always get the same value."""
MAX_CHARACTERS = 500_000
"""Of a text that is compared by characters, for which difflib keeps a list of all of them."""


@failing(0.0)
def diff_ratio(workspace: Path, path: str, expected: str) -> Finding:
    """`2 M / T` of difflib: T characters in both texts, M of them in common, but for space at both ends.

    From 200 characters on, difflib looks for no match that begins with a frequent character, which makes long texts
    seem far less alike than they are; texts for which it takes too long are compared by lines, weighed by their length.
    """
    wanted = need_string("expected", expected).strip()
    content, note = read_text(workspace, path, MAX_PARSED)
    content = content.strip()
    if content == wanted:
        return Finding(1.0, f"{path} is as expected{note}")
    with contextlib.suppress(_OverBudgetError):
        if max(len(content), len(wanted)) <= MAX_CHARACTERS:
            matcher = _Bounded(content, wanted)
            ratio = matcher.ratio()
            frequent = len(matcher.bpopular)  # type: ignore[attr-defined]
            left_out = f", of which the {frequent} most frequent begin no match" if frequent else ""
            return Finding(ratio, f"{path} is alike to {ratio:.1%}, compared by characters{left_out}{note}")
    try:
        ratio = _by_lines(content, wanted)
    except _OverBudgetError:
        return Finding(0.0, f"{path} differs from what is expected, and both are too long to say how much{note}")
    return Finding(ratio, f"{path} is alike to {ratio:.1%}, compared by lines, as the texts are long{note}")


class _OverBudgetError(Exception):
    pass


class _Bounded(SequenceMatcher[str]):
    """A matcher that gives up before a hostile text makes it quadratic."""

    def __init__(self, a: Sequence[str], b: Sequence[str], *, autojunk: bool = True) -> None:
        super().__init__(None, a, b, autojunk)
        self._length = len(a)
        places = self.b2j  # type: ignore[attr-defined]
        self._cost = [0, *itertools.accumulate(1 + len(places.get(item, ())) for item in a)]
        self._left = BUDGET

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        self._left -= self._cost[self._length if ahi is None else ahi] - self._cost[alo]
        if self._left < 0:
            raise _OverBudgetError
        return super().find_longest_match(alo, ahi, blo, bhi)


def _by_lines(first: str, second: str) -> float:
    # Only at `\n`: the many other ends of lines that splitlines knows are everywhere in bytes that are not text.
    one, two = ([f"{line}\n" for line in text.split("\n")] for text in (first, second))
    matcher = _Bounded(one, two, autojunk=False)
    common = sum(len(line) for at, _, count in matcher.get_matching_blocks() for line in one[at : at + count])
    return 2 * common / (len(first) + len(second) + 2)  # each text has got one more end of line
