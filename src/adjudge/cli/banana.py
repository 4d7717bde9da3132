"""adjudge banana: run, list, validate and init over eval_checks/, with the flags of Eval Banana."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import click

from adjudge.cli.common import Refused, complain, show_problems
from adjudge.domain import ConfigError, Problem, StoreError

CWD = click.option(
    "--cwd", type=click.Path(path_type=Path, exists=True), default=Path(), help="The project, or below it."
)
CHECK_DIR = click.option("--check-dir", metavar="DIR", help="Read every YAML file below this folder instead.")
TAG = click.option("--tag", "tags", multiple=True, metavar="T", help="Only checks with this tag (repeatable).")
NO_CONFIG = click.option("--no-project-config", is_flag=True, help="Leave .eval-banana/config.toml aside.")
VERBOSE = click.option("--verbose", "-v", is_flag=True, help="Tell more.")


@click.group("banana")
def command() -> None:
    """Run the checks of eval_checks/ folders as Eval Banana does.

    Exit codes: 0 passed, 1 failed, 2 something in the checks or the config is wrong (nothing ran), 4 a check could
    not be judged.
    """


def _loaded(cwd: Path, *, judges: bool = True, **flags: Any) -> Any:
    from adjudge.formats.banana import Flags, load_project

    try:
        return load_project(cwd, Flags(**flags), judges=judges)
    except ConfigError as error:
        raise Refused(error.problems) from None


@command.command("list")
@CHECK_DIR
@TAG
@CWD
@NO_CONFIG
@VERBOSE
def list_checks(check_dir: str | None, tags: tuple[str, ...], cwd: Path, no_project_config: bool, verbose: bool) -> int:
    """One line a check: id, type, description and file, with tabs between."""
    project = _loaded(cwd, judges=False, check_dir=check_dir, tags=tags, project_config=not no_project_config)
    for check in project.checks:
        click.echo("\t".join((check.id, check.type, " ".join(check.description.split()), str(check.path))))
    return 0


@command.command("validate")
@CHECK_DIR
@click.option("--harness-agent", "agent", metavar="A", help="The agent that judges.")
@CWD
@NO_CONFIG
@VERBOSE
def validate(check_dir: str | None, agent: str | None, cwd: Path, no_project_config: bool, verbose: bool) -> int:
    """Show every problem at once. Runs nothing."""
    from adjudge.domain import AgentJudge
    from adjudge.judges.agent import program_problem

    project = _loaded(cwd, check_dir=check_dir, agent=agent, project_config=not no_project_config)
    warnings = list(project.suite.warnings)
    absent = {program_problem(judge, os.environ) for judge in project.suite.judges if isinstance(judge, AgentJudge)} - {
        ""
    }
    warnings += [Problem(message=text, warning=True) for text in sorted(absent)]
    show_problems(warnings)
    count = len(project.checks)
    click.echo(f"{count} {'check is' if count == 1 else 'checks are'} valid")
    if not count:
        complain("warning: there are no checks", colour="yellow")
    return 0


@command.command("init")
@click.option("--force", is_flag=True, help="Write over what is there.")
def init(force: bool) -> int:
    """Write a commented .eval-banana/config.toml into the current folder."""
    from adjudge.cli.starters import BANANA_CONFIG
    from adjudge.formats.banana import CONFIG

    path = Path(CONFIG)
    if path.exists() and not force:
        raise click.ClickException(f"{path} is there already; --force writes over it")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(BANANA_CONFIG, encoding="utf-8")
    click.echo(f"wrote {path}")
    return 0


def _pair(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pairs = dict(value.partition("=")[::2] for value in values)
    if any("=" not in value for value in values):
        raise click.BadParameter("expected key=value")
    return pairs


@command.command("run")
@CHECK_DIR
@click.option("--check-id", metavar="ID", help="Only this check; files that are broken do not matter then.")
@TAG
@click.option("--output-dir", metavar="DIR", help="Where runs are kept; relative to the project.")
@click.option("--flat-output", is_flag=True, help="Write straight into --output-dir, which must be empty.")
@click.option("--pass-threshold", type=float, metavar="X", help="Least share of checks that must pass.")
@click.option("--harness-agent", "agent", metavar="A", help="The agent that judges.")
@click.option("--harness-model", "model", metavar="M", help="Its model.")
@click.option("--harness-reasoning-effort", "reasoning_effort", metavar="E", help="Its effort.")
@click.option("--harness-timeout-seconds", "timeout_seconds", type=float, metavar="S", help="Its time limit.")
@click.option("--max-parallel-checks", type=int, metavar="N", help="Most checks at once.")
@NO_CONFIG
@click.option("--result-out", type=click.Path(path_type=Path), metavar="FILE", help="Also write a result document.")
@click.option("--result-format", type=click.Choice(["md", "json"]), default="md", show_default=True)
@click.option("--provenance-attempt", type=int, metavar="N", help="For the result document.")
@click.option("--provenance-field", "provenance", multiple=True, callback=_pair, metavar="K=V", help="The same.")
@CWD
@VERBOSE
def run(
    cwd: Path,
    flat_output: bool,
    no_project_config: bool,
    result_out: Path | None,
    result_format: str,
    provenance_attempt: int | None,
    provenance: dict[str, str],
    verbose: bool,
    **flags: Any,
) -> int:
    """Run the checks, write the reports, and end with what they came to."""
    from adjudge.cli.checks import Document, run_project

    if flat_output and flags["output_dir"] is None:
        raise click.UsageError("--flat-output needs --output-dir")
    document = Document(result_out, result_format, provenance_attempt, provenance) if result_out is not None else None
    try:
        project = _loaded(cwd, project_config=not no_project_config, **flags)
        return run_project(project, flat=flat_output, document=document, verbose=verbose)
    except Refused as error:
        if document is not None:
            with contextlib.suppress(OSError):
                document.refused([str(problem) for problem in error.problems], cwd)
        raise
    except StoreError as error:
        raise click.ClickException(str(error)) from None
