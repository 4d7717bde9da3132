"""The four scales on which a criterion is answered."""

from __future__ import annotations

import math
from typing import Any

import msgspec

Value = bool | int | float | str
"""A verdict's value: bool on a binary scale, int or float on likert and numeric, a label on levels."""


class OffScaleError(ValueError):
    """The value is of the wrong type for the scale, not finite, or outside it."""


class Binary(msgspec.Struct, frozen=True, tag="binary"):
    """Yes or no. Normalised: 1.0 or 0.0."""

    def validate(self, raw: Any) -> bool:
        """Return `raw` if it is a real boolean; strings and numbers are not."""
        if not isinstance(raw, bool):
            raise OffScaleError(f"expected true or false, got {shown(raw)}")
        return raw

    def normalise(self, value: Value) -> float:
        return 1.0 if self.validate(value) else 0.0

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}

    def describe(self) -> str:
        return "true (passes) or false (fails)"


class Numeric(msgspec.Struct, frozen=True, tag="numeric", omit_defaults=True):
    """A number in [min, max], whole when `integer`.

    `enforced=False` states the scale to the judge without checking the answer against it.
    Normalised: (value - min) / (max - min).
    """

    min: float = 0.0
    max: float = 1.0
    integer: bool = False
    enforced: bool = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.min) and math.isfinite(self.max) and self.min < self.max):
            raise ValueError(f"a numeric scale needs finite bounds with min < max, got [{self.min}, {self.max}]")

    def validate(self, raw: Any) -> int | float:
        """Return the number. The range is checked on the raw answer, before an integer scale rounds it.

        Raises:
            OffScaleError: `raw` is a boolean, not a number, not finite, or (when enforced) out of [min, max].
        """
        number = finite(raw)
        if self.enforced and not self.min <= number <= self.max:
            raise OffScaleError(f"{shown(raw)} lies outside [{plain(self.min)}, {plain(self.max)}]")
        return round(number) if self.integer and abs(number) < 2**63 else number

    def normalise(self, value: Value) -> float:
        number = finite(value)
        width = self.max - self.min
        if math.isinf(width):
            return (number / 2 - self.min / 2) / (self.max / 2 - self.min / 2)
        return (number - self.min) / width

    def schema(self) -> dict[str, Any]:
        kind = "integer" if self.integer else "number"
        return {"type": kind, "minimum": plain(self.min), "maximum": plain(self.max)}

    def describe(self) -> str:
        kind = "a whole number" if self.integer else "a number"
        return f"{kind} from {plain(self.min)} to {plain(self.max)}"


class Likert(msgspec.Struct, frozen=True, tag="likert", omit_defaults=True):
    """A whole number from 1 to `points`. Normalised: (value - 1) / (points - 1)."""

    points: int = 5

    def __post_init__(self) -> None:
        if self.points < 2:
            raise ValueError(f"a likert scale needs 2 or more points, got {self.points}")

    def validate(self, raw: Any) -> int:
        number = finite(raw)
        if number != int(number) or not 1 <= number <= self.points:
            raise OffScaleError(f"{shown(raw)} is not a whole number from 1 to {self.points}")
        return int(number)

    def normalise(self, value: Value) -> float:
        return (self.validate(value) - 1) / (self.points - 1)

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": 1, "maximum": self.points}

    def describe(self) -> str:
        return f"a whole number from 1 to {self.points}"


class Levels(msgspec.Struct, frozen=True, tag="levels", omit_defaults=True):
    """One of `labels`, ordered from worst to best. Normalised: evenly spaced from 0.0 to 1.0.

    With `mean` the value is the mean level, counted from 0, as decision models give it.
    """

    labels: tuple[str, ...]
    mean: bool = False

    def __post_init__(self) -> None:
        if len(self.labels) < 2 or len(set(self.labels)) != len(self.labels) or not all(map(str.strip, self.labels)):
            raise ValueError("levels need two or more different, non-blank labels")

    def validate(self, raw: Any) -> str | int | float:
        if self.mean:
            number = finite(raw)
            if not 0 <= number <= self._top:
                raise OffScaleError(f"{shown(raw)} is no mean of levels 0 to {self._top}")
            return number
        if not isinstance(raw, str) or raw not in self.labels:
            raise OffScaleError(f"{shown(raw)} is none of the levels {', '.join(map(repr, self.labels))}")
        return raw

    def normalise(self, value: Value) -> float:
        valid = self.validate(value)
        return (self.labels.index(valid) if isinstance(valid, str) else valid) / self._top

    def schema(self) -> dict[str, Any]:
        if self.mean:
            return {"type": "number", "minimum": 0, "maximum": self._top}
        return {"type": "string", "enum": list(self.labels)}

    def describe(self) -> str:
        return "one of " + ", ".join(f'"{label}"' for label in self.labels)

    @property
    def _top(self) -> int:
        return len(self.labels) - 1


Scale = Binary | Numeric | Likert | Levels


def finite(raw: Any) -> int | float:
    """Return `raw` if it is an int or float that is finite.

    Raises:
        OffScaleError: it is a boolean, of another type, NaN, infinite, or an integer of more than 64 bits.
    """
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise OffScaleError(f"expected a number, got {shown(raw)}")
    try:
        number_is_finite = math.isfinite(raw)
    except OverflowError:
        number_is_finite = False
    if isinstance(raw, int) and not -(2**63) <= raw < 2**63:
        raise OffScaleError(f"expected a number of at most 64 bits, got {shown(raw)}")
    if not number_is_finite:
        raise OffScaleError(f"expected a finite number, got {shown(raw)}")
    return raw


def plain(number: float) -> int | float:
    """A whole float as an int, so that a scale reads 1 to 5 and not 1.0 to 5.0."""
    return int(number) if number == int(number) else number


def shown(raw: Any) -> str:
    """A short, safe rendering of any value for a message."""
    try:
        text = repr(raw)
    except Exception as error:
        text = f"<{type(raw).__name__} whose repr raises {type(error).__name__}>"
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:81])
    return text if len(text) <= 80 else text[:77] + "..."
