"""Real processes on one run directory: killed, interrupted, refused, out of room."""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from adjudge.models import ModelRequest, ToolSchema, resolve
from adjudge.models.client import ModelClient
from tests.support.llm import QUICK, call, command, environment, write_config
from tests.support.provider import LoopbackProvider, default_reply
from tests.support.replies import HttpError, Reply, Stall, Text
from tests.support.request import Request

SOAK = os.environ.get("ADJUDGE_SOAK") == "1"
KILLS = 25 if SOAK else 5
CALLS = 500 if SOAK else 120


def asked_and_answered(log: Path) -> tuple[Counter[str], Counter[str]]:
    """How often each question reached the provider, and how often its whole answer was sent."""
    events = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    asked = Counter(event["key"] for event in events if event["event"] == "asked")
    answered = Counter(event["key"] for event in events if event["event"] == "answered")
    return asked, answered


def test_kill_9_at_any_moment_loses_nothing_and_asks_nothing_twice(tmp_path: Path) -> None:
    """The provider's own log counts: every question is asked once, but for those under way at a kill."""
    write_config(tmp_path, CALLS)
    width = 8
    arguments = ["run", "-q", "--max-concurrency", str(width)]
    log = tmp_path / "log.jsonl"
    rng = random.Random(int(time.time()))
    with LoopbackProvider(latency=0.2 if SOAK else 0.03, log=log) as provider:
        env = environment(tmp_path, provider)
        kills = 0
        while kills < KILLS:
            process = subprocess.Popen(command(*arguments, "--output", "run"), cwd=tmp_path, env=env)
            try:
                process.wait(timeout=rng.uniform(0.3, 0.9))
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
        assert call(*arguments, "--output", "run", cwd=tmp_path, env=env).returncode == 0
        asked, answered = asked_and_answered(log)
        repeated = sum(asked.values()) - len(asked)
        calm = call(*arguments, "--output", "calm", "--fresh", cwd=tmp_path, env=env)
        assert calm.returncode == 0
    assert len(answered) == CALLS
    print(f"{kills} kills, {CALLS} questions, {repeated} asked again because they were under way at a kill")
    assert kills >= (20 if SOAK else 1)
    assert repeated <= kills * width
    assert (tmp_path / "run" / "result.json").read_bytes() == (tmp_path / "calm" / "result.json").read_bytes()


def test_an_answer_is_kept_while_its_correction_is_asked_for(tmp_path: Path) -> None:
    """What was paid for is in the journal before anything else is asked, not only with the verdict it leads to."""
    write_config(tmp_path, 1)

    def reply(request: Request) -> Reply:
        if request.index == 0:
            return Text("I would rather talk about the weather.")
        return Stall() if request.index == 1 else default_reply(request)

    with LoopbackProvider(reply) as provider:
        env = environment(tmp_path, provider)
        first = subprocess.Popen(command("run", "-q", "--output", "run"), cwd=tmp_path, env=env)
        try:
            _until(lambda: len(provider.requests) == 2)
        finally:
            first.kill()
            first.wait()
        assert call("run", "-q", "--output", "run", cwd=tmp_path, env=env).returncode == 0
        bodies = [request.body for request in provider.requests]
    assert len(bodies) == 3
    assert bodies[0] != bodies[1]
    assert bodies[1] == bodies[2]


def test_a_call_keeps_its_place_until_its_answer_is_kept() -> None:
    """Two places, four calls: while two answers are being written nothing more is asked."""

    async def asked_while_writing(provider: LoopbackProvider) -> int:
        endpoint = resolve("claude-sonnet-5-5", provider.env())
        client = ModelClient(overall=2, per_model=2, retry=QUICK, seed=1)
        written = asyncio.Event()

        async def keep(_: object) -> None:
            await written.wait()

        async def ask(k: int) -> None:
            tool = ToolSchema("verdict", "", {"type": "object", "properties": {"passed": {"type": "boolean"}}})
            request = ModelRequest(system="judge", prompt=f"question {k}", tool=tool, max_tokens=100)
            body = msgspec.json.encode(endpoint.wire.body(request, endpoint.model))
            await client.ask(endpoint, request, body, timeout_s=20, keep=keep)

        tasks = [asyncio.create_task(ask(k)) for k in range(4)]
        await asyncio.sleep(0.5)
        meanwhile = len(provider.requests)
        written.set()
        await asyncio.gather(*tasks)
        await client.close()
        return meanwhile

    with LoopbackProvider() as provider:
        assert asyncio.run(asked_while_writing(provider)) == 2
        assert len(provider.requests) == 4


def test_a_second_process_on_the_run_directory_is_refused(tmp_path: Path) -> None:
    write_config(tmp_path, 2)
    with LoopbackProvider(lambda _: Stall()) as provider:
        env = environment(tmp_path, provider)
        first = subprocess.Popen(command("run", "-q", "--output", "run"), cwd=tmp_path, env=env)
        try:
            _until(lambda: provider.in_flight > 0)
            second = call("run", "--output", "run", cwd=tmp_path, env=env)
        finally:
            first.kill()
            first.wait()
    assert second.returncode == 2
    assert f"pid {first.pid}" in second.stderr
    assert "Traceback" not in second.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_an_interrupted_run_keeps_what_is_under_way_and_says_how_to_resume(
    tmp_path: Path, number: signal.Signals
) -> None:
    write_config(tmp_path, 60)
    log = tmp_path / "log.jsonl"
    with LoopbackProvider(latency=0.2, log=log) as provider:
        env = environment(tmp_path, provider)
        first = subprocess.Popen(
            command("run", "--max-concurrency", "4", "--output", "run"),
            cwd=tmp_path,
            env=env,
            stderr=subprocess.PIPE,
            text=True,
        )
        _until(lambda: len(provider.requests) >= 8)
        first.send_signal(number)
        _, stderr = first.communicate(timeout=30)
        assert first.returncode == 130
        assert "resume" in stderr
        assert "Traceback" not in stderr
        asked, answered = asked_and_answered(log)
        assert asked == answered
        second = call("run", "-q", "--output", "run", cwd=tmp_path, env=env)
        assert second.returncode == 0
        asked, _ = asked_and_answered(log)
    assert len(asked) == 60
    assert set(asked.values()) == {1}


def test_a_second_interrupt_stops_at_once(tmp_path: Path) -> None:
    write_config(tmp_path, 4)
    with LoopbackProvider(lambda _: Stall()) as provider:
        env = environment(tmp_path, provider)
        process = subprocess.Popen(command("run", "-q"), cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True)
        _until(lambda: provider.in_flight > 0)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=5)
    assert process.returncode == 130
    assert "Traceback" not in stderr


def test_the_same_command_resumes_an_unfinished_run_without_output(tmp_path: Path) -> None:
    write_config(tmp_path, 30)
    log = tmp_path / "log.jsonl"
    with LoopbackProvider(latency=0.1, log=log) as provider:
        env = environment(tmp_path, provider)
        process = subprocess.Popen(command("run", "-q", "--max-concurrency", "2"), cwd=tmp_path, env=env)
        _until(lambda: len(provider.requests) >= 6)
        process.kill()
        process.wait()
        assert call("run", "-q", cwd=tmp_path, env=env).returncode == 0
    assert len(list((tmp_path / ".adjudge" / "runs" / "suite").iterdir())) == 1
    asked, _ = asked_and_answered(log)
    assert sum(asked.values()) <= 30 + 2


def test_an_overloaded_provider_is_told_of_once(tmp_path: Path) -> None:
    write_config(tmp_path, 6)
    with LoopbackProvider(lambda request: HttpError(529) if request.index < 9 else default_reply(request)) as provider:
        done = call("run", cwd=tmp_path, env=environment(tmp_path, provider))
    assert done.returncode == 0
    assert done.stderr.count("trying again") == 1
    assert "529" in done.stderr


def test_a_full_disk_stops_the_run_with_what_it_has(tmp_path: Path) -> None:
    write_config(tmp_path, 300)

    def small_disk() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    with LoopbackProvider() as provider:
        env = environment(tmp_path, provider)
        full = subprocess.run(
            command("run", "--output", "run"),
            check=False,
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            preexec_fn=small_disk,
            timeout=60,
        )
        assert full.returncode == 4, full.stderr
        assert "cannot be written" in full.stderr
        assert "Traceback" not in full.stderr
        before = len(provider.requests)
        assert call("run", "-q", "--output", "run", cwd=tmp_path, env=env).returncode == 0
        assert len(provider.requests) - before < 300
    assert len(json.loads((tmp_path / "run" / "result.json").read_bytes())["scores"]) == 300


def test_files_that_vanish_during_the_run_are_unscored(tmp_path: Path) -> None:
    import shutil

    write_config(tmp_path, 6, judges="  - name: slow\n    check: |\n      import time; time.sleep(0.4); return True\n")
    with LoopbackProvider() as provider:
        env = environment(tmp_path, provider)
        process = subprocess.Popen(command("run", "-q", "--output", "run"), cwd=tmp_path, env=env)
        _until((tmp_path / "run" / "journal.db").exists)
        shutil.rmtree(tmp_path / "cases" / "case-0005")
        assert process.wait(timeout=30) == 4
    result = json.loads((tmp_path / "run" / "result.json").read_bytes())
    kinds = {score["case"]: score["error"]["kind"] for score in result["scores"] if "error" in score}
    assert kinds == {"case-0005": "input"}


def _until(condition: Any) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.02)
