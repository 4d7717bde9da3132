"""The files of a folder of golden tasks, key by key."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

Number = int | float
_Doc = msgspec.Meta


class TaskFile(msgspec.Struct, forbid_unknown_fields=True):
    """`tasks/<id>/task.yaml`."""

    id: Annotated[str, _Doc(description="Scores are kept by it: letters, digits, _, . and -.")]
    repo: Annotated[str, _Doc(description="A folder, a bundle or a URL. A path starts here, then beside tasks/.")]
    prompt: Annotated[str, _Doc(description="What the agent is asked.")]
    revision: Annotated[str, _Doc(description="Branch, tag or commit that the work starts from.")] = "HEAD"
    expected_files_touched: Annotated[list[str], _Doc(description="Each must be in the patch.")] = []
    max_files_touched: Annotated[int | None, _Doc(description="No patch touches more files.")] = None
    max_lines_changed: Annotated[int | None, _Doc(description="No patch adds and removes more lines.")] = None
    install: Annotated[list[str], _Doc(description="Run by bash in every fresh checkout, before the agent.")] = []
    install_timeout: Annotated[Number, _Doc(description="Seconds, for each of them.")] = 600
    checks: Annotated[dict[str, str | bool], _Doc(description="Built-in check -> hard, soft or off.")] = {}
    checks_timeout: Annotated[Number, _Doc(description="Seconds, for checks.py.")] = 600
    tags: Annotated[list[str], _Doc(description="For --tag.")] = []
    description: Annotated[str, _Doc(description="For people; neither agent nor judge sees it.")] = ""


class AgentFile(msgspec.Struct, forbid_unknown_fields=True):
    """`agent:` of `golden.yaml`."""

    type: Annotated[str, _Doc(description="claude-code, codex, gemini, opencode, ..., or cli.")] = "claude-code"
    command: Annotated[
        str | list[str] | None, _Doc(description="Of the cli agent, which reads the prompt on standard input.")
    ] = None
    model: Annotated[str, _Doc(description="Its own default when empty.")] = ""
    effort: Annotated[str, _Doc(description="Reasoning effort.")] = ""
    env: Annotated[dict[str, str], _Doc(description="Set for the agent; $NAME is replaced.")] = {}
    permission_mode: Annotated[str, _Doc(description="Of Claude Code, which edits nothing by default.")] = "acceptEdits"
    allow: Annotated[list[str], _Doc(description="Tools that Claude Code may use besides, as it spells them.")] = []
    deny: Annotated[list[str], _Doc(description="Tools that it may not use.")] = []
    timeout: Annotated[Number, _Doc(description="Seconds, for one task.")] = 1800
    max_budget_usd: Annotated[Number | None, _Doc(description="For one task, where the agent takes one.")] = None


class JudgeFile(msgspec.Struct, forbid_unknown_fields=True):
    """`judge:` of `golden.yaml`."""

    model: Annotated[str, _Doc(description="EVAL_JUDGE_MODEL, else claude-sonnet-4-6, when empty.")] = ""
    samples: Annotated[int, _Doc(description="Answers for each task.")] = 3
    max_tokens: Annotated[int | None, _Doc(description="Cap on an answer; 200 a dimension, at least 800.")] = None
    effort: Annotated[str, _Doc(description="Reasoning effort.")] = ""
    timeout: Annotated[Number, _Doc(description="Seconds for one answer, retries included.")] = 300


class ShownFile(msgspec.Struct, forbid_unknown_fields=True):
    """`shown:` of `golden.yaml`: characters of the trace that the judge is shown."""

    diff: Annotated[int, _Doc(description="Cut by whole hunks.")] = 20_000
    final_message: Annotated[int, _Doc(description="Of the agent's last words.")] = 4_000
    tool_calls: Annotated[int, _Doc(description="Names and arguments; never what a tool answered.")] = 4_000


class SuiteFile(msgspec.Struct, forbid_unknown_fields=True):
    """`golden.yaml`, which need not be there."""

    name: Annotated[str, _Doc(description="The folder's name when empty.")] = ""
    description: Annotated[str, _Doc(description="For people.")] = ""
    agent: Annotated[AgentFile | str | None, _Doc(description="Who works: a type, or its settings.")] = None
    judge: Annotated[JudgeFile | None, _Doc(description="Who scores by rubric.md.")] = None
    checks: Annotated[
        dict[str, str | bool], _Doc(description="Built-in check -> hard, soft or off, for every task.")
    ] = {}
    shown: Annotated[ShownFile | None, _Doc(description="How much of a trace the judge is shown.")] = None
    max_drop: Annotated[Number, _Doc(description="How far a mean may fall below the baseline's.")] = 0.3
    gate: Annotated[str, _Doc(description="interval: a fall must also be larger than chance; point: it need not.")] = (
        "interval"
    )
    parallelism: Annotated[int, _Doc(description="Most tasks under way at once.")] = 1
    install: Annotated[list[str], _Doc(description="Run before each task's own.")] = []


def level(given: str | bool) -> str:
    """The value of a key of `checks`: YAML reads a bare `off` as false."""
    return given if isinstance(given, str) else "on" if given else "off"


class GoldenFile(msgspec.Struct, forbid_unknown_fields=True):
    """`tasks/<id>/golden.json`: a reference solution, and who wrote it."""

    patch: Annotated[str, _Doc(description="The solution as a unified diff.")] = ""
    patch_file: Annotated[str, _Doc(description="Or a file beside golden.json that holds it.")] = ""
    final_message: Annotated[str, _Doc(description="What its author would say of it.")] = ""
    author: Annotated[str, _Doc(description="A person, or the model that wrote it.")] = ""
    notes: Annotated[Any, _Doc(description="Anything, for people.")] = None


SCHEMAS = {"golden_yaml": SuiteFile, "task_yaml": TaskFile}


def json_schema(name: str) -> dict[str, Any]:
    """JSON Schema (2020-12) of one of `SCHEMAS`, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{name.replace('_', '.')} of golden coding tasks, as adjudge reads it",
        **msgspec.json.schema(SCHEMAS[name]),
    }
