"""Agents: command line programs that use tools, as judges or as the system under test. Data only."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


class Sandbox(StrEnum):
    """How far an agent must be confined."""

    AUTO = "auto"
    """By the operating system where that is possible; else by copies and the agent's own rules, and that is said."""
    STRICT = "strict"
    """By the operating system, or not at all: then the judge has no verdict."""
    OFF = "off"
    """By the agent's own rules alone."""


class Place(StrEnum):
    """What an agent judge works on."""

    STAGED = "staged"
    """Copies of the case's outputs, in a folder made for it."""
    EMPTY = "empty"
    """A folder with nothing in it: everything that there is to see is in the prompt."""
    FOLDER = "folder"
    """The case's folder, where it lies or as a view of it."""


class AnswerBy(StrEnum):
    """How an agent hands in its verdict."""

    FILE = "file"
    """It writes `output/score.json`; what it says last stands in for a file that is not there."""
    STRUCTURED = "structured"
    """By its own means for structured output where it has them, else as JSON in what it says last."""
    SCORE_01 = "score_01"
    """It says `{"score": 0 or 1, "reason": ...}` last."""


class MCPServer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A server whose tools an agent may call.

    Attributes:
        transport: `stdio` (needs `command`), `sse` or `http` (need `url`).
        allowed_tools: The tools that may be called; empty for all.
        env: Variables of a stdio server; `$NAME` in it, in `command`, `args`, `url` and `headers` is replaced.
        startup_timeout_s: For its start; 0 for the agent's own limit. `tool_timeout_s`: for one call.
    """

    name: str
    transport: str = "stdio"
    url: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    env: dict[str, str] = {}
    headers: dict[str, str] = {}
    startup_timeout_s: float = 0.0
    tool_timeout_s: float = 0.0


class PromptBy(StrEnum):
    """How a program is handed its prompt."""

    STDIN = "stdin"
    ARGUMENT = "argument"
    FILE = "file"
    """The path of a file that holds it stands where an argument would hold the prompt."""


class CommandTemplate(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The command line of any program, in parts.

    `{prompt}`, `{model}`, `{effort}`, `{workspace}`, `{output_dir}`, `{timeout}` and `{max_budget_usd}` within an
    argument of `command` are replaced. Else the prompt stands where `prompt_position` says.

    Attributes:
        prompt_flag: Stands before the prompt; empty for none.
        prompt_position: `tail` or `after_command`.
        model_flag: Stands before the model; empty for programs that take none.
        model_env: Variables that are set to the model as well.
        default_model: When nobody names one.
        effort_flag: Arguments with `{effort}`; empty for programs that take none.
        default_effort: When nobody names one.
    """

    command: tuple[str, ...]
    shared_flags: tuple[str, ...] = ()
    prompt_by: PromptBy = PromptBy.ARGUMENT
    prompt_flag: str = ""
    prompt_position: str = "tail"
    model_flag: str = ""
    model_env: tuple[str, ...] = ()
    default_model: str = ""
    effort_flag: tuple[str, ...] = ()
    default_effort: str = ""


class AgentSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which agent is run, and how it is set up.

    Attributes:
        name: Of the registry (`claude-code`, `codex`, ...), or any name with a `template`.
        template: The command line of a program that the registry does not know, or that is started otherwise.
        version: The version that must be installed; empty for any.
        env: Variables set for it. `$NAME` is replaced by the variable of the environment, which it may see then.
        instructions: Stand before everything else that it is told.
        own_home: It sees the user's home folder, with its settings and logins, instead of an empty one.
        effort: Reasoning effort; permission_mode, plugin_dirs, settings: of Claude Code as the agent under test.
    """

    name: str = "claude-code"
    template: CommandTemplate | None = None
    version: str = ""
    env: dict[str, str] = {}
    instructions: str = ""
    own_home: bool = False
    effort: str = ""
    permission_mode: str = ""
    plugin_dirs: tuple[str, ...] = ()
    settings: dict[str, Any] = {}


AGENTS = (
    "claude-code",
    "codex",
    "gemini",
    "opencode",
    "cursor",
    "openhands",
    "grok",
    "pi",
    "fx",
)
"""The agents that can be named without a template."""
RESPONSES_API = "responses-api"
"""The name of the agent that is a model in a container of its provider's: no program of this machine, and no judge."""
