"""Mean score over mean cost of the conditions of a factorial run, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import msgspec

from adjudge.report.words import one_line
from adjudge.stats.factorial import Condition, Factorial

_WIDE, _HIGH = 720, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 24, 22, 52
_LETTER, _LINE = 6.4, 14
"""About the width and the height of a letter of a label."""
_LONGEST = 36
STYLE = (
    "svg{font:12px system-ui,sans-serif;fill:#59636e}.axis,.grid{stroke:#d5dae0;fill:none}.front{stroke:#16703a;"
    "stroke-dasharray:5 4;fill:none}.range{stroke:#8fa3ba}.open{fill:#fff;stroke:#59636e;stroke-width:1.5}"
    ".best{fill:#16703a}.name{fill:#1b1f24;stroke:#fff;stroke-width:3;paint-order:stroke}.back{fill:#fff}"
    "@media(prefers-color-scheme:dark){svg{fill:#9aa4b0}.axis,.grid{stroke:#333a44}.front{stroke:#62c98a}"
    ".range{stroke:#64778f}.open{fill:#1c2027;stroke:#9aa4b0}.best{fill:#62c98a}.name{fill:#e4e7eb;stroke:#1c2027}"
    ".back{fill:#1c2027}}"
)
"""Of the drawing where it stands alone."""


class _Point(msgspec.Struct, frozen=True):
    x: float
    y: float
    condition: Condition


def name(condition: Condition) -> str:
    """`model m1, context none`."""
    return one_line(", ".join(f"{factor} {level}" for factor, level in condition.levels.items()))


def cost(condition: Condition) -> str:
    return "unknown" if condition.cost_usd is None else f"${condition.cost_usd:.4f}"


def pareto_svg(found: Factorial, *, alone: bool = True) -> str:
    """Each condition whose cost is known, with the interval of its mean; those that nothing beats are filled and
    joined. With `alone` the drawing brings its colours, else the page has them. What it shows is in its description."""
    known = [(c.cost_usd, c.mean, c) for c in found.conditions if c.cost_usd is not None and c.mean is not None]
    bounds = [bound for _, mean, c in known for bound in (mean, c.low, c.high) if bound is not None]
    low, high = min([0.0, *bounds]), max([1.0, *bounds])
    rows = _ticks(low, high, 5)
    columns = _ticks(0.0, max((spent for spent, _, _ in known), default=0.0) or 1.0, 6)
    bottom, top, most = rows[0], rows[-1], columns[-1]

    def x_of(spent: float) -> float:
        return _LEFT + (_WIDE - _LEFT - _RIGHT) * spent / most

    def y_of(mean: float) -> float:
        return _HIGH - _BOTTOM - (_HIGH - _TOP - _BOTTOM) * (mean - bottom) / (top - bottom)

    points = [_Point(x_of(spent), y_of(mean), condition) for spent, mean, condition in known]
    parts = []
    for tick in rows:
        y = y_of(tick)
        parts.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDE - _RIGHT}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    floor = _HIGH - _BOTTOM
    for tick in columns:
        parts.append(f'<path class="axis" d="M{x_of(tick):.1f} {floor}v5"/>')
        parts.append(f'<text x="{x_of(tick):.1f}" y="{floor + 19}" text-anchor="middle">${tick:g}</text>')
    parts.append(f'<path class="axis" d="M{_LEFT} {_TOP - 8}V{floor}H{_WIDE - _RIGHT}"/>')
    middle = (_LEFT + _WIDE - _RIGHT) / 2
    parts.append(f'<text x="{middle:.0f}" y="{_HIGH - 10}" text-anchor="middle">mean cost of a run</text>')
    parts.append(f'<text x="8" y="{_TOP - 9}">mean score</text>')
    best = sorted((point for point in points if point.condition.pareto), key=lambda point: (point.x, point.y))
    if len(best) > 1:
        way = "L".join(f"{point.x:.1f} {point.y:.1f}" for point in best)
        parts.append(f'<path class="front" d="M{way}"/>')
    for point in points:
        if point.condition.low is not None and point.condition.high is not None:
            ends = f"{y_of(point.condition.low):.1f}V{y_of(point.condition.high):.1f}"
            parts.append(f'<path class="range" d="M{point.x:.1f} {ends}"/>')
    for point in sorted(points, key=lambda point: point.condition.pareto):
        kind = "best" if point.condition.pareto else "open"
        parts.append(
            f'<circle class="{kind}" cx="{point.x:.1f}" cy="{point.y:.1f}" r="5">'
            f"<title>{escape(_told(point.condition))}</title></circle>"
        )
    parts += _labels(points)
    if not points:
        parts.append(f'<text x="{middle:.0f}" y="{_HIGH / 2:.0f}" text-anchor="middle">no condition has a cost</text>')
    style = f'<style>{STYLE}</style><rect class="back" width="{_WIDE}" height="{_HIGH}"/>' if alone else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {_HIGH}" role="img" '
        'aria-labelledby="pareto-title" aria-describedby="pareto-said">'
        '<title id="pareto-title">Mean score over mean cost of a run, by condition</title>'
        f'<desc id="pareto-said">{escape(described(found))}</desc>{style}{"".join(parts)}</svg>\n'
    )


def described(found: Factorial) -> str:
    """The drawing in words: every condition with its score and cost, those that nothing beats first."""
    known = [c for c in found.conditions if c.cost_usd is not None and c.mean is not None]
    ordered = sorted(known, key=lambda c: (not c.pareto, c.cost_usd or 0.0))
    unknown = len(found.conditions) - len(known)
    told = "; ".join(_told(condition) for condition in ordered) or "No condition has a cost and a score"
    return f"{told}." + (f" {unknown} more without a cost or a score." if unknown and known else "")


def _told(condition: Condition) -> str:
    between = "" if condition.low is None else f" ({condition.low:.3f} to {condition.high:.3f})"
    text = f"{name(condition)}: score {condition.mean:.3f}{between} at {cost(condition)}"
    return text + (", which nothing beats" if condition.pareto else "")


def _labels(points: Sequence[_Point]) -> list[str]:
    """The levels of each condition beside its point, where there is room; those that nothing beats choose first."""
    taken = [(point.x - 7, point.y - 7, point.x + 7, point.y + 7) for point in points]
    made = []
    for point in sorted(points, key=lambda point: (not point.condition.pareto, point.x)):
        text = one_line(", ".join(point.condition.levels.values()), _LONGEST)
        width = _LETTER * len(text)
        spots = [
            (point.x + 9, point.y - 5), (point.x - 9 - width, point.y - 5), (point.x - width / 2, point.y - 12),
            (point.x - width / 2, point.y + 20), (point.x + 9, point.y + 12), (point.x - 9 - width, point.y + 12),
        ]  # fmt: skip
        for x, y in spots:
            box = (x, y - _LINE + 3, x + width, y + 3)
            inside = box[0] > _LEFT and box[2] < _WIDE and box[1] > 0 and box[3] < _HIGH - _BOTTOM
            if inside and not any(_meet(box, other) for other in taken):
                taken.append(box)
                made.append(f'<text class="name" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>')
                break
    return made


def _meet(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _ticks(low: float, high: float, wanted: int) -> list[float]:
    """Round numbers, equal steps apart, that hold `low` to `high`."""
    raw = (high - low) / wanted
    power = 10 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]
