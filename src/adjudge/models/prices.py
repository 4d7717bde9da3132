"""What a call cost, by a price list that comes with a package; unknown stays unknown."""

from __future__ import annotations

from functools import lru_cache
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
    if not known(model, provider):
        return None
    counts = (usage.input, usage.cache_read, usage.cache_write, usage.output)
    rates = _flat_rates(model, provider)
    if rates is None or sum(counts) > _FLAT_UP_TO:
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


@lru_cache(maxsize=1024)
def known(model: str, provider: str) -> bool:
    """True if the price list has this model of this provider."""
    genai_prices = _library()
    try:
        genai_prices.calc_price(genai_prices.Usage(input_tokens=1), model_ref=model, provider_id=provider)
    except LookupError:
        return False
    return True


def _library() -> Any:
    import genai_prices  # 150 ms: only when something is priced

    return genai_prices
