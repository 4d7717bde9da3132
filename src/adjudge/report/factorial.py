"""The analysis of a factorial run: tables for the terminal, and cost against score as a plot."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from adjudge.report.words import one_line
from adjudge.stats.factorial import Condition, Effect, Factorial

if TYPE_CHECKING:
    from rich.console import Console

_WIDE, _HIGH, _EDGE = 640, 360, 50


def print_factorial(found: Factorial, console: Console) -> None:
    """One line a factor, one a condition."""
    from rich.table import Table

    effects = Table("factor", "levels", "df", "likelihood ratio", "p", box=None)
    for effect in found.effects:
        effects.add_row(*_effect(effect))
    conditions = Table("condition", "cases", "mean [95% interval]", "cost of a run", "", box=None)
    for condition in found.conditions:
        conditions.add_row(*_condition(condition))
    console.print(effects)
    console.print()
    console.print(conditions)
    console.print(f"\n{found.observations} observations of {found.cases} cases; {found.method}", style="dim")


def _effect(effect: Effect) -> tuple[str, ...]:
    levels = ", ".join(map(one_line, effect.levels))
    if effect.p is None or effect.statistic is None:
        return one_line(effect.factor), levels, str(effect.df), "-", one_line(effect.note)
    return one_line(effect.factor), levels, str(effect.df), f"{effect.statistic:.3f}", f"{effect.p:.4f}"


def _condition(condition: Condition) -> tuple[str, ...]:
    cost = "unknown" if condition.cost_usd is None else f"${condition.cost_usd:.4f}"
    if condition.mean is None:
        return name(condition), "0", "no scores", cost, ""
    between = "" if condition.low is None else f" [{condition.low:.3f}, {condition.high:.3f}]"
    return (
        name(condition),
        str(condition.cases),
        f"{condition.mean:.3f}{between}",
        cost,
        "*" if condition.pareto else "",
    )


def name(condition: Condition) -> str:
    """`model m1, context none`."""
    return one_line(", ".join(f"{factor} {level}" for factor, level in condition.levels.items()))


def pareto_svg(found: Factorial) -> str:
    """Mean score over mean cost of each condition whose cost is known; those that nothing beats are filled."""
    known = [(c.cost_usd, c.mean, c) for c in found.conditions if c.cost_usd is not None and c.mean is not None]
    most = max((cost for cost, _, _ in known), default=0.0) or 1.0
    marks = []
    for cost, mean, condition in known:
        x = _EDGE + (_WIDE - 2 * _EDGE) * cost / most
        y = _HIGH - _EDGE - (_HIGH - 2 * _EDGE) * mean
        fill = "#0b6" if condition.pareto else "none"
        text = escape(name(condition))
        marks.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" stroke="#0b6" fill="{fill}"><title>{text}</title></circle>'
        )
        marks.append(f'<text x="{x + 8:.1f}" y="{y - 6:.1f}" font-size="11">{text}</text>')
    floor = _HIGH - _EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {_HIGH}" role="img" font-family="sans-serif">'
        "<title>mean score over mean cost of a run, by condition</title>"
        f'<path d="M{_EDGE} {_EDGE}V{floor}H{_WIDE - _EDGE}" fill="none" stroke="#888"/>'
        f'<text x="{_EDGE}" y="{floor + 30}" font-size="11">cost of a run, to ${most:.4g}</text>'
        f'<text x="8" y="{_EDGE - 12}" font-size="11">mean score, 0 to 1</text>{"".join(marks)}</svg>\n'
    )
