"""adjudge rewardkit"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adjudge.cli.common import Refused, complain, show_problems, variables
from adjudge.domain import EFFORTS, ConfigError, OnError, StoreError, Suite

if TYPE_CHECKING:
    from adjudge.domain import RunResult
    from adjudge.engine import RunOptions, SpareWorker

UNLIMITED = 1000
_COUNT = click.IntRange(0, UNLIMITED)


@click.command("rewardkit")
@click.argument("tests_dirs", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--workspace", type=click.Path(path_type=Path), default="/app", show_default=True, help="What is judged.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default="/logs/verifier/reward.json",
    show_default=True,
    help="Where the rewards go; reward-details.json lies beside it.",
)
@click.option(
    "--max-concurrent-programmatic",
    "--mcprog",
    "--mcp",
    "criteria_at_once",
    type=_COUNT,
    default=8,
    show_default=True,
    metavar="N",
    help="Most criteria at once (0: as many as there are).",
)
@click.option(
    "--max-concurrent-llm",
    "--mcllm",
    "--mcl",
    "calls_at_once",
    type=_COUNT,
    default=8,
    show_default=True,
    metavar="N",
    help="Most requests to models at once, over all judges (0: unlimited).",
)
@click.option(
    "--max-concurrent-agent",
    "--mcagent",
    "--mca",
    "agents_at_once",
    type=_COUNT,
    default=2,
    show_default=True,
    metavar="N",
    help="Most agents at once (agent judges are not available yet).",
)
@click.option(
    "--judge-env", "--je", "judge_env", multiple=True, metavar="NAME=VALUE", help="Set a variable (repeatable)."
)
@click.option("--judge", "-j", metavar="M", help="Model of every judge file, or jev (REWARDKIT_JUDGE).")
@click.option("--model", "-m", metavar="M", help="Model of every agent and JEV judge (REWARDKIT_MODEL).")
@click.option(
    "--reasoning-effort",
    "--effort",
    type=click.Choice(EFFORTS),
    metavar="L",
    help="Effort of every judge (REWARDKIT_REASONING_EFFORT).",
)
@click.option("--yolo", is_flag=True, help="Let agents share the workspace (agent judges are not available yet).")
@click.option(
    "--on-error",
    type=click.Choice([policy.value for policy in OnError]),
    default="fail",
    show_default=True,
    help="adjudge: what a criterion without a score does: its reward has no value, or it counts as 0.",
)
@click.option(
    "--run-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="adjudge: keep the journal and result.json here; the same command goes on where it was stopped.",
)
def command(
    tests_dirs: tuple[Path, ...],
    workspace: Path,
    output: Path,
    criteria_at_once: int,
    calls_at_once: int,
    agents_at_once: int,
    judge_env: tuple[str, ...],
    judge: str | None,
    model: str | None,
    reasoning_effort: str | None,
    yolo: bool,
    on_error: str,
    run_dir: Path | None,
) -> int:
    """Judge the workspace by each of TESTS_DIRS, as Harbor's Reward Kit does, and write reward.json.

    Exit codes: 0 every reward has a value, 2 something in the tests is wrong (nothing ran), 4 a reward has no value.
    """
    from adjudge.engine.spare import SpareWorker

    os.environ.update(variables(judge_env))
    with SpareWorker() as spare:
        from adjudge.formats.rewardkit import Overrides, load_folders, remove_stale

        read = os.environ.get
        overrides = Overrides(
            judge=judge or read("REWARDKIT_JUDGE", ""),
            model=model or read("REWARDKIT_MODEL", ""),
            effort=reasoning_effort or read("REWARDKIT_REASONING_EFFORT", ""),
        )
        try:
            remove_stale(output)
        except OSError as error:
            raise click.ClickException(f"{output}: what is there cannot be removed: {error.strerror}") from None
        try:
            suite = load_folders(
                tests_dirs,
                workspace=workspace,
                discover=spare.discover,
                overrides=overrides,
                on_error=OnError(on_error),
            )
        except ConfigError as error:
            raise Refused(error.problems) from None
        show_problems(suite.warnings)
        return _judge(suite, spare, output, run_dir, criteria_at_once, calls_at_once)


def _judge(
    suite: Suite, spare: SpareWorker, output: Path, run_dir: Path | None, criteria_at_once: int, calls_at_once: int
) -> int:
    from adjudge.formats.rewardkit import write_empty

    if not suite.judges:
        write_empty(output)
        return 0
    from adjudge.engine import RunOptions

    run = run_dir or Path(tempfile.mkdtemp(prefix="adjudge-"))
    options = RunOptions(
        output=run,
        cache=run / "cache.db",
        workers=criteria_at_once or min(64, len(suite.judges)),
        max_concurrency=calls_at_once or UNLIMITED,
    )
    keep = run_dir is not None
    try:
        status = _run(suite, options, spare, output, keep=keep)
        keep = keep or status not in (0, 2)
        return status
    finally:
        if keep:
            click.echo(f"run directory: {run}", err=True)
        else:
            shutil.rmtree(run, ignore_errors=True)


def _run(suite: Suite, options: RunOptions, spare: SpareWorker, output: Path, *, keep: bool) -> int:
    import asyncio

    from adjudge.engine.observer import Silent
    from adjudge.engine.plan import make_plan
    from adjudge.engine.results import read_run
    from adjudge.engine.run import execute
    from adjudge.formats.rewardkit import complete, write

    class Notes(Silent):
        def note(self, text: str, *, detail: bool = False) -> None:
            if not detail:
                complain(text, colour="yellow")

    try:
        plan = make_plan(suite, options)
    except ConfigError as error:
        raise Refused(error.problems) from None
    assert options.output is not None
    try:
        ended = asyncio.run(execute(plan, options, Notes(), spare=spare))
        if ended.interrupted:
            complain(f"interrupted; --run-dir {options.output} goes on from there")
            return 130
        snapshot, result = read_run(ended.run)
        if keep:
            from adjudge.report import write_files

            write_files(result, ended.run)
        write(result, snapshot, output)
    except (StoreError, OSError) as error:
        complain(f"error: {error}")
        return 4
    _print(result, _prefixes(suite))
    if complete(result):
        return 0
    output.unlink(missing_ok=True)  # whoever may have put one there meanwhile
    for case in result.rewards:
        for reward in case.rewards:
            if reward.score is None:
                complain(f"error: {reward.name} has no value: {reward.failure}")
    complain(f"{output} was not written; the details are beside it, and --on-error zero counts what is missing as 0")
    return 4


def _prefixes(suite: Suite) -> list[str]:
    return list(dict.fromkeys(node.name.rpartition("/")[0] for node in suite.rewards))


def _print(result: RunResult, folders: Sequence[str]) -> None:
    from adjudge.formats.rewardkit import reward_numbers

    numbers = reward_numbers(result)
    for name, score in numbers.items():
        click.echo(f"{name}: {score}")
    if len(folders) > 1:
        click.echo(_comparison(numbers, folders))


def _comparison(numbers: Mapping[str, float], folders: Sequence[str]) -> str:
    """Each reward by tests folder, and the first folder's minus the last's."""
    names = list(dict.fromkeys(name.partition("/")[2] for name in numbers))
    rows = [["reward", *folders, "diff"]]
    for name in names:
        scores = [numbers.get(f"{folder}/{name}") for folder in folders]
        first, last = scores[0], scores[-1]
        diff = "-" if first is None or last is None else f"{first - last:+.4f}"
        rows.append([name, *("-" if score is None else f"{score:.4f}" for score in scores), diff])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
    rule = "-" * max(map(len, lines))
    return "\n".join(["", "Comparison:", rule, lines[0], rule, *lines[1:], rule])
