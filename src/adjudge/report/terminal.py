"""The result table on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.domain import HumanAgreement, RunResult
from adjudge.report import tasks, words
from adjudge.report.words import worst

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {"-": "dim", "pass": "green", "fail": "red", "inconclusive": "yellow", "broken": "magenta"}


def print_result(result: RunResult, console: Console, *, verbose: bool = False) -> None:
    """Print the table of judges, where they differ from people, and the decision with its reasons."""
    from rich.table import Table
    from rich.text import Text

    labelled = any(summary.people for summary in result.judges)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("judge", overflow="fold")
    if console.width >= 100:
        table.add_column("kind", no_wrap=True)
    table.add_column("result, 95% interval", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("unscored")
    trusted = any(words.trust(result, summary.judge) for summary in result.judges)
    if trusted:
        table.add_column("trust", no_wrap=True)
    for name in ("people agree", "false pass", "false fail") if labelled else ():
        table.add_column(name, min_width=6)
    if result.usage.calls:
        table.add_column("cost", no_wrap=True)
    table.add_column("gate", no_wrap=True)
    for summary in result.judges:
        cells = [words.judge_name(summary)]
        cells += [summary.kind] if console.width >= 100 else []
        cells += [words.metric(summary), str(summary.n), words.unscored(summary)]
        cells += [words.trust(result, summary.judge)] if trusted else []
        cells += _beside_people(summary.people) if labelled else []
        cells += [words.usd(summary.usage)] if result.usage.calls else []
        decision = worst(result, summary.judge, summary.criterion)
        table.add_row(*[Text(words.printable(cell)) for cell in cells], Text(decision, style=_STYLES[decision]))
    console.print(table)
    for summary in result.judges:
        for remark in words.remarks(summary):
            console.print(
                Text(f"{words.printable(words.judge_name(summary))}: {words.one_line(remark)}", style="yellow")
            )
    for one in result.pairwise:
        text = f"{one.judge} against {one.baseline}: {'; '.join(words.compared(one))}"
        console.print(Text(words.one_line(text, 400), style="dim"))
    noted = sum(bool(score.notes) for score in result.scores)
    if noted and not verbose:
        text = f"notes on what judges saw: {words.count(noted, 'score', 'scores')}; see summary.md or -v"
        console.print(Text(text, style="dim"))
    for gone in result.left_out:
        console.print(Text(f"left out: {words.printable(gone.judge)} ({gone.why})", style="yellow"))
    if verbose:
        _print_scores(result, console)
    console.print()
    if result.tasks is not None:
        tasks.print_tasks(result.tasks, console, verbose=verbose)
        console.print()
    for line in words.rewards(result):
        console.print(Text(f"reward {words.one_line(line)}", style="bold"))
    decision_text = Text(result.decision.upper(), style=f"bold {_STYLES[result.decision]}")
    totals = f"{words.printable(result.suite)}: {words.totals(result)}"
    totals += f", judge {result.tasks.calibration.trust.value}" if result.tasks is not None else ""
    console.print(decision_text, Text(totals))
    for reason in result.gate.reasons:
        console.print(Text(f"  {words.one_line(reason)}"))
    if result.usage.calls:
        console.print(Text(words.tokens(result.usage), style="dim"))


def _beside_people(people: HumanAgreement | None) -> list[str]:
    if people is None:
        return ["uncalibrated", "", ""]
    return [f"{people.agree}/{people.n}", str(people.false_pass or "-"), str(people.false_fail or "-")]


def _print_scores(result: RunResult, console: Console) -> None:
    from rich.text import Text

    console.print()
    for score in result.scores:
        shown = words.value(score.value) if score.error is None else f"unscored ({score.error.kind})"
        why = score.error.message if score.error else score.rationale
        line = f"{score.case}  {score.judge}: {shown or score.status.value}  {words.one_line(why, 160)}"
        console.print(Text(words.printable(line)))
        for note in score.notes:
            console.print(Text(f"    note: {words.one_line(note, 160)}", style="dim"))
