"""Amounts of money: rounding and display."""

from decimal import ROUND_HALF_EVEN, Decimal

SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "KRW": "₩"}
WITHOUT_DECIMALS = {"JPY", "KRW"}


def round_price(amount: Decimal) -> Decimal:
    """The amount in whole cents."""
    return amount.quantize(Decimal("0.01"), rounding=ROUND_HALF_EVEN)


def format_price(amount: Decimal, currency: str) -> str:
    """The amount as a customer sees it."""
    symbol = SYMBOLS.get(currency, f"{currency} ")
    if currency in WITHOUT_DECIMALS:
        return f"{symbol}{amount.quantize(Decimal(1), rounding=ROUND_HALF_EVEN)}"
    return f"{symbol}{round_price(amount)}"
