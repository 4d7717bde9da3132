"""`summary.md`: the result for a pull request or a GitHub step summary."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adjudge.domain import RunResult, Score, Status, TaskCell, TaskRow, TaskTable
from adjudge.report import tasks, words

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&@$-])")
_ADDRESS = re.compile(r"(https?|ftp|mailto|xmpp|www)([:.])", re.IGNORECASE)
_ICONS = {"pass": "✅", "fail": "❌", "inconclusive": "❔", "broken": "⚠️"}
MAX_ROWS = 50


def summary_markdown(result: RunResult) -> str:
    """The whole summary. What agents and judges wrote is escaped, so that it shows and does nothing."""
    decision = result.decision
    lines = [f"## {_ICONS[decision]} adjudge: {escape(result.suite)}: {decision}", ""]
    if result.description:
        lines += [escape(words.one_line(result.description)), ""]
    lines += [words.totals(result) + (f"; {escape(result.selection)}" if result.selection else ""), ""]
    if result.tasks is not None:
        lines += [_trust(result.tasks), ""]
    reasons = result.gate.reasons
    if reasons:
        lines += [f"- {escape(words.one_line(reason))}" for reason in reasons] + [""]
    if result.rewards:
        lines += [f"- Reward {escape(line)}" for line in words.rewards(result)] + [""]
    if result.tasks is not None:
        lines += _tasks(result.tasks)
    lines += _judges(result)
    lines += _remarks(result)
    if result.left_out:
        lines += [f"- Left out: {escape(gone.judge)} ({escape(gone.why)})" for gone in result.left_out] + [""]
    lines += _disagreements(result)
    lines += _cases("Unscored", [s for s in result.scores if s.status is Status.UNSCORED])
    lines += _notes(result)
    lines += _cases("Failed", [s for s in result.scores if s.value is False])
    if result.usage.calls:
        lines += [words.tokens(result.usage), ""]
    return "\n".join(lines).rstrip() + "\n"


def escape(text: str) -> str:
    """Text, on one line, that Markdown and HTML show as it is: no markup, no link, no mention."""
    line = " ".join(words.printable(text).split())
    escaped = _SPECIAL.sub(lambda match: _HTML.get(match.group(1), "\\" + match.group(1)), line)
    return _ADDRESS.sub(lambda match: f"{match.group(1)}&#{ord(match.group(2))};", escaped)


_HTML = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;", "|": "&#124;"}


def _judges(result: RunResult) -> list[str]:
    rows = [
        "| judge | kind | result (95% interval) | n | unscored | abstained | skipped | beside people | cost | gate |",
        "|" + "---|" * 10,
    ]
    for summary in result.judges:
        cells = [
            escape(words.judge_name(summary)),
            summary.kind + (f" ({escape(summary.model.split(' at ')[0])})" if summary.model else ""),
            words.metric(summary),
            str(summary.n),
            words.unscored(summary),
            str(summary.abstained),
            str(summary.skipped),
            words.trusted(result, summary),
            words.usd(summary.usage),
            words.worst(result, summary.judge, summary.criterion),
        ]
        rows.append("| " + " | ".join(cells) + " |")
    return [*rows, ""]


def _trust(table: TaskTable) -> str:
    reason = escape(words.one_line(table.calibration.reason))
    return f"The judge {escape(table.judge)} is **{table.calibration.trust.value}**: {reason}"


def _tasks(table: TaskTable) -> list[str]:
    """Hard failures and falls first; tasks of which there is nothing to say are folded where there are many."""
    shown, rest = tasks.split(table)
    overall = [TaskRow(task="all tasks", cells=table.overall)] if table.overall else []
    lines = [f"### {tasks.caption(table)}", ""]
    if shown or overall:
        lines += [*_task_rows(table, [*shown, *overall]), ""]
    if rest:
        lines += [f"<details><summary>{len(rest)} more tasks: new, improved or same</summary>", ""]
        lines += [*_task_rows(table, rest[:MAX_ROWS]), ""]
        lines += [f"{len(rest) - MAX_ROWS} more in result.json", ""] if len(rest) > MAX_ROWS else []
        lines += ["</details>", ""]
    return [*lines, f"{escape(tasks.gate_rule(table))}", ""]


def _task_rows(table: TaskTable, rows: Sequence[TaskRow]) -> list[str]:
    headings = ["task", *(escape(words.one_line(name, 60)) for name in table.dimensions)]
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    for row in rows:
        name = [escape(words.one_line(row.task, 100))]
        name += [f"**{escape(words.one_line(told, 100))}**" for told in tasks.remarks(row)]
        cells = {cell.dimension: cell for cell in row.cells}
        told = [_task_cell(cells.get(dimension)) for dimension in table.dimensions]
        lines.append("| " + " | ".join(["<br>".join(name), *told]) + " |")
    return lines


def _task_cell(cell: TaskCell | None) -> str:
    if cell is None:
        return ""
    word = cell.word.value if cell.word in tasks.QUIET else f"**{cell.word.value}**"
    return "<br>".join(part for part in (tasks.scored(cell), word, tasks.fall(cell)) if part)


def _remarks(result: RunResult) -> list[str]:
    rows = [
        f"- {escape(words.judge_name(summary))}: {escape(text)}"
        for summary in result.judges
        for text in words.remarks(summary)
    ]
    rows += [
        f"- {escape(one.judge)} against {escape(one.baseline)}: {escape('; '.join(words.compared(one)))}"
        for one in result.pairwise
    ]
    return [*rows, ""] if rows else []


def _notes(result: RunResult) -> list[str]:
    """What was cut from what judges saw, and what in it addresses them."""
    found = list(dict.fromkeys((score.case, score.judge, note) for score in result.scores for note in score.notes))
    if not found:
        return []
    rows = [f"<details><summary>Notes on what judges saw: {len(found)}</summary>", ""]
    rows += ["| case | judge | note |", "|---|---|---|"]
    rows += [
        f"| {escape(case)} | {escape(judge)} | {escape(words.one_line(note))} |"
        for case, judge, note in found[:MAX_ROWS]
    ]
    if len(found) > MAX_ROWS:
        rows.append(f"| ... | | {len(found) - MAX_ROWS} more in result.json |")
    return [*rows, "", "</details>", ""]


def _disagreements(result: RunResult) -> list[str]:
    rows = []
    for summary in result.judges:
        if summary.people is None:
            continue
        for word, cases in (
            ("false pass", summary.people.false_pass_cases),
            ("false fail", summary.people.false_fail_cases),
        ):
            if cases:
                shown = ", ".join(escape(case) for case in cases[:10]) + (", ..." if len(cases) > 10 else "")
                rows.append(f"- {escape(words.judge_name(summary))}: {word}: {shown}")
    return ["### Where judges and people differ", "", *rows, ""] if rows else []


def _cases(title: str, scores: list[Score]) -> list[str]:
    if not scores:
        return []
    rows = [f"<details><summary>{title}: {len(scores)}</summary>", "", "| case | judge | why |", "|---|---|---|"]
    for score in scores[:MAX_ROWS]:
        why = str(score.error) if score.error else score.rationale
        rows.append(f"| {escape(score.case)} | {escape(score.judge)} | {escape(words.one_line(why))} |")
    if len(scores) > MAX_ROWS:
        rows.append(f"| ... | | {len(scores) - MAX_ROWS} more in result.json |")
    return [*rows, "", "</details>", ""]
