"""The texts that `adjudge init` writes, by format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Starter(NamedTuple):
    """What is written for a format: texts by path, which of these can be run, which are kept where they are there, and
    what the next command is."""

    files: Mapping[str, str | bytes]
    verb: str
    target: str
    flags: str = ""
    executable: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()


_SUITE = """\
# An evaluation suite. `adjudge validate` checks it, `adjudge plan` shows what it would cost, `adjudge run` runs it.
name: starter
description: What this suite is for, in a line.

dataset:
  path: cases            # one sub-folder a case: input.yaml, annotations.yaml, and what was made below output/

outputs:
  - path: output         # folder (or file) below each case that holds what is judged

judges:
  # A check is the body of a Python function. It sees `outputs` and `arguments` and returns (value, rationale).
  - name: has_answer
    check: |
      text = outputs["files"].get("output/answer.md", "")
      if len(text.split()) < arguments["min_words"]:
          return False, f"only {len(text.split())} words"
      return True, "long enough"
    arguments:
      min_words: 5

  # An LLM judge asks a model. Uncomment it and set ANTHROPIC_API_KEY (or OPENAI_API_KEY and another model).
  # - name: answers_the_question
  #   model: claude-sonnet-5-5
  #   feedback_type: bool          # pass or fail; without it, declare score_range: [1, 5]
  #   prompt: |
  #     Does the output answer what was asked, without inventing facts?
  #
  #     {{ inputs }}
  #
  #     {{ outputs }}

thresholds:
  has_answer:
    min_pass_rate: 1.0   # reaching it exactly passes
"""

_EVAL_YAML = {
    ".gitignore": ".adjudge/\n",
    "eval.yaml": _SUITE,
    "cases/first-case/input.yaml": "request: What is the capital of Austria, and on which river does it lie?\n",
    "cases/first-case/annotations.yaml": (
        "# What people know about this case; no agent sees it. `acceptable` is set beside every judge in the summary.\n"
        "acceptable: true\n"
    ),
    "cases/first-case/output/answer.md": "The capital of Austria is Vienna, which lies on the Danube.\n",
}

_TASK_TOML = """\
# A Harbor task whose tests/ are judged by `adjudge rewardkit`.
version = "1.0"

[verifier]
timeout_sec = 600.0
# An LLM judge needs its key here:
# env = { ANTHROPIC_API_KEY = "${ANTHROPIC_API_KEY}" }

[agent]
timeout_sec = 600.0

[environment]
build_timeout_sec = 600.0
"""

_DOCKERFILE = """\
FROM python:3.12-slim

# Installed here, so that judging needs no network and does not wait.
RUN pip install --no-cache-dir adjudge

WORKDIR /app
"""

_TEST_SH = """\
#!/usr/bin/env bash
# Harbor runs this after the agent, with this folder at /tests: it judges /app and writes /logs/verifier/reward.json.
# Elsewhere: tests/test.sh --workspace DIR --output FILE, with absolute paths
set -euo pipefail
cd "$(dirname "$0")"   # not in /app, where the agent may have put modules of its own
command -v adjudge > /dev/null || PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --quiet adjudge
adjudge rewardkit "$PWD" "$@"
"""

_CHECKS = '''\
"""What is checked without a model. Everything in one file makes one score: the mean by weight."""

from pathlib import Path

import rewardkit as rk
from rewardkit import criterion

# A built-in criterion.
rk.file_contains("answer.md", "Vienna", weight=2.0)


@criterion(description="the answer has at most 50 words")
def is_short(workspace: Path) -> dict[str, object]:
    # An exception is no score and leaves the reward without a value, so work that is not there is an answer of its own.
    answer = workspace / "answer.md"
    if not answer.is_file():
        return {"score": False, "reasoning": "there is no answer.md"}
    words = len(answer.read_text(encoding="utf-8", errors="replace").split())
    return {"score": words <= 50, "reasoning": f"{words} words"}
'''

_QUALITY = """\
# An LLM judge. Call this file quality.toml and give the verifier a key in task.toml.
[judge]
judge = "anthropic/claude-opus-5-5"
files = ["answer.md"]     # relative to the workspace
guard = "flag"            # also ask whether the work tries to instruct the judge

[[criterion]]
name = "answers"
description = "The answer names both the capital and the river."

[[criterion]]
name = "clear"
description = "The answer is easy to read."
type = "rubric"
levels = ["hard to follow", "understandable", "clear at once"]
"""

_SOLVE = """\
#!/usr/bin/env bash
set -euo pipefail
echo "The capital of Austria is Vienna, which lies on the Danube." > answer.md
"""

_REWARDKIT = {
    "task.toml": _TASK_TOML,
    "instruction.md": (
        "Write to `/app/answer.md`, in at most 50 words, what the capital of Austria is and on which river it lies.\n"
    ),
    "environment/Dockerfile": _DOCKERFILE,
    "tests/test.sh": _TEST_SH,
    "tests/checks.py": _CHECKS,
    "tests/quality.toml.example": _QUALITY,
    "solution/solve.sh": _SOLVE,
}

STARTERS = {
    "eval_yaml": Starter(_EVAL_YAML, verb="run", target="eval.yaml", kept=frozenset({".gitignore"})),
    "rewardkit": Starter(
        _REWARDKIT,
        verb="validate",
        target="tests",
        executable=frozenset({"tests/test.sh", "solution/solve.sh"}),
    ),
}


BANANA_CONFIG = """\
# Settings of the checks in eval_checks/. Flags and EVAL_BANANA_* variables stand over this file.

[core]
output_dir = ".eval-banana/results"
pass_threshold = 1.0
max_parallel_checks = 4
# script_timeout_seconds = 300
# isolation = "fork"        # "spawn" starts a new interpreter for every script

[harness]
# Who judges the harness_judge checks: claude, codex, gemini, grok, openhands, opencode, pi, cursor, or a name of
# [agents.NAME] below.
agent = "claude"
timeout_seconds = 300
# model = "..."
# reasoning_effort = "high"
# own_home = false          # true shows the agent your home folder, with its logins
# sandbox = "auto"          # "strict" refuses to run where nothing confines the agent

# [harness.env]
# NAME = "value"

# [agents.mine]
# command = ["my-agent", "--headless"]
# prompt_by = "stdin"       # or argument, file
# model_flag = "--model"
# provider_env = { KEY = "{env:MY_KEY}" }

[discovery]
exclude_dirs = [".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", "dist", "build"]
"""
