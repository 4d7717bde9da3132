"""What a judge is shown, and how it must answer."""

from adjudge.prompts.contract import Answer, VerdictTool, read_arguments, read_json, read_text_answer, verdict_tool
from adjudge.prompts.fence import GUARD, fenced
from adjudge.prompts.template import (
    VARIABLES,
    WORK,
    PromptError,
    mentions,
    render,
    shows_work,
    template_problem,
    template_variables,
)

__all__ = [
    "GUARD",
    "VARIABLES",
    "WORK",
    "Answer",
    "PromptError",
    "VerdictTool",
    "fenced",
    "mentions",
    "read_arguments",
    "read_json",
    "read_text_answer",
    "render",
    "shows_work",
    "template_problem",
    "template_variables",
    "verdict_tool",
]
