"""What happens to a run in a provider's container when the provider fails, is slow, or the process is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import ErrorKind, RunState
from tests.support.configs import judged
from tests.support.hosted import USAGE, Hosted, Json, Work, message, writes
from tests.support.llm import QUICK, ROOT
from tests.support.provider import LoopbackProvider
from tests.support.replies import CutConnection, Html, HttpError, Malformed, Raw, Reply, Stall, WrongShape
from tests.support.request import Request
from tests.support.responses import INPUT, fault, home, ran, run_of, suite

ANSWER = "output/a.md"


def agent(**faults: Any) -> Hosted:
    return Hosted(writes(ANSWER, "the answer"), **faults)


def asked(hosted: Hosted) -> int:
    return len(hosted.ran)


@pytest.mark.parametrize("status", [429, 529])
def test_what_is_turned_away_for_load_is_asked_again_in_the_same_container(tmp_path: Path, status: int) -> None:
    hosted = agent(fault=fault("/responses", HttpError(status), HttpError(status, retry_after=0.05), None))
    assert run_of(ran(tmp_path, hosted)).state is RunState.OK
    assert (len(hosted.made), asked(hosted)) == (1, 1)


def test_a_provider_that_stays_overloaded_leaves_an_error_that_is_tried_again(tmp_path: Path) -> None:
    hosted = agent(fault=fault("/responses", HttpError(429)))
    result = ran(tmp_path, hosted)
    run = run_of(result)
    assert (run.state, run.kind, run.exit_code) == (RunState.ERROR, ErrorKind.RATE_LIMITED, None)
    assert result.scores[0].error is not None
    assert (len(hosted.made), hosted.boxes) == (1, {})
    hosted.fault = None
    assert run_of(ran(tmp_path, hosted)).state is RunState.OK


@pytest.mark.parametrize(
    "reply",
    [HttpError(500), HttpError(503), Html(502), CutConnection(), Malformed(), WrongShape(), Raw(b'{"output": NaN}')],
    ids=lambda reply: type(reply).__name__ + str(getattr(reply, "status", "")),
)
def test_where_it_is_not_known_what_was_done_another_container_is_made(tmp_path: Path, reply: Reply) -> None:
    hosted = agent(fault=fault("/responses", reply, reply, None))
    run = run_of(ran(tmp_path, hosted))
    assert run.state is RunState.OK, run.error
    assert (len(hosted.made), asked(hosted)) == (3, 1)
    assert hosted.boxes == {}
    assert (home(tmp_path) / ANSWER).read_text() == "the answer"
    assert (home(tmp_path) / "stderr.log").read_text().count("tried again in another container") == 2


@pytest.mark.parametrize("reply", [HttpError(500), Malformed(), WrongShape()], ids=["500", "malformed", "shape"])
def test_a_provider_that_never_answers_well_leaves_an_error(tmp_path: Path, reply: Reply) -> None:
    hosted = agent(fault=fault("/responses", reply))
    run = run_of(ran(tmp_path, hosted))
    assert (run.state, run.kind) == (RunState.ERROR, ErrorKind.PROVIDER_ERROR)
    assert len(hosted.made) == len(hosted.deleted) == QUICK.attempts


@pytest.mark.parametrize("path", ["/containers", "/files"])
def test_a_container_that_cannot_be_had_is_an_error(tmp_path: Path, path: str) -> None:
    hosted = agent(fault=fault(path, HttpError(500)))
    run = run_of(ran(tmp_path, hosted))
    assert (run.state, run.kind) == (RunState.ERROR, ErrorKind.PROVIDER_ERROR)
    assert (hosted.ran, hosted.boxes) == ([], {})


def test_an_endpoint_without_containers_says_so(tmp_path: Path) -> None:
    run = run_of(ran(tmp_path, agent(fault=fault("/containers", HttpError(404, message="Not Found")))))
    assert (run.state, run.kind) == (RunState.ERROR, ErrorKind.CONFIG)
    assert run.error.startswith("the endpoint makes no containers: HTTP 404")


def test_a_request_that_is_refused_is_an_error_and_no_work_of_the_models(tmp_path: Path) -> None:
    told = "Unsupported parameter: 'reasoning.effort' is not supported with this model."
    hosted = agent(fault=fault("/responses", HttpError(400, message=told)))
    run = run_of(ran(tmp_path, hosted, runner={"type": "responses-api", "effort": "high"}))
    assert (run.state, run.kind, run.exit_code) == (RunState.ERROR, ErrorKind.REQUEST_REJECTED, None)
    assert "reasoning.effort" in run.error
    assert (len(hosted.made), hosted.boxes) == (1, {})


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_calls_that_do_no_harm_twice_are_repeated(tmp_path: Path, method: str) -> None:
    faults = [fault(path, HttpError(500), CutConnection(), None, method=method) for path in ("/files", "/content")]

    def each(request: Request) -> Reply | None:
        return next((reply for one in faults if (reply := one(request)) is not None), None)

    hosted = agent(fault=each)
    assert run_of(ran(tmp_path, hosted)).state is RunState.OK
    assert (len(hosted.made), asked(hosted)) == (1, 1)


def test_a_response_that_failed_at_the_providers_is_asked_for_again_and_paid_for_twice(tmp_path: Path) -> None:
    count = 0

    def fails_once(work: Work) -> Json:
        nonlocal count
        count += 1
        work.files[f"/workspace/output/{count}.md"] = b"x"
        error = {"code": "server_error", "message": "we are sorry"}
        return {"status": "failed", "error": error} if count == 1 else {"output": [message("done")]}

    run = run_of(ran(tmp_path, Hosted(fails_once)))
    assert run.state is RunState.OK
    assert [path.name for path in (home(tmp_path) / "output").iterdir()] == ["2.md"]
    assert run.cost_usd == pytest.approx(2 * 0.002135)
    assert run.token_usage is not None
    assert run.token_usage.output == 100


def test_a_budget_keeps_a_failed_response_from_being_asked_for_again(tmp_path: Path) -> None:
    def fails(work: Work) -> Json:
        return {"status": "failed", "error": {"code": "server_error", "message": "we are sorry"}}

    hosted = Hosted(fails)
    run = run_of(ran(tmp_path, hosted, execution={"prompt": "x", "max_budget_usd": 0.003}))
    assert (run.state, run.kind) == (RunState.ERROR, ErrorKind.BUDGET)
    assert asked(hosted) == 2
    assert run.cost_usd == pytest.approx(2 * 0.002135)


def test_a_wrong_key_is_an_error_that_names_no_key(tmp_path: Path) -> None:
    hosted = agent(key="the-right-one")
    result = ran(tmp_path, hosted, options={"environ": {"OPENAI_API_KEY": "sk-wrong-0123456789"}})
    run = run_of(result)
    assert (run.state, run.kind) == (RunState.ERROR, ErrorKind.CREDENTIALS)
    assert "Incorrect API key provided: ***" in run.error
    kept = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert [path for path in kept if b"sk-wrong" in path.read_bytes()] == []


def test_a_response_without_an_end_is_stopped_and_what_was_made_is_judged(tmp_path: Path) -> None:
    hosted = agent(looks=None)

    def half_way(request: Request) -> None:
        if request.path.endswith("/cancel"):
            (box,) = hosted.boxes.values()
            box.files["cfile_half"] = ("/workspace/output/half.md", b"half", "assistant")

    hosted.fault = half_way
    result = ran(tmp_path, hosted, execution={"prompt": "x", "timeout": 1})
    run = run_of(result)
    assert (run.state, run.kind, run.exit_code) == (RunState.TIMEOUT, ErrorKind.TIMEOUT, -1)
    assert len(hosted.cancelled) == 1
    assert hosted.boxes == {}
    assert (home(tmp_path) / "output/half.md").read_text() == "half"
    assert run.token_usage is not None
    assert run.token_usage.output == USAGE["output_tokens"]
    assert result.scores[0].error is None


def test_a_response_that_cannot_be_stopped_is_a_time_out_all_the_same(tmp_path: Path) -> None:
    hosted = agent(looks=None, fault=fault("/cancel", HttpError(404)))
    run = run_of(ran(tmp_path, hosted, execution={"prompt": "x", "timeout": 1}))
    assert (run.state, run.token_usage) == (RunState.TIMEOUT, None)
    assert "could not be stopped" in (home(tmp_path) / "stderr.log").read_text()


def test_a_provider_that_answers_on_the_connection_only_may_time_out_too(tmp_path: Path) -> None:
    hosted = agent()

    def stalls(request: Request) -> Reply | None:
        if not request.path.endswith("/responses"):
            return None
        if request.body.get("background"):
            return HttpError(400, message="unsupported parameter: background")
        (box,) = hosted.boxes.values()
        box.files["cfile_half"] = ("/workspace/output/half.md", b"half", "assistant")
        return Stall()

    hosted.fault = stalls
    run = run_of(ran(tmp_path, hosted, execution={"prompt": "x", "timeout": 1}))
    assert (run.state, run.exit_code) == (RunState.TIMEOUT, -1)
    assert (len(hosted.made), hosted.boxes) == (1, {})
    assert (home(tmp_path) / "output/half.md").read_text() == "half"


def test_a_wait_that_is_longer_than_the_run_may_take_is_not_waited_for(tmp_path: Path) -> None:
    began = time.monotonic()
    hosted = agent(fault=fault("/responses", HttpError(429, retry_after=600)))
    run = run_of(ran(tmp_path, hosted, execution={"prompt": "x", "timeout": 5}))
    assert (run.state, run.kind) == (RunState.ERROR, ErrorKind.RATE_LIMITED)
    assert time.monotonic() - began < 5


def test_a_case_that_fails_leaves_the_others(tmp_path: Path) -> None:
    def one_of_them(work: Work) -> Json:
        if b"bad" in work.files["/workspace/input.yaml"]:
            return {"status": "failed", "error": {"code": "image_too_large", "message": "no"}}
        return writes(ANSWER, "x")(work)

    cases = {"a": INPUT, "b": {"input.yaml": "request: bad\n"}, "c": INPUT}
    result = ran(tmp_path, one_of_them, cases=cases)
    assert [run_of(result, case).state.value for case in "abc"] == ["ok", "error", "ok"]


def test_a_case_that_ran_is_not_run_again(tmp_path: Path) -> None:
    hosted = agent()
    with LoopbackProvider(hosted=hosted) as provider:
        config, environ = suite(tmp_path), provider.env("openai")
        for _ in range(2):
            assert run_of(judged(config, retry=QUICK, environ=environ)).state is RunState.OK
        assert asked(hosted) == 1
        fresh = run_of(judged(config, retry=QUICK, environ=environ, fresh=True))
        assert (fresh.state, asked(hosted)) == (RunState.OK, 2)
        assert fresh.cost_usd == pytest.approx(0.002135)
        config = suite(tmp_path, models={"skill": "gpt-5-mini"})
        assert run_of(judged(config, retry=QUICK, environ=environ)).state is RunState.OK
        assert asked(hosted) == 3


@contextmanager
def served(hosted: Hosted) -> Iterator[dict[str, str]]:
    """The variables under which the provider is reached."""
    with LoopbackProvider(hosted=hosted) as provider:
        yield provider.env("openai")


def again(folder: Path, environ: dict[str, str], **sections: Any) -> Any:
    return run_of(judged(suite(folder, **sections), retry=QUICK, environ=environ))


def test_a_file_that_could_not_be_fetched_is_fetched_later_and_nothing_is_paid_twice(tmp_path: Path) -> None:
    hosted = agent(fault=fault("/content", HttpError(500), method="GET"))
    with served(hosted) as environ:
        run = again(tmp_path, environ)
        assert (run.state, run.kind) == (RunState.ERROR, ErrorKind.PROVIDER_ERROR)
        assert "cannot be fetched" in run.error
        assert run.cost_usd == pytest.approx(0.002135)
        assert len(hosted.boxes) == 1
        hosted.fault = None
        run = again(tmp_path, environ)
    assert run.state is RunState.OK
    assert run.cost_usd == pytest.approx(0.002135)
    assert (asked(hosted), hosted.boxes) == (1, {})
    assert (home(tmp_path) / ANSWER).read_text() == "the answer"
    assert "went on with the response of an earlier session" in (home(tmp_path) / "stderr.log").read_text()


def test_a_response_whose_container_nobody_tells_of_is_kept_for_later(tmp_path: Path) -> None:
    hosted = agent(fault=fault("/content", HttpError(500), method="GET"))
    with served(hosted) as environ:
        again(tmp_path, environ)

        def silent(request: Request) -> Reply | None:
            asked_for = request.method == "GET" and request.target.startswith("/v1/containers/")
            return HttpError(500) if asked_for and "/files" not in request.target else None

        hosted.fault = silent
        assert again(tmp_path, environ).state is RunState.ERROR
        hosted.fault = None
        run = again(tmp_path, environ)
    assert (run.state, asked(hosted)) == (RunState.OK, 1)
    assert run.cost_usd == pytest.approx(0.002135)
    assert (home(tmp_path) / ANSWER).read_text() == "the answer"


def test_a_fresh_run_goes_on_with_nothing(tmp_path: Path) -> None:
    hosted = agent(fault=fault("/content", HttpError(500), method="GET"))
    with served(hosted) as environ:
        again(tmp_path, environ)
        hosted.fault = None
        run = run_of(judged(suite(tmp_path), retry=QUICK, environ=environ, fresh=True))
    assert (run.state, asked(hosted)) == (RunState.OK, 2)
    assert run.cost_usd == pytest.approx(0.002135)


def test_a_container_that_is_gone_is_replaced_and_what_was_paid_is_counted(tmp_path: Path) -> None:
    hosted = agent(fault=fault("/content", HttpError(500), method="GET"))
    with served(hosted) as environ:
        again(tmp_path, environ)
        hosted.fault = None
        hosted.boxes.clear()
        run = again(tmp_path, environ)
    assert run.state is RunState.OK
    assert asked(hosted) == 2
    assert run.cost_usd == pytest.approx(2 * 0.002135)
    assert (home(tmp_path) / ANSWER).read_text() == "the answer"


@pytest.mark.parametrize(
    "changed",
    [
        {"execution": {"prompt": "do something else"}},
        {"models": {"skill": "gpt-5-mini"}},
        {"cases": {"case-1": {"input.yaml": "request: another\n"}}},
        {"runner": {"type": "responses-api", "system_prompt": "Be brief."}},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_response_to_another_question_is_not_taken_for_this_one(tmp_path: Path, changed: dict[str, Any]) -> None:
    hosted = agent(fault=fault("/content", HttpError(500), method="GET"))
    with served(hosted) as environ:
        again(tmp_path, environ)
        hosted.fault = None
        assert again(tmp_path, environ, **changed).state is RunState.OK
    assert asked(hosted) == 2


def test_a_response_whose_outcome_cannot_be_asked_for_is_asked_for_later(tmp_path: Path) -> None:
    failing = True

    def looks_fail(request: Request) -> Reply | None:
        return HttpError(500) if failing and request.method == "GET" and "/responses/" in request.path else None

    hosted = agent(fault=looks_fail)
    with served(hosted) as environ:
        run = again(tmp_path, environ)
        assert (run.state, run.kind) == (RunState.ERROR, ErrorKind.PROVIDER_ERROR)
        assert hosted.cancelled == []
        failing = False
        assert again(tmp_path, environ).state is RunState.OK
    assert (len(hosted.made), asked(hosted)) == (1, 1)


def test_a_response_that_the_provider_forgot_is_asked_for_anew(tmp_path: Path) -> None:
    hosted = agent(looks=None)
    with served(hosted) as environ:
        killed(tmp_path, hosted, environ)
        hosted.forget()
        hosted.looks = 1
        assert again(tmp_path, environ).state is RunState.OK
    assert (len(hosted.made), asked(hosted)) == (2, 1)


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT])
def test_a_process_that_is_stopped_loses_no_response(tmp_path: Path, by: signal.Signals) -> None:
    hosted = agent(looks=None)
    with served(hosted) as environ:
        killed(tmp_path, hosted, environ, by)
        hosted.finish()
        run = again(tmp_path, environ)
    assert run.state is RunState.OK
    assert (len(hosted.made), asked(hosted), hosted.boxes) == (1, 1, {})
    assert run.cost_usd == pytest.approx(0.002135)
    assert (home(tmp_path) / ANSWER).read_text() == "the answer"


def killed(folder: Path, hosted: Hosted, environ: dict[str, str], by: signal.Signals = signal.SIGKILL) -> None:
    """Start a run as a process, and stop it while it waits for its response."""
    config = suite(folder)
    command = [sys.executable, "-m", "adjudge", "run", str(config), "--output", "run"]
    env = {**os.environ, **environ, "PYTHONPATH": str(ROOT / "src"), "HOME": str(folder)}
    with subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 30
        while hosted.looked < 2 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(by)
        ended = process.wait(timeout=60)
        assert ended == (130 if by is signal.SIGINT else -by), process.stderr.read() if process.stderr else b""
    assert hosted.cancelled == []
    ticket = json.loads((folder / "run/responses/case-1/run.json").read_text())
    assert ticket["response"]["status"] == "queued"
