"""From verdicts to the whole result: everything right of the journal, as one pure function."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from adjudge.domain import ErrorKind, RunResult, Score, Snapshot, Usage, Verdict, unscored
from adjudge.scoring.gate import decide
from adjudge.scoring.reduce import reduce_samples
from adjudge.scoring.summarise import summarise


def compose(snapshot: Snapshot, verdicts: Iterable[Verdict], *, version: str = "") -> RunResult:
    """Score, summarise and gate what the journal holds.

    Verdicts of cases, judges or samples that are not in the snapshot do not count. What the snapshot asks for and the
    journal lacks is unscored as interrupted. Order of the verdicts does not matter.
    """
    held: dict[tuple[str, str, str], list[Verdict]] = {}
    wanted = {stub.id for stub in snapshot.cases}
    for verdict in verdicts:
        if verdict.case in wanted:
            held.setdefault((verdict.case, verdict.judge, verdict.criterion), []).append(verdict)
    stubs = {stub.id: stub for stub in snapshot.cases}
    scores: list[Score] = []
    summaries = []
    paid: set[str] = set()
    for judge in snapshot.judges:
        for criterion in judge.criteria:
            column: list[Score] = []
            for stub in snapshot.cases:
                verdicts_here = held.get((stub.id, judge.name, criterion.name), [])
                if len(verdicts_here) > 1:
                    verdicts_here.sort(key=repr)
                samples = {v.sample: v for v in verdicts_here}
                full = [
                    samples.get(k)
                    or unscored(stub.id, judge.name, criterion.name, ErrorKind.INTERRUPTED, "not judged yet", sample=k)
                    for k in range(judge.samples)
                ]
                column.append(reduce_samples(judge, criterion, [_paid_once(v, paid) for v in full]))
            scores += column
            threshold = snapshot.thresholds.get(judge.name)
            model = snapshot.models.get(judge.name, "")
            summaries.append(summarise(judge, criterion, column, stubs=stubs, threshold=threshold, model=model))
    usage = sum((summary.usage for summary in summaries if summary.usage), Usage())
    return RunResult(
        adjudge=version,
        suite=snapshot.suite,
        description=snapshot.description,
        format=snapshot.format,
        selection=snapshot.selection,
        seed=snapshot.seed,
        gate=decide(summaries, snapshot.thresholds, snapshot.left_out),
        judges=tuple(summaries),
        scores=tuple(scores),
        cases=snapshot.cases,
        usage=usage,
        left_out=snapshot.left_out,
        warnings=snapshot.warnings,
    )


def _paid_once(verdict: Verdict, paid: set[str]) -> Verdict:
    """The verdict without its usage when an earlier one was read from the same call."""
    if not verdict.call:
        return verdict
    if verdict.call in paid:
        return msgspec.structs.replace(verdict, usage=None)
    paid.add(verdict.call)
    return verdict
