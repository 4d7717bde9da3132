"""How long the command takes to start, beside a Python that does nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.measure import ADJUDGE, PYTHON, median_wall, row

JUDGES = "".join(
    f"  - name: check_{k}\n    check: |\n      return len(outputs['files']) > {k}, 'counted'\n" for k in range(8)
) + "".join(
    f"  - name: llm_{k}\n    score_range: [1, 5]\n    model: claude-sonnet-5-5\n    prompt: 'Good? {{{{ outputs }}}}'\n"
    for k in range(2)
)


def main() -> None:
    bare = median_wall([PYTHON, "-c", "pass"])
    version = median_wall([*ADJUDGE, "--version"])
    row("python -c pass", f"{bare * 1000:.0f} ms", "")
    row("adjudge --version", f"{version * 1000:.0f} ms = {version / bare:.1f}x", "<= 5x")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cases" / "one").mkdir(parents=True)
        (folder / "cases" / "one" / "input.yaml").write_text("ask: x\n")
        (folder / "eval.yaml").write_text(f"dataset: {{path: cases}}\njudges:\n{JUDGES}")
        validate = median_wall([*ADJUDGE, "validate", folder])
    row("adjudge validate, 10 judges", f"{validate * 1000:.0f} ms", "<= 200 ms")
