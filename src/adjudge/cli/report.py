"""adjudge report"""

from __future__ import annotations

from pathlib import Path

import click

from adjudge.cli.annotate import ANNOTATE, print_annotations, root_of
from adjudge.cli.common import RUN, result_console, store_error
from adjudge.domain import StoreError


@click.command("report")
@RUN
@click.option("--json", "as_json", is_flag=True, help="Print result.json and nothing else.")
@ANNOTATE
@click.option("-v", "--verbose", is_flag=True, help="Show every score.")
def command(run: Path, as_json: bool, host: str | None, verbose: bool) -> int:
    """Recompute result.json, summary.md, junit.xml and report.html of the run directory RUN, and print the table."""
    if as_json and host:
        raise click.UsageError("--json and --annotate exclude each other")
    from adjudge.api import read, write_html, write_run
    from adjudge.engine import JOURNAL
    from adjudge.report import print_result, result_json

    try:
        if (run / JOURNAL).exists():
            result = write_run(run)
            write_html(run)
            if host:
                _annotate(run, host)
                return 0
        else:
            result = read(run)
    except StoreError as error:
        raise store_error(error) from None
    if host:
        raise click.UsageError(f"{run} has no {JOURNAL}, which knows where its tasks and judges are defined")
    if as_json:
        click.echo(result_json(result), nl=False)
        return 0
    print_result(result, result_console(), verbose=verbose)
    return 0


def _annotate(run: Path, host: str) -> None:
    from adjudge.engine import read_run
    from adjudge.engine.material import case_folders
    from adjudge.report import gate_annotations

    snapshot, result = read_run(run)
    folders = {case: folder.source for case, folder in case_folders(run).items()}
    print_annotations(gate_annotations(result, snapshot, folders=folders, root=root_of(host)), host)
