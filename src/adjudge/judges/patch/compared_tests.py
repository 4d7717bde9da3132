"""One Python test before and after: does it still claim as much?"""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass, field

from adjudge.judges.patch.claims import Claim, Strength, claims_of
from adjudge.judges.patch.python_tests import Test, bare_body, cases_of, skips
from adjudge.judges.patch.syntax import body_of, constants, leaf, named, shown

_NAME = re.compile(r"(?<![.\w'\"])[A-Za-z_]\w*(?![\w('\"])")
_LARGE = 1e-2
"""A tolerance above this is no rounding."""


@dataclass(slots=True)
class Context:
    """What the patch did besides: where a claim that is gone from a test may have gone to."""

    gone: set[str] = field(default_factory=set)
    """Names that code outside the tests defined before, and no longer does."""
    moved: set[tuple[str, frozenset[str]]] = field(default_factory=set)
    """Claims, without their names, that are new somewhere in the touched tests and their helpers."""
    fresh: list[tuple[Test, set[str], set[str]]] = field(default_factory=list)
    """Each new or changed test that claims something, with its literals and names."""
    bodies: set[str] = field(default_factory=set)
    """The bodies of all tests in touched files, after."""
    lists_before: dict[str, dict[str, ast.expr]] = field(default_factory=dict)
    lists_after: dict[str, dict[str, ast.expr]] = field(default_factory=dict)

    def explains(self, literals: set[str], names: set[str], *, but: Test | None = None) -> bool:
        """Whether what has these literals and names went with what it tested, or into another test (`but` this)."""
        if names & self.gone:
            return True
        return bool(literals) and any(
            test is not but and literals <= theirs and (not names or names & others)
            for test, theirs, others in self.fresh
        )


def bones(claim: Claim) -> tuple[str, frozenset[str]]:
    """A claim without the names of its variables, as a helper that it moved to would make it."""
    return _NAME.sub("_", claim.key), frozenset(claim.literals)


def compare(before: Test, after: Test, context: Context) -> tuple[list[str], list[str]]:
    """What a test lost, and what changed in it that is no loss; both as text without the place."""
    had, now = skips(before), skips(after)
    lists_before, lists_after = context.lists_before.get(before.path, {}), context.lists_after.get(after.path, {})
    old_rows, new_rows = cases_of(before, lists_before), cases_of(after, lists_after)
    faults: list[str] = []
    notes: list[str] = []
    if "always" in had.values():
        return [], []  # it counted for nothing before
    for text, when in now.items():
        if text not in had or (had[text] != when == "always"):
            (faults if when == "always" else notes).append(
                f"{'skipped' if when == 'always' else 'may be skipped'}: {text}"
            )
    if any(not _is_nothing(node) for node in body_of(before.node)) and all(map(_is_nothing, body_of(after.node))):
        return [*faults, "body emptied"], notes
    _compare_rows(old_rows, new_rows, after, context, faults, notes)
    if bare_body(before) != bare_body(after):
        _compare_claims(before, after, context, faults, notes)
    return faults, notes


def _is_nothing(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Return) and (node.value is None or isinstance(node.value, ast.Constant))
    )


def _compare_rows(
    old: dict[str, list[ast.expr]],
    new: dict[str, list[ast.expr]],
    after: Test,
    context: Context,
    faults: list[str],
    notes: list[str],
) -> None:
    """Cases of `parametrize`: fewer of them, or some that are skipped now."""
    before = [row for rows in old.values() for row in rows]
    rows = [row for rows in new.values() for row in rows]
    skipped_before = {ast.unparse(row) for row in before if _row_skip(row)}
    for row in rows:
        if _row_skip(row) and ast.unparse(row) not in skipped_before:
            bare = {ast.unparse(value) for value in _cells(row)}
            if any({ast.unparse(value) for value in _cells(other)} == bare for other in before):
                faults.append(f"case skipped: {shown(row)}")
    texts = Counter(ast.unparse(row) for row in rows)
    gone = []
    for row in before:
        text = ast.unparse(row)
        if texts[text]:
            texts[text] -= 1
        elif not _row_skip(row):
            gone.append(row)
    fewer = len(before) - len(rows)
    if not gone:
        return
    if fewer <= 0:
        notes.append(f"cases changed: {shown(gone[0])}")
        return
    held = constants([after.node, *rows])
    lost = [
        row for row in gone if not (constants([row]) <= held or context.explains(constants([row]), set(), but=after))
    ]
    if lost:
        faults.append(f"{min(fewer, len(lost))} parametrize cases removed: {', '.join(map(shown, lost[:2]))}")


def _cells(row: ast.expr) -> list[ast.expr]:
    if isinstance(row, ast.Call) and leaf(row) == "param":
        return row.args
    return row.elts if isinstance(row, (ast.Tuple, ast.List)) else [row]


def _row_skip(row: ast.expr) -> bool:
    marks = [k.value for k in row.keywords if k.arg == "marks"] if isinstance(row, ast.Call) else []
    return any(leaf(inner) in ("skip", "xfail") for mark in marks for inner in ast.walk(mark))


def _compare_claims(before: Test, after: Test, context: Context, faults: list[str], notes: list[str]) -> None:
    old, new = claims_of(before.node.body), claims_of(after.node.body)
    old_keys, new_keys = {claim.key for claim in old}, {claim.key for claim in new}
    removed = [claim for claim in old if claim.key not in new_keys and claim.strength > Strength.NOTHING]
    added = [claim for claim in new if claim.key not in old_keys]
    left: list[Claim] = []
    for claim in removed:
        match = _match(claim, added)
        if match is None:
            left.append(claim)
            continue
        added.remove(match)
        fault, note = _weaker(claim, match)
        if fault and not claim.names & context.gone:
            faults.append(fault)
        elif note:
            notes.append(note)
    left = [claim for claim in left if not _kept_elsewhere(claim, after, new, added, context)]
    strong = [claim for claim in left if claim.strength >= Strength.NEAR]
    says = [claim for claim in added if claim.strength > Strength.NOTHING]
    strong_new = [claim for claim in says if claim.strength >= Strength.NEAR]
    if len(left) > len(says):
        count = len(left) - len(says)
        faults.append(f"{count} assertion{'s' if count > 1 else ''} removed: {', '.join(c.said for c in left[:2])}")
    elif len(strong) > len(strong_new):
        weak = next(claim for claim in says if claim.strength < Strength.NEAR)
        faults.append(f"loosened: {strong[0].said} to {weak.said}")
    elif left:
        notes.append(f"assertion changed: {left[0].said}")


def _match(claim: Claim, added: list[Claim]) -> Claim | None:
    """The new claim about the same thing that says most."""
    same = [other for other in added if claim.about & other.about]
    if not same and claim.raises:
        same = [other for other in added if other.raises == claim.raises]
    return max(same, key=lambda other: other.strength, default=None)


def _weaker(old: Claim, new: Claim) -> tuple[str, str]:
    """A fault when a claim says less than the one in whose place it stands; else a note, if one is due."""
    became = f"{old.said} to {new.said}"
    if new.strength is Strength.NOTHING:
        return f"always true now: {became}", ""
    if old.raises:
        return ("", f"expected error changed: {became}") if old.broad or not new.broad else (f"broadened: {became}", "")
    if old.strength is Strength.NEAR and new.strength is Strength.NEAR and new.tolerance > old.tolerance * 1.001:
        return f"larger tolerance: {became}", ""
    if old.strength is Strength.EXACT and new.strength is Strength.NEAR:
        if new.tolerance > _LARGE:
            return f"loosened: {became}", ""
        return "", f"approximate now: {became}"
    if old.strength > new.strength:
        return ("", f"written differently: {became}") if _same_truth(old, new) else (f"loosened: {became}", "")
    if old.strength is Strength.SOME and new.key.startswith("any("):
        return f"loosened: {became}", ""
    if old.strength is new.strength:
        return "", f"expected value changed: {became}"
    return "", ""


def _same_truth(old: Claim, new: Claim) -> bool:
    """`x == True` and `x`, `x == []` and `not x`, are the same to those who write them."""
    if not old.key.startswith("==("):
        return False
    plain = ("True", "False", "None", "[]", "{}", "''", "()", "0")
    sides = old.key[3:-1].split(", ")
    return any(side in plain for side in sides) and new.key.startswith(("true(", "false("))


def _kept_elsewhere(claim: Claim, after: Test, new: list[Claim], added: list[Claim], context: Context) -> bool:
    if claim.names & context.gone or bones(claim) in context.moved:
        return True
    if claim.strength is Strength.SOME and any(text in other.key for text in claim.about for other in new):
        return True  # `x is not None` before `x.y == 3`
    strong = [other for other in added if other.strength >= min(claim.strength, Strength.NEAR)]
    literals = claim.literals
    if literals and strong and literals <= constants([after.node]) and claim.names & named([after.node]):
        return True  # into a loop, a table or one larger comparison
    return context.explains(literals, claim.names, but=after) if literals else False


def lost(test: Test, context: Context) -> str:
    """What a test that is no longer there claimed and nothing claims now; empty when all of it lives on."""
    if "always" in skips(test).values():
        return ""
    if bare_body(test) in context.bodies:
        return ""
    claims = [claim for claim in claims_of(test.node.body) if claim.strength > Strength.NOTHING]
    names = named(list(body_of(test.node)))
    if not claims:
        return "" if names & context.gone or all(map(_is_nothing, body_of(test.node))) else "a test without assertions"
    if names & context.gone:
        return ""
    # Only arguments of the whole test tell which literals a claim is about: `x = f(7)`, then `x == 42`.
    if context.explains(constants(list(body_of(test.node))), names):
        return ""
    rows = [row for given in cases_of(test, context.lists_before.get(test.path, {})).values() for row in given]
    if rows and all(context.explains(constants([row]), names) for row in rows):
        return ""
    left = [claim for claim in claims if bones(claim) not in context.moved]
    return left[0].said if left else ""
