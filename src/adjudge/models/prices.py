"""What a call cost, by a price list that comes with a package; unknown stays unknown."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import Usage

SOURCE = "genai-prices"


def priced(usage: Usage, *, model: str, provider: str) -> Usage:
    """The usage with its cost in USD, unless the provider billed it already or no price is known."""
    if usage.cost_usd is not None:
        return usage
    cost = cost_usd(usage, model=model, provider=provider)
    if cost is None:
        return msgspec.structs.replace(usage, unpriced_calls=usage.calls)
    return msgspec.structs.replace(usage, cost_usd=cost, price_source=SOURCE)


def cost_usd(usage: Usage, *, model: str, provider: str) -> float | None:
    """USD for the tokens of one call, or `None` when the price list does not know the provider's model."""
    counts = (usage.input, usage.cache_read, usage.cache_write, usage.output)
    rates = _remembered(model, provider)
    if rates is None:
        return None
    if not rates or sum(counts) > _FLAT_UP_TO:
        return _list_price(counts, model, provider)
    return sum(rate * tokens for rate, tokens in zip(rates, counts, strict=True))


_Counts = tuple[int, int, int, int]
_FLAT_UP_TO = 100_000


@lru_cache(maxsize=1024)
def _flat_rates(model: str, provider: str) -> tuple[float, ...] | None:
    """USD per token of each kind, if small calls are priced by them alone: the list takes 0.2 ms for each look-up."""
    rates = []
    for kind in range(4):
        small, large = (tuple(n if i == kind else 0 for i in range(4)) for n in (1_000, _FLAT_UP_TO))
        low = _list_price((small[0], small[1], small[2], small[3]), model, provider)
        high = _list_price((large[0], large[1], large[2], large[3]), model, provider)
        if abs(high - low * 100) > 1e-12:
            return None
        rates.append(high / _FLAT_UP_TO)
    return tuple(rates)


def _list_price(counts: _Counts, model: str, provider: str) -> float:
    library = _library()
    uncached, cache_read, cache_write, output = counts
    tokens = library.Usage(
        input_tokens=uncached + cache_read + cache_write,
        output_tokens=output,
        cache_read_tokens=cache_read or None,
        cache_write_tokens=cache_write or None,
    )
    return float(library.calc_price(tokens, model_ref=model, provider_id=provider).total_price)


def known(model: str, provider: str) -> bool:
    """True if the price list has this model of this provider."""
    return _remembered(model, provider) is not None


def remember_in(path: Path) -> None:
    """Keep rates in a small file between runs, since reading the whole list takes 200 ms."""
    _MEMORY.open(path)


class _Memory:
    """Rates by "provider model", of one version of the price list; `None` where the list does not know the model."""

    def __init__(self) -> None:
        self.path: Path | None = None
        self.rates: dict[str, list[float] | None] = {}

    def open(self, path: Path) -> None:
        self.path = path
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            held = msgspec.json.decode(path.read_bytes(), type=_Held)
            self.rates = held.rates if held.version == _version() else {}

    def put(self, key: str, rates: list[float] | None) -> None:
        self.rates[key] = rates
        if self.path is None:
            return
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part = self.path.with_name(f"{self.path.name}.{os.getpid()}")
            part.write_bytes(msgspec.json.encode(_Held(_version(), self.rates)))
            part.replace(self.path)


class _Held(msgspec.Struct):
    version: str
    rates: dict[str, list[float] | None]


_MEMORY = _Memory()


@lru_cache(maxsize=1)
def _version() -> str:
    """Changes whenever another version of the price list is installed. Finds the package without importing it."""
    spec = importlib.util.find_spec("genai_prices")
    if spec is None or spec.origin is None:
        return ""
    data = Path(spec.origin).with_name("data.py")
    stat = data.stat() if data.is_file() else Path(spec.origin).stat()
    return f"{data}:{stat.st_size}:{stat.st_mtime_ns}"


def _remembered(model: str, provider: str) -> list[float] | None:
    """USD per token of each kind; empty when the price depends on more than that, `None` when it is unknown."""
    key = f"{provider} {model}"
    if key not in _MEMORY.rates:
        _MEMORY.put(key, list(_flat_rates(model, provider) or ()) if _listed(model, provider) else None)
    return _MEMORY.rates[key]


def _listed(model: str, provider: str) -> bool:
    genai_prices = _library()
    try:
        genai_prices.calc_price(genai_prices.Usage(input_tokens=1), model_ref=model, provider_id=provider)
    except LookupError:
        return False
    return True


def _library() -> Any:
    import genai_prices  # 150 ms: only when something is priced

    return genai_prices
