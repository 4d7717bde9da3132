"""How close in meaning is an output to a reference, by sentence embeddings?

Similar is not correct: a sentence and its negation lie close together.
"""

from __future__ import annotations

import fnmatch
import re
from typing import Any

from adjudge.judges.embedding import similarity


def judge(
    outputs: dict[str, Any],
    *,
    output: str | None = None,
    reference: str = "reference",
    min_similarity: float | None = None,
) -> tuple[bool | float, str]:
    """The cosine in [-1, 1], or whether it reaches `min_similarity` when that is given.

    `output` is a path or pattern of an output file (by default the only text file, or the conversation when there are
    no files); `reference` is the annotation that holds the text or names its file.

    Raises:
        ValueError: there is no such output or reference, or more than one output matches.
    """
    expected = _reference(outputs, reference)
    path, text = _output(outputs, output)
    cosine = similarity(text, expected)
    rationale = f"cosine {cosine:.3f} between {path} and the annotation {reference!r}"
    if min_similarity is None:
        return cosine, rationale
    passes = cosine >= min_similarity
    return passes, f"{rationale}, {'at least' if passes else 'below'} {min_similarity:g}"


def _reference(outputs: dict[str, Any], key: str) -> str:
    text = outputs.get(f"annotation_{key}_content") or outputs.get("annotations", {}).get(key)
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"the case has no annotation {key!r} with a reference text")
    if f"annotation_{key}_content" not in outputs and re.fullmatch(r"[\w./-]+\.\w{1,5}", text):
        raise ValueError(f"the annotation {key!r} names {text}, and the case has no such file")
    return text


def _output(outputs: dict[str, Any], pattern: str | None) -> tuple[str, str]:
    texts = {path: content for path, content in outputs.get("files", {}).items() if isinstance(content, str)}
    if pattern is None and not texts:
        return "the conversation", outputs.get("conversation", "")
    matching = [path for path in texts if pattern is None or fnmatch.fnmatchcase(path, pattern)]
    if len(matching) != 1:
        found = ", ".join(matching[:5]) or "none"
        raise ValueError(f"exactly one output must match {pattern or 'the case'!r}, found {found}")
    return matching[0], texts[matching[0]]
