"""Running the agent under test, and collecting what it made."""

from adjudge.execution.hooks import HookError
from adjudge.execution.stage import Stage, execution_result

__all__ = ["HookError", "Stage", "execution_result"]
