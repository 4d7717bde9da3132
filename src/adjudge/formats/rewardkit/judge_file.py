"""A judge TOML -> a judge, and how its criteria are aggregated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from adjudge.domain import (
    EFFORTS,
    GUARD,
    AgentJudge,
    AgentSpec,
    AnswerBy,
    Binary,
    Criterion,
    DecisionJudge,
    Guard,
    Levels,
    Likert,
    LLMJudge,
    MCPServer,
    Mode,
    ModelJudge,
    Numeric,
    Place,
    Reduce,
    RewardNode,
    RewardPart,
    Sandbox,
    Scale,
)
from adjudge.formats.rewardkit.reading import TomlFile, check_weight, read_rule
from adjudge.formats.rewardkit.schema import CriterionTable, JudgeFile, JudgeTable

AGENTS = ("claude-code", "codex", "fx")
AGENT_ATTEMPTS = 3
DEFAULT_JUDGE = "anthropic/claude-opus-5-5"
TYPES = ("binary", "likert", "numeric", "rubric")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_VERSION = re.compile(r"v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?\Z")
_SLUG = 40
"""Characters of a description that make a name."""


class Overrides(msgspec.Struct, frozen=True, kw_only=True):
    """What stands over every judge file of a run; empty where nothing does."""

    judge: str = ""
    model: str = ""
    effort: str = ""


class ReadJudge(msgspec.Struct, frozen=True):
    """A judge and the leaf that it is in the reward."""

    judge: ModelJudge
    leaf: RewardNode


def read_judge_file(file: TomlFile, name: str, overrides: Overrides) -> ReadJudge | None:
    """Read a judge TOML. `name` is what the judge is called in the suite. `None` when it cannot be used."""
    config = file.converter.struct(file.root, JudgeFile)
    if config is None:
        return None
    table = config.judge
    if not config.criterion and not file.holds("criterion", 0):
        file.error(["criterion"], "a judge needs at least one [[criterion]]")
    rule = read_rule(file, ["scoring"], config.scoring)
    check_weight(file, ["judge", "weight"], abs(table.weight), rule)
    who = overrides.judge or table.judge or DEFAULT_JUDGE
    written = table.judge or DEFAULT_JUDGE
    _check_table(file, table, written)
    criteria = _criteria(file, config, table)
    for index, criterion in enumerate(config.criterion):
        check_weight(file, ["criterion", index, "weight"], criterion.weight, rule)
    if not criteria:
        return None
    judge: ModelJudge
    if who in AGENTS:
        judge = _agent(file, name, table, criteria, overrides, who)
    elif who == "jev":
        judge = _decision(file, name, table, criteria, overrides)
    else:
        judge = _llm(file, name, table, criteria, overrides, who)
    parts = tuple(RewardPart(judge=name, criterion=c.name, weight=c.weight, optional=c.optional) for c in criteria)
    kind = "jev" if isinstance(judge, DecisionJudge) else "agent" if isinstance(judge, AgentJudge) else "llm"
    return ReadJudge(judge, RewardNode(name=file.stem, kind=kind, weight=float(table.weight), rule=rule, parts=parts))


def _common(file: TomlFile, name: str, table: JudgeTable) -> dict[str, Any]:
    line, column = file.place("judge")
    return {
        "name": name,
        "files": tuple(table.files),
        "reference": table.reference or "",
        "mode": Mode.INDIVIDUAL if table.mode == "individual" else Mode.BATCHED,
        "timeout_s": float(max(1, table.timeout)),
        "samples": max(1, table.samples),
        "reduce": Reduce.MEDIAN_LOW,
        "min_votes": 1,
        "html": table.html,
        "location": f"{file.converter.shown}:{line}:{column}",
    }


def _llm(
    file: TomlFile, name: str, table: JudgeTable, criteria: tuple[Criterion, ...], overrides: Overrides, who: str
) -> LLMJudge:
    guard = Guard(table.guard) if table.guard in tuple(Guard) else Guard.OFF
    return LLMJudge(
        criteria=criteria,
        model=who,
        effort=overrides.effort or table.reasoning_effort or "medium",
        guard=guard,
        trajectory=table.atif_dashed or table.atif_trajectory or "",
        instructions=_template(file, table),
        **_common(file, name, table),
    )


def _agent(
    file: TomlFile, name: str, table: JudgeTable, criteria: tuple[Criterion, ...], overrides: Overrides, who: str
) -> AgentJudge:
    """An agent that looks at the workspace itself. It is told of files, a reference and a trajectory by their paths."""
    servers = []
    for index, server in enumerate(table.mcp_servers):
        keys: list[str | int] = ["judge", "mcp_servers", index]
        if who == "codex" and server.transport == "sse":
            file.error([*keys, "transport"], "codex takes no sse servers", hint="stdio or streamable-http")
        if who == "fx" and server.allowed_tools:
            file.error([*keys, "allowed_tools"], "fx cannot be held to some of a server's tools")
        servers.append(
            MCPServer(
                name=server.name,
                transport=server.transport if server.transport in ("stdio", "sse") else "http",
                url=server.url or "",
                command=server.command or "",
                args=tuple(server.args),
                allowed_tools=tuple(server.allowed_tools),
                env=server.env,
                headers=server.headers,
                startup_timeout_s=float(server.startup_timeout),
                tool_timeout_s=float(server.tool_timeout),
            )
        )
    return AgentJudge(
        criteria=criteria,
        agent=AgentSpec(name=who, version=(table.version or "").removeprefix("v")),
        model=overrides.model or table.model or "",
        effort=overrides.effort or table.reasoning_effort or "",
        guard=Guard(table.guard) if table.guard in tuple(Guard) else Guard.OFF,
        trajectory=table.atif_dashed or table.atif_trajectory or "",
        instructions=_template(file, table),
        place=Place.FOLDER,
        answer_by=AnswerBy.STRUCTURED,
        isolated=table.isolated,
        cwd=table.cwd or "",
        mcp_servers=tuple(servers),
        sandbox=Sandbox(table.sandbox) if table.sandbox in tuple(Sandbox) else Sandbox.AUTO,
        attempts=AGENT_ATTEMPTS,
        **_common(file, name, table),
    )


def _decision(
    file: TomlFile, name: str, table: JudgeTable, criteria: tuple[Criterion, ...], overrides: Overrides
) -> DecisionJudge:
    for index, criterion in enumerate(criteria):
        if not isinstance(criterion.scale, Binary | Levels):
            file.error(["criterion", index, "type"], "a JEV judge answers binary and rubric criteria only")
    if not (table.files or table.reference or any(criterion.files for criterion in criteria)):
        file.error(["judge", "files"], "a JEV judge needs files to judge", hint="it is shown nothing else")
    for key, given in (
        ("atif-trajectory", table.atif_dashed),
        ("atif_trajectory", table.atif_trajectory),
        ("prompt_template", table.prompt_template),
        ("reasoning_effort", table.reasoning_effort),
        ("guard", table.guard != "off"),
    ):
        if given:
            file.error(["judge", key], "is not for a JEV judge")
    return DecisionJudge(criteria=criteria, model=overrides.model or table.model or "", **_common(file, name, table))


def _check_table(file: TomlFile, table: JudgeTable, who: str) -> None:
    file.one_of(["judge", "mode"], table.mode, ["batched", "individual"])
    file.one_of(["judge", "guard"], table.guard, [guard.value for guard in Guard])
    file.one_of(["judge", "html"], table.html, ["text", "source"])
    file.one_of(["judge", "sandbox"], table.sandbox, [sandbox.value for sandbox in Sandbox])
    if table.reasoning_effort is not None:
        levels = ("auto", *EFFORTS) if who == "fx" else EFFORTS
        file.one_of(["judge", "reasoning_effort"], table.reasoning_effort, levels)
    if table.timeout <= 0:
        file.error(["judge", "timeout"], f"expected a number of seconds above 0, got {table.timeout}")
    if table.samples < 1:
        file.error(["judge", "samples"], f"expected 1 or more, got {table.samples}")
    if table.version is not None and not _VERSION.match(table.version):
        file.error(["judge", "version"], f"{table.version!r} is no version such as 1.2.3")
    if table.atif_dashed is not None and table.atif_trajectory is not None:
        file.error(["judge", "atif_trajectory"], "is the same as atif-trajectory; give one of them")
    if who not in (*AGENTS, "jev") and table.model is not None:
        file.warn(["judge", "model"], "is for agents and JEV; the model of an LLM judge is the key judge")
    if who not in AGENTS:
        for key, given in (("isolated", table.isolated), ("cwd", table.cwd), ("mcp_servers", table.mcp_servers)):
            if given:
                file.warn(["judge", key], "is for agent judges, and does nothing here")
    for index, server in enumerate(table.mcp_servers):
        keys: list[str | int] = ["judge", "mcp_servers", index]
        if file.one_of([*keys, "transport"], server.transport, ["stdio", "sse", "streamable-http", "http"]):
            needed = "command" if server.transport == "stdio" else "url"
            if not getattr(server, needed):
                file.error(keys, f"a server with transport {server.transport} needs the key {needed}")


def _template(file: TomlFile, table: JudgeTable) -> str:
    if table.prompt_template is None:
        return ""
    keys: list[str | int] = ["judge", "prompt_template"]
    path = file.path.parent / table.prompt_template
    if path.suffix not in (".txt", ".md"):
        file.error(keys, "expected a .txt or .md file")
        return ""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        file.error(keys, f"{table.prompt_template} cannot be read: {reason}", hint="paths start at this file's folder")
        return ""
    if "{criteria}" not in text:
        file.error(keys, f"{table.prompt_template} must contain {{criteria}}, where the criteria are put")
    return text


def _criteria(file: TomlFile, config: JudgeFile, table: JudgeTable) -> tuple[Criterion, ...]:
    made: list[Criterion] = []
    taken: set[str] = {c.name for c in config.criterion if c.name}
    if table.guard != "off":
        taken.add(GUARD)
    named: set[str] = set()
    for index, criterion in enumerate(config.criterion):
        keys: list[str | int] = ["criterion", index]
        if not file.holds(*keys, "description"):
            file.error(keys, "the key 'description' is missing")
        name = criterion.name or _slug(criterion.description, index, taken)
        taken.add(name)
        if criterion.name is not None:
            _check_name(file, criterion.name, index, named, guarded=table.guard != "off")
        if criterion.files and table.mode != "individual":
            file.error([*keys, "files"], 'files of a criterion need mode = "individual"')
        scale = _scale(file, index, criterion)
        if scale is None:
            continue
        made.append(
            Criterion(
                name=name,
                description=criterion.description,
                scale=scale,
                weight=float(criterion.weight),
                negate=_flag(criterion.negate, criterion.annotations, "type", "negative"),
                optional=_flag(criterion.optional, criterion.annotations, "importance", "optional"),
                files=tuple(criterion.files),
                id=criterion.id or "",
            )
        )
    return tuple(made)


def _check_name(file: TomlFile, name: str, index: int, named: set[str], *, guarded: bool) -> None:
    keys: list[str | int] = ["criterion", index, "name"]
    if not _NAME.match(name):
        file.error(keys, f"{name!r}: a name is 1 to 64 letters, digits, _ and -")
    elif name in named:
        file.error(keys, f"two criteria are called {name!r}")
    elif guarded and name == GUARD:
        file.error(keys, "the name guard is taken while the judge is guarded")
    named.add(name)


def _slug(description: str, index: int, taken: set[str]) -> str:
    """A name from the description that no other criterion has."""
    slug = re.sub(r"[^a-z0-9]+", "_", description[:_SLUG].lower()).strip("_") or f"criterion_{index}"
    name, number = slug, 1
    while name in taken:
        number += 1
        name = f"{slug}_{number}"
    return name


def _scale(file: TomlFile, index: int, criterion: CriterionTable) -> Scale | None:
    keys: list[str | int] = ["criterion", index]
    if not file.one_of([*keys, "type"], criterion.type, TYPES):
        return None
    try:
        if criterion.type == "likert":
            return Likert(criterion.points)
        if criterion.type == "numeric":
            return Numeric(float(criterion.min), float(criterion.max))
        if criterion.type == "rubric":
            if not 2 <= len(criterion.levels) <= 10:
                raise ValueError(f"expected 2 to 10 levels, got {len(criterion.levels)}")
            return Levels(tuple(criterion.levels))
    except ValueError as error:
        key = {"likert": "points", "numeric": "max", "rubric": "levels"}[criterion.type]
        file.error([*keys, key], str(error))
        return None
    return Binary()


def _flag(given: bool | None, annotations: Mapping[str, Any], key: str, word: str) -> bool:
    return given if given is not None else word in str(annotations.get(key, "")).lower()
