"""From verdicts to scores, summaries and a decision. Pure: the same verdicts give the same bytes."""

from adjudge.scoring.compose import compose
from adjudge.scoring.gate import decide
from adjudge.scoring.people import compare_with_people, human_label
from adjudge.scoring.reduce import decided, normalise, reduce_samples
from adjudge.scoring.summarise import summarise

__all__ = [
    "compare_with_people",
    "compose",
    "decide",
    "decided",
    "human_label",
    "normalise",
    "reduce_samples",
    "summarise",
]
