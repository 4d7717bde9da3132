"""Asking models, each question once: journal, then cache, then the provider, within the budget."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from adjudge.domain import ErrorKind, Failure, LLMJudge, ModelJudge, Status, StoreError, Verdict
from adjudge.engine.callers import Caller, ModelCaller
from adjudge.engine.options import RunOptions
from adjudge.engine.plan import RunPlan
from adjudge.engine.rundir import HOME
from adjudge.engine.store import Store, put_call, put_prompt, put_spending
from adjudge.judges import Asked, Reading, read_reply, verdicts_of
from adjudge.models import CallError, Endpoint, ModelRequest, Reply, known, remember_in
from adjudge.prompts import Answer

if TYPE_CHECKING:
    from adjudge.models.client import ModelClient


def call_key(identity: bytes, sample: int) -> str:
    """Key of everything that can change an answer, and of which repeat of the question it is."""
    return hashlib.sha256(b"\0".join([b"call-2", str(sample).encode(), identity])).hexdigest()


def _no_answer(error: CallError) -> Answer:
    return Answer(None, failure=Failure(error.kind, error.message))


class Note(Protocol):
    """Where notes go; see `Observer.note`."""

    def __call__(self, text: str, *, detail: bool = False) -> None: ...


class Answered(NamedTuple):
    """The verdicts of one call, the key of its question, and whether anything was asked now."""

    verdicts: list[Verdict]
    key: str
    fresh: bool


class _Deadline:
    """Bounds all attempts at one verdict together, from the first that is sent on."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._until: float | None = None

    def start(self) -> None:
        if self._until is None:
            self._until = time.monotonic() + self._limit_s

    @property
    def begun(self) -> bool:
        return self._until is not None

    def left_s(self) -> float:
        return self._limit_s if self._until is None else max(0.001, self._until - time.monotonic())


class _Question(NamedTuple):
    key: str
    caller: Caller
    request: ModelRequest
    deadline: _Deadline


class Asker:
    """Turns requests into verdicts. One instance a run."""

    def __init__(
        self,
        plan: RunPlan,
        options: RunOptions,
        store: Store,
        cache: Store | None,
        *,
        note: Note,
        stopped: Callable[[], bool],
    ) -> None:
        self.spent = 0.0
        self._plan = plan
        self._options = options
        self._store = store
        self._cache = cache
        self._note = note
        self._stopped = stopped
        self._spent_before = store.spent_usd()
        self._reserved = 0.0
        self._largest: float | None = None
        self._freed = asyncio.Event()
        self._asking: dict[str, asyncio.Future[Reply]] = {}
        self._answered: set[str] = set()
        self._noted: set[tuple[str, ErrorKind]] = set()
        self._client: ModelClient | None = None

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    def model(self, judge: ModelJudge) -> Caller:
        """Who answers for a judge that asks a model."""
        return ModelCaller(self._plan.endpoints[judge.name], self._the_client)

    async def verdicts(
        self, case: str, judge: ModelJudge, call: Asked, request: ModelRequest, sample: int, *, caller: Caller
    ) -> Answered:
        """Ask until the answer holds a verdict on every criterion of the call, or the judge's attempts run out."""
        answered = await self._answered_by(case, judge, call, request, sample, caller, anew=False)
        again = self._options.retry_unscored and not answered.fresh
        if again and any(verdict.status is Status.UNSCORED for verdict in answered.verdicts):
            answered = await self._answered_by(case, judge, call, request, sample, caller, anew=True)
        return answered

    async def _answered_by(
        self,
        case: str,
        judge: ModelJudge,
        call: Asked,
        request: ModelRequest,
        sample: int,
        caller: Caller,
        *,
        anew: bool,
    ) -> Answered:
        attempts = judge.attempts if isinstance(judge, LLMJudge) else 1
        keys: list[str] = []
        replies: list[Reply] = []
        reading: Reading | None = None
        fresh = False
        exit_code: int | None = None
        deadline = _Deadline(judge.timeout_s)
        while reading is None or (len(replies) < attempts and reading.correctable):
            if reading is not None:
                request = msgspec.structs.replace(
                    request, correction=reading.correction(call, len(replies) + 1, attempts)
                )
            try:
                key = call_key(await caller.identity(request), sample)
                keys.append(key)
                question = _Question(key, caller, request, deadline)
                reply, asked = await self._reply(question, anew=anew)
            except CallError as error:
                fresh = True
                exit_code = error.exit_code
                missing = Reading(tuple(_no_answer(error) for _ in call.criteria))
                reading = missing if reading is None else reading.failed(error)
                break
            fresh = fresh or asked
            replies.append(reply)
            read = read_reply(judge, call, reply)
            reading = read if reading is None else reading.filled_by(read)
        key = keys[0] if keys else ""
        made = verdicts_of(judge, call, reading, replies, case=case, sample=sample, key=key)
        if exit_code is not None:
            made = [msgspec.structs.replace(verdict, exit_code=exit_code) for verdict in made]
        if fresh and self._cache is not None and all(verdict.status is not Status.UNSCORED for verdict in made):
            pairs = zip(keys, replies, strict=False)
            self._cache.write_later(
                [put_call(key, caller.model, reply, seconds=0.0, origin="cache") for key, reply in pairs]
            )
        return Answered(made, key, fresh)

    async def _reply(self, question: _Question, *, anew: bool) -> tuple[Reply, bool]:
        """(reply, whether the provider was asked now)."""
        key = question.key
        if key in self._asking:
            return await asyncio.shield(self._asking[key]), False
        kept = self._kept(question, anew=anew or self._options.fresh)
        if kept is not None:
            return kept, False
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._asking[key] = future
        try:
            reply = await self._ask(question)
        except BaseException as error:
            if not isinstance(error, CallError):
                future.cancel()
            else:
                future.set_exception(error)
                future.exception()  # nobody else may be waiting for it
            raise
        finally:
            del self._asking[key]
        self._answered.add(key)
        future.set_result(reply)
        return reply, True

    def _kept(self, question: _Question, *, anew: bool) -> Reply | None:
        """A reply that need not be asked for; one from the cache is on its way into this run's journal."""
        key = question.key
        if anew and key not in self._answered:
            return None
        reply = self._store.reply(key)
        if reply is None:
            reply = self._from_cache(key)
            if reply is not None:
                kept = put_call(key, question.caller.model, reply, seconds=0.0, origin="cache")
                self._store.write_later([kept, put_prompt(key, question.request)])
        return reply

    def _from_cache(self, key: str) -> Reply | None:
        """A reply of an earlier run; a damaged cache is told of once and not used any more."""
        if self._cache is None:
            return None
        try:
            return self._cache.reply(key)
        except StoreError as error:
            self._note(f"the cache is not used: {error}; delete it")
            self._cache = None
            return None

    async def _ask(self, question: _Question) -> Reply:
        """The provider's reply, in the journal before its place among the calls under way is free again."""
        self._admit()
        if self._options.offline:
            raise CallError(ErrorKind.OFFLINE, "")
        expected = await self._reserve(question)
        started = time.monotonic()
        deadline = question.deadline

        async def keep(reply: Reply) -> None:
            cost = reply.usage.cost_usd or 0.0
            self.spent += cost
            self._largest = max(self._largest or 0.0, cost)
            seconds = time.monotonic() - started
            kept = put_call(question.key, question.caller.model, reply, seconds=seconds, origin="asked")
            asked = put_prompt(question.key, question.request)
            await self._store.write([kept, asked, put_spending(question.key, reply)])

        try:
            return await question.caller.ask(question.request, deadline, lambda: self._admit(deadline), keep)
        finally:
            self._release(expected)

    def _admit(self, deadline: _Deadline | None = None) -> None:
        """Keep a call from being made once the run stops, or the budget is spent after all."""
        if deadline is not None:
            deadline.start()
        if self._stopped():
            raise CallError(ErrorKind.INTERRUPTED, "")
        budget = self._options.budget_usd
        spent = self._spent_before + self.spent
        if budget is not None and spent >= budget:
            raise CallError(ErrorKind.BUDGET, f"${spent:.4f} of ${budget:.4f} are spent")

    async def _reserve(self, question: _Question) -> float:
        """Set aside what a call is expected to cost, in USD; waits for calls under way when only they stand before it.

        Raises:
            CallError: the budget does not reach.
        """
        budget = self._options.budget_usd
        if budget is None:
            return 0.0
        estimate = question.caller.expected_usd(question.request) or 0.0
        while True:
            spent = self._spent_before + self.spent
            # Until the first answer tells what answers really cost, one call at a time stands for the whole budget.
            told = self._largest is not None or estimate == 0.0
            expected = max(estimate, self._largest or 0.0) if told else max(estimate, budget - spent)
            if spent + self._reserved + expected <= budget + 1e-12:
                break
            if self._reserved == 0.0:
                text = f"${spent:.4f} of ${budget:.4f} are spent, and the next call would cost about ${expected:.4f}"
                raise CallError(ErrorKind.BUDGET, text)
            await self._freed.wait()
            self._admit()
        self._reserved += expected
        return expected

    def _release(self, expected: float) -> None:
        self._reserved = max(0.0, self._reserved - expected) if self._reserved > expected * 1.0001 else 0.0
        self._freed.set()
        self._freed = asyncio.Event()

    def _the_client(self) -> ModelClient:
        if self._client is None:
            from adjudge.models.client import ModelClient  # httpx costs 100 ms, and a warm run needs none

            remember_in(HOME / "prices.json")
            for endpoint in self._plan.endpoints.values():
                known(endpoint.model, endpoint.priced_as)  # reads the price list now, not between two answers
            limit = self._options.max_concurrency
            self._client = ModelClient(
                overall=limit,
                per_model=limit,
                retry=self._options.retry,
                seed=self._options.seed,
                on_wait=self._waiting,
            )
        return self._client

    def _waiting(self, endpoint: Endpoint, error: CallError, seconds: float) -> None:
        """Tell of a retry: the first of its kind at an endpoint to everybody, the others as details."""
        seen = (endpoint.label, error.kind) in self._noted
        self._noted.add((endpoint.label, error.kind))
        text = f"{endpoint.label}: {error.kind.value}, {error.message}; trying again in {seconds:.1f} s"
        self._note(text if seen else f"{text} (further retries are not told)", detail=seen)
