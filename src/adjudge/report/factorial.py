"""The analysis of a factorial run on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.report.pareto import cost, name
from adjudge.report.words import one_line
from adjudge.stats.factorial import Condition, Effect, Factorial

if TYPE_CHECKING:
    from rich.console import Console


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
    p = "< 0.0001" if effect.p < 0.0001 else f"{effect.p:.4f}"
    return one_line(effect.factor), levels, str(effect.df), f"{effect.statistic:.3f}", p


def _condition(condition: Condition) -> tuple[str, ...]:
    if condition.mean is None:
        return name(condition), "0", "no scores", cost(condition), ""
    between = "" if condition.low is None else f" [{condition.low:.3f}, {condition.high:.3f}]"
    return (
        name(condition),
        str(condition.cases),
        f"{condition.mean:.3f}{between}",
        cost(condition),
        "*" if condition.pareto else "",
    )
