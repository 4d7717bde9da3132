"""What a shipment costs."""

from dataclasses import dataclass
from decimal import Decimal

from parcel.cache import Cache
from parcel.money import round_price
from parcel.rates import Bracket, price_for
from parcel.weight import volumetric_weight

FUEL_SURCHARGE = Decimal("0.05")
INSURANCE_RATE = Decimal("0.01")


@dataclass(frozen=True)
class Shipment:
    zone: str
    grams: int
    size_cm: tuple[int, int, int] | None = None
    insured: Decimal = Decimal(0)

    @property
    def charged_grams(self) -> int:
        """The real or the volumetric weight, whichever is more."""
        return max(self.grams, volumetric_weight(*self.size_cm)) if self.size_cm else self.grams


def quote(shipment: Shipment, rates: dict[str, list[Bracket]], *, cache: Cache | None = None) -> Decimal:
    """The price of a shipment with fuel surcharge and insurance."""
    if cache is None:
        return _price(shipment, rates)
    return cache.get_or_make(shipment, lambda: _price(shipment, rates))


def _price(shipment: Shipment, rates: dict[str, list[Bracket]]) -> Decimal:
    base = price_for(rates, shipment.zone, shipment.charged_grams)
    insurance = shipment.insured * INSURANCE_RATE
    return round_price(base * (1 + FUEL_SURCHARGE) + insurance)
