"""An LLM judge: from a case record to a request, and from a reply to verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adjudge.domain import Failure, LLMJudge, Status, Verdict
from adjudge.models import ModelRequest, Reply, ToolSchema
from adjudge.prompts import (
    WORK,
    Answer,
    mentions,
    read_json,
    read_text_answer,
    render,
    template_variables,
    verdict_tool,
)


class NothingToJudgeError(ValueError):
    """Everything of the agent's that the prompt refers to is empty."""


def _are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


PARSER_VERSION = 1
"""Part of a certificate's identity; raised whenever the reading of replies changes."""


def llm_request(judge: LLMJudge, record: Mapping[str, Any]) -> ModelRequest:
    """Render what the model is asked about a case.

    Raises:
        PromptError: the template fails on this case.
        NothingToJudgeError: the case has nothing that the prompt could show.
    """
    variables = template_variables(record, judge.arguments)
    sources = [judge.prompt, *(text for _, text in judge.context)]
    shown = [name for name in WORK if any(mentions(source, name) for source in sources)]
    if shown and not any(variables[name] for name in shown):
        raise NothingToJudgeError(f"there is nothing to judge: {', '.join(shown)} of this case {_are(shown)} empty")
    parts = [render(judge.prompt, variables)]
    parts += [f"## Context: {name}\n\n{render(text, variables)}" for name, text in judge.context]
    tool = verdict_tool(judge.criteria[0])
    return ModelRequest(
        system=tool.system,
        prompt="\n\n".join(parts),
        tool=ToolSchema(tool.name, tool.description, tool.schema),
        max_tokens=judge.max_tokens,
    )


def llm_verdict(judge: LLMJudge, reply: Reply, *, case: str, sample: int, call: str) -> Verdict:
    """Read a reply strictly. What holds no verdict of the asked form is unscored, for booleans too."""
    answer = _answer(judge, reply)
    return Verdict(
        case=case,
        judge=judge.name,
        criterion=judge.criteria[0].name,
        sample=sample,
        status=Status.SCORED if answer.failure is None else Status.UNSCORED,
        value=answer.value,
        error=answer.failure,
        rationale=answer.rationale,
        usage=reply.usage,
        model=reply.model,
        call=call,
    )


def _answer(judge: LLMJudge, reply: Reply) -> Answer:
    if reply.failure is not None:
        return Answer(None, failure=Failure(*reply.failure))
    criterion = judge.criteria[0]
    if reply.arguments is None:
        return read_text_answer(reply.text, criterion)
    return read_json(reply.arguments, criterion)
