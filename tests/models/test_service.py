"""A provider's interface besides asking a model, held against what the official SDK sends and reads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import openai
import pytest

from adjudge.domain import ErrorKind
from adjudge.execution.container import Container, delete_container, fetch, make_container
from adjudge.models import CallError
from adjudge.models.responses import response_body
from adjudge.models.service import Service
from tests.support.hosted import Hosted, writes
from tests.support.llm import QUICK
from tests.support.provider import LoopbackProvider
from tests.support.replies import HttpError, Raw, Stall
from tests.support.responses import fault

AGENT = writes("output/a.md", "the answer")


def using(provider: LoopbackProvider, act: Callable[[Service, float], Awaitable[Any]], seconds: float = 20.0) -> Any:
    async def whole() -> Any:
        service = Service(f"{provider.url}/v1", {"authorization": "Bearer dummy-key"}, retry=QUICK)
        try:
            return await act(service, asyncio.get_running_loop().time() + seconds)
        finally:
            await service.close()

    return asyncio.run(whole())


def shape(provider: LoopbackProvider) -> list[tuple[str, str, Any]]:
    """What was asked, without what is different each time."""
    found = []
    for request in provider.requests:
        form = request.raw.partition(b"\r\n")[2].partition(b"\r\n\r\n")[0] if not request.body and request.raw else b""
        disposition = next((line for line in form.split(b"\r\n") if line.lower().startswith(b"content-disp")), b"")
        body = {key: value for key, value in request.body.items() if key != "name"}
        found.append((request.method, request.target.partition("&")[0], body or disposition))
    return found


def test_what_is_sent_is_what_the_sdk_sends(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/a b.txt").write_text("text")

    async def mine(service: Service, deadline: float) -> None:
        container = await make_container(
            service, {"memory_limit_mb": 2000}, workspace=tmp_path, skill=None, deadline=deadline
        )
        body = response_body("m", prompt="p", instructions="i", container=container.id, effort="low", background=True)
        told = await service.call("POST", "/responses", json=body, deadline=deadline)
        await service.call("GET", f"/responses/{told['id']}", deadline=deadline)
        assert await fetch(service, container, tmp_path, deadline=deadline) == []
        assert await delete_container(service, container) == ""

    with LoopbackProvider(hosted=Hosted(AGENT)) as provider:
        using(provider, mine)
        ours = shape(provider)
    assert (tmp_path / "output/a.md").read_text() == "the answer"

    with LoopbackProvider(hosted=Hosted(AGENT)) as provider:
        client = openai.OpenAI(base_url=f"{provider.url}/v1", api_key="dummy-key")
        container = client.containers.create(name="x", memory_limit="4g")
        client.containers.files.create(container.id, file=("/workspace/sub/a b.txt", b"text"))
        tool: Any = {"type": "shell", "environment": {"type": "container_reference", "container_id": container.id}}
        told = client.responses.create(
            model="m",
            input=[{"role": "developer", "content": "i"}, {"role": "user", "content": "p"}],
            tools=[tool],
            reasoning={"effort": "low"},
            background=True,
            store=True,
        )
        done = client.responses.retrieve(told.id)
        assert (told.status, done.status, done.output_text) == ("queued", "completed", "done")
        listed = list(client.containers.files.list(container.id, limit=100, order="asc"))
        contents = [
            client.containers.files.content.retrieve(file.id, container_id=container.id).content for file in listed
        ]
        assert (b"the answer" in contents, len(contents)) == (True, 2)
        client.containers.delete(container.id)
        theirs = shape(provider)
    assert ours == theirs


def test_a_file_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    with LoopbackProvider(hosted=Hosted(AGENT, fault=fault("/content", Raw(b"x" * 5000), method="GET"))) as provider:
        with pytest.raises(CallError) as error:
            using(
                provider,
                lambda service, deadline: service.content("/containers/c/content", deadline=deadline, most=4999),
            )
        assert error.value.kind is ErrorKind.OUTPUT_LIMIT
        got = using(
            provider, lambda service, deadline: service.content("/containers/c/content", deadline=deadline, most=5000)
        )
    assert got == b"x" * 5000


def test_what_must_not_be_done_twice_is_not_repeated() -> None:
    with LoopbackProvider(hosted=Hosted(AGENT, fault=fault("/containers", HttpError(500)))) as provider:
        for twice, count in ((True, QUICK.attempts), (False, 1)):
            before = len(provider.requests)
            with pytest.raises(CallError, match="HTTP 500"):
                using(
                    provider,
                    lambda service, deadline: service.call(
                        "POST",
                        "/containers",
                        json={},
                        deadline=deadline,
                        twice=twice,  # noqa: B023
                    ),
                )
            assert len(provider.requests) - before == count


def test_a_call_ends_at_its_deadline() -> None:
    async def act(service: Service, deadline: float) -> Any:
        return await service.call("POST", "/containers", json={}, deadline=deadline)

    hosted = Hosted(AGENT, fault=fault("/containers", Stall()))
    with LoopbackProvider(hosted=hosted) as provider, pytest.raises(CallError) as error:
        using(provider, act, 0.3)
    assert error.value.kind is ErrorKind.TIMEOUT


def test_half_a_character_costs_no_answer() -> None:
    body = b'{"id": "cut \\ud83d", "more": ["\\ude00", "\\ud83d\\ude00", "\\\\ud83d"]}'
    with LoopbackProvider(hosted=Hosted(AGENT, fault=fault("/containers", Raw(body)))) as provider:
        got = using(provider, lambda service, deadline: service.call("POST", "/containers", json={}, deadline=deadline))
    assert got == {"id": "cut \ufffd", "more": ["\ufffd", "\U0001f600", "\\ud83d"]}


def test_a_container_that_cannot_be_deleted_says_so() -> None:
    with LoopbackProvider(hosted=Hosted(AGENT)) as provider:
        told = using(provider, lambda service, _: delete_container(service, Container(id="cntr/../x")))
        assert provider.requests[0].target == "/v1/containers/cntr%2F..%2Fx"
    assert "could not be deleted: HTTP 404" in told
