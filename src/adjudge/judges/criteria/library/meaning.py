"""Criteria on what a text means. Similar is not correct: a sentence and its negation lie close together."""

from __future__ import annotations

import os
from pathlib import Path

from adjudge.judges.criteria.finding import Finding
from adjudge.judges.criteria.library.reading import UnusableError, brief, failing, locate, need_string, read_text

_MAX_CHARACTERS = 20_000
_MAX_WINDOWS = 6
"""Of the model, some 1,500 words: it takes a few tenths of a second for each."""


@failing(0.0)
def semantic_similarity(
    workspace: Path, path: str, reference: str | os.PathLike[str], minimum: float | None = None
) -> Finding:
    """Cosine of the sentence embeddings of a file and a reference, at least 0, or whether it reaches `minimum`.

    `reference` is the text itself; a `pathlib.Path` names its file, which whoever is judged cannot turn into another.

    Raises:
        MissingExtraError: the embedded model is not installed.
        ValueError: the reference is empty or cannot be read, or `minimum` is not in [-1, 1].
    """
    if minimum is not None and not (isinstance(minimum, int | float) and -1 <= minimum <= 1):
        raise ValueError(f"minimum must be in [-1, 1], got {brief(minimum)}")
    wanted = _reference(workspace, reference)
    nothing = 0.0 if minimum is None else False
    try:
        text, note = read_text(workspace, path, head=True)
    except UnusableError as error:
        return Finding(nothing, str(error))
    if "\0" in text[:8192]:  # the model skips what it does not know, so that a few words among bytes would decide
        return Finding(nothing, f"{path} is no text{note}")
    if not text.strip():
        return Finding(nothing, f"{path} is empty")
    from adjudge.judges.embedding import similarity, window_count

    counted = text[:_MAX_CHARACTERS]
    if len(text) > len(counted) or window_count(counted) > _MAX_WINDOWS:
        note += "; only its first 1,500 words or so count"
    try:
        cosine = similarity(counted, wanted[:_MAX_CHARACTERS], windows=_MAX_WINDOWS)
    except ValueError:  # characters of which the model knows none
        return Finding(nothing, f"{path} has nothing to compare{note}")
    said = f"cosine {cosine:.3f} between {path} and the reference"
    if minimum is None:
        return Finding(max(0.0, cosine), f"{said}{note}")
    reached = cosine >= minimum
    return Finding(reached, f"{said}, {'at least' if reached else 'below'} {minimum:g}{note}")


def _reference(workspace: Path, reference: str | os.PathLike[str]) -> str:
    if isinstance(reference, os.PathLike):
        place = locate(workspace, reference)
        try:
            text = place.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"the reference {reference} cannot be read: {error}") from None
    else:
        text = need_string("reference", reference)
    if not text.strip():
        raise ValueError("the reference is empty, so there is no meaning to compare")
    return text
