"""Two runs side by side, on a terminal, in Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from adjudge.domain import Comparison, Disagreement, JudgeComparison, RunTotals, TokenUsage
from adjudge.report import words
from adjudge.report.files import _without_surrogates
from adjudge.report.markdown import escape

if TYPE_CHECKING:
    from rich.console import Console

_LEVEL = 0.05
_MAX_NAMES = 10
_HEADINGS = (
    "judge",
    "run",
    "baseline",
    "difference [95%]",
    "p",
    "p (Holm)",
    "effect",
    "better/worse/equal",
    "n",
    "unscored",
    "cost",
)
_LEAST_WIDTH = {"p": 120, "effect": 120, "cost": 120, "better/worse/equal": 95}
"""Columns that narrower terminals go without."""


def comparison_json(comparison: Comparison) -> bytes:
    """The comparison as one JSON document."""
    try:
        encoded = msgspec.json.encode(comparison)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_without_surrogates(msgspec.to_builtins(comparison)))
    return msgspec.json.format(encoded, indent=1) + b"\n"


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print the table of judges, the cases that changed most, and what is missing on either side."""
    from rich.table import Table
    from rich.text import Text

    console.print(Text(words.one_line(f"{comparison.a.name} compared with {comparison.b.name}"), style="bold"))
    table = Table(box=None, pad_edge=False, header_style="bold")
    kept = [
        heading
        for heading in _headings(comparison)
        if console.width >= _LEAST_WIDTH.get(heading, 0)
        and (
            heading != "unscored" or console.width >= 95 or any(j.unscored_a or j.unscored_b for j in comparison.judges)
        )
    ]
    for heading in kept:
        table.add_column(heading, overflow="fold", no_wrap=heading == "n", min_width=10 if heading == "judge" else 4)
    for judge in comparison.judges:
        cells = _cells(judge)
        table.add_row(*[Text(words.one_line(cells[heading]), style=_style(judge)) for heading in kept])
    console.print(table)
    room = max(20, min(160, console.width - len("    baseline: ")))
    for line in _remarks(comparison):
        console.print(Text(words.one_line(line), style="yellow"))
    for judge in comparison.judges:
        if judge.disagreements:
            console.print()
            console.print(Text(words.one_line(f"{_name(judge)}: {_changed(judge)}"), style="bold"))
        for differing in judge.disagreements:
            console.print(Text(f"  {words.one_line(f'{differing.case}: {_values(differing)}')}"))
            for whose, rationale in (("run", differing.rationale_a), ("baseline", differing.rationale_b)):
                if rationale.strip():
                    console.print(Text(f"    {whose}: {words.one_line(rationale, room)}", style="dim"))
    console.print()
    for totals in (comparison.a, comparison.b):
        console.print(Text(words.one_line(_totals(totals))))


def comparison_markdown(comparison: Comparison) -> str:
    """The comparison for a pull request. What agents and judges wrote is escaped, so that it shows and does nothing."""
    lines = [f"## {escape(comparison.a.name)} compared with {escape(comparison.b.name)}", ""]
    headings = _headings(comparison)
    lines += [_line(headings), "|" + "---|" * len(headings)]
    for judge in comparison.judges:
        cells = _cells(judge)
        lines.append(_line([cells[heading] for heading in headings]))
    lines += ["", *[f"- {escape(words.one_line(line))}" for line in _remarks(comparison)], ""]
    for judge in comparison.judges:
        if judge.disagreements:
            lines += [f"<details><summary>{escape(_name(judge))}: {_changed(judge)}</summary>", ""]
            lines += ["| case | run | baseline | why, in the run | why, in the baseline |", "|---|---|---|---|---|"]
            lines += [_row(differing) for differing in judge.disagreements]
            lines += ["", "</details>", ""]
    lines += [f"- {escape(words.one_line(_totals(totals)))}" for totals in (comparison.a, comparison.b)]
    return "\n".join(lines).rstrip() + "\n"


def _headings(comparison: Comparison) -> list[str]:
    costs = any(judge.cost_a is not None or judge.cost_b is not None for judge in comparison.judges)
    return [heading for heading in _HEADINGS if heading != "cost" or costs]


def _cells(judge: JudgeComparison) -> dict[str, str]:
    """What the table shows of one judge, by heading."""
    unscored = f"{judge.unscored_a}, was {judge.unscored_b}" if judge.unscored_a or judge.unscored_b else "0"
    cells = dict.fromkeys(_HEADINGS, "-")
    cells |= {"judge": _name(judge), "n": str(judge.n), "unscored": unscored}
    if judge.cost_a is not None or judge.cost_b is not None:
        cells["cost"] = f"{_usd(judge.cost_a)}, was {_usd(judge.cost_b)}"
    if judge.metric is None:
        return cells | {"difference [95%]": "not compared"}
    assert judge.difference is not None
    difference = f"{judge.difference:+.3g}"
    if judge.interval is not None:
        difference += f" [{judge.interval.low:+.3g}, {judge.interval.high:+.3g}]"
    return cells | {
        "run": _metric(judge, judge.value_a),
        "baseline": _metric(judge, judge.value_b),
        "difference [95%]": difference,
        "p": _p(judge.p),
        "p (Holm)": _p(judge.p_holm),
        "effect": "-" if judge.effect is None else f"{judge.effect:+.2f}",
        "better/worse/equal": f"{judge.better}/{judge.worse}/{judge.equal}",
    }


def _usd(cost: float | None) -> str:
    return "unknown" if cost is None else f"${cost:.4f}"


def _metric(judge: JudgeComparison, value: float | None) -> str:
    return "-" if value is None else f"{'rate' if judge.metric == 'pass_rate' else 'mean'} {value:.3g}"


def _p(p: float | None) -> str:
    if p is None:
        return "-"
    return "<0.0001" if p < 1e-4 else f"{p:.4f}"


def _style(judge: JudgeComparison) -> str:
    """Colour only where a difference is more than chance, after the correction."""
    if judge.p_holm is None or judge.p_holm > _LEVEL or judge.difference is None:
        return ""
    return "green" if (judge.difference > 0) != judge.lower_is_better else "red"


def _changed(judge: JudgeComparison) -> str:
    total = judge.better + judge.worse
    shown = len(judge.disagreements)
    return f"{words.count(total, 'case differs', 'cases differ')}" + (f", the {shown} largest" if shown < total else "")


def _values(differing: Disagreement) -> str:
    return f"{words.value(differing.value_a)}, was {words.value(differing.value_b)}"


def _row(differing: Disagreement) -> str:
    cells = [
        differing.case,
        words.value(differing.value_a),
        words.value(differing.value_b),
        words.one_line(differing.rationale_a),
        words.one_line(differing.rationale_b),
    ]
    return _line(cells)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(escape(cell) for cell in cells) + " |"


def _remarks(comparison: Comparison) -> Iterator[str]:
    """What the table does not say: why judges are not compared, what one of the runs lacks, which tests these are."""
    for judge in comparison.judges:
        if judge.note:
            yield f"{_name(judge)}: {judge.note}"
        if judge.lower_is_better:
            yield f"{_name(judge)}: less is better"
        if judge.only_in_a or judge.only_in_b:
            yield (
                f"{_name(judge)}: asked in one run alone: {words.count(judge.only_in_a, 'case', 'cases')} of the run, "
                f"{judge.only_in_b} of the baseline"
            )
    for what, whose, names in (
        ("judges", "run", comparison.judges_only_in_a),
        ("judges", "baseline", comparison.judges_only_in_b),
        ("cases", "run", comparison.cases_only_in_a),
        ("cases", "baseline", comparison.cases_only_in_b),
    ):
        if names:
            shown = ", ".join(names[:_MAX_NAMES]) + (", ..." if len(names) > _MAX_NAMES else "")
            yield f"{what} of the {whose} alone ({len(names)}): {shown}"
    yield from comparison.notes
    tests = list(dict.fromkeys(judge.test for judge in comparison.judges if judge.test))
    if tests:
        methods = dict.fromkeys(judge.interval.method for judge in comparison.judges if judge.interval)
        yield f"p: {', '.join(tests)}, two-sided" + (f"; interval: {', '.join(methods)}" if methods else "")
        if all((judge.p_holm or 0) > _LEVEL for judge in comparison.judges if judge.p is not None):
            yield "no difference stands out from chance: every p (Holm) is above 0.05. The runs may still differ"


def _totals(totals: RunTotals) -> str:
    """`runs/a: 14 cases; judges: 28 model calls, ..., $0.0123; agent: $1.20, 3400 input and 560 output tokens`."""
    parts = [words.count(totals.cases, "case", "cases")]
    if totals.judging.calls:
        parts.append(f"judges: {words.tokens(totals.judging)}")
    agent = [] if totals.agent_cost_usd is None else [f"${totals.agent_cost_usd:.4f}"]
    agent += [] if totals.agent_tokens is None else [_tokens(totals.agent_tokens)]
    if agent:
        parts.append(f"agent: {', '.join(agent)}")
    return f"{totals.name}: {'; '.join(parts)}"


def _tokens(used: TokenUsage) -> str:
    return f"{used.input + used.cache_read + used.cache_create} input and {used.output} output tokens"


def _name(judge: JudgeComparison) -> str:
    return judge.judge if judge.judge == judge.criterion else f"{judge.judge}.{judge.criterion}"
