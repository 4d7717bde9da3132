"""Looking for text that addresses the judge: no verdict, only a note for people, made the same way every time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_JUDGE = r"(?:judge|grader|evaluator|reviewer|examiner|scorer|rater|assessor|llm|language model|ai model)s?"
_WHO = rf"(?:the|this|our|my|any|automated|automatic|ai|llm|-|\s){{0,24}}{_JUDGE}\b"
_ADDRESS = r"(?:dear|attention|note (?:to|for)|message (?:to|for)|hey|hello|instructions? (?:to|for))"
_REPLACED = r"(?:previous|prior|above|earlier|all|your|system|these|the)"
_IGNORE = r"(?:ignore|disregard|forget|override|bypass)"
_RULES = r"(?:instruction|prompt|rubric|criteri|guideline|rule|direction)"
_GIVE = r"(?:give|award|assign|grant|return|output|submit|(?:respond|answer|reply) with|rate|grade|mark|score)"
_BEST = (
    r"(?:full marks|full credit|perfect score|max(?:imum)? (?:score|points)|highest (?:score|rating|grade|possible)|"
    r"top score|score of \d|10/10|5/5|100/100|as (?:passed|passing|correct))"
)
_MUST = r"(?:you must|you should|please|always)"
_WORK = r"(?:agent|answer|case|code|output|response|result|solution|submission|work)"
_FIELD = r"(?:rationale|reasoning|passed|score|verdict|flagged)"
_SAYS = r"(?:final |overall )?(?:score|verdict|grade|rating|passed)"
_ROLE = r"\[/?INST\]|<\|im_(?:start|end)\|>|<\|?/?(?:system|assistant)\|?>"
_PATTERNS: tuple[tuple[str, str, str], ...] = (
    (
        "asks to set instructions aside",
        "ignore|disregard|forget|override|bypass",
        rf"\b{_IGNORE}\b[^.\n]{{0,40}}\b{_REPLACED}\b[^.\n]{{0,40}}\b{_RULES}",
    ),
    (
        "speaks to the judge",
        "judge|grader|evaluator|reviewer|examiner|scorer|rater|assessor|llm|language model|ai model",
        rf"\b{_ADDRESS}\b[\s,:]{{0,3}}{_WHO}",
    ),
    (
        "asks for a verdict",
        "full marks|full credit|perfect score|max|highest|top score|score of|0/1|5/5|as pass|as c",
        rf"\b{_GIVE}\b[^.\n]{{0,60}}\b{_BEST}",
    ),
    (
        "asks to be passed",
        "pass |approve |accept ",
        rf"\b{_MUST}\b[^.\n]{{0,30}}\b(?:pass|approve|accept) (?:this|it|every|all|the {_WORK})\b",
    ),
    (
        "has the form of a verdict",
        '"rationale"|"reasoning"|"passed"|"score"|"verdict"|"flagged"',
        rf"\{{\s*\"{_FIELD}\"\s*:",
    ),
    (
        "states a verdict",
        "score|verdict|grade|rating|passed",
        rf"^\W{{0,3}}{_SAYS}\W{{0,3}}[:=]\W{{0,3}}(?:\d|pass|true|yes|perfect)",
    ),
    (
        "has the form of a prompt",
        "[inst]|[/inst]|<|im_|system|assistant",
        rf"{_ROLE}|^[^\S\n]*+(?:system|assistant)[^\S\n]*+(?:(?:prompt|message)[^\S\n]*+)?:\s",
    ),
    (
        "imitates the judge's markers",
        "material|excerpt|submission",
        r"\[\s*(?:begin|end)\s+(?:of\s+)?(?:evaluated\s+)?(?:material|excerpt|submission)",
    ),
)
"""What it is, words of which one must be there (between bars), and the whole pattern, which is slower to look for."""

_HIDDEN = re.compile("[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069]+")
_UNSEEN = "holds characters that cannot be seen"
_MOST = 5


def addressed_to_judge(text: str) -> list[str]:
    """What in a text addresses its judge, as short descriptions with the words themselves; at most five."""
    return _found(text, _candidates(text))


def addressing(texts: Sequence[tuple[str, str]]) -> list[str]:
    """The same for many (label, text) pairs, as notes; texts without any telling word are looked at once, together."""
    candidates = _candidates("\n".join(text for _, text in texts))
    if not candidates:
        return []
    return [f"{label} addresses the judge: {what}" for label, text in texts for what in _found(text, candidates)]


def _candidates(text: str) -> list[tuple[str, re.Pattern[str]]]:
    """The patterns of which at least a telling word is there."""
    lowered = text.lower()
    found = [
        (what, _compiled(pattern))
        for what, words, pattern in _PATTERNS
        if any(word in lowered for word in words.split("|"))
    ]
    return found if text.isascii() or not _HIDDEN.search(text) else [*found, (_UNSEEN, _HIDDEN)]


def _found(text: str, candidates: Sequence[tuple[str, re.Pattern[str]]]) -> list[str]:
    found: list[str] = []
    for what, pattern in candidates:
        mark = pattern.search(text)
        if mark is not None and len(found) < _MOST:
            found.append(what if what is _UNSEEN else f"{what}: {_excerpt(text, mark.start(), mark.end())}")
    return found


@lru_cache(maxsize=len(_PATTERNS))
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)


def _excerpt(text: str, start: int, end: int) -> str:
    words = " ".join(text[start : min(end + 20, start + 100)].split())
    return repr("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words))
