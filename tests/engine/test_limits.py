"""How many requests are under way, by the server's own count, and for how long."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from adjudge.domain import Binary, Criterion, Guard, LLMJudge, Mode
from adjudge.models import RetryPolicy
from adjudge.models.limits import AdaptiveLimit
from tests.support.llm import QUICK, judged, llm_judge
from tests.support.provider import LoopbackProvider, default_reply
from tests.support.replies import HttpError, Reply, Stall, Text, Verdict
from tests.support.request import Request

PASSES = Verdict({"rationale": "fine", "passed": True})
OPENAI = "openai:/gpt-5.2"


class Server:
    """Answers by a script, and remembers when each request arrived and how many were under way then."""

    def __init__(self, reply: Callable[[Request], Reply]) -> None:
        self.reply = reply
        self.provider = LoopbackProvider(self.answer, latency=0.0)
        self.arrivals: list[tuple[float, Request, int]] = []

    def answer(self, request: Request) -> Reply:
        self.arrivals.append((time.monotonic(), request, self.provider.in_flight))
        return self.reply(request)

    def under_way(self) -> list[int]:
        return [count for _, _, count in self.arrivals]


def passes_after(seconds: float) -> Verdict:
    return Verdict(PASSES.data, delay=seconds)


@pytest.mark.parametrize("cap", [1, 2, 5, 20])
def test_never_more_than_the_cap_over_judges_of_every_kind(cap: int) -> None:
    two = tuple(Criterion(name=name, description=f"{name}?", scale=Binary()) for name in ("a", "b"))
    common: dict[str, Any] = {"prompt": "Look at {{ outputs }}", "model": "claude-sonnet-5-5"}
    judges = [
        llm_judge("plain"),
        llm_judge("sampled", samples=4, model=OPENAI),
        llm_judge("hasty", samples=5, early_stop=True, prompt="Hasty? {{ outputs }}"),
        llm_judge("panel", panel=("claude-haiku-5-5", "openai:/other"), model=""),
        LLMJudge(name="batched", criteria=two, guard=Guard.FLAG, **common),
        LLMJudge(name="each", criteria=two, mode=Mode.INDIVIDUAL, **common),
    ]
    with LoopbackProvider(default_reply, latency=0.005) as provider:
        result = judged(provider, judges=judges, count=5, max_concurrency=cap)
        assert min(cap, 8) <= provider.max_in_flight <= cap
        assert len(provider.requests) == 5 * (1 + 4 + 3 + 2 + 1 + 2)
    assert not any(summary.unscored for summary in result.judges)


def test_an_endpoint_that_keeps_up_is_given_more() -> None:
    server = Server(lambda _: passes_after(0.1))
    with server.provider as provider:
        judged(provider, count=160, max_concurrency=32)
        assert 16 <= provider.max_in_flight <= 32
    assert server.under_way()[:8] == [*range(1, 9)]
    assert server.under_way()[8] <= 8  # it begins with a quarter


@pytest.mark.parametrize("status", [429, 529])
def test_an_overload_halves_what_is_under_way(status: int) -> None:
    at = 60
    server = Server(lambda request: HttpError(status) if request.index == at else passes_after(0.05))
    with server.provider as provider:
        result = judged(provider, count=120, max_concurrency=16)
    counts = server.under_way()
    assert result.summary("good").n == 120
    before = max(counts[:at])
    assert before >= 8
    drained = counts[at + 1 + before : at + 1 + before + 8]  # those under way at the time have ended
    assert max(drained) <= 0.75 * before


@pytest.mark.parametrize("status", [429, 529])
def test_an_endpoint_that_stays_overloaded_is_asked_one_at_a_time(status: int) -> None:
    server = Server(lambda _: HttpError(status, delay=0.01))
    with server.provider as provider:
        result = judged(provider, count=24, max_concurrency=16)
    assert result.summary("good").unscored == 24
    assert max(server.under_way()[-30:]) == 1


def test_another_fault_is_no_reason_to_ask_less() -> None:
    server = Server(lambda request: HttpError(500) if request.index % 9 == 0 else passes_after(0.02))
    with server.provider as provider:
        judged(provider, count=80, max_concurrency=8)
    counts = server.under_way()[16:64]
    assert [max(counts[at : at + 16]) for at in range(0, 48, 16)] == [8, 8, 8]


def test_nobody_asks_before_the_time_that_an_endpoint_asked_for() -> None:
    server = Server(lambda request: HttpError(429, retry_after=0.5) if request.index == 0 else PASSES)
    with server.provider as provider:
        result = judged(provider, count=6, max_concurrency=1)
    began, *later = [when for when, _, _ in server.arrivals]
    assert len(later) == 6
    assert later[0] - began >= 0.5
    assert result.summary("good").n == 6


def test_an_endpoint_that_is_left_alone_keeps_no_other_waiting() -> None:
    waits = iter([HttpError(429, retry_after=1.0)])
    server = Server(lambda request: next(waits, PASSES) if request.wire == "anthropic" else PASSES)
    judges = [llm_judge("slow"), llm_judge("quick", model=OPENAI)]
    with server.provider as provider:
        result = judged(provider, judges=judges, count=4, max_concurrency=2)
    began = server.arrivals[0][0]
    quick = [when - began for when, request, _ in server.arrivals if request.wire == "openai"]
    slow = [when - began for when, request, _ in server.arrivals if request.wire == "anthropic"]
    assert max(quick) < 0.9
    assert slow[-1] >= 1.0
    assert (result.summary("slow").n, result.summary("quick").n) == (4, 4)


@pytest.mark.parametrize(
    "fault", [Stall(), HttpError(500, delay=0.15), Text("hm", delay=0.15)], ids=["stall", "500", "hm"]
)
def test_the_time_limit_of_a_judge_bounds_all_that_is_done_for_one_verdict(fault: Reply) -> None:
    patient = RetryPolicy(attempts=100, base_s=0.01, cap_s=0.05, attempt_timeout_s=5.0)
    judges = [llm_judge("slow", timeout_s=0.5, attempts=100), llm_judge("quick", model=OPENAI)]
    server = Server(lambda request: fault if request.wire == "anthropic" else PASSES)
    with server.provider as provider:
        began = time.monotonic()
        result = judged(provider, judges=judges, count=4, retry=patient)
        took = time.monotonic() - began
    assert result.summary("slow").unscored == 4
    assert result.summary("quick").n == 4
    assert took < 2.5


@pytest.mark.parametrize("fault", [HttpError(500, delay=0.1), Text("hm", delay=0.1)], ids=["500", "hm"])
def test_nothing_is_asked_for_a_verdict_whose_time_is_over(fault: Reply) -> None:
    patient = RetryPolicy(attempts=100, base_s=0.01, cap_s=0.02, attempt_timeout_s=5.0)
    server = Server(lambda _: fault)
    with server.provider as provider:
        result = judged(
            provider, judges=[llm_judge(timeout_s=0.5, attempts=100)], count=8, max_concurrency=1, retry=patient
        )
    spans: dict[str, list[float]] = defaultdict(list)
    for when, request, _ in server.arrivals:
        spans[request.prompt.partition("request")[2][:20]].append(when)
    assert len(spans) == 8
    assert max(max(span) - min(span) for span in spans.values()) < 0.6
    assert result.summary("good").unscored == 8


def test_the_queue_takes_no_time_of_a_verdict_that_was_not_asked_for_yet() -> None:
    with LoopbackProvider(lambda _: passes_after(0.1)) as provider:
        result = judged(provider, judges=[llm_judge(timeout_s=0.5)], count=12, max_concurrency=1)
    assert result.summary("good").n == 12


def limit_after(*steps: Callable[[AdaptiveLimit, float], Any], cap: int = 64) -> AdaptiveLimit:
    """A limit on which these steps were taken, with its window full all the time."""

    async def go() -> AdaptiveLimit:
        limit = AdaptiveLimit(cap)
        for step in steps:
            limit.in_flight = int(limit.window)
            step(limit, asyncio.get_running_loop().time())
        return limit

    return asyncio.run(go())


def one_round(limit: AdaptiveLimit, _: float) -> None:
    """As many answers as were under way."""
    for _ in range(int(limit.window)):
        limit.in_flight = int(limit.window)
        limit.answered(0.1)


def overload(limit: AdaptiveLimit, now: float) -> None:
    limit.overloaded(now, now, None)


@pytest.mark.parametrize(("cap", "window"), [(1, 1), (4, 4), (8, 8), (32, 8), (64, 16), (200, 50)])
def test_a_limit_begins_with_a_quarter_and_eight_at_least(cap: int, window: int) -> None:
    assert AdaptiveLimit(cap).window == window


def test_a_limit_doubles_up_to_its_cap_and_after_an_overload_grows_by_one_a_round() -> None:
    assert limit_after(one_round).window == 32
    assert limit_after(one_round, one_round).window == 64
    assert limit_after(one_round, one_round, one_round).window == 64
    assert limit_after(one_round, overload).window == 16
    assert limit_after(one_round, overload, one_round).window == pytest.approx(17, abs=0.1)
    assert limit_after(*[overload] * 20).window == 1


def test_requests_that_were_under_way_together_halve_a_limit_once() -> None:
    def crowd(limit: AdaptiveLimit, now: float) -> None:
        for k in range(16):
            limit.overloaded(now, now + 0.01 + k / 1000, None)

    assert limit_after(crowd).window == 8


def test_answers_that_get_slower_hold_a_limit() -> None:
    def slower(limit: AdaptiveLimit, _: float) -> None:
        for _ in range(30):
            limit.in_flight = int(limit.window)
            limit.answered(0.5)

    before = limit_after(one_round).window
    assert limit_after(one_round, slower).window < before + 8


def test_a_place_that_nobody_waits_for_any_more_goes_to_the_next() -> None:
    async def go() -> None:
        limit = AdaptiveLimit(1)
        await limit.acquire()
        first, second = asyncio.create_task(limit.acquire()), asyncio.create_task(limit.acquire())
        await asyncio.sleep(0)
        limit.release()
        first.cancel()
        await asyncio.wait_for(second, 1)
        assert limit.in_flight == 1

    asyncio.run(go())


def test_default_attempts_do_not_outlast_a_short_limit() -> None:
    with LoopbackProvider(lambda _: HttpError(529)) as provider:
        began = time.monotonic()
        result = judged(provider, judges=[llm_judge(timeout_s=0.4)], retry=RetryPolicy())
        assert time.monotonic() - began < 2.0
        assert len(provider.requests) <= QUICK.attempts
    assert result.summary("good").unscored_kinds == {"rate_limited": 1}
