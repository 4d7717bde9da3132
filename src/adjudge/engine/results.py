"""From a run directory to its result, at any later time."""

from __future__ import annotations

from pathlib import Path

import msgspec

from adjudge._version import __version__
from adjudge.domain import RunResult, Snapshot, StoreError
from adjudge.engine.rundir import JOURNAL
from adjudge.engine.store import Store
from adjudge.scoring import compose


def read_result(run: Path) -> RunResult:
    """The result of a run directory; see `read_run`."""
    return read_run(run)[1]


def read_times(run: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """When judges were asked: (case, judge) -> (started, ended), in seconds since 1970. Not part of a result, which
    does not depend on time.

    Raises:
        StoreError: there is no journal in the folder, or it cannot be read.
    """
    store = Store(run / JOURNAL, readonly=True)
    try:
        return store.times()
    finally:
        store.close()


def read_run(run: Path) -> tuple[Snapshot, RunResult]:
    """Recompute a run's result from its journal. Pure: the same journal gives the same result.

    Raises:
        StoreError: there is no journal in the folder, or it cannot be read.
    """
    journal = run / JOURNAL
    if not journal.is_file():
        raise StoreError(f"{run} is no run directory: it has no {JOURNAL}")
    store = Store(journal, readonly=True)
    try:
        snapshot = store.meta("snapshot")
        fingerprint = store.meta("fingerprint")
        if snapshot is None or fingerprint is None:
            raise StoreError(f"{journal} holds no run")
        plan = msgspec.json.decode(snapshot, type=Snapshot)
        return plan, compose(plan, store.verdicts(fingerprint.decode()), version=__version__)
    except msgspec.MsgspecError as error:
        raise StoreError(f"{journal} cannot be read: {error}") from None
    finally:
        store.close()
