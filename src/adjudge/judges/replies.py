"""From what a model answered to verdicts."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec

from adjudge.domain import (
    AgentJudge,
    AnswerBy,
    DecisionJudge,
    ErrorKind,
    Failure,
    Levels,
    ModelJudge,
    Numeric,
    OffScaleError,
    Status,
    Usage,
    Verdict,
)
from adjudge.judges.llm import Asked, asked_criteria
from adjudge.models import CallError, Reply
from adjudge.prompts import Answer, Slot, read_answers, read_score_01, read_text_answers, scale_of, slots

PARSER_VERSION = 3
"""Part of a certificate's identity; raised whenever the reading of replies changes."""

_CORRECTABLE = frozenset({ErrorKind.UNPARSEABLE, ErrorKind.OFF_SCALE, ErrorKind.TRUNCATED})
_MOST_TOLD = 600


class Reading(msgspec.Struct):
    """What the replies to one call come to: per criterion the first answer that can be used, else the last failure.

    A later reply only fills in what the earlier ones left open.
    """

    answers: tuple[Answer, ...]
    confidences: tuple[float | None, ...] = ()

    @property
    def open(self) -> bool:
        return any(answer.failure is not None for answer in self.answers)

    @property
    def correctable(self) -> bool:
        """True if telling the model what was wrong may give the rest."""
        failures = [answer.failure for answer in self.answers if answer.failure is not None]
        return bool(failures) and all(failure.kind in _CORRECTABLE for failure in failures)

    def filled_by(self, later: Reading) -> Reading:
        pairs = zip(self.answers, later.answers, strict=True)
        return Reading(tuple(old if old.failure is None else new for old, new in pairs), self.confidences)

    def failed(self, error: CallError) -> Reading:
        """The same with what is open failed for another reason: the call that should have filled it in."""
        failure = Failure(error.kind, error.message)
        return Reading(
            tuple(
                answer if answer.failure is None else msgspec.structs.replace(answer, failure=failure)
                for answer in self.answers
            ),
            self.confidences,
        )

    def correction(self, call: Asked, attempt: int, attempts: int) -> str:
        """What the model is told before it answers again. The count keeps two attempts from being one question."""
        wrong = list(dict.fromkeys(answer.failure.message for answer in self.answers if answer.failure is not None))
        told = "; ".join(wrong)[:_MOST_TOLD]
        return (
            f"Your last answer could not be used: {told}. This is attempt {attempt} of {attempts}: call the tool "
            f"{call.request.tool.name} exactly once, with every field that it asks for and nothing else."
        )


def read_reply(judge: ModelJudge, call: Asked, reply: Reply) -> Reading:
    """Read a reply strictly. What holds no verdict of the asked form is unscored, for booleans too."""
    criteria = asked_criteria(judge, call.criteria)
    if reply.failure is not None:
        return Reading(tuple(Answer(None, failure=Failure(*reply.failure)) for _ in criteria))
    if isinstance(judge, DecisionJudge):
        return _read_decision(judge, call, reply)
    if isinstance(judge, AgentJudge) and judge.answer_by is AnswerBy.SCORE_01:
        return Reading(tuple(read_score_01(reply.text) for _ in criteria))
    guarded = judge.guards
    if reply.arguments is not None:
        return Reading(read_answers(reply.arguments, criteria, guarded=guarded))
    if reply.tool_choice != "function":  # a model that would not be forced is not taken by its prose either
        failure = Failure(ErrorKind.UNPARSEABLE, "the model did not call the verdict's tool")
        return Reading(tuple(Answer(None, failure=failure) for _ in criteria))
    return Reading(read_text_answers(reply.text, criteria, guarded=guarded))


def verdicts_of(
    judge: ModelJudge, call: Asked, reading: Reading, replies: Sequence[Reply], *, case: str, sample: int, key: str
) -> list[Verdict]:
    """One verdict a criterion of a call. They share what the call cost, which counts once for all of them."""
    usage: Usage | None = None
    for reply in replies:
        usage = reply.usage if usage is None else usage + reply.usage
    last = replies[-1] if replies else Reply()
    confidences = reading.confidences or (None,) * len(call.criteria)
    made = []
    for index, answer, confidence in zip(call.criteria, reading.answers, confidences, strict=True):
        status = Status.UNSCORED if answer.failure else Status.ABSTAINED if answer.abstained else Status.SCORED
        made.append(
            Verdict(
                case=case,
                judge=judge.name,
                criterion=judge.criteria[index].name,
                sample=sample,
                status=status,
                value=None if answer.failure else answer.value,
                error=answer.failure,
                rationale=answer.rationale,
                usage=usage,
                model=last.model,
                call=key,
                attempts=max(1, len(replies)),
                notes=tuple(dict.fromkeys([*call.notes, *(note for reply in replies for note in reply.notes)])),
                tool_choice="" if last.tool_choice == "function" else last.tool_choice,
                confidence=confidence,
                denials=last.denials,
                exit_code=last.exit_code,
                shown_chars=call.shown_chars,
            )
        )
    return made


def _read_decision(judge: DecisionJudge, call: Asked, reply: Reply) -> Reading:
    """A probability of yes (0.5 and more is true), or the mean level from 0 on, for each question."""
    criteria = [judge.criteria[index] for index in call.criteria]
    given = json.loads(reply.arguments or "{}")
    read = [_decided(slot, given.get(slot.key or slot.criterion.name)) for slot in slots(criteria)]
    return Reading(tuple(answer for answer, _ in read), tuple(confidence for _, confidence in read))


def _decided(slot: Slot, given: list[float | None] | None) -> tuple[Answer, float | None]:
    """(the answer, the probability or how sure the model is) for one question."""
    name = slot.criterion.name
    if given is None or given[0] is None:
        failure = Failure(ErrorKind.UNPARSEABLE, f"no answer on {name!r}")
        return Answer(None, failure=failure), None
    number, sure = given[0], given[1]
    scale = scale_of(slot.criterion)
    try:
        if isinstance(scale, Levels):
            return Answer(scale.validate(number)), sure
        return Answer(Numeric(0, 1).validate(number) >= 0.5), float(number)
    except OffScaleError as error:
        return Answer(None, failure=Failure(ErrorKind.OFF_SCALE, f"{error} on {name!r}")), None
