"""`adjudge run --matrix`: every cell of a factorial design as a run of its own, and what they say together."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from adjudge.api import write_html, write_run
from adjudge.cli.common import Refused, complain, result_console, show_problems
from adjudge.cli.progress import make_progress
from adjudge.domain import (
    ConfigError,
    Decision,
    MissingExtraError,
    RewardFormula,
    RunResult,
    StoreError,
    Suite,
)
from adjudge.engine import HOME, RunOptions, make_plan
from adjudge.engine.run import execute
from adjudge.report.factorial import print_factorial
from adjudge.report.html.matrix import MatrixRun, matrix_html
from adjudge.report.pareto import pareto_svg
from adjudge.stats.factorial import Observation, analyse
from adjudge.whole_files import write_json, write_whole

Levels = dict[str, Any]


def run_matrix(suite: Suite, options: RunOptions, *, quiet: bool, verbose: bool) -> int:
    """Run every cell that is not finished, and analyse all of them; returns the exit code: 4 when a cell could not be
    measured, else 0, since a design is there to be compared and not to pass."""
    if suite.matrix is None or suite.execution is None:
        raise click.UsageError("--matrix needs a suite with a matrix and something to run")
    matrix = suite.matrix
    suite = msgspec.structs.replace(suite, reward=suite.reward or RewardFormula())
    base = options.output or Path(suite.runs or HOME / "runs" / suite.name) / "matrix"
    broken = False
    observations: list[Observation] = []
    runs: list[MatrixRun] = []
    for levels, replication in cells(suite):
        run = base / cell_name(levels, replication, matrix.replications)
        result = _cell(suite, options, levels, run, quiet=quiet, verbose=verbose)
        if result is None:
            return 130
        condition = {"condition_id": cell_name(levels, 0, 1), "levels": levels, "replication": replication}
        write_json(run / "condition.json", condition)
        broken = broken or result.gate.decision is Decision.BROKEN
        observations += observed(result, levels, replication)
        named = {name: str(level) for name, level in levels.items()}
        runs.append(MatrixRun(folder=run.name, levels=named, replication=replication, result=result))
    factors = {name: [str(level) for level in given] for name, given in matrix.factors.items()}
    if not observations:
        write_whole(base / "report.html", matrix_html(runs, factors, None))
        complain("error: no cell has a case with a score")
        return 4
    try:
        found = analyse(observations, factors)
    except MissingExtraError as error:
        write_whole(base / "report.html", matrix_html(runs, factors, None, problem=f"It is not analysed: {error}"))
        complain(f"every cell is in {base}; it is not analysed: {error}")
        return 4
    write_json(base / "anova.json", found)
    write_whole(base / "pareto.svg", pareto_svg(found).encode())
    write_whole(base / "report.html", matrix_html(runs, factors, found))
    if not quiet:
        print_factorial(found, result_console())
        click.echo(f"\nmatrix directory: {base}  (report.html, anova.json, pareto.svg, a run for each cell)")
    return 4 if broken else 0


def cells(suite: Suite) -> Iterator[tuple[Levels, int]]:
    """(levels, replication from 1) of every cell, in the order of the factors as they are written."""
    assert suite.matrix is not None
    designs: list[Levels] = [{}]
    for name, levels in suite.matrix.factors.items():
        designs = [{**design, name: level} for design in designs for level in levels]
    for design in designs:
        for replication in range(1, suite.matrix.replications + 1):
            yield design, replication


def cell_name(levels: Levels, replication: int, replications: int) -> str:
    """The folder of a cell."""
    parts = [re.sub(r"[^\w.-]+", "_", f"{name}-{level}") for name, level in levels.items()]
    return "-".join(parts)[:150] + (f"-r{replication}" if replications > 1 else "")


def configured(suite: Suite, levels: Levels) -> Suite:
    """The suite of a cell: `model`, `subagent` (or `subagent_model`) and `effort` set up the agent, every other factor
    is a field of the input."""
    assert suite.execution is not None
    execution = suite.execution
    models, agent, overrides = dict(execution.models), execution.agent, dict(execution.overrides)
    for name, level in levels.items():
        if name == "model":
            models["skill"] = str(level)
        elif name in ("subagent", "subagent_model"):
            models["subagent"] = str(level)
        elif name == "effort":
            agent = msgspec.structs.replace(agent, effort=str(level))
        else:
            overrides[name] = level
    changed = msgspec.structs.replace(execution, models=models, agent=agent, overrides=overrides)
    return msgspec.structs.replace(suite, execution=changed)


def observed(result: RunResult, levels: Levels, replication: int) -> Iterator[Observation]:
    """The rewards of a run's cases; a case without one says nothing."""
    for entry in result.rewards:
        score = entry.rewards[0].score
        run = result.execution.run(entry.case) if result.execution else None
        if score is not None:
            yield Observation(
                levels={name: str(level) for name, level in levels.items()},
                case=entry.case,
                replication=replication,
                score=score,
                cost_usd=run.cost_usd if run else None,
            )


def _cell(
    suite: Suite, options: RunOptions, levels: Levels, run: Path, *, quiet: bool, verbose: bool
) -> RunResult | None:
    """A cell's result; `None` when it was interrupted."""
    chosen = msgspec.structs.replace(options, output=run)
    try:
        plan = make_plan(configured(suite, levels), chosen)
    except ConfigError as error:
        raise Refused(error.problems) from None
    show_problems(plan.warnings)
    try:
        ended = asyncio.run(execute(plan, chosen, make_progress(quiet=quiet, verbose=verbose)))
        if ended.interrupted:
            click.echo("interrupted; the same command goes on with the cells that are not finished", err=True)
            return None
        result = write_run(ended.run)
        write_html(ended.run)
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    return result
