"""Files, a reference and a trajectory as the parts of a request, cut to what the model can read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from adjudge.domain import AsksModel, LLMJudge
from adjudge.models import ImagePart, Part, TextPart, room_bytes
from adjudge.prompts import (
    HTML,
    IMAGES,
    MAX_IMAGES,
    Document,
    DocumentReader,
    Trajectory,
    addressing,
    cut,
    fair_cap,
    fenced,
    read_trajectory,
)

MAX_NOTES = 50
_CUTS_BY_NAME = 10
_OVERHEAD = 160
_REFERENCE = (
    "## Reference solution\n\nThe author of the evaluation gives it to compare with. It is not the work to judge.\n\n"
)


class Shown(msgspec.Struct, frozen=True):
    """What a judge is shown beside its prompt, and what people should know of it."""

    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()
    length: int = 0
    """Of all texts before any was cut, in bytes."""


def shown_material(judge: AsksModel, files: Sequence[str], reader: DocumentReader, *, taken_bytes: int) -> Shown:
    """Read and lay out what a judge names: files, then the reference, then the trajectory.

    Raises:
        TrajectoryError: the trajectory cannot be read.
        MissingExtraError: a document needs markitdown, which is not installed.
    """
    documents = reader.read(files, html=judge.html)
    reference = reader.read([judge.reference], html=judge.html) if judge.reference else []
    path = judge.trajectory if isinstance(judge, LLMJudge) else ""
    trajectory = read_trajectory(os.path.join(reader.home, path)) if path else None  # noqa: PTH118
    pictures = _pictures(trajectory)
    everything = [*documents, *reference, *pictures]
    if not everything and trajectory is None:
        return Shown()
    texts = [document.text for document in (*documents, *reference)]
    images = sum(bool(document.data) for document in everything)
    length = sum(map(_bytes, texts)) + (trajectory.length if trajectory else 0)
    room = length  # a decision model is shown everything, or is not asked
    if isinstance(judge, LLMJudge):
        room = room_bytes(judge.model, answer_tokens=judge.max_tokens, taken_bytes=taken_bytes, images=images)
        room -= _OVERHEAD * (len(everything) + (trajectory is not None))
    story = ""
    notes: list[str] = []
    if trajectory is not None:
        share = max(room // 2, room - sum(map(_bytes, texts)))
        story, characters = _told(trajectory, share)
        if len(story) < trajectory.length:
            steps = "all steps kept" if trajectory.keeps_steps(characters) else "no step shown"
            notes.append(f"trajectory: cut to {len(story)} of {trajectory.length} characters, {steps}")
        notes += [f"{path}: not shown: an image outside of the trajectory's folder" for path in trajectory.refused]
        room -= _bytes(story)
    cap = _cap(texts, room)
    parts: list[Part] = []
    seen: list[tuple[str, str]] = []
    for document in documents:
        parts += _parts(document, cap, notes, seen)
    if reference:
        parts.append(TextPart(_REFERENCE))
        for document in reference:
            parts += _parts(document, cap, notes, [], what="REFERENCE SOLUTION")
    if story:
        parts.append(TextPart("## Trajectory\n\n" + fenced(story, "trajectory")))
        seen.append(("trajectory", story))
    for picture in pictures:
        parts += _parts(picture, cap, notes, seen)
    notes = [*addressing(seen), *_cut_notes([*documents, *reference], cap), *notes]
    return Shown(tuple(_joined(parts)), capped(notes), length)


def output_images(record: Mapping[str, Any], reader: DocumentReader) -> Shown:
    """The images among a case's outputs, each under its path."""
    files = record.get("files") or {}
    images = {
        path: content["path"]
        for path, content in sorted(files.items())
        if isinstance(content, Mapping) and path.lower().endswith(tuple(IMAGES))
    }
    notes = [f"{path}: not shown: more than {MAX_IMAGES} images" for path in list(images)[MAX_IMAGES:]]
    parts: list[Part] = []
    for path in list(images)[:MAX_IMAGES]:
        parts += _parts(reader.image(path, images[path]), None, notes, [])
    return Shown(tuple(_joined(parts)), tuple(notes))


def capped(notes: Sequence[str]) -> tuple[str, ...]:
    """Not more notes than people read, nor longer ones."""
    kept = [note if len(note) <= 300 else note[:299] + "…" for note in notes[:MAX_NOTES]]
    return (*kept, f"and {len(notes) - MAX_NOTES} more notes") if len(notes) > MAX_NOTES else tuple(kept)


def _told(trajectory: Trajectory, room: int) -> tuple[str, int]:
    """(the trajectory in at most `room` bytes, the characters that it was given for that)."""
    most = max(0, room)
    if _bytes(trajectory.text(most)) > room:
        most = _most(lambda characters: _bytes(trajectory.text(characters)) <= room, most)
    return trajectory.text(most), most


def _cap(texts: Sequence[str], room: int) -> int | None:
    """The most characters of one text, for all to take at most `room` bytes; `None` when they do as they are."""
    if sum(map(_bytes, texts)) <= room:
        return None

    def fit(cap: int) -> bool:
        return sum(min(len(text), cap) if text.isascii() else _bytes(cut(text, cap)) for text in texts) <= room

    return _most(fit, fair_cap([len(text) for text in texts], room))


def _most(fits: Callable[[int], bool], limit: int) -> int:
    """The largest number up to `limit` that fits, by halving; 0 when none does."""
    low, high = 0, limit + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _cut_notes(documents: Sequence[Document], cap: int | None) -> list[str]:
    """Which files were cut: each by name, or how many when they are many."""
    cuts = [document for document in documents if cap is not None and len(document.text) > cap]
    if len(cuts) <= _CUTS_BY_NAME:
        return [f"{document.label}: cut to {cap} of {len(document.text)} characters" for document in cuts]
    return [f"{len(cuts)} of {len(documents)} files: cut to {cap} characters each, the first is {cuts[0].label}"]


def _parts(
    document: Document,
    cap: int | None,
    notes: list[str],
    seen: list[tuple[str, str]],
    *,
    what: str = "EVALUATED MATERIAL",
) -> list[Part]:
    label = document.label
    if document.note:
        notes.append(f"{label}: {document.note}")
    if document.missing:
        notes.append(f"{label}: {document.missing}")
        return [TextPart(fenced(f"({document.missing})", label, what=what))]
    if document.data:
        return [
            TextPart(fenced("(the image that follows)", label, what=what)),
            ImagePart(document.media_type, document.data),
        ]
    text = document.text
    if cap is not None and len(text) > cap:
        text = cut(text, cap)
    seen.append((label, text))
    if label.lower().endswith(tuple(HTML)) and not document.text.lstrip().startswith("<"):
        label += " (as text)"
    return [TextPart(fenced(text, label, what=what) or fenced("(nothing left)", label, what=what))]


def _pictures(trajectory: Trajectory | None) -> list[Document]:
    return DocumentReader(trajectory.home).read(trajectory.images) if trajectory is not None else []


def _joined(parts: Iterable[Part]) -> list[Part]:
    """Texts that follow each other as one part."""
    joined: list[Part] = []
    run: list[str] = []
    for part in parts:
        if isinstance(part, TextPart):
            run.append(part.text)
            continue
        if run:
            joined.append(TextPart("\n\n".join(run)))
            run = []
        joined.append(part)
    return [*joined, TextPart("\n\n".join(run))] if run else joined


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
