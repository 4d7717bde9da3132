"""Plan, carry out, keep. Importing this does not import asyncio's or the network's weight."""

from adjudge.engine.options import RunOptions
from adjudge.engine.plan import RunPlan, make_plan
from adjudge.engine.results import read_result
from adjudge.engine.rundir import HOME, JOURNAL

__all__ = ["HOME", "JOURNAL", "RunOptions", "RunPlan", "make_plan", "read_result"]
