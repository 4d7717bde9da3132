"""Progress of a run on standard error: a live bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from adjudge.domain import Status, Verdict
from adjudge.engine import RunPlan
from adjudge.report.words import count

LINE_EVERY_S = 5.0


class Progress:
    """Counts what a run does; the base shows nothing."""

    def __init__(self, *, verbose: bool = False) -> None:
        self.verbose = verbose
        self.run: Path | None = None
        self.done = 0
        self.kept = 0
        self.unscored = 0
        self.total = 0
        self.cost = 0.0
        self.unpriced = 0
        self.paid: set[str] = set()
        self.began = time.monotonic()

    def started(self, plan: RunPlan, run: Path, *, resumed: bool) -> None:
        self.run = run
        self.total = plan.verdicts
        self.began = time.monotonic()

    def verdict(self, verdict: Verdict, *, fresh: bool) -> None:
        self.done += 1
        self.kept += not fresh
        self.unscored += verdict.status is Status.UNSCORED
        if fresh and verdict.usage is not None and (not verdict.call or verdict.call not in self.paid):
            self.paid.add(verdict.call)
            self.cost += verdict.usage.cost_usd or 0.0
            self.unpriced += verdict.usage.unpriced_calls

    def note(self, text: str, *, detail: bool = False) -> None:
        pass

    def finished(self) -> None:
        pass

    @property
    def status(self) -> str:
        """`12/70 done, 1 unscored, 5 kept, $0.0123, about 8 s left`."""
        parts = [f"{self.done}/{self.total} done", f"{self.unscored} unscored"]
        if self.kept:
            parts.append(f"{self.kept} kept")
        if self.cost or self.unpriced:
            parts.append(f"${self.cost:.4f}" + (" + unknown" if self.unpriced else ""))
        left = self.total - self.done
        fresh = self.done - self.kept
        elapsed = time.monotonic() - self.began
        if left > 0 and fresh > 0 and elapsed > 1:
            parts.append(f"about {elapsed / fresh * left:.0f} s left")
        return ", ".join(parts)


class PlainProgress(Progress):
    """A line every few seconds, for logs."""

    def __init__(self, *, verbose: bool = False) -> None:
        super().__init__(verbose=verbose)
        self.shown = time.monotonic()

    def started(self, plan: RunPlan, run: Path, *, resumed: bool) -> None:
        super().started(plan, run, resumed=resumed)
        what = "resuming" if resumed else "judging"
        cases, judges = count(len(plan.refs), "case", "cases"), count(len(plan.judges), "judge", "judges")
        click.echo(f"{what} {cases} with {judges} in {run}", err=True)

    def verdict(self, verdict: Verdict, *, fresh: bool) -> None:
        super().verdict(verdict, fresh=fresh)
        if time.monotonic() - self.shown >= LINE_EVERY_S:
            self.shown = time.monotonic()
            click.echo(self.status, err=True)

    def note(self, text: str, *, detail: bool = False) -> None:
        from adjudge.report.words import one_line

        if self.verbose or not detail:
            click.echo(one_line(text), err=True)

    def finished(self) -> None:
        click.echo(self.status, err=True)


class LiveProgress(Progress):
    """A bar that moves, with notes above it."""

    def __init__(self, *, verbose: bool = False) -> None:
        super().__init__(verbose=verbose)
        self.bar: Any = None
        self.task: Any = None

    def started(self, plan: RunPlan, run: Path, *, resumed: bool) -> None:
        super().started(plan, run, resumed=resumed)
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        self.bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[status]}"),
            console=Console(stderr=True, highlight=False),
            transient=False,
        )
        self.bar.start()
        what = "resuming" if resumed else "judging"
        self.task = self.bar.add_task(what, total=max(1, self.total), status=self.status)

    def verdict(self, verdict: Verdict, *, fresh: bool) -> None:
        super().verdict(verdict, fresh=fresh)
        self.bar.update(self.task, completed=self.done, status=self.status)

    def note(self, text: str, *, detail: bool = False) -> None:
        from rich.text import Text

        from adjudge.report.words import one_line

        if self.verbose or not detail:
            self.bar.console.print(Text(one_line(text)))

    def finished(self) -> None:
        self.bar.update(self.task, completed=self.done, status=self.status)
        self.bar.stop()


def make_progress(*, quiet: bool, verbose: bool) -> Progress:
    """The progress that fits where standard error goes."""
    if quiet:
        return Progress(verbose=verbose)
    return LiveProgress(verbose=verbose) if sys.stderr.isatty() else PlainProgress(verbose=verbose)
