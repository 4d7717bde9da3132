"""What a report shows of each case beside its scores, read again from the run directory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from adjudge.cases import CaseFolder
from adjudge.domain import BinaryFile, Case, CaseDetail, Exchange, Snapshot, StoreError, Verdict
from adjudge.engine.material import baseline_of_case, case_folders
from adjudge.engine.rundir import JOURNAL
from adjudge.engine.store import Store
from adjudge.whole_files import write_whole


class Details:
    """The details of one run's cases; close it when the report is made.

    Raises (when opened):
        StoreError: there is no journal in the folder, or it cannot be read.
    """

    def __init__(self, run: Path, snapshot: Snapshot, *, baseline: Path | None = None) -> None:
        if not (run / JOURNAL).is_file():
            raise StoreError(f"{run} is no run directory: it has no {JOURNAL}")
        self._folders = case_folders(run)
        self._store = Store(run / JOURNAL, readonly=True)
        plan = self._store.meta("fingerprint") or b""
        self._verdicts: dict[str, list[Verdict]] = {}
        for verdict in self._store.verdicts(plan.decode()):
            if verdict.call:
                self._verdicts.setdefault(verdict.case, []).append(verdict)
        self._baseline = baseline
        self._theirs = case_folders(baseline) if baseline is not None else {}

    def close(self) -> None:
        self._store.close()

    def of(self, case_id: str) -> CaseDetail:
        """One case. What cannot be read is said in its `problem`."""
        exchanges = tuple(self._exchanges(case_id))
        folder = self._folders.get(case_id)
        if folder is None:
            return CaseDetail(case=Case(id=case_id), exchanges=exchanges, problem="the case was built in Python")
        try:
            case = folder.load()
        except (OSError, ValueError) as error:
            return CaseDetail(case=Case(id=case_id, inputs=folder.inputs), exchanges=exchanges, problem=str(error))
        return CaseDetail(case=case, exchanges=exchanges, baseline=self._before(folder))

    def _before(self, folder: CaseFolder) -> Mapping[str, str | BinaryFile] | None:
        if self._baseline is None:
            return None
        other = baseline_of_case(self._baseline, folder, self._theirs)
        try:
            return other.load().outputs if other is not None else None
        except (OSError, ValueError):
            return None

    def _exchanges(self, case_id: str) -> list[Exchange]:
        """Every call that a verdict of the case was read from, once."""
        calls: dict[str, list[Verdict]] = {}
        for verdict in self._verdicts.get(case_id, []):
            calls.setdefault(verdict.call, []).append(verdict)
        found = []
        for key, verdicts in calls.items():
            reply = self._store.reply(key)
            if reply is None:
                continue
            first = verdicts[0]
            found.append(
                Exchange(
                    judge=first.judge,
                    criteria=tuple(dict.fromkeys(verdict.criterion for verdict in verdicts)),
                    sample=first.sample,
                    prompt=self._store.prompt(key),
                    reply=reply.arguments or reply.text,
                    model=reply.model or first.model,
                    cost_usd=reply.usage.cost_usd,
                    seconds=self._store.seconds(key),
                )
            )
        return found


def baseline_folder(run: Path) -> Path | None:
    """The folder of the run that a run was held against; `None` when there was none, or it is gone.

    Raises:
        StoreError: there is no journal in the folder, or it cannot be read.
    """
    store = Store(run / JOURNAL, readonly=True)
    try:
        kept = store.meta("baseline_folder")
    finally:
        store.close()
    folder = Path(kept.decode()) if kept else None
    return folder if folder is not None and folder.is_dir() else None


def write_html(
    run: Path, snapshot: Snapshot, render: Callable[[Callable[[str], CaseDetail]], bytes], *, baseline: Path | None
) -> Path:
    """Make `report.html` of a run by `render`, and put it into its directory in one step. `baseline` is the run whose
    outputs stand beside those of this one.

    Raises:
        StoreError: the run directory cannot be read or written.
    """
    details = Details(run, snapshot, baseline=baseline)
    try:
        page = render(details.of)
    finally:
        details.close()
    try:
        write_whole(run / "report.html", page)
    except OSError as error:
        raise StoreError(f"{run / 'report.html'} cannot be written: {error.strerror}") from None
    return run / "report.html"
