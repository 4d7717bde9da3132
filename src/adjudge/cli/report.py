"""adjudge report"""

from __future__ import annotations

from pathlib import Path

import click

from adjudge.cli.common import RUN, result_console, store_error
from adjudge.domain import StoreError


@click.command("report")
@RUN
@click.option("--json", "as_json", is_flag=True, help="Print result.json and nothing else.")
@click.option("-v", "--verbose", is_flag=True, help="Show every score.")
def command(run: Path, as_json: bool, verbose: bool) -> int:
    """Recompute result.json, summary.md, junit.xml and report.html of the run directory RUN, and print the table."""
    from adjudge.api import read, write_html, write_run
    from adjudge.engine import JOURNAL
    from adjudge.report import print_result, result_json

    try:
        if (run / JOURNAL).exists():
            result = write_run(run)
            write_html(run)
        else:
            result = read(run)
    except StoreError as error:
        raise store_error(error) from None
    if as_json:
        click.echo(result_json(result), nl=False)
        return 0
    print_result(result, result_console(), verbose=verbose)
    return 0
