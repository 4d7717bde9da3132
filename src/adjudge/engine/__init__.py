"""Plan, carry out, keep. Names are imported when they are first used, so that a worker can be started before."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.engine.options import RunOptions
    from adjudge.engine.plan import RunPlan, make_plan
    from adjudge.engine.results import read_result, read_run
    from adjudge.engine.rundir import HOME, JOURNAL
    from adjudge.engine.spare import SpareWorker, discover

_WHERE = {
    "HOME": "rundir",
    "JOURNAL": "rundir",
    "RunOptions": "options",
    "RunPlan": "plan",
    "SpareWorker": "spare",
    "discover": "spare",
    "make_plan": "plan",
    "read_result": "results",
    "read_run": "results",
}

__all__ = [
    "HOME",
    "JOURNAL",
    "RunOptions",
    "RunPlan",
    "SpareWorker",
    "discover",
    "make_plan",
    "read_result",
    "read_run",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
