"""How many requests to one endpoint are under way at once: few at first, more while it keeps up, half when not."""

from __future__ import annotations

import asyncio
from collections import deque

_START_AT_LEAST = 8
_SLOWER = 2.0
_SMOOTHING = 0.2


class AdaptiveLimit:
    """Additive increase, multiplicative decrease, as congestion control of networks does it (RFC 5681).

    At most `cap` places are ever taken. The window doubles with each round until the endpoint first says that it is
    overloaded, or answers twice as slowly as at its best; then it grows by one a round. An overload halves it, once
    for all requests that were under way together, and nothing is begun before the time that the endpoint asked for.
    """

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self.window = float(min(cap, max(_START_AT_LEAST, cap // 4)))
        self.in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._doubling = True
        self._cut_at = 0.0
        self._resume_at = 0.0
        self._latency: float | None = None
        self._best: float | None = None

    async def acquire(self) -> None:
        """Wait for a place."""
        loop = asyncio.get_running_loop()
        while True:
            pause = self._resume_at - loop.time()
            if pause > 0:
                await asyncio.sleep(pause)
            elif self.in_flight < int(self.window):
                self.in_flight += 1
                return
            else:
                place: asyncio.Future[None] = loop.create_future()
                self._waiting.append(place)
                try:
                    await place
                except asyncio.CancelledError:
                    if place.done() and not place.cancelled():
                        self._wake()  # the place that it was given is for another
                    raise

    def pause_s(self) -> float:
        """For how many seconds more the endpoint asked to be left alone."""
        return max(0.0, self._resume_at - asyncio.get_running_loop().time())

    def release(self) -> None:
        """Give a place back."""
        self.in_flight -= 1
        self._wake()

    def answered(self, seconds: float) -> None:
        """A call was answered after that time: more may be tried, unless answers are getting slower."""
        self._latency = seconds if self._latency is None else self._latency + _SMOOTHING * (seconds - self._latency)
        self._best = self._latency if self._best is None else min(self._best, self._latency)
        if self._latency > self._best * _SLOWER:
            self._doubling = False
        elif self.in_flight + 1 >= self.window:
            self.window = min(float(self.cap), self.window + (1.0 if self._doubling else 1.0 / self.window))
            self._wake()

    def overloaded(self, began: float, now: float, resume_after_s: float | None) -> None:
        """A call that began at `began` met an overload; both times are the event loop's."""
        if resume_after_s is not None:
            self._resume_at = max(self._resume_at, now + resume_after_s)
        if began < self._cut_at:
            return
        self._cut_at = now
        self._doubling = False
        self.window = max(1.0, self.window / 2)

    def _wake(self) -> None:
        free = int(self.window) - self.in_flight
        while free > 0 and self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                free -= 1
