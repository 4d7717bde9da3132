"""The strict reading of what a judge answered. One place for every kind of judge and every wire."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from adjudge.domain import Binary, Criterion, ErrorKind, Failure, Levels, OffScaleError, Value, shown
from adjudge.prompts.contract import Slot, field_of, scale_of, slots
from adjudge.prompts.extract import own_objects

NO_SCORE = 'no JSON object {"score": 0 or 1, "reason": ...} at the end'
_SPEAKS_ON = re.compile(
    r"\b(fail(s|ed|ure)?|pass(es|ed)?|scores?|verdict|correction|wait|however|actually|instead)\b|[{}]", re.IGNORECASE
)
_ANNOUNCED = re.compile(
    r"^[^`'\"{}\n]*\b(?:verdict|answer|result|score|json|conclusion|judge?ment)\b[\s*:=-]*(\{[^\n]*\})[\s*]*\Z",
    re.IGNORECASE | re.MULTILINE,
)
"""A verdict on the line of the words that announce it, and nothing after it."""
NO_CALL = "no verdict tool call and no JSON verdict"


class Answer(msgspec.Struct, frozen=True):
    """One criterion's part of an answer: a value on the scale, or that the judge cannot tell, or why there is none."""

    value: Value | None
    rationale: str = ""
    failure: Failure | None = None
    abstained: bool = False


def read_answers(text: str, criteria: Sequence[Criterion], *, guarded: bool = False) -> tuple[Answer, ...]:
    """Read the arguments of a tool call, as JSON text: one answer a criterion, in their order.

    A key that stands twice is no verdict, since it would say two things.
    """
    decoded = _decoded(text)
    if isinstance(decoded, Failure):
        message = f"the tool arguments are not valid JSON: {shown(text)}"
        return tuple(_failed(ErrorKind.UNPARSEABLE, message) for _ in criteria)
    return _read(decoded, criteria, guarded)


def read_text_answers(text: str, criteria: Sequence[Criterion], *, guarded: bool = False) -> tuple[Answer, ...]:
    """Read an answer that came as text: the last JSON object in it that is not quoted must be the verdict.

    When another verdict stands before it, with words between the two, neither is taken: one may be a quotation.
    """
    *earlier, found = own_objects(text) or [""]
    decoded = _decoded(found)
    if isinstance(decoded, Failure):
        return tuple(_failed(ErrorKind.UNPARSEABLE, f"{NO_CALL}: {shown(text)}") for _ in criteria)
    places = slots(criteria, guarded=guarded)
    if any(_contradicts(other, decoded, places) for other in earlier):
        message = f"the text holds verdicts that differ: {shown(text)}"
        return tuple(_failed(ErrorKind.UNPARSEABLE, message) for _ in criteria)
    return _read(decoded, criteria, guarded)


def read_arguments(arguments: Any, criterion: Criterion) -> Answer:
    """Read the answer on one criterion, type by type; a string that looks like a number is not one."""
    return _one(arguments, Slot(criterion, "", field_of(criterion)))


def read_text_answer(text: str, criterion: Criterion) -> Answer:
    """`read_text_answers` for one criterion."""
    return read_text_answers(text, [criterion])[0]


def read_score_01(text: str) -> Answer:
    """Read `{"score": 0 or 1, "reason": text}`: the last JSON object of the text that is not quoted, with no words on
    the verdict after it. An earlier one never stands in for a last one that is no verdict.
    """
    announced = _ANNOUNCED.search(text)
    found = announced[1] if announced else (own_objects(text) or [""])[-1]
    decoded = _decoded(found)
    if not found or isinstance(decoded, Failure) or not isinstance(decoded, dict):
        return _failed(ErrorKind.UNPARSEABLE, f"{NO_SCORE}: {shown(text[-300:])}")
    after = text[text.rindex(found) + len(found) :]
    if _SPEAKS_ON.search(after):
        return _failed(ErrorKind.UNPARSEABLE, f"it speaks on of the verdict after giving it: {shown(after.strip())}")
    reason = decoded.get("reason")
    if not isinstance(reason, str | None):
        return _failed(ErrorKind.UNPARSEABLE, f"the reason is not text: {shown(reason)}")
    reason = (reason or "").encode("utf-8", "replace").decode()
    score = decoded.get("score")
    if not isinstance(score, bool | int | float) or score not in (0, 1):
        return _failed(ErrorKind.UNPARSEABLE, f"'score' must be 0 or 1, got {shown(score)}", reason)
    return Answer(bool(score), reason)


def _read(decoded: Any, criteria: Sequence[Criterion], guarded: bool) -> tuple[Answer, ...]:
    places = slots(criteria, guarded=guarded)
    found: dict[str, Answer] = {}
    for slot in places:
        if not slot.key:
            found[slot.criterion.name] = _one(decoded, slot)
        elif not isinstance(decoded, dict):
            found[slot.criterion.name] = _failed(
                ErrorKind.UNPARSEABLE, f"the verdict is not an object: {shown(decoded)}"
            )
        elif slot.key not in decoded:
            found[slot.criterion.name] = _failed(ErrorKind.UNPARSEABLE, f"the verdict on {slot.key!r} is missing")
        else:
            found[slot.criterion.name] = _one(decoded[slot.key], slot)
    return tuple(found[criterion.name] for criterion in criteria)


def _contradicts(text: str, decoded: Any, places: Sequence[Slot]) -> bool:
    """True if an object answers a criterion otherwise; a broken one does if it names what is asked for."""
    other = _decoded(text)
    if isinstance(other, Failure):
        return any(f'"{slot.field}"' in text for slot in places)
    return any(_raw(other, slot) not in ("", _raw(decoded, slot)) for slot in places)


def _raw(decoded: Any, slot: Slot) -> str:
    """What stands in a slot, whatever it is; empty when there is nothing."""
    found = decoded.get(slot.key) if slot.key and isinstance(decoded, dict) else decoded
    return repr(found[slot.field]) if isinstance(found, dict) and slot.field in found else ""


def _one(arguments: Any, slot: Slot) -> Answer:
    where = f" on {slot.key!r}" if slot.key else ""
    if not isinstance(arguments, dict):
        return _failed(ErrorKind.UNPARSEABLE, f"the verdict{where} is not an object: {shown(arguments)}")
    rationale = arguments.get("rationale", "")
    if not isinstance(rationale, str):
        return _failed(ErrorKind.UNPARSEABLE, f"the rationale{where} is not text: {shown(rationale)}")
    rationale = rationale.encode("utf-8", "replace").decode()
    if slot.field not in arguments:
        return _failed(ErrorKind.UNPARSEABLE, f"the verdict{where} has no {slot.field!r}", rationale)
    raw = arguments[slot.field]
    if slot.guards:
        if not isinstance(raw, bool):
            return _failed(ErrorKind.UNPARSEABLE, f"'flagged' must be true or false, got {shown(raw)}", rationale)
        return Answer(not raw, rationale)
    if slot.criterion.abstain and _abstains(raw, slot.criterion):
        return Answer(None, rationale, abstained=True)
    scale = scale_of(slot.criterion)
    expected = bool if isinstance(scale, Binary) else str if isinstance(scale, Levels) else (int, float)
    if not isinstance(raw, expected) or (isinstance(raw, bool) and expected is not bool):
        message = f"{slot.field!r}{where} must be {scale.describe()}, got {shown(raw)}"
        return _failed(ErrorKind.UNPARSEABLE, message, rationale)
    try:
        return Answer(scale.validate(raw), rationale)
    except OffScaleError as error:
        return _failed(ErrorKind.OFF_SCALE, f"{error}{where}", rationale)


def _abstains(raw: Any, criterion: Criterion) -> bool:
    """Null; or the number that says so, where there is one, and then nothing else."""
    if criterion.cannot_tell is None:
        return raw is None
    return isinstance(raw, int | float) and not isinstance(raw, bool) and raw == criterion.cannot_tell


def _decoded(text: str) -> Any:
    """The JSON value of a text, or a Failure."""
    try:
        text.encode()
        return json.loads(text, object_pairs_hook=_no_key_twice, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return Failure(ErrorKind.UNPARSEABLE)


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _failed(kind: ErrorKind, message: str, rationale: str = "") -> Answer:
    return Answer(None, rationale, Failure(kind, message))
