"""What an interface hears while a run goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from adjudge.domain import Verdict
from adjudge.engine.plan import RunPlan


class Observer(Protocol):
    """Called on the event loop's thread; must return quickly."""

    def started(self, plan: RunPlan, run: Path, *, resumed: bool) -> None: ...

    def verdict(self, verdict: Verdict, *, fresh: bool) -> None:
        """A verdict is in the journal. `fresh` is false when it was there, or in the cache, before."""
        ...

    def note(self, text: str, *, detail: bool = False) -> None:
        """Something worth saying; a `detail` (one of many retries) only to who asks for details."""
        ...

    def finished(self) -> None: ...


class Silent:
    """Hears everything and says nothing."""

    def started(self, plan: RunPlan, run: Path, *, resumed: bool) -> None:
        pass

    def verdict(self, verdict: Verdict, *, fresh: bool) -> None:
        pass

    def note(self, text: str, *, detail: bool = False) -> None:
        pass

    def finished(self) -> None:
        pass
