"""How much a model can read at once. A table of families: what is not in it is taken for 128,000 tokens."""

from __future__ import annotations

_FAMILIES: tuple[tuple[str, int], ...] = (
    ("claude-opus-4-6", 1_000_000),
    ("claude-opus-4-7", 1_000_000),
    ("claude-opus-4-8", 1_000_000),
    ("claude-sonnet-4-6", 1_000_000),
    ("claude-opus-5", 1_000_000),
    ("claude-sonnet-5", 1_000_000),
    ("claude-haiku-5", 1_000_000),
    ("claude-fable", 1_000_000),
    ("claude-mythos", 1_000_000),
    ("claude", 200_000),
    ("sonnet", 1_000_000),
    ("opus", 1_000_000),
    ("haiku", 1_000_000),
    ("gpt-3.5", 16_000),
    ("gpt-4.1", 1_000_000),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4", 8_000),
    ("gpt-5.3-codex", 270_000),
    ("gpt-5.3", 128_000),
    ("gpt-5.4-mini", 270_000),
    ("gpt-5.4-nano", 270_000),
    ("gpt-5.4", 920_000),
    ("gpt-5.5", 870_000),
    ("gpt-5.6", 920_000),
    ("gpt-5", 270_000),
    ("gpt-6", 920_000),
    ("o1-", 128_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("gemini-1.0", 32_000),
    ("gemini", 1_000_000),
    ("jev", 32_000),
)
DEFAULT = 128_000
BYTES_PER_TOKEN = 3
"""Fewer than text really has, so that what is reckoned to fit does fit."""
IMAGE_TOKENS = 1_600


def context_tokens(model: str) -> int:
    """The context window of a model by its name, in tokens."""
    name = model.lower().rpartition("/")[2]
    return next((size for family, size in _FAMILIES if name.startswith(family)), DEFAULT)


def room_bytes(model: str, *, answer_tokens: int, taken_bytes: int, images: int = 0) -> int:
    """How many bytes of text a request to the model has room for, beside the answer and what is there already."""
    tokens = context_tokens(model) - answer_tokens - images * IMAGE_TOKENS - 1_000
    return max(2_000, tokens * BYTES_PER_TOKEN - taken_bytes)
