"""What several verbs share: reading a suite, telling of problems, the options of a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adjudge.cli.flags import variables
from adjudge.domain import EFFORTS, ConfigError, Problem, StoreError, Suite

if TYPE_CHECKING:
    from rich.console import Console

    from adjudge.engine import RunOptions, SpareWorker

TASK_FLAGS = ("patches", "traces", "golden", "changed_since", "update_baseline", "require_calibration", "agent")
"""What only suites of coding tasks take; see `cli.tasks`."""
PATHS = click.argument("paths", type=click.Path(path_type=Path), nargs=-1)
"""The current folder when none is given; several must be tests folders."""
RUN = click.argument("run", type=click.Path(path_type=Path))


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How the config at PATH is read."""
    for option in (
        click.option("--workspace", type=click.Path(path_type=Path), help="Folder that holds the collected outputs."),
        click.option("--format", "format_name", metavar="NAME", help="The config's format, when it is not detected."),
    ):
        command = option(command)
    return command


class _Folder(click.Path):
    """A folder that has a name: an unset variable of a shell script is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("must not be empty", param, ctx)
        return super().convert(value, param, ctx)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What is run, and with which models."""
    for option in reversed(
        (
            click.option("--output", type=_Folder(path_type=Path), metavar="DIR", help="The run directory itself."),
            click.option("--case", "cases", multiple=True, metavar="ID", help="Judge only this case (repeatable)."),
            click.option(
                "--tag", "tags", multiple=True, metavar="T", help="Judge only cases with this tag (repeatable)."
            ),
            click.option("--judge-model", "--judge", metavar="M", help="Model of every LLM judge."),
            click.option(
                "--effort",
                "--reasoning-effort",
                type=click.Choice(EFFORTS),
                metavar="L",
                help="Reasoning effort of every LLM judge: none, minimal, low, medium, high, xhigh or max.",
            ),
            click.option(
                "--je", "judge_env", multiple=True, metavar="K=V", help="Set a variable for the judges' models."
            ),
            click.option("--samples", type=click.IntRange(1), metavar="N", help="Samples of every LLM judge."),
            click.option("--budget", type=click.FloatRange(0), metavar="USD", help="Make no new call beyond this."),
            click.option(
                "--max-concurrency",
                type=click.IntRange(1, 1000),
                default=32,
                show_default=True,
                metavar="N",
                help="Most requests under way at once.",
            ),
            click.option("--baseline", metavar="RUN", help="Hold the run against this one: a folder, or a run's name."),
            click.option(
                "--max-drop",
                type=click.FloatRange(0),
                metavar="X",
                help="How far any judge may fall below the baseline; else 0.5, for judges with a threshold.",
            ),
            click.option("--allow-missing", is_flag=True, help="Cases and judges of the baseline may be absent."),
            click.option("--model", "agent_model", metavar="M", help="Model of the agent under test."),
            click.option(
                "--input", "overrides", multiple=True, metavar="K=V", help="Set an input field of every case."
            ),
            click.option("--offline", is_flag=True, help="Answer only from journal and cache."),
            click.option("--no-llm", is_flag=True, help="Leave LLM judges out."),
            click.option(
                "--keep-going", is_flag=True, help="Run the judges that can run when models lack credentials."
            ),
            click.option(
                "--retry-unscored", is_flag=True, help="Go on in the last run, and ask anew what has no score."
            ),
            click.option("--fresh", is_flag=True, help="Ask everything anew."),
            click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of every random choice."),
        )
    ):
        command = option(command)
    return command


def load_suite(
    paths: Sequence[Path], *, workspace: Path | None, format_name: str | None, spare: SpareWorker | None = None
) -> Suite:
    """Read the suite, or end with every problem on standard error and exit code 2."""
    from adjudge import formats
    from adjudge.engine import discover

    try:
        return formats.load(
            *(paths or [Path()]),
            name=format_name,
            workspace=workspace,
            discover=spare.discover if spare is not None else discover,
        )
    except ConfigError as error:
        raise Refused(error.problems) from None


def build_options(flags: dict[str, Any]) -> Any:
    """`RunOptions` from the flags of `run_options`."""
    from adjudge.engine import RunOptions

    environ = variables(flags.pop("judge_env"))
    flags["overrides"] = variables(flags["overrides"], flag="--input")
    for name in ("baseline", "max_drop", "allow_missing"):
        flags.pop(name)
    for name in TASK_FLAGS:
        flags.pop(name, None)
    if flags["fresh"] and flags["retry_unscored"]:
        raise click.UsageError("--fresh asks everything anew, --retry-unscored only what has no score: choose one")
    flags["budget_usd"] = flags.pop("budget")
    if flags["budget_usd"] is not None and not isfinite(flags["budget_usd"]):
        raise click.UsageError("--budget takes an amount in USD")
    return RunOptions(environ=environ, **flags)


def against(options: RunOptions, suite: Suite, flags: dict[str, Any]) -> RunOptions:
    """The options with the baseline that the flags name, if they name one."""
    if flags["baseline"] is None:
        if (flags["max_drop"] is not None and suite.tasks is None) or flags["allow_missing"]:
            raise click.UsageError("--max-drop and --allow-missing need a --baseline")
        return options
    if flags["max_drop"] is not None and not isfinite(flags["max_drop"]):
        raise click.UsageError("--max-drop takes a number of 0 or more")
    import msgspec

    from adjudge.api import baseline_run

    try:
        found = baseline_run(suite, flags["baseline"], max_drop=flags["max_drop"], allow_missing=flags["allow_missing"])
    except StoreError as error:
        raise click.UsageError(str(error)) from None
    return msgspec.structs.replace(options, baseline=found)


class Refused(click.ClickException):
    """The suite cannot run: every problem is shown, exit code 2."""

    def __init__(self, problems: Iterable[Problem], *, outcome: str = "nothing was run") -> None:
        self.problems = list(problems)
        self.outcome = outcome
        super().__init__("")

    def show(self, file: Any = None) -> None:
        show_problems(self.problems)
        errors = sum(not problem.warning for problem in self.problems)
        click.echo(f"{errors} {'error' if errors == 1 else 'errors'}; {self.outcome}", err=True)


def show_problems(problems: Iterable[Problem]) -> None:
    """One line each on standard error."""
    problems = list(problems)
    if not problems:
        return  # and nothing more is imported
    from adjudge.report.words import printable

    for problem in problems:
        complain(" ".join(printable(str(problem)).split("\n")), colour="yellow" if problem.warning else "red")


def complain(text: str, *, colour: str = "red") -> None:
    """A line on standard error, in colour where that is wanted."""
    click.secho(text, err=True, fg=None if os.environ.get("NO_COLOR") else colour)


def result_console() -> Console:
    """Where tables go: as wide as the terminal, and wide enough for a line a judge where there is none."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = 140
    return console


def store_error(error: StoreError) -> click.ClickException:
    return click.ClickException(str(error))
