"""Timing whole commands: wall, CPU of the process and its children, and the largest resident set of any of them."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

PYTHON = sys.executable
ADJUDGE = (PYTHON, "-m", "adjudge")


class Measured(NamedTuple):
    """Seconds, seconds, and MB summed over the process and its children at the worst moment."""

    wall_s: float
    cpu_s: float
    resident_mb: float


def measured(
    command: Sequence[str | Path], *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Measured:
    """Run a command to its end, which must be a success."""
    before = _children_cpu()
    began = time.perf_counter()
    process = subprocess.Popen(
        list(map(str, command)),
        cwd=cwd,
        env=dict(env) if env is not None else clean_env(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    peak = [0.0]
    watcher = threading.Thread(target=_watch, args=(process.pid, peak), daemon=True)
    watcher.start()
    code = process.wait()
    wall = time.perf_counter() - began
    if code not in (0, 4):
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {code}")
    watcher.join()
    return Measured(wall, _children_cpu() - before, peak[0])


def median_wall(command: Sequence[str | Path], *, times: int = 15, cwd: Path | None = None) -> float:
    """Median wall time in seconds of a command that is run several times."""
    walls = []
    for _ in range(times):
        began = time.perf_counter()
        subprocess.run(list(map(str, command)), check=True, cwd=cwd, env=clean_env(), stdout=subprocess.DEVNULL)
        walls.append(time.perf_counter() - began)
    return statistics.median(walls)


def clean_env(**more: str) -> dict[str, str]:
    """An environment without keys."""
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", **more}


def row(name: str, figure: str, bar: str) -> None:
    """One line of the report."""
    print(f"{name:58} {figure:>28}   {bar}", flush=True)


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _watch(pid: int, peak: list[float]) -> None:
    try:
        process = psutil.Process(pid)
        while True:
            family = [process, *process.children(recursive=True)]
            total = 0
            for member in family:
                try:
                    total += member.memory_info().rss
                except psutil.Error:
                    continue
            peak[0] = max(peak[0], total / 1048576)
            time.sleep(0.05)
            if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
                return
    except psutil.Error:
        return
