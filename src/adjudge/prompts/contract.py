"""How an LLM judge must answer, and the strict reading of its answer."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from adjudge.domain import Binary, Criterion, ErrorKind, Failure, Levels, Numeric, OffScaleError, Scale, Value, shown
from adjudge.prompts.fence import GUARD

_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)


class VerdictTool(msgspec.Struct, frozen=True):
    """The structure asked of the model: a tool's name, purpose and JSON Schema; rationale before value."""

    name: str
    description: str
    schema: dict[str, Any]
    system: str


class Answer(msgspec.Struct, frozen=True):
    """One criterion's part of an answer: a value on the scale, or why there is none."""

    value: Value | None
    rationale: str = ""
    failure: Failure | None = None


def verdict_tool(criterion: Criterion) -> VerdictTool:
    """The tool for one criterion: `submit_evaluation {rationale, passed}` or `submit_score {rationale, score}`."""
    scale = _scale(criterion)
    binary = isinstance(scale, Binary)
    field = "passed" if binary else "score"
    name = "submit_evaluation" if binary else "submit_score"
    rationale = "What speaks for and against, from the material itself. Write this before the verdict."
    verdict = "true if the criterion is met, else false" if binary else f"The score: {scale.describe()}"
    schema = {
        "type": "object",
        "properties": {
            "rationale": {"type": "string", "description": rationale},
            field: {**scale.schema(), "description": verdict},
        },
        "required": ["rationale", field],
        "additionalProperties": False,
    }
    asked = "decide whether it passes" if binary else f"give a score: {scale.describe()}"
    system = (
        f"You judge the work of another system. Read the evaluation instructions, assess the material, and {asked}. "
        f"Call the tool {name} exactly once: first the rationale, then {field}.\n\n{GUARD}"
    )
    return VerdictTool(name, f"Submit the verdict: rationale first, then {field}.", schema, system)


def read_arguments(arguments: Any, criterion: Criterion) -> Answer:
    """Read a tool call's arguments, type by type; a string that looks like a number is not one."""
    scale = _scale(criterion)
    field = "passed" if isinstance(scale, Binary) else "score"
    if not isinstance(arguments, dict):
        return _failed(ErrorKind.UNPARSEABLE, f"the verdict is not an object: {shown(arguments)}")
    rationale = arguments.get("rationale", "")
    if not isinstance(rationale, str):
        return _failed(ErrorKind.UNPARSEABLE, f"the rationale is not text: {shown(rationale)}")
    rationale = rationale.encode("utf-8", "replace").decode()
    if field not in arguments:
        return _failed(ErrorKind.UNPARSEABLE, f"the verdict has no {field!r}", rationale)
    raw = arguments[field]
    expected = bool if isinstance(scale, Binary) else str if isinstance(scale, Levels) else (int, float)
    if not isinstance(raw, expected) or (isinstance(raw, bool) and expected is not bool):
        return _failed(ErrorKind.UNPARSEABLE, f"{field!r} must be {scale.describe()}, got {shown(raw)}", rationale)
    try:
        return Answer(scale.validate(raw), rationale)
    except OffScaleError as error:
        return _failed(ErrorKind.OFF_SCALE, str(error), rationale)


def read_text_answer(text: str, criterion: Criterion) -> Answer:
    """Read an answer that came as text: one JSON object and nothing else, a single code fence round it allowed."""
    fence = _FENCE.match(text)
    return read_json(fence.group(1) if fence else text, criterion, otherwise="no verdict tool call and no JSON verdict")


def read_json(text: str, criterion: Criterion, *, otherwise: str = "the tool arguments are not valid JSON") -> Answer:
    """Read a verdict from JSON text. A key that stands twice is no verdict: it would say two things."""
    try:
        text.encode()
        decoded = json.loads(text, object_pairs_hook=_no_key_twice, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return _failed(ErrorKind.UNPARSEABLE, f"{otherwise}: {shown(text)}")
    return read_arguments(decoded, criterion)


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _scale(criterion: Criterion) -> Scale:
    return criterion.scale if criterion.scale is not None else Numeric(1, 5, integer=True, enforced=False)


def _failed(kind: ErrorKind, message: str, rationale: str = "") -> Answer:
    return Answer(None, rationale, Failure(kind, message))
