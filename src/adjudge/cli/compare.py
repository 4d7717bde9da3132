"""adjudge compare"""

from __future__ import annotations

from pathlib import Path

import click

from adjudge.cli.common import RUN, result_console, store_error
from adjudge.domain import StoreError


@click.command("compare")
@RUN
@click.argument("baseline", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--markdown", is_flag=True, help="Print Markdown, for a pull request.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of the resampling.")
def command(run: Path, baseline: Path, as_json: bool, markdown: bool, seed: int) -> int:
    """Set the run directory RUN beside BASELINE, judge by judge over the cases that both have scored.

    Each may be a run directory of adjudge or of agent-eval-harness. A report, not a gate: exits 0.
    """
    if as_json and markdown:
        raise click.UsageError("--json and --markdown are two forms of the same: choose one")
    from adjudge.api import read
    from adjudge.report.comparison import comparison_json, comparison_markdown, print_comparison
    from adjudge.scoring import compare

    try:
        results = read(run), read(baseline)
    except StoreError as error:
        raise store_error(error) from None
    compared = compare(*results, seed=seed, names=(str(run), str(baseline)))
    if as_json:
        click.echo(comparison_json(compared), nl=False)
    elif markdown:
        click.echo(comparison_markdown(compared), nl=False)
    else:
        print_comparison(compared, result_console())
    return 0
