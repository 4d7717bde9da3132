"""adjudge validate"""

from __future__ import annotations

from pathlib import Path

import click

from adjudge.cli.common import PATHS, load_suite, show_problems, source_options


@click.command("validate")
@PATHS
@source_options
def command(paths: tuple[Path, ...], workspace: Path | None, format_name: str | None) -> int:
    """Show every problem of the config at PATHS at once, with file, line and column. Runs nothing."""
    suite = load_suite(paths, workspace=workspace, format_name=format_name)
    suite.check()
    show_problems(suite.warnings)
    from adjudge.report.words import count

    cases, judges = count(len(suite.source.stubs()), "case", "cases"), count(len(suite.judges), "judge", "judges")
    thresholds = count(len(suite.thresholds), "threshold", "thresholds")
    shown = ", ".join(map(str, paths)) or "."
    click.echo(f"{shown}: valid ({suite.format}): {cases}, {judges}, {thresholds}")
    return 0
