"""How each kind of judge reaches a verdict."""

from adjudge.judges.llm import Asked, Asking, NothingToJudgeError, asking
from adjudge.judges.local import LocalRunner, describe
from adjudge.judges.outcome import MAX_PRINTED, Outcome, cap
from adjudge.judges.replies import PARSER_VERSION, Reading, read_reply, verdicts_of

__all__ = [
    "MAX_PRINTED",
    "PARSER_VERSION",
    "Asked",
    "Asking",
    "LocalRunner",
    "NothingToJudgeError",
    "Outcome",
    "Reading",
    "asking",
    "cap",
    "describe",
    "read_reply",
    "verdicts_of",
]
