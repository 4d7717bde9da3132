"""From verdicts to scores, summaries and a decision. Pure: the same verdicts give the same bytes."""

from adjudge.scoring.aggregate import aggregate
from adjudge.scoring.baseline import baseline_of, regressions
from adjudge.scoring.compare import compare
from adjudge.scoring.compose import BaselineLimits, blocked_judges, compose
from adjudge.scoring.expression import Formula, FormulaError
from adjudge.scoring.gate import decide
from adjudge.scoring.people import compare_with_people, human_label
from adjudge.scoring.reduce import decided, normalise, reduce_samples
from adjudge.scoring.reward import gate_judges, reward_value
from adjudge.scoring.summarise import summarise
from adjudge.scoring.tasks import hard_failure

__all__ = [
    "BaselineLimits",
    "Formula",
    "FormulaError",
    "aggregate",
    "baseline_of",
    "blocked_judges",
    "compare",
    "compare_with_people",
    "compose",
    "decide",
    "decided",
    "gate_judges",
    "hard_failure",
    "human_label",
    "normalise",
    "reduce_samples",
    "regressions",
    "reward_value",
    "summarise",
]
