"""Label sheets: traces of a run for people to score, blind, and what they wrote."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import AdjudgeError
from adjudge.sheets import guarded, read_sheet

FIXED = ("trace", "labeller", "comment")
_SHOWN = ("prompt", "files", "diff", "final_message")
CANNOT_TELL = 0.0


class LabelError(AdjudgeError):
    """A label sheet that cannot be read."""


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A trace to be labelled: its name, what people see of it, and the judge's mean score, which they do not."""

    trace: str
    prompt: str
    files: str
    diff: str
    final_message: str
    score: float | None = None


class Labels(msgspec.Struct, frozen=True, kw_only=True):
    """What people wrote: dimension -> trace -> labeller -> score, 0 where they could not tell."""

    dimensions: tuple[str, ...]
    scores: dict[str, dict[str, dict[str, float]]]

    @property
    def labellers(self) -> tuple[str, ...]:
        names = {who for traces in self.scores.values() for people in traces.values() for who in people}
        return tuple(sorted(names))


def stratified(items: Sequence[Item], n: int, *, seed: int) -> list[Item]:
    """At most `n` items, spread evenly over the judge's scores so that every level occurs, in an order that does not
    tell of them."""
    generator = random.Random(seed)
    strata: dict[int, list[Item]] = {}
    for item in sorted(items, key=lambda item: item.trace):
        strata.setdefault(-1 if item.score is None else round(item.score), []).append(item)
    for stratum in strata.values():
        generator.shuffle(stratum)
    chosen: list[Item] = []
    waiting = [strata[level] for level in sorted(strata)]
    while len(chosen) < n and any(waiting):
        chosen += [stratum.pop() for stratum in waiting if stratum][: n - len(chosen)]
    generator.shuffle(chosen)
    return chosen


def sheet(items: Sequence[Item], dimensions: Sequence[str], *, as_yaml: bool) -> str:
    """An empty sheet. CSV cells that a spreadsheet would take for a formula begin with an apostrophe."""
    rows = [
        {
            "trace": item.trace,
            "labeller": "",
            **dict.fromkeys(dimensions, ""),
            "comment": "",
            **{name: getattr(item, name) for name in _SHOWN},
        }
        for item in items
    ]
    if as_yaml:
        import yaml

        return yaml.safe_dump(rows, sort_keys=False, allow_unicode=True, width=120)
    out = io.StringIO()
    writer = csv.DictWriter(out, ["trace", "labeller", *dimensions, "comment", *_SHOWN], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: guarded(str(value)) for key, value in row.items()})
    return out.getvalue()


def read_labels(path: Path, dimensions: Sequence[str], *, points: int = 5) -> Labels:
    """Read a sheet that people filled in. Rows without any score are left out; 0 says that they could not tell.

    Raises:
        LabelError: with every row that is no label.
    """
    rows, faults = read_sheet(path, ("trace",))
    problems = [str(fault) for fault in faults]
    own = {name.lower(): name for name in dimensions}
    scores: dict[str, dict[str, dict[str, float]]] = {name: {} for name in dimensions}
    unknown = dict.fromkeys(key for _, row in rows for key in row if key.lower() not in (*FIXED, *_SHOWN, *own))
    problems += [f"{path}: {key!r} is no dimension of the rubric" for key in unknown]
    for line, row in rows:
        trace, who = _text(row.get("trace")), _text(row.get("labeller")) or "someone"
        if not trace:
            problems.append(f"{path}:{line}: names no trace")
            continue
        given = {own[key.lower()]: text for key in row if key.lower() in own and (text := _text(row[key]))}
        for name, text in given.items():
            score = _score(text, points)
            if score is None:
                problems.append(f"{path}:{line}: {name}: {text!r} is no whole number from 0 to {points}")
                continue
            people = scores[name].setdefault(trace, {})
            if who in people:
                problems.append(f"{path}:{line}: {name}: {who} has labelled {trace} twice")
            people[who] = score
    if problems:
        raise LabelError("\n".join(problems[:20]))
    if not any(scores.values()):
        raise LabelError(f"{path}: nobody has filled in a score")
    return Labels(dimensions=tuple(dimensions), scores=scores)


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _score(text: str, points: int) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value.is_integer() and 0 <= value <= points else None
