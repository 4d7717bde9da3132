"""What `adjudge run` does with coding tasks alone."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adjudge.cli.common import TASK_FLAGS, Refused
from adjudge.domain import ConfigError, Suite

if TYPE_CHECKING:
    from adjudge.engine import RunOptions


def task_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Flags for suites of coding tasks."""
    path = click.Path(path_type=Path, exists=True)
    for option in reversed(
        (
            click.option(
                "--patch",
                "patches",
                type=path,
                multiple=True,
                help="Work done elsewhere: a file, or a folder.",
            ),
            click.option("--trace", "traces", type=path, multiple=True, help="The session that made the --patch."),
            click.option("--golden", is_flag=True, help="Judge the reference solutions of golden.json."),
            click.option("--agent", metavar="NAME", help="The agent under test, whatever golden.yaml says."),
            click.option(
                "--changed-since",
                metavar="REV",
                help="Only tasks that differ from this revision; all, if what they share does.",
            ),
            click.option(
                "--update-baseline",
                type=click.Choice(["ratchet", "accept"]),
                help="Write baseline.json: ratchet when green, what is new or better; accept: this run's scores.",
            ),
            click.option("--require-calibration", is_flag=True, help="Inconclusive unless the judge is calibrated."),
        )
    ):
        command = option(command)
    return command


def with_task_flags(suite: Suite, options: RunOptions, flags: dict[str, Any]) -> tuple[Suite, RunOptions]:
    """The suite and the options with what the flags of `task_options` say."""
    import msgspec

    given = [name for name in TASK_FLAGS if flags[name]]
    if suite.tasks is None:
        if given:
            spelled = ", ".join(f"--{name.replace('_', '-')}" for name in given).replace("patches", "patch")
            raise click.UsageError(f"{spelled.replace('traces', 'trace')}: only for coding tasks (evals/tasks/)")
        return suite, options
    from adjudge.domain import AGENTS, Execution, TaskRules
    from adjudge.formats.golden.submissions import touched_tasks, with_references, with_work

    root = Path(suite.execution.project if suite.execution else ".")
    try:
        if flags["changed_since"]:
            touched = touched_tasks(suite, root, flags["changed_since"])
            tasks = tuple(task for task in touched if task in (options.cases or touched))
            if not tasks:
                click.echo(f"no task differs from {flags['changed_since']}; nothing was run", err=True)
                raise click.exceptions.Exit(0)
            options = msgspec.structs.replace(options, cases=tasks)
        if flags["golden"]:
            suite = with_references(suite, root)
            options = msgspec.structs.replace(options, cases=options.cases or _submitted(suite))
        if flags["patches"] or flags["traces"]:
            suite = with_work(suite, flags["patches"], flags["traces"], tasks=options.cases)
            options = msgspec.structs.replace(options, cases=options.cases or _submitted(suite))
    except ConfigError as error:
        raise Refused(error.problems) from None
    if flags["agent"]:
        if flags["agent"] not in AGENTS:
            raise click.UsageError(f"there is no agent {flags['agent']!r}; there are: {', '.join(AGENTS)}")
        execution = suite.execution or Execution()
        spec = msgspec.structs.replace(execution.agent, name=flags["agent"], template=None)
        suite = msgspec.structs.replace(suite, execution=msgspec.structs.replace(execution, agent=spec))
    if flags["max_drop"] is not None and flags["baseline"] is None:
        if not isfinite(flags["max_drop"]):
            raise click.UsageError("--max-drop takes a number of 0 or more")
        rules = msgspec.structs.replace(suite.tasks or TaskRules(judge=""), max_drop=flags["max_drop"])
        suite = msgspec.structs.replace(suite, tasks=rules)
    options = msgspec.structs.replace(
        options,
        accept_baseline=flags["update_baseline"] == "accept",
        require_calibration=flags["require_calibration"],
    )
    return suite, options


def _submitted(suite: Suite) -> tuple[str, ...]:
    return tuple(suite.execution.submissions) if suite.execution else ()


def update_baseline(run: Path, root: Path, how: str) -> str:
    """Write the baseline that follows from a run, and say what was done."""
    from adjudge.domain import Decision, LLMJudge
    from adjudge.engine import read_run
    from adjudge.formats.golden import BASELINE, write_baseline
    from adjudge.scoring.tasks import next_baseline

    snapshot, result = read_run(run)
    rules = snapshot.tasks
    path = root / BASELINE
    if rules is None:
        return ""
    if how == "ratchet" and result.gate.decision is not Decision.PASS:
        return f"{path} stays as it is: the run did not pass"
    if any(summary.unscored for summary in result.judges):
        return f"{path} stays as it is: some scores could not be had"
    judge = next((one for one in snapshot.judges if one.name == rules.judge), None)
    if not isinstance(judge, LLMJudge):
        return f"{path} stays as it is: the rubric's judge was left out"
    made = next_baseline(
        rules, [stub.id for stub in result.cases], result.scores, accept=how == "accept", samples=judge.samples
    )
    if not any(task.scores for task in made.tasks.values()):
        return f"{path} stays as it is: no task has a score"
    if rules.baseline is not None and made.tasks == rules.baseline.tasks and made.judge == rules.baseline.judge:
        return f"{path} stays as it is: nothing is new, and nothing better beyond chance"
    write_baseline(path, made)
    return f"wrote {path}"
