from decimal import Decimal

import pytest

from parcel import Bracket, Cache, Shipment, quote

RATES = {"A": [Bracket(1000, Decimal("4.20")), Bracket(5000, Decimal("6.90"))]}


def test_surcharge():
    assert quote(Shipment("A", 300), RATES) == Decimal("4.41")


def test_insurance():
    assert quote(Shipment("A", 300, insured=Decimal(100)), RATES) == Decimal("5.41")


def test_half_a_cent():
    assert quote(Shipment("A", 1200), RATES) == Decimal("7.24")


def test_large_and_light():
    assert quote(Shipment("A", 300, size_cm=(30, 20, 20)), RATES) == Decimal("7.24")


def test_discount():
    assert quote(Shipment("A", 300), RATES, discount=Decimal(10)) == Decimal("3.97")
    assert quote(Shipment("A", 300), RATES, discount=Decimal(100)) == 0


@pytest.mark.parametrize("discount", [Decimal(-1), Decimal("100.5")])
def test_discount_out_of_range(discount):
    with pytest.raises(ValueError, match="0 to 100"):
        quote(Shipment("A", 300), RATES, discount=discount)


def test_discount_is_cached_apart():
    cache = Cache(ttl_s=60)
    quote(Shipment("A", 300), RATES, cache=cache)
    assert quote(Shipment("A", 300), RATES, cache=cache, discount=Decimal(10)) == Decimal("3.97")


def test_cache():
    cache = Cache(ttl_s=60)
    shipment = Shipment("A", 300)
    assert quote(shipment, RATES, cache=cache) == Decimal("4.41")
    assert quote(shipment, {}, cache=cache) == Decimal("4.41")
