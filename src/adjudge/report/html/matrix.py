"""The page at the root of a factorial run: its factors, cost against score, and a link to the report of every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from adjudge.domain import Interval, RunResult
from adjudge.report.html import plots
from adjudge.report.html.page import digest, environment_of, resource
from adjudge.report.pareto import cost, pareto_svg
from adjudge.report.words import count
from adjudge.stats.factorial import LEVEL, Condition, Effect, Factorial


class MatrixRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a design: the folder below the root with its report, and what it came to."""

    folder: str
    levels: dict[str, str]
    replication: int
    result: RunResult


def matrix_html(
    runs: Sequence[MatrixRun],
    factors: Mapping[str, Sequence[str]],
    found: Factorial | None,
    *,
    problem: str = "",
) -> bytes:
    """The page as one HTML file in UTF-8. Equal arguments give equal bytes.

    Args:
        runs: Every run of the design that there is.
        factors: Factor -> its levels, in the order of the design.
        found: The analysis; `None` when there is none, and `problem` says why.
    """
    from markupsafe import Markup

    first = runs[0].result
    broken = sum(run.result.exit_code == 4 for run in runs)
    conditions = found.conditions if found is not None else _bare(runs)
    replications = max(run.replication for run in runs)
    style = resource("style.css")
    page = (
        environment_of()
        .from_string(resource("matrix.html"))
        .render(
            title=first.suite,
            description=first.description,
            version=first.adjudge,
            factors=list(factors),
            broken=broken,
            problem=problem or "No run has a case with a score, so that there is nothing to analyse.",
            method=found.method[:1].upper() + found.method[1:] if found is not None else "",
            effects=[_effect(effect) for effect in found.effects] if found is not None else [],
            drawing=Markup(pareto_svg(found, alone=False)) if found is not None else "",
            counts=_counts(runs, len(conditions), found, broken),
            conditions=[_condition(one, runs, replications) for one in conditions],
            style=Markup(style),
            style_hash=digest(style),
        )
    )
    return page.encode("utf-8", "replace")


def _bare(runs: Sequence[MatrixRun]) -> list[Condition]:
    """The conditions without what an analysis says of them."""
    found: list[Condition] = []
    for run in runs:
        if all(run.levels != condition.levels for condition in found):
            found.append(Condition(levels=run.levels, cases=0))
    return found


def _counts(
    runs: Sequence[MatrixRun], conditions: int, found: Factorial | None, broken: int
) -> list[tuple[str, str, str]]:
    shown = [_figure(conditions, "condition", "conditions"), _figure(len(runs), "run", "runs")]
    if broken:
        shown.append(("could not be measured", f"{broken:,}", "lost"))
    if found is not None:
        shown += [_figure(found.cases, "case", "cases"), _figure(found.observations, "score", "scores")]
        if missing := len(found.missing_cells):
            shown.append(_figure(missing, "condition without a score", "conditions without a score", "lost"))
    spent = [run.result.execution.cost_usd for run in runs if run.result.execution is not None]
    known = [one for one in spent if one is not None]
    if known:
        shown.append(
            ("cost of the agent" + ("" if len(known) == len(spent) else ", as far as known"), f"${sum(known):.4f}", "")
        )
    judging = sum(run.result.usage.cost_usd or 0.0 for run in runs)
    if judging:
        shown.append(("cost of judging", f"${judging:.4f}", ""))
    return shown


def _figure(number: int, one: str, many: str, tone: str = "") -> tuple[str, str, str]:
    return (one if number == 1 else many, f"{number:,}", tone)


def _effect(effect: Effect) -> dict[str, Any]:
    known = effect.p is not None and effect.statistic is not None
    return {
        "factor": effect.factor,
        "levels": ", ".join(effect.levels),
        "df": effect.df,
        "statistic": f"{effect.statistic:.2f}" if known else "",
        "p": ("< 0.0001" if effect.p < 0.0001 else f"{effect.p:.4f}") if known and effect.p is not None else "",
        "note": effect.note,
    }


def _condition(condition: Condition, runs: Sequence[MatrixRun], replications: int) -> dict[str, Any]:
    from markupsafe import Markup

    whisker, between = "", ""
    if condition.mean is not None and condition.low is not None and condition.high is not None:
        interval = Interval(condition.low, condition.high, LEVEL, "t")
        scale = (min(0.0, condition.low), max(1.0, condition.high))
        whisker = plots.whisker(condition.mean, interval, scale=scale, bound=None, name="mean score")
        between = f"{condition.low:.3g} to {condition.high:.3g}"
    return {
        "levels": list(condition.levels.values()),
        "mean": "" if condition.mean is None else f"{condition.mean:.3f}",
        "whisker": Markup(whisker),
        "interval": between,
        "cases": condition.cases,
        "cost": cost(condition),
        "pareto": condition.pareto,
        "runs": [_run(run, replications) for run in runs if run.levels == condition.levels],
    }


def _run(run: MatrixRun, replications: int) -> dict[str, str]:
    lost = sum(summary.unscored for summary in run.result.judges)
    bad = len(run.result.execution.failed) if run.result.execution is not None else 0
    trouble = [f"{lost} unscored"] if lost else []
    trouble += [count(bad, "agent run ended badly", "agent runs ended badly")] if bad else []
    return {
        "href": quote(run.folder, errors="replace") + "/report.html",
        "name": f"run {run.replication}" if replications > 1 else "report",
        "decision": run.result.decision,
        "trouble": ", ".join(trouble),
    }
