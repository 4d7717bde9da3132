"""Reading what a criterion in Python returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adjudge.domain import ErrorKind, Failure, OffScaleError, finite, plain, shown
from adjudge.judges.criteria.finding import Finding
from adjudge.judges.outcome import MAX_RATIONALE, Outcome, cap, python_number

_KEYS = {"score", "reasoning", "confidence", "model"}


def read_criterion(returned: Any, bounds: tuple[float, float]) -> Outcome:
    """A boolean or a number, a `Finding`, or a dict {score, reasoning?, confidence?, model?}.

    A number must be finite and lie within `bounds`; it is never clamped.
    """
    reasoning, confidence, model = "", None, ""
    value = returned
    if isinstance(returned, Finding):
        value, reasoning = returned
    elif isinstance(returned, Mapping):
        if problem := _problem(returned):
            return Outcome(failure=Failure(ErrorKind.WRONG_TYPE, problem))
        value, reasoning = returned["score"], str(returned.get("reasoning") or "")
        confidence, model = returned.get("confidence"), str(returned.get("model") or "")
    text = cap(reasoning, MAX_RATIONALE)
    value = python_number(value)
    if not isinstance(value, bool):
        try:
            number = finite(value)
        except OffScaleError as error:
            return Outcome(
                failure=Failure(ErrorKind.WRONG_TYPE, f"a criterion returns a score: {error}"), rationale=text
            )
        low, high = bounds
        if not low <= number <= high:
            message = (
                f"{shown(number)} lies outside [{plain(low)}, {plain(high)}]; @criterion(range=(low, high)) allows it"
            )
            return Outcome(failure=Failure(ErrorKind.OFF_SCALE, message), rationale=text)
    return Outcome(value, rationale=text, confidence=confidence, model=model[:200])


def _problem(returned: Mapping[str, Any]) -> str:
    unknown = [key for key in returned if key not in _KEYS]
    if unknown:
        return f"unknown key {shown(unknown[0])}: a criterion returns {{score, reasoning, confidence, model}}"
    if "score" not in returned:
        return "the dict that it returned has no score"
    confidence = returned.get("confidence")
    if confidence is None:
        return ""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        return f"confidence must be a number from 0 to 1, got {shown(confidence)}"
    return ""
