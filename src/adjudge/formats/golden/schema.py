"""The files of a folder of golden tasks, key by key."""

from __future__ import annotations

from typing import Any

import msgspec

Number = int | float


class TaskFile(msgspec.Struct, forbid_unknown_fields=True):
    """`tasks/<id>/task.yaml`."""

    id: str
    repo: str
    prompt: str
    revision: str = "HEAD"
    expected_files_touched: list[str] = []
    max_files_touched: int | None = None
    max_lines_changed: int | None = None
    install: list[str] = []
    install_timeout: Number = 600
    checks: dict[str, str] = {}
    checks_timeout: Number = 600
    tags: list[str] = []
    description: str = ""


class AgentFile(msgspec.Struct, forbid_unknown_fields=True):
    """`agent:` of `golden.yaml`."""

    type: str = "claude-code"
    command: str | list[str] | None = None
    model: str = ""
    effort: str = ""
    env: dict[str, str] = {}
    permission_mode: str = ""
    timeout: Number = 1800
    max_budget_usd: Number | None = None


class JudgeFile(msgspec.Struct, forbid_unknown_fields=True):
    """`judge:` of `golden.yaml`."""

    model: str = ""
    samples: int = 3
    max_tokens: int | None = None
    effort: str = ""
    timeout: Number = 300


class ShownFile(msgspec.Struct, forbid_unknown_fields=True):
    """`shown:` of `golden.yaml`: characters of the trace that the judge is shown."""

    diff: int = 20_000
    final_message: int = 4_000
    tool_calls: int = 4_000


class SuiteFile(msgspec.Struct, forbid_unknown_fields=True):
    """`golden.yaml`, which need not be there."""

    name: str = ""
    description: str = ""
    agent: AgentFile | str | None = None
    judge: JudgeFile | None = None
    checks: dict[str, str] = {}
    shown: ShownFile | None = None
    max_drop: Number = 0.3
    gate: str = "interval"
    parallelism: int = 1
    install: list[str] = []


class GoldenFile(msgspec.Struct, forbid_unknown_fields=True):
    """`tasks/<id>/golden.json`: a reference solution, and who wrote it."""

    patch: str = ""
    patch_file: str = ""
    final_message: str = ""
    author: str = ""
    notes: Any = None
