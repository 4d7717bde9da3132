"""Agent judges over a stand-in for the claude program, and what it saw of itself."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import adjudge
from adjudge.domain import (
    AgentJudge,
    AgentSpec,
    Binary,
    Case,
    CommandTemplate,
    Criterion,
    PromptBy,
    RunResult,
    Scale,
    Score,
    Suite,
)

FAKE = Path(__file__).with_name("fake_claude.py")


def with_claude(folder: Path, *, old: bool = False) -> dict[str, str]:
    """Variables under which `claude` is the stand-in."""
    binary = folder / "bin" / "claude"
    binary.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(FAKE, binary)
    binary.chmod(0o755)
    if old:
        binary.with_name("claude.old").touch()
    return {"PATH": f"{binary.parent}:{os.environ['PATH']}", "ANTHROPIC_API_KEY": "sk-dummy-0123456789"}


def agent_judge(prompt: str = "Is it good?", *, scale: Scale | None = None, **fields: Any) -> AgentJudge:
    fields.setdefault("name", "good")
    criterion = Criterion(name=fields["name"], scale=scale or Binary())
    fields.setdefault("criteria", (criterion,))
    return AgentJudge(prompt=prompt, **fields)


def program(text: str, folder: Path, *, by: PromptBy = PromptBy.STDIN) -> AgentSpec:
    """An agent that is a Python program of ours."""
    file = folder / "program.py"
    file.write_text(text)
    template = CommandTemplate(command=("python3", str(file)), prompt_by=by, model_env=("MODEL",))
    return AgentSpec(name="program", template=template)


def run_judge(
    judge: AgentJudge, environ: dict[str, str] | None = None, *, case: Case | None = None, **options: Any
) -> RunResult:
    """Judge one case in this process."""
    chosen = case or Case(id="case", outputs={"output/answer.md": "the answer\n", "notes.txt": "notes\n"})
    suite = Suite(name="suite", cases=[chosen], judges=(judge,))
    return adjudge.run(suite, environ=environ or {}, output=options.pop("output", "run"), workers=1, **options)


def score_of(judge: AgentJudge, environ: dict[str, str] | None = None, **options: Any) -> Score:
    return run_judge(judge, environ, **options).scores[0]


def started(run: str | Path = "run") -> dict[str, Any]:
    """How the stand-in was started: argv, env, cwd, and what failed of what it tried."""
    (file,) = Path(run).rglob("*.stdout.txt")
    found: dict[str, Any] = json.loads(file.read_text().splitlines()[0])["started"]
    return found
