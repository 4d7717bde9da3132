from decimal import Decimal

import pytest

from parcel import format_price, round_price


def test_round_price():
    assert round_price(Decimal("2.344")) == Decimal("2.34")
    assert round_price(Decimal("2.346")) == Decimal("2.35")


def test_round_price_of_half_a_cent():
    assert round_price(Decimal("2.345")) == Decimal("2.34")
    assert round_price(Decimal("2.355")) == Decimal("2.36")
    assert round_price(Decimal("-2.345")) == Decimal("-2.34")


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        ("4.5", "EUR", "€4.50"),
        ("4.5", "USD", "$4.50"),
        ("1204.999", "GBP", "£1205.00"),
        ("30", "PLN", "PLN 30.00"),
        ("1200", "JPY", "¥1200"),
        ("1199.6", "JPY", "¥1200"),
        ("9000", "KRW", "₩9000"),
    ],
)
def test_format_price(amount, currency, shown):
    assert format_price(Decimal(amount), currency) == shown
