"""One run for all cases: what it is given, and whose each of its outputs is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from adjudge.domain import Output
from adjudge.prompts import entries


class Share(msgspec.Struct, frozen=True):
    """A case's part of a batch: the numbers of its entries, from 1."""

    case: str
    numbers: tuple[int, ...]


def all_entries(inputs: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[list[Any], list[Share]]:
    """(the content of batch.yaml, whose entry each is). A case whose input is a list has several entries."""
    flat: list[Any] = []
    shares: list[Share] = []
    for case, given in inputs:
        own = entries(given)
        shares.append(Share(case, tuple(range(len(flat) + 1, len(flat) + 1 + len(own)))))
        flat += own
    return flat, shares


def shared_out(names: Sequence[str], output: Output, shares: Sequence[Share], notes: list[str]) -> dict[str, list[str]]:
    """Case -> the files that are its, of all files below an output's path (relative to the workspace, sorted).

    By the output's pattern where it has one: `{n}` (with a format, as in `{n:03d}`) is the number of an entry, and
    what follows it in a name must not be a further digit or letter; `*` gives everything to everyone. Else names that
    begin with a word and a number (`RFE-12...`) belong together, and groups go to the entries in order, as single
    files do. What is nobody's is noted.
    """
    if output.batch_pattern == "*":
        return {share.case: list(names) for share in shares}
    found: dict[str, list[str]] = {share.case: [] for share in shares}
    owner = {number: share.case for share in shares for number in share.numbers}
    tops = {name: _top(name, output.path) for name in names}
    if output.batch_pattern:
        wanted = {number: _formatted(output.batch_pattern, number) for number in owner}
        for name, top in tops.items():
            number = next((n for n, begin in wanted.items() if _begins(top, begin)), None)
            if number is None:
                notes.append(f"{name}: belongs to no case by the pattern {output.batch_pattern!r}")
            else:
                found[owner[number]].append(name)
        return found
    groups: dict[str, list[str]] = {}
    for name, top in tops.items():
        match = re.match(r"[A-Za-z]+-\d+", top)
        groups.setdefault(match[0] if match else top, []).append(name)
    if len(groups) != len(owner):
        notes.append(f"{output.path}: {len(groups)} outputs for {len(owner)} entries; they are given out in order")
    for number, group in enumerate(sorted(groups, key=_natural), 1):
        if number in owner:
            found[owner[number]] += groups[group]
        else:
            notes.append(f"{groups[group][0]}: belongs to no case")
    return found


def _top(name: str, path: str) -> str:
    """The part of a name that says whose it is."""
    return name.removeprefix(f"{path}/").partition("/")[0] if name != path else name.rpartition("/")[2]


def _formatted(pattern: str, number: int) -> str:
    try:
        return pattern.format(n=number)
    except (LookupError, ValueError):
        return pattern


def _begins(name: str, begin: str) -> bool:
    rest = name.removeprefix(begin)
    return name.startswith(begin) and not rest[:1].isalnum()


def _natural(text: str) -> list[tuple[int, str]]:
    """Order in which 2 comes before 10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text) if part]


def case_order(shares: Sequence[Share]) -> list[Mapping[str, Any]]:
    """What case_order.yaml holds."""
    return [{"case_id": share.case, "entry_count": len(share.numbers)} for share in shares]
