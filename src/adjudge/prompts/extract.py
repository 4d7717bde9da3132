"""Finding the verdict in a reply that came as text, in one pass.

What a reply quotes is not what it says: block quotes, code blocks that are not its last word, quotation marks, echoed
material and what stands within a sentence are passed over, and so is everything inside of an object. Nothing tells a
quotation that has words before and after it from a verdict, so such an object is none.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_FENCE = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)([^\n`]*+)")
_START = re.compile(r'^[ \t]*+\{|\{(?=\s*+["}])|\[(?=\s*+[\[{])', re.MULTILINE)
_STRUCTURE = re.compile(r'[{\[]+|[}\]]+|"(?:[^"\\]++|\\.)*+"|"', re.DOTALL)
_MARKER = re.compile(r"\[BEGIN EVALUATED MATERIAL[^\]\n]{0,260}?(?:#([0-9a-f]{12}))?\]")
_QUOTED = "\0"
"""Stands for what is quoted, which are words, but not the reply's own."""
_LONGEST_INDENT = 200


class _Piece(NamedTuple):
    """An object that stands on lines of its own, or a code block; where it stands in the prose."""

    start: int
    end: int
    text: str


def own_objects(text: str) -> list[str]:
    """The last object of a text that is not quoted, as it stands there, after those that it may contradict.

    It stands on lines of its own with nothing but blanks before or after it, or is the code block that the text ends
    with. It may be no valid JSON, or a list: a broken last word is not replaced by an earlier one. Before it come the
    earlier objects and code blocks that words part from it: which of them is quoted, no form tells. Nothing is left by
    an object that never ends. Takes time in proportion to the length of the text.
    """
    prose, blocks = _own_words(text)
    pieces, ends = _standing(prose)
    if blocks and not prose[blocks[-1].end :].strip():
        last = blocks.pop()
    elif pieces and ends:
        last = pieces.pop()
    else:
        return []
    cursor, apart = last.start, False
    earlier: list[str] = []
    for piece in sorted((*pieces, *blocks), reverse=True):
        if piece.start >= last.end:
            continue  # a code block below the last object
        apart = apart or bool(prose[piece.end : cursor].strip())
        if apart:
            earlier.append(piece.text)
        cursor = piece.start
    if prose[last.end :].strip() and (apart or prose[:cursor].strip()):
        return []
    return [*reversed(earlier), last.text]


def _standing(prose: str) -> tuple[list[_Piece], bool]:
    """(the objects that stand on lines of their own, whether every object has an end)."""
    found: list[_Piece] = []
    position = 0
    while (mark := _START.search(prose, position)) is not None:
        start = mark.end() - 1
        end = _end(prose, start)
        if end is None:
            return [*found, _Piece(start, start + 1, prose[start:])], False
        if _stands_alone(prose, start, end):
            found.append(_Piece(start, end, prose[start:end]))
        position = end
    return found, True


def _stands_alone(prose: str, start: int, end: int) -> bool:
    """True if nothing else stands on the first line of an object before it, and on its last line after it."""
    earliest, latest = max(0, start - _LONGEST_INDENT), end + _LONGEST_INDENT
    line_start = prose.rfind("\n", earliest, start) + 1
    line_end = prose.find("\n", end, latest)
    if (not line_start and earliest) or (line_end < 0 and latest < len(prose)):
        return False
    return not prose[line_start:start].strip() and not prose[end : line_end if line_end >= 0 else latest].strip()


def _own_words(text: str) -> tuple[str, list[_Piece]]:
    """(the text with a mark for all that it quotes, its code blocks by where they stood)."""
    prose: list[str] = []
    blocks: list[_Piece] = []
    block: list[str] | None = None
    fence = ""
    quoting = False
    length = 0
    for line in _without_echo(text).split("\n"):
        mark = _FENCE.fullmatch(line)
        if block is not None:
            if mark is None or not mark[1].startswith(fence) or mark[2].strip():
                block.append(line)
                continue
            blocks.append(_Piece(length, length + 1, "\n".join(block).strip()))
            block, said = None, _QUOTED
        elif mark is not None:
            block, fence, quoting = [], mark[1], False
            continue
        else:  # a quotation goes on until a blank line
            quoting = line.lstrip().startswith(">") or (quoting and bool(line.strip()))
            said = _QUOTED if quoting else line
        prose.append(said)
        length += len(said) + 1
    if block is not None:  # a block that is never closed is the last word, and broken
        prose.append(_QUOTED)
        blocks.append(_Piece(length, length + 1, "{"))
    return "\n".join(prose), blocks


def _without_echo(text: str) -> str:
    """The text without material that it repeats between its markers."""
    if "[BEGIN EVALUATED MATERIAL" not in text:
        return text
    parts = []
    position = 0
    for mark in _MARKER.finditer(text):
        if mark.start() < position:
            continue
        code = mark[1]
        closing = f"[END EVALUATED MATERIAL #{code}]" if code else "[END EVALUATED MATERIAL"
        end = text.find(closing, mark.end())
        parts.append(text[position : mark.start()])
        position = len(text) if end < 0 else end + len(closing)
        if end < 0:
            break
    return "".join([*parts, text[position:]])


def _end(text: str, start: int) -> int | None:
    """The index after the object or list that begins at `start`; `None` when it never ends."""
    depth = 0
    for mark in _STRUCTURE.finditer(text, start):
        run = mark[0]
        if run[0] in "{[":
            depth += len(run)
        elif run[0] in "}]":
            if len(run) >= depth:
                return mark.start() + depth
            depth -= len(run)
        elif len(run) == 1:
            return None  # a string that never ends
    return None
