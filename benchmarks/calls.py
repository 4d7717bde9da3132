"""1,000 LLM calls of 100 ms, a hundred at once, against the loopback provider in a process of its own."""

from __future__ import annotations

import asyncio
import json
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.measure import ADJUDGE, PYTHON, clean_env, measured, row

CALLS, AT_ONCE, LATENCY = 1_000, 100, 0.1
FLOOR = CALLS / AT_ONCE * LATENCY
ROOT = Path(__file__).parent.parent


def write(folder: Path, count: int) -> None:
    for k in range(count):
        case = folder / "cases" / f"case-{k:04d}"
        (case / "output").mkdir(parents=True)
        (case / "input.yaml").write_text(f"request: task {k}\n")
        (case / "output" / "a.md").write_text(f"answer {k} " + "lorem ipsum dolor " * 40)
    (folder / "eval.yaml").write_text(
        "dataset: {path: cases}\noutputs: [{path: output}]\njudges:\n  - name: good\n    feedback_type: bool\n"
        "    model: claude-sonnet-5-5\n    prompt: 'Is it good? {{ inputs }} {{ outputs }}'\n"
    )


def bare(url: str) -> tuple[float, float]:
    """(wall, CPU per call) of as many calls by httpx alone, one client a lane: the ground that we stand on."""
    import httpx

    tool = {
        "name": "t",
        "description": "",
        "input_schema": {"type": "object", "properties": {"passed": {"type": "boolean"}}},
    }
    body = {
        "model": "claude-sonnet-5-5",
        "max_tokens": 10,
        "messages": [{"role": "user", "content": "x" * 800}],
        "tools": [tool],
        "tool_choice": {"type": "tool", "name": "t"},
    }

    async def lane(client: httpx.AsyncClient) -> None:
        for _ in range(CALLS // AT_ONCE):
            (await client.post(f"{url}/v1/messages", json=body)).json()

    async def everything() -> None:
        tls = httpx.create_ssl_context()
        clients = [httpx.AsyncClient(verify=tls, timeout=None) for _ in range(AT_ONCE)]
        await asyncio.gather(*map(lane, clients))
        for client in clients:
            await client.aclose()

    began, cpu = time.perf_counter(), _own_cpu()
    asyncio.run(everything())
    return time.perf_counter() - began, (_own_cpu() - cpu) / CALLS


def engine(folder: Path, url: str) -> tuple[float, float, float]:
    """(wall from the first request on, its CPU per call, resident MB) of the engine's own process."""
    from adjudge.api import load, make_options
    from adjudge.domain import Verdict
    from adjudge.engine import make_plan
    from adjudge.engine.observer import Silent
    from adjudge.engine.run import execute

    first: list[tuple[float, float]] = []

    class First(Silent):
        def verdict(self, verdict: Verdict, *, fresh: bool) -> None:
            if not first:
                first.append((time.perf_counter(), _own_cpu()))

    environ = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy"}
    options = make_options(output=folder / "timed", max_concurrency=AT_ONCE, fresh=True, environ=environ)
    plan = make_plan(load(folder / "eval.yaml"), options)
    asyncio.run(execute(plan, options, First()))
    wall = time.perf_counter() - first[0][0] + LATENCY
    cpu = (_own_cpu() - first[0][1]) / CALLS
    return wall, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    server = subprocess.Popen(
        [PYTHON, "-m", "tests.support.provider", "--port", "0", "--latency", str(LATENCY)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, CALLS)
            wall, cpu = bare(url)
            row("1,000 calls by httpx alone", _figures(wall, cpu), f"floor {FLOOR:.1f} s")
            wall, cpu, resident = engine(folder, url)
            row("1,000 calls by the engine, from the first answer on", _figures(wall, cpu), "<= 1.15x, <= 3 ms")
            row("  its resident set", f"{resident:.0f} MB", "<= 150 MB")
            env = clean_env(ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="dummy")
            shutil.rmtree(folder / "timed")
            command: list[str | Path] = [
                *ADJUDGE,
                "run",
                folder,
                "--output",
                folder / "run",
                "-q",
                "--max-concurrency",
                str(AT_ONCE),
            ]
            cold = measured(command, cwd=folder, env=env)
            row("  the whole command, with workers and reports", f"{cold.wall_s:.2f} s, {cold.cpu_s:.2f} s CPU", "")
            warm = measured(command, cwd=folder, env=env)
            row("  the same command again", f"{warm.wall_s:.2f} s", "")
    finally:
        server.terminate()
        server.wait()


def _figures(wall: float, cpu: float) -> str:
    return f"{wall:.2f} s = {wall / FLOOR:.2f}x, {cpu * 1000:.2f} ms CPU"


def _own_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
