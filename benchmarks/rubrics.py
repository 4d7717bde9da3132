"""200 rubric calls of 100 ms, 20 at once, by whole commands: adjudge, and two peers where they are installed.

The floor is 1.0 s. `ADJUDGE_BENCH_INSPECT` is the full path of a Python that has inspect_ai and openai,
`ADJUDGE_BENCH_PROMPTFOO` that of promptfoo's executable.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import ADJUDGE, PYTHON, Measured, clean_env, measured, row
from tests.support.replies import Reply, Text, Verdict
from tests.support.request import Request, satisfying

CALLS, AT_ONCE, LATENCY = 200, 20, 0.1
ROOT = Path(__file__).parent.parent
RUBRIC = "How completely is the question answered? 1 = not at all, 3 = in part, 5 = completely."
REASON = "The answer names what was asked for and says why, without anything that is not asked for."

TASK = """
import json
from pathlib import Path
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import solver

CASES = json.loads((Path(__file__).parent / "cases.json").read_text())

@solver
def given():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("given", state.metadata["answer"])
        return state
    return solve

@task
def rubric():
    samples = [Sample(input=ask, target=RUBRIC, metadata={"answer": answer}) for ask, answer in CASES]
    return Task(dataset=samples, solver=given(), scorer=model_graded_qa())
"""


def grade(request: Request) -> Reply:
    """A good mark in the form that the caller asks for; the provider's process calls this."""
    if request.schema is not None:
        return Verdict(satisfying(request.schema))
    if "GRADE:" in request.prompt:
        return Text(f"{REASON}\n\nGRADE: C")
    return Text(json.dumps({"reason": REASON, "pass": True, "score": 1.0}))


def texts(count: int) -> list[tuple[str, str]]:
    """As many questions, each with an answer of a kilobyte."""
    return [(f"Question {k}: what is it?", f"Answer {k}: " + "lorem ipsum dolor sit amet " * 38) for k in range(count)]


def for_adjudge(folder: Path, count: int) -> list[str | Path]:
    for k, (ask, answer) in enumerate(texts(count)):
        case = folder / "cases" / f"case-{k:04d}"
        (case / "output").mkdir(parents=True)
        (case / "input.yaml").write_text(json.dumps({"request": ask}))
        (case / "output" / "answer.md").write_text(answer)
    (folder / "eval.yaml").write_text(
        "dataset: {path: cases}\noutputs: [{path: output}]\njudges:\n  - name: complete\n    score_range: [1, 5]\n"
        f"    model: openai:/gpt-4o\n    prompt: '{RUBRIC} {{{{ inputs }}}} {{{{ outputs }}}}'\n"
    )
    return [*ADJUDGE, "run", folder, "--output", folder / "run", "-q", "--max-concurrency", str(AT_ONCE)]


def for_inspect(folder: Path, count: int) -> list[str | Path]:
    (folder / "cases.json").write_text(json.dumps(texts(count)))
    (folder / "rubric.py").write_text(f"RUBRIC = {RUBRIC!r}\n{TASK}")
    command = [os.environ["ADJUDGE_BENCH_INSPECT"], "-m", "inspect_ai", "eval", "rubric.py", "--model", "openai/gpt-4o"]
    return [*command, "--max-connections", str(AT_ONCE), "--log-dir", "logs", "--display", "none"]


def for_promptfoo(folder: Path, count: int) -> list[str | Path]:
    config = {
        "prompts": ["{{answer}}"],
        "providers": ["echo"],
        "defaultTest": {
            "assert": [{"type": "llm-rubric", "value": RUBRIC}],
            "options": {"provider": "openai:chat:gpt-4o"},
        },
        "tests": [{"vars": {"ask": ask, "answer": answer}} for ask, answer in texts(count)],
    }
    (folder / "promptfooconfig.yaml").write_text(json.dumps(config))
    command = [os.environ["ADJUDGE_BENCH_PROMPTFOO"], "eval", "-c", "promptfooconfig.yaml", "--output", "results.json"]
    quiet = ["--no-cache", "--no-share", "--no-table", "--no-progress-bar"]
    return [*command, *quiet, "--max-concurrency", str(AT_ONCE)]


def marked_by_adjudge(folder: Path) -> int:
    """How many got a mark, by the tool's own account; so with the peers."""
    result = json.loads((folder / "run" / "result.json").read_text())
    return sum(score["status"] == "scored" for score in result["scores"])


def marked_by_inspect(folder: Path) -> int:
    (log,) = (folder / "logs").glob("*.eval")
    command = [os.environ["ADJUDGE_BENCH_INSPECT"], "-m", "inspect_ai", "log", "dump", "--header-only", str(log)]
    header = json.loads(subprocess.run(command, check=True, env=clean_env(), capture_output=True).stdout)
    (score,) = header["results"]["scores"]
    passed: float = score["scored_samples"] * score["metrics"]["accuracy"]["value"]
    return round(passed)


def marked_by_promptfoo(folder: Path) -> int:
    return int(json.loads((folder / "results.json").read_text())["results"]["stats"]["successes"])


class Tool(NamedTuple):
    """`prepare` writes the input files of so many cases and gives the command that judges them."""

    name: str
    prepare: Callable[[Path, int], Sequence[str | Path]]
    marked: Callable[[Path], int]
    found_by: str = ""
    version: Sequence[str] = ()


INSPECT_VERSION = "import importlib.metadata as metadata; print(metadata.version('inspect_ai'))"
OURS = Tool("adjudge", for_adjudge, marked_by_adjudge)
PEERS = (
    Tool("inspect_ai", for_inspect, marked_by_inspect, "ADJUDGE_BENCH_INSPECT", ("-c", INSPECT_VERSION)),
    Tool("promptfoo", for_promptfoo, marked_by_promptfoo, "ADJUDGE_BENCH_PROMPTFOO", ("--version",)),
)


class Bench:
    """One provider and one home: each tool judges one case first, so what it sets up only once is not timed."""

    def __init__(self, folder: Path, url: str, log: Path) -> None:
        self.folder, self.log = folder, log
        self.command: Sequence[str | Path] = ()
        off = {f"PROMPTFOO_DISABLE_{what}": "true" for what in ("TELEMETRY", "UPDATE", "REMOTE_GENERATION")}
        self.env = clean_env(**off, HOME=str(folder), OPENAI_BASE_URL=f"{url}/v1", OPENAI_API_KEY="dummy")

    def timed(self, tool: Tool, count: int, *, again: bool = False) -> Measured:
        """The whole command on so many cases. It must mark each, with one call each or, again, with none."""
        folder = self.folder / f"{tool.name}-{count}"
        if not again:
            folder.mkdir()
            self.command = tool.prepare(folder, count)
        before, wanted = self._calls(), 0 if again else count
        taken = measured(self.command, cwd=folder, env=self.env)
        asked, answered = (now - then for now, then in zip(self._calls(), before, strict=True))
        marked = tool.marked(folder)
        if (asked, answered, marked) != (wanted, wanted, count):
            raise RuntimeError(f"{tool.name}: {asked} asked, {answered} answered, {marked} of {count} marked")
        return taken

    def version(self, tool: Tool) -> str:
        command = [os.environ[tool.found_by], *tool.version]
        told = subprocess.run(command, check=True, env=self.env, cwd=self.folder, capture_output=True, text=True)
        return told.stdout.split()[-1]

    def _calls(self) -> tuple[int, int]:
        events = [json.loads(line)["event"] for line in self.log.read_text().splitlines()]
        return events.count("asked"), events.count("answered")


def compare(bench: Bench) -> None:
    bench.timed(OURS, 1)
    row(f"{CALLS} rubric calls by the whole command", _figures(bench.timed(OURS, CALLS)), "<= 2.0 s, <= 1.2 s CPU")
    row("  the same command again", _figures(bench.timed(OURS, CALLS, again=True)), "<= 0.5 s")
    for tool in PEERS:
        if tool.found_by not in os.environ:
            row(f"  by {tool.name}", "not installed", f"set {tool.found_by}")
            continue
        bench.timed(tool, 1)
        row(f"  by {tool.name} {bench.version(tool)}", _figures(bench.timed(tool, CALLS)), "")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        log = Path(name) / "provider.log"
        options = ["--latency", str(LATENCY), "--log", str(log), "--replies", "benchmarks.rubrics:grade"]
        server = subprocess.Popen(
            [PYTHON, "-m", "tests.support.provider", *options], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            compare(Bench(Path(name), json.loads(server.stdout.readline())["url"], log))
        finally:
            server.terminate()
            server.wait()


def _figures(taken: Measured) -> str:
    return f"{taken.wall_s:.2f} s, {taken.cpu_s:.2f} s CPU, {taken.resident_mb:.0f} MB"
