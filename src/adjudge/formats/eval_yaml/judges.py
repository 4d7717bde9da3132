"""The `judges:` list: types and their precedence, and every rule between keys."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import (
    BUILTIN_JUDGES,
    Binary,
    BuiltinJudge,
    CheckJudge,
    CodeJudge,
    Criterion,
    Judge,
    LLMJudge,
    Numeric,
    Problem,
    Scale,
    closest,
    compile_snippet,
)
from adjudge.formats.convert import Converter, nearest
from adjudge.formats.eval_yaml.python import code_problem, unknown_names
from adjudge.formats.eval_yaml.schema import JudgeConfig
from adjudge.located import Located, read_text
from adjudge.prompts import mentions, shows_work, template_problem

MAX_SAMPLES = 1000
DEFAULT_SCALE = (1, 5)
RUBRIC_TAIL = "\n\n# Agent Response to Evaluate\n\n{{ conversation }}"

_LLM_KEYS = ("prompt", "prompt_file", "llm_rubric")
_BUILTIN_EXCLUDES = ("check", "prompt", "prompt_file", "llm_rubric", "agent", "module", "function")
_BUILTINS_TO_COME = (
    "consulted_docs",
    "no_harmful_content",
    "output_completeness",
    "simulator_provenance",
    "tool_call_validation",
)
_SUPPORTED_PROVIDERS = ("anthropic", "openai", "openrouter", "runner")


class JudgeReader:
    """Reads one judge at a time; `find` resolves a path the user wrote to a file that exists, or `None`."""

    def __init__(self, converter: Converter, find: Callable[[str], Path | None], code_paths: tuple[str, ...]) -> None:
        self.converter = converter
        self.find = find
        self.code_paths = code_paths

    def read(self, node: Located, path: str) -> Judge | None:
        """The judge, or `None` after reporting why there is none."""
        before = sum(not problem.warning for problem in self.converter.problems)
        config = self.converter.struct(node, JudgeConfig, path)
        if config is None:
            return None
        entry = _Entry(self.converter, node, path, config)
        if not config.name.strip():
            entry.error("name", "must not be empty")
        if config.name == "pairwise":
            entry.error("name", "the reserved pairwise judge is not available yet", hint="leave it out for now")
            return None
        entry.check_keys()
        judge = self._build(entry)
        after = sum(not problem.warning for problem in self.converter.problems)
        return judge if after == before else None

    def _build(self, entry: _Entry) -> Judge | None:
        config = entry.config
        if config.builtin is not None:
            return self._builtin(entry)
        if config.check is not None:
            return self._check(entry)
        if config.agent is not None:
            entry.error("agent", "agent judges are not available yet", hint="leave the judge out for now")
            return None
        if any(getattr(config, key) is not None for key in _LLM_KEYS):
            return self._llm(entry)
        if config.module is not None and config.function is not None:
            entry.must_be_identifiers()
            problem = code_problem(config.module, config.function, self.code_paths)
            if problem:
                entry.error(*problem)
            return CodeJudge(module=config.module, function=config.function, **entry.common(entry.code_scale()))
        missing = "function" if config.module is not None else "module" if config.function is not None else None
        if missing:
            entry.error("", f"a code judge needs both module and function: {missing!r} is missing")
        else:
            keys = "builtin, check, agent, prompt, prompt_file, llm_rubric or module + function"
            entry.warn("", f"judge {config.name!r} is skipped: it has none of {keys}")
        return None

    def _builtin(self, entry: _Entry) -> Judge | None:
        config = entry.config
        name = config.builtin or ""
        others = [key for key in _BUILTIN_EXCLUDES if getattr(config, key) is not None]
        if others:
            entry.error("builtin", f"cannot be combined with {', '.join(others)}")
        flat = name.rpartition("/")[2]
        known = BUILTIN_JUDGES.get(flat)
        if known is None or name not in {flat, f"{known.category}/{flat}"}:
            listed = ", ".join(f"{info.category}/{key}" for key, info in sorted(BUILTIN_JUDGES.items()))
            hint = closest(flat, BUILTIN_JUDGES)
            if flat in _BUILTINS_TO_COME:
                entry.error("builtin", f"the builtin judge {flat!r} is not available yet", hint="leave it out for now")
                return None
            entry.error("builtin", f"there is no builtin judge {name!r}; there are: {listed}", hint=hint)
            return None
        for key in config.arguments or {}:
            if key not in known.arguments:
                hint = nearest(key, known.arguments)
                entry.error(f"arguments.{key}", f"the builtin judge {flat!r} takes no argument {key!r}", hint=hint)
        return BuiltinJudge(builtin=flat, **entry.common(entry.code_scale()))

    def _check(self, entry: _Entry) -> Judge:
        code = entry.config.check or ""
        if not code.strip():
            entry.error("check", "the check is empty")
        try:
            compile_snippet(code, entry.config.name)
        except SyntaxError as error:
            place = f"line {error.lineno} of the check" if error.lineno else "the check"
            entry.error("check", f"{place} is not valid Python: {error.msg}")
        except (ValueError, RecursionError, MemoryError) as error:
            entry.error("check", f"is not valid Python: {error or 'nested too deeply'}")
        return CheckJudge(code=code, **entry.common(entry.code_scale()))

    def _llm(self, entry: _Entry) -> Judge:
        config = entry.config
        prompt, key = self._prompt(entry)
        if prompt is not None:
            problem = template_problem(prompt) if prompt.strip() else "the prompt is empty"
            if problem:
                entry.error(key, problem)
        context: list[tuple[str, str]] = []
        for index, name in enumerate(config.context or []):
            text = self._file(entry, f"context[{index}]", name)
            if text is not None:
                problem = template_problem(text)
                if problem:
                    entry.error(f"context[{index}]", f"{name}: {problem}")
                context.append((Path(name).name, text))
        if config.model is not None:
            entry.check_model("model", config.model)
        if prompt and not any(map(shows_work, [prompt, *(text for _, text in context)])):
            entry.warn(key, "the prompt shows nothing of what the agent made", hint="such as {{ outputs }}")
        common = entry.common(entry.model_scale())
        common["timeout_s"] = 300.0
        return LLMJudge(prompt=prompt or "", context=tuple(context), model=config.model or "", **common)

    def _prompt(self, entry: _Entry) -> tuple[str | None, str]:
        """llm_rubric before prompt before prompt_file."""
        config = entry.config
        if config.llm_rubric is not None:
            text = config.llm_rubric
            if text.strip() and not mentions(text, "conversation"):
                text = text.rstrip() + RUBRIC_TAIL
            return text, "llm_rubric"
        if config.prompt is not None:
            return config.prompt, "prompt"
        return self._file(entry, "prompt_file", config.prompt_file or ""), "prompt_file"

    def _file(self, entry: _Entry, key: str, name: str) -> str | None:
        found = self.find(name)
        if found is None:
            entry.error(
                key, f"there is no file {name!r}", hint="paths start at this file's folder, then at the current one"
            )
            return None
        text = read_text(found, name)
        if isinstance(text, Problem):
            entry.error(key, f"{name}: {text.message}")
            return None
        return text


class _Entry:
    """One judge entry with the means to report on it."""

    def __init__(self, converter: Converter, node: Located, path: str, config: JudgeConfig) -> None:
        self.converter = converter
        self.node = node
        self.path = path
        self.config = config

    def error(self, key: str, message: str, *, hint: str = "", warning: bool = False) -> None:
        top = key.split(".")[0].split("[")[0]
        child = self.node.value.get(top)
        place = self.node.keys.get(top, (self.node.line, self.node.column))
        if child is not None and "." in key and isinstance(child.value, dict):
            place = child.keys.get(key.split(".", 1)[1], place)
        where = f"{self.path}.{key}" if key else self.path
        self.converter.add_at(place, where, message, hint=hint, warning=warning)

    def warn(self, key: str, message: str, *, hint: str = "") -> None:
        self.error(key, message, hint=hint, warning=True)

    def check_keys(self) -> None:
        """The rules that hold for every type of judge."""
        config = self.config
        self._check_range()
        if config.feedback_type not in (None, "", "bool", "int", "float"):
            hint = nearest(config.feedback_type, ("bool", "int", "float"))
            self.error("feedback_type", f"must be bool, int or float, got {config.feedback_type!r}", hint=hint)
        if config.samples is not None and config.samples < 1:
            self.error("samples", f"must be 1 or more, got {config.samples}")
        elif config.samples is not None and config.samples > MAX_SAMPLES:
            self.error("samples", f"must be at most {MAX_SAMPLES}, got {config.samples}")
        elif config.samples not in (None, 1) and not self._asks_a_model():
            self.warn("samples", "is ignored: a deterministic judge is asked once")
        if config.examples is not None and not self._asks_a_model():
            self.error("examples", "only LLM and agent judges take examples")
        elif config.examples is not None:
            self.error("examples", "few-shot examples are not available yet")
        try:
            msgspec.msgpack.encode(config.arguments)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            self.error("arguments", f"hold something that cannot be handed to a judge: {error}")
        if config.step is not None:
            self.error("step", "pipelines of steps are not available yet")
        if config.provider_options is not None:
            if (config.model or "").startswith("openrouter:/"):
                self.error("provider_options", "OpenRouter judges are not available yet")
            else:
                self.error("provider_options", "is only valid with an openrouter:/ model")
        if isinstance(config.condition, str) and config.condition.strip():
            try:
                compile(config.condition.strip(), "<if>", "eval", flags=ast.PyCF_ONLY_AST)
                unknown = sorted(unknown_names(config.condition))
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                reason = getattr(error, "msg", None) or str(error) or "nested too deeply"
                self.error("if", f"is not a Python expression: {reason}")
            else:
                if unknown:
                    hint = nearest(unknown[0], ("annotations", "outputs"))
                    self.error("if", f"there is no {', '.join(unknown)}: it sees annotations and outputs", hint=hint)

    def _check_range(self) -> None:
        config = self.config
        bounds = config.score_range
        if bounds is None:
            return
        if len(bounds) != 2 or not all(map(_finite, bounds)) or bounds[0] >= bounds[1]:
            self.error("score_range", f"must be [min, max] with min < max, got {bounds}")
        elif config.feedback_type == "bool":
            self.error("score_range", "cannot go with feedback_type: bool, whose verdict is pass or fail")
        elif config.feedback_type == "int" and not self._whole():
            self.error("score_range", "has fractional bounds, which feedback_type: int cannot reach", hint="use float")

    def must_be_identifiers(self) -> None:
        for key in ("module", "function"):
            value = getattr(self.config, key)
            if not all(part.isidentifier() for part in value.split(".")):
                self.error(key, f"must be a dotted Python name, got {value!r}")

    def check_model(self, key: str, model: str) -> None:
        problem = model_problem(model)
        if problem:
            self.error(key, problem[0], hint=problem[1])

    def common(self, scale: Scale | None) -> dict[str, Any]:
        config = self.config
        condition = config.condition
        if isinstance(condition, bool):
            condition = None if condition else "False"
        sampled = self._asks_a_model() and config.samples and config.samples > 1
        return {
            "name": config.name,
            "description": config.description or "",
            "criteria": (Criterion(name=config.name, scale=scale),),
            "condition": condition.strip() if condition and condition.strip() else None,
            "arguments": config.arguments or {},
            "samples": (config.samples or 1) if sampled else 1,
            "location": f"{self.converter.shown}:{self.node.line}:{self.node.column}",
        }

    def code_scale(self) -> Scale | None:
        """Judges in code say what they return by returning it; only a declared range is enforced."""
        bounds = self._valid_range()
        return Numeric(float(bounds[0]), float(bounds[1])) if bounds else None

    def model_scale(self) -> Scale:
        config = self.config
        if config.feedback_type == "bool":
            return Binary()
        bounds = self._valid_range()
        if bounds is None and config.score_range is None:
            low, high = DEFAULT_SCALE
            self.warn(
                "",
                f"judge {config.name!r}: numeric judge without score_range: the model is told {low} to {high}, "
                "and what it answers is not checked",
                hint="declare score_range",
            )
            return Numeric(low, high, integer=config.feedback_type != "float", enforced=False)
        lowest, highest = bounds or DEFAULT_SCALE
        integer = config.feedback_type == "int" or (config.feedback_type != "float" and self._whole())
        return Numeric(float(lowest), float(highest), integer=integer)

    def _valid_range(self) -> list[int | float] | None:
        bounds = self.config.score_range
        if bounds and len(bounds) == 2 and all(map(_finite, bounds)) and bounds[0] < bounds[1]:
            return bounds
        return None

    def _whole(self) -> bool:
        return all(float(bound).is_integer() for bound in self.config.score_range or ())

    def _asks_a_model(self) -> bool:
        config = self.config
        if config.builtin is not None or config.check is not None:
            return False
        return config.agent is not None or any(getattr(config, key) is not None for key in _LLM_KEYS)


def _finite(number: float) -> bool:
    """True for numbers that a float can hold."""
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


def model_problem(model: str) -> tuple[str, str] | None:
    """(message, hint) for a model string that no backend takes."""
    provider, separator, name = model.partition(":/")
    if not separator:
        return None
    hint = "openai:/<model> with OPENAI_BASE_URL reaches any endpoint that speaks OpenAI's API"
    if provider not in _SUPPORTED_PROVIDERS:
        return f"there is no model provider {provider!r} ({model})", hint
    if provider in ("openrouter", "runner"):
        return f"{provider}:/ models are not available yet", hint
    if not name.strip("/").strip():
        return f"{model!r} names no model after {provider}:/", ""
    return None
