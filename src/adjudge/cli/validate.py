"""adjudge validate"""

from __future__ import annotations

from pathlib import Path

import click

from adjudge.cli.common import PATH, load_suite, show_problems, source_options


@click.command("validate")
@PATH
@source_options
def command(path: Path, workspace: Path | None, format_name: str | None) -> int:
    """Show every problem of the config at PATH at once, with file, line and column. Runs nothing."""
    suite = load_suite(path, workspace=workspace, format_name=format_name)
    suite.check()
    show_problems(suite.warnings)
    from adjudge.report.words import count

    cases, judges = count(len(suite.source.stubs()), "case", "cases"), count(len(suite.judges), "judge", "judges")
    thresholds = count(len(suite.thresholds), "threshold", "thresholds")
    click.echo(f"{path}: valid ({suite.format}): {cases}, {judges}, {thresholds}")
    return 0
