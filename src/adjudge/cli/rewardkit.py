"""adjudge rewardkit"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from adjudge.cli.flags import variables
from adjudge.engine.spare import SpareWorker

_COUNT = click.IntRange(0, 1000)


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
    help="Most agents at once.",
)
@click.option(
    "--judge-env", "--je", "judge_env", multiple=True, metavar="NAME=VALUE", help="Set a variable (repeatable)."
)
@click.option("--judge", "-j", metavar="M", help="Model of every judge file, or jev (REWARDKIT_JUDGE).")
@click.option("--model", "-m", metavar="M", help="Model of every agent and JEV judge (REWARDKIT_MODEL).")
@click.option(
    "--reasoning-effort",
    "--effort",
    metavar="L",
    help="Effort of every judge (REWARDKIT_REASONING_EFFORT).",
)
@click.option("--yolo", is_flag=True, help="Let agents work on one workspace together.")
@click.option(
    "--on-error",
    type=click.Choice(["fail", "zero"]),
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
def command(tests_dirs: tuple[Path, ...], judge_env: tuple[str, ...], **flags: Any) -> int:
    """Judge the workspace by each of TESTS_DIRS, as Harbor's Reward Kit does, and write reward.json.

    Exit codes: 0 every reward has a value, 2 something in the tests is wrong (nothing ran), 4 a reward has no value.
    """
    os.environ.update(variables(judge_env))
    with SpareWorker() as spare:  # it starts while we import
        from adjudge.cli.rewards import judge_folders

        return judge_folders(tests_dirs, spare, **flags)
