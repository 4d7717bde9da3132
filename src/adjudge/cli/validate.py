"""adjudge validate"""

from __future__ import annotations

from pathlib import Path

import click

from adjudge.cli.annotate import ANNOTATE, print_annotations, root_of
from adjudge.cli.common import PATHS, Refused, load_suite, show_problems, source_options


@click.command("validate")
@PATHS
@source_options
@ANNOTATE
def command(paths: tuple[Path, ...], workspace: Path | None, format_name: str | None, host: str | None) -> int:
    """Show every problem of the config at PATHS at once, with file, line and column. Runs nothing."""
    if host:
        return _annotate(paths, workspace, format_name, host)
    suite = load_suite(paths, workspace=workspace, format_name=format_name)
    suite.check()
    show_problems(suite.warnings)
    from adjudge.report.words import count

    cases, judges = count(len(suite.source.stubs()), "case", "cases"), count(len(suite.judges), "judge", "judges")
    thresholds = count(len(suite.thresholds), "threshold", "thresholds")
    shown = ", ".join(map(str, paths)) or "."
    click.echo(f"{shown}: valid ({suite.format}): {cases}, {judges}, {thresholds}")
    return 0


def _annotate(paths: tuple[Path, ...], workspace: Path | None, format_name: str | None, host: str) -> int:
    from adjudge.domain import ConfigError
    from adjudge.report import problem_annotations

    status = 0
    try:
        suite = load_suite(paths, workspace=workspace, format_name=format_name)
        suite.check()
        problems = list(suite.warnings)
    except (Refused, ConfigError) as error:
        problems, status = list(error.problems), 2
    print_annotations(problem_annotations(problems, root=root_of(host)), host)
    return status
