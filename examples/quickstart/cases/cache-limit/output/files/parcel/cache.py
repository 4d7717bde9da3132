"""A small cache in memory."""

import time
from collections.abc import Callable, Hashable
from typing import Any


class Cache:
    """Keeps values for `ttl_s` seconds, and the newest `max_entries` of them."""

    def __init__(
        self, ttl_s: float, clock: Callable[[], float] = time.monotonic, max_entries: int | None = None
    ) -> None:
        self.ttl_s = ttl_s
        self.clock = clock
        self.max_entries = max_entries
        self._entries: dict[Hashable, tuple[float, Any]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._entries

    def fetch(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The value stored under the key, or what `make()` gives, which is then stored."""
        now = self.clock()
        if key in self._entries:
            stored, value = self._entries[key]
            if now - stored < self.ttl_s:
                return value
            del self._entries[key]
        value = make()
        if self.max_entries is not None and len(self._entries) > self.max_entries:
            oldest = next(iter(self._entries))
            del self._entries[oldest]
        self._entries[key] = (now, value)
        return value
