"""Did the agent's run use no more tokens than it may?"""

from __future__ import annotations

from typing import Any


def judge(
    outputs: dict[str, Any],
    *,
    max_tokens: int | None = None,
    max_input: int | None = None,
    max_output: int | None = None,
    include_cache: bool = True,
) -> tuple[bool, str]:
    """Pass when the recorded tokens are within every limit that is given; cached tokens count as input.

    Raises:
        ValueError: no token usage is recorded, or no limit is given.
    """
    usage = outputs.get("token_usage")
    if not usage:
        raise ValueError("no token usage is recorded for this case")
    read = usage.get("input", 0)
    if include_cache:
        read += usage.get("cache_read", 0) + usage.get("cache_create", 0)
    written = usage.get("output", 0)
    limits = [
        (what, used, most)
        for what, used, most in (
            ("tokens", read + written, max_tokens),
            ("input tokens", read, max_input),
            ("output tokens", written, max_output),
        )
        if most is not None
    ]
    if not limits:
        raise ValueError("one of max_tokens, max_input and max_output must be given")
    said = "; ".join(f"{used} {what} of at most {most}" for what, used, most in limits)
    return all(used <= most for _, used, most in limits), f"{said} ({'with' if include_cache else 'without'} cache)."
