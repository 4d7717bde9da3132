"""Work that was done elsewhere: patches and sessions, by task; and the reference solutions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from adjudge.domain import ConfigError, Execution, Problem, Submission, Suite
from adjudge.formats.golden.state import GOLDEN, read_golden
from adjudge.sandbox import GitError, git

SUFFIXES = (".patch", ".diff")
_LOGS = (".jsonl", ".json", ".log")
_RUNS = ".adjudge/"


def with_work(suite: Suite, patches: Sequence[Path], traces: Sequence[Path], *, tasks: Sequence[str]) -> Suite:
    """The suite with patches in the place of runs of the agent.

    A file is for the only task that is selected, or for the task whose id it is called by; a folder holds such files.

    Raises:
        ConfigError: a file is for no task, or cannot be read.
    """
    problems: list[Problem] = []
    ids = [stub.id for stub in suite.source.stubs()]
    chosen = list(tasks) or ids
    found = _by_task(patches, SUFFIXES, ids, chosen, "--patch", problems)
    logs = _by_task(traces, _LOGS, ids, chosen, "--trace", problems)
    problems += [
        Problem(key="--trace", message=f"{logs[task]}: there is no --patch of {task}")
        for task in logs
        if task not in found
    ]
    submissions: dict[str, Submission] = {}
    for task, path in found.items():
        try:
            text = path.read_bytes().decode("utf-8", "surrogateescape")
            log = str(logs[task].resolve()) if task in logs else ""
            submissions[task] = Submission(patch=text, trace=log, source=path.name)
        except OSError as error:
            problems.append(Problem(file=str(path), key="--patch", message=f"cannot be read: {error.strerror}"))
    if problems:
        raise ConfigError(problems)
    return _replaced(suite, submissions)


def with_references(suite: Suite, root: Path) -> Suite:
    """The suite with the reference solutions in the place of runs of the agent: whether its own checks let them pass.

    Raises:
        ConfigError: a golden.json is broken, or no task has one.
    """
    problems: list[Problem] = []
    submissions: dict[str, Submission] = {}
    for stub in suite.source.stubs():
        folder = Path(getattr(suite.source.ref(stub.id), "source", root))
        golden = read_golden(folder, str(folder / GOLDEN), problems)
        if golden is None:
            continue
        source = f"golden.json{f', by {golden.author}' if golden.author else ''}"
        submissions[stub.id] = Submission(patch=golden.patch, final_message=golden.final_message, source=source)
    if not submissions and not problems:
        problems.append(Problem(key="--golden", message="no task has a golden.json"))
    if problems:
        raise ConfigError(problems)
    return _replaced(suite, submissions)


def touched_tasks(suite: Suite, root: Path, revision: str) -> tuple[str, ...]:
    """The tasks whose files differ from a revision of the repository that the suite lies in; all of them when anything
    else of the suite differs: its rubric, settings or baseline, a repository that tasks share, a task that is gone.

    Raises:
        ConfigError: git cannot say.
    """
    told = ""
    for words in (
        ["diff", "--name-only", "--no-renames", "--relative", "-z", "--end-of-options", revision, "--", "."],
        ["ls-files", "--others", "--exclude-standard", "-z", "--", "."],
    ):
        try:
            told += git(*words, cwd=root, plain=False)
        except GitError as error:
            raise ConfigError([Problem(key="--changed-since", message=str(error))]) from None
    names = [name for name in told.split("\0") if name and not name.startswith(_RUNS)]
    ids = [stub.id for stub in suite.source.stubs()]
    folders = {f"tasks/{Path(getattr(suite.source.ref(task), 'source', '')).name}": task for task in ids}
    changed = {"/".join(name.split("/")[:2]) for name in names}
    if changed - folders.keys():
        return tuple(ids)
    return tuple(task for folder, task in folders.items() if folder in changed)


def _by_task(
    paths: Sequence[Path],
    suffixes: Sequence[str],
    ids: Sequence[str],
    chosen: Sequence[str],
    flag: str,
    problems: list[Problem],
) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in paths:
        files = sorted(p for p in path.iterdir() if p.suffix in suffixes) if path.is_dir() else [path]
        for file in files:
            if not file.is_file():
                problems.append(Problem(file=str(file), key=flag, message="there is no such file"))
                continue
            task = file.stem if file.stem in ids else chosen[0] if len(chosen) == 1 and not path.is_dir() else ""
            if not task:
                hint = "name the file by the task's id, or choose one task with --case"
                problems.append(Problem(file=str(file), key=flag, message="it is for no task", hint=hint))
            elif task not in chosen and not path.is_dir():  # else an agent would be paid for the task that is chosen
                problems.append(Problem(file=str(file), key=flag, message=f"it is for {task}, which --case leaves out"))
            elif task in found:
                problems.append(Problem(file=str(file), key=flag, message=f"{task} has one already: {found[task]}"))
            else:
                found[task] = file
    return found


def _replaced(suite: Suite, submissions: dict[str, Submission]) -> Suite:
    execution = suite.execution or Execution()
    merged = {**execution.submissions, **submissions}
    return msgspec.structs.replace(suite, execution=msgspec.structs.replace(execution, submissions=merged))
