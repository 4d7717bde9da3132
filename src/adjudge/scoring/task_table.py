"""The table of coding tasks that reports show: every dimension of every task beside its baseline."""

from __future__ import annotations

from collections.abc import Sequence

from adjudge.domain import Score, Status, SuiteBaseline, TaskBaseline, TaskCell, TaskRow, TaskRules, TaskTable, Word
from adjudge.scoring.tasks import Standing, average, quarantine_of, samples_of, standings


def task_table(rules: TaskRules, tasks: Sequence[str], scores: Sequence[Score]) -> TaskTable:
    """The comparisons of `standings` as rows of tasks, with the scores also of what is compared with nothing."""
    baseline = rules.baseline or SuiteBaseline()
    found = {(one.task, one.dimension): one for one in standings(rules, tasks, scores)}
    now = {(score.case, score.criterion): score for score in scores if score.judge == rules.judge}
    names = [name for _, name in now]
    names += [name for task in baseline.tasks.values() for name in task.scores]
    dimensions = tuple(dict.fromkeys(names))
    false = [(score.case, score.judge) for score in scores if score.value is False]
    rows = []
    for task in dict.fromkeys((*tasks, *(task for task, _ in found if task))):
        old = baseline.tasks.get(task, TaskBaseline())
        hard = tuple(judge for case, judge in false if case == task and judge in rules.hard.get(task, ()))
        soft = tuple(judge for case, judge in false if case == task and judge in rules.soft.get(task, ()))
        whole = found[task, ""].word if (task, "") in found else Word.FAILED if hard else None
        cells = []
        for name in dimensions:
            one = found.get((task, name))
            if one is not None:
                cells.append(_compared(one, now.get((task, name))))
            elif (task, name) in now or name in old.scores:
                cells.append(_alone(name, whole, old, now.get((task, name))))
        quarantined = quarantine_of(rules, task, "")
        rows.append(
            TaskRow(
                task=task,
                word=whole or min((cell.word for cell in cells), key=lambda word: word.gravity, default=None),
                cells=tuple(cells),
                hard=hard,
                soft=soft,
                quarantined=quarantined.until if quarantined is not None else "",
            )
        )
    last = len(Word)
    rows.sort(key=lambda row: last if row.word is None else row.word.gravity)
    return TaskTable(
        judge=rules.judge,
        calibration=rules.calibration,
        max_drop=rules.max_drop,
        compared=rules.baseline is not None,
        against_point=rules.against_point,
        dimensions=dimensions,
        rows=tuple(rows),
        overall=tuple(_compared(one, None) for (task, _), one in found.items() if not task),
    )


def _compared(one: Standing, score: Score | None) -> TaskCell:
    return TaskCell(
        dimension=one.dimension,
        word=one.word,
        before=one.before,
        after=one.after,
        samples=len(samples_of(score)) if score is not None else 0,
        drop=one.fall.drop if one.fall is not None else None,
        low=one.fall.low if one.fall is not None else None,
        high=one.fall.high if one.fall is not None else None,
        p=one.fall.adjusted if one.fall is not None else None,
        note=one.note,
    )


def _alone(name: str, whole: Word | None, old: TaskBaseline, score: Score | None) -> TaskCell:
    """A dimension that is not compared: why its whole task is not, or why it has no score itself."""
    values = samples_of(score) if score is not None else ()
    word = whole or Word.NEW
    if word in (Word.NEW, Word.CHANGED) and not values:
        abstained = score is not None and score.status is Status.ABSTAINED
        word = Word.MISSING if score is None else Word.ABSTAINED if abstained else Word.UNSCORED
    after = average(values)
    return TaskCell(
        dimension=name, word=word, before=average(old.scores.get(name, ())), after=after, samples=len(values)
    )
