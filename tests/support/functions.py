"""Functions that tests make judges of. Workers load this file by its path, so it imports nothing of the tests."""

from __future__ import annotations

from typing import Any


def length(outputs: dict[str, Any], at_most: int = 100) -> tuple[bool, str]:
    """Is the answer short?"""
    count = len(outputs["files"]["a.md"])
    return count <= at_most, f"{count} characters"


def share(outputs: dict[str, Any]) -> float:
    return len(outputs["files"]["a.md"]) / 10


class Judges:
    @staticmethod
    def nested(outputs: dict[str, Any]) -> bool:
        return "files" in outputs
