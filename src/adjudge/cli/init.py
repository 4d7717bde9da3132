"""adjudge init"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from adjudge.cli.starters import STARTERS, Starter


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option(
    "--format",
    "format_name",
    type=click.Choice([*STARTERS, "golden"]),
    default="eval_yaml",
    show_default=True,
    help="eval_yaml: a suite with one case. rewardkit: a Harbor task with its tests folder. golden: a "
    "coding task with its repository, in FOLDER/evals.",
)
@click.option("--force", is_flag=True, help="Overwrite files that are there.")
def command(folder: Path, format_name: str, force: bool) -> int:
    """Write a commented starter into FOLDER (by default the current one)."""
    starter = _starter(format_name, folder)
    there = [name for name in starter.files if name not in starter.kept and os.path.lexists(folder / name)]
    if there and not force:
        raise click.ClickException(f"{folder / there[0]} is there already; --force overwrites it")
    written = []
    try:
        for name, text in starter.files.items():
            path = folder / name
            if name in starter.kept and os.path.lexists(path):
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            data = text.encode() if isinstance(text, str) else text
            with path.open("wb" if force else "xb") as file:
                file.write(data)
            if name in starter.executable:
                path.chmod(0o755)
            written.append(str(path))
    except OSError as error:
        raise click.ClickException(f"{folder} cannot be written: {error.strerror}") from None
    click.echo(f"wrote {', '.join(written)}")
    click.echo(f"next: adjudge {starter.verb} {shlex.quote(str(folder / starter.target))}{starter.flags}")
    return 0


def _starter(format_name: str, folder: Path) -> Starter:
    if format_name != "golden":
        return STARTERS[format_name]
    from adjudge.cli.golden_starter import golden_starter
    from adjudge.sandbox import GitError

    try:
        return golden_starter(folder)
    except GitError as error:
        raise click.ClickException(f"the task's repository cannot be made: {error}") from None
