"""Weights: what a text says, and what a size is charged for."""

from decimal import Decimal, InvalidOperation

GRAMS = {"g": Decimal(1), "kg": Decimal(1000), "lb": Decimal("453.59237")}
DIVISOR = 6000


def parse_weight(text: str) -> int | None:
    """Whole grams in a text such as "1.5 kg", "1,5 kg", "300 g" or "2 lb"."""
    cleaned = text.strip().lower().replace(",", ".")
    for unit in ("kg", "lb", "g"):
        if cleaned.endswith(unit):
            try:
                return int(Decimal(cleaned.removesuffix(unit).strip()) * GRAMS[unit])
            except InvalidOperation:
                return None
    return None


def volumetric_weight(length_cm: int, width_cm: int, height_cm: int) -> int:
    """Grams that a parcel of this size is charged for at least."""
    return length_cm * width_cm * height_cm * 1000 // DIVISOR
