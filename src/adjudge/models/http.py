"""httpx without its command line, which would bring rich and pygments along and take 40 ms."""

from __future__ import annotations

import sys

_CLI = "httpx._main"

if _CLI not in sys.modules:
    sys.modules[_CLI] = None  # type: ignore[assignment]
    import httpx

    del sys.modules[_CLI]
else:
    import httpx

__all__ = ["httpx"]
