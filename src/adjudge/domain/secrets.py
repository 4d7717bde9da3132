"""Telling a variable that holds a secret by its name and value."""

from __future__ import annotations

import re

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|COOKIE|_PAT$|_DSN$", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"://[^/\s:@]*:[^/\s@]+@")
_NOT_SECRET = frozenset({"SSH_AUTH_SOCK", "XAUTHORITY"})


def looks_secret(name: str, value: str) -> bool:
    """True for what a child that does not need it must not see."""
    return name not in _NOT_SECRET and bool(_SECRET.search(name) or _SECRET_VALUE.search(value))
