"""Who answers: one file a wire format, and one client for all of them. Importing this does not import httpx."""

from adjudge.models.anthropic import CHARACTERS_PER_TOKEN, fixed_tokens, least_cacheable
from adjudge.models.prices import cost_usd, known, remember_in
from adjudge.models.resolve import CredentialsError, is_loopback, resolve, resolve_decision, split
from adjudge.models.retry import RetryPolicy
from adjudge.models.windows import context_tokens, room_bytes
from adjudge.models.wire import (
    CallError,
    Endpoint,
    ImagePart,
    ModelRequest,
    Part,
    Question,
    Reply,
    TextPart,
    ToolSchema,
)

__all__ = [
    "CHARACTERS_PER_TOKEN",
    "CallError",
    "CredentialsError",
    "Endpoint",
    "ImagePart",
    "ModelRequest",
    "Part",
    "Question",
    "Reply",
    "RetryPolicy",
    "TextPart",
    "ToolSchema",
    "context_tokens",
    "cost_usd",
    "fixed_tokens",
    "is_loopback",
    "known",
    "least_cacheable",
    "remember_in",
    "resolve",
    "resolve_decision",
    "room_bytes",
    "split",
]
