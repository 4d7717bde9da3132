"""Several models on one question: the panel's score from its members', and how far they agree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from adjudge.domain import Criterion, JudgeBase, LLMJudge, PanelAgreement, Score, Status, Verdict
from adjudge.scoring.reduce import reduce_samples


def panel_scores(name: str, criterion: Criterion, members: Sequence[Sequence[Score]]) -> list[Score]:
    """One score a case, reduced from the members' scores as samples are. `members` hold the same cases in one order."""
    panel = LLMJudge(name=name, criteria=(criterion,), samples=len(members))
    return [_panel_score(panel, criterion, scores) for scores in zip(*members, strict=True)]


def panel_agreement(names: Sequence[str], members: Sequence[Sequence[Score]]) -> PanelAgreement:
    """Share of equal values over all pairs of members and cases where both have one."""
    equal: list[bool] = []
    for scores in zip(*members, strict=True):
        usable = [score.value for score in scores if score.status is Status.SCORED]
        equal += [first == second for first, second in combinations(usable, 2)]
    return PanelAgreement(tuple(names), len(equal), sum(equal) / len(equal) if equal else None)


def _panel_score(panel: JudgeBase, criterion: Criterion, scores: Sequence[Score]) -> Score:
    assert isinstance(panel, LLMJudge)
    votes = [
        Verdict(
            case=score.case,
            judge=panel.name,
            criterion=criterion.name,
            sample=index,
            status=score.status,
            value=score.value,
            error=score.error,
            rationale=score.rationale,
            notes=score.notes,
        )
        for index, score in enumerate(scores)
    ]
    return reduce_samples(panel, criterion, votes)
