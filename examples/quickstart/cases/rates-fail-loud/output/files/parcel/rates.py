"""Price lists: brackets of weight for each zone."""

import csv
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path


@dataclass(frozen=True)
class Bracket:
    """Parcels of up to `up_to_g` grams cost `price`."""

    up_to_g: int
    price: Decimal


def load_rates(path: str | Path) -> dict[str, list[Bracket]]:
    """The brackets of each zone, lightest first, from a CSV file with zone, up_to_g and price.

    Raises:
        OSError: the file cannot be read.
        ValueError: a row is not a bracket; the message names the line.
    """
    rates: dict[str, list[Bracket]] = {}
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        for row in rows:
            try:
                bracket = Bracket(int(row["up_to_g"]), Decimal(row["price"]))
            except (ValueError, InvalidOperation) as error:
                raise ValueError(f"{path}, line {rows.line_num}: {error}") from error
            rates.setdefault(row["zone"], []).append(bracket)
    for brackets in rates.values():
        brackets.sort(key=lambda bracket: bracket.up_to_g)
    return rates


def price_for(rates: dict[str, list[Bracket]], zone: str, grams: int) -> Decimal:
    """The list price of a parcel.

    Raises:
        ValueError: the zone has no bracket that can carry it.
    """
    for bracket in rates.get(zone, []):
        if grams < bracket.up_to_g:
            return bracket.price
    raise ValueError(f"no rate for {grams} g to zone {zone}")
