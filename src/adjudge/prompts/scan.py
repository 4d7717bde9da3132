"""Looking for text that addresses the judge: no verdict, only a note for people, made the same way every time."""

from __future__ import annotations

import re

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
_FIELD = r"(?:rationale|reasoning|passed|score|verdict|flagged)"
_SAYS = r"(?:final |overall )?(?:score|verdict|grade|rating|passed)"
_ROLE = r"\[/?INST\]|<\|im_(?:start|end)\|>|<\|?/?(?:system|assistant)\|?>"
_PATTERNS: tuple[tuple[str, str], ...] = (
    ("asks to set instructions aside", rf"\b{_IGNORE}\b[^.\n]{{0,40}}\b{_REPLACED}\b[^.\n]{{0,40}}\b{_RULES}"),
    ("speaks to the judge", rf"\b{_ADDRESS}\b[\s,:]{{0,3}}{_WHO}"),
    ("asks for a verdict", rf"\b{_GIVE}\b[^.\n]{{0,60}}\b{_BEST}"),
    ("asks to be passed", rf"\b{_MUST}\b[^.\n]{{0,30}}\b(?:pass|approve|accept) (?:this|the|it|every|all)\b"),
    ("has the form of a verdict", rf"\{{\s*\"{_FIELD}\"\s*:"),
    ("states a verdict", rf"^\W{{0,3}}{_SAYS}\W{{0,3}}[:=]\W{{0,3}}(?:\d|pass|true|yes|perfect)"),
    ("has the form of a prompt", rf"{_ROLE}|^\s*(?:system|assistant)\s*(?:prompt|message)?\s*:\s"),
    (
        "imitates the judge's markers",
        r"\[\s*(?:begin|end)\s+(?:of\s+)?(?:evaluated\s+)?(?:material|excerpt|submission)",
    ),
)
_VISIBLE = [(what, re.compile(pattern, re.IGNORECASE | re.MULTILINE)) for what, pattern in _PATTERNS]
_HIDDEN = re.compile("[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069]+")
_MOST = 5


def addressed_to_judge(text: str) -> list[str]:
    """What in a text addresses its judge, as short descriptions with the words themselves; at most five."""
    found: list[str] = []
    for what, pattern in _VISIBLE:
        mark = pattern.search(text)
        if mark is not None and len(found) < _MOST and not any(entry.startswith(what) for entry in found):
            found.append(f"{what}: {_excerpt(text, mark.start(), mark.end())}")
    if len(found) < _MOST and _HIDDEN.search(text):
        found.append("holds characters that cannot be seen")
    return found


def _excerpt(text: str, start: int, end: int) -> str:
    words = " ".join(text[start : min(end + 20, start + 100)].split())
    return repr("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words))
