"""Sheets on which people review a run, and what comes back on them. One row says what they think of a case as a whole
(its judge is empty), and one what they think of each criterion that was judged."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from adjudge.domain import (
    Binary,
    Label,
    Labelled,
    Levels,
    Numeric,
    OffScaleError,
    Problem,
    Review,
    RunResult,
    Scale,
    Status,
    Value,
    closest,
    finite,
    label_name,
    shown,
)
from adjudge.report.tables import value_text
from adjudge.sheets import guarded

COLUMNS = ("case", "judge", "criterion", "value", "rationale", "verdict", "comment")
NEEDED = ("case", "judge", "verdict")
_WORDS = {"true": True, "pass": True, "yes": True, "false": False, "fail": False, "no": False}

Row = dict[str, Any]


def sheet(result: RunResult, labels: Iterable[Labelled], review: Review, *, blind: bool = False) -> list[Row]:
    """The rows, with what is said already. `blind` leaves out what the judges said. Cases that a judge skips are not
    asked about."""
    scores = {(score.case, score.judge, score.criterion): score for score in result.scores}
    criteria = list(labels)
    made: list[Row] = []
    for stub in result.cases:
        made.append(_row(stub.id, "", "", review.acceptable(stub.id), review.feedback.get(stub.id, "").strip()))
        for label in criteria:
            score = scores.get((stub.id, label.judge, label.criterion.name))
            if score is None or score.status is Status.SKIPPED:
                continue
            said = review.verdicts.get(label.name, {}).get(stub.id, Label())
            row = _row(stub.id, label.judge, label.criterion.name, said.value, said.comment)
            if not blind:
                row["value"] = score.value if score.value is not None else score.status.value
                row["rationale"] = str(score.error) if score.error else score.rationale
            made.append(row)
    return made


def _row(case: str, judge: str, criterion: str, verdict: Value | None, comment: str) -> Row:
    return dict(zip(COLUMNS, (case, judge, criterion, "", "", verdict, comment), strict=True))


def as_csv(rows: Sequence[Row]) -> bytes:
    """The sheet for a spreadsheet; nothing in it is computed there."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_cell(row[name]) for name in COLUMNS])
    return file.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> str:
    return guarded(value) if isinstance(value, str) else value_text(value)


def as_yaml(rows: Sequence[Row]) -> bytes:
    """The sheet for an editor."""
    import yaml

    dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text = yaml.dump([dict(row) for row in rows], Dumper=dumper, sort_keys=False, allow_unicode=True, width=120)
    return str(text).encode("utf-8", "replace")


class Imported(msgspec.Struct, frozen=True):
    """The review with what a sheet says, how many rows say something, and every problem."""

    review: Review
    rows: int = 0
    problems: tuple[Problem, ...] = ()


def take(
    found: Iterable[tuple[int, Row]],
    *,
    file: str,
    cases: Iterable[str],
    labels: Iterable[Labelled],
    review: Review,
    reviewer: str = "",
) -> Imported:
    """Lay a sheet over a review. What a row leaves empty is taken back; what no row speaks of is kept."""
    reader = _Sheet(file, list(cases), {label.name: label for label in labels}, review)
    for line, row in found:
        reader.take(line, row)
    made = msgspec.structs.replace(
        review,
        reviewer=reviewer or review.reviewer,
        feedback=reader.feedback,
        verdicts={name: given for name, given in reader.verdicts.items() if given},
    )
    return Imported(made, reader.said, tuple(reader.problems))


class _Sheet:
    def __init__(self, file: str, cases: list[str], labels: Mapping[str, Labelled], review: Review) -> None:
        self.file = file
        self.cases = dict.fromkeys(cases)
        self.labels = labels
        self.judges = {label.judge: None for label in labels.values()}
        self.feedback = dict(review.feedback)
        self.verdicts = {name: dict(given) for name, given in review.verdicts.items()}
        self.problems: list[Problem] = []
        self.seen: dict[tuple[str, str], int] = {}
        self.said = 0

    def take(self, line: int, row: Row) -> None:
        def problem(key: str, message: str, hint: str = "") -> None:
            self.problems.append(Problem(file=self.file, line=line, column=1, key=key, message=message, hint=hint))

        case, judge, criterion = (_text(row.get(key)).strip() for key in ("case", "judge", "criterion"))
        verdict, comment = row.get("verdict"), _text(row.get("comment")).replace("\r\n", "\n").strip()
        name = label_name(judge, criterion or judge)
        if case not in self.cases:
            problem("case", f"there is no case {case!r}", closest(case, self.cases))
        if judge and judge not in self.judges:
            problem("judge", f"there is no judge {judge!r}", closest(judge, self.judges))
        elif judge and name not in self.labels:
            problem("criterion", f"the judge {judge!r} has no criterion {criterion or judge!r}")
        if (case, name) in self.seen:
            problem("case", f"line {self.seen[case, name]} speaks of the same")
        self.seen.setdefault((case, name), line)
        if not judge:
            self._case(case, verdict, comment, problem)
        elif name in self.labels:
            self._label(case, self.labels[name], verdict, comment, problem)

    def _case(self, case: str, verdict: Any, comment: str, problem: Any) -> None:
        self.feedback.pop(case, None)
        if _blank(verdict) and not comment:
            return
        self.said += 1
        try:
            accepted = not _blank(verdict) and bool(parse(verdict, Binary()))
        except OffScaleError as error:
            problem("verdict", str(error))
            return
        if accepted and comment:
            problem("comment", "a case that is acceptable takes no comment", "say it of one of its judges")
        elif not accepted and not comment:
            problem("comment", "a case that is not acceptable needs a comment that says why")
        self.feedback[case] = "" if accepted else comment

    def _label(self, case: str, label: Labelled, verdict: Any, comment: str, problem: Any) -> None:
        before = self.verdicts.get(label.name, {}).pop(case, Label())
        if _blank(verdict) and not comment:
            return
        self.said += 1
        value: Value | None = before.value
        if _blank(verdict):
            value = None
        elif value is None or _text(verdict).strip() != value_text(value):
            try:
                value = parse(verdict, label.criterion.scale)
            except OffScaleError as error:
                problem("verdict", str(error))
        self.verdicts.setdefault(label.name, {})[case] = Label(value, comment)


def parse(raw: Any, scale: Scale | None) -> Value:
    """A verdict as people write it, on the scale; without a scale true, false or a number.

    Raises:
        OffScaleError: it is not on the scale.
    """
    word = raw.strip() if isinstance(raw, str) else raw
    if isinstance(scale, Levels):
        if scale.mean and isinstance(word, str) and word in scale.labels:
            return scale.labels.index(word)
        return scale.validate(_number(word) if scale.mean else word)
    if scale is None or isinstance(scale, Binary):
        told = _WORDS.get(word.lower()) if isinstance(word, str) else word if isinstance(word, bool) else None
        if told is not None:
            return told
        if scale is not None:
            return scale.validate(word)
        try:
            return finite(_number(word))
        except OffScaleError:
            raise OffScaleError(f"expected true, false or a number, got {shown(raw)}") from None
    number = _number(word)
    if isinstance(scale, Numeric) and scale.integer and finite(number) != int(number):
        raise OffScaleError(f"expected a whole number, got {shown(raw)}")
    return scale.validate(number)


def _number(raw: Any) -> Any:
    """The number that a text is, else the text."""
    if not isinstance(raw, str):
        return raw
    for kind in (int, float):
        try:
            return kind(raw)
        except ValueError:
            continue
    return raw


def _text(raw: Any) -> str:
    if isinstance(raw, str):
        return raw
    return "" if raw is None else value_text(raw) if isinstance(raw, bool | int | float) else str(raw)


def _blank(raw: Any) -> bool:
    return raw is None or (isinstance(raw, str) and not raw.strip())
