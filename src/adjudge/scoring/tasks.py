"""The gate of coding tasks: hard checks, and every dimension of every task against the baseline.

Each comparison is one word: regressed, improved, same, noise, flaky, new, missing, changed, abstained, unscored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from adjudge.domain import (
    Calibration,
    Decision,
    GateCheck,
    Quarantined,
    Score,
    Status,
    SuiteBaseline,
    TaskBaseline,
    TaskRules,
    Trust,
    Verdict,
    Word,
)
from adjudge.stats import mean_of
from adjudge.stats.falls import Fall, falls

FLAKY_RANGE = 1.0
"""Points on the rubric's scale. Means of reruns, or samples, that lie farther apart are no measurement."""
TOLERANCE = 1e-9
_DECISIONS = {
    Word.REGRESSED: Decision.FAIL,
    Word.MISSING: Decision.FAIL,
    Word.CHANGED: Decision.INCONCLUSIVE,
    Word.UNSCORED: Decision.BROKEN,
}


class Standing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One dimension of one task beside the baseline; all tasks of a dimension where `task` is empty."""

    task: str
    dimension: str
    word: Word
    before: float | None = None
    after: float | None = None
    fall: Fall | None = None
    note: str = ""


def hard_failure(rules: TaskRules, task: str, verdicts: Iterable[Verdict]) -> str:
    """Why no judge is asked about a task: a hard check that failed, or that has no verdict. Empty when all passed."""
    hard = set(rules.hard.get(task, ()))
    for verdict in verdicts:
        if verdict.case != task or verdict.judge not in hard or verdict.status is Status.SKIPPED:
            continue
        if verdict.value is False:
            return f"not asked: the hard check {verdict.judge} failed"
        if verdict.status is not Status.SCORED:
            return f"not asked: the hard check {verdict.judge} has no verdict"
    return ""


def samples_of(score: Score) -> tuple[float, ...]:
    """The values of a score's usable samples."""
    if score.samples:
        values = [one.value for one in score.samples if one.status is Status.SCORED]
    else:
        values = [score.value] if score.status is Status.SCORED else []
    return tuple(float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool))


def task_checks(rules: TaskRules, tasks: Sequence[str], scores: Sequence[Score]) -> list[GateCheck]:
    """The comparisons of the gate that are about tasks."""
    checks = _hard(rules, tasks, scores)
    told = standings(rules, tasks, scores)
    checks += [_check(rules, one) for one in told if one.word is not Word.FAILED]  # its hard checks are told already
    checks += _told(rules, scores)
    checks += _calibration(rules.calibration)
    if rules.baseline is None:
        text = "there is no baseline yet: --update-baseline accept writes one from a run that passes"
        checks.append(GateCheck(rules.judge, "baseline", Decision.PASS, text))
    return checks


def standings(rules: TaskRules, tasks: Sequence[str], scores: Sequence[Score]) -> list[Standing]:
    """Every dimension of every task of this run and of the baseline, and each dimension over all tasks."""
    if rules.baseline is None:
        return []
    failed = {task for task in tasks if _failed(rules, task, scores)}
    now = {(score.case, score.criterion): score for score in scores if score.judge == rules.judge}
    dimensions = list(dict.fromkeys(score.criterion for score in scores if score.judge == rules.judge))
    found: list[Standing] = []
    cells: list[tuple[str, str]] = []
    for task in dict.fromkeys((*tasks, *rules.baseline.tasks)):
        old = rules.baseline.tasks.get(task)
        if task not in tasks:
            if not rules.selected:
                found.append(Standing(task=task, dimension="", word=Word.MISSING))
            continue
        if task in failed:
            found.append(Standing(task=task, dimension="", word=Word.FAILED))
            continue
        if old is None:
            found.append(Standing(task=task, dimension="", word=Word.NEW))
            continue
        if old.digest and old.digest != rules.digests.get(task):
            found.append(Standing(task=task, dimension="", word=Word.CHANGED))
            continue
        for name in dict.fromkeys((*dimensions, *old.scores)):
            word = _without(old, now.get((task, name)), name)
            if word is None:
                cells.append((task, name))
            else:
                before, after = old.scores.get(name, ()), samples_of(now[task, name]) if (task, name) in now else ()
                found.append(
                    Standing(task=task, dimension=name, word=word, before=average(before), after=average(after))
                )
    return [*found, *_compared(rules, rules.baseline, now, cells, dimensions)]


def _without(old: TaskBaseline, score: Score | None, name: str) -> Word | None:
    """Why two scores are not compared; `None` when they can be."""
    if score is None:
        return Word.MISSING
    if not samples_of(score):
        return Word.ABSTAINED if score.status is Status.ABSTAINED else Word.UNSCORED
    return None if old.scores.get(name) else Word.NEW


def _compared(
    rules: TaskRules,
    baseline: SuiteBaseline,
    now: Mapping[tuple[str, str], Score],
    cells: Sequence[tuple[str, str]],
    dimensions: Sequence[str],
) -> list[Standing]:
    pairs = [(baseline.tasks[task].scores[name], samples_of(now[task, name])) for task, name in cells]
    gating = [index for index, (task, name) in enumerate(cells) if quarantine_of(rules, task, name) is None]
    groups = [[i for i in gating if cells[i][1] == name] for name in dimensions]
    named = [(name, group) for name, group in zip(dimensions, groups, strict=True) if len(group) > 1]
    singles, grouped = falls(pairs, [group for _, group in named])
    found = []
    for (task, name), (before, after), fall in zip(cells, pairs, singles, strict=True):
        word = _word(rules, fall)
        quarantined = quarantine_of(rules, task, name)
        note = ""
        if quarantined is not None:
            word = Word.FLAKY if word in (Word.REGRESSED, Word.NOISE) else word
            note = f"in quarantine until {quarantined.until}"
        elif max(after) - min(after) > FLAKY_RANGE:
            note = f"its samples lie {max(after) - min(after):g} points apart"
        found.append(
            Standing(
                task=task,
                dimension=name,
                word=word,
                before=average(before),
                after=average(after),
                fall=fall,
                note=note,
            )
        )
    for (name, group), fall in zip(named, grouped, strict=True):
        befores, afters = ([average(pairs[i][side]) or 0.0 for i in group] for side in (0, 1))
        found.append(
            Standing(
                task="",
                dimension=name,
                word=_word(rules, fall),
                before=average(befores),
                after=average(afters),
                fall=fall,
                note=f"over {len(group)} tasks",
            )
        )
    return found


def _word(rules: TaskRules, fall: Fall) -> Word:
    if fall.drop > rules.max_drop + TOLERANCE:
        return Word.REGRESSED if fall.certain or rules.against_point else Word.NOISE
    if fall.drop < -rules.max_drop - TOLERANCE and fall.rises:
        return Word.IMPROVED
    return Word.SAME


def quarantine_of(rules: TaskRules, task: str, dimension: str) -> Quarantined | None:
    """What keeps a dimension of a task from gating; with no dimension, the whole task."""
    return next((one for one in rules.quarantined if one.task == task and one.dimension in ("", dimension)), None)


def _hard(rules: TaskRules, tasks: Sequence[str], scores: Sequence[Score]) -> list[GateCheck]:
    found = []
    for task in tasks:
        for score in _failed(rules, task, scores):
            said = " ".join(score.rationale.split())[:300]
            text = f"{task}: the hard check {score.judge} failed: {said}"
            quarantined = quarantine_of(rules, task, "") is not None
            decision = Decision.PASS if quarantined else Decision.FAIL
            text += ", which is in quarantine" if quarantined else ""
            found.append(GateCheck(score.judge, "hard check", decision, text, case=task))
    return found


def _failed(rules: TaskRules, task: str, scores: Iterable[Score]) -> list[Score]:
    hard = set(rules.hard.get(task, ()))
    return [score for score in scores if score.case == task and score.judge in hard and score.value is False]


def _check(rules: TaskRules, one: Standing) -> GateCheck:
    decision = _DECISIONS.get(one.word, Decision.PASS)
    whole = one.task and quarantine_of(rules, one.task, "") is not None
    if whole and decision is Decision.FAIL and one.word is not Word.MISSING:
        decision = Decision.PASS
    place = f"{one.task}.{one.dimension}".strip(".") if one.task else f"all tasks.{one.dimension}"
    text = f"{place}: {one.word.value}"
    if one.before is not None and one.after is not None:
        text += f", {one.before:.2f} -> {one.after:.2f}"
    if one.fall is not None:
        text += f" (drop {one.fall.drop:.2f}, 95% {one.fall.low:.2f} to {one.fall.high:.2f}"
        text += f", adjusted p {one.fall.adjusted:.2g})" if one.word in (Word.REGRESSED, Word.NOISE) else ")"
    text += {
        Word.CHANGED: ": the baseline knows another version of it; --update-baseline accept takes the new scores",
        Word.MISSING: ": the baseline has it, and this run does not",
        Word.NOISE: f": more than {rules.max_drop:g}, and equal runs fall as far by chance; more --samples tell",
        Word.ABSTAINED: ": the judge could not tell, which is compared with nothing",
        Word.NEW: ": not in the baseline",
    }.get(one.word, "")
    text += f"; {one.note}" if one.note else ""
    bound = None if one.before is None else one.before - rules.max_drop
    return GateCheck(
        rules.judge, one.word.value, decision, text, one.after, bound, case=one.task, criterion=one.dimension
    )


def _told(rules: TaskRules, scores: Sequence[Score]) -> list[GateCheck]:
    """A judge that could tell nothing of anything has measured nothing."""
    asked = [score for score in scores if score.judge == rules.judge and score.status is not Status.SKIPPED]
    if not asked or any(score.status is not Status.ABSTAINED for score in asked):
        return []
    text = f"{rules.judge}: it could not tell in any dimension of any task"
    return [GateCheck(rules.judge, "abstained", Decision.INCONCLUSIVE, text)]


def _calibration(calibration: Calibration) -> list[GateCheck]:
    if calibration.trust is Trust.CALIBRATED:
        return [GateCheck("", "calibration", Decision.PASS, f"calibrated: {calibration.reason}")]
    decision = Decision.INCONCLUSIVE if calibration.required else Decision.PASS
    return [GateCheck("", "calibration", decision, f"{calibration.trust.value}: {calibration.reason}")]


def next_baseline(
    rules: TaskRules, tasks: Sequence[str], scores: Sequence[Score], *, accept: bool, samples: int
) -> SuiteBaseline:
    """The baseline after a run: with `accept` every score of it; else the ratchet, which takes what is new and what is
    better beyond chance, and leaves the rest, so that nothing creeps up or down with the noise. Tasks that did not run
    keep their scores, but with `accept` those that are gone from the suite.
    """
    old = rules.baseline or SuiteBaseline()
    words = {(one.task, one.dimension): one.word for one in standings(rules, tasks, scores)}
    kept = {task: one for task, one in old.tasks.items() if task in tasks or rules.selected or not accept}
    failed = {task for task in tasks if _failed(rules, task, scores)}
    for task in tasks:
        if task in failed:
            continue
        now = {s.criterion: samples_of(s) for s in scores if s.case == task and s.judge == rules.judge}
        before = old.tasks.get(task, TaskBaseline())
        if accept and task in old.tasks and not any(now.values()):
            continue  # nothing was measured
        whole = accept or (words.get((task, "")) in (Word.NEW, None) and task not in old.tasks)
        taken = {} if accept else dict(before.scores)
        for name, values in now.items():
            if values and (whole or words.get((task, name)) in (Word.NEW, Word.IMPROVED)):
                taken[name] = values
        if accept and words.get((task, "")) is not Word.CHANGED:  # what could not be told keeps what was said before
            taken = {**{name: before.scores[name] for name in before.scores if not now.get(name)}, **taken}
        kept[task] = TaskBaseline(digest=rules.digests.get(task, "") if whole else before.digest, scores=taken)
    return SuiteBaseline(judge=rules.identity, samples=samples, tasks=kept)


def average(values: Sequence[float]) -> float | None:
    """`None` of no values."""
    return mean_of(values) if values else None
