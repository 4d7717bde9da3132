"""From the scores of one case to its rewards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from adjudge.domain import (
    Aggregation,
    Criterion,
    ErrorKind,
    Judge,
    LLMJudge,
    ModelJudge,
    OnError,
    RewardNode,
    RewardPart,
    RewardRule,
    RewardScore,
    Score,
    Status,
)
from adjudge.scoring.aggregate import aggregate, reaches
from adjudge.scoring.reduce import normalise

DIGITS = 4
"""Decimals of every score of a node, also where it goes into another one."""

_PLAIN = RewardRule()


class RewardScorer:
    """Scores the reward trees of one case. `scores` is by (judge, criterion); what it lacks has no score."""

    def __init__(
        self, judges: Sequence[Judge], scores: Mapping[tuple[str, str], Score], on_error: OnError = OnError.FAIL
    ) -> None:
        self._criteria = {(judge.name, c.name): (judge, c) for judge in judges for c in judge.criteria}
        self._scores = scores
        self._on_error = on_error

    def score(self, node: RewardNode) -> RewardScore:
        """What a node comes to, with everything below it."""
        return self._leaf(node) if node.parts else self._group(node)

    def blocked(self, rewards: Sequence[RewardNode]) -> frozenset[str]:
        """Judges that ask a model only for rewards whose gates have failed."""
        needless: set[str] = set()
        needed: set[str] = set()
        for node in rewards:
            self._sort(node, needless, needed)
        return frozenset(needless - needed)

    def _sort(self, node: RewardNode, needless: set[str], needed: set[str]) -> None:
        gate = node.rule.gate if node.rule else ()
        shut = gate and self._gated(node.rule or _PLAIN, [self.score(i) for i in node.inputs if i.name in gate])
        needed.update(part.judge for part in node.parts)
        for child in node.inputs:
            if shut and child.name not in gate:
                needless.update(_judges(child))
            else:
                self._sort(child, needless, needed)

    def _group(self, node: RewardNode) -> RewardScore:
        inputs = tuple(self.score(child) for child in node.inputs)
        rule = node.rule or _PLAIN
        made = _score_of(node, inputs=inputs, unscored=sum(child.unscored for child in inputs))
        gated = self._gated(rule, [child for child in inputs if child.name in rule.gate])
        if gated:
            return msgspec.structs.replace(made, score=0.0, gated=gated)
        lacking = next((child for child in inputs if child.score is None), None)
        if lacking is not None:
            return msgspec.structs.replace(made, failure=f"{lacking.name}: {lacking.failure}")
        values = [child.score for child in inputs if child.score is not None]
        if node.rule is None and len(values) == 1:
            return msgspec.structs.replace(made, score=values[0])
        return _aggregated(made, rule, values, [child.weight for child in inputs])

    def _gated(self, rule: RewardRule, gates: Sequence[RewardScore]) -> str:
        """The first input whose gate is known to have failed, or nothing."""
        failed = (gate for gate in gates if gate.score is not None and not reaches(gate.score, rule.gate_threshold))
        return next((gate.name for gate in failed), "")

    def _leaf(self, node: RewardNode) -> RewardScore:
        values: list[float] = []
        failures: list[str] = []
        warnings: list[str] = []
        unscored = 0
        flagged = False
        for part in node.parts:
            judge, criterion = self._criteria[part.judge, part.criterion]
            score = self._scores.get((part.judge, part.criterion))
            value = None if score is None else reward_value(criterion, score)
            if value is None:
                unscored += 1
                why = _why(part, judge, score)
                if self._on_error is OnError.ZERO or _timed_out(judge, score):
                    values.append(0.0)
                    warnings.append(f"{why}; counted as 0")
                else:
                    failures.append(why)
                continue
            values.append(value)
            flagged = flagged or (isinstance(judge, LLMJudge) and score is not None and score.flagged)
        made = _score_of(node, unscored=unscored, warnings=tuple(warnings))
        if failures:
            more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
            return msgspec.structs.replace(made, failure=failures[0] + more)
        rule = node.rule or _PLAIN
        optional = [part.optional for part in node.parts]
        if rule.aggregation is Aggregation.REQUIRED_PASS and all(optional):
            warnings.append("required-pass, and every criterion is optional: scored 0")
        made = _aggregated(
            msgspec.structs.replace(made, warnings=tuple(warnings)),
            rule,
            values,
            [part.weight for part in node.parts],
            optional=optional,
        )
        if flagged and made.score is not None:
            return msgspec.structs.replace(made, score=min(made.score, 0.0), flagged=True)
        return made


def reward_value(criterion: Criterion, score: Score) -> float | None:
    """What a score counts in a reward: normalised on the criterion's scale, or the number itself where it has none.

    A penalty for addressing the judge is the leaf's, so here the value is what the judge said.
    """
    value = score.raw if score.flagged and score.raw is not None else score.value
    if score.status is not Status.SCORED or value is None:
        return None
    if criterion.scale is None:
        return float(value) if isinstance(value, bool | int | float) else None
    return normalise(criterion, value)


def gate_judges(rewards: Sequence[RewardNode]) -> frozenset[str]:
    """Judges that a gate waits for."""
    return frozenset(name for node in rewards for name in _below_gates(node))


def _below_gates(node: RewardNode) -> Iterator[str]:
    for child in node.inputs:
        if node.rule and child.name in node.rule.gate:
            yield from _judges(child)
        else:
            yield from _below_gates(child)


def _judges(node: RewardNode) -> Iterator[str]:
    yield from (part.judge for part in node.parts)
    for child in node.inputs:
        yield from _judges(child)


def _score_of(
    node: RewardNode, *, inputs: tuple[RewardScore, ...] = (), unscored: int = 0, warnings: tuple[str, ...] = ()
) -> RewardScore:
    return RewardScore(
        name=node.name,
        kind=node.kind,
        weight=node.weight,
        rule=node.rule,
        parts=node.parts,
        inputs=inputs,
        listed=node.listed,
        unscored=unscored,
        warnings=warnings,
    )


def _aggregated(
    made: RewardScore,
    rule: RewardRule,
    values: Sequence[float],
    weights: Sequence[float],
    *,
    optional: Sequence[bool] = (),
) -> RewardScore:
    try:
        score = aggregate(rule.aggregation, values, weights, threshold=rule.threshold, optional=optional)
    except OverflowError as error:
        return msgspec.structs.replace(made, failure=str(error))
    if rule.clamp is not None:
        score = min(max(score, rule.clamp[0]), rule.clamp[1])
    return msgspec.structs.replace(made, score=round(score, DIGITS))


def _timed_out(judge: Judge, score: Score | None) -> bool:
    """A model that did not answer in time, which Reward Kit counts as 0."""
    return isinstance(judge, ModelJudge) and score is not None and score.error is not None and _is_timeout(score)


def _is_timeout(score: Score) -> bool:
    assert score.error is not None
    return score.error.kind is ErrorKind.TIMEOUT


def _why(part: RewardPart, judge: Judge, score: Score | None) -> str:
    name = part.judge if part.judge.endswith(part.criterion) else f"{part.judge}: {part.criterion}"
    if score is None:
        return f"{name}: not judged"
    if score.error is not None:
        return f"{name}: {score.error}"
    return f"{name}: {score.status.value}"
