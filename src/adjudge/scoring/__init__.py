"""From verdicts to scores, summaries and a decision. Pure: the same verdicts give the same bytes."""

from adjudge.scoring.aggregate import aggregate
from adjudge.scoring.compose import blocked_judges, compose
from adjudge.scoring.gate import decide
from adjudge.scoring.people import compare_with_people, human_label
from adjudge.scoring.reduce import decided, normalise, reduce_samples
from adjudge.scoring.reward import gate_judges, reward_value
from adjudge.scoring.summarise import summarise

__all__ = [
    "aggregate",
    "blocked_judges",
    "compare_with_people",
    "compose",
    "decide",
    "decided",
    "gate_judges",
    "human_label",
    "normalise",
    "reduce_samples",
    "reward_value",
    "summarise",
]
