"""Thresholds, and what a gate decides."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Decision(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    BROKEN = "broken"

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 3 inconclusive, 4 broken."""
        return {"pass": 0, "fail": 1, "inconclusive": 3, "broken": 4}[self]


class Threshold(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one judge must reach. Reaching a bound exactly passes.

    `min_mean` is on the judge's own scale; the others are shares from 0 to 1. `decide_by="interval"` asks that the
    whole 95% interval lies on one side of the bound, and is inconclusive where it does not. `max_drop`, on the judge's
    own scale, is how far it may fall below the baseline.
    """

    min_mean: float | None = None
    min_pass_rate: float | None = None
    min_win_rate: float | None = None
    max_error_rate: float | None = None
    decide_by: str = "point"
    max_drop: float | None = None


class GateCheck(msgspec.Struct, frozen=True, omit_defaults=True):
    """One comparison of a gate; about one case, and one criterion of it, where they are named."""

    judge: str
    metric: str
    decision: Decision
    reason: str
    value: float | None = None
    bound: float | None = None
    case: str = ""
    criterion: str = ""


class GateResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The decision, and every comparison that it rests on."""

    decision: Decision
    checks: tuple[GateCheck, ...] = ()

    @property
    def reasons(self) -> list[str]:
        """Why the decision is not a pass, what decided it first; empty when it is one."""
        against = [check for check in self.checks if check.decision is not Decision.PASS]
        return [check.reason for check in sorted(against, key=lambda check: check.decision is not self.decision)]
