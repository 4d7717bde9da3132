"""Running the agent under test, and collecting what it made."""

from adjudge.execution.hooks import HookError
from adjudge.execution.stage import Stage

__all__ = ["HookError", "Stage"]
