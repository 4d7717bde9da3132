"""The cache across runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from adjudge.domain import AgentJudge, StoreError
from adjudge.engine.options import RunOptions
from adjudge.engine.plan import RunPlan
from adjudge.engine.rundir import HOME
from adjudge.engine.store import Store


@contextlib.contextmanager
def opened_cache(plan: RunPlan, options: RunOptions, *, note: Callable[[str], None]) -> Iterator[Store | None]:
    """The cache, for as long as the run goes on. It is a convenience: when it cannot be opened there is none."""
    if not plan.endpoints and not any(isinstance(judge, AgentJudge) for judge in plan.judges):
        yield None
        return
    path = options.cache or HOME / "cache.db"
    try:
        cache = Store(path, durable=False)
    except StoreError as error:
        note(f"no cache across runs: {error}")
        yield None
        return
    try:
        yield cache
    finally:
        cache.close()
