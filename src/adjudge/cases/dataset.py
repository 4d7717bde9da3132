"""Case folders: `<dataset>/<case>/input.yaml`, annotations, references, and outputs that are already collected."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.cases.events import read_events
from adjudge.cases.files import plain_files, read_outputs, read_text
from adjudge.domain import BinaryFile, Case, CaseRef, CaseStub, Metrics, Problem
from adjudge.located import parse_yaml
from adjudge.located import read_text as read_text_file

INPUT_NAMES = ("input.yaml", "input.yml", "input.json")


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
        home = self.home
        if not os.path.isdir(self.source):  # noqa: PTH112
            raise FileNotFoundError(f"the case folder {self.source} has vanished")
        if home != self.source and not os.path.isdir(home):  # noqa: PTH112
            raise FileNotFoundError(f"there is no folder {home} with outputs of this case")
        present = plain_files(home)
        notes: list[str] = []
        files: dict[str, str | BinaryFile] = {}
        for path in (*self.declared, "_modified"):
            files.update(read_outputs(home, path, notes))
        references: dict[str, str] = {}
        for key, value in self.annotations.items():
            text = _reference(self.source, value, notes)
            if text is not None:
                references[key] = text
        return Case(
            id=self.id,
            inputs=self.inputs,
            outputs=files,
            annotations=self.annotations,
            references=references,
            events=read_events(home, present, notes),
            stdout=read_text(f"{home}/stdout.log", notes, "stdout.log") if "stdout.log" in present else "",
            stderr=read_text(f"{home}/stderr.log", notes, "stderr.log") if "stderr.log" in present else "",
            metrics=_metrics(home, notes) if "run_result.json" in present else Metrics(),
            directory=home,
            tags=_tags(self.annotations),
            notes=tuple(notes),
        )

    def any_output(self) -> bool:
        """True if at least one declared output is there."""
        return any(os.path.exists(f"{self.home}/{path}") for path in self.declared)  # noqa: PTH110


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
            folders.append(CaseFolder(name, source, f"{collected}/{name}", outputs, *read))
    return DatasetFolder(folders), problems


def _read_folder(folder: str, shown: str, problems: list[Problem]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Inputs and annotations of a case."""
    present = plain_files(folder)
    source = next((name for name in INPUT_NAMES if name in present), None)
    if source is None:
        problems.append(Problem(file=shown, message="the case has no input.yaml", hint="or input.json"))
        return None
    inputs = _mapping(f"{folder}/{source}", f"{shown}/{source}", problems, whole_value="input")
    annotations: dict[str, Any] | None = {}
    for name in ("annotations.yaml", "annotations.yml"):
        if name in present:
            annotations = _mapping(f"{folder}/{name}", f"{shown}/{name}", problems)
            break
        if os.path.islink(f"{folder}/{name}"):  # noqa: PTH114
            problems.append(Problem(file=f"{shown}/{name}", message="is a symbolic link, which is not followed"))
    if inputs is None or annotations is None:
        return None
    return inputs, annotations


def _mapping(path: str, shown: str, problems: list[Problem], *, whole_value: str = "") -> dict[str, Any] | None:
    """A small YAML or JSON file as a mapping with text keys. `whole_value` names a value that is no mapping."""
    if path.endswith(".json"):
        return _json_mapping(path, shown, problems)
    text = read_text_file(Path(path), shown)
    if isinstance(text, Problem):
        problems.append(text)
        return None
    root, found = parse_yaml(text, shown)
    problems += found
    if found:
        return None
    loaded: Any = root.plain() if root is not None else None
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        if whole_value:
            return {whole_value: loaded}
        problems.append(Problem(file=shown, message=f"expected a mapping, got {root.kind if root else 'nothing'}"))
        return None
    try:
        cleaned: Any = msgspec.to_builtins(loaded, str_keys=True)
        msgspec.msgpack.encode(cleaned)
    except (TypeError, RecursionError, ValueError, OverflowError) as error:
        problems.append(Problem(file=shown, message=f"holds something that is not plain data: {error}"))
        return None
    return dict(cleaned)


def _json_mapping(path: str, shown: str, problems: list[Problem]) -> dict[str, Any] | None:
    try:
        loaded = msgspec.json.decode(Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        problems.append(Problem(file=shown, message=f"not valid JSON: {error}"))
        return None
    return loaded if isinstance(loaded, dict) else {"input": loaded}


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


def _metrics(home: str, notes: list[str]) -> Metrics:
    """Cost and size of the agent's run from the case's own run_result.json; what is of another type is noted."""
    try:
        raw = msgspec.json.decode(Path(home, "run_result.json").read_bytes(), type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError) as error:
        notes.append(f"run_result.json: not understood ({error})")
        return Metrics()
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(Metrics):
        try:
            found[field.name] = msgspec.convert(raw.get(field.name), field.type)
        except msgspec.ValidationError as error:
            notes.append(f"run_result.json: {field.name}: {error}")
    return Metrics(**found)


def _tags(annotations: dict[str, Any]) -> tuple[str, ...]:
    tags = annotations.get("tags")
    if isinstance(tags, str):
        return (tags,)
    return tuple(str(tag) for tag in tags) if isinstance(tags, list) else ()
