"""The cases of a run as they were judged, found again from its directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from adjudge.cases import CaseFolder, RunRecord, read_run
from adjudge.domain import CaseRef, PairwiseJudge, StoreError
from adjudge.engine.options import RunOptions
from adjudge.engine.plan import RunPlan
from adjudge.engine.rundir import JOURNAL
from adjudge.engine.store import Statement, Store


def put_cases(store: Store, refs: Sequence[CaseRef]) -> Statement:
    """Statement that remembers where the cases lie; those that were built in Python lie nowhere."""
    folders = [ref for ref in refs if isinstance(ref, CaseFolder)]
    return store.put_meta("cases", msgspec.msgpack.encode(folders))


def case_folders(run: Path) -> dict[str, CaseFolder]:
    """Case -> where it lies. A run that was moved has its collected outputs within itself.

    Raises:
        StoreError: the run has a journal that cannot be read.
    """
    if not (run / JOURNAL).is_file():
        return {}
    store = Store(run / JOURNAL, readonly=True)
    try:
        kept = store.meta("cases")
        folders = msgspec.msgpack.decode(kept, type=list[CaseFolder]) if kept else []
    except msgspec.MsgspecError as error:
        raise StoreError(f"{run / JOURNAL} cannot be read: {error}") from None
    finally:
        store.close()
    return {folder.id: _found(folder, run) for folder in folders}


def _found(folder: CaseFolder, run: Path) -> CaseFolder:
    own = run.resolve() / "cases" / folder.id
    if own.is_dir() and not Path(folder.home).is_dir():
        return msgspec.structs.replace(folder, home=str(own))
    return folder


def collected(case: CaseFolder, run: Path, record: RunRecord) -> CaseFolder:
    """The case as a run collected it, with the run's own record of it."""
    home = str(run / "cases" / case.id)
    return msgspec.structs.replace(case, home=home, run_root=str(run), recorded=record.part(case.id))


def baseline_cases(plan: RunPlan, options: RunOptions, refs: Sequence[CaseRef]) -> dict[str, CaseFolder]:
    """Case -> what the baseline run made of it, as far as it has anything; nothing when nobody compares."""
    if options.baseline is None or not any(isinstance(judge, PairwiseJudge) for judge in plan.judges):
        return {}
    run = options.baseline.folder.resolve()
    known = case_folders(run)
    record = read_run(str(run))
    found: dict[str, CaseFolder] = {}
    for case in refs:
        other = baseline_of_case(run, case, known, record) if isinstance(case, CaseFolder) else None
        if other is not None:
            found[case.id] = other
    return found


def baseline_of_case(
    run: Path,
    case: CaseFolder,
    known: Mapping[str, CaseFolder],
    record: RunRecord = RunRecord(),  # noqa: B008 - frozen
) -> CaseFolder | None:
    """What a baseline run made of a case: collected within it, else where `known` says that it lies."""
    if (run / "cases" / case.id).is_dir():
        return collected(case, run.resolve(), record)
    other = known.get(case.id)
    return other if other is not None and Path(other.home).is_dir() else None
