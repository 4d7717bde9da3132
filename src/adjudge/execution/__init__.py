"""Running the agent under test, and collecting what it made."""

from adjudge.execution.hooks import HookError
from adjudge.execution.programs import Absent, absent_programs
from adjudge.execution.stage import Stage

__all__ = ["Absent", "HookError", "Stage", "absent_programs"]
