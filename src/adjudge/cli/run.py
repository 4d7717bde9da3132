"""adjudge run"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adjudge.cli.common import (
    PATHS,
    Refused,
    against,
    build_options,
    complain,
    load_suite,
    result_console,
    run_options,
    show_problems,
    source_options,
)
from adjudge.cli.tasks import task_options, update_baseline, with_task_flags
from adjudge.domain import AdjudgeError, ConfigError, StoreError, Suite

if TYPE_CHECKING:
    from adjudge.engine import RunOptions, SpareWorker


@click.command("run")
@PATHS
@source_options
@run_options
@task_options
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document on standard output, and nothing else there."
)
@click.option("--matrix", is_flag=True, help="Run every cell of the suite's matrix, and analyse them.")
@click.option("--html", is_flag=True, help="Write report.html; a run of an agent has it anyway.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no table.")
@click.option("-v", "--verbose", is_flag=True, help="Show every score and every retry.")
def command(
    paths: tuple[Path, ...],
    workspace: Path | None,
    format_name: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    html: bool,
    matrix: bool,
    **flags: Any,
) -> int:
    """Judge the config file or folder at PATHS, write a run directory, and exit with the gate's decision."""
    if quiet and verbose:
        raise click.UsageError("-q and -v exclude each other")
    from adjudge.engine import SpareWorker

    options = build_options(dict(flags))
    names = [format_name] if format_name or len(paths) > 1 else (_formats(paths[0] if paths else Path()) or [None])
    if len(names) > 1 and (as_json or options.output is not None):
        both = " and ".join(name or "" for name in names)
        raise click.UsageError(f"this folder holds {both}: --format names one, for --json and --output")
    worst = 0
    for name in names:
        with SpareWorker() as spare:
            suite = load_suite(paths, workspace=workspace, format_name=name, spare=spare)
            suite, chosen = with_task_flags(suite, options, flags)
            if matrix:
                from adjudge.cli.matrix import run_matrix

                return run_matrix(suite, against(chosen, suite, flags), quiet=quiet, verbose=verbose)
            status = _run(
                suite,
                against(chosen, suite, flags),
                spare,
                as_json=as_json,
                quiet=quiet,
                verbose=verbose,
                html=html,
                update=flags["update_baseline"],
            )
        if status == 130:
            return status
        worst = max(worst, status, key=_SEVERITY.index)
    return worst


_SEVERITY = [0, 3, 4, 1]


def _formats(path: Path) -> list[str | None]:
    """The formats that a folder holds. Where there are several, each is judged as a suite of its own."""
    from adjudge.formats import detected

    return [*detected(path)] if path.is_dir() else []


def _run(
    suite: Suite,
    options: RunOptions,
    spare: SpareWorker,
    *,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    html: bool,
    update: str | None = None,
) -> int:
    import asyncio

    from adjudge.api import write_run
    from adjudge.cli.progress import make_progress
    from adjudge.engine import make_plan
    from adjudge.engine.run import execute
    from adjudge.report import append_step_summary, print_result, result_json

    try:
        plan = make_plan(suite, options)
    except ConfigError as error:
        raise Refused(error.problems) from None
    if not quiet:
        show_problems(plan.warnings)
    progress = make_progress(quiet=quiet, verbose=verbose)
    try:
        ended = asyncio.run(execute(plan, options, progress, spare=spare))
    except StoreError as error:
        if progress.run is None:
            raise click.ClickException(str(error)) from None
        complain(f"error: {error}")
        click.echo("every verdict up to here is safe; make room and run the same command again", err=True)
        return 4
    except AdjudgeError as error:
        complain(f"error: {error}")
        return 4
    if ended.interrupted:
        click.echo(f"interrupted: {progress.done} verdicts are safe in {ended.run}", err=True)
        again = "run it again without --fresh" if options.fresh else "run the same command again"
        click.echo(f"{again} to resume; adjudge report {ended.run} shows what there is", err=True)
        with contextlib.suppress(StoreError):
            write_run(ended.run)
        return 130
    try:
        result = write_run(ended.run)
    except StoreError as error:
        complain(f"error: {error}")
        return 4
    names = "result.json, summary.md, junit.xml, journal.db"
    if html or result.execution is not None:
        from adjudge.api import write_html

        names = f"{write_html(ended.run).name}, {names}"
    append_step_summary(result, dict(os.environ))
    if update and suite.execution is not None:
        click.echo(update_baseline(ended.run, Path(suite.execution.project), update), err=True)
    if as_json:
        click.echo(result_json(result), nl=False)
        return result.exit_code
    if not quiet:
        print_result(result, result_console(), verbose=verbose)
        click.echo(f"\nrun directory: {ended.run}  ({names})")
    return result.exit_code
