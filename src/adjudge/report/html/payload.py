"""What the page holds of each case, as JSON small enough to carry: a plain index, and packed details."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Sequence
from typing import Any

import msgspec

MIN_CAP = 120
"""No text is cut below this many characters, whatever the budget."""
_LEVEL = 6
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufe00-\ufe0e\ufeff\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_MARKUP = re.compile("[<>&\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def visible(text: str) -> str:
    """The text with whatever steers a terminal, turns the direction or cannot be seen written as an escape."""
    return _UNSEEN.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def cut(text: str, limit: int = 600) -> str:
    """The text, or its first `limit` characters and how many follow."""
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text) - limit:,} more characters)"


class Text:
    """A text that may be cut to fit: `[shown, characters in all, where the whole is]` once it is."""

    __slots__ = ("text", "total", "where")

    def __init__(self, text: str, *, where: str = "") -> None:
        self.text, self.total, self.where = text, len(text), where

    @property
    def size(self) -> int:
        return len(self.text)

    def shorten(self, cap: int) -> None:
        """Give up what a later cut would drop anyway, so that it is not kept in memory."""
        self.text = self.text[:cap]

    def fit(self, cap: int) -> Any:
        if self.total <= min(cap, len(self.text)):
            return self.text
        return [self.text[:cap], self.total, self.where]


class Listing:
    """A long list of records (a trajectory) that is cut in its middle: `{"items", "total", "left_out", "where"}`.

    A record is a list whose strings are texts. Within a budget of `cap` characters long texts are shortened first,
    then records between the first and the last ones are left out.
    """

    __slots__ = ("items", "where", "whole")

    def __init__(self, items: Sequence[list[Any]], *, where: str = "") -> None:
        self.items = [
            [part[:_LONGEST] + _more(part, _LONGEST) if isinstance(part, str) else part for part in item]
            for item in items
        ]
        self.where, self.whole = where, len(self.items)

    @property
    def size(self) -> int:
        return sum(_length(item) for item in self.items)

    def shorten(self, cap: int) -> None:
        self.items = self._within(cap)

    def fit(self, cap: int) -> Any:
        items = self._within(cap)
        made: dict[str, Any] = {"items": items, "total": self.whole}
        if len(items) < self.whole:
            made |= {"after": (len(items) + 1) // 2, "where": self.where}
        return made

    def _within(self, cap: int) -> list[list[Any]]:
        if self.size <= cap:
            return self.items
        longest = max(400, cap // 8)
        items = [
            [part[:longest] + _more(part, longest) if isinstance(part, str) else part for part in item]
            for item in self.items
        ]
        head: list[list[Any]] = []
        tail: list[list[Any]] = []
        left, first, last = cap, 0, len(items) - 1
        while first <= last:
            item = items[first] if len(head) <= len(tail) else items[last]
            left -= _length(item)
            if left < 0 and head:
                break
            if len(head) <= len(tail):
                head.append(item)
                first += 1
            else:
                tail.append(item)
                last -= 1
        return head + tail[::-1]


_LONGEST = 20_000


def _more(text: str, limit: int) -> str:
    return f"\n[... {len(text) - limit:,} more characters]" if len(text) > limit else ""


def _length(item: list[Any]) -> int:
    return 12 + sum(len(part) for part in item if isinstance(part, str))


Unit = Text | Listing


def units(document: Any) -> list[Unit]:
    """Every text and listing within nested dicts and lists."""
    found: list[Unit] = []
    waiting = [document]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Text | Listing):
            found.append(item)
        elif isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list | tuple):
            waiting += item
    return found


def shorten(document: Any, room: int) -> None:
    """Cut the longest texts of one document, so that together they hold about `room` characters."""
    found = units(document)
    cap = level(sorted(unit.size for unit in found), room)
    for unit in found:
        if unit.size > cap:
            unit.shorten(cap)


def level(sizes: Sequence[int], room: int) -> int:
    """The cap at which texts of these ascending sizes hold `room` characters, when each is cut to it.

    Short texts stay whole, and what they leave is shared among the long ones.
    """
    left = room
    for index, size in enumerate(sizes):
        share = left // (len(sizes) - index)
        if size > share:
            return max(MIN_CAP, share)
        left -= size
    return max(MIN_CAP, sizes[-1] if sizes else 0)


def packed(document: Any, cap: int) -> bytes:
    """JSON, deflated (zlib), base64."""
    return base64.b64encode(zlib.compress(encode(document, cap), _LEVEL))


def pack_all(documents: Sequence[Any], budget: int) -> list[bytes]:
    """Each document packed by itself, all of them in about `budget` bytes: the longest texts are cut, alike in all.

    How far texts shrink when packed is tried on a sample of the documents first.
    """
    if not documents:
        return []
    sizes = sorted(unit.size for document in documents for unit in units(document))
    whole = sum(sizes)
    sample = documents[:: max(1, len(documents) // 12)]
    room = min(whole, 3 * budget)
    for _ in range(4):
        cap = level(sizes, room)
        expected = sum(len(packed(document, cap)) for document in sample) * len(documents) / len(sample)
        if 0.85 * budget <= expected <= budget or (room >= whole and expected <= budget):
            break
        room = min(whole, max(1, int(room * 0.95 * budget / expected)), _MOST)
    for _ in range(3):
        cap = level(sizes, room)
        made = [packed(document, cap) for document in documents]
        total = sum(map(len, made))
        if total <= budget or cap <= MIN_CAP:
            break
        room = int(room * 0.92 * budget / total)
    return made


_MOST = 12_000_000


def encode(document: Any, cap: int) -> bytes:
    """JSON in UTF-8. Half characters, which UTF-8 cannot hold, are replaced."""

    def hook(value: Any) -> Any:
        if isinstance(value, Text | Listing):
            return value.fit(cap)
        return str(value)

    try:
        return msgspec.json.encode(document, enc_hook=hook)
    except (UnicodeEncodeError, OverflowError, TypeError):
        return msgspec.json.encode(_safe(document, cap))


def _safe(value: Any, cap: int) -> Any:
    if isinstance(value, Text | Listing):
        value = value.fit(cap)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {str(_safe(key, cap)): _safe(item, cap) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_safe(item, cap) for item in value]
    if value is None or isinstance(value, bool | float):
        return value
    return value if isinstance(value, int) and -(2**63) <= value < 2**63 else _safe(str(value), cap)


def embedded(document: Any) -> str:
    """JSON that may stand within a script element: it cannot close it, and holds no invisible character."""
    text = encode(document, 10**9).decode()
    return _MARKUP.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
