"""A tournament on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.report import words
from adjudge.scoring.tournament import Pair, Tournament

if TYPE_CHECKING:
    from rich.console import Console


def print_tournament(found: Tournament, console: Console) -> None:
    """Print what each pair came to, and the strengths where there are more than two systems."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in _PAIR_HEADINGS:
        table.add_column(heading, overflow="fold")
    for pair in found.pairs:
        table.add_row(*[Text(words.one_line(cell)) for cell in _cells(pair)])
    console.print(table)
    for pair in found.pairs:
        for line in words.biases(pair.result):
            console.print(Text(words.one_line(f"{pair.a} / {pair.b}: {line}"), style="yellow"))
    if found.strengths:
        console.print()
        strengths = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("system", "strength [95%]", "expected share", "won", "of"):
            strengths.add_column(heading, overflow="fold")
        for one in found.strengths:
            cells = (
                one.system,
                f"{one.value:+.2f} [{one.low:+.2f}, {one.high:+.2f}]",
                f"{one.share:.0%}",
                f"{one.points:g}",
                str(one.games),
            )
            strengths.add_row(*[Text(words.one_line(cell)) for cell in cells])
        console.print(strengths)
    if found.why:
        console.print(Text(words.one_line(found.why), style="yellow"))


_PAIR_HEADINGS = ("a", "b", "a wins", "ties", "b wins", "flips", "win rate of a [95%]", "p", "p (Holm)", "unscored")


def _cells(pair: Pair) -> tuple[str, ...]:
    result = pair.result
    rate = "-"
    if result.win_rate is not None and result.low is not None and result.high is not None:
        rate = f"{result.win_rate:.0%} [{result.low:.0%}, {result.high:.0%}]"
    counts = (result.wins, result.ties, result.losses, result.flips)
    return (pair.a, pair.b, *map(str, counts), rate, _p(result.p), _p(pair.adjusted), str(result.unscored))


def _p(p: float | None) -> str:
    return "-" if p is None else f"{p:.2g}"
