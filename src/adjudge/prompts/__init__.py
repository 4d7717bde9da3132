"""What a judge is shown, and how it must answer."""

from adjudge.prompts.agent_contract import ROLE, VERDICT_FILE, AgentContract, agent_contract, agent_task
from adjudge.prompts.answers import (
    Answer,
    read_answers,
    read_arguments,
    read_score_01,
    read_text_answer,
    read_text_answers,
)
from adjudge.prompts.budget import cut, fair_cap
from adjudge.prompts.builtin import BUILTIN_PROMPTS
from adjudge.prompts.contract import Slot, VerdictTool, scale_of, slots, verdict_tool
from adjudge.prompts.documents import DOCUMENTS, HTML, IMAGES, INSTALL, MAX_IMAGES, Document, DocumentReader
from adjudge.prompts.examples import HEADING as EXAMPLES_HEADING
from adjudge.prompts.examples import MAX_EXCERPT, examples_text
from adjudge.prompts.fence import GUARD, fenced
from adjudge.prompts.inputs import InputError, as_text, entries, entry_fields, fill, template_faults, uses_steps
from adjudge.prompts.scan import addressed_to_judge, addressing
from adjudge.prompts.templates import (
    VARIABLES,
    WORK,
    Fitting,
    PromptError,
    fixed_prefix,
    mentions,
    render,
    shows_work,
    template_problem,
    template_variables,
)
from adjudge.prompts.trajectory import Trajectory, TrajectoryError, read_trajectory

__all__ = [
    "BUILTIN_PROMPTS",
    "DOCUMENTS",
    "EXAMPLES_HEADING",
    "GUARD",
    "HTML",
    "IMAGES",
    "INSTALL",
    "MAX_EXCERPT",
    "MAX_IMAGES",
    "ROLE",
    "VARIABLES",
    "VERDICT_FILE",
    "WORK",
    "AgentContract",
    "Answer",
    "Document",
    "DocumentReader",
    "Fitting",
    "InputError",
    "PromptError",
    "Slot",
    "Trajectory",
    "TrajectoryError",
    "VerdictTool",
    "addressed_to_judge",
    "addressing",
    "agent_contract",
    "agent_task",
    "as_text",
    "cut",
    "entries",
    "entry_fields",
    "examples_text",
    "fair_cap",
    "fenced",
    "fill",
    "fixed_prefix",
    "mentions",
    "read_answers",
    "read_arguments",
    "read_score_01",
    "read_text_answer",
    "read_text_answers",
    "read_trajectory",
    "render",
    "scale_of",
    "shows_work",
    "slots",
    "template_faults",
    "template_problem",
    "template_variables",
    "uses_steps",
    "verdict_tool",
]
