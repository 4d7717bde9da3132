"""Settings of model providers that a suite can hold."""

from __future__ import annotations

import re
from typing import Any

import msgspec

OPENROUTER_URL = "https://openrouter.ai/api"


class OpenRouter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How OpenRouter is reached, and which of its endpoints answer.

    Attributes:
        api_key_env: Name of the variable that holds the key.
        base_url: Without `/v1`.
        referer, title: Attribution headers.
        defaults: Routing of every model.
        models: Routing by model, over the defaults.
        inherit_pins: Judges follow `order`, `only` and `quantizations` of that routing too.
        concurrency: Most requests under way at once.
        max_retries: How often a failed call is repeated.
        timeout_s: Limit of one call in seconds.
        extra_body: Merged into every request.
    """

    api_key_env: str = "OPENROUTER_API_KEY"
    base_url: str = OPENROUTER_URL
    referer: str = ""
    title: str = ""
    defaults: dict[str, Any] = {}
    models: dict[str, dict[str, Any]] = {}
    inherit_pins: bool = False
    concurrency: int = 4
    max_retries: int = 3
    timeout_s: float = 300.0
    extra_body: dict[str, Any] = {}

    def routing(self, model: str) -> dict[str, Any]:
        """The routing of a model for judges that declare none; pins only where they are inherited."""
        merged = {**self.defaults, **self.models.get(model, {})}
        return merged if self.inherit_pins else {key: value for key, value in merged.items() if key not in PINS}


PINS = ("order", "only", "quantizations")


def is_this_machine(host: str) -> bool:
    """True for the names and addresses by which a machine reaches itself; `127.example.org` is none."""
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None
