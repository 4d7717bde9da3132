"""Criteria on what a text means. Similar is not correct: a sentence and its negation lie close together."""

from __future__ import annotations

import os
from pathlib import Path

from adjudge.judges.criteria.finding import Finding
from adjudge.judges.criteria.library.reading import brief, failing, locate, need_string, read_text

_MAX_CHARACTERS = 20_000


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
    text, note = read_text(workspace, path, head=True)
    if not text.strip():
        return Finding(0.0 if minimum is None else False, f"{path} is empty")
    from adjudge.judges.embedding import similarity

    if len(text) > _MAX_CHARACTERS:
        note += f"; only the first {_MAX_CHARACTERS} characters count"
    try:
        cosine = similarity(text[:_MAX_CHARACTERS], wanted[:_MAX_CHARACTERS])
    except ValueError:  # characters of which the model knows none
        return Finding(0.0 if minimum is None else False, f"{path} has nothing to compare{note}")
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
