"""Shipping prices, weights and tracking numbers."""

from parcel.cache import Cache
from parcel.csvio import read_shipments, write_quotes
from parcel.money import format_price, round_price
from parcel.quote import Shipment, quote
from parcel.rates import Bracket, load_rates, price_for
from parcel.retry import retry
from parcel.tracking import check_digit, is_valid
from parcel.weight import parse_weight, volumetric_weight

__all__ = [
    "Bracket",
    "Cache",
    "Shipment",
    "check_digit",
    "format_price",
    "is_valid",
    "load_rates",
    "parse_weight",
    "price_for",
    "quote",
    "read_shipments",
    "retry",
    "round_price",
    "volumetric_weight",
    "write_quotes",
]
