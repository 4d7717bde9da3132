"""Who answers: one file a wire format, and one client for all of them. Importing this does not import httpx."""

from adjudge.models.prices import cost_usd, known
from adjudge.models.resolve import CredentialsError, is_loopback, resolve, split
from adjudge.models.retry import RetryPolicy
from adjudge.models.wire import CallError, Endpoint, ModelRequest, Reply, ToolSchema

__all__ = [
    "CallError",
    "CredentialsError",
    "Endpoint",
    "ModelRequest",
    "Reply",
    "RetryPolicy",
    "ToolSchema",
    "cost_usd",
    "is_loopback",
    "known",
    "resolve",
    "split",
]
