"""The share of all checks that must pass: what it decides, and what it leaves open."""

from __future__ import annotations

import pytest

from adjudge.domain import Decision, JudgeSummary, LeftOut
from adjudge.scoring.gate import decide


def summaries(passed: int, failed: int, unscored: int = 0) -> list[JudgeSummary]:
    def one(name: str, value: float | None) -> JudgeSummary:
        n = 0 if value is None else 1
        metric = None if value is None else "pass_rate"
        return JudgeSummary(judge=name, criterion=name, kind="script", metric=metric, value=value, n=n, unscored=1 - n)

    values = [*[1.0] * passed, *[0.0] * failed, *[None] * unscored]
    return [one(f"check-{k}", value) for k, value in enumerate(values)]


@pytest.mark.parametrize(
    ("passed", "failed", "unscored", "bound", "decision"),
    [
        (3, 0, 0, 1.0, Decision.PASS),
        (2, 1, 0, 1.0, Decision.FAIL),
        (1, 1, 0, 0.5, Decision.PASS),
        (1, 2, 0, 0.5, Decision.FAIL),
        (1, 0, 1, 0.5, Decision.BROKEN),  # enough pass, but an error is never a pass
        (1, 1, 1, 0.5, Decision.BROKEN),  # the unscored one decides
        (0, 2, 1, 0.5, Decision.FAIL),  # whatever the unscored one had said
        (2, 1, 0, 2 / 3, Decision.PASS),
        (7, 3, 0, 0.7, Decision.PASS),
    ],
)
def test_the_share_of_checks_that_pass_is_compared_unrounded(
    passed: int, failed: int, unscored: int, bound: float, decision: Decision
) -> None:
    assert decide(summaries(passed, failed, unscored), {}, pass_threshold=bound).decision is decision


def test_some_of_the_checks_decide_nothing_for_all() -> None:
    gate = decide(summaries(2, 0), {}, [LeftOut("other", "--no-llm")], pass_threshold=0.5)
    assert gate.decision is Decision.INCONCLUSIVE
