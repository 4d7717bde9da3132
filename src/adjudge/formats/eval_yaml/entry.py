"""One entry of the `judges:` list: what its keys say, and every rule between them."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from typing import Any

import msgspec

from adjudge.domain import BUILTIN_JUDGES, Binary, Criterion, Examples, Numeric, ProviderOptions, Scale, closest
from adjudge.formats.convert import Converter, nearest
from adjudge.formats.eval_yaml.python import unknown_names
from adjudge.formats.eval_yaml.routing import model_problem, routing_problems
from adjudge.formats.eval_yaml.schema import JudgeConfig
from adjudge.located import Located

MAX_SAMPLES = 1000
DEFAULT_SCALE = (1, 5)
LLM_KEYS = ("prompt", "prompt_file", "llm_rubric")
CONSEQUENCES = ("exploratory", "safety", "gating")


class Entry:
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

    def check_keys(self, steps: Sequence[str] = ()) -> None:
        """The rules that hold for every type of judge. `steps` are those of the pipeline under test."""
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
        try:
            msgspec.msgpack.encode(config.arguments)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            self.error("arguments", f"hold something that cannot be handed to a judge: {error}")
        if config.step is not None and config.step not in steps:
            self.error("step", f"there is no step {config.step!r} in execution.steps", hint=nearest(config.step, steps))
        if self.one_of("consequence", CONSEQUENCES):
            self.warn("consequence", "asks nothing of the judge: no agreement of its samples is required")
        for key in ("provider_options", "reasoning_effort", "guard", "early_stop", "abstain"):
            if getattr(config, key) is not None and not self._asks_a_model():
                self.error(key, "only judges that ask a model take it")
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

    def models(self) -> tuple[str, ...]:
        """The judge's own models; none when it leaves that to others."""
        given = self.config.model
        models = [given] if isinstance(given, str) else given or []
        for index, model in enumerate(models):
            problem = model_problem(model)
            if problem:
                self.error("model" if isinstance(given, str) else f"model[{index}]", problem[0], hint=problem[1])
        if isinstance(given, list) and (not given or len(set(given)) != len(given)):
            self.error("model", "must name each model of the panel once")
        return tuple(models)

    def one_of(self, key: str, allowed: Sequence[str]) -> str:
        """The value of a key that takes one of a few words; nothing when it is absent."""
        value = getattr(self.config, key)
        if value is None:
            return ""
        if value is False and "off" in allowed:
            return "off"  # which YAML reads as false
        if value not in allowed:
            self.error(key, f"must be one of {', '.join(allowed)}, got {value!r}", hint=closest(str(value), allowed))
            return ""
        return str(value)

    def provider_options(self, models: Sequence[str]) -> ProviderOptions | None:
        given = self.config.provider_options
        if given is None:
            return None
        if not any(model.startswith(("openrouter:/", "openrouter/")) for model in models):
            self.error("provider_options", "is only valid with an openrouter:/ model")
        for problem in routing_problems(given.routing or {}):
            self.error("provider_options.routing", problem)
        if given.fallbacks and len(given.fallbacks) > 3:
            self.error("provider_options.fallbacks", f"takes at most three models, got {len(given.fallbacks)}")
        if given.max_tokens is not None and given.max_tokens < 1:
            self.error("provider_options.max_tokens", f"must be 1 or more, got {given.max_tokens}")
        return ProviderOptions(
            routing=given.routing or {},
            fallbacks=tuple(given.fallbacks or ()),
            max_tokens=given.max_tokens,
            extra_body=given.extra_body or {},
        )

    def examples(self) -> Examples | None:
        """The settings of few-shot examples; the reader of the whole file adds the exemplars."""
        given = self.config.examples
        if given is None:
            return None
        if given.source != "reviews":
            self.error("examples.source", f"must be reviews, got {given.source!r}")
        if given.count < 1:
            self.error("examples.count", f"must be 1 or more, got {given.count}")
        mix = given.mix if given.mix is not None else ["pass", "fail"]
        unknown = [kind for kind in mix if kind not in ("pass", "fail")]
        if unknown or not mix or len(set(mix)) != len(mix):
            self.error("examples.mix", f"must hold pass, fail or both, once each, got {mix}")
        return Examples(count=given.count, mix=tuple(mix))

    def common(self, scale: Scale | None) -> dict[str, Any]:
        config = self.config
        condition = config.condition
        if isinstance(condition, bool):
            condition = None if condition else "False"
        sampled = self._asks_a_model() and config.samples and config.samples > 1
        return {
            "name": config.name,
            "description": config.description or "",
            "criteria": (Criterion(name=config.name, scale=scale, abstain=bool(config.abstain)),),
            "condition": condition.strip() if condition and condition.strip() else None,
            "arguments": config.arguments or {},
            "step": config.step or "",
            "samples": (config.samples or 1) if sampled else 1,
            "location": f"{getattr(self.node.line, 'file', self.converter.shown)}:{self.node.line}:{self.node.column}",
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
        if config.builtin is not None:
            known = BUILTIN_JUDGES.get(config.builtin.rpartition("/")[2])
            return known is not None and known.kind == "llm"
        if config.check is not None:
            return False
        return config.agent is not None or any(getattr(config, key) is not None for key in LLM_KEYS)


def _finite(number: float) -> bool:
    """True for numbers that a float can hold."""
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False
