"""The command line: one file a verb, imported when it is called."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from typing import NoReturn

import click

from adjudge._version import __version__

VERBS = {
    "run": "Judge a suite and gate on it.",
    "validate": "Show every problem of a config at once.",
    "plan": "Show what a run would ask and cost.",
    "rewardkit": "Judge tests folders as Reward Kit does, into reward.json.",
    "banana": "Run eval_checks/ as Eval Banana does: run, list, validate, init.",
    "list": "Show the builtin judges and their arguments, or the formats.",
    "doctor": "Show which agents, providers, sandboxes and extras work here, and why not.",
    "report": "Recompute a run's report from its directory.",
    "gate": "Recompute a run's decision from its directory.",
    "compare": "Set a run beside an earlier one, judge by judge.",
    "pairwise": "Compare runs or patches two at a time; strengths of more than two.",
    "export": "Write a run's scores as csv, jsonl or parquet, or log it to MLflow.",
    "review": "Write a sheet for people to review a run, and take it back.",
    "flaky": "Show which coding tasks give another result each time; put them into quarantine.",
    "calibrate": "Set the judge of coding tasks beside people's labels; write its certificate.",
    "harbor": "Make a Harbor task folder of each case of an eval.yaml.",
    "init": "Write a commented starter.",
    "schema": "Print a JSON Schema for editors.",
    "completion": "Print a shell's completion script.",
}


class _LazyGroup(click.Group):
    """Lists verbs without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"adjudge.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and name not in VERBS and not name.startswith("-"):
            import difflib

            match = difflib.get_close_matches(name, VERBS, n=1)
            hint = f" Did you mean {match[0]!r}?" if match else f" There are: {', '.join(VERBS)}."
            ctx.fail(f"No such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="adjudge", message="%(prog)s %(version)s")
def cli() -> None:
    """Judge files, answers and agent runs; say how far to trust it; gate releases on it.

    Exit codes: 0 pass, 1 gate failed, 2 usage or config error (nothing ran), 3 inconclusive, 4 broken (could not be
    measured), 130 interrupted (the same command resumes).
    """


def main() -> None:
    """Entry point of the `adjudge` command."""
    _open_streams()
    _leave_hook()
    try:
        status = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except OSError as error:
        _last_words(f"error: {error.strerror or error}")
    except Exception:
        import traceback

        traceback.print_exc()
        click.echo("error: a fault in adjudge itself; nothing that was judged is lost", err=True)
        sys.exit(4)  # Python's own 1 would say that the gate failed
    try:
        sys.stdout.flush()
    except OSError as error:
        _last_words(f"error: standard output: {error.strerror or error}")
    sys.exit(status if isinstance(status, int) else 0)


def _open_streams() -> None:
    """Give the command streams that it can write anything to, also where they are closed or know few letters."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, PTH123
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _leave_hook() -> None:
    """Forget the repository whose hook we may run in: agents, checks and git work in others."""
    if any(name.startswith("GIT_") for name in os.environ):
        from adjudge.sandbox import elsewhere

        for name in os.environ.keys() - elsewhere(os.environ).keys():
            del os.environ[name]


def _last_words(text: str) -> NoReturn:
    """One line on standard error, and exit 4, without touching standard output again."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    os._exit(4)
