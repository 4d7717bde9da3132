"""From what a judge in code returned to a verdict's fields."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from adjudge.domain import ErrorKind, Failure, OffScaleError, Scale, Value, shown

MAX_RATIONALE = 20_000
MAX_PRINTED = 20_000


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """One criterion's result of one call of a judge in code."""

    value: Value | None = None
    failure: Failure | None = None
    rationale: str = ""
    printed: str = ""
    confidence: float | None = None
    model: str = ""
    """Who is said to have judged, where the code asked a model itself."""
    exit_code: int | None = None


def read_return(returned: Any, scale: Scale | None) -> Outcome:
    """Read a return value: (value, rationale), an object with `.value` and perhaps `.rationale`, or a bare value.

    The value must be a boolean or a finite number, and lie on the scale where the judge declares one.
    """
    value, rationale = _split(returned)
    text = cap(rationale if isinstance(rationale, str) else shown(rationale), MAX_RATIONALE)
    value = python_number(value)
    if scale is not None:
        try:
            return Outcome(scale.validate(value), rationale=text)
        except OffScaleError as error:
            return Outcome(failure=Failure(ErrorKind.OFF_SCALE, str(error)), rationale=text)
    if isinstance(value, bool) or (isinstance(value, int | float) and _finite(value)):
        return Outcome(value, rationale=text)
    expected = "a judge returns (value, rationale) with true, false or a finite number as value"
    return Outcome(failure=Failure(ErrorKind.WRONG_TYPE, f"got {shown(value)}; {expected}"), rationale=text)


def cap(text: str, limit: int) -> str:
    """The text, or its head with a visible mark of what was cut. Lone surrogates are replaced."""
    if len(text) > limit:
        text = f"{text[:limit]}\n[... cut: {len(text) - limit} characters more]"
    return text.encode("utf-8", "replace").decode()


def _split(returned: Any) -> tuple[Any, Any]:
    if isinstance(returned, tuple) and len(returned) == 2:
        return returned
    if hasattr(returned, "value") and not isinstance(returned, bool | int | float | str | dict):
        return returned.value, getattr(returned, "rationale", "") or ""
    return returned, ""


def python_number(value: Any) -> Any:
    """A numpy scalar (or anything else with `.item()`) as the Python number it stands for."""
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    try:
        return float(value) if isinstance(value, float) or abs(value) >= 2**53 else int(value)  # what a journal holds
    except OverflowError:
        return value


def _finite(value: int | float) -> bool:
    try:
        return math.isfinite(value) and abs(value) < 1e300
    except OverflowError:
        return False
