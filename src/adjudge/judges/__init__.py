"""How each kind of judge reaches a verdict."""

from adjudge.judges.llm import PARSER_VERSION, NothingToJudgeError, llm_request, llm_verdict
from adjudge.judges.local import LocalRunner, describe
from adjudge.judges.outcome import MAX_PRINTED, Outcome, cap

__all__ = [
    "MAX_PRINTED",
    "PARSER_VERSION",
    "LocalRunner",
    "NothingToJudgeError",
    "Outcome",
    "cap",
    "describe",
    "llm_request",
    "llm_verdict",
]
