"""A judge's answer, and what was paid for it."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from adjudge.domain.errors import ErrorKind, Failure
from adjudge.domain.scale import Value


class Status(StrEnum):
    SCORED = "scored"
    ABSTAINED = "abstained"
    UNSCORED = "unscored"
    SKIPPED = "skipped"
    """The judge's `if` is false for the case: nothing was asked, nothing is missing."""


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens of one or more model calls, and their price.

    `input` leaves out what came from or went to the provider's prompt cache; `reasoning` is part of `output`.
    `cost_usd` is `None` when unknown, which is not 0. `price_source` says whether the provider billed it or a
    price list gave it; sums keep `cost_known` false once any part is unknown.
    """

    calls: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    cost_usd: float | None = None
    price_source: str = ""
    unpriced_calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        sources = [source for source in (self.price_source, other.price_source) if source]
        return Usage(
            calls=self.calls + other.calls,
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            reasoning=self.reasoning + other.reasoning,
            cost_usd=sum(costs) if costs else None,
            price_source=sources[0] if len(set(sources)) == 1 else ("mixed" if sources else ""),
            unpriced_calls=self.unpriced_calls + other.unpriced_calls,
        )


class Verdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One judge's answer on one criterion of one case, once.

    Exactly one of these holds: `status` is scored and `value` is on the criterion's scale; abstained or skipped,
    with neither value nor error; unscored, with `error` and no value.
    """

    case: str
    judge: str
    criterion: str
    sample: int = 0
    status: Status
    value: Value | None = None
    error: Failure | None = None
    rationale: str = ""
    printed: str = ""
    usage: Usage | None = None
    model: str = ""
    call: str = ""
    """Key of the model call that it was read from; verdicts read from one call are paid for once."""
    attempts: int = 1
    """How often the model was asked until its answer held a verdict, or retries ran out."""
    notes: tuple[str, ...] = ()
    """What was cut from what the judge saw, what in it addresses the judge, what the model would not take."""
    tool_choice: str = ""
    """How the verdict's tool was asked for, when the model would not be forced to call it."""
    confidence: float | None = None
    """The probability that a decision model gave, in [0, 1]."""
    exit_code: int | None = None
    """How the script or the agent ended."""
    denials: dict[str, int] = {}
    """Tool -> how many calls of an agent judge were refused."""
    shown_chars: tuple[int, ...] = ()
    """Of a comparison: characters of the output that stood first, and of the other, as they were shown."""

    def __post_init__(self) -> None:
        if (self.status is Status.SCORED) != (self.value is not None):
            raise ValueError(f"a verdict has a value if and only if it is scored: {self.status}, {self.value!r}")
        if (self.status is Status.UNSCORED) != (self.error is not None):
            raise ValueError(f"a verdict has an error if and only if it is unscored: {self.status}, {self.error}")


def unscored(
    case: str,
    judge: str,
    criterion: str,
    kind: ErrorKind,
    message: str = "",
    *,
    sample: int = 0,
    usage: Usage | None = None,
) -> Verdict:
    """A verdict that could not be had, and why."""
    return Verdict(
        case=case,
        judge=judge,
        criterion=criterion,
        sample=sample,
        status=Status.UNSCORED,
        error=Failure(kind, message),
        usage=usage,
    )
