"""`--annotate`: what `report` and `validate` tell the pages of a repository's host."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from adjudge.report import Annotation

ANNOTATE = click.option(
    "--annotate",
    "host",
    type=click.Choice(["github", "gitlab"]),
    help="Print annotations of files, and nothing else: workflow commands, or a Code Quality report.",
)
_ROOTS = {"github": "GITHUB_WORKSPACE", "gitlab": "CI_PROJECT_DIR"}


def root_of(host: str) -> Path:
    """The repository's folder, as the host names it to its jobs."""
    return Path(os.environ.get(_ROOTS[host]) or Path.cwd())


def print_annotations(found: Iterable[Annotation], host: str) -> None:
    from adjudge.report import code_quality, workflow_commands

    click.echo(workflow_commands(found) if host == "github" else code_quality(found), nl=False)
