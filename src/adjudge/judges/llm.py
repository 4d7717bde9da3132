"""A judge that asks a model: from a case record to requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from adjudge.domain import (
    GUARD,
    AgentJudge,
    AnswerBy,
    Criterion,
    DecisionJudge,
    Levels,
    LLMJudge,
    Mode,
    ModelJudge,
    PairwiseJudge,
    Place,
    ProviderOptions,
)
from adjudge.judges.showing import Shown, capped, output_images, shown_material
from adjudge.models import ModelRequest, Part, Question, TextPart, ToolSchema, context_tokens, room_bytes
from adjudge.prompts import (
    EXAMPLES_HEADING,
    ROLE,
    WORK,
    DocumentReader,
    Fitting,
    addressing,
    agent_contract,
    agent_task,
    examples_text,
    fair_cap,
    fixed_prefix,
    mentions,
    render,
    slots,
    template_variables,
    verdict_tool,
)

LEAST_FIXED = 400
"""Characters. A shorter beginning is not worth a part of its own: providers keep none below 512 tokens."""
NO_MATERIAL = "There are no files to look at. Judge by what the criteria say."


class NothingToJudgeError(ValueError):
    """Everything of the agent's that the prompt refers to is empty, or it is more than the model can read."""


class Asked(msgspec.Struct, frozen=True):
    """One call: the criteria that it answers (by their place in the judge), what is asked, and what to know of it.

    With `shares` the request shows the material of all calls, which is sent along once. `shown_chars` of a comparison
    are the lengths of both outputs, in the order in which they are shown.
    """

    criteria: tuple[int, ...]
    request: ModelRequest
    notes: tuple[str, ...] = ()
    shares: bool = False
    shown_chars: tuple[int, ...] = ()


class Asking(msgspec.Struct, frozen=True):
    """The calls that a judge needs for one case."""

    calls: tuple[Asked, ...]
    material: tuple[Part, ...] = ()

    def request(self, call: Asked) -> ModelRequest:
        """What a call asks, with its material."""
        return msgspec.structs.replace(call.request, material=self.material) if call.shares else call.request


def asking(judge: ModelJudge, record: Mapping[str, Any], reader: DocumentReader) -> Asking:
    """Everything that the judge's model is asked about a case.

    Raises:
        PromptError: the template fails on this case.
        NothingToJudgeError: the case has nothing that the prompt could show, or too much for a decision model.
        TrajectoryError: the judge's trajectory cannot be read.
        MissingExtraError: a document needs markitdown, which is not installed.
    """
    groups = _groups(judge)
    if isinstance(judge, DecisionJudge):
        calls = tuple(_decision(judge, group, reader) for group in groups)
        return Asking(calls)
    if isinstance(judge, AgentJudge):
        return _agent(judge, groups, record)
    prompt, fixed, notes = _prompt(judge, record)
    sources = (judge.prompt, *(text for _, text in judge.context))
    pictures = output_images(record, reader) if any(mentions(text, "outputs") for text in sources if text) else Shown()
    notes += pictures.notes
    common: Shown | None = None
    calls_made = []
    for group in groups:
        criteria = asked_criteria(judge, group)
        own = _own_files(judge, criteria[0])
        tool = verdict_tool(criteria, guarded=judge.guards, instructions=judge.instructions)
        taken = len(tool.system) + len(prompt) + len(fixed)
        if own:
            material = shown_material(judge, own, reader, taken_bytes=taken)
        else:
            common = common or shown_material(judge, judge.files, reader, taken_bytes=taken)
            material = common
        request = ModelRequest(
            system=tool.system,
            prompt=prompt if prompt or fixed or material.parts else NO_MATERIAL,
            tool=ToolSchema(tool.name, tool.description, tool.schema),
            max_tokens=judge.max_tokens,
            fixed=fixed,
            material=(*pictures.parts, *material.parts) if own else (),
            effort=judge.effort,
            extra=_extra(judge.options) if judge.options else {},
        )
        calls_made.append(Asked(group, request, capped([*notes, *material.notes]), not own))
    return Asking(tuple(calls_made), (*pictures.parts, *(common.parts if common else ())))


def _agent(judge: AgentJudge, groups: list[tuple[int, ...]], record: Mapping[str, Any]) -> Asking:
    """One run of the agent a group: it looks at the work itself, so that nothing but the prompt is shown to it."""
    prompt, fixed, notes = _prompt(judge, record)
    calls = []
    for group in groups:
        criteria = asked_criteria(judge, group)
        contract = agent_contract(criteria, judge.answer_by, guarded=judge.guards, context=bool(judge.staged))
        if judge.answer_by is AnswerBy.SCORE_01:
            task = (
                f"{ROLE}\n\n# What is checked\n\n{judge.description}\n\n# When it passes\n\n{criteria[0].description}"
            )
        elif judge.prompt:
            task = fixed + prompt
        else:
            task = agent_task(
                criteria,
                guarded=judge.guards,
                instructions=judge.instructions,
                files=_own_files(judge, criteria[0]) or judge.files,
                reference=judge.reference,
                trajectory=judge.trajectory,
            )
        request = ModelRequest(
            system="",
            prompt=f"{task.rstrip()}\n\n{contract.text}",
            tool=ToolSchema("verdict", "", contract.schema),
            max_tokens=0,
        )
        calls.append(Asked(group, request, capped(notes)))
    return Asking(tuple(calls))


def asked_criteria(judge: ModelJudge, group: Sequence[int]) -> list[Criterion]:
    """The criteria of a call by the names that the model is told: all members of a panel are asked the same."""
    if isinstance(judge, PairwiseJudge):  # a name that says nothing of the runs
        return [msgspec.structs.replace(judge.criteria[index], name="comparison") for index in group]
    panel = judge.member_of if isinstance(judge, LLMJudge) else ""
    criteria = [judge.criteria[index] for index in group]
    return [
        msgspec.structs.replace(criterion, name=panel) if panel and criterion.name == judge.name else criterion
        for criterion in criteria
    ]


def _own_files(judge: LLMJudge, criterion: Criterion) -> tuple[str, ...]:
    """What a criterion is shown instead of the judge's files; the guard looks at all that any other is shown."""
    if judge.mode is not Mode.INDIVIDUAL:
        return ()
    others = [other for other in judge.criteria if other.name != GUARD]
    if criterion.files or not judge.guards or criterion.name != GUARD or not any(other.files for other in others):
        return criterion.files
    return tuple(dict.fromkeys(name for other in others for name in other.files or judge.files))


def _groups(judge: ModelJudge) -> list[tuple[int, ...]]:
    everything = tuple(range(len(judge.criteria)))
    return [(index,) for index in everything] if judge.mode is Mode.INDIVIDUAL else [everything]


def _prompt(judge: LLMJudge, record: Mapping[str, Any]) -> tuple[str, str, list[str]]:
    """(the rendered prompt, the part of it that is the same for every case, notes)."""
    sources = [judge.prompt, *(text for _, text in judge.context)]
    if not any(sources):
        return "", "", []
    examples = examples_text(judge.examples, str(record.get("case_id", "")))
    variables = template_variables(record, judge.arguments, examples)
    shown = [name for name in WORK if any(mentions(source, name) for source in sources)]
    looks_itself = bool(judge.files) or (isinstance(judge, AgentJudge) and judge.place is not Place.EMPTY)
    if shown and not looks_itself and not any(variables[name] for name in shown):
        are = "is" if len(shown) == 1 else "are"
        raise NothingToJudgeError(f"there is nothing to judge: {', '.join(shown)} of this case {are} empty")
    fitting = Fitting()
    text = _rendered(judge, sources, variables, examples, fitting)
    room = room_bytes(judge.model, answer_tokens=judge.max_tokens, taken_bytes=0)
    if len(text) * 4 > room and len(text.encode("utf-8", "replace")) > room:
        fitting = Fitting(_piece_cap(text, fitting.lengths, room))
        text = _rendered(judge, sources, variables, examples, fitting)
    prefix = fixed_prefix(judge.prompt)
    if len(prefix) < LEAST_FIXED or not text.startswith(prefix):
        prefix = ""
    notes = fitting.notes + addressing([(label, shown) for label, shown in fitting.texts if label != "inputs"])
    return text[len(prefix) :], prefix, [*record.get("notes", ()), *notes]


def _rendered(
    judge: LLMJudge, sources: Sequence[str], variables: Mapping[str, Any], examples: str, fitting: Fitting
) -> str:
    parts = [render(judge.prompt, variables, fitting)]
    if examples and not any(mentions(source, "examples") for source in sources):
        parts.append(f"{EXAMPLES_HEADING}\n\n{examples}")
    parts += [f"## Context: {name}\n\n{render(text, variables, fitting)}" for name, text in judge.context]
    return "\n\n".join(parts)


def _piece_cap(text: str, lengths: Sequence[int], room: int) -> int:
    """The most characters that a piece of the agent's work may take, for the whole to fit."""
    per_character = len(text.encode("utf-8", "replace")) / len(text)
    written = len(text) - sum(lengths)
    return fair_cap(lengths, int(room / per_character) - written)


def _extra(options: ProviderOptions) -> dict[str, Any]:
    """What OpenRouter is sent along."""
    extra: dict[str, Any] = dict(options.extra_body)
    if options.routing:
        extra["provider"] = options.routing
    if options.fallbacks:
        extra["models"] = list(options.fallbacks)
    return extra


def _decision(judge: DecisionJudge, group: tuple[int, ...], reader: DocumentReader) -> Asked:
    criteria = [judge.criteria[index] for index in group]
    own = criteria[0].files if judge.mode is Mode.INDIVIDUAL else ()
    material = shown_material(judge, own or judge.files, reader, taken_bytes=0)
    if any(not isinstance(part, TextPart) for part in material.parts):
        raise NothingToJudgeError("a decision model reads text only, and there are images among the files")
    longest = max(len(criterion.description) for criterion in criteria)
    limit = context_tokens(judge.model or "jev")
    tokens = (material.length + longest) // 4
    if tokens > limit:
        text = f"files and criterion come to about {tokens} tokens, and a decision model reads {limit}"
        raise NothingToJudgeError(text)
    questions = tuple(_question(slot.key or slot.criterion.name, slot.criterion) for slot in slots(criteria))
    request = ModelRequest(
        system="",
        prompt="" if material.parts else NO_MATERIAL,
        tool=ToolSchema("", "", {}),
        max_tokens=0,
        material=material.parts,
        questions=questions,
    )
    return Asked(group, request, material.notes)


def _question(key: str, criterion: Criterion) -> Question:
    levels = criterion.scale.labels if isinstance(criterion.scale, Levels) else ()
    return Question(key, criterion.description or criterion.name, levels)
