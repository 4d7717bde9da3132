"""Case folders: `<dataset>/<case>/input.yaml`, annotations, references, and outputs that are already collected."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.cases.events import Trajectory, read_case_events
from adjudge.cases.files import drop_harness_files, listing, plain_files, read_outputs, read_text
from adjudge.cases.mappings import read_mapping
from adjudge.cases.runs import RunRecord, hook_outputs, read_logs, read_metrics, read_run, read_steps, run_stdout
from adjudge.cases.traces import TraceLimits, read_trace, shown_trace
from adjudge.domain import BinaryFile, Case, CaseRef, CaseStub, Metrics, Problem, Repository, StepRecord, Traces

INPUT_NAMES = ("input.yaml", "input.yml", "input.json")
_LEFT = ("_modified", "events.json", "events.jsonl", "stdout.log", "run_result.json", "steps")
"""What a run leaves in a case's folder besides its outputs."""


class CaseFolder(msgspec.Struct, frozen=True, tag="folder"):
    """One case as found on disk: `inputs` and `annotations` are read, the outputs are not.

    Attributes:
        source: The case's folder in the dataset.
        home: The folder that holds what was made for it; often the same.
        declared: Output paths, relative to `home`.
        tools: Globs of the tools whose calls are outputs.
        run_root: The folder of the run that `home` is a part of; empty when it is in none.
        recorded: What that run's own record says of the case, see `RunRecord.part`.
        traces: What is read besides outputs.
        repository: Where the work starts, when it is work on a repository.
        shown: How much of the trace of such work is shown.
    """

    id: str
    source: str
    home: str
    declared: tuple[str, ...]
    inputs: dict[str, Any]
    annotations: dict[str, Any]
    tools: tuple[str, ...] = ()
    run_root: str = ""
    recorded: dict[str, Any] = {}
    traces: Traces = Traces()
    repository: Repository | None = None
    shown: TraceLimits = TraceLimits()

    def load(self, *, trajectory: bool = True) -> Case:
        """Read outputs, references, trajectory and metrics.

        Raises:
            OSError: a file is there but cannot be read, or the case's folder has vanished.
            ValueError: there is more than may be read, or `events.json` is broken.
        """
        home, traces = self.home, self.traces
        if not os.path.isdir(self.source):  # noqa: PTH112
            raise FileNotFoundError(f"the case folder {self.source} has vanished")
        if home != self.source and not os.path.isdir(home):  # noqa: PTH112
            raise FileNotFoundError(f"there is no folder {home} with outputs of this case")
        present, others = listing(home)
        notes = list(self.recorded.get("notes", ())) if traces.metrics else []
        files: dict[str, str | BinaryFile] = {}
        for path in (*self.declared, *(("_modified",) if "_modified" in others else ())):
            files.update(read_outputs(home, path, notes))
        drop_harness_files(files, home=home, declared=self.declared, present=present, notes=notes)
        _note_equal_names(files, self.declared, notes)
        references: dict[str, str] = {}
        for key, value in self.annotations.items():
            text = _reference(self.source, value, notes)
            if text is not None:
                references[key] = text
        stdout, stderr = read_logs(home, present, traces, notes)
        told = Trajectory()
        if traces.events and trajectory:
            told = read_case_events(home, self.run_root, notes=notes, present=present, stdout=stdout)
        if traces.stdout and not told.events and self.run_root and "stdout.log" not in present:
            stdout = run_stdout(self.run_root, notes)
        metrics = Metrics()
        if traces.metrics:
            metrics = read_metrics(home, self.recorded, told.metrics, present=present, notes=notes)
        steps: tuple[StepRecord, ...] = ()
        if "steps" in others or "steps" in self.recorded:
            steps = read_steps(home, self.recorded.get("steps"), traces=traces, notes=notes)
        trace: dict[str, Any] = {}
        if self.repository is not None:
            trace, left_out = shown_trace(read_trace(home), self.shown)
            notes += left_out
        return Case(
            id=self.id,
            inputs=self.inputs,
            outputs=files,
            annotations=self.annotations,
            references=references,
            events=told.events,
            stdout=stdout,
            stderr=stderr,
            metrics=metrics,
            directory=home,
            hook_outputs=hook_outputs(home, self.run_root, present=present, notes=notes),
            steps=steps,
            declared=self.declared,
            tools=self.tools,
            tags=_tags(self.annotations),
            notes=tuple(notes),
            trace=trace,
        )

    def any_output(self) -> bool:
        """True if at least one declared output is there."""
        return any(os.path.exists(f"{self.home}/{path}") for path in self.declared)  # noqa: PTH110

    def any_trace(self) -> bool:
        """True if there is what a run leaves besides: changes in place, a trajectory, logs or figures."""
        return any(os.path.exists(f"{self.home}/{name}") for name in _LEFT)  # noqa: PTH110


class DatasetFolder:
    """The cases of a dataset folder, in order of name."""

    def __init__(self, folders: Iterable[CaseFolder]) -> None:
        self._folders = {folder.id: folder for folder in folders}

    def stubs(self) -> Sequence[CaseStub]:
        return [CaseStub(folder.id, _tags(folder.annotations), folder.annotations) for folder in self._folders.values()]

    def ref(self, case_id: str) -> CaseRef:
        return self._folders[case_id]

    def inputs(self, case_id: str) -> dict[str, Any]:
        """What the agent is asked in a case."""
        return self._folders[case_id].inputs

    def any_outputs(self) -> bool:
        """True if at least one case has at least one of the declared outputs."""
        return any(folder.any_output() for folder in self._folders.values())

    def any_traces(self) -> bool:
        """True if at least one case has what a run leaves besides outputs."""
        return any(folder.any_trace() for folder in self._folders.values())


def read_dataset(
    root: Path,
    *,
    workspace: Path | None,
    outputs: tuple[str, ...],
    shown: str,
    tools: tuple[str, ...] = (),
    traces: Traces = Traces(),  # noqa: B008 - frozen
) -> tuple[DatasetFolder, list[Problem]]:
    """Find and read the case folders, sorted by name; hidden folders are no cases.

    `workspace` is a run's folder, whose record is read here, once for all cases, or one with a folder for each case.
    """
    problems: list[Problem] = []
    folders: list[CaseFolder] = []
    collected = root if workspace is None else workspace
    if workspace is not None and (workspace / "cases").is_dir():
        collected = workspace / "cases"
    run = RunRecord() if workspace is None else read_run(_run_root(workspace))
    home, collected = root.resolve(), collected.resolve()
    with os.scandir(root) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False) and entry.name[0] != ".")
    for name in names:
        source = f"{home}/{name}"
        if not name.isprintable():
            shown_name = name.encode("utf-8", "replace").decode()
            problems.append(Problem(file=f"{shown}/{shown_name}", message="the folder's name is not readable text"))
            continue
        read = _read_folder(source, f"{shown}/{name}", problems)
        if read is not None:
            place = f"{collected}/{name}"
            folders.append(CaseFolder(name, source, place, outputs, *read, tools, run.root, run.part(name), traces))
    return DatasetFolder(folders), problems


def _read_folder(folder: str, shown: str, problems: list[Problem]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Inputs and annotations of a case."""
    present = plain_files(folder)
    source = next((name for name in INPUT_NAMES if name in present), None)
    if source is None:
        problems.append(Problem(file=shown, message="the case has no input.yaml", hint="or input.json"))
        return None
    inputs = read_mapping(f"{folder}/{source}", f"{shown}/{source}", problems, whole_value="input")
    annotations: dict[str, Any] | None = {}
    for name in ("annotations.yaml", "annotations.yml"):
        if name in present:
            annotations = read_mapping(f"{folder}/{name}", f"{shown}/{name}", problems)
            break
        if os.path.islink(f"{folder}/{name}"):  # noqa: PTH114
            problems.append(Problem(file=f"{shown}/{name}", message="is a symbolic link, which is not followed"))
    if inputs is None or annotations is None:
        return None
    return inputs, annotations


def _run_root(workspace: Path) -> str:
    """The run's own folder, also when its `cases` folder is named."""
    whole = workspace.resolve()
    return str(whole.parent if whole.name == "cases" and not (whole / "cases").is_dir() else whole)


def _note_equal_names(files: Collection[str], declared: Sequence[str], notes: list[str]) -> None:
    """Two output folders whose last part is equal: only the first gives the short keys of that name."""
    first: dict[str, str] = {}
    for folder in declared:
        name = folder.rpartition("/")[2]
        known = first.setdefault(name, folder)
        if known != folder and all(any(path.startswith(f"{where}/") for path in files) for where in (known, folder)):
            notes.append(f"{name}_content is that of {known}, not of {folder}: the last part of both is {name}")


def _reference(source: str, value: Any, notes: list[str]) -> str | None:
    """Text of the file that an annotation names, if it names one inside its own case folder."""
    if not isinstance(value, str) or not value or len(value) > 255 or "\n" in value or "\0" in value:
        return None
    try:
        if not os.path.isfile(f"{source}/{value}"):  # noqa: PTH113 - tried on every annotation there is
            return None
        path = Path(source, value).resolve()
        return read_text(str(path), notes, value) if path.is_relative_to(Path(source).resolve()) else None
    except OSError as error:
        notes.append(f"{value}: cannot be read ({error.strerror})")
        return None


def _tags(annotations: dict[str, Any]) -> tuple[str, ...]:
    tags = annotations.get("tags")
    if isinstance(tags, str):
        return (tags,)
    return tuple(str(tag) for tag in tags) if isinstance(tags, list) else ()
