"""`models.providers.openrouter`: how judges reach OpenRouter."""

from __future__ import annotations

import math
import re
from typing import Any
from urllib.parse import urlsplit

from adjudge.domain import OpenRouter, is_this_machine
from adjudge.formats.convert import Converter
from adjudge.formats.eval_yaml.routing import routing_problems
from adjudge.formats.eval_yaml.schema import ModelsConfig, OpenRouterConfig
from adjudge.located import Located

_WHERE = "models.providers.openrouter"
_OF_RUNS = ("management_key_env", "background_model", "preflight", "cli_budget_inflation", "budget")


class OpenRouterReader:
    """Reads the block and reports on it; `root` is the whole file, for places."""

    def __init__(self, converter: Converter, root: Located) -> None:
        self.converter = converter
        self.root = root

    def read(self, models: ModelsConfig | None) -> OpenRouter | None:
        """The settings, or `None` when the file has none."""
        config = models.providers.openrouter if models and models.providers else None
        if config is None:
            return None
        self._check(config)
        judge, routing, said = config.judge, config.routing, config.attribution
        given = {
            "base_url": config.base_url.rstrip("/").removesuffix("/v1") if config.base_url else None,
            "referer": said.referer if said else None,
            "title": said.title if said else None,
            "defaults": routing.defaults if routing else None,
            "models": routing.models if routing else None,
            "inherit_pins": judge.inherit_pins if judge else None,
            "concurrency": judge.concurrency if judge else None,
            "max_retries": judge.max_retries if judge else None,
            "timeout_s": judge.timeout_s if judge else None,
            "extra_body": judge.extra_body if judge else None,
        }
        kept = {key: value for key, value in given.items() if value is not None}
        return OpenRouter(api_key_env=config.api_key_env, **kept)  # type: ignore[arg-type]

    def _check(self, config: OpenRouterConfig) -> None:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", config.api_key_env):
            self._error("api_key_env", message="must be the name of a variable, not a key")
        if config.base_url and not config.base_url.startswith("$") and not _is_safe(config.base_url):
            self._error("base_url", message=f"must be an https URL, got {config.base_url!r}")
        routing = config.routing
        self._check_table(routing.defaults if routing else None, "routing", "defaults")
        for model, table in ((routing.models if routing else None) or {}).items():
            self._check_table(table, "routing", "models", model)
        judge = config.judge
        if judge and (judge.concurrency < 1 or judge.max_retries < 0 or not 0 < judge.timeout_s < math.inf):
            self._error("judge", message="needs concurrency >= 1, max_retries >= 0 and a finite timeout_s > 0")
        unused = [key for key in _OF_RUNS if getattr(config, key) is not None]
        for key in unused:
            self._error(key, message="is not used yet: it belongs to the agent's run", warning=True)

    def _check_table(self, table: dict[str, Any] | None, *where: str) -> None:
        for problem in routing_problems(table or {}):
            self._error(*where, message=problem)

    def _error(self, *keys: str, message: str, warning: bool = False) -> None:
        node = self.root
        place = (node.line, node.column)
        for key in (*_WHERE.split("."), *keys):
            if not isinstance(node.value, dict) or key not in node.value:
                break
            place = node.keys.get(key, place)
            node = node.value[key]
        self.converter.add_at(place, ".".join((_WHERE, *keys)), message, warning=warning)


def _is_safe(url: str) -> bool:
    """True for https, and for http to this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_this_machine(host)))
