"""The keys of judge TOMLs and of reward.toml: what each may hold. Rules between keys are in the readers."""

from __future__ import annotations

from typing import Any

import msgspec

Number = int | float


class MCPServerTable(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    transport: str = "sse"
    url: str | None = None
    command: str | None = None
    args: list[str] = []
    allowed_tools: list[str] = []
    env: dict[str, str] = {}
    headers: dict[str, str] = {}
    startup_timeout: Number = 0
    tool_timeout: Number = 0


class JudgeTable(msgspec.Struct, forbid_unknown_fields=True, rename={"atif_dashed": "atif-trajectory"}):
    judge: str | None = None
    model: str | None = None
    version: str | None = None
    files: list[str] = []
    mode: str = "batched"
    timeout: int = 300
    reasoning_effort: str | None = None
    isolated: bool = False
    cwd: str | None = None
    reference: str | None = None
    atif_dashed: str | None = None
    atif_trajectory: str | None = None
    mcp_servers: list[MCPServerTable] = []
    weight: Number = 1.0
    prompt_template: str | None = None
    samples: int = 1
    guard: str = "off"
    html: str = "text"
    sandbox: str = "auto"


class CriterionTable(msgspec.Struct, forbid_unknown_fields=True):
    description: str = ""  # must be there: the reader says so, since a criterion left out would shift those after it
    type: str = "binary"
    name: str | None = None
    id: str | None = None
    points: int = 5
    min: Number = 0.0
    max: Number = 1.0
    levels: list[str] = []
    weight: Number = 1.0
    files: list[str] = []
    negate: bool | None = None
    optional: bool | None = None
    annotations: dict[str, Any] = {}


class ScoringTable(msgspec.Struct, forbid_unknown_fields=True):
    aggregation: str = "weighted-mean"
    threshold: Number = 0.5
    clamp: list[Number] | None = None


class JudgeFile(msgspec.Struct, forbid_unknown_fields=True):
    judge: JudgeTable = msgspec.field(default_factory=JudgeTable)
    criterion: list[CriterionTable] = []
    scoring: ScoringTable = msgspec.field(default_factory=ScoringTable)


class RewardTable(msgspec.Struct, forbid_unknown_fields=True):
    name: str | None = None
    aggregation: str = "weighted-mean"
    threshold: Number = 0.5
    weights: dict[str, Number] = {}
    gate: str | list[str] = []
    gate_threshold: Number = 1.0
    clamp: list[Number] | None = None


class RewardFile(msgspec.Struct, forbid_unknown_fields=True):
    reward: list[RewardTable] = []
    scoring: dict[str, ScoringTable] = {}
