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
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    tokens = Tokens(
        input_tokens=usage.input + usage.cache_read + usage.cache_write,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read or None,
        cache_write_tokens=usage.cache_write or None,
    )
    return float(calc_price(tokens, model_ref=model, provider_id=provider).total_price)


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
