"""Tests folders of Reward Kit by whole commands: adjudge, and Reward Kit itself where it is installed.

`ADJUDGE_BENCH_REWARDKIT` is the full path of Reward Kit's executable.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.judging import CAP, CRITERIA, FLOOR, LATENCY, most_in_flight
from benchmarks.measure import ADJUDGE, PYTHON, clean_env, row

ROOT = Path(__file__).parent.parent
OURS = (*ADJUDGE, "rewardkit")
PEER = "ADJUDGE_BENCH_REWARDKIT"
FEW, MANY = 10, 1_000
MODEL = "openai/gpt-5"


def programmatic(folder: Path, count: int) -> None:
    """As many criteria, each of which looks into a file of its own."""
    for name in ("app", "tests"):
        (folder / name).mkdir()
    calls = ""
    for k in range(count):
        (folder / "app" / f"f{k:04}.txt").write_text(f"this is file {k}\n" * 20)
        calls += f'rk.file_contains("f{k:04}.txt", "file {k}")\n'
    (folder / "tests" / "checks.py").write_text(f"import rewardkit as rk\n{calls}")


def individual(folder: Path) -> None:
    """One judge with a call a criterion."""
    for name in ("app", "tests"):
        (folder / name).mkdir()
    (folder / "app" / "main.py").write_text("x = 1\n" * 200)
    head = f'[judge]\njudge = "{MODEL}"\nfiles = ["main.py"]\nmode = "individual"\n'
    asked = "".join(f'[[criterion]]\nname = "c{k}"\ndescription = "Statement {k} holds."\n' for k in range(CRITERIA))
    (folder / "tests" / "quality.toml").write_text(head + asked)


def walls(
    command: Sequence[str | Path], folder: Path, times: int, env: Mapping[str, str] | None = None
) -> tuple[list[float], list[float]]:
    """(seconds from the start of the process to reward.json, seconds to its end), of each of so many runs.

    What is in reward.json must be a full reward.
    """
    output = folder / "out" / "reward.json"
    written, ended = [], []
    for _ in range(times):
        output.unlink(missing_ok=True)
        arguments = [*command, folder / "tests", "--workspace", folder / "app", "--output", output]
        began = time.perf_counter()
        process = subprocess.Popen(
            list(map(str, arguments)),
            cwd=folder / "app",
            env=clean_env(LITELLM_LOCAL_MODEL_COST_MAP="True") if env is None else dict(env),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None and not output.exists():
            time.sleep(0.001)
        written.append(time.perf_counter() - began)
        code = process.wait()
        ended.append(time.perf_counter() - began)
        if code or json.loads(output.read_text()) != {"reward": 1.0}:
            raise RuntimeError(f"{command[0]} ended with {code}")
    return written, ended


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        programmatic(Path(name), FEW)
        ours, ended = walls(OURS, Path(name), 15)
        figure = f"{min(ours):.3f} s, median {statistics.median(ours):.3f} s"
        row(f"rewardkit, {FEW} criteria, to reward.json", figure, "<= 0.20 s")
        row("  to the end of the process", f"{min(ended):.3f} s, median {statistics.median(ended):.3f} s", "")
        if PEER in os.environ:
            theirs, _ = walls([os.environ[PEER]], Path(name), 5)
            row("  by Reward Kit", f"{min(theirs):.2f} s, median {statistics.median(theirs):.2f} s", "")
            ratios = min(theirs) / min(ours), statistics.median(theirs) / statistics.median(ours)
            row("  against adjudge", "{:.0f}x, median {:.0f}x".format(*ratios), ">= 20x")
        else:
            row("  by Reward Kit", "not installed", f"set {PEER}")
    with tempfile.TemporaryDirectory() as name:
        programmatic(Path(name), MANY)
        ours, _ = walls(OURS, Path(name), 7)
        figure = f"{min(ours):.2f} s, median {statistics.median(ours):.2f} s"
        row(f"rewardkit, {MANY:,} criteria, to reward.json", figure, "<= 0.6 s")
    with tempfile.TemporaryDirectory() as name:
        individual(Path(name))
        wall, most = _served(OURS, Path(name))
        row(f"rewardkit, {CRITERIA} criteria, a call each, {CAP} at once", f"{wall:.2f} s = {wall / FLOOR:.2f}x", "")
        row("  most in flight, by the server's count", str(most), f"<= {CAP}")
        if PEER in os.environ:
            wall, most = _served([os.environ[PEER]], Path(name))
            row("  by Reward Kit, told the same limit", f"{wall:.2f} s, {most} in flight", "")


def _served(command: Sequence[str | Path], folder: Path) -> tuple[float, int]:
    """(seconds of the whole command, the most requests that the server held at once)."""
    log = folder / f"{Path(command[0]).name}.log"
    options = ["--port", "0", "--latency", str(LATENCY), "--log", str(log)]
    server = subprocess.Popen(
        [PYTHON, "-m", "tests.support.provider", *options], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        env = clean_env(
            HOME=str(folder), OPENAI_BASE_URL=f"{url}/v1", OPENAI_API_KEY="dummy", LITELLM_LOCAL_MODEL_COST_MAP="True"
        )
        _, (wall,) = walls([*command, "--max-concurrent-llm", str(CAP)], folder, 1, env)
        return wall, most_in_flight(log)
    finally:
        server.terminate()
        server.wait()
