"""The reward of a case by a formula over its judges, as the eval_yaml format has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from adjudge.domain import (
    CaseRewards,
    Judge,
    LeftOut,
    Numeric,
    OnUnscored,
    PairwiseCase,
    PairwiseJudge,
    RewardForm,
    RewardFormula,
    RewardScore,
    Score,
    Status,
)
from adjudge.scoring.expression import Formula, FormulaError

NAME = "reward"
PAIRWISE = "pairwise"
"""The judge that says false to nothing, and that the default form has no need of."""
_WINS = {"run": 1.0, "tie": 0.5, "baseline": 0.0}


class Parts:
    """What the judges say of one case: who has a value in [0, 1], who has none and why, who says false."""

    def __init__(
        self,
        rule: RewardFormula,
        judges: Mapping[str, Judge],
        scores: Iterable[Score],
        pairwise: PairwiseCase | None,
        left_out: Mapping[str, str],
    ) -> None:
        self.values: dict[str, float] = {}
        self.booleans: set[str] = set()
        self.false: set[str] = set()
        self.unscored: dict[str, str] = {name: f"left out ({why})" for name, why in left_out.items()}
        self.skipped: set[str] = set()
        for score in scores:
            if score.judge != score.criterion or score.judge not in judges:
                continue
            if score.status is Status.SKIPPED:
                self.skipped.add(score.judge)
            elif score.status is not Status.SCORED or score.value is None:
                self.unscored[score.judge] = str(score.error or score.status.value)
            elif isinstance(score.value, bool):
                self.booleans.add(score.judge)
                self.values[score.judge] = float(score.value)
                if not score.value:
                    self.false.add(score.judge)
            else:
                self.values[score.judge] = _value(rule, judges[score.judge], score)
        for name in judges:
            if not isinstance(judges[name], PairwiseJudge):
                continue
            if pairwise is None:
                self.skipped.add(name)
            elif pairwise.winner:
                self.values[name] = _WINS[pairwise.winner]
            else:
                self.unscored[name] = str(pairwise.failure or "no winner")


def _value(rule: RewardFormula, judge: Judge, score: Score) -> float:
    """A number brought to [0, 1]: as it is for raw judges, else by its own range, else by the reward's."""
    if isinstance(score.value, str):
        return score.normalised or 0.0
    value = float(score.value or 0)
    single = rule.form is RewardForm.JUDGE and not rule.normalize
    if judge.name not in rule.raw and not single:
        scale = judge.criteria[0].scale
        low, high = rule.score_range
        if isinstance(scale, Numeric) and scale.enforced:
            low, high = scale.min, scale.max
        value = (value / 2 - low / 2) / (high / 2 - low / 2)  # by halves, for the largest numbers that there are
    return min(max(value, 0.0), 1.0)


def formula_rewards(
    rule: RewardFormula,
    judges: Iterable[Judge],
    scores: Iterable[Score],
    cases: Iterable[str],
    *,
    pairwise: Mapping[str, PairwiseCase] | None = None,
    panels: Mapping[str, Sequence[str]] | None = None,
    left_out: Iterable[LeftOut] = (),
) -> tuple[CaseRewards, ...]:
    """The reward of every case. A panel counts by its own name, and its members do not; a judge that was left out of
    the run has no value."""
    by_name = {judge.name: judge for judge in judges}
    for panel, members in (panels or {}).items():
        first, *_ = [by_name.pop(member) for member in members]
        by_name[panel] = first
    gone = {judge.judge: judge.why for judge in left_out}
    names = (*by_name, *gone)
    by_case: dict[str, list[Score]] = {case: [] for case in cases}
    for score in scores:
        by_case[score.case].append(score)
    made = []
    for case, own in by_case.items():
        parts = Parts(rule, by_name, own, (pairwise or {}).get(case), gone)
        made.append(CaseRewards(case, (_reward(rule, names, parts),)))
    return tuple(made)


def _reward(rule: RewardFormula, judges: tuple[str, ...], parts: Parts) -> RewardScore:
    """A judge that says false closes the gate, whatever else is known. Then what is needed and has no value has it by
    the rule for that: the reward fails, or it counts as 0, or it is left out."""

    def reward(
        score: float | None, failure: str = "", *, warnings: tuple[str, ...] = (), gated: str = ""
    ) -> RewardScore:
        return RewardScore(
            name=NAME,
            kind="formula",
            score=None if score is None else round(min(max(score, 0.0), 1.0), 6),
            failure=failure,
            unscored=len(parts.unscored),
            warnings=warnings,
            gated=gated,
        )

    gates = rule.gate if rule.gate is not None else rule.form is not RewardForm.JUDGE
    if gates and parts.false:
        return reward(0.0, gated=min(parts.false))
    try:
        needed = _needed(rule, judges)
    except FormulaError as error:
        return reward(None, str(error))
    wanting = {name: why for name, why in parts.unscored.items() if name in needed or (gates and name != PAIRWISE)}
    values = dict(parts.values)
    warnings: tuple[str, ...] = ()
    if wanting:
        said = "; ".join(f"{name}: {why}" for name, why in sorted(wanting.items()))
        if rule.unscored is OnUnscored.FAIL:
            return reward(None, said)
        if rule.unscored is OnUnscored.ZERO:
            values |= dict.fromkeys(wanting, 0.0)
        warnings = (f"{'counted as 0' if rule.unscored is OnUnscored.ZERO else 'left out'}: {said}",)
    try:
        return reward(_composed(rule, judges, values, parts), warnings=warnings)
    except FormulaError as error:
        return reward(None, str(error), warnings=warnings)


def _needed(rule: RewardFormula, judges: tuple[str, ...]) -> set[str]:
    if rule.form is RewardForm.JUDGE:
        return {rule.judge}
    if rule.form is RewardForm.WEIGHTED:
        return {name for name, weight in rule.weights.items() if weight}
    if rule.form is RewardForm.EXPRESSION:
        return set(_formula(rule.expression, judges).judges)
    return set(judges) - {PAIRWISE}


def _composed(rule: RewardFormula, judges: tuple[str, ...], values: Mapping[str, float], parts: Parts) -> float:
    if rule.form is RewardForm.JUDGE:
        if rule.judge not in values:
            raise FormulaError(f"{rule.judge}: {'skipped' if rule.judge in parts.skipped else 'not judged'}")
        return values[rule.judge]
    if rule.form is RewardForm.EXPRESSION:
        return _formula(rule.expression, judges).value(values)
    if rule.form is RewardForm.WEIGHTED:
        held = {name: weight for name, weight in rule.weights.items() if name in values}
        largest = max(held.values(), default=0.0)
        if not largest:
            raise FormulaError("no judge with a weight has a value")
        shares = {name: weight / largest for name, weight in held.items()}
        return sum(share * values[name] for name, share in shares.items()) / sum(shares.values())
    if parts.false:
        return 0.0
    numbers = [value for name, value in values.items() if name not in parts.booleans]
    if not values:
        raise FormulaError("no judge has a value")
    return sum(numbers) / len(numbers) if numbers else 1.0


@lru_cache(maxsize=64)
def _formula(text: str, judges: tuple[str, ...]) -> Formula:
    return Formula(text, judges)
