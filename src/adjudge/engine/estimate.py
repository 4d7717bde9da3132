"""What a run would ask and roughly cost, without asking."""

from __future__ import annotations

from pathlib import Path

import msgspec

from adjudge.domain import DecisionJudge, LLMJudge, Mode, StoreError, Usage, kind_of
from adjudge.engine.asking import call_key
from adjudge.engine.callers import ANSWER_TOKENS, model_identity
from adjudge.engine.options import RunOptions
from adjudge.engine.plan import RunPlan
from adjudge.engine.pool import WorkerPool, cores
from adjudge.engine.protocol import Job
from adjudge.engine.rundir import HOME, JOURNAL
from adjudge.engine.store import Store
from adjudge.models import CHARACTERS_PER_TOKEN, Endpoint, ModelRequest, cost_usd


class JudgeEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """One judge of a plan. `usd` is `None` when no price is known; answers that are kept already cost nothing.

    `unseen` are cases that an agent has yet to work on: their calls are in `calls`, and what they send in nothing.
    """

    judge: str
    kind: str
    model: str = ""
    cases: int = 0
    skipped: int = 0
    unseen: int = 0
    calls: int = 0
    kept: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None


async def estimate(plan: RunPlan, options: RunOptions) -> list[JudgeEstimate]:
    """Render every prompt, evaluate every condition, and look into journal and cache. Runs no judge.

    Tokens are estimated from the length of what would be sent.
    """
    judges = tuple(judge for judge in plan.judges if isinstance(judge, LLMJudge | DecisionJudge))
    stores = _stores(options)
    totals = {judge.name: JudgeEstimate(judge=judge.name, kind=kind_of(judge)) for judge in judges}
    pool = WorkerPool(judges, plan.code_paths, size=min(cores(), max(1, len(plan.refs))))
    try:
        for ref in plan.refs if judges else ():
            outcome = await pool.run(Job(ref, tuple(range(len(judges)))))  # type: ignore[arg-type]
            if outcome.failure is not None and plan.execution is not None:
                totals = {judge.name: _with_unseen(totals[judge.name], judge) for judge in judges}
            for item in outcome.items:
                judge = judges[item.judge]
                total = totals[judge.name]
                if item.asking is None and (item.skipped or plan.execution is None):
                    totals[judge.name] = msgspec.structs.replace(total, skipped=total.skipped + bool(item.skipped))
                    continue
                if item.asking is None:
                    totals[judge.name] = _with_unseen(total, judge)
                    continue
                endpoint = plan.endpoints.get(judge.name)
                bodies = [_body(endpoint, item.asking.request(call)) for call in item.asking.calls]
                wanted = [(body, sample) for body in bodies for sample in range(judge.samples)]
                kept = sum(_is_kept(stores, endpoint, body, sample) for body, sample in wanted)
                sizes = [len(body) for body, sample in wanted if not _is_kept(stores, endpoint, body, sample)]
                totals[judge.name] = msgspec.structs.replace(
                    total,
                    cases=total.cases + 1,
                    calls=total.calls + len(sizes),
                    kept=total.kept + kept,
                    input_tokens=total.input_tokens + sum(round(size / CHARACTERS_PER_TOKEN) for size in sizes),
                    output_tokens=total.output_tokens + sum(ANSWER_TOKENS for _ in sizes),
                )
    finally:
        pool.close()
        for store in stores:
            store.close()
    return [_finished(judge.name, kind_of(judge), totals.get(judge.name), plan) for judge in plan.judges]


def _with_unseen(total: JudgeEstimate, judge: LLMJudge | DecisionJudge) -> JudgeEstimate:
    each = isinstance(judge, LLMJudge) and judge.mode is Mode.INDIVIDUAL
    calls = judge.samples * (len(judge.criteria) if each else 1)
    return msgspec.structs.replace(
        total,
        cases=total.cases + 1,
        unseen=total.unseen + 1,
        calls=total.calls + calls,
        output_tokens=total.output_tokens + calls * ANSWER_TOKENS,
    )


def _body(endpoint: Endpoint | None, request: ModelRequest) -> bytes:
    return msgspec.json.encode(endpoint.wire.body(request, endpoint.model)) if endpoint else request.prompt.encode()


def _is_kept(stores: list[Store], endpoint: Endpoint | None, body: bytes, sample: int) -> bool:
    return endpoint is not None and any(
        store.reply(call_key(model_identity(endpoint, body), sample)) is not None for store in stores
    )


def _finished(name: str, kind: str, total: JudgeEstimate | None, plan: RunPlan) -> JudgeEstimate:
    if total is None:
        return JudgeEstimate(judge=name, kind=kind, cases=len(plan.refs))
    endpoint = plan.endpoints.get(name)
    if endpoint is None:
        return total
    usage = Usage(input=total.input_tokens, output=total.output_tokens)
    usd = None if total.unseen else cost_usd(usage, model=endpoint.model, provider=endpoint.priced_as)
    return msgspec.structs.replace(total, model=endpoint.label, usd=usd)


def _stores(options: RunOptions) -> list[Store]:
    paths = [options.cache or HOME / "cache.db"]
    if options.output is not None:
        paths.append(options.output / JOURNAL)
    found = []
    for path in paths if not options.fresh else ():
        try:
            if Path(path).is_file():
                found.append(Store(path, readonly=True))
        except StoreError:
            continue
    return found
