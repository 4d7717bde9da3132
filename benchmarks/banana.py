"""A hundred scripts of Eval Banana by whole commands: adjudge, and Eval Banana itself where it is installed.

`ADJUDGE_BENCH_BANANA` is the full path of Eval Banana's executable, `eb`.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import ADJUDGE, clean_env, row

PEER = "ADJUDGE_BENCH_BANANA"
COUNT = 100
SCRIPT = """\
schema_version: 1
id: check_{k}
type: deterministic
description: The context names the check.
script: |
  import json, sys
  context = json.load(open(sys.argv[1]))
  assert context["check_id"] == "check_{k}"
"""


def project(folder: Path) -> None:
    """As many checks, each a script of its own."""
    (folder / "eval_checks").mkdir()
    for k in range(COUNT):
        (folder / "eval_checks" / f"c{k:03}.yaml").write_text(SCRIPT.format(k=k))


def wall(command: Sequence[str | Path], folder: Path) -> float:
    """Seconds of one whole run, all of whose checks must pass."""
    shutil.rmtree(folder / ".eval-banana", ignore_errors=True)
    began = time.perf_counter()
    ended = subprocess.run(
        [*map(str, command), "run"],
        check=False,
        cwd=folder,
        env=clean_env(HOME=str(folder)),
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - began
    if ended.returncode or f"Score: {COUNT}/{COUNT}" not in ended.stdout:
        raise RuntimeError(f"{command[0]} ended with {ended.returncode}: {ended.stderr[-500:]}")
    return seconds


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project(folder)
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(7):  # in turn, since the machine is shared
            ours.append(wall([*ADJUDGE, "banana"], folder))
            if PEER in os.environ:
                theirs.append(wall([os.environ[PEER]], folder))
        figure = f"{min(ours):.2f} s, median {statistics.median(ours):.2f} s"
        row(f"banana, {COUNT} scripts", figure, "<= 0.8 s")
        if not theirs:
            row("  by Eval Banana", "not installed", f"set {PEER}")
            return
        row("  by Eval Banana", f"{min(theirs):.2f} s, median {statistics.median(theirs):.2f} s", "")
        ratios = min(theirs) / min(ours), statistics.median(theirs) / statistics.median(ours)
        row("  against adjudge", "{:.1f}x, median {:.1f}x".format(*ratios), ">= 5x")
