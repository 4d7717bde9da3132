"""What a Python caller uses: load, plan, run, and read results again."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from adjudge.domain import AdjudgeError, CodeJudge, ConfigError, Criterion, RunResult, Scale, StoreError, Suite
from adjudge.engine import RunOptions, make_plan, read_result, read_run
from adjudge.engine.results import read_times
from adjudge.engine.spawn import WORKER_MARK
from adjudge.judges.local import remember_function

if TYPE_CHECKING:
    from adjudge.engine.options import BaselineRun


def load(path: str | Path, *, format: str | None = None, workspace: str | Path | None = None) -> Suite:
    """Read a config file or folder into a suite.

    Raises:
        ConfigError: with every problem found.
    """
    from adjudge import formats
    from adjudge.engine import discover

    return formats.load(path, name=format, workspace=workspace, discover=discover)


def run(suite: Suite | str | Path, *, workspace: str | Path | None = None, **options: Any) -> RunResult:
    """Judge a suite, or the config at a path, and return the result.

    `options` are those of `RunOptions` (`output="run1"`, `no_llm=True`, ...). The run directory gets its journal,
    `result.json`, `summary.md` and `junit.xml`.

    Raises:
        ConfigError: the suite cannot run; nothing was asked.
        StoreError: the run directory cannot be used.
        KeyboardInterrupt: the run was interrupted; the same call resumes it.
    """
    import asyncio

    return asyncio.run(run_async(suite, workspace=workspace, **options))


async def run_async(suite: Suite | str | Path, *, workspace: str | Path | None = None, **options: Any) -> RunResult:
    """Like `run`, for callers with an event loop of their own (notebooks).

    Raises:
        As `run`.
    """
    if os.environ.get(WORKER_MARK):
        raise AdjudgeError("this file is being imported by a worker: put run() under `if __name__ == '__main__':`")
    from adjudge.engine.observer import Silent
    from adjudge.engine.run import execute

    loaded = suite if isinstance(suite, Suite) else load(suite, workspace=workspace)
    if isinstance(options.get("baseline"), str | Path):
        limits = {key: options.pop(key) for key in ("max_drop", "allow_missing") if key in options}
        options["baseline"] = baseline_run(loaded, options["baseline"], **limits)
    chosen = make_options(**options)
    ended = await execute(make_plan(loaded, chosen), chosen, Silent())
    if ended.interrupted:
        raise KeyboardInterrupt
    return write_run(ended.run)


def baseline_run(
    suite: Suite, name: str | Path, *, max_drop: float | None = None, allow_missing: bool = False
) -> BaselineRun:
    """The run that a suite's run is held against: a run directory, or the name of one among the suite's runs.

    Without a `max_drop` judges that have a threshold may fall by 0.5 on their own scale; with one, every judge by it.

    Raises:
        StoreError: there is no such run, or it cannot be read.
        ConfigError: the drop is no number of 0 or more.
    """
    from adjudge.engine import HOME
    from adjudge.engine.options import BaselineRun
    from adjudge.scoring import BaselineLimits, baseline_of

    if max_drop is not None and not 0 <= max_drop < inf:
        raise ConfigError(f"max_drop must be a number of 0 or more, got {max_drop}")
    folders = [Path(name), Path(suite.runs or HOME / "runs" / suite.name) / name, HOME / "runs" / suite.name / name]
    folder = next((folder for folder in folders if folder.is_dir()), None)
    if folder is None:
        raise StoreError(f"there is no run {str(name)!r}, neither as a folder nor in {folders[1].parent}")
    limits = BaselineLimits(
        max_drop=0.5 if max_drop is None else max_drop, every_judge=max_drop is not None, allow_missing=allow_missing
    )
    return BaselineRun(folder=folder, figures=baseline_of(read(folder), name=folder.name), limits=limits)


def write_run(run: Path) -> RunResult:
    """Recompute a run's result, and write its files: ours, and those that users of its format expect.

    Raises:
        StoreError: the run directory cannot be read or written.
    """
    from adjudge.report import write_files

    snapshot, result = read_run(run)
    write_files(result, run)
    if snapshot.rewards:
        from adjudge.formats import rewardkit

        rewardkit.write(result, snapshot, run / "reward.json")
    if snapshot.format == "eval_yaml":
        from adjudge.formats import eval_yaml

        eval_yaml.write(result, snapshot, run)
    if snapshot.format == "banana":
        from adjudge.formats import banana

        banana.write(result, snapshot, read_times(run), run)
    return result


def write_html(run: Path) -> Path:
    """Write a run's `report.html`, and return its path.

    Raises:
        StoreError: the run directory cannot be read or written.
    """
    from adjudge.engine.details import baseline_folder
    from adjudge.engine.details import write_html as write
    from adjudge.report import html_report
    from adjudge.scoring import compare

    snapshot, result = read_run(run)
    analysis = run / "analysis.md"
    said = analysis.read_text(encoding="utf-8", errors="replace") if analysis.is_file() else ""
    before = baseline_folder(run)
    beside = None
    if before is not None:
        with contextlib.suppress(StoreError):  # the baseline is gone; its figures are in the gate all the same
            beside = compare(result, read(before), names=(run.name, before.name))
    return write(
        run,
        snapshot,
        lambda details: html_report(result, details=details, analysis=said, comparison=beside),
        baseline=before,
    )


def make_options(**options: Any) -> RunOptions:
    """Options from keyword arguments; paths and sequences may be given in their everyday forms.

    Raises:
        TypeError: an option that does not exist.
    """
    for key in ("output", "cache"):
        if options.get(key) is not None:
            options[key] = Path(options[key])
    for key in ("cases", "tags"):
        if key in options:
            options[key] = tuple(options[key])
    return RunOptions(**options)


def read(run: str | Path) -> RunResult:
    """The result of a run directory: recomputed from its journal, or read from a summary.yaml of agent-eval-harness.

    Raises:
        StoreError: it is no run directory, or a file of it cannot be read.
    """
    from adjudge.engine.rundir import JOURNAL
    from adjudge.formats.eval_yaml.summary import SUMMARY, read_summary

    folder = Path(run)
    if (folder / JOURNAL).exists():
        return read_result(folder)
    if (folder / SUMMARY).exists():
        return read_summary(folder)
    raise StoreError(f"{run} is no run directory: it has neither {JOURNAL} nor {SUMMARY}")


def code_judge(function: Callable[..., Any], *, scale: Scale | None = None, **fields: Any) -> CodeJudge:
    """A judge from a function that is called as `function(outputs=record, **arguments)` in a worker process.

    Also a decorator. The function must be found again by its name in its file: no lambda, no nested function, no
    notebook cell.

    Raises:
        ConfigError: the function has no file, or is not at the top level of it.
    """
    name = getattr(function, "__qualname__", "")
    file = inspect.getsourcefile(function) if inspect.isfunction(function) else None
    if not file or not Path(file).is_file() or "<" in name:
        raise ConfigError(f"{function!r} cannot be run by a worker: define it at the top level of a file")
    fields.setdefault("name", function.__name__)
    fields.setdefault("criteria", (Criterion(name=fields["name"], scale=scale),))
    remember_function(str(Path(file).resolve()), name, function)
    judge = CodeJudge(module=str(Path(file).resolve()), function=name, **fields)
    return msgspec.structs.replace(judge, description=judge.description or (inspect.getdoc(function) or ""))
