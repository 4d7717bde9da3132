"""Which tasks give another result each time they are run: the spread over reruns, by the same judge."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from statistics import variance

import msgspec

from adjudge.domain import Quarantined, Score, Status, TaskRules
from adjudge.scoring.tasks import FLAKY_RANGE, TOLERANCE, average, samples_of

LEAST_RERUNS = 3


class Rerun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the tasks: its name, what it was gated by, the tasks that ran, and their scores."""

    name: str
    rules: TaskRules
    tasks: tuple[str, ...]
    scores: tuple[Score, ...]


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """How one dimension of one task, or one of its hard checks, came out in each rerun.

    Attributes:
        dimension: Of the rubric, or the name of a hard check.
        hard: A hard check: its values are 1 for passed and 0 for failed.
        values: The mean over the samples of each rerun; `None` where there is no score.
        range: Largest less smallest value, in points of the rubric; `None` with fewer than three values.
        variance: Of the values, with n - 1 below the line, in squared points.
        flaky: They lie more than the admitted range apart; a hard check that both passed and failed.
    """

    task: str
    dimension: str
    hard: bool = False
    values: tuple[float | None, ...] = ()
    range: float | None = None
    variance: float | None = None
    flaky: bool = False


def unlike(reruns: Sequence[Rerun]) -> str:
    """Why reruns cannot be set side by side; empty when they can be."""
    first = reruns[0]
    for other in reruns[1:]:
        if changes := other.rules.identity.changes(first.rules.identity):
            return f"{other.name} was judged by another judge than {first.name}: {', '.join(changes)}"
        for task, digest in other.rules.digests.items():
            if first.rules.digests.get(task, digest) != digest:
                return f"{task} is another task in {other.name} than in {first.name}"
    return ""


def spreads(reruns: Sequence[Rerun], *, most: float = FLAKY_RANGE) -> list[Spread]:
    """Every hard check and every dimension of the tasks that ran each time.

    A rerun without a score (a hard check failed, the judge could not tell, an error) counts as nothing; fewer than
    three scores are no measurement.
    """
    made: list[Spread] = []
    for task in [name for name in reruns[0].tasks if all(name in rerun.tasks for rerun in reruns)]:
        for check in reruns[0].rules.hard.get(task, ()):
            found = [_one(rerun, task, judge=check) for rerun in reruns]
            values = tuple(
                None if s is None or s.status is not Status.SCORED else float(s.value is True) for s in found
            )
            made.append(_spread(task, check, values, most=0.0, hard=True))
        judge = reruns[0].rules.judge
        named = dict.fromkeys(s.criterion for r in reruns for s in r.scores if s.judge == judge and s.case == task)
        for dimension in named:
            means = []
            for rerun in reruns:
                score = _one(rerun, task, judge=judge, criterion=dimension)
                samples = samples_of(score) if score is not None else ()
                means.append(average(samples))
            made.append(_spread(task, dimension, tuple(means), most=most))
    return made


def _one(rerun: Rerun, task: str, *, judge: str, criterion: str = "") -> Score | None:
    return next(
        (s for s in rerun.scores if (s.case, s.judge) == (task, judge) and (not criterion or s.criterion == criterion)),
        None,
    )


def _spread(task: str, name: str, values: tuple[float | None, ...], *, most: float, hard: bool = False) -> Spread:
    there = [value for value in values if value is not None]
    if len(there) < LEAST_RERUNS:
        return Spread(task=task, dimension=name, hard=hard, values=values)
    apart = max(there) - min(there)
    return Spread(
        task=task,
        dimension=name,
        hard=hard,
        values=values,
        range=apart,
        variance=variance(there),
        flaky=apart > most + TOLERANCE,
    )


def quarantine(
    found: Sequence[Spread], kept: Sequence[Quarantined], *, today: datetime.date, days: int
) -> tuple[Quarantined, ...]:
    """The entries of quarantine.json with what is flaky: a dimension, or a task whose hard checks flip. What was in it
    stays, with its last day put off where it is flaky still."""
    entries = {(entry.task, entry.dimension): entry for entry in kept}
    until = today + datetime.timedelta(days=days)
    for one in found:
        if one.flaky and one.range is not None and one.variance is not None:
            place = (one.task, "" if one.hard else one.dimension)
            reruns = sum(value is not None for value in one.values)
            last = max(until.isoformat(), entries[place].until if place in entries else "")
            what = f"the hard check {one.dimension} passed and failed" if one.hard else f"{one.range:.2f} points apart"
            entries[place] = Quarantined(
                task=one.task,
                dimension=place[1],
                until=last,
                range=one.range,
                variance=one.variance,
                reruns=reruns,
                reason=f"{what} in {reruns} reruns, {today.isoformat()}",
            )
    return tuple(entries.values())
