"""Two runs compared case by case by a judge that sees both outputs, in both orders. Data only."""

from __future__ import annotations

import msgspec

from adjudge.domain.errors import Failure

PREFERENCES = ("A", "tie", "B")
"""What a comparison may answer, for the outputs as they are shown: A first, B second."""
ORDERS = ("run_first", "baseline_first")
"""The criteria of a pairwise judge: which output stands first. What each says is of the run's favour; see
`PairwiseCase`."""


class OrderSaid(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a judge said with one order of the outputs: `run`, `baseline` or `tie`; nothing when it said none."""

    order: str
    preferred: str = ""
    rationale: str = ""
    failure: Failure | None = None


class PairwiseCase(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One case. `winner` is `run`, `baseline` or `tie`, nothing when an order has no answer.

    A preference that does not survive the swap of the outputs is a tie, and `flipped`. With several samples the
    winner is what most of them came to; `samples` holds what each did. `shown_chars` are the characters of the run's
    output and of the baseline's, as they were shown.
    """

    case: str
    winner: str = ""
    flipped: bool = False
    orders: tuple[OrderSaid, ...] = ()
    samples: tuple[str, ...] = ()
    failure: Failure | None = None
    shown_chars: tuple[int, ...] = ()


class Bias(msgspec.Struct, frozen=True, kw_only=True):
    """How often what should not matter went with the preference: `won` of `n` (1/2 is no bias), the bounds of the
    share's 95% interval (Wilson), and the exact two-sided p of one half."""

    won: int
    n: int
    low: float
    high: float
    p: float


class PairwiseResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All cases of a comparison.

    Attributes:
        wins: Cases whose winner is the run, of `n` decided ones.
        win_rate: (wins + ties / 2) / n, in [0, 1].
        low, high: Bounds of its 95% interval (bootstrap over cases).
        p: Of the exact two-sided sign test over wins and losses, ties left out.
        first_share: Share of all answers that prefer what stood first, among those that prefer any; 0.5 is no bias.
        longer: How often the longer output won, of the cases that either won; `None` when none has two lengths. A
            longer output may also be the better one: the share asks for a look, it proves nothing.
    """

    judge: str
    baseline: str
    n: int = 0
    wins: int = 0
    losses: int = 0
    ties: int = 0
    flips: int = 0
    unscored: int = 0
    win_rate: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    first_share: float | None = None
    longer: Bias | None = None
    cases: tuple[PairwiseCase, ...] = ()
