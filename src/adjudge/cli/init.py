"""adjudge init"""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from adjudge.cli.starters import STARTERS


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(STARTERS)),
    default="eval_yaml",
    show_default=True,
    help="eval_yaml: a suite with one case. rewardkit: a Harbor task with its tests folder.",
)
@click.option("--force", is_flag=True, help="Overwrite files that are there.")
def command(folder: Path, format_name: str, force: bool) -> int:
    """Write a commented starter into FOLDER (by default the current one)."""
    starter = STARTERS[format_name]
    there = [name for name in starter.files if name not in starter.kept and (folder / name).exists()]
    if there and not force:
        raise click.ClickException(f"{folder / there[0]} is there already; --force overwrites it")
    try:
        for name, text in starter.files.items():
            path = folder / name
            if name in starter.kept and path.exists():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            if name in starter.executable:
                path.chmod(0o755)
    except OSError as error:
        raise click.ClickException(f"{folder} cannot be written: {error.strerror}") from None
    click.echo(f"wrote {', '.join(str(folder / name) for name in starter.files)}")
    click.echo(f"next: adjudge {starter.verb} {shlex.quote(str(folder / starter.target))}")
    return 0
