"""JEV, a decision model: a probability or a level for each question about one text."""

from __future__ import annotations

from typing import Any

import msgspec

from adjudge.domain import ErrorKind, Usage, shown
from adjudge.models.wire import PLAIN, CallError, ModelRequest, Question, Reply, Shape, TextPart, count

JEV_URL = "https://api.typesafe.ai"
JEV_MODEL = "jev-latest"


class JevWire:
    """`Reply.arguments` holds, by question, the probability of yes or the mean level."""

    name = "jev"
    optional: tuple[str, ...] = ()

    def body(self, request: ModelRequest, model: str, shape: Shape = PLAIN) -> dict[str, Any]:
        state = "\n\n".join(part.text for part in request.parts() if isinstance(part, TextPart))
        questions: dict[str, Any] = {}
        for question in request.questions:
            asked: dict[str, Any] = {"type": _kind(question), "instructions": question.instructions}
            questions[question.key] = {**asked, "criteria": list(question.levels)} if question.levels else asked
        return {"state": state, "model": model, "questions": questions}

    def reply(self, payload: Any, request: ModelRequest) -> Reply:
        answers = payload.get("answers") if isinstance(payload, dict) else None
        if not isinstance(answers, dict):
            raise CallError(ErrorKind.PROVIDER_ERROR, f"not a JEV response: {shown(payload)}", retryable=True)
        found = {question.key: _number(answers.get(question.key), _kind(question)) for question in request.questions}
        usage = payload.get("usage") if isinstance(payload.get("usage"), dict) else {}
        return Reply(
            arguments=msgspec.json.encode({key: value for key, value in found.items() if value is not None}).decode(),
            usage=Usage(calls=1, input=count(usage, "input_tokens"), output=count(usage, "output_tokens")),
            model=payload["model"] if isinstance(payload.get("model"), str) else "",
        )


def _kind(question: Question) -> str:
    return "score" if question.levels else "noul"


def _number(answer: Any, kind: str) -> list[float | None] | None:
    """[the probability or mean level, how sure the model is of a level]; `None` for an answer of another kind."""
    if not isinstance(answer, dict):
        return None
    raw = answer.get(kind)
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None
    sure = answer.get("confidence")
    return [raw, sure if isinstance(sure, int | float) and not isinstance(sure, bool) else None]
