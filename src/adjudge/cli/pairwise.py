"""adjudge pairwise"""

from __future__ import annotations

import asyncio
import hashlib
from itertools import combinations
from pathlib import Path
from typing import Any

import click
import msgspec

from adjudge.cli.common import Refused, complain, result_console, show_problems
from adjudge.domain import (
    AdjudgeError,
    Baseline,
    ConfigError,
    PairwiseJudge,
    PairwiseResult,
    RunResult,
    Snapshot,
    StoreError,
    Suite,
)


class _Side(msgspec.Struct, frozen=True):
    """One system: what it is called, and the run directory that holds its work."""

    name: str
    run: Path


class _Interrupted(Exception):
    pass


@click.command("pairwise")
@click.argument("sides", type=click.Path(path_type=Path, exists=True), nargs=-1, required=True)
@click.option("--suite", "config", type=click.Path(path_type=Path, exists=True), help="Of the runs, or of the patches.")
@click.option("--case", "cases", multiple=True, metavar="ID", help="Compare only this case (repeatable).")
@click.option("--judge-model", "--judge", metavar="M", help="Model of the judge.")
@click.option("--samples", type=click.IntRange(1), metavar="N", help="Samples of each order.")
@click.option("--budget", type=click.FloatRange(0), metavar="USD", help="Make no new call beyond this, over all pairs.")
@click.option("--max-concurrency", type=click.IntRange(1, 1000), default=32, show_default=True, metavar="N")
@click.option("--output", type=click.Path(path_type=Path), metavar="DIR", help="Where each pair's run directory lies.")
@click.option("--offline", is_flag=True, help="Answer only from journal and cache.")
@click.option("--fresh", is_flag=True, help="Ask everything anew.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of the resampling.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no table.")
def command(sides: tuple[Path, ...], config: Path | None, as_json: bool, quiet: bool, **flags: Any) -> int:
    """Compare what two or more SIDES made of the same cases, two at a time and in both orders.

    A side is a run directory or, for coding tasks, a patch or a folder of them with --suite. A preference that does not
    survive the swap is a tie. A report, not a gate: exits 0, or 4 when a comparison could not be had.
    """
    from adjudge.engine import HOME
    from adjudge.report.tournament import print_tournament
    from adjudge.scoring.tournament import tournament
    from adjudge.whole_files import write_json

    if len({side.resolve() for side in sides}) < 2 or len({side.resolve() for side in sides}) < len(sides):
        raise click.UsageError("two or more different sides are needed")
    name = hashlib.sha256("\0".join(str(side.resolve()) for side in sides).encode()).hexdigest()[:12]
    output = flags.pop("output") or HOME / "pairwise" / name
    try:
        found = [_side(side, label, config, output, flags) for side, label in zip(sides, _names(sides), strict=True)]
        suite = _suite(found[0].run, config)
        results: list[tuple[str, str, PairwiseResult]] = []
        broken = False
        spent = 0.0
        for a, b in combinations(found, 2):
            result = _compare(suite, a, b, output, flags, spent=spent, quiet=quiet)
            spent += (result.usage.cost_usd or 0.0) if result.usage else 0.0
            results.append((a.name, b.name, result.pairwise[0]))
            broken = broken or result.pairwise[0].unscored > 0
    except _Interrupted:
        click.echo("interrupted; the same command goes on where it was", err=True)
        return 130
    except ConfigError as error:
        raise Refused(error.problems) from None
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    except AdjudgeError as error:
        complain(f"error: {error}")
        return 4
    made = tournament([side.name for side in found], results)
    write_json(output / "pairwise.json", made)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(made), indent=1))
    elif not quiet:
        print_tournament(made, result_console())
        click.echo(f"\ncomparisons: {output}  (pairwise.json, a run directory for each pair)")
    return 4 if broken else 0


def _names(sides: tuple[Path, ...]) -> list[str]:
    """The last part of each path, or all of it where that is not enough to tell them apart."""
    short = [side.resolve().name for side in sides]
    return [name if short.count(name) == 1 else str(side) for name, side in zip(short, sides, strict=True)]


def _side(side: Path, name: str, config: Path | None, output: Path, flags: dict[str, Any]) -> _Side:
    """The run directory of a side; patches are checked out first, as a run without judges.

    Raises:
        ConfigError, StoreError: it is neither a run nor work on the suite's tasks.
    """
    from adjudge.engine import JOURNAL

    if (side / JOURNAL).is_file():
        return _Side(name, side)
    if config is None:
        raise StoreError(f"{side} is no run directory; a patch needs --suite, the folder of its tasks")
    from adjudge.api import load
    from adjudge.engine import RunOptions
    from adjudge.formats.golden.submissions import with_work

    suite = load(config)
    if suite.tasks is None or suite.execution is None:
        raise StoreError(f"{side} is no run directory, and {config} holds no coding tasks that it could be a patch of")
    suite = with_work(suite, [side], [], tasks=flags["cases"])
    assert suite.execution is not None
    cases = tuple(suite.execution.submissions)
    work = msgspec.structs.replace(suite, judges=(), tasks=None, thresholds={})
    digest = hashlib.sha256(msgspec.json.encode(suite.execution.submissions, order="sorted")).hexdigest()[:12]
    run = output / f"work-{digest}"
    _execute(work, RunOptions(output=run, cases=cases, no_llm=True), quiet=True)
    return _Side(name, run)


def _suite(run: Path, config: Path | None) -> Suite:
    """The config of a run, which says how its outputs are compared; one that says nothing where it cannot be had."""
    from adjudge.api import load
    from adjudge.engine import read_run

    snapshot: Snapshot = read_run(run)[0]
    path, format = config, None
    if path is None and snapshot.execution is not None:
        format = snapshot.format
        path = Path(snapshot.execution.project if format == "golden" else snapshot.execution.config)
    if path is not None and path.exists():
        return load(path, format=format)
    return Suite(name=snapshot.suite)


def _compare(
    suite: Suite, a: _Side, b: _Side, output: Path, flags: dict[str, Any], *, spent: float, quiet: bool
) -> RunResult:
    """Judge one pair.

    Raises:
        ConfigError: there is no model to ask; the sides have no case in common.
    """
    from adjudge.cases import DatasetFolder
    from adjudge.engine import RunOptions
    from adjudge.engine.material import case_folders
    from adjudge.engine.options import BaselineRun
    from adjudge.scoring import BaselineLimits

    own, other = case_folders(a.run), case_folders(b.run)
    common = [case for case in own if case in other]
    if not common:
        raise ConfigError(f"{a.name} and {b.name} have no case in common")
    for case in [case for case in (*own, *other) if case not in common]:
        complain(f"{a.name} and {b.name}: only one of them has {case}", colour="yellow")
    judge = next((one for one in suite.judges if isinstance(one, PairwiseJudge)), PairwiseJudge(name="pairwise"))
    compared = Suite(
        name=suite.name,
        cases=DatasetFolder(own[case] for case in common),
        judges=(judge,),
        default_model=suite.default_model,
        openrouter=suite.openrouter,
        runner=suite.runner,
        code_paths=suite.code_paths,
        format="pairwise",
    )
    budget = flags["budget"]
    options = RunOptions(
        output=output / f"{_segment(a.name)}--{_segment(b.name)}",
        cases=tuple(case for case in flags["cases"] if case in common),
        judge_model=flags["judge_model"],
        samples=flags["samples"],
        budget_usd=None if budget is None else max(0.0, budget - spent),
        max_concurrency=flags["max_concurrency"],
        offline=flags["offline"],
        fresh=flags["fresh"],
        seed=flags["seed"],
        baseline=BaselineRun(folder=b.run, figures=Baseline(name=b.name), limits=BaselineLimits(allow_missing=True)),
    )
    return _execute(compared, options, quiet=quiet)


def _segment(name: str) -> str:
    kept = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)[-60:]
    return f"{kept}-{hashlib.sha256(name.encode()).hexdigest()[:6]}" if kept != name else name


def _execute(suite: Suite, options: Any, *, quiet: bool) -> RunResult:
    """Carry out a run.

    Raises:
        _Interrupted: it was stopped; what was paid for is kept.
    """
    from adjudge.api import write_html, write_run
    from adjudge.cli.progress import make_progress
    from adjudge.engine import make_plan
    from adjudge.engine.run import execute

    plan = make_plan(suite, options)
    if not quiet:
        show_problems(plan.warnings)
    ended = asyncio.run(execute(plan, options, make_progress(quiet=quiet, verbose=False)))
    if ended.interrupted:
        raise _Interrupted
    result = write_run(ended.run)
    write_html(ended.run)
    return result
