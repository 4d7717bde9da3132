"""`rubric.md`: the dimensions that it names, their anchors, and the text that the judge is given."""

from __future__ import annotations

import hashlib
import re

import msgspec

from adjudge.domain import Criterion, Likert, Problem

POINTS = 5
CANNOT_TELL = 0
_HEADER = re.compile(
    r"^\s{0,3}(?:\d+[.)]|#{1,6}|[-*+])\s+[*_`]*([A-Za-z][\w-]*(?: [\w-]+)*)[*_`]*\s*:?[*_`]*\s*"
    r"(?:[-:\u2013\u2014(].*)?$"
)
_ANCHOR = re.compile(
    r"^\s*(?:[-*+]\s+|\|\s*)[*_`]*(\d+)[*_`]*\s*(?:[:=|\u2013\u2014-]|\.\s)\s*[*_`]*\s*(\S.*?)\s*\|?\s*$"
)
_SCHEMA = re.compile(r"^\s{0,3}(?:#{1,6}\s+)?[*_]*output (?:schema|format)\b.*$", re.IGNORECASE)
_TAKEN = ("trace", "labeller", "comment", "prompt", "files", "diff", "final_message")
_SECTION = re.compile(r"^\s{0,3}#{1,6}\s")


class Dimension(msgspec.Struct, frozen=True):
    """One dimension: its name as the judge's answer spells it, and score -> what earns it."""

    name: str
    anchors: dict[int, str]
    line: int


class Rubric(msgspec.Struct, frozen=True):
    """What a rubric says. `text` is without the output schema, which follows from the dimensions."""

    text: str
    dimensions: tuple[Dimension, ...]

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        return tuple(
            Criterion(name=dimension.name, scale=Likert(POINTS), abstain=True, cannot_tell=CANNOT_TELL)
            for dimension in self.dimensions
        )


def read_rubric(source: str, shown: str) -> tuple[Rubric, list[Problem]]:
    """Parse a rubric: a dimension is a numbered line, a bullet or a heading with a name, and bullets `5: ...` below it.

    A section that begins with "Output schema" is left out: how the judge answers follows from the dimensions.
    """
    text = _without_schema(source)
    problems: list[Problem] = []
    found: list[Dimension] = []
    name, begun, at = "", 0, 0
    anchors: dict[int, str] = {}

    def close() -> None:
        if name and anchors:
            found.append(Dimension(name, dict(anchors), begun))

    for number, line in enumerate(text.split("\n"), 1):
        anchor = _ANCHOR.match(line)
        if anchor is not None:
            score = int(anchor[1])
            if not name:
                continue
            if score > POINTS:
                message = f"{name}: the anchor {score} lies outside of 0 to {POINTS}"
                problems.append(Problem(file=shown, line=number, column=1, key="rubric", message=message))
            elif score in anchors:
                message = f"{name}: the anchor {score} stands twice"
                problems.append(Problem(file=shown, line=number, column=1, key="rubric", message=message))
            anchors[score] = anchor[2]
            at = score
            continue
        header = _HEADER.match(line)
        if header is not None:
            close()
            name, begun, anchors = _key(header[1]), number, {}
        elif anchors and line.strip() and line[:1].isspace():
            anchors[at] += f" {line.strip()}"
        elif line.strip() and anchors:
            close()
            name, anchors = "", {}
    close()
    names = [dimension.name for dimension in found]
    for dimension in found:
        if names.count(dimension.name) > 1 and dimension is not found[names.index(dimension.name)]:
            message = f"the dimension {dimension.name} stands twice"
            problems.append(Problem(file=shown, line=dimension.line, column=1, key="rubric", message=message))
        if dimension.name.lower() in _TAKEN:
            message = f"a dimension cannot be called {dimension.name}: label sheets have a column of that name"
            problems.append(Problem(file=shown, line=dimension.line, column=1, key="rubric", message=message))
        if len(dimension.anchors) < 2:
            message = f"{dimension.name} has one anchor: a judge needs to know what earns which score"
            problems.append(Problem(file=shown, line=dimension.line, key="rubric", message=message, warning=True))
    if not found:
        hint = "a numbered line with a name, and below it bullets such as `- 5: what earns a 5`"
        problems.append(Problem(file=shown, key="rubric", message="it names no dimension", hint=hint))
    return Rubric(text, tuple(found)), problems


def _key(name: str) -> str:
    return "_".join(name.strip().split())


def _without_schema(source: str) -> str:
    """The text without the section that states the form of the answer, to its end: its JSON, or the next heading."""
    kept: list[str] = []
    skipping = False
    for line in source.replace("\r\n", "\n").split("\n"):
        if _SCHEMA.match(line):
            skipping = True
            continue
        if skipping and _SECTION.match(line):
            skipping = False
        if not skipping:
            kept.append(line)
    return "\n".join(kept).strip() + "\n"
