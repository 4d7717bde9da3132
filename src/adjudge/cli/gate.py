"""adjudge gate"""

from __future__ import annotations

from pathlib import Path

import click

from adjudge.cli.common import RUN, store_error
from adjudge.domain import StoreError


@click.command("gate")
@RUN
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(run: Path, as_json: bool) -> int:
    """Recompute the decision of the run directory RUN, print it with its reasons, and exit with its code."""
    from adjudge.api import read

    try:
        result = read(run)
    except StoreError as error:
        raise store_error(error) from None
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(result.gate), indent=2).decode())
        return result.exit_code
    from adjudge.report.words import one_line

    click.echo(f"{result.decision}: {one_line(result.suite)}")
    for check in result.gate.checks:
        click.echo(f"  {check.decision.value:12} {one_line(check.reason)}")
    return result.exit_code
