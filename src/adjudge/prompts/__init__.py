"""What a judge is shown, and how it must answer."""

from adjudge.prompts.contract import Answer, VerdictTool, read_arguments, read_json, read_text_answer, verdict_tool
from adjudge.prompts.fence import GUARD, fenced
from adjudge.prompts.template import (
    VARIABLES,
    PromptError,
    mentions,
    render,
    template_problem,
    template_variables,
)

__all__ = [
    "GUARD",
    "VARIABLES",
    "Answer",
    "PromptError",
    "VerdictTool",
    "fenced",
    "mentions",
    "read_arguments",
    "read_json",
    "read_text_answer",
    "render",
    "template_problem",
    "template_variables",
    "verdict_tool",
]
