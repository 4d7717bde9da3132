"""Reading shipments from CSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Final, TextIO

from parcel.quote import Shipment
from parcel.weight import parse_weight

ENCODING: Final = "utf-8-sig"
SIZE_SEPARATOR: Final = "x"

Row = Mapping[str, str]
Size = tuple[int, int, int]


class ShipmentReader:
    """Reads shipments row by row from an open CSV file."""

    def __init__(self, file: TextIO) -> None:
        self._reader = csv.DictReader(file)

    def __iter__(self) -> Iterator[Shipment]:
        for row in self._reader:
            yield self._parse_row(row)

    def _parse_row(self, row: Row) -> Shipment:
        return Shipment(
            zone=row["zone"].strip(),
            grams=parse_weight(row["weight"]),
            size_cm=self._parse_size(row.get("size") or ""),
            insured=self._parse_insured(row.get("insured") or ""),
        )

    @staticmethod
    def _parse_size(value: str) -> Size | None:
        value = value.strip().lower()
        if not value:
            return None
        length, width, height = (int(part) for part in value.split(SIZE_SEPARATOR))
        return length, width, height

    @staticmethod
    def _parse_insured(value: str) -> Decimal:
        return Decimal(value) if value else Decimal(0)


def read_shipments(path: str | Path) -> list[Shipment]:
    """Read all shipments of a CSV file.

    The file must have the columns ``zone`` and ``weight``; the columns ``size`` and ``insured`` are optional. A byte
    order mark at the start of the file is ignored.
    """
    with open(path, newline="", encoding=ENCODING) as file:
        return list(ShipmentReader(file))
