"""One request to a model and its reply, the same for every provider."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from adjudge.domain import ErrorKind, Usage


class ToolSchema(msgspec.Struct, frozen=True):
    """The structure that the model must answer in."""

    name: str
    description: str
    schema: dict[str, Any]


class TextPart(msgspec.Struct, frozen=True, tag="text"):
    text: str


class ImagePart(msgspec.Struct, frozen=True, tag="image"):
    """`data` is base64; `media_type` such as image/png."""

    media_type: str
    data: str


Part = TextPart | ImagePart


class Question(msgspec.Struct, frozen=True):
    """What a decision model is asked about one criterion: yes or no, or one of `levels`."""

    key: str
    instructions: str
    levels: tuple[str, ...] = ()


class ModelRequest(msgspec.Struct, frozen=True):
    """What is asked: system text, one user message, and the tool that the answer must call.

    The user message is made of `fixed` (text that is the same for every case, and so can be cached), `material`,
    `prompt`, and `correction` (what was wrong with the answer before). `effort` is the reasoning effort that is
    asked for; `extra` is merged into the body by wires that take options. `questions` are for decision models only.
    """

    system: str
    prompt: str
    tool: ToolSchema
    max_tokens: int
    fixed: str = ""
    material: tuple[Part, ...] = ()
    correction: str = ""
    effort: str = ""
    extra: dict[str, Any] = {}
    questions: tuple[Question, ...] = ()

    def parts(self) -> list[Part]:
        """The user message without `fixed`."""
        texts = [TextPart(text) for text in (self.prompt, self.correction) if text]
        return [*self.material, *texts]


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came back.

    `arguments` holds those of the forced tool, as JSON text, when the model called it; else `text` holds its words.
    `failure` is set when the reply is complete but cannot hold a verdict (refusal, cut off, wrong tool).
    `notes` tell what the provider would not take. Agents answer in the same form.
    """

    text: str = ""
    arguments: str | None = None
    failure: tuple[ErrorKind, str] | None = None
    usage: Usage = Usage()
    model: str = ""
    tool_choice: str = "function"
    """How hard the model was made to call the tool: the first of `TOOL_CHOICES` that it did not reject."""
    notes: tuple[str, ...] = ()
    denials: dict[str, int] = {}
    """Tool -> how many of an agent's calls were refused."""
    exit_code: int | None = None
    """How an agent's program ended."""


TOOL_CHOICES = ("function", "required", "auto")
"""From naming the tool, over any tool, to merely offering it. Some models reject the first two."""


class Shape(msgspec.Struct, frozen=True):
    """How a request must be spelled for an endpoint: the rung of `TOOL_CHOICES`, and parameters left out."""

    rung: int = 0
    without: frozenset[str] = frozenset()

    @property
    def tool_choice(self) -> str:
        return TOOL_CHOICES[self.rung]


PLAIN = Shape()


_NOT_TAKEN = re.compile(
    r"support|unknown|unrecogni[sz]ed|unexpected|not (?:allowed|permitted|available|accepted)|extra inputs",
    re.IGNORECASE,
)


_ALSO_CALLED = {
    "output_config": ("effort parameter",),
    "reasoning_effort": ("reasoning.effort", "effort parameter"),
}
"""What providers call a parameter in their errors, besides its name."""


class CallError(Exception):
    """A request that got no reply.

    `retry_after_s` is what the provider asked to wait, in seconds; `fatal` means that no other request to the same
    endpoint will fare better.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        fatal: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.fatal = fatal
        self.exit_code: int | None = None
        """How an agent's program ended, where one was asked."""

    @property
    def rejects_tool_choice(self) -> bool:
        """True if the provider refuses the forcing mode rather than the request."""
        return self._is_about("tool_choice") or self.no_endpoints

    @property
    def no_endpoints(self) -> bool:
        """True if a router has no endpoint that takes the request as it is."""
        return self.kind is ErrorKind.MODEL_NOT_FOUND and "no endpoints found" in self.message.lower()

    def rejects(self, parameter: str) -> bool:
        """True if the provider says that it does not know, or not take, a parameter (rather than its value)."""
        names = (parameter, *_ALSO_CALLED.get(parameter, ()))
        return any(map(self._is_about, names)) and _NOT_TAKEN.search(self.message) is not None

    def _is_about(self, parameter: str) -> bool:
        return self.kind is ErrorKind.REQUEST_REJECTED and parameter in self.message


class Wire(Protocol):
    """A provider's wire format."""

    name: str
    optional: tuple[str, ...]
    """Parameters that a request can do without, should a model refuse them."""

    def body(self, request: ModelRequest, model: str, shape: Shape = PLAIN) -> dict[str, Any]:
        """The JSON body of the request."""
        ...

    def reply(self, payload: Any, request: ModelRequest) -> Reply:
        """Read the JSON of a successful response.

        Raises:
            CallError: it does not have the provider's shape.
        """
        ...


class Sends(Protocol):
    """A wire that reaches the provider by its own means, and not over the shared HTTP client."""

    async def send(self, body: dict[str, Any], timeout_s: float) -> Any:
        """The payload for `reply`.

        Raises:
            CallError: there is none.
        """
        ...


class Endpoint(msgspec.Struct, frozen=True):
    """Where a model is reached. `headers` hold the secret and never leave the process."""

    wire: Wire
    model: str
    url: str
    headers: dict[str, str]
    official: bool = True
    provider: str = ""
    """By which the price list knows it; the wire's name unless another serves the model."""
    limit: int = 0
    """Most requests under way at once; 0 for the run's own limit."""
    attempts: int = 0
    """How often a call is tried; 0 for the run's own policy."""
    bills: bool = False
    """The provider says with each reply what it cost."""
    timeout_s: float = 0.0
    """Limit of one call, with its repetitions; 0 for the judge's own."""

    @property
    def priced_as(self) -> str:
        return self.provider or self.wire.name

    @property
    def label(self) -> str:
        """Names the model and its wire in reports; the URL only when it is not the provider's own."""
        return f"{self.wire.name}:/{self.model}" + ("" if self.official else f" at {self.url}")

    def __repr__(self) -> str:
        return f"Endpoint({self.label})"


_STATUS_KINDS: Mapping[int, tuple[ErrorKind, bool]] = {
    401: (ErrorKind.CREDENTIALS, False),
    402: (ErrorKind.CREDENTIALS, False),
    403: (ErrorKind.CREDENTIALS, False),
    404: (ErrorKind.MODEL_NOT_FOUND, False),
    408: (ErrorKind.PROVIDER_ERROR, True),
    409: (ErrorKind.PROVIDER_ERROR, True),
    425: (ErrorKind.PROVIDER_ERROR, True),
    429: (ErrorKind.RATE_LIMITED, True),
    529: (ErrorKind.RATE_LIMITED, True),
}


def status_error(status: int, headers: Mapping[str, str], message: str) -> CallError:
    """The error for an HTTP status that is not 2xx."""
    kind, retryable = _STATUS_KINDS.get(
        status, (ErrorKind.PROVIDER_ERROR, True) if status >= 500 else (ErrorKind.REQUEST_REJECTED, False)
    )
    if status == 429 and "insufficient_quota" in message:
        kind, retryable = ErrorKind.CREDENTIALS, False
    no_endpoints = "no endpoints found" in message.lower()
    wait = retry_after(headers)
    text = f"HTTP {status}: {message}"
    return CallError(
        kind, text, retryable=retryable, retry_after_s=wait, fatal=status in (401, 404) and not no_endpoints
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by `retry-after-ms` or `Retry-After` (a number or an HTTP date), if either is usable."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        raw = headers.get(name)
        if raw is None:
            continue
        try:
            seconds = float(raw) / scale
        except ValueError:
            seconds = _until(raw)
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _until(date: str) -> float:
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        when = parsedate_to_datetime(date)
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        return max(0.0, (when - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError, TypeError, IndexError):
        return -1.0


def count(payload: Mapping[str, Any], *path: str) -> int:
    """A token count at a path of a usage object; 0 where it is absent or no whole number."""
    value: Any = payload
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0
