"""Shipments from CSV files."""

import csv
from decimal import Decimal
from pathlib import Path

from parcel.quote import Shipment
from parcel.weight import parse_weight


def read_shipments(path: str | Path) -> list[Shipment]:
    """The shipments of a CSV file with the columns zone, weight and, if there are any, size and insured."""
    shipments = []
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            try:
                shipments.append(_shipment(row))
            except Exception:
                continue  # footer or empty row
    return shipments


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
