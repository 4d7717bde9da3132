"""How often the intervals of a certificate hold the truth, in studies of 30, 100 and 300 traces.

About 95 of 100 times, but where judge and people hardly ever differ: few traces tell anything then, and those of kappa,
TPR and bias hold as rarely as 86 of 100 times at 30. A few repeats in CI, 1,500 under `make soak`.
"""

from __future__ import annotations

import math
import os
import random
from collections import Counter
from functools import cache

import pytest

from adjudge.stats.agreement import Estimate, bias, cohen_kappa, exact_agreement, rates, within
from adjudge.stats.krippendorff import alpha_estimate

REPEATS = 1_500 if os.environ.get("ADJUDGE_SOAK") == "1" else 100
POINTS = (1, 2, 3, 4, 5)


def study(generator: random.Random, n: int, quality: float) -> list[tuple[int, int]]:
    """(people's score, the judge's) of n traces: equal, a point apart and rather too high, or a guess."""
    made = []
    for _ in range(n):
        human = generator.choices(POINTS, [1, 2, 3, 3, 2])[0]
        luck = generator.random()
        beside = max(1, min(5, human + generator.choice([-1, 1, 1])))
        judge = human if luck < quality else beside if luck < quality + 0.25 else generator.choice(POINTS)
        made.append((human, judge))
    return made


def figures(traces: list[tuple[int, int]]) -> dict[str, Estimate]:
    people, judge = [list(column) for column in zip(*traces, strict=True)]
    tpr, tnr = rates([score >= 4 for score in judge], [score >= 4 for score in people])
    return {
        "exact": exact_agreement(judge, people),
        "within one point": within(judge, people),
        "bias": bias(judge, people),
        "TPR": tpr,
        "TNR": tnr,
        "kappa": cohen_kappa(people, judge),
        "quadratic kappa": cohen_kappa(people, judge, weights="quadratic"),
        "nominal alpha": alpha_estimate(traces, level="nominal"),
        "ordinal alpha": alpha_estimate(traces, level="ordinal"),
        "interval alpha": alpha_estimate(traces, level="interval"),
    }


@cache
def truth(quality: float) -> dict[str, float | None]:
    return {name: found.value for name, found in figures(study(random.Random(7), 60_000, quality)).items()}


@pytest.mark.parametrize("quality", [0.35, 0.65, 0.85, 0.95])
@pytest.mark.parametrize("n", [30, 100, 300])
def test_the_intervals_of_a_certificate(n: int, quality: float) -> None:
    generator = random.Random(f"{n} {quality}")
    held: Counter[str] = Counter()
    there: Counter[str] = Counter()
    for _ in range(REPEATS):
        for name, found in figures(study(generator, n, quality)).items():
            true = truth(quality)[name]
            assert true is not None
            if found.low is None or found.high is None:  # nothing varies, which is said instead of an interval
                assert quality > 0.65
                continue
            there[name] += 1
            held[name] += found.low <= true <= found.high
    least, most = (0.93, 0.98) if quality < 0.8 else (0.86, 1.0)
    reach = 4 * math.sqrt(0.95 * 0.05 / REPEATS)
    for name in truth(quality):
        assert least - reach <= held[name] / there[name] <= most + reach, name
