"""Small drawings in SVG: no script, no style of their own, the numbers in words for those who cannot see them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import msgspec

from adjudge.domain import Interval, Score, Stability, Status

MAX_BINS = 40
GOOD, MIDDLING = 0.75, 0.375
"""From these positions in its own scale on, a value is coloured good or middling."""
_WIDTH, _HEIGHT = 180, 44


class Bar(msgspec.Struct, frozen=True):
    """One bar of a distribution. `tone` is good, mid, bad, neutral, off (off the scale) or lost (unscored)."""

    label: str
    count: int
    tone: str


def tone(position: float | None) -> str:
    """The word for the colour of a value at `position` of its scale; neutral when it has none."""
    if position is None:
        return "neutral"
    return "good" if position >= GOOD else "mid" if position >= MIDDLING else "bad"


def scale_of(scores: Sequence[Score]) -> tuple[float, float] | None:
    """The values at positions 0 and 1 of the scale, as the scores show them; the first is larger when less is better.

    `None` when no two scores differ enough to tell, or values are not numbers.
    """
    points = [
        (float(score.value), score.normalised)
        for score in scores
        if isinstance(score.value, int | float) and not isinstance(score.value, bool) and score.normalised is not None
    ]
    if not points:
        return None
    (low, at_low), (high, at_high) = min(points), max(points)
    if high == low or at_high == at_low:
        return None
    step = (high - low) / (at_high - at_low)
    start, end = _tidy(low - step * at_low), _tidy(low + step * (1 - at_low))
    return (start, end) if max(abs(start), abs(end)) < 1e15 else None


def _tidy(number: float) -> float:
    return round(number, 9) + 0.0


def bars(scores: Sequence[Score]) -> list[Bar]:
    """The distribution of one criterion: at most 40 bins, with what lies off the scale and what has no score apart."""
    scored = [score for score in scores if score.status is Status.SCORED]
    if any(isinstance(score.value, float | int) and not isinstance(score.value, bool) for score in scored):
        found = _numbers(scored)
    else:
        found = _labels(scored)
    lost = sum(score.status is Status.UNSCORED for score in scores)
    return [*found, *([Bar("unscored", lost, "lost")] if lost else [])]


def _labels(scored: Sequence[Score]) -> list[Bar]:
    places = {_word(score): (2.0 if score.normalised is None else score.normalised) for score in scored}
    if set(places) <= {"fail", "pass"} and places:
        return [
            Bar(word, sum(_word(score) == word for score in scored), {"pass": "good", "fail": "bad"}[word])
            for word in ("fail", "pass")
        ]
    counts: dict[str, int] = {}
    for score in scored:
        counts[_word(score)] = counts.get(_word(score), 0) + 1
    ordered = sorted(counts, key=lambda word: (places[word], word))
    shown, rest = ordered[: MAX_BINS - 1], ordered[MAX_BINS - 1 :]
    found = [Bar(word, counts[word], tone(places[word] if places[word] <= 1 else None)) for word in shown]
    return found + ([Bar(f"{len(rest)} others", sum(counts[word] for word in rest), "neutral")] if rest else [])


def _word(score: Score) -> str:
    if isinstance(score.value, bool):
        return "pass" if score.value else "fail"
    return str(score.value)


def _numbers(scored: Sequence[Score]) -> list[Bar]:
    values = [float(s.value) for s in scored if isinstance(s.value, int | float) and not isinstance(s.value, bool)]
    scale = scale_of(scored)
    low, high = (min(scale), max(scale)) if scale else (min(values), max(values))
    inside = [value for value in values if low <= value <= high]
    whole = all(value.is_integer() for value in values) and low.is_integer() and high.is_integer()
    if whole and high - low < MAX_BINS - 2:
        edges = [low + k for k in range(int(high - low) + 1)]
        counts = [sum(value == edge for value in inside) for edge in edges]
        found = [Bar(f"{edge:g}", n, _at(edge, scale)) for edge, n in zip(edges, counts, strict=True)]
    elif high == low:
        found = [Bar(f"{low:g}", len(inside), "neutral")]
    else:
        number = min(20, MAX_BINS - 2)
        width = high / number - low / number
        counts = [0] * number
        for value in inside:
            counts[min(number - 1, max(0, int((value - low) / width) if width else 0))] += 1
        found = [
            Bar(f"{low + k * width:.4g} to {low + (k + 1) * width:.4g}", n, _at(low + (k + 0.5) * width, scale))
            for k, n in enumerate(counts)
        ]
    below, above = sum(value < low for value in values), sum(value > high for value in values)
    before = [Bar(f"off the scale, below {low:g}", below, "off")] if below else []
    after = [Bar(f"off the scale, above {high:g}", above, "off")] if above else []
    others = len(scored) - len(values)
    mixed = [Bar("not numbers", others, "neutral")] if others else []
    return before + found + after + mixed


def _at(value: float, scale: tuple[float, float] | None) -> str:
    return "neutral" if scale is None else tone((value - scale[0]) / (scale[1] - scale[0]))


def distribution(found: Sequence[Bar], *, name: str) -> tuple[str, tuple[str, str]]:
    """(the drawing, the words below its two ends): shares of one bar for pass and fail, else a histogram."""
    if [bar.label for bar in found][:2] == ["fail", "pass"]:
        return shares(found, name=name), (f"{found[0].count} fail", f"{found[1].count} pass")
    return histogram(found, name=name), ends(found)


def shares(found: Sequence[Bar], *, name: str) -> str:
    """One bar of which each has its share; those with a count are at least 3 pixels wide."""
    counted = [bar for bar in found if bar.count]
    room = _WIDTH - 3 * len(counted)
    total = sum(bar.count for bar in counted)
    x, parts = 0.0, []
    for bar in counted:
        width = 3 + room * bar.count / total
        parts.append(
            f'<rect class="t-{bar.tone}" x="{x + 0.5:.1f}" y="1" width="{width - 1:.1f}" height="12">'
            f"<title>{escape(bar.label)}: {bar.count}</title></rect>"
        )
        x += width
    said = ", ".join(f"{bar.label}: {bar.count}" for bar in counted)
    return _svg(f"Distribution of {name}: {said}", "".join(parts), _WIDTH, 14) if counted else ""


def histogram(found: Sequence[Bar], *, name: str) -> str:
    """The bars as SVG. Those with a count are at least 2 pixels high; unscored ones are hatched."""
    if not any(bar.count for bar in found):
        return ""
    most = max(bar.count for bar in found)
    step = min(_WIDTH / len(found), _WIDTH / 4)
    parts = []
    for k, bar in enumerate(found):
        height = max(2.0, (_HEIGHT - 2) * bar.count / most) if bar.count else 0.0
        parts.append(
            f'<rect class="t-{bar.tone}" x="{k * step + 0.5:.1f}" y="{_HEIGHT - height:.1f}" '
            f'width="{max(1.0, step - 1):.1f}" height="{height:.1f}"><title>{escape(bar.label)}: {bar.count}</title>'
            "</rect>"
        )
    said = ", ".join(f"{bar.label}: {bar.count}" for bar in found if bar.count)
    return _svg(f"Distribution of {name}: {said}", "".join(parts), _WIDTH, _HEIGHT + 1, axis=True)


def ends(found: Sequence[Bar]) -> tuple[str, str]:
    """The labels of the first and the last bin, for the axis."""
    shown = [bar for bar in found if bar.tone not in ("off", "lost")]
    if not shown:
        return "", ""
    if len(shown) == 1:
        return shown[0].label, ""
    return shown[0].label.split(" to ")[0], shown[-1].label.split(" to ")[-1]


def whisker(
    value: float, interval: Interval | None, *, scale: tuple[float, float], bound: float | None, name: str
) -> str:
    """A value with its interval on its scale, and the bound it must reach as a dashed line."""
    low, high = min(scale), max(scale)
    if not high > low:
        return ""

    def place(number: float) -> float:
        return 4 + (_WIDTH - 8) * min(1.0, max(0.0, (number - low) / (high - low)))

    parts = [f'<line class="axis" x1="4" x2="{_WIDTH - 4}" y1="9" y2="9"/>']
    said = f"{name}: {value:.4g}"
    if interval is not None:
        left, right = place(interval.low), place(interval.high)
        parts.append(f'<line class="whisker" x1="{left:.1f}" x2="{right:.1f}" y1="9" y2="9"/>')
        parts += [f'<line class="whisker" x1="{x:.1f}" x2="{x:.1f}" y1="5" y2="13"/>' for x in (left, right)]
        said += f", {interval.level:.0%} interval {interval.low:.4g} to {interval.high:.4g}"
    if bound is not None:
        parts.append(f'<line class="bound" x1="{place(bound):.1f}" x2="{place(bound):.1f}" y1="1" y2="17"/>')
        said += f", bound {bound:.4g}"
    parts.append(f'<circle class="dot" cx="{place(value):.1f}" cy="9" r="4"/>')
    return _svg(f"{said}, on a scale from {low:.4g} to {high:.4g}", "".join(parts), _WIDTH, 18)


def stability(found: Stability) -> str:
    """The share of cases whose samples all agree, as a bar."""
    share = found.stable_cases / found.cases if found.cases else 0.0
    said = f"{found.stable_cases} of {found.cases} cases have {found.samples} equal samples"
    shapes = (
        f'<rect class="track" x="0" y="2" width="{_WIDTH}" height="6"/>'
        f'<rect class="t-plain" x="0" y="2" width="{_WIDTH * share:.1f}" height="6"/>'
    )
    return _svg(said, shapes, _WIDTH, 10)


def _svg(said: str, shapes: str, width: int, height: int, *, axis: bool = False) -> str:
    line = f'<line class="axis" x1="0" x2="{width}" y1="{height - 0.5}" y2="{height - 0.5}"/>' if axis else ""
    return (
        f'<svg role="img" aria-label="{escape(said)}" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}">{shapes}{line}</svg>'
    )
