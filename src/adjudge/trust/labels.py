"""Label sheets: traces of a run for people to score, blind, and what they wrote."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import AdjudgeError

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
        writer.writerow({key: _inert(str(value)) for key, value in row.items()})
    return out.getvalue()


def _inert(text: str) -> str:
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def read_labels(path: Path, dimensions: Sequence[str], *, points: int = 5) -> Labels:
    """Read a sheet that people filled in. Rows without any score are left out; 0 says that they could not tell.

    Raises:
        LabelError: with every row that is no label.
    """
    rows = _rows(path)
    problems: list[str] = []
    scores: dict[str, dict[str, dict[str, float]]] = {name: {} for name in dimensions}
    for number, row in enumerate(rows, 2):
        trace, who = str(row.get("trace") or "").strip(), str(row.get("labeller") or "").strip() or "someone"
        unknown = [name for name in row if name not in (*FIXED, *_SHOWN, *dimensions)]
        if unknown and number == 2:
            problems.append(f"{', '.join(map(str, unknown))}: no dimension of the rubric")
        if not trace:
            problems.append(f"row {number} names no trace")
            continue
        for name in dimensions:
            given = str(row.get(name) if row.get(name) is not None else "").strip()
            if not given:
                continue
            score = _score(given, points)
            if score is None:
                problems.append(f"row {number}, {name}: {given!r} is no whole number from 0 to {points}")
                continue
            people = scores[name].setdefault(trace, {})
            if who in people:
                problems.append(f"row {number}: {who} has labelled {trace} twice")
            people[who] = score
    if problems:
        raise LabelError(f"{path}: " + "; ".join(problems[:20]))
    if not any(scores.values()):
        raise LabelError(f"{path}: nobody has filled in a score")
    return Labels(dimensions=tuple(dimensions), scores=scores)


def _score(text: str, points: int) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == int(value) and 0 <= value <= points else None


def _rows(path: Path) -> list[Mapping[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LabelError(f"{path} cannot be read: {error}") from None
    if path.suffix in (".yaml", ".yml"):
        import yaml

        try:
            loaded = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise LabelError(f"{path} is no YAML: {error}") from None
        if not isinstance(loaded, list) or not all(isinstance(row, dict) for row in loaded):
            raise LabelError(f"{path} is no list of labels")
        return loaded
    csv.field_size_limit(1 << 24)
    return [{key: value for key, value in row.items() if key is not None} for row in csv.DictReader(io.StringIO(text))]
