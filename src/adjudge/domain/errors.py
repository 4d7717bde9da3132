"""Why something has no score, and how problems in a user's files are told."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class ErrorKind(StrEnum):
    """The closed set of reasons for which a verdict is *unscored*."""

    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    PROVIDER_ERROR = "provider_error"
    CONNECTION = "connection"
    CREDENTIALS = "credentials"
    MODEL_NOT_FOUND = "model_not_found"
    REQUEST_REJECTED = "request_rejected"
    NO_ENDPOINTS = "no_endpoints"
    TOOL_CHOICE_REJECTED = "tool_choice_rejected"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    UNPARSEABLE = "unparseable"
    OFF_SCALE = "off_scale"
    WRONG_TYPE = "wrong_type"
    TOO_FEW_VOTES = "too_few_votes"
    RAISED = "raised"
    CRASHED = "crashed"
    OUTPUT_LIMIT = "output_limit"
    INPUT = "input"
    CONFIG = "config"
    BUDGET = "budget"
    OFFLINE = "offline"
    SANDBOX = "sandbox"
    INTERRUPTED = "interrupted"

    @property
    def sentence(self) -> str:
        """What happened, in one sentence for users."""
        return _SENTENCES[self]

    @property
    def transient(self) -> bool:
        """True if asking again may give an answer, so that a resumed run asks again."""
        return self in _TRANSIENT


_SENTENCES = {
    ErrorKind.TIMEOUT: "The judge did not answer within its time limit.",
    ErrorKind.RATE_LIMITED: "The provider was overloaded or limited the rate, and retries ran out.",
    ErrorKind.PROVIDER_ERROR: "The provider answered with an error of its own, and retries ran out.",
    ErrorKind.CONNECTION: "The endpoint could not be reached, or the connection broke.",
    ErrorKind.CREDENTIALS: "The provider did not accept the credentials, or there were none.",
    ErrorKind.MODEL_NOT_FOUND: "The provider does not know the model.",
    ErrorKind.REQUEST_REJECTED: "The provider rejected the request.",
    ErrorKind.NO_ENDPOINTS: "No endpoint behind the router serves this model with tools.",
    ErrorKind.TOOL_CHOICE_REJECTED: "The provider rejects every way of asking for the verdict tool.",
    ErrorKind.REFUSED: "The model declined to judge.",
    ErrorKind.TRUNCATED: "The model's answer was cut off before the verdict was complete.",
    ErrorKind.UNPARSEABLE: "The answer holds no verdict of the form that was asked for.",
    ErrorKind.OFF_SCALE: "The value does not lie on the criterion's scale.",
    ErrorKind.WRONG_TYPE: "The judge returned something that is neither a boolean nor a finite number.",
    ErrorKind.TOO_FEW_VOTES: "Fewer than half of the samples gave a usable value.",
    ErrorKind.RAISED: "The judge's code raised an exception.",
    ErrorKind.CRASHED: "The judge's process ended before it gave a verdict.",
    ErrorKind.OUTPUT_LIMIT: "The judge printed or returned more than it may.",
    ErrorKind.INPUT: "What was to be judged could not be read.",
    ErrorKind.CONFIG: "The judge is not configured so that it can run.",
    ErrorKind.BUDGET: "The budget was used up before this call.",
    ErrorKind.OFFLINE: "There is no recorded answer, and the run was offline.",
    ErrorKind.SANDBOX: "The confinement that the judge asks for is not available.",
    ErrorKind.INTERRUPTED: "The run was interrupted before this verdict.",
}

_TRANSIENT = frozenset(
    {
        ErrorKind.TIMEOUT,
        ErrorKind.RATE_LIMITED,
        ErrorKind.PROVIDER_ERROR,
        ErrorKind.CONNECTION,
        ErrorKind.CREDENTIALS,
        ErrorKind.MODEL_NOT_FOUND,
        ErrorKind.REQUEST_REJECTED,
        ErrorKind.NO_ENDPOINTS,
        ErrorKind.TOOL_CHOICE_REJECTED,
        ErrorKind.CRASHED,
        ErrorKind.INPUT,
        ErrorKind.CONFIG,
        ErrorKind.BUDGET,
        ErrorKind.OFFLINE,
        ErrorKind.SANDBOX,
        ErrorKind.INTERRUPTED,
    }
)


class Failure(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why one verdict is unscored: a kind from the closed set and the particulars."""

    kind: ErrorKind
    message: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.message or self.kind.sentence}"


class Problem(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One thing wrong in a user's file. `line` and `column` count from 1; 0 means the whole file."""

    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    key: str = ""
    hint: str = ""
    warning: bool = False

    def __str__(self) -> str:
        place = self.file
        if self.line:
            place += f":{self.line}:{self.column}"
        parts = [
            place,
            "warning" if self.warning else "error",
            f"{self.key}: {self.message}" if self.key else self.message,
        ]
        text = ": ".join(part for part in parts if part)
        return f"{text} ({self.hint})" if self.hint else text


class AdjudgeError(Exception):
    """Base of every error that adjudge raises on purpose; its text is meant for users."""


class ConfigError(AdjudgeError):
    """The suite cannot run. Carries every problem found, not just the first."""

    def __init__(self, problems: list[Problem] | str) -> None:
        self.problems = [Problem(message=problems)] if isinstance(problems, str) else problems
        super().__init__("\n".join(str(problem) for problem in self.problems))


class StoreError(AdjudgeError):
    """The run directory or its journal cannot be used (locked, full, read-only, of another version)."""


class MissingExtraError(AdjudgeError):
    """An optional dependency is absent; the text names it and the install command."""
