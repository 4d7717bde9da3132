from decimal import Decimal

from parcel import Bracket, Cache, Shipment, quote

RATES = {"A": [Bracket(1000, Decimal("4.20")), Bracket(5000, Decimal("6.90"))]}


def test_surcharge():
    assert quote(Shipment("A", 300), RATES) == Decimal("4.41")


def test_insurance():
    assert quote(Shipment("A", 300, insured=Decimal(100)), RATES) == Decimal("5.41")


def test_half_a_cent():
    assert quote(Shipment("A", 1200), RATES) == Decimal("7.25")


def test_large_and_light():
    assert quote(Shipment("A", 300, size_cm=(30, 20, 20)), RATES) == Decimal("7.25")


def test_cache():
    cache = Cache(ttl_s=60)
    shipment = Shipment("A", 300)
    assert quote(shipment, RATES, cache=cache) == Decimal("4.41")
    assert quote(shipment, {}, cache=cache) == Decimal("4.41")
