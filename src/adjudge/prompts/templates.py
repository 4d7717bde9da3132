"""Prompts as templates: their variables, and what is asked of them. Jinja2 is imported with the first template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adjudge.prompts.views import AnnotationsView, OutputsView, cut_shown, shown

AGENT_MADE = frozenset({"outputs", "conversation", "reasoning", "tool_trace", "inputs", "evidence"})
WORK = tuple(sorted(AGENT_MADE - {"inputs"}))
AUTHORED = ("annotations", "arguments", "examples")
VARIABLES = (*sorted(AGENT_MADE), *AUTHORED)
TEXTS = ("conversation", "reasoning", "tool_trace", "inputs", "evidence")


class PromptError(ValueError):
    """A template that cannot be rendered for this case."""


class Fitting:
    """What a rendering shows of the agent's work, and how much of each piece it may show."""

    def __init__(self, cap: int | None = None) -> None:
        self.cap = cap
        self.lengths: list[int] = []
        self.texts: list[tuple[str, str]] = []
        self.notes: list[str] = []

    def fit(self, value: Any, label: str) -> str:
        """The text of a value, cut where it is longer than a piece may be."""
        text = shown(value)
        self.lengths.append(len(text))
        if self.cap is not None and len(text) > self.cap:
            self.notes.append(f"{label}: cut to {self.cap} of {len(text)} characters")
            text = cut_shown(value, text, label, self.cap)
        self.texts.append((label, text))
        return text


def template_variables(record: Mapping[str, Any], arguments: Mapping[str, Any], examples: str = "") -> dict[str, Any]:
    """The variables of a prompt, from a case record."""
    texts = {key: value for key, value in record.items() if key.startswith("annotation_") and isinstance(value, str)}
    variables: dict[str, Any] = {name: record.get(name) or "" for name in TEXTS}
    variables["outputs"] = OutputsView(record)
    variables["annotations"] = AnnotationsView(record.get("annotations") or {}, texts)
    variables["arguments"] = dict(arguments)
    variables["examples"] = examples
    return variables


def render(source: str, variables: Mapping[str, Any], fitting: Fitting | None = None) -> str:
    """Render a prompt; `fitting` notes what it shows of the agent's work, and may keep it short.

    Raises:
        PromptError: the template fails on this case.
    """
    from adjudge.prompts import rendering

    return rendering.render(source, variables, fitting)


def template_problem(source: str) -> str | None:
    """What keeps a template from rendering for any case, in words; `None` when nothing does."""
    if not source:
        return None
    from adjudge.prompts import rendering

    return rendering.template_problem(source)


def mentions(source: str, variable: str) -> bool:
    """True if a template refers to the variable; one that does not parse is searched as text."""
    if variable not in source:
        return False
    from adjudge.prompts import rendering

    return rendering.mentions(source, variable)


def shows_work(source: str) -> bool:
    """True if a template refers to anything that the agent made, its inputs apart."""
    return any(mentions(source, name) for name in WORK)


def fixed_prefix(source: str) -> str:
    """The text that every rendering of a template begins with."""
    if not source:
        return ""
    from adjudge.prompts import rendering

    return rendering.fixed_prefix(source)
