"""From what a judge said of both orders to winners, and to a win rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from adjudge.domain import (
    ORDERS,
    Bias,
    Failure,
    Interval,
    JudgeSummary,
    OrderSaid,
    PairwiseCase,
    PairwiseJudge,
    PairwiseResult,
    SampleRecord,
    Score,
    Status,
)
from adjudge.stats import bootstrap_mean, interval_method, longer_share, sign_test

LEVEL = 0.95
_FIRST = {"run_first": ("run", "baseline"), "baseline_first": ("baseline", "run")}


def pairwise_case(case: str, said: Mapping[str, Score]) -> PairwiseCase | None:
    """The winner of one case, from the scores of both orders; `None` when the judge skips the case.

    Each sample has a winner of its own, and the case's is what more than half of the usable samples came to, else a
    tie. With fewer than half of the samples usable there is none.
    """
    scores = [said[order] for order in ORDERS]
    if any(score.status is Status.SKIPPED for score in scores):
        return None
    samples = [score.samples or (_whole(score),) for score in scores]
    winners = [_winner(*pair) for pair in zip(*samples, strict=True)]
    usable = [winner for winner, _ in winners if winner]
    lengths = _lengths(said)
    orders = tuple(
        OrderSaid(order=order, preferred=_whose(order, score.value), rationale=score.rationale, failure=score.error)
        for order, score in zip(ORDERS, scores, strict=True)
    )
    failure = next((score.error for score in scores if score.error is not None), None)
    if not usable or len(usable) * 2 < len(winners):
        missing = failure or next((r.error for records in samples for r in records if r.error), None)
        return PairwiseCase(case=case, orders=orders, failure=missing, shown_chars=lengths)
    commonest, votes = Counter(usable).most_common(1)[0]
    return PairwiseCase(
        case=case,
        winner=commonest if votes * 2 > len(usable) else "tie",
        flipped=sum(flipped for _, flipped in winners) * 2 > len(usable),
        orders=orders,
        samples=tuple(winner for winner, _ in winners) if len(winners) > 1 else (),
        shown_chars=lengths,
    )


def _lengths(said: Mapping[str, Score]) -> tuple[int, ...]:
    """Characters of the run's output and of the baseline's."""
    for order, score in said.items():
        if len(score.shown_chars) == len(_FIRST[order]):
            by_side = dict(zip(_FIRST[order], score.shown_chars, strict=True))
            return by_side["run"], by_side["baseline"]
    return ()


def _longer(cases: Sequence[PairwiseCase]) -> Bias | None:
    """How often the longer output won."""
    pairs = []
    for case in cases:
        if case.winner in ("run", "baseline") and case.shown_chars:
            own, other = case.shown_chars
            pairs.append((own, other) if case.winner == "run" else (other, own))
    share = longer_share(pairs)
    if share.low is None or share.high is None:
        return None
    return Bias(won=share.won, n=share.n, low=share.low, high=share.high, p=share.p)


def _whole(score: Score) -> SampleRecord:
    return SampleRecord(score.status, score.value, score.error, score.rationale)


def _whose(order: str, value: object) -> str:
    """Which run an answer prefers."""
    first, second = _FIRST[order]
    return {"A": first, "B": second, "tie": "tie"}.get(str(value), "")


def _winner(first: SampleRecord, second: SampleRecord) -> tuple[str, bool]:
    """(winner, whether the preference went with the place) of one sample; no winner when an order has no answer."""
    said = [_whose(order, record.value) for order, record in zip(ORDERS, (first, second), strict=True)]
    if not all(said):
        return "", False
    if said[0] == said[1]:
        return said[0], False
    return "tie", "tie" not in said


def pairwise_result(
    judge: PairwiseJudge, scores: Sequence[Score], cases: Sequence[str], *, baseline: str, seed: int = 0
) -> PairwiseResult:
    """All cases of a pairwise judge."""
    by_case: dict[str, dict[str, Score]] = {}
    for score in scores:
        by_case.setdefault(score.case, {})[score.criterion] = score
    made = [pairwise_case(case, by_case[case]) for case in cases if len(by_case.get(case, {})) == len(ORDERS)]
    found = [case for case in made if case is not None]
    counts = Counter(case.winner for case in found)
    points = [{"run": 1.0, "tie": 0.5, "baseline": 0.0}[case.winner] for case in found if case.winner]
    bounds = bootstrap_mean(points, level=LEVEL, seed=seed) if points else None
    answers = [
        str(record.value)
        for score in scores
        for record in score.samples or (_whole(score),)
        if record.status is Status.SCORED
    ]
    decided = [answer for answer in answers if answer != "tie"]
    return PairwiseResult(
        judge=judge.name,
        baseline=baseline,
        n=len(points),
        wins=counts["run"],
        losses=counts["baseline"],
        ties=counts["tie"],
        flips=sum(case.flipped for case in found),
        unscored=sum(not case.winner for case in found),
        win_rate=sum(points) / len(points) if points else None,
        low=max(0.0, bounds[0]) if bounds else None,
        high=min(1.0, bounds[1]) if bounds else None,
        p=sign_test(counts["run"], counts["baseline"]) if points else None,
        first_share=decided.count("A") / len(decided) if decided else None,
        longer=_longer(found),
        cases=tuple(found),
    )


def pairwise_summary(result: PairwiseResult, *, model: str, orders: Sequence[JudgeSummary]) -> JudgeSummary:
    """The result as a judge's line among the others; what it cost is the sum over both orders."""
    usage = None
    for summary in orders:
        if summary.usage is not None:
            usage = summary.usage if usage is None else usage + summary.usage
    failures: list[Failure] = [case.failure for case in result.cases if case.failure is not None]
    kinds = Counter(failure.kind.value for failure in failures)
    interval = None
    if result.low is not None and result.high is not None:
        method = f"bootstrap over cases, {interval_method(result.n)}"
        interval = Interval(low=result.low, high=result.high, level=LEVEL, method=method)
    return JudgeSummary(
        judge=result.judge,
        criterion=result.judge,
        kind="pairwise",
        model=model,
        metric="win_rate" if result.n else None,
        value=result.win_rate,
        interval=interval,
        n=result.n,
        unscored=result.unscored,
        skipped=orders[0].skipped if orders else 0,
        unscored_kinds=dict(sorted(kinds.items())),
        first_failure=failures[0].message[:300] if failures else "",
        usage=usage,
    )
