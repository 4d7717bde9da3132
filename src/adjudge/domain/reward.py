"""Rewards: numbers composed from the scores of one case. What is composed of what, and what came of it. Data only."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Aggregation(StrEnum):
    """How the values v with weights w of several inputs become one number."""

    WEIGHTED_MEAN = "weighted-mean"
    """sum(v w) / sum(w); 0 when the weights sum to 0."""
    WEIGHTED_SUM = "weighted-sum"
    """sum(v w). The only one that takes negative weights; may lie outside [0, 1]."""
    ALL_PASS = "all-pass"
    """1 when every v >= 1, else 0."""
    ANY_PASS = "any-pass"
    """1 when some v >= 1, else 0."""
    THRESHOLD = "threshold"
    """1 when the weighted mean reaches the threshold, else 0."""
    REQUIRED_PASS = "required-pass"
    """1 when every v that is not optional is > 0, else 0; 0 when all are optional."""
    MIN = "min"
    MAX = "max"
    PRODUCT = "product"


class OnError(StrEnum):
    """What a criterion without a score does to the reward that needs it."""

    FAIL = "fail"
    """The reward has no value."""
    ZERO = "zero"
    """It counts as 0."""


class RewardForm(StrEnum):
    """What a formula over judges is."""

    DEFAULT = "default"
    """0 when a judge says false, else the mean of the numbers, else 1."""
    JUDGE = "judge"
    WEIGHTED = "weighted"
    EXPRESSION = "expression"


class OnUnscored(StrEnum):
    """What a judge without a value does to a formula that needs it."""

    FAIL = "fail"
    """There is no reward."""
    ZERO = "zero"
    DROP = "drop"
    """It is left out of the weights; a formula that names it has no value."""


class RewardFormula(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One number in [0, 1] a case, over all its judges.

    Attributes:
        judge: For the form of that name; brought to [0, 1] by its range when `normalize`, else clamped.
        weights: Judge -> weight; the mean is taken over those that have a value.
        expression: Over judges; see `scoring.expression`.
        gate: A judge that says false makes it 0; `None` for yes, but not in the form `judge`.
        score_range: Of judges that declare none.
        raw: Judges whose number is taken as it is, clamped to [0, 1].
    """

    form: RewardForm = RewardForm.DEFAULT
    judge: str = ""
    normalize: bool = False
    weights: dict[str, float] = {}
    expression: str = ""
    gate: bool | None = None
    score_range: tuple[float, float] = (1.0, 5.0)
    raw: tuple[str, ...] = ()
    unscored: OnUnscored = OnUnscored.FAIL


class RewardRule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the inputs of a node become its score.

    Attributes:
        aggregation: The formula.
        threshold: For the aggregation of that name.
        gate: Inputs that must reach `gate_threshold`; where one does not, the score is 0 and judges that ask a model
            only for this are not asked.
        clamp: Bounds (low, high) that the score is brought within.
    """

    aggregation: Aggregation = Aggregation.WEIGHTED_MEAN
    threshold: float = 0.5
    gate: tuple[str, ...] = ()
    gate_threshold: float = 1.0
    clamp: tuple[float, float] | None = None


class RewardPart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One criterion of one judge, as it counts in a leaf. An optional one counts in no required-pass rule."""

    judge: str
    criterion: str
    weight: float = 1.0
    optional: bool = False


class RewardNode(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A leaf holds `parts`, a group holds `inputs`. A group of one input without a rule passes its score through.

    Attributes:
        name: Of the input in its group, or of the reward.
        kind: `programmatic`, `llm`, `agent`, `jev`, or `group`.
        weight: In the group that it is an input of.
        rule: `None` for a group that states none.
        listed: Whether the details of a result list it; an aggregate over what is listed anyway is not.
    """

    name: str
    kind: str = "group"
    weight: float = 1.0
    rule: RewardRule | None = None
    parts: tuple[RewardPart, ...] = ()
    inputs: tuple[RewardNode, ...] = ()
    listed: bool = True


class RewardScore(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a node came to.

    Attributes:
        score: `None` when something that it needs has no score; `failure` then says what.
        gated: The input whose gate failed, when one did.
        flagged: The work tried to instruct the judge, and the score is at most 0 for that.
        unscored: Criteria without a score below it, whatever they were counted as.
        warnings: What was counted as 0 without being judged so, and why.
    """

    name: str
    kind: str = "group"
    score: float | None = None
    failure: str = ""
    weight: float = 1.0
    rule: RewardRule | None = None
    parts: tuple[RewardPart, ...] = ()
    inputs: tuple[RewardScore, ...] = ()
    listed: bool = True
    gated: str = ""
    flagged: bool = False
    unscored: int = 0
    warnings: tuple[str, ...] = ()
