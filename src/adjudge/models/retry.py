"""When a failed call is repeated."""

from __future__ import annotations

import random

import msgspec


class RetryPolicy(msgspec.Struct, frozen=True):
    """How often and how patiently a call is repeated. Waits grow from `base_s` twofold up to `cap_s`, with jitter."""

    attempts: int = 8
    base_s: float = 0.5
    cap_s: float = 30.0
    attempt_timeout_s: float = 120.0

    def wait_s(self, attempt: int, asked: float | None, rng: random.Random) -> float:
        """Seconds before attempt number `attempt + 1`; never less than the provider asked for."""
        backoff = min(self.cap_s, self.base_s * 2**attempt) * rng.uniform(0.5, 1.0)
        return backoff if asked is None else max(asked, 0.0) + rng.uniform(0.0, min(backoff, 1.0))
