"""What a judge is: criteria, and one specification a kind of judge. Data only."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from adjudge.domain.scale import Scale

WORKER_MARK = "ADJUDGE_IN_WORKER"
"""Set in the environment of worker processes."""


class Reduce(StrEnum):
    """How the samples of one verdict become one score."""

    MEDIAN_LOW = "median_low"
    MAJORITY = "majority"
    AUTO = "auto"
    """Majority for booleans, lower median for numbers and levels."""


class Criterion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question with one scale.

    `scale=None` is for judges written in code that state none: a boolean or a finite number, as they return it.
    `weight` counts where criteria are aggregated; `negate` turns the normalised value round (1 - value);
    `optional` leaves the criterion out of required-pass rules; `abstain` lets a model say that it cannot tell.
    """

    name: str
    description: str = ""
    scale: Scale | None = None
    weight: float = 1.0
    negate: bool = False
    optional: bool = False
    abstain: bool = False


class JudgeBase(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What every judge has.

    Attributes:
        name: Unique within the suite.
        criteria: At least one; a judge with a single question names its criterion like itself.
        condition: Python expression over `annotations` and `outputs`; the judge skips cases where it is false.
        arguments: Keyword arguments of judges in code; `{{ arguments }}` in prompts.
        samples: How often the same verdict is asked (1 or more).
        reduce: How samples become a score.
        timeout_s: Wall-clock limit for one sample, in seconds.
        location: `file:line:column` of its definition, for messages.
    """

    name: str
    criteria: tuple[Criterion, ...] = ()
    description: str = ""
    condition: str | None = None
    arguments: dict[str, Any] = {}
    samples: int = 1
    reduce: Reduce = Reduce.AUTO
    timeout_s: float = 60.0
    location: str = ""

    def __post_init__(self) -> None:
        if not self.criteria:
            msgspec.structs.force_setattr(self, "criteria", (Criterion(name=self.name),))
        if self.samples < 1:
            raise ValueError(f"judge {self.name!r}: samples must be 1 or more, got {self.samples}")


class CheckJudge(JudgeBase, frozen=True, kw_only=True, tag="check", omit_defaults=True):
    """Inline Python that sees `outputs` and `arguments` and returns (value, rationale)."""

    code: str


class CodeJudge(JudgeBase, frozen=True, kw_only=True, tag="code", omit_defaults=True):
    """A function of a module, called as `function(outputs=record, **arguments)`."""

    module: str
    function: str


class BuiltinJudge(JudgeBase, frozen=True, kw_only=True, tag="builtin", omit_defaults=True):
    """A judge that comes with adjudge, by its name (`semantic_similarity`)."""

    builtin: str


class LLMJudge(JudgeBase, frozen=True, kw_only=True, tag="llm", omit_defaults=True):
    """One call to a model, which answers every criterion.

    Attributes:
        prompt: Jinja2 template over the case record; the order of rendering is part of the format.
        context: Further sections (name, template) that follow the prompt.
        model: As the user wrote it; resolved against the environment when the run is planned.
        max_tokens: Cap on the answer.
    """

    prompt: str
    context: tuple[tuple[str, str], ...] = ()
    model: str = ""
    max_tokens: int = 4096
    timeout_s: float = 300.0


Judge = CheckJudge | CodeJudge | BuiltinJudge | LLMJudge
LocalJudge = CheckJudge | CodeJudge | BuiltinJudge


def kind_of(judge: Judge) -> str:
    """The word for the kind of judge that configs and reports use: check, code, builtin, llm."""
    tag = judge.__struct_config__.tag
    assert isinstance(tag, str)
    return tag
