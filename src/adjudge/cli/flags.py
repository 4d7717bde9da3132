"""What flags mean, for verbs that start before they import much."""

from __future__ import annotations

from collections.abc import Iterable

import click


def variables(pairs: Iterable[str], *, flag: str = "--je") -> dict[str, str]:
    """What `--je NAME=VALUE` sets."""
    environ = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise click.UsageError(f"{flag} takes NAME=VALUE, got {pair!r}")
        environ[name] = value
    return environ
