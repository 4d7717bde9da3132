"""Shipments from CSV files, and quotes to them."""

import csv
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

from parcel.quote import Shipment
from parcel.weight import parse_weight

QUOTE_COLUMNS = ("zone", "weight", "size", "insured", "price")


def read_shipments(path: str | Path) -> list[Shipment]:
    """The shipments of a CSV file with the columns zone, weight and, if there are any, size and insured."""
    shipments = []
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            shipments.append(_shipment(row))
    return shipments


def write_quotes(
    path: str | Path, quotes: Iterable[tuple[Shipment, Decimal]], *, decimal_comma: bool = False
) -> None:
    """Write shipments with their prices as the carrier's portal reads them.

    Weights are in kg with three decimals, money has two. With `decimal_comma` numbers have a comma and columns are
    separated by semicolons; without it, `read_shipments` reads the file back.
    """
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=";" if decimal_comma else ",", lineterminator="\n")
        writer.writerow(QUOTE_COLUMNS)
        for shipment, price in quotes:
            writer.writerow(_columns(shipment, price, decimal_comma=decimal_comma))


def _columns(shipment: Shipment, price: Decimal, *, decimal_comma: bool) -> list[str]:
    weight = f"{Decimal(shipment.grams) / 1000:.3f}"
    insured = f"{shipment.insured:.2f}"
    total = f"{price:.2f}"
    if decimal_comma:
        weight, insured, total = (number.replace(".", ",") for number in (weight, insured, total))
    size = "x".join(map(str, shipment.size_cm)) if shipment.size_cm else ""
    return [shipment.zone, f"{weight} kg", size, insured, total]


def _shipment(row: dict[str, str]) -> Shipment:
    return Shipment(
        zone=row["zone"].strip(),
        grams=parse_weight(row["weight"]),
        size_cm=_size(row.get("size") or ""),
        insured=Decimal(row.get("insured") or 0),
    )


def _size(text: str) -> tuple[int, int, int] | None:
    """Length, width and height in a text such as 30x20x10."""
    if not text.strip():
        return None
    length, width, height = (int(part) for part in text.lower().split("x"))
    return length, width, height
