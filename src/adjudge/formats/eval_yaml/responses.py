"""The `runner.settings` of the responses-api runner."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from adjudge.formats.convert import nearest
from adjudge.formats.eval_yaml.schema import EvalConfig, RunnerConfig

SETTINGS = ("base_url", "api_key", "default_model", "network_policy", "memory_limit_mb")
MOST_MB = 65_536
_POLICY = ("type", "allowed_domains", "domain_secrets")
_SECRET = ("domain", "name", "value")
_VARIABLE = re.compile(r"\$(?:\w+|\{\w+\})")
_JOURNAL = "what a config says is kept in the run's journal"

Report = Callable[..., None]
"""`(key, message, hint=, warning=)`"""


def check_responses(runner: RunnerConfig, config: EvalConfig, report: Report, key: str) -> None:
    """Report what such a runner cannot do, and what is wrong with its settings."""
    if config.permissions is not None:
        report("permissions", "are not used by the responses-api runner: it works in a container", warning=True)
    _settings(runner.settings or {}, report, f"{key}.settings")


def _settings(settings: Mapping[str, Any], report: Report, key: str) -> None:
    for name in settings:
        if name not in SETTINGS:
            report(f"{key}.{name}", f"there is no setting {name!r}", hint=nearest(name, SETTINGS))
    for name in ("base_url", "api_key", "default_model"):
        value = settings.get(name)
        if value is not None and not isinstance(value, str):
            report(f"{key}.{name}", f"must be text, got {value!r}")
    _is_variable(settings.get("api_key"), report, f"{key}.api_key", "a key", "OPENAI_API_KEY")
    memory = settings.get("memory_limit_mb")
    if memory is not None:
        whole = isinstance(memory, int) and not isinstance(memory, bool)
        if not whole or not 0 < memory <= MOST_MB:
            report(f"{key}.memory_limit_mb", f"must be a whole number from 1 to {MOST_MB}, got {memory!r}")
    if settings.get("network_policy") is not None:
        _policy(settings["network_policy"], report, f"{key}.network_policy")


def _policy(policy: Any, report: Report, key: str) -> None:
    if not isinstance(policy, dict):
        report(key, f"must be a mapping with a type, got {policy!r}")
        return
    for name in policy:
        if name not in _POLICY:
            report(f"{key}.{name}", f"there is no {name!r}", hint=nearest(str(name), _POLICY))
    kind = policy.get("type")
    if kind not in ("disabled", "allowlist"):
        report(f"{key}.type", f"must be disabled or allowlist, got {kind!r}")
        return
    domains = policy.get("allowed_domains")
    named = isinstance(domains, list) and bool(domains) and all(isinstance(one, str) and one for one in domains)
    if (kind == "allowlist" and not named) or (kind == "disabled" and domains):
        wanted = "a list of domains" if kind == "allowlist" else "absent where the network is disabled"
        report(f"{key}.allowed_domains", f"must be {wanted}, got {domains!r}")
    _secrets(policy.get("domain_secrets"), report, f"{key}.domain_secrets")


def _secrets(given: Any, report: Report, key: str) -> None:
    if given is None:
        return
    if not isinstance(given, list):
        report(key, f"must be a list, got {type(given).__name__}")
        return
    for index, entry in enumerate(given):
        place = f"{key}[{index}]"
        texts = isinstance(entry, dict) and all(isinstance(entry.get(name), str) for name in _SECRET)
        if not texts or set(entry) != set(_SECRET):
            report(place, "must have domain, name and value, and nothing else")
            continue
        _is_variable(entry["value"], report, f"{place}.value", "a secret", entry["name"])


def _is_variable(value: Any, report: Report, key: str, what: str, variable: str) -> None:
    """Report a secret that stands in the config; it is not told."""
    if isinstance(value, str) and value and not _VARIABLE.fullmatch(value):
        report(key, f"{what} must not stand in a config: {_JOURNAL}", hint=f"set a variable, and write ${variable}")
