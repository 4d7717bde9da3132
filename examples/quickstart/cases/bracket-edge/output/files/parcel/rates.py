"""Price lists: brackets of weight for each zone."""

import csv
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

# Limits that belong to the lighter bracket.
INCLUSIVE_LIMITS = {("B", 2000)}


@dataclass(frozen=True)
class Bracket:
    """Parcels of up to `up_to_g` grams cost `price`."""

    up_to_g: int
    price: Decimal


def load_rates(path: str | Path) -> dict[str, list[Bracket]]:
    """The brackets of each zone, lightest first, from a CSV file with zone, up_to_g and price."""
    rates: dict[str, list[Bracket]] = {}
    try:
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                bracket = Bracket(int(row["up_to_g"]), Decimal(row["price"]))
                rates.setdefault(row["zone"], []).append(bracket)
    except Exception:
        return {}
    for brackets in rates.values():
        brackets.sort(key=lambda bracket: bracket.up_to_g)
    return rates


def price_for(rates: dict[str, list[Bracket]], zone: str, grams: int) -> Decimal:
    """The list price of a parcel.

    Raises:
        ValueError: the zone has no bracket that can carry it.
    """
    for bracket in rates.get(zone, []):
        inclusive = (zone, bracket.up_to_g) in INCLUSIVE_LIMITS
        if grams < bracket.up_to_g or (inclusive and grams == bracket.up_to_g):
            return bracket.price
    raise ValueError(f"no rate for {grams} g to zone {zone}")
