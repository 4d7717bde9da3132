"""Calling a function again when it fails."""

import functools
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def retry(
    attempts: int = 3,
    delay_s: float = 0.1,
    sleep: Callable[[float], None] = time.sleep,
    max_delay_s: float | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Call the function up to `attempts` times; the wait starts at `delay_s` and doubles up to `max_delay_s`.

    The last error is raised.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            attempt = 1
            while True:
                try:
                    return function(*args, **kwargs)
                except Exception:
                    if attempt >= attempts:
                        raise
                wait = delay_s * 2 ** (attempt - 1)
                sleep(wait if max_delay_s is None else min(wait, max_delay_s))
                attempt += 1

        return call

    return decorate
