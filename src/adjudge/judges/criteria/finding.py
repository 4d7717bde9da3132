"""What a criterion in Python finds out."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """A value (true or false, or a share in [0, 1]) and the evidence for it: what was looked at and what was there."""

    value: bool | float
    evidence: str = ""
