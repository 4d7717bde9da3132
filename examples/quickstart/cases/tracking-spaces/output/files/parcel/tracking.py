"""Tracking numbers of the Universal Postal Union (S10), such as RR473124829GB."""

import re

WEIGHTS = (8, 6, 4, 2, 3, 5, 9, 7)

_S10 = re.compile(r"[A-Z]{2}(\d{8})(\d)[A-Z]{2}")


def check_digit(serial: str) -> int:
    """The check digit of an eight-digit serial number."""
    total = sum(weight * int(digit) for weight, digit in zip(WEIGHTS, serial, strict=True))
    digit = 11 - total % 11
    return {10: 0, 11: 5}.get(digit, digit)


def is_valid(number: str) -> bool:
    """Whether the number is well-formed and its check digit is right; spaces and case do not matter."""
    match = _S10.fullmatch("".join(number.split()).upper())
    return match is not None and check_digit(match[1]) == int(match[2])
