"""`baseline.json`, `quarantine.json` and `golden.json`: read with every fault named, written in one step."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import JudgeIdentity, Problem, Quarantined, SuiteBaseline, TaskBaseline
from adjudge.formats.golden.rubric import POINTS
from adjudge.formats.golden.schema import GoldenFile
from adjudge.whole_files import write_json

BASELINE = "baseline.json"
QUARANTINE = "quarantine.json"
GOLDEN = "golden.json"
VERSION = 1


class _Kept(msgspec.Struct, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """baseline.json as adjudge writes it."""

    version: int
    judge: JudgeIdentity
    samples: int = 0
    tasks: dict[str, TaskBaseline] = {}


def read_baseline(path: Path, shown: str, problems: list[Problem]) -> SuiteBaseline | None:
    """The baseline; `None` when there is none. `{task: {dimension: score}}`, which names no judge, is read too."""
    data = _json(path, shown, problems)
    if data is None:
        return None
    try:
        if isinstance(data, dict) and "version" in data:
            if data["version"] != VERSION:
                raise msgspec.ValidationError(f"version must be {VERSION}, got {data['version']!r}")
            kept = msgspec.convert(data, _Kept)
            _check_scale(kept.tasks, least=1)
            return SuiteBaseline(judge=kept.judge, samples=kept.samples, tasks=kept.tasks)
        plain = msgspec.convert(data, dict[str, dict[str, float | None]])
        tasks = {
            task: TaskBaseline(scores={name: (value,) for name, value in scores.items() if value})
            for task, scores in plain.items()  # a 0 said that the judge could not tell
        }
        _check_scale(tasks, least=0)
    except msgspec.ValidationError as error:
        problems.append(Problem(file=shown, message=f"is no baseline: {error}"))
        return None
    if plain:
        text = "names neither the judge nor the rubric that gave these scores: whether they compare is not known"
        hint = "--update-baseline accept writes one that does"
        problems.append(Problem(file=shown, message=text, hint=hint, warning=True))
    return SuiteBaseline(samples=1, tasks=tasks)


def _check_scale(tasks: Mapping[str, TaskBaseline], *, least: float) -> None:
    """Raise ValidationError for a score that no rubric gives."""
    for task, one in tasks.items():
        for name, values in one.scores.items():
            if not all(least <= value <= POINTS for value in values):
                raise msgspec.ValidationError(f"{task}.{name}: a score lies outside of {least:g} to {POINTS}")


def write_baseline(path: Path, baseline: SuiteBaseline) -> None:
    """Put a baseline in the place of the one that is there, in one step.

    Raises:
        OSError: it cannot be written; the old one still is there.
    """
    tasks = {name: baseline.tasks[name] for name in sorted(baseline.tasks)}
    kept = _Kept(version=VERSION, judge=baseline.judge or JudgeIdentity(), samples=baseline.samples, tasks=tasks)
    write_json(path, kept)


def read_quarantine(
    path: Path,
    shown: str,
    today: datetime.date,
    tasks: Sequence[str],
    problems: list[Problem],
    *,
    names: Sequence[str] = (),
) -> tuple[tuple[Quarantined, ...], tuple[Quarantined, ...]]:
    """(what is in quarantine today, what no longer is). `names` are the dimensions, where they are known."""
    data = _json(path, shown, problems)
    if data is None:
        return (), ()
    try:
        entries = msgspec.convert(data, list[Quarantined])
        for key in {key for entry in data for key in entry} - {*Quarantined.__struct_fields__}:
            raise ValueError(f"{key!r} is no key of an entry")  # misspelt, it would put the whole task away
        for entry in entries:
            datetime.date.fromisoformat(entry.until)
    except (msgspec.ValidationError, ValueError) as error:
        text = f"is no list of {{task, dimension?, until: YYYY-MM-DD, reason}}: {error}"
        problems.append(Problem(file=shown, message=text))
        return (), ()
    problems += [
        Problem(file=shown, message=f"there is no task {entry.task!r}", warning=True)
        for entry in entries
        if entry.task not in tasks
    ]
    problems += [
        Problem(file=shown, message=f"there is no dimension {entry.dimension!r}", warning=True)
        for entry in entries
        if names and entry.dimension and entry.dimension not in names
    ]
    now = tuple(entry for entry in entries if datetime.date.fromisoformat(entry.until) >= today)
    over = tuple(entry for entry in entries if entry not in now)
    for entry in over:
        text = f"the quarantine of {entry.task} ended on {entry.until}: it gates again"
        problems.append(Problem(file=shown, message=text, warning=True))
    return now, over


def write_quarantine(path: Path, entries: Sequence[Quarantined]) -> None:
    """Raises OSError when it cannot be written."""
    write_json(path, sorted(entries, key=lambda entry: (entry.task, entry.dimension)))


def read_golden(folder: Path, shown: str, problems: list[Problem], *, warning: bool = False) -> GoldenFile | None:
    """A task's golden.json with its patch in `patch`; `None` when there is none, or a problem."""
    path = folder / GOLDEN
    if not path.exists():
        return None
    try:
        golden = msgspec.json.decode(path.read_bytes(), type=GoldenFile)
        if not golden.patch and not golden.patch_file:
            raise ValueError("it holds no patch and names no patch_file")
        patch = golden.patch or (folder / golden.patch_file).read_text(encoding="utf-8")
    except (OSError, ValueError, msgspec.MsgspecError, RecursionError) as error:
        problems.append(Problem(file=shown, message=f"cannot be read: {error}", warning=warning))
        return None
    return msgspec.structs.replace(golden, patch=patch)


def _json(path: Path, shown: str, problems: list[Problem]) -> Any:
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        problems.append(Problem(file=shown, message=f"cannot be read as JSON: {error}"))
        return None
