"""Weights: what a text says, and what a size is charged for."""

import re
from decimal import Decimal

GRAMS = {"g": Decimal(1), "kg": Decimal(1000), "lb": Decimal("453.59237")}
DIVISOR = 6000

_WEIGHT = re.compile(r"(\d+(?:\.\d+)?)\s*(kg|g|lb)")


def parse_weight(text: str) -> int:
    """Whole grams in a text such as "1.5 kg", "300 g" or "2 lb".

    Raises:
        ValueError: the text is not a weight.
    """
    match = _WEIGHT.fullmatch(text.strip().lower())
    if match is None:
        raise ValueError(f"not a weight: {text!r}")
    number, unit = match.groups()
    return int(Decimal(number) * GRAMS[unit])


def volumetric_weight(length_cm: int, width_cm: int, height_cm: int) -> int:
    """Grams that a parcel of this size is charged for at least."""
    return round(length_cm * width_cm * height_cm * 1000 / DIVISOR)
