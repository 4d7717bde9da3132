"""adjudge export"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from adjudge.cli.common import RUN, store_error
from adjudge.cli.flags import variables
from adjudge.domain import MissingExtraError, RunResult, StoreError


@click.command("export")
@RUN
@click.option("--to", "form", type=click.Choice(["csv", "jsonl", "parquet", "mlflow"]), required=True)
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Else csv and jsonl are printed.")
@click.option("--tracking-uri", metavar="URI", help="MLflow's server; else that of MLFLOW_TRACKING_URI.")
@click.option("--experiment", metavar="NAME", help="MLflow's experiment; else the suite's name.")
@click.option("--run-tag", "run_tags", multiple=True, metavar="K=V", help="A tag of MLflow's run (repeatable).")
def command(
    run: Path,
    form: str,
    output: Path | None,
    tracking_uri: str | None,
    experiment: str | None,
    run_tags: tuple[str, ...],
) -> int:
    """Write the scores of the run directory RUN as a table, one row a score, or log the run to MLflow.

    A run that was logged before is updated, not logged twice.
    """
    from adjudge.api import read

    if form == "mlflow" and output is not None:
        raise click.UsageError("--output is for tables; MLflow takes --tracking-uri")
    if form != "mlflow" and (tracking_uri or experiment or run_tags):
        raise click.UsageError("--tracking-uri, --experiment and --run-tag are for --to mlflow")
    if form == "parquet" and output is None:
        raise click.UsageError("--to parquet needs --output FILE")
    tags = variables(run_tags, flag="--run-tag")
    try:
        result = read(run)
        if form != "mlflow":
            return _table(result, form, output)
        from adjudge.report.mlflow import log_run

        run_id = log_run(result, run, tracking_uri=tracking_uri, experiment=experiment, tags=tags)
    except StoreError as error:
        raise store_error(error) from None
    except MissingExtraError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"MLflow run {run_id}")
    return 0


def _table(result: RunResult, form: str, output: Path | None) -> int:
    from adjudge.report.tables import write_rows, write_table

    if output is None:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(newline="", encoding="utf-8")
        write_rows(result, sys.stdout, form)
        return 0
    written = write_table(result, output, form)
    click.echo(f"{written} rows in {output}", err=True)
    return 0
