"""What a run recorded of its cases: metrics, hook outputs and steps."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from adjudge.cases.events import read_case_events
from adjudge.cases.files import MAX_CASE_BYTES, decoded, plain_files, read_outputs, read_text, stamps
from adjudge.cases.mappings import read_mapping
from adjudge.domain import BinaryFile, Metrics, Problem, StepRecord, Traces

RESULT = "run_result.json"
_HOOK_FILES = ("hook_outputs.yaml", "hook_outputs.yml", "hook_outputs.json")
_OWN_OF_STEP = frozenset({"stdout.log", "stderr.log", "events.json", "events.jsonl", RESULT})
_TYPES = {field.name: field.type for field in msgspec.structs.fields(Metrics)}
_FIELDS = tuple(_TYPES)


class RunRecord(msgspec.Struct, frozen=True):
    """A run's own `run_result.json`, read once for all cases."""

    root: str = ""
    result: dict[str, Any] = {}
    problem: str = ""

    def part(self, case_id: str) -> dict[str, Any]:
        """What it says of a case: the metrics, each from the case's entry when that has the key, else from the run;
        `steps`: step -> metrics; and `notes`. Plain data; empty when there is nothing."""
        if not self.result and not self.problem:
            return {}
        per_case = self.result.get("per_case")
        entry = per_case.get(case_id) if isinstance(per_case, dict) else None
        own = entry if isinstance(entry, dict) else {}
        part: dict[str, Any] = {}
        notes = [self.problem] if self.problem else []
        shared = [name for name in _FIELDS if name not in own and self.result.get(name) is not None]
        for name in _FIELDS:
            if name in own or name in self.result:
                part[name] = own[name] if name in own else self.result[name]
        if shared:
            notes.append(f"{RESULT}: {', '.join(shared)} are those of the whole run")
        steps = _steps(own.get("steps"))
        if steps:
            part["steps"] = steps
        if notes:
            part["notes"] = notes
        try:
            msgspec.msgpack.encode(part)
        except (OverflowError, RecursionError, ValueError) as error:
            return {"notes": [f"{RESULT}: what it says of the case cannot be kept ({error})"]}
        return part


def read_run(root: str) -> RunRecord:
    """Read the record of a run, if it has one; what cannot be read becomes a note of every case."""
    path = Path(root, RESULT)
    if not stamps(root, (RESULT,)):
        return RunRecord(root)
    try:
        if path.stat().st_size > MAX_CASE_BYTES:
            return RunRecord(root, problem=f"{RESULT} of the run is larger than {MAX_CASE_BYTES} bytes")
        return RunRecord(root, _object(path.read_bytes()))
    except (OSError, ValueError, RecursionError) as error:
        return RunRecord(root, problem=f"{RESULT} of the run: not understood ({error})")


def _object(data: bytes) -> dict[str, Any]:
    return msgspec.convert(decoded(data), dict[str, Any])


def _steps(given: Any) -> dict[str, dict[str, Any]]:
    """Step -> metrics, from a mapping, or from a list of entries with a name."""
    if isinstance(given, dict):
        pairs = [(str(name), entry) for name, entry in given.items()]
    elif isinstance(given, list):
        entries = [entry for entry in given if isinstance(entry, dict)]
        pairs = [(str(entry.get("id") or entry.get("step") or entry.get("name") or ""), entry) for entry in entries]
    else:
        return {}
    return {
        name: {key: entry[key] for key in _FIELDS if key in entry}
        for name, entry in pairs
        if name and isinstance(entry, dict)
    }


def metrics_of(raw: Mapping[str, Any], notes: list[str]) -> Metrics:
    """The metrics in plain data; what is of another type is unknown, and noted."""
    found: dict[str, Any] = {}
    for name, kind in _TYPES.items():
        try:
            found[name] = msgspec.convert(raw.get(name), kind)
        except msgspec.ValidationError as error:
            notes.append(f"{RESULT}: {name}: {error}")
    return Metrics(**found)


def read_metrics(
    home: str, recorded: Mapping[str, Any], told: Metrics | None, *, present: Collection[str], notes: list[str]
) -> Metrics:
    """Cost and size of a run: from the folder's own run_result.json, else as the run recorded it (`recorded`), else as
    the raw stream told it."""
    if RESULT in present:
        try:
            raw = _object(Path(home, RESULT).read_bytes())
        except (ValueError, RecursionError) as error:
            notes.append(f"{RESULT}: not understood ({error})")
            return Metrics()
        return metrics_of(raw, notes)
    if any(name in recorded for name in _FIELDS):
        return metrics_of(recorded, notes)
    return told or Metrics()


def hook_outputs(home: str, run_root: str, *, present: Collection[str], notes: list[str]) -> dict[str, Any]:
    """What hooks left for judges, in the case's folder, else in the run's; `{}` with a note when it cannot be read."""
    name = next((name for name in _HOOK_FILES if name in present), None)
    if name is not None:
        return _read_hooks(f"{home}/{name}", name, notes)
    found = stamps(run_root, _HOOK_FILES)[:1] if run_root else ()
    if not found:
        return {}
    data, told = _hooks_of_run(run_root, found[0])
    notes += told
    return data


def _read_hooks(path: str, shown: str, notes: list[str]) -> dict[str, Any]:
    problems: list[Problem] = []
    data = read_mapping(path, shown, problems)
    notes += [f"{problem.file}: {problem.message}" for problem in problems]
    return data or {}


@lru_cache(maxsize=2)
def _hooks_of_run(root: str, stamp: tuple[str, int, int]) -> tuple[dict[str, Any], tuple[str, ...]]:
    notes: list[str] = []
    return _read_hooks(f"{root}/{stamp[0]}", stamp[0], notes), tuple(notes)


def run_stdout(root: str, notes: list[str]) -> str:
    """What the program of a whole batch printed; empty when the run has no such log."""
    stamp = stamps(root, ("stdout.log",))
    if not stamp:
        return ""
    text, told = _stdout_of_run(root, stamp)
    notes += [*told, "stdout is that of the whole batch: the case has none of its own"]
    return text


@lru_cache(maxsize=1)
def _stdout_of_run(root: str, _stamp: tuple[tuple[str, int, int], ...]) -> tuple[str, tuple[str, ...]]:
    notes: list[str] = []
    return read_text(f"{root}/stdout.log", notes, "stdout.log"), tuple(notes)


def read_steps(home: str, recorded: Any, *, traces: Traces, notes: list[str]) -> tuple[StepRecord, ...]:
    """The steps of a case: in the order that the run recorded, then those that only have a folder, by name.

    Raises:
        ValueError: there is more than may be read.
        OSError: a file cannot be read.
    """
    known: dict[str, Any] = recorded if isinstance(recorded, dict) else {}
    folders = _folders(f"{home}/steps")
    names = [*known, *(name for name in folders if name not in known)]
    # Only folders that are there are opened: a name in a file could lead anywhere.
    return tuple(_step(home, name, known.get(name) or {}, name in folders, traces, notes) for name in names)


def _folders(path: str) -> list[str]:
    if os.path.islink(path) or not os.path.isdir(path):  # noqa: PTH112, PTH114
        return []
    with os.scandir(path) as entries:
        names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    return sorted(name for name in names if name.isprintable())


def _step(
    home: str, name: str, recorded: Mapping[str, Any], is_there: bool, traces: Traces, notes: list[str]
) -> StepRecord:
    folder = f"{home}/steps/{name}"
    present = plain_files(folder) if is_there else frozenset()
    told: list[str] = []
    stdout, stderr = read_logs(folder, present, traces, told)
    found = read_case_events(folder, notes=told, present=present, stdout=stdout) if traces.events and is_there else None
    metrics = Metrics()
    if traces.metrics:
        metrics = read_metrics(folder, recorded, found.metrics if found else None, present=present, notes=told)
    outputs: dict[str, str | BinaryFile] = {}
    if present - _OWN_OF_STEP or (is_there and _folders(folder)):
        start = f"steps/{name}/"
        for path, content in read_outputs(home, start[:-1], told).items():
            below = path.removeprefix(start)
            if below not in _OWN_OF_STEP and not below.startswith("subagents/"):
                outputs[below] = content
    notes += [f"step {name}: {text}" for text in told]
    return StepRecord(
        id=name,
        events=found.events if found else (),
        stdout=stdout,
        stderr=stderr,
        metrics=metrics,
        outputs=outputs,
    )


def read_logs(folder: str, present: Collection[str], traces: Traces, notes: list[str]) -> tuple[str, str]:
    """(stdout, stderr) of a folder; empty where there is none or it is not to be read."""
    wanted = (("stdout.log", traces.stdout), ("stderr.log", traces.stderr))
    stdout, stderr = (
        read_text(f"{folder}/{name}", notes, name) if read and name in present else "" for name, read in wanted
    )
    return stdout, stderr
