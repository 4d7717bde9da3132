"""Carrying out a plan: cases through the workers, requests to the models, every verdict into the journal."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from adjudge.domain import (
    CaseRef,
    CriterionJudge,
    DecisionJudge,
    Failure,
    Judge,
    LLMJudge,
    ModelJudge,
    Status,
    StoreError,
    Verdict,
)
from adjudge.domain import ErrorKind as Kind
from adjudge.engine.asking import Asker
from adjudge.engine.observer import Observer
from adjudge.engine.options import RunOptions
from adjudge.engine.plan import RunPlan
from adjudge.engine.pool import CaseOutcome, WorkerPool, cores
from adjudge.engine.protocol import Item, Job
from adjudge.engine.rundir import HOME, JOURNAL, choose, locked
from adjudge.engine.spare import SpareWorker
from adjudge.engine.store import Store, put_verdict
from adjudge.judges import Asked
from adjudge.models import ModelRequest
from adjudge.scoring import blocked_judges, decided, gate_judges

GRACE_S = 15.0
STAGGER_S = 0.06
"""Between workers for criteria. A worker takes twice as long to start, and most criteria are over before."""
PARTS = 64
"""At most, of a case's criteria."""
BLOCKED = "not asked: a gate of its reward has failed"


class Ended(msgspec.Struct, frozen=True):
    """How a run ended: where its directory is, and whether it was stopped before all was judged."""

    run: Path
    interrupted: bool
    spent_usd: float
    """Of this session alone."""


async def execute(plan: RunPlan, options: RunOptions, observer: Observer, *, spare: SpareWorker | None = None) -> Ended:
    """Carry out a plan, or what is left of it. `spare` is a worker that was started early.

    Raises:
        StoreError: the run directory is in use, or can no longer be written; every earlier verdict is safe.
    """
    run = choose(
        plan.snapshot.suite, options.output, plan.fingerprint, fresh=options.fresh, finished=options.retry_unscored
    )
    with locked(run):
        store = Store(run / JOURNAL)
        try:
            return await _Run(plan, options, observer, run, store, spare).go()
        finally:
            store.close()


class _Owner(msgspec.Struct):
    """The part of a snapshot that says whose run directory it is."""

    suite: str


class _Run:
    def __init__(
        self,
        plan: RunPlan,
        options: RunOptions,
        observer: Observer,
        run: Path,
        store: Store,
        spare: SpareWorker | None,
    ) -> None:
        self.plan = plan
        self.options = options
        self.observer = observer
        self.run = run
        self.store = store
        self.spare = spare
        self.key = plan.fingerprint
        self.stopping = False
        self.transient = False
        self.grace: asyncio.TimerHandle | None = None
        self.told: set[tuple[str, Kind]] = set()
        self.case_tasks: set[asyncio.Task[None]] = set()
        self.index = {judge.name: index for index, judge in enumerate(plan.judges)}

    async def go(self) -> Ended:
        resumed = self.store.meta("fingerprint") is not None
        self._check_owner()
        begin = [
            self.store.put_meta("snapshot", msgspec.json.encode(self.plan.snapshot)),
            self.store.put_meta("fingerprint", self.key.encode()),
            ("DELETE FROM meta WHERE key = 'finished'", ()),
            ("UPDATE verdicts SET plan = ''", ()),  # until this session confirms them, they do not count
        ]
        await self.store.write(begin)
        self.observer.started(self.plan, self.run, resumed=resumed)
        with self._cache() as cache:
            asker = Asker(
                self.plan, self.options, self.store, cache, note=self.observer.note, stopped=lambda: self.stopping
            )
            size = _workers(self.plan, self.options)
            stagger = STAGGER_S if any(isinstance(judge, CriterionJudge) for judge in self.plan.judges) else 0.0
            pool = WorkerPool(self.plan.judges, self.plan.code_paths, size=size, spare=self.spare, stagger_s=stagger)
            with self._signals():
                try:
                    await self._all(pool, asker, window=size * 2 + 2)
                except asyncio.CancelledError:
                    if not self.stopping:
                        raise
                except BaseExceptionGroup as group:
                    raise _first(group) from None
                finally:
                    pool.close()
                    await asker.close()
                    self.observer.finished()
        if not self.stopping and not self.transient:
            await self.store.write([self.store.put_meta("finished", b"1")])
        return Ended(self.run, self.stopping, asker.spent)

    def _check_owner(self) -> None:
        """A run directory belongs to one suite, although its judges and cases may change."""
        snapshot = self.store.meta("snapshot")
        owner = msgspec.json.decode(snapshot, type=_Owner).suite if snapshot is not None else self.plan.snapshot.suite
        if owner != self.plan.snapshot.suite:
            raise StoreError(f"{self.run} belongs to the suite {owner!r}; choose another --output")

    async def _all(self, pool: WorkerPool, asker: Asker, *, window: int) -> None:
        places = asyncio.Semaphore(window)
        requests = asyncio.Semaphore(max(16, self.options.max_concurrency * 3))
        async with asyncio.TaskGroup() as group:
            for ref in self.plan.refs:
                await places.acquire()
                if self.stopping:
                    break
                task = group.create_task(self._case(ref, pool, asker, group, requests))
                self.case_tasks.add(task)
                task.add_done_callback(self.case_tasks.discard)
                task.add_done_callback(lambda _: places.release())

    async def _case(
        self, ref: CaseRef, pool: WorkerPool, asker: Asker, group: asyncio.TaskGroup, requests: asyncio.Semaphore
    ) -> None:
        kept = {} if self.options.fresh else self.store.final_keys(ref.id, scored=self.options.retry_unscored)
        known = {self.index[name]: key for name, key in kept.items() if name in self.index}
        outcome = await _whole(pool, [Job(ref, part, known) for part in _parts(self.plan.judges)])  # type: ignore[arg-type]
        for note in outcome.notes:
            self.observer.note(f"{ref.id}: {note}")
        made = self._local(ref.id, outcome)
        await self._keep(made)
        asked = [item for item in outcome.items if item.asking is not None]
        if not self.plan.snapshot.rewards or not asked:
            for item in asked:
                await self._schedule(ref.id, item, asker, group, requests)
            return
        gates = gate_judges(self.plan.snapshot.rewards)
        verdicts = [verdict for verdict, _, _ in made]
        first = [item for item in asked if self.plan.judges[item.judge].name in gates]
        for task in [t for item in first for t in await self._schedule(ref.id, item, asker, group, requests)]:
            verdicts += await task
        blocked = blocked_judges(self.plan.snapshot, ref.id, verdicts)
        for item in asked:
            judge = self.plan.judges[item.judge]
            if judge.name in gates:
                continue
            if judge.name in blocked:
                await self._keep([(verdict, "", True) for verdict in _skipped(ref.id, judge, BLOCKED)])
            else:
                await self._schedule(ref.id, item, asker, group, requests)

    async def _schedule(
        self, case: str, item: Item, asker: Asker, group: asyncio.TaskGroup, requests: asyncio.Semaphore
    ) -> list[asyncio.Task[list[Verdict]]]:
        """Begin to ask everything that an item asks, as many at once as there are places for."""
        judge = self.plan.judges[item.judge]
        tasks: list[asyncio.Task[list[Verdict]]] = []
        if item.asking is None or not isinstance(judge, LLMJudge | DecisionJudge):
            return tasks
        for call in item.asking.calls:
            request = item.asking.request(call)
            samples = [tuple(range(judge.samples))] if judge.early_stop else [(k,) for k in range(judge.samples)]
            for several in samples:
                await requests.acquire()
                task = group.create_task(self._ask(case, judge, call, request, several, asker))
                task.add_done_callback(lambda _: requests.release())
                tasks.append(task)
        return tasks

    def _local(self, case: str, outcome: CaseOutcome) -> list[tuple[Verdict, str, bool]]:
        """(verdict, key, fresh) for everything about a case that needs no model."""
        made: list[tuple[Verdict, str, bool]] = []
        for item in outcome.items:
            judge = self.plan.judges[item.judge]
            if item.reused:
                made += [(verdict, item.key, False) for verdict in self.store.kept(case, judge.name, item.key)]
            elif judge.name in self.plan.unavailable and item.asking is not None:
                failure = self.plan.unavailable[judge.name]
                made += [(verdict, "", True) for verdict in _failed(case, judge, failure)]
                item.asking = None
            elif item.asking is None:
                made += [(verdict, item.key, True) for verdict in _verdicts(case, judge, item)]
        if outcome.failure is not None:
            done = {item.judge for item in outcome.items}
            for index, judge in enumerate(self.plan.judges):
                if index not in done:
                    made += [(verdict, "", True) for verdict in _failed(case, judge, outcome.failure)]
        return made

    async def _ask(
        self, case: str, judge: ModelJudge, call: Asked, request: ModelRequest, samples: tuple[int, ...], asker: Asker
    ) -> list[Verdict]:
        """Ask one call's samples: together, or one after the other once half are there and nothing is decided."""

        async def one(sample: int) -> list[Verdict]:
            answered = await asker.verdicts(case, judge, call, request, sample)
            if any(verdict.error and verdict.error.kind is Kind.INTERRUPTED for verdict in answered.verdicts):
                return []
            await self._keep([(verdict, answered.key, answered.fresh) for verdict in answered.verdicts])
            return answered.verdicts

        at_once = judge.samples // 2 + 1 if judge.early_stop else len(samples)
        votes: list[Verdict] = []
        for wave in [samples[:at_once], *((sample,) for sample in samples[at_once:])]:
            for made in await asyncio.gather(*map(one, wave)):
                votes += made
            criteria = [judge.criteria[index] for index in call.criteria]
            if judge.early_stop and all(decided(judge, criterion, votes) for criterion in criteria):
                break
        return votes

    async def _keep(self, made: list[tuple[Verdict, str, bool]]) -> None:
        """Write verdicts, wait until they are durable, and only then tell of them."""
        if not made:
            return
        await self.store.write([put_verdict(verdict, key, self.key) for verdict, key, _ in made])
        for verdict, _, fresh in made:
            if fresh and verdict.error is not None:
                self._say_once(verdict.judge, verdict.error)
            self.transient = self.transient or (verdict.error is not None and verdict.error.kind.transient)
            self.observer.verdict(verdict, fresh=fresh)

    def _say_once(self, judge: str, failure: Failure) -> None:
        """Tell of the first failure of its kind of each judge."""
        if (judge, failure.kind) not in self.told:
            self.told.add((judge, failure.kind))
            self.observer.note(f"{judge}: {failure.message or failure.kind.sentence} ({failure.kind.value})")

    @contextlib.contextmanager
    def _cache(self) -> Iterator[Store | None]:
        """The cache across runs. It is a convenience: when it cannot be opened the run goes on without it."""
        if not self.plan.endpoints:
            yield None
            return
        path = self.options.cache or HOME / "cache.db"
        try:
            cache = Store(path, durable=False)
        except StoreError as error:
            self.observer.note(f"no cache across runs: {error}")
            yield None
            return
        try:
            yield cache
        finally:
            cache.close()

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """SIGINT and SIGTERM stop the run cleanly; a second one stops it at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        main = asyncio.current_task()
        assert main is not None
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop, main.cancel)
        try:
            yield
        finally:
            if self.grace is not None:
                self.grace.cancel()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    def _stop(self, cancel: Callable[[], bool]) -> None:
        if self.stopping:
            cancel()
            return
        self.stopping = True
        self.observer.note(f"stopping: waiting up to {GRACE_S:.0f} s for answers already asked for; again to stop now")
        for task in self.case_tasks:
            task.cancel()
        self.grace = asyncio.get_running_loop().call_later(GRACE_S, cancel)


_PROMPTS_A_WORKER = 500
CRITERIA_AT_ONCE = 8
"""They wait for commands more than they compute."""


def _workers(plan: RunPlan, options: RunOptions) -> int:
    """How many processes: one a core where judges run in them, fewer where they only render some prompts."""
    cases = len(plan.refs)
    criteria = sum(isinstance(judge, CriterionJudge) for judge in plan.judges)
    if criteria:
        return options.workers or min(CRITERIA_AT_ONCE, criteria * cases)
    only_prompts = all(isinstance(judge, LLMJudge | DecisionJudge) for judge in plan.judges)
    useful = cases // _PROMPTS_A_WORKER + 1 if only_prompts else cases
    return options.workers or min(cores(), max(1, useful))


def _verdicts(case: str, judge: Judge, item: Item) -> Iterator[Verdict]:
    """What a worker's item says, once per criterion."""
    if item.skipped:
        yield from _skipped(case, judge)
        return
    outcome = item.outcome
    assert outcome is not None
    if outcome.failure is not None:
        yield from _failed(case, judge, outcome.failure, rationale=outcome.rationale, printed=outcome.printed)
        return
    for criterion in judge.criteria:
        yield Verdict(
            case=case,
            judge=judge.name,
            criterion=criterion.name,
            status=Status.SCORED,
            value=outcome.value,
            rationale=outcome.rationale,
            printed=outcome.printed,
            confidence=outcome.confidence,
            model=outcome.model,
        )


def _skipped(case: str, judge: Judge, note: str = "") -> Iterator[Verdict]:
    """Nothing was asked, and nothing is missing."""
    for criterion in judge.criteria:
        yield Verdict(
            case=case,
            judge=judge.name,
            criterion=criterion.name,
            status=Status.SKIPPED,
            notes=(note,) if note else (),
        )


def _parts(judges: tuple[Judge, ...]) -> list[tuple[int, ...]]:
    """The judges of a case in parts that may run at the same time: criteria are independent of each other."""
    criteria = [index for index, judge in enumerate(judges) if isinstance(judge, CriterionJudge)]
    others = tuple(index for index in range(len(judges)) if not isinstance(judges[index], CriterionJudge))
    size = max(1, len(criteria) // PARTS)
    parts = [tuple(criteria[start : start + size]) for start in range(0, len(criteria), size)]
    return [others, *parts] if others or not parts else parts


async def _whole(pool: WorkerPool, jobs: list[Job]) -> CaseOutcome:
    """The outcomes of a case's jobs as one."""
    outcomes = await asyncio.gather(*map(pool.run, jobs))
    failure = next((outcome.failure for outcome in outcomes if outcome.failure), None)
    notes = tuple(dict.fromkeys(note for outcome in outcomes for note in outcome.notes))
    return CaseOutcome(failure, [item for outcome in outcomes for item in outcome.items], notes)


def _failed(case: str, judge: Judge, failure: Failure, *, rationale: str = "", printed: str = "") -> Iterator[Verdict]:
    """The same failure for every criterion and sample of a judge."""
    for criterion in judge.criteria:
        for sample in range(judge.samples):
            yield Verdict(
                case=case,
                judge=judge.name,
                criterion=criterion.name,
                sample=sample,
                status=Status.UNSCORED,
                error=failure,
                rationale=rationale,
                printed=printed,
            )


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first exception of a group that is not a mere consequence of another's cancellation."""
    for error in group.exceptions:
        return _first(error) if isinstance(error, BaseExceptionGroup) else error
    return group
