"""Was every question of the agent to its user answered by a simulator that worked?

It reads calls of AskUserQuestion (also `mcp__...__AskUserQuestion`), of subagents too, and for each of them
* its questions: `input.questions`, as texts or mappings with `question`; else one, `input.question`;
* its `tool_result` events, by `tool_use_id`: `is_error`, and their content where it is a mapping, a list, or JSON text;
* the case's `hook_outputs`: mappings in it that name the call's `tool_use_id` or the text of a `question`.
In these it looks for `provenance` or `source` (a word, or a mapping with `source`), which stands for the question that
the same mapping names, else for the whole call; and for `answers`, a mapping from question to answer.
Words other than those below say nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from adjudge.judges.builtin.trace import Call, calls, content_text, listed

_FINE = frozenset({"override", "llm", "simulator"})
_BAD = frozenset({"fallback", "disabled", "error"})
_TOOL = "AskUserQuestion"
_DEPTH = 12


def judge(outputs: dict[str, Any]) -> tuple[bool, str]:
    """Pass when each question has an answer from an override or a working simulator, and when nothing was asked.

    Raises:
        ValueError: questions were answered, and it is not recorded by whom.
    """
    asked = [call for call in calls(outputs) if call.name == _TOOL or call.name.endswith(f"__{_TOOL}")]
    if not asked:
        return True, "The agent asked its user nothing."
    hooks = list(_mappings(outputs.get("hook_outputs")))
    faults: list[str] = []
    unknown: list[str] = []
    total = 0
    for call in asked:
        questions = _questions(call)
        total += len(questions)
        wrong, unsaid = _look(call, questions, hooks)
        faults += wrong
        unknown += unsaid
    if faults:
        return False, f"{len(faults)} of {total} questions were not answered by a working simulator: {listed(faults)}"
    if unknown:
        raise ValueError(f"it is not recorded who answered {listed(unknown)}")
    return True, f"All {total} questions were answered by an override or a working simulator."


def _look(call: Call, questions: list[str], hooks: list[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """(what is wrong with a question's answer, questions whose answer has no known origin)."""
    if any(result.get("is_error") is True for result in call.results):
        return [f"{_name(question)}: the answer is an error" for question in questions], []
    found = [mapping for result in call.results for mapping in (result, *_mappings(_data(result.get("content"))))]
    said = [m for m in hooks if (call.id and m.get("tool_use_id") == call.id) or m.get("question") in questions]
    found += said
    told = bool(said) or any(result.get("content") for result in call.results)
    answers = _answers([*found, call.given] if call.given.get("answers") else found)
    origins: dict[str, set[str]] = {}
    for mapping in found:
        word = _origin(mapping)
        if word:
            question = mapping.get("question")
            origins.setdefault(question if question in questions else "", set()).add(word)
    faults, unknown = [], []
    for question in questions:
        own = origins.get(question) or origins.get("", set())
        bad = sorted(own & _BAD)
        answered = told if answers is None else _holds(answers, question, questions)
        if bad:
            faults.append(f"{_name(question)}: {', '.join(bad)}")
        elif not answered or (not own and origins):
            faults.append(f"{_name(question)}: no answer")
        elif not own:
            unknown.append(_name(question))
    return faults, unknown


def _questions(call: Call) -> list[str]:
    given = call.given.get("questions")
    texts = [
        str(item.get("question", "") if isinstance(item, Mapping) else item)
        for item in (given if isinstance(given, list) else ())
    ]
    return texts or [str(call.given.get("question") or "")]


def _answers(found: list[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Question -> answer; `None` where nothing lists the answers."""
    answers: dict[str, Any] | None = None
    for mapping in found:
        listing = mapping.get("answers")
        if isinstance(listing, Mapping):
            answers = {**(answers or {}), **listing}
        elif isinstance(listing, list):
            named = [item for item in listing if isinstance(item, Mapping) and isinstance(item.get("question"), str)]
            if named:
                answers = {**(answers or {}), **{item["question"]: item.get("answer", "") for item in named}}
    return answers


def _holds(answers: Mapping[str, Any], question: str, questions: list[str]) -> bool:
    """True if the question has an answer; by its place where answers go by other names than the questions."""
    if any(name in questions for name in answers):
        return bool(answers.get(question))
    return sum(map(bool, answers.values())) > questions.index(question)


def _origin(mapping: Mapping[str, Any]) -> str:
    for key in ("provenance", "source"):
        word = mapping.get(key)
        if isinstance(word, Mapping):
            word = word.get("source")
        if isinstance(word, str) and word.strip().lower() in _FINE | _BAD:
            return word.strip().lower()
    return ""


def _data(content: Any) -> Any:
    """What a content holds besides prose: its JSON, where all of it is JSON."""
    if isinstance(content, Mapping):
        return content
    text = content_text(content).strip()
    if not text.startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _mappings(value: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Every mapping in a value, itself included."""
    if depth > _DEPTH:
        return
    if isinstance(value, Mapping):
        yield value
        for item in value.values():
            yield from _mappings(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _mappings(item, depth + 1)


def _name(question: str) -> str:
    line = " ".join(question.split()) or "a question"
    return repr(line if len(line) <= 60 else line[:59] + "…")
