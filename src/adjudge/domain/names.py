"""The nearest known name, for messages about one that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(name: str, known: Iterable[str]) -> str:
    """A hint with the most similar known name, or nothing."""
    match = difflib.get_close_matches(name, sorted(set(known)), n=1, cutoff=0.65)
    return f"did you mean {match[0]!r}?" if match else ""
