"""Files on disk, shown as a judge would see them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adjudge.domain import Binary, Criterion, LLMJudge
from adjudge.judges.showing import Shown, shown_material
from adjudge.models import TextPart
from adjudge.prompts import Document, DocumentReader

MIB = 1024 * 1024
PIXELS = {
    ".png": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC",
    ".gif": "R0lGODlhAQABAIAAAP8AAAAAACwAAAAAAQABAAACAkQBADs=",
    ".webp": "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA",
    ".jpg": (
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAx"
        "NDQ0Hyc5PTgyPC4zNDL/wAALCAABAAEBAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAFAABAAAAAAAAAAAA"
        "AAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AKp//2Q=="
    ),
}


def read(home: Path, *patterns: str, html: str = "text") -> dict[str, Document]:
    found = DocumentReader(str(home)).read(patterns, html=html)
    assert len({document.label for document in found}) == len(found)
    return {document.label: document for document in found}


def shown(home: Path, *files: str, model: str = "claude-sonnet-5-5", **fields: Any) -> Shown:
    judge = LLMJudge(name="j", model=model, files=files, criteria=(Criterion(name="j", scale=Binary()),), **fields)
    return shown_material(judge, judge.files, DocumentReader(str(home)), taken_bytes=0)


def text_of(material: Shown) -> str:
    return "\n\n".join(part.text for part in material.parts if isinstance(part, TextPart))


def noted(material: Shown, *words: str) -> bool:
    return any(all(word in note for word in words) for note in material.notes)


def write(home: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
