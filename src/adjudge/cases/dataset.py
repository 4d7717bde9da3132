"""Case folders: `<dataset>/<case>/input.yaml`, annotations, references, and outputs that are already collected."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml

from adjudge.cases.events import read_events
from adjudge.cases.files import read_outputs, read_text
from adjudge.domain import BinaryFile, Case, CaseRef, CaseStub, Metrics, Problem

INPUT_NAMES = ("input.yaml", "input.yml", "input.json")

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class CaseFolder(msgspec.Struct, frozen=True, tag="folder"):
    """One case as found on disk: `inputs` and `annotations` are read, the outputs are not.

    Attributes:
        source: The case's folder in the dataset.
        home: The folder that holds what was made for it; often the same.
        declared: Output paths, relative to `home`.
    """

    id: str
    source: str
    home: str
    declared: tuple[str, ...]
    inputs: dict[str, Any]
    annotations: dict[str, Any]

    def load(self) -> Case:
        """Read outputs, references and trajectory.

        Raises:
            OSError: a file is there but cannot be read, or the case's folder has vanished.
        """
        home = Path(self.home)
        source = Path(self.source)
        if not source.is_dir():
            raise FileNotFoundError(f"the case folder {source} has vanished")
        notes: list[str] = []
        files: dict[str, str | BinaryFile] = {}
        for path in (*self.declared, "_modified"):
            files.update(read_outputs(home, path, notes))
        references: dict[str, str] = {}
        for key, value in self.annotations.items():
            text = _reference(source, value, notes)
            if text is not None:
                references[key] = text
        return Case(
            id=self.id,
            inputs=self.inputs,
            outputs=files,
            annotations=self.annotations,
            references=references,
            events=read_events(home, notes),
            stdout=_optional_text(home / "stdout.log", notes),
            stderr=_optional_text(home / "stderr.log", notes),
            metrics=_metrics(home, notes),
            directory=str(home),
            tags=_tags(self.annotations),
            notes=tuple(notes),
        )

    def any_output(self) -> bool:
        """True if at least one declared output is there."""
        return any((Path(self.home) / path).exists() for path in self.declared)


class DatasetFolder:
    """The cases of a dataset folder, in order of name."""

    def __init__(self, folders: Iterable[CaseFolder]) -> None:
        self._folders = {folder.id: folder for folder in folders}

    def stubs(self) -> Sequence[CaseStub]:
        return [CaseStub(folder.id, _tags(folder.annotations), folder.annotations) for folder in self._folders.values()]

    def ref(self, case_id: str) -> CaseRef:
        return self._folders[case_id]

    def any_outputs(self) -> bool:
        """True if at least one case has at least one of the declared outputs."""
        return any(folder.any_output() for folder in self._folders.values())


def read_dataset(
    root: Path, *, workspace: Path | None, outputs: tuple[str, ...], shown: str
) -> tuple[DatasetFolder, list[Problem]]:
    """Find and read the case folders, sorted by name; hidden folders are no cases."""
    problems: list[Problem] = []
    folders: list[CaseFolder] = []
    collected = root if workspace is None else workspace
    if workspace is not None and (workspace / "cases").is_dir():
        collected = workspace / "cases"
    collected = collected.resolve()
    with os.scandir(root) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False) and entry.name[0] != ".")
    for name in names:
        read = _read_folder(root / name, f"{shown}/{name}", problems)
        if read is not None:
            source = str(root.resolve() / name)
            folders.append(CaseFolder(name, source, str(collected / name), outputs, *read))
    return DatasetFolder(folders), problems


def _read_folder(folder: Path, shown: str, problems: list[Problem]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Inputs and annotations of a case."""
    source = next((folder / name for name in INPUT_NAMES if (folder / name).is_file()), None)
    if source is None:
        problems.append(Problem(file=shown, message="the case has no input.yaml", hint="or input.json"))
        return None
    inputs = _mapping(source, f"{shown}/{source.name}", problems, whole_value="input")
    annotations: dict[str, Any] | None = {}
    for name in ("annotations.yaml", "annotations.yml"):
        path = folder / name
        if path.is_symlink():
            problems.append(Problem(file=f"{shown}/{name}", message="is a symbolic link, which is not followed"))
        elif path.is_file():
            annotations = _mapping(path, f"{shown}/{name}", problems)
            break
    if inputs is None or annotations is None:
        return None
    return inputs, annotations


def _mapping(path: Path, shown: str, problems: list[Problem], *, whole_value: str = "") -> dict[str, Any] | None:
    """A small YAML or JSON file as a mapping with text keys. `whole_value` names a value that is no mapping."""
    try:
        loaded = yaml.load(path.read_bytes().decode("utf-8-sig"), _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        message = f"not valid YAML: {error.problem or error.context}"
        problems.append(Problem(file=shown, line=line, column=column, message=message))
        return None
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValueError, RecursionError) as error:
        problems.append(Problem(file=shown, message=f"cannot be read: {error}"))
        return None
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        if whole_value:
            return {whole_value: loaded}
        problems.append(Problem(file=shown, message=f"expected a mapping, got {type(loaded).__name__}"))
        return None
    try:
        cleaned: Any = msgspec.to_builtins({str(key): value for key, value in loaded.items()}, str_keys=True)
    except (TypeError, RecursionError, ValueError) as error:
        problems.append(Problem(file=shown, message=f"holds something that is not plain data: {error}"))
        return None
    return dict(cleaned)


def _reference(source: Path, value: Any, notes: list[str]) -> str | None:
    """Text of the file that an annotation names, if it names one inside its own case folder."""
    if not isinstance(value, str) or not value or len(value) > 255 or "\n" in value or "\0" in value:
        return None
    path = source / value
    try:
        if not path.is_file() or not path.resolve().is_relative_to(source.resolve()):
            return None
        return read_text(path, notes, value)
    except OSError as error:
        notes.append(f"{value}: cannot be read ({error.strerror})")
        return None


def _optional_text(path: Path, notes: list[str]) -> str:
    return read_text(path, notes, path.name) if path.is_file() and not path.is_symlink() else ""


def _metrics(home: Path, notes: list[str]) -> Metrics:
    """Cost and size of the agent's run from the case's own run_result.json."""
    path = home / "run_result.json"
    if not path.is_file() or path.is_symlink():
        return Metrics()
    try:
        raw = msgspec.json.decode(path.read_bytes())
        usage = raw.get("token_usage")
        fields = {key: raw.get(key) for key in ("exit_code", "duration_s", "cost_usd", "num_turns")}
        return msgspec.convert({**fields, "token_usage": usage if isinstance(usage, dict) else None}, Metrics)
    except (msgspec.MsgspecError, AttributeError) as error:
        notes.append(f"run_result.json: not understood ({error})")
        return Metrics()


def _tags(annotations: dict[str, Any]) -> tuple[str, ...]:
    tags = annotations.get("tags")
    if isinstance(tags, str):
        return (tags,)
    return tuple(str(tag) for tag in tags) if isinstance(tags, list) else ()
