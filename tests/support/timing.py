"""How long something takes, whatever else the machine has to do."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

LOOP_S = 0.003
"""What the loop of `best` takes on a quiet machine."""


def best(call: Callable[[str], Any], text: str) -> float:
    """Seconds of processor time on a quiet machine: the best of some, beside a loop whose time there is known."""
    taken = []
    gc.collect()
    gc.disable()  # as often as it likes to run it tells of the rest of the tests
    for _ in range(7):
        start = time.thread_time()
        call(text)
        middle = time.thread_time()
        sum(number & 1 for number in range(100_000))
        slowness = max(1.0, (time.thread_time() - middle) / LOOP_S)
        taken.append((middle - start) / slowness)
        if taken[-1] < 0.02:
            break
    gc.enable()
    return min(taken)
