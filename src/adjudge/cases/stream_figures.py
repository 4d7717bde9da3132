"""What a stream tells of tokens, cost, turns, models and refused calls."""

from __future__ import annotations

from typing import Any

from adjudge.agents import codex, gemini, opencode
from adjudge.agents.base import listing, mapping, number
from adjudge.domain import Metrics, TokenUsage, Usage

Event = dict[str, Any]

_SYNTHETIC = "<synthetic>"
_BY_MODEL = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
_BY_MESSAGE = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_KEYS = ("input", "output", "cache_read", "cache_create")


class Figures:
    """Filled while a stream is read; the sums are made at its end."""

    def __init__(self) -> None:
        self.models: dict[str, None] = {}
        self.denials: dict[str, Event] = {}
        self.said = ""
        self.codex = False
        self.codex_turns: list[Event] = []
        self.opencode_steps: list[Event] = []
        self.gemini_stats: list[Event] = []
        self.gemini_turns = 0
        self.flat_results: list[Event] = []
        self._flat_ids: set[str] = set()
        self._results: list[Event] = []
        self._used: dict[str, tuple[str, list[int]]] = {}
        self._ids: dict[str, str] = {}

    def model(self, name: Any) -> None:
        if isinstance(name, str) and name and name != _SYNTHETIC:
            self.models.setdefault(name)

    def flat_message(self, key: Any) -> None:
        if isinstance(key, str):
            self._flat_ids.add(key)

    def claude_message(self, message: Event) -> None:
        """A line of a message. Of one that comes several times, the largest figures hold: the first are partial."""
        name = message.get("model")
        if name == _SYNTHETIC:
            return
        self.model(name)
        model, key = name if isinstance(name, str) else "unknown", message.get("id")
        if isinstance(key, str):
            self._ids.setdefault(key, model)
        usage = mapping(message.get("usage"))
        if usage:
            kept = self._used.setdefault(key if isinstance(key, str) else f"\0{len(self._used)}", (model, [0] * 4))
            kept[1][:] = [max(old, number(usage.get(name))) for old, name in zip(kept[1], _BY_MESSAGE, strict=True)]

    def claude_result(self, event: Event) -> None:
        self._results.append(event)
        if isinstance(event.get("result"), str) and not event.get("is_error"):
            self.said = event["result"]
        for name in mapping(event.get("modelUsage")):
            self.model(name)
        for index, entry in enumerate(listing(event.get("permission_denials"))):
            if isinstance(entry, dict):
                key = entry.get("tool_use_id")
                self.denials.setdefault(key if isinstance(key, str) else f"\0{len(self._results)}.{index}", entry)

    def closing(self) -> list[Event]:
        """One result for the programs whose streams have none."""
        found: list[Event] = []
        if self.codex_turns:
            found.append(_result(None, len(self.codex_turns)))
        if self.opencode_steps:
            found.append(_result(opencode.usage_of(self.opencode_steps).cost_usd, len(self.opencode_steps)))
        return found

    def by_model(self) -> dict[str, dict[str, Any]]:
        """Model -> tokens and cost: as Claude Code's last result has it, else summed from the messages."""
        last = mapping(self._results[-1].get("modelUsage")) if self._results else {}
        if last:
            return {
                name: {**_tokens(mapping(part), _BY_MODEL), "cost_usd": amount(mapping(part).get("costUSD"))}
                for name, part in last.items()
                if name != _SYNTHETIC
            }
        sums: dict[str, list[int]] = {}
        for model, figures in self._used.values():
            sums[model] = [a + b for a, b in zip(sums.get(model, [0] * 4), figures, strict=True)]
        return {model: {**dict(zip(_KEYS, part, strict=True)), "cost_usd": None} for model, part in sums.items()}

    def turns_by_model(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for model in self._ids.values():
            found[model] = found.get(model, 0) + 1
        return found

    def metrics(self) -> Metrics:
        parts = [*self._claude(), *self._others()]
        costs = [part.cost_usd for part, _ in parts]
        cost = sum(cost for cost in costs if cost is not None) if costs and None not in costs else None
        flat = self.flat_results[-1] if self.flat_results else {}
        duration = amount(self._results[-1].get("duration_ms")) if self._results else None
        counted = [part for part, known in parts if known]
        total = sum(counted, Usage())
        usage = TokenUsage(total.input, total.output, total.cache_read, total.cache_write) if counted else None
        return Metrics(
            duration_s=None if duration is None else duration / 1000,
            cost_usd=cost if parts else amount(flat.get("cost_usd")),
            num_turns=self._turns(flat),
            token_usage=usage,
        )

    def _turns(self, flat: Event) -> int | None:
        told = len(self.codex_turns) + len(self.opencode_steps) + self.gemini_turns
        if self._ids or self._results or self.codex or told:
            return len(self._ids) + len(self._flat_ids - self._ids.keys()) + told
        if self._flat_ids:
            return len(self._flat_ids)
        turns = flat.get("num_turns")
        return number(turns) if isinstance(turns, int) and not isinstance(turns, bool) else None

    def _claude(self) -> list[tuple[Usage, bool]]:
        """(what was used, whether its tokens are known). The larger of both costs, when they differ by more than a
        cent: what ran in the background is in one of them."""
        if not self._results and not self._used:
            return []
        parts = self.by_model()
        last = self._results[-1] if self._results else {}
        cost = amount(last.get("total_cost_usd"))
        known = [part["cost_usd"] for part in parts.values() if part["cost_usd"] is not None]
        if known and (cost is None or sum(known) > cost + 0.01):
            cost = sum(known)
        usage = mapping(last.get("usage"))
        sums = list(parts.values()) or [_tokens(usage, _BY_MESSAGE)]
        figures = [sum(part[key] for part in sums) for key in _KEYS]
        return [(Usage(1, figures[0], figures[1], figures[2], figures[3], cost_usd=cost), bool(parts or usage))]

    def _others(self) -> list[tuple[Usage, bool]]:
        found = [(codex.usage_of(self.codex_turns), any(self.codex_turns))] if self.codex_turns else []
        steps = self.opencode_steps
        found += [(opencode.usage_of(steps), any("tokens" in step for step in steps))] if steps else []
        return found + [(gemini.usage_of(stats), bool(stats)) for stats in self.gemini_stats]


def amount(value: Any) -> float | None:
    """A number that is not negative, else `None`."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain and 0 <= value < 2**53 else None


def _tokens(given: Event, names: tuple[str, ...]) -> dict[str, int]:
    return {key: number(given.get(name)) for key, name in zip(_KEYS, names, strict=True)}


def _result(cost: float | None, turns: int) -> Event:
    return {"type": "result", "cost_usd": cost, "num_turns": turns, "timestamp": None}
