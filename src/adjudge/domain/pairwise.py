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
    winner is what most of them came to; `samples` holds what each did.
    """

    case: str
    winner: str = ""
    flipped: bool = False
    orders: tuple[OrderSaid, ...] = ()
    samples: tuple[str, ...] = ()
    failure: Failure | None = None


class PairwiseResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All cases of a comparison.

    Attributes:
        wins: Cases whose winner is the run, of `n` decided ones.
        win_rate: (wins + ties / 2) / n, in [0, 1].
        low, high: Bounds of its 95% interval (bootstrap over cases).
        p: Of the exact two-sided sign test over wins and losses, ties left out.
        first_share: Share of all answers that prefer what stood first, among those that prefer any; 0.5 is no bias.
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
    cases: tuple[PairwiseCase, ...] = ()
