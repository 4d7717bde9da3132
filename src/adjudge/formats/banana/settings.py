"""`.eval-banana/config.toml`, the environment and flags: what is set, and by whom. Flags stand over the environment,
that over the file, and that over the defaults."""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import Problem
from adjudge.formats.convert import Converter
from adjudge.located import Located, parse_toml, read_text

CONFIG = ".eval-banana/config.toml"
EXCLUDED = (".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", "dist", "build")
Number = int | float


class CoreTable(msgspec.Struct, forbid_unknown_fields=True):
    output_dir: str | None = None
    pass_threshold: Number | None = None
    llm_max_input_chars: int | None = None
    max_parallel_checks: int | None = None
    script_timeout_seconds: Number | None = None
    isolation: str | None = None


class DiscoveryTable(msgspec.Struct, forbid_unknown_fields=True):
    exclude_dirs: list[str] | None = None


class HarnessTable(msgspec.Struct, forbid_unknown_fields=True):
    agent: str | None = None
    model: str | None = None
    reasoning_effort: str | None = None
    timeout_seconds: Number | None = None
    skills_dir: str | None = None
    own_home: bool | None = None
    sandbox: str | None = None
    env: dict[str, str] | None = None


class AgentTable(msgspec.Struct, forbid_unknown_fields=True):
    command: list[str] | None = None
    shared_flags: list[str] | None = None
    prompt_flag: str | None = None
    prompt_position: str | None = None
    prompt_by: str | None = None
    model_flag: str | None = None
    model_env_vars: list[str] | None = None
    default_model: str | None = None
    reasoning_effort: str | None = None
    reasoning_effort_flag: list[str] | None = None
    provider_env: dict[str, str] | None = None


class ConfigFile(msgspec.Struct, forbid_unknown_fields=True):
    core: CoreTable | None = None
    discovery: DiscoveryTable | None = None
    harness: HarnessTable | None = None
    agents: dict[str, AgentTable] | None = None


class Flags(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says; `None` where it says nothing."""

    check_dir: str | None = None
    check_id: str | None = None
    tags: tuple[str, ...] = ()
    output_dir: str | None = None
    pass_threshold: float | None = None
    agent: str | None = None
    model: str | None = None
    reasoning_effort: str | None = None
    timeout_seconds: float | None = None
    max_parallel_checks: int | None = None
    project_config: bool = True


class Settings(msgspec.Struct, kw_only=True):
    """What holds."""

    root: Path
    output_dir: str = ".eval-banana/results"
    pass_threshold: float = 1.0
    max_parallel_checks: int = 4
    script_timeout_s: float = 300.0
    spawn: bool = False
    exclude_dirs: tuple[str, ...] = EXCLUDED
    agent: str = ""
    model: str = ""
    reasoning_effort: str = ""
    timeout_s: float = 300.0
    own_home: bool = False
    sandbox: str = "auto"
    env: dict[str, str] = {}
    agents: dict[str, AgentTable] = {}


def find_root(start: Path, *, project_config: bool = True) -> Path:
    """The nearest folder at or above `start` that holds a config, else `start` itself."""
    start = start.resolve()
    if project_config:
        for folder in (start, *start.parents):
            if (folder / CONFIG).is_file():
                return folder
    return start


def read_settings(start: Path, flags: Flags, problems: list[Problem]) -> Settings:
    """Put together what holds; what is wrong goes to `problems`."""
    root = find_root(start, project_config=flags.project_config)
    settings = Settings(root=root)
    path = root / CONFIG
    if flags.project_config and path.is_file():
        _from_file(path, settings, problems)
    written = settings.agent
    _from_environment(settings, problems)
    for name in ("output_dir", "pass_threshold", "agent", "model", "reasoning_effort", "max_parallel_checks"):
        if (value := getattr(flags, name)) is not None:
            setattr(settings, name, value)
    if flags.timeout_seconds is not None:
        settings.timeout_s = flags.timeout_seconds
    if settings.agent != written and written:
        _forget_the_files_model(settings, flags)
    _check(settings, problems)
    return settings


def _from_file(path: Path, settings: Settings, problems: list[Problem]) -> None:
    text = read_text(path, CONFIG)
    if isinstance(text, Problem):
        problems.append(text)
        return
    root, broken = parse_toml(text, CONFIG)
    problems += broken
    if root is None:
        return
    converter = Converter(CONFIG)
    _explain_old(root, converter)
    config = converter.struct(root, ConfigFile) or ConfigFile()
    problems += converter.problems
    core, harness = config.core or CoreTable(), config.harness or HarnessTable()
    given: dict[str, Any] = {
        "output_dir": core.output_dir or None,
        "pass_threshold": core.pass_threshold,
        "max_parallel_checks": core.max_parallel_checks,
        "script_timeout_s": core.script_timeout_seconds,
        "exclude_dirs": _tuple(config.discovery.exclude_dirs if config.discovery else None),
        "agent": harness.agent,
        "model": harness.model,
        "reasoning_effort": harness.reasoning_effort,
        "timeout_s": harness.timeout_seconds,
        "own_home": harness.own_home,
        "sandbox": harness.sandbox,
        "env": harness.env,
        "agents": config.agents,
    }
    for name, value in given.items():
        if value is not None:
            setattr(settings, name, value)
    if core.isolation not in (None, "fork", "spawn"):
        problems.append(
            Problem(file=CONFIG, key="core.isolation", message=f"must be fork or spawn, got {core.isolation!r}")
        )
    settings.spawn = core.isolation == "spawn"


def _explain_old(root: Located, converter: Converter) -> None:
    """Keys of older versions: said what became of them, and taken out."""
    if "llm" in root.value:
        converter.add_at(root.keys["llm"], "llm", "is gone: judges are agents now", hint="[harness] names one")
        del root.value["llm"]
    harness = root.value.get("harness")
    if harness is not None and isinstance(harness.value, dict) and "skip" in harness.value:
        hint = "run with --tag to leave checks out"
        converter.add_at(harness.keys["skip"], "harness.skip", "is gone", hint=hint)
        del harness.value["skip"]


def _tuple(value: list[str] | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value)


def _from_environment(settings: Settings, problems: list[Problem]) -> None:
    names: Mapping[str, tuple[str, type]] = {
        "EVAL_BANANA_OUTPUT_DIR": ("output_dir", str),
        "EVAL_BANANA_PASS_THRESHOLD": ("pass_threshold", float),
        "EVAL_BANANA_MAX_PARALLEL_CHECKS": ("max_parallel_checks", int),
        "EVAL_BANANA_HARNESS_AGENT": ("agent", str),
        "EVAL_BANANA_HARNESS_MODEL": ("model", str),
        "EVAL_BANANA_HARNESS_REASONING_EFFORT": ("reasoning_effort", str),
        "EVAL_BANANA_HARNESS_TIMEOUT_SECONDS": ("timeout_s", float),
    }
    for variable, (name, kind) in names.items():
        text = os.environ.get(variable)
        if text is None or (text == "" and kind is not str):
            continue
        try:
            setattr(settings, name, kind(text))
        except ValueError:
            problems.append(Problem(key=variable, message=f"must be a number, got {text!r}"))


def _forget_the_files_model(settings: Settings, flags: Flags) -> None:
    """Model and effort of the file are those of its agent, and not of another that the command line names."""
    if flags.model is None and "EVAL_BANANA_HARNESS_MODEL" not in os.environ:
        settings.model = ""
    if flags.reasoning_effort is None and "EVAL_BANANA_HARNESS_REASONING_EFFORT" not in os.environ:
        settings.reasoning_effort = ""


def _check(settings: Settings, problems: list[Problem]) -> None:
    threshold = settings.pass_threshold
    if not isfinite(threshold) or not 0 < threshold <= 1:
        hint = f"{threshold:g}% is {threshold / 100:g}" if 1 < threshold <= 100 else "1 asks that every check passes"
        problems.append(
            Problem(key="pass_threshold", message=f"must be above 0, at most 1, got {threshold:g}", hint=hint)
        )
    for name in ("max_parallel_checks", "timeout_s", "script_timeout_s"):
        value = getattr(settings, name)
        if not isfinite(value) or value <= 0:
            problems.append(Problem(key=name.removesuffix("_s"), message=f"must be above 0, got {value:g}"))
    if settings.sandbox not in ("auto", "strict", "off"):
        problems.append(
            Problem(key="harness.sandbox", message=f"must be auto, strict or off, got {settings.sandbox!r}")
        )
