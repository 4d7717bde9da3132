"""Carrying out a plan: cases through the workers, requests to the models, every verdict into the journal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from adjudge.cases import CaseFolder
from adjudge.domain import (
    AgentJudge,
    CaseRef,
    CriterionJudge,
    DecisionJudge,
    Failure,
    LLMJudge,
    ModelJudge,
    ScriptJudge,
    StoreError,
    Verdict,
)
from adjudge.domain import ErrorKind as Kind
from adjudge.engine.asking import Asker
from adjudge.engine.cache import opened_cache
from adjudge.engine.callers import AgentCallers, Caller, transcript_name
from adjudge.engine.material import baseline_cases, put_cases
from adjudge.engine.observer import Observer
from adjudge.engine.options import RunOptions
from adjudge.engine.plan import RunPlan
from adjudge.engine.pool import CaseOutcome, WorkerPool
from adjudge.engine.protocol import Item, Job
from adjudge.engine.rundir import JOURNAL, choose, locked
from adjudge.engine.shares import all_parts, failed, first_cause, parts_of, skipped, verdicts_of, worker_count
from adjudge.engine.spare import SpareWorker
from adjudge.engine.store import Statement, Store, put_times, put_verdict
from adjudge.judges import Asked
from adjudge.models import ModelRequest
from adjudge.scoring import blocked_judges, decided, gate_judges, hard_failure

if TYPE_CHECKING:
    from adjudge.execution import Stage
    from adjudge.judges.script import ScriptRunner

GRACE_S = 15.0
STAGGER_S = 0.06
"""Between workers for criteria. A worker takes twice as long to start, and most criteria are over before."""
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
        plan.snapshot.suite,
        options.output,
        plan.fingerprint,
        fresh=options.fresh,
        finished=options.retry_unscored,
        runs=plan.runs,
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
        self.case_tasks: set[asyncio.Task[Any]] = set()
        self.index = {judge.name: index for index, judge in enumerate(plan.judges)}
        self.environ = {**os.environ, **options.environ}
        self.agents = AgentCallers(run, self.environ, at_once=options.agents_at_once)
        self.scripts: ScriptRunner | None = None
        self.refs: Sequence[CaseRef] = plan.refs
        self.could_not_run: dict[str, Failure] = {}
        self.before: dict[str, CaseFolder] = {}

    async def go(self) -> Ended:
        resumed = self.store.meta("fingerprint") is not None
        self._check_owner()
        begin = [
            self.store.put_meta("snapshot", msgspec.json.encode(self.plan.snapshot)),
            self.store.put_meta("fingerprint", self.key.encode()),
            ("DELETE FROM meta WHERE key IN ('finished', 'baseline', 'limits', 'baseline_folder')", ()),
            ("UPDATE verdicts SET plan = ''", ()),  # until this session confirms them, they do not count
        ]
        if self.options.baseline is not None:
            begin.append(self.store.put_meta("baseline", msgspec.json.encode(self.options.baseline.figures)))
            begin.append(self.store.put_meta("limits", msgspec.json.encode(self.options.baseline.limits)))
            begin.append(self.store.put_meta("baseline_folder", str(self.options.baseline.folder.resolve()).encode()))
        await self.store.write(begin)
        self.observer.started(self.plan, self.run, resumed=resumed)
        with opened_cache(self.plan, self.options, note=self.observer.note) as cache:
            asker = Asker(
                self.plan, self.options, self.store, cache, note=self.observer.note, stopped=lambda: self.stopping
            )
            size = worker_count(self.plan, self.options)
            stagger = STAGGER_S if any(isinstance(judge, CriterionJudge) for judge in self.plan.judges) else 0.0
            pool = WorkerPool(self.plan.judges, self.plan.code_paths, size=size, spare=self.spare, stagger_s=stagger)
            stage = self._stage()
            with self._signals():
                try:
                    if stage is not None:
                        await self._execute(stage)
                    await self.store.write([put_cases(self.store, self.refs)])
                    self.before = baseline_cases(self.plan, self.options, self.refs)
                    await self._all(pool, asker, window=size * 2 + 2)
                except asyncio.CancelledError:
                    if not self.stopping:
                        raise
                except BaseExceptionGroup as group:
                    raise first_cause(group) from None
                finally:
                    pool.close()
                    if stage is not None:
                        await stage.close()
                    if self.scripts is not None:
                        await self.scripts.close()
                    await asker.close()
                    self.observer.finished()
        if not self.stopping and not self.transient:
            await self.store.write([self.store.put_meta("finished", b"1")])
        return Ended(self.run, self.stopping, asker.spent)

    def _stage(self) -> Stage | None:
        if self.plan.execution is None:
            return None
        from adjudge.engine.executing import make_stage

        return make_stage(
            self.plan.execution,
            self.plan.refs,
            self.run,
            self.store,
            options=self.options,
            environ=self.environ,
            note=self.observer.note,
        )

    async def _execute(self, stage: Stage) -> None:
        """Run the agent under test before anything is judged."""
        from adjudge.engine.executing import executed

        task = asyncio.create_task(executed(stage, self.store))
        self.case_tasks.add(task)
        task.add_done_callback(self.case_tasks.discard)
        done = await task
        self.refs = done.refs
        self.could_not_run = done.failures
        self.transient = self.transient or done.transient

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
            for ref in self.refs:
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
        failure = self.could_not_run.get(ref.id)
        if failure is not None:
            await self._keep([(v, "", True) for judge in self.plan.judges for v in failed(ref.id, judge, failure)])
            return
        kept = {} if self.options.fresh else self.store.final_keys(ref.id, scored=self.options.retry_unscored)
        known = {self.index[name]: key for name, key in kept.items() if name in self.index}
        before = self.before.get(ref.id)
        jobs = [Job(ref, part, known, before) for part in parts_of(self.plan.judges)]  # type: ignore[arg-type]
        outcome, _ = await asyncio.gather(all_parts(pool, jobs), self._scripts(ref))
        for note in outcome.notes:
            self.observer.note(f"{ref.id}: {note}")
        made = self._local(ref.id, outcome)
        await self._keep(made)
        asked = [item for item in outcome.items if item.asking is not None]
        rules = self.plan.snapshot.tasks
        if rules is not None and asked:
            why = hard_failure(rules, ref.id, [verdict for verdict, _, _ in made])
            if why:
                for item in asked:
                    judge = self.plan.judges[item.judge]
                    await self._keep([(verdict, "", True) for verdict in skipped(ref.id, judge, why)])
                return
        if not self.plan.snapshot.rewards or not asked:
            for item in asked:
                await self._schedule(ref, item, asker, group, requests)
            return
        gates = gate_judges(self.plan.snapshot.rewards)
        verdicts = [verdict for verdict, _, _ in made]
        first = [item for item in asked if self.plan.judges[item.judge].name in gates]
        for task in [t for item in first for t in await self._schedule(ref, item, asker, group, requests)]:
            verdicts += await task
        blocked = blocked_judges(self.plan.snapshot, ref.id, verdicts)
        for item in asked:
            judge = self.plan.judges[item.judge]
            if judge.name in gates:
                continue
            if judge.name in blocked:
                await self._keep([(verdict, "", True) for verdict in skipped(ref.id, judge, BLOCKED)])
            else:
                await self._schedule(ref, item, asker, group, requests)

    async def _schedule(
        self, ref: CaseRef, item: Item, asker: Asker, group: asyncio.TaskGroup, requests: asyncio.Semaphore
    ) -> list[asyncio.Task[list[Verdict]]]:
        """Begin to ask everything that an item asks, as many at once as there are places for."""
        judge = self.plan.judges[item.judge]
        tasks: list[asyncio.Task[list[Verdict]]] = []
        if item.asking is None or not isinstance(judge, LLMJudge | DecisionJudge):
            return tasks
        for number, call in enumerate(item.asking.calls):
            request = item.asking.request(call)
            samples = [tuple(range(judge.samples))] if judge.early_stop else [(k,) for k in range(judge.samples)]
            for several in samples:
                await requests.acquire()
                task = group.create_task(self._ask(ref, judge, call, number, request, several, asker))
                task.add_done_callback(lambda _: requests.release())
                tasks.append(task)
        return tasks

    async def _scripts(self, ref: CaseRef) -> None:
        """Run the scripts on a case. Each is kept as soon as it has ended."""
        judges = [judge for judge in self.plan.judges if isinstance(judge, ScriptJudge)]
        if not judges:
            return
        from adjudge.judges.script import (
            ScriptRunner,
        )  # with what it takes to run processes, for those that have scripts

        runner = self.scripts = self.scripts or ScriptRunner(self.environ, at_once=self.options.scripts_at_once)
        try:
            case = await asyncio.to_thread(ref.load, trajectory=False)  # a script reads its folder itself
        except (OSError, ValueError) as error:
            for judge in judges:
                made = failed(ref.id, judge, Failure(Kind.INPUT, str(error)))
                await self._keep([(verdict, "", True) for verdict in made])
            return
        folder = Path(case.directory or os.getcwd())  # noqa: PTH109

        async def one(judge: ScriptJudge) -> None:
            if self.stopping:
                return
            files = self.run / (judge.artifacts or transcript_name(ref.id, judge.name, 0, 0))
            began = time.time()
            outcome = await runner.run(judge, folder, files.absolute())
            item = Item(self.index[judge.name], outcome=outcome)
            made = [(verdict, "", True) for verdict in verdicts_of(ref.id, judge, item)]
            await self._keep(made, [put_times(ref.id, judge.name, began, time.time())])

        await asyncio.gather(*map(one, judges))

    def _caller(self, ref: CaseRef, judge: ModelJudge, group: int, sample: int, asker: Asker) -> Caller:
        """Who answers for a judge."""
        if not isinstance(judge, AgentJudge):
            return asker.model(judge)
        return self.agents.caller(judge, ref, group, sample)

    def _local(self, case: str, outcome: CaseOutcome) -> list[tuple[Verdict, str, bool]]:
        """(verdict, key, fresh) for everything about a case that needs no model."""
        made: list[tuple[Verdict, str, bool]] = []
        for item in outcome.items:
            judge = self.plan.judges[item.judge]
            if item.reused:
                made += [(verdict, item.key, False) for verdict in self.store.kept(case, judge.name, item.key)]
            elif judge.name in self.plan.unavailable and item.asking is not None:
                failure = self.plan.unavailable[judge.name]
                made += [(verdict, "", True) for verdict in failed(case, judge, failure)]
                item.asking = None
            elif item.asking is None:
                made += [(verdict, item.key, True) for verdict in verdicts_of(case, judge, item)]
        if outcome.failure is not None:
            done = {item.judge for item in outcome.items}
            for index, judge in enumerate(self.plan.judges):
                if index not in done and not isinstance(judge, ScriptJudge):
                    made += [(verdict, "", True) for verdict in failed(case, judge, outcome.failure)]
        return made

    async def _ask(
        self,
        ref: CaseRef,
        judge: ModelJudge,
        call: Asked,
        number: int,
        request: ModelRequest,
        samples: tuple[int, ...],
        asker: Asker,
    ) -> list[Verdict]:
        """Ask one call's samples: together, or one after the other once half are there and nothing is decided."""

        async def one(sample: int) -> list[Verdict]:
            caller = self._caller(ref, judge, number, sample, asker)
            began = time.time()
            answered = await asker.verdicts(ref.id, judge, call, request, sample, caller=caller)
            if any(verdict.error and verdict.error.kind is Kind.INTERRUPTED for verdict in answered.verdicts):
                return []
            asked_agent = isinstance(judge, AgentJudge) and answered.fresh
            times = [put_times(ref.id, judge.name, began, time.time())] if asked_agent else []
            await self._keep([(verdict, answered.key, answered.fresh) for verdict in answered.verdicts], times)
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

    async def _keep(self, made: list[tuple[Verdict, str, bool]], times: Sequence[Statement] = ()) -> None:
        """Write verdicts, wait until they are durable, and only then tell of them."""
        if not made:
            return
        await self.store.write([*times, *(put_verdict(verdict, key, self.key) for verdict, key, _ in made)])
        for verdict, _, fresh in made:
            if fresh and verdict.denials:
                refused = ", ".join(f"{tool} {count}" for tool, count in verdict.denials.items())
                self.observer.note(f"{verdict.case}: {verdict.judge}: calls refused to the agent: {refused}")
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
