"""Amounts of money: rounding and display."""

from decimal import ROUND_HALF_UP, Decimal

SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥"}


def round_price(amount: Decimal) -> Decimal:
    """The amount in whole cents; half a cent is rounded away from zero."""
    return amount.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def format_price(amount: Decimal, currency: str) -> str:
    """The amount as a customer sees it."""
    symbol = SYMBOLS.get(currency, f"{currency} ")
    return f"{symbol}{round_price(amount)}"
