"""adjudge review"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from adjudge.cli.common import RUN, Refused, show_problems, store_error
from adjudge.domain import StoreError


@click.command("review")
@RUN
@click.option("--export", "form", type=click.Choice(["csv", "yaml"]), help="Write a sheet for people.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Where to; else it is printed.")
@click.option("--blind", is_flag=True, help="Without what the judges said.")
@click.option("--import", "sheet", type=click.Path(path_type=Path), metavar="FILE", help="Take a sheet back.")
@click.option("--reviewer", default="", metavar="NAME", help="Who gave the verdicts.")
def command(run: Path, form: str | None, output: Path | None, blind: bool, sheet: Path | None, reviewer: str) -> int:
    """Write a sheet for people to review the run directory RUN, or take it back into RUN/review.yaml.

    Judges are then set beside what people said, and later runs can show it to judges as examples.
    """
    if (form is None) == (sheet is None):
        raise click.UsageError("give one of --export csv, --export yaml, --import FILE")
    if sheet is not None and (blind or output is not None):
        raise click.UsageError("--blind and --output are for --export")
    if form is not None and reviewer:
        raise click.UsageError("--reviewer is for --import")
    from adjudge.engine import read_run

    try:
        snapshot, result = read_run(run)
        if sheet is not None:
            return _import(run, sheet, snapshot, reviewer)
        return _export(run, str(form), output, snapshot, result, blind=blind)
    except StoreError as error:
        raise store_error(error) from None


def _export(run: Path, form: str, output: Path | None, snapshot: Any, result: Any, *, blind: bool) -> int:
    from adjudge.cases.review_files import ReviewFile, read_review
    from adjudge.domain import labelled
    from adjudge.report.reviews import as_csv, as_yaml
    from adjudge.report.reviews import sheet as make_sheet
    from adjudge.whole_files import write_whole

    labels = list(labelled(snapshot))
    earlier = read_review(run, labels) or ReviewFile()
    show_problems(earlier.problems)
    rows = make_sheet(result, labels, earlier.review, blind=blind)
    data = as_csv(rows) if form == "csv" else as_yaml(rows)
    if output is None:
        click.echo(data, nl=False)
        return 0
    try:
        write_whole(output, data)
    except OSError as error:
        raise StoreError(f"{output} cannot be written: {error.strerror}") from None
    click.echo(f"{len(rows)} rows in {output}", err=True)
    return 0


def _import(run: Path, file: Path, snapshot: Any, reviewer: str) -> int:
    from adjudge.cases.review_files import ReviewFile, read_review, write_review
    from adjudge.domain import labelled
    from adjudge.report.reviews import NEEDED, take
    from adjudge.sheets import read_sheet

    labels = list(labelled(snapshot))
    earlier = read_review(run, labels) or ReviewFile()
    if earlier.problems:
        raise Refused(earlier.problems, outcome="nothing was taken")  # what cannot be read would be lost
    rows, problems = read_sheet(file, NEEDED)
    ids = [stub.id for stub in snapshot.cases]
    taken = take(rows, file=str(file), cases=ids, labels=labels, review=earlier.review, reviewer=reviewer)
    problems = [*problems, *taken.problems]
    if problems:
        raise Refused(problems, outcome="nothing was taken")
    path = write_review(run, taken.review)
    click.echo(f"{taken.rows} rows say something; {path} speaks of {len(taken.review.cases)} cases")
    click.echo(f"adjudge report {run} sets the judges beside it", err=True)
    return 0
