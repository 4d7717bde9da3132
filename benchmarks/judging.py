"""100 criteria in a call each, eight at once; and what it takes to show a judge a thousand files."""

from __future__ import annotations

import asyncio
import json
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.measure import PYTHON, row

CRITERIA, CAP, LATENCY = 100, 8, 0.2
FLOOR = CRITERIA / CAP * LATENCY
FILES, LINES = 1_000, 320
ROOT = Path(__file__).parent.parent


def individual(url: str, folder: Path) -> float:
    """Seconds from the first request to the last verdict in the journal."""
    from adjudge.api import make_options
    from adjudge.domain import Binary, Case, Criterion, LLMJudge, Mode, Suite, Verdict
    from adjudge.engine import make_plan
    from adjudge.engine.observer import Silent
    from adjudge.engine.run import execute

    times: list[float] = []

    class Clock(Silent):
        def verdict(self, verdict: Verdict, *, fresh: bool) -> None:
            times.append(time.perf_counter())

    (folder / "main.py").write_text("x = 1\n" * 200)
    criteria = tuple(
        Criterion(name=f"c{k}", description=f"Statement {k} holds.", scale=Binary()) for k in range(CRITERIA)
    )
    judge = LLMJudge(name="q", criteria=criteria, mode=Mode.INDIVIDUAL, files=("main.py",), model="claude-sonnet-5-5")
    suite = Suite(name="s", cases=[Case(id="w", directory=str(folder))], judges=(judge,))
    environ = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy"}
    options = make_options(
        output=folder / "run", max_concurrency=CAP, environ=environ, cache=folder / "cache.db", fresh=True
    )
    asyncio.run(execute(make_plan(suite, options), options, Clock()))
    if len(times) != CRITERIA:
        raise RuntimeError(f"{len(times)} verdicts")
    return times[-1] - times[0] + LATENCY


def thousand_files(folder: Path) -> tuple[float, int]:
    """(seconds to read the files and build the request, how many opens that took)."""
    from adjudge.domain import Binary, Criterion, LLMJudge
    from adjudge.judges import asking
    from adjudge.prompts import DocumentReader

    text = "def function(x):\n    return x + 1  # a line of code as they are, more or less\n"
    for k in range(FILES):
        (folder / f"f{k:04}.py").write_text((text * LINES)[:20_000])
    judge = LLMJudge(
        name="q",
        criteria=tuple(Criterion(name=f"c{k}", description="It holds.", scale=Binary()) for k in range(10)),
        files=("*.py",),
        model="claude-sonnet-5-5",
    )
    reader = DocumentReader(str(folder))
    began = time.perf_counter()
    asking(judge, {"case_id": "w"}, reader)
    once = time.perf_counter() - began
    asking(judge, {"case_id": "w"}, reader)
    return once, reader.opened


def most_in_flight(log: Path) -> int:
    """The most requests that the server had taken and not answered yet."""
    now = most = 0
    for line in log.read_text().splitlines():
        now += 1 if json.loads(line)["event"] == "asked" else -1
        most = max(most, now)
    return most


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        log = Path(name, "log")
        wall = _served(log, Path(name))
        most = most_in_flight(log)
    row("100 criteria, a call each of 200 ms, 8 at once", f"{wall:.2f} s = {wall / FLOOR:.2f}x", "<= 1.1x")
    row("  most in flight, by the server's count", str(most), f"<= {CAP}")
    with tempfile.TemporaryDirectory() as name:
        seconds, opened = thousand_files(Path(name))
    row("a prompt over 1,000 files of 20 kB", f"{seconds:.2f} s", "<= 0.3 s")
    row("  files read, for two judges", str(opened), f"{FILES}")


def _served(log: Path, folder: Path) -> float:
    command = [PYTHON, "-m", "tests.support.provider", "--port", "0", "--latency", str(LATENCY), "--log", str(log)]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        return individual(url, folder)
    finally:
        server.terminate()
        server.wait()
