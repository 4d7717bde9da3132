"""A comparison of two outputs: what the model is shown, with one order of them and with the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adjudge.domain import PairwiseJudge
from adjudge.judges.llm import Asked, Asking, NothingToJudgeError, asked_criteria
from adjudge.judges.showing import Shown, capped, output_images
from adjudge.models import ModelRequest, Part, TextPart, ToolSchema, room_bytes
from adjudge.prompts import (
    DocumentReader,
    Fitting,
    addressing,
    fair_cap,
    render,
    template_variables,
    verdict_tool,
)

RULES = (
    "Two systems did the same task. Judge which output serves it better, by the instructions. The order in which they "
    "stand means nothing, and neither does length: of two that serve equally well the briefer is better, and what is "
    "said at length without need is a fault. Answer tie when neither is better."
)
DEFAULT = """Compare the two outputs by how well they do what was asked: is everything there that was asked for, is it \
correct and does it hold together, and is nothing in it that does not belong.

# The task

{{ inputs }}
"""
"""What is asked when the suite says nothing of its own."""
MAX_TOKENS = 16_384
_SIDES = ("A", "B")


def pairwise_asking(
    judge: PairwiseJudge, record: Mapping[str, Any], baseline: Mapping[str, Any] | None, reader: DocumentReader
) -> Asking:
    """Two calls: the run's output first, then the baseline's first.

    Raises:
        PromptError: the template fails on this case.
        NothingToJudgeError: one of the runs has no output of the case.
    """
    if baseline is None:
        raise NothingToJudgeError("the baseline has no output of this case")
    variables = template_variables(record, judge.arguments)
    fitting = Fitting()
    asked = render(judge.prompt or DEFAULT, variables, fitting)
    parts = [f"## Context: {name}\n\n{render(text, variables, fitting)}" for name, text in judge.context]
    sources = [template_variables(side, judge.arguments) for side in (record, baseline)]
    texts, notes = _outputs(judge, sources, taken=len(asked) + sum(map(len, parts)))
    pictures = [output_images(side, reader) for side in (record, baseline)]
    for whose, text, shown in zip(("this run", "the baseline"), texts, pictures, strict=True):
        if not text.strip() and not shown.parts:
            raise NothingToJudgeError(f"{whose} has no output of this case")
    calls = []
    for index in range(len(judge.criteria)):
        order = (0, 1) if index == 0 else (1, 0)
        criteria = asked_criteria(judge, (index,))
        tool = verdict_tool(criteria, instructions=RULES)
        blocks = [f"# Output {name}\n\n{texts[side]}" for name, side in zip(_SIDES, order, strict=True)]
        request = ModelRequest(
            system=tool.system,
            prompt="\n\n".join([asked, *parts, *blocks]),
            tool=ToolSchema(tool.name, tool.description, tool.schema),
            max_tokens=max(judge.max_tokens, MAX_TOKENS),
            material=tuple(_named([pictures[side] for side in order])),
            effort=judge.effort,
        )
        said = [*notes, *(note for shown in pictures for note in shown.notes)]
        lengths = tuple(len(texts[side]) for side in order)
        calls.append(Asked((index,), request, capped(said), shown_chars=lengths))
    return Asking(tuple(calls))


def _outputs(judge: PairwiseJudge, sources: list[dict[str, Any]], *, taken: int) -> tuple[list[str], list[str]]:
    """Both outputs, fenced, each cut alike where they do not fit; and what is to be said of them."""
    fitting = Fitting()
    texts = [render("{{ outputs }}", variables, fitting) for variables in sources]
    room = room_bytes(judge.model, answer_tokens=MAX_TOKENS, taken_bytes=taken * 4)
    if sum(len(text.encode("utf-8", "replace")) for text in texts) > room:
        fitting = Fitting(fair_cap(fitting.lengths, room // 4))
        texts = [render("{{ outputs }}", variables, fitting) for variables in sources]
    return texts, [*fitting.notes, *addressing(fitting.texts)]


def _named(shown: list[Shown]) -> list[Part]:
    """The images of each side under its letter."""
    parts: list[Part] = []
    for name, pictures in zip(_SIDES, shown, strict=True):
        if pictures.parts:
            parts += [TextPart(f"# Images of output {name}"), *pictures.parts]
    return parts
