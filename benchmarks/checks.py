"""2,000 and 20,000 cases with five check judges, each case with 45 kB of events: time, and whether time and memory grow
in proportion."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

import msgspec

from adjudge.cases import events_of
from benchmarks.collecting import stream
from benchmarks.measure import ADJUDGE, measured, row

CHECKS = {
    "has_text": "text = outputs['files']['output/a.md']\nreturn len(text) > 10, f'{len(text)} characters'",
    "no_todo": "return 'TODO' not in outputs['files']['output/a.md'], 'looked for TODO'",
    "short": "return len(outputs['files']['output/a.md'].split()) < 1000, 'counted words'",
    "share": "t = outputs['files']['output/a.md']\nreturn t.count('e') / len(t), 'share of e'",
    "mentions_number": "import re\nreturn bool(re.search('[0-9]', outputs['files']['output/a.md'])), 'looked'",
}


LOOKS = {"reads_first": "calls = outputs['tool_calls']\nreturn bool(calls) and calls[0]['name'] == 'Read', 'looked'"}
"""A check that looks at what was recorded, in the place of one that does not."""


def write(folder: Path, count: int, *, looks: bool = False) -> None:
    """A dataset with one output of 2 kB a case, and what was recorded of a run."""
    events = msgspec.json.encode(events_of(stream()).events)
    for k in range(count):
        case = folder / "cases" / f"case-{k:05d}"
        (case / "output").mkdir(parents=True)
        (case / "input.yaml").write_text(f"request: write the answer number {k}\n")
        (case / "events.json").write_bytes(events)
        (case / "output" / "a.md").write_text(f"Answer {k}. " + "The quick brown fox jumps over the lazy dog. " * 45)
    checks = {**dict(list(CHECKS.items())[:-1]), **LOOKS} if looks else CHECKS
    judges = "".join(
        f"  - name: {name}\n    check: |\n" + "".join(f"      {line}\n" for line in code.split("\n"))
        for name, code in checks.items()
    )
    (folder / "eval.yaml").write_text(f"dataset: {{path: cases}}\noutputs: [{{path: output}}]\njudges:\n{judges}")


def engine_seconds(folder: Path) -> tuple[float, float]:
    """(seconds from warm workers to the last verdict in the journal, seconds to read, score and write the files)."""
    from adjudge.api import load, make_options
    from adjudge.domain import Verdict
    from adjudge.engine import make_plan, read_result
    from adjudge.engine.observer import Silent
    from adjudge.engine.run import execute
    from adjudge.report import write_files

    first: list[float] = []

    class FirstVerdict(Silent):
        def verdict(self, verdict: Verdict, *, fresh: bool) -> None:
            if not first:
                first.append(time.perf_counter())

    options = make_options(output=folder / "timed", fresh=True)
    ended = asyncio.run(execute(make_plan(load(folder / "eval.yaml"), options), options, FirstVerdict()))
    judged = time.perf_counter()
    write_files(read_result(ended.run), ended.run)
    return judged - first[0], time.perf_counter() - judged


def main() -> None:
    walls = {}
    for count in (2_000, 20_000):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, count)
            command: list[str | Path] = [*ADJUDGE, "run", folder, "--output", folder / "run", "-q"]
            whole = measured(command)
            walls[count] = whole.wall_s
            if count == 2_000:
                judged, reported = engine_seconds(folder)
                row("2,000 cases x 5 checks, workers warm", f"{judged:.2f} s", "<= 1.8 s")
                row("  score it and write the files", f"{reported:.2f} s", "")
            row(
                f"{count:,} x 5, the whole command",
                f"{whole.wall_s:.2f} s, {whole.resident_mb:.0f} MB in all",
                "<= 400 MB resident" if count == 20_000 else "",
            )
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), 2_000, looks=True)
        judged, _ = engine_seconds(Path(name))
        row("2,000 x 5, one of which looks at the events, workers warm", f"{judged:.2f} s", "<= 1.8 s")
    row("20,000 against ten times 2,000", f"{walls[20_000] / walls[2_000] / 10:.2f}x", "about 1")
