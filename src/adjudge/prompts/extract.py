"""Finding the verdict in a reply that came as text, in one pass.

What a reply quotes is not what it says: block quotes, code blocks that are not its last word, quotation marks, echoed
material and what stands within a sentence are passed over, and so is everything inside of an object.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})([^\n`]*)\s*")
_START = re.compile(r"\{|\[(?=\s*[\[{])")
_STRUCTURE = re.compile(r'[{\[]+|[}\]]+|"(?:[^"\\]++|\\.)*+"|"', re.DOTALL)
_MARKER = re.compile(r"\[BEGIN EVALUATED MATERIAL[^\]\n]{0,260}?(?:#([0-9a-f]{12}))?\]")


def last_object(text: str) -> str | None:
    """The last object of a text that is not quoted, as it stands there; `None` when there is none.

    It stands on lines of its own, or is the code block that the text ends with. It may be no valid JSON, or a list: a
    broken last word is not replaced by an earlier one. An object that never ends leaves nothing. Takes time in
    proportion to the length of the text.
    """
    prose, block = _own_words(text)
    if block is not None:
        return block
    found: str | None = None
    position = found_end = 0
    inside = dict.fromkeys(_PAIRED, False)
    while (start := _START.search(prose, position)) is not None:
        if start.start() > position:
            _track(inside, prose[position : start.start()])
        end = _end(prose, start.start())
        if end is None:
            return None
        if not any(inside.values()) and _stands_alone(prose, start.start(), end):
            found, found_end = prose[start.start() : end], end
            introduced = prose[position : start.start()].rstrip().endswith(":")
        position = end
    if found is not None and introduced and prose[found_end:].strip():
        return None  # "the file says:", the object, and then what the judge thinks of it
    return found


def _stands_alone(prose: str, start: int, end: int) -> bool:
    """True if nothing else stands on the first line of an object before it, and on its last line after it."""
    line_start = prose.rfind("\n", max(0, start - _LONGEST_INDENT), start) + 1 or max(0, start - _LONGEST_INDENT)
    line_end = prose.find("\n", end, end + _LONGEST_INDENT)
    after = prose[end : line_end if line_end >= 0 else end + _LONGEST_INDENT]
    return not prose[line_start:start].strip() and not after.strip()


_LONGEST_INDENT = 200
_PAIRED = {'"': '"', "`": "`", "“": "”", "«": "»"}


def _track(inside: dict[str, bool], prose: str) -> None:
    """Follow which quotation is open after some prose; a new line ends every one."""
    if "\n" in prose:
        prose = prose.rpartition("\n")[2]
        inside.update(dict.fromkeys(inside, False))
    for opening, closing in _PAIRED.items():
        if opening == closing:
            inside[opening] ^= bool(prose.count(opening) % 2)
        elif opening in prose or closing in prose:
            inside[opening] = prose.rfind(opening) > prose.rfind(closing)


def _own_words(text: str) -> tuple[str, str | None]:
    """(the text without what it quotes, the code block that it ends with)."""
    prose: list[str] = []
    block: list[str] | None = None
    last: str | None = None
    fence = ""
    for line in _without_echo(text).split("\n"):
        mark = _FENCE.fullmatch(line)
        if block is not None:
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2].strip():
                last, block = "\n".join(block).strip(), None
            else:
                block.append(line)
        elif mark:
            prose.append("")
            block, fence = [], mark[1]
        elif line.lstrip().startswith(">"):
            prose.append("")
        else:
            prose.append(line)
            last = None if line.strip() else last
    if block is not None:  # a block that is never closed is the last word, and broken
        return "", "{"
    return "\n".join(prose), last


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
