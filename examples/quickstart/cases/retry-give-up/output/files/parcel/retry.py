"""Calling a function again when it fails."""

import functools
import logging
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

logger = logging.getLogger(__name__)


def retry(
    attempts: int = 3,
    delay_s: float = 0.1,
    sleep: Callable[[float], None] = time.sleep,
    on_give_up: Callable[[Exception], object] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Call the function up to `attempts` times; the wait starts at `delay_s` and doubles. The last error is raised.

    `on_give_up` is called with that error before it is raised; when it fails itself, that is logged.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            attempt = 1
            while True:
                try:
                    return function(*args, **kwargs)
                except Exception as error:
                    if attempt >= attempts:
                        if on_give_up is not None:
                            _tell(on_give_up, error)
                        raise
                sleep(delay_s * 2 ** (attempt - 1))
                attempt += 1

        return call

    return decorate


def _tell(on_give_up: Callable[[Exception], object], error: Exception) -> None:
    try:
        on_give_up(error)
    except Exception:
        logger.exception("on_give_up failed")
