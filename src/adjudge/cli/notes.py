"""Hearing a run, and telling its notes on standard error."""

from __future__ import annotations

from adjudge.cli.common import complain
from adjudge.engine.observer import Silent


class Notes(Silent):
    """Tells what is worth saying, without the details."""

    def note(self, text: str, *, detail: bool = False) -> None:
        if not detail:
            complain(text, colour="yellow")
