"""Judging tests folders into reward.json: what `adjudge rewardkit` does once its flags are read."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from adjudge.cli.common import Refused, complain, show_problems
from adjudge.cli.notes import Notes
from adjudge.domain import EFFORTS, AgentJudge, ConfigError, OnError, RunResult, Snapshot, StoreError, Suite
from adjudge.engine.options import RunOptions
from adjudge.engine.plan import make_plan
from adjudge.engine.results import read_run
from adjudge.engine.run import execute
from adjudge.engine.spare import SpareWorker
from adjudge.formats.rewardkit import (
    complete,
    load_folders,
    read_overrides,
    remove_stale,
    reward_numbers,
    write,
    write_empty,
)

UNLIMITED = 1000
LOGS = Path("/logs/verifier")


def judge_folders(
    tests_dirs: Sequence[Path],
    spare: SpareWorker,
    *,
    workspace: Path,
    output: Path,
    criteria_at_once: int,
    calls_at_once: int,
    agents_at_once: int,
    judge: str | None,
    model: str | None,
    reasoning_effort: str | None,
    yolo: bool,
    on_error: str,
    run_dir: Path | None,
) -> int:
    """Judge, write, print; returns the exit code."""
    overrides = read_overrides(judge=judge, model=model, effort=reasoning_effort)
    if overrides.effort and overrides.effort not in EFFORTS:
        raise click.UsageError(f"--reasoning-effort takes one of {', '.join(EFFORTS)}, got {overrides.effort!r}")
    try:
        remove_stale(output)
        output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.ClickException(f"{output} cannot be written: {error.strerror}") from None
    if not os.access(output.parent, os.W_OK):
        raise click.ClickException(f"{output} cannot be written: the folder is read-only")
    try:
        suite = load_folders(
            tests_dirs,
            workspace=workspace,
            discover=spare.discover,
            overrides=overrides,
            on_error=OnError(on_error),
            yolo=yolo,
        )
    except ConfigError as error:
        raise Refused(error.problems) from None
    show_problems(suite.warnings)
    return _judge(suite, spare, output, run_dir, criteria_at_once, calls_at_once, agents_at_once)


def _judge(
    suite: Suite,
    spare: SpareWorker,
    output: Path,
    run_dir: Path | None,
    criteria_at_once: int,
    calls_at_once: int,
    agents_at_once: int,
) -> int:
    if not suite.judges:
        write_empty(output)
        return 0
    run = run_dir or Path(tempfile.mkdtemp(prefix="adjudge-"))
    options = RunOptions(
        output=run,
        cache=run / "cache.db",
        workers=criteria_at_once or min(64, len(suite.judges)),
        max_concurrency=calls_at_once or UNLIMITED,
        agents_at_once=agents_at_once or UNLIMITED,
    )
    needless = False
    try:
        status = _run(suite, options, spare, output, keep=run_dir is not None)
        needless = status == 0
        return status
    except Refused:
        needless = True  # nothing was asked
        raise
    finally:
        if run_dir is not None or not needless:  # whatever happened, what was paid for stays
            click.echo(f"run directory: {run}", err=True)
        else:
            shutil.rmtree(run, ignore_errors=True)


def _run(suite: Suite, options: RunOptions, spare: SpareWorker, output: Path, *, keep: bool) -> int:
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
        _keep_transcripts(snapshot, ended.run)
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


def _keep_transcripts(snapshot: Snapshot, run: Path) -> None:
    """Copy what agents said to where Harbor looks for the logs of a verifier, or where REWARDKIT_LOG_DIR says."""
    named = os.environ.get("REWARDKIT_LOG_DIR")
    logs = Path(named) if named else LOGS
    agents = {judge.name: judge.agent.name for judge in snapshot.judges if isinstance(judge, AgentJudge)}
    if not agents or not (named or logs.is_dir()):
        return
    logs.mkdir(parents=True, exist_ok=True)
    for number, file in enumerate(sorted(run.glob("checks/**/*.stdout.txt"))):
        label = file.name.removesuffix(".stdout.txt")
        agent = next(
            (agent for name, agent in agents.items() if label.startswith(name.replace("/", "_")[:40])), "agent"
        )
        shutil.copyfile(file, logs / f"trajectory.{agent}.{label}.{number:02x}.jsonl")


def _prefixes(suite: Suite) -> list[str]:
    return list(dict.fromkeys(node.name.rpartition("/")[0] for node in suite.rewards))


def _print(result: RunResult, folders: Sequence[str]) -> None:
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
