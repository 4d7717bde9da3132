"""What a check of a patch is given, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

MAX_DETAIL = 500
_ONE = 160
"""Characters of one finding or note."""


class Patch(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent changed in a repository. Both trees are hostile: nothing in them is run or followed.

    `files` are the POSIX paths touched, relative to both trees: added, changed, deleted, and both names of a
    renamed one. `diff` is the unified diff, whole; `added` and `removed` count its lines. `messages` are those of
    the commits that the agent made, oldest first. A limit of None is no limit.
    """

    before: Path
    after: Path
    files: tuple[str, ...]
    diff: str
    added: int
    removed: int
    messages: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    max_files: int | None = None
    max_lines: int | None = None


class Finding(msgspec.Struct, frozen=True):
    """Whether the patch passes; None: the check does not apply or could not look, and `detail` says why.

    `detail` is for people: at most 500 characters of printable text on one line.
    """

    passed: bool | None
    detail: str


class PatchCheck(NamedTuple):
    """A check by name: its function, one line on what it asks, and how much it weighs when nobody says otherwise."""

    function: Callable[[Patch], Finding]
    description: str
    severity: Literal["hard", "soft"]


def printable(text: str, limit: int = _ONE) -> str:
    """Text on one line that any terminal and any encoding can take, cut to a limit."""
    flat = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in " ".join(text[: 4 * limit].split()))
    return flat if len(flat) <= limit else flat[: limit - 3] + "..."


def listed(items: Sequence[str], room: int) -> str:
    """The first few items that fit, and how many more there are; at least one."""
    shown: list[str] = []
    for item in items:
        line = printable(item)
        if shown and len("; ".join([*shown, line])) > room - 16:
            break
        shown.append(line)
    more = f"; and {len(items) - len(shown)} more" if len(items) > len(shown) else ""
    return "; ".join(shown) + more


def told(faults: Sequence[str], *, clean: str, notes: Sequence[str] = (), unseen: Sequence[str] = ()) -> Finding:
    """The finding of a check that looked for faults.

    `notes` are worth saying and no fault. `unseen` is what the check should have looked at and could not: without a
    fault elsewhere there is then no verdict, since nobody looked.
    """
    beside = [*(f"not looked at: {text}" for text in unseen), *notes]
    if faults:
        passed: bool | None = False
        text = listed(faults, 300 if beside else MAX_DETAIL)
    else:
        passed, text = (None if unseen else True), ("" if beside and unseen else clean)
    if beside:
        rest = listed(beside, MAX_DETAIL - len(text) - 3)
        text = f"{text} ({rest})" if text else rest
    return Finding(passed, text if len(text) <= MAX_DETAIL else text[: MAX_DETAIL - 3] + "...")
