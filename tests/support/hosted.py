"""The part of OpenAI's interface that runs a model with a shell in a container: containers, their files, responses.

A `LoopbackProvider(hosted=Hosted(agent))` serves it below `/v1`. The agent is a function that is given the files of the
container and the request, changes the files, and says what the response holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote

from tests.support.replies import HttpError, Payload, Raw, Reply
from tests.support.request import Request

Json = dict[str, Any]
PREFIXES = ("/v1/containers", "/v1/responses")
USAGE: Json = {
    "input_tokens": 1000,
    "input_tokens_details": {"cached_tokens": 200, "cache_write_tokens": 0},
    "output_tokens": 50,
    "output_tokens_details": {"reasoning_tokens": 10},
    "total_tokens": 1050,
}


@dataclass
class Work:
    """What the agent has before it: path in the container -> content, and the body of the request."""

    files: dict[str, bytes]
    body: Json

    @property
    def prompt(self) -> str:
        return str(next(turn["content"] for turn in self.body["input"] if turn["role"] == "user"))

    @property
    def instructions(self) -> str:
        return str(next((turn["content"] for turn in self.body["input"] if turn["role"] == "developer"), ""))


Agent = Callable[[Work], Json]
Fault = Callable[[Request], Reply | None]


def message(text: str) -> Json:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}


def shell(command: str, stdout: str = "", *, exit_code: int = 0, stderr: str = "", call: str = "call_1") -> list[Json]:
    """A call of the shell and what it gave back."""
    action = {"commands": [command], "timeout_ms": None, "max_output_length": None}
    outcome = {"type": "exit", "exit_code": exit_code}
    output = [{"stdout": stdout, "stderr": stderr, "outcome": outcome}]
    return [
        {"type": "shell_call", "id": "sc_1", "call_id": call, "action": action, "status": "completed"},
        {"type": "shell_call_output", "id": "so_1", "call_id": call, "output": output, "status": "completed"},
    ]


def writes(name: str, text: str, *, said: str = "done") -> Agent:
    """An agent that writes one file below its working folder."""

    def agent(work: Work) -> Json:
        work.files[f"/workspace/{name}"] = text.encode()
        return {"output": [*shell(f"echo > {name}"), message(said)]}

    return agent


@dataclass
class Box:
    """A container: its files by id, each (path, content, who made it), and how it was asked for."""

    body: Json
    files: dict[str, tuple[str, bytes, str]] = field(default_factory=dict)


@dataclass
class Pending:
    body: Json
    looks: int


class Hosted:
    """`fault` may answer a request in place of the provider. In the background a response is done after `looks`
    questions for it, or never with `None`. Without `background` such a request is refused. With `moved` files are put
    where OpenAI puts them, below another folder and under other names. `page` is the most files that one list shows.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        fault: Fault | None = None,
        background: bool = True,
        looks: int | None = 1,
        moved: bool = False,
        page: int = 100,
        key: str = "dummy-key",
    ) -> None:
        self.agent = agent
        self.fault = fault
        self.background = background
        self.looks = looks
        self.moved = moved
        self.page = page
        self.key = key
        self.boxes: dict[str, Box] = {}
        self.made: list[Box] = []
        self.deleted: list[str] = []
        self.cancelled: list[str] = []
        self.ran: list[Json] = []
        self.most_at_once = 0
        self.looked = 0
        self._responses: dict[str, Json] = {}
        self._pending: dict[str, Pending] = {}
        self._count = 0

    def finish(self) -> None:
        """Let everything that is under way come to its end."""
        self.looks = 1
        for pending in self._pending.values():
            pending.looks = 0

    def forget(self) -> None:
        """Know nothing of any response."""
        self._responses.clear()
        self._pending.clear()

    def reply(self, request: Request) -> Reply:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if given != self.key:
            return HttpError(401, message=f"Incorrect API key provided: {given}")
        fault = self.fault(request) if self.fault is not None else None
        if fault is not None:
            return fault
        path, _, query = request.target.partition("?")
        parts = [unquote(part) for part in path.removeprefix("/v1/").split("/")]
        return self._containers(request, parts[1:], query) if parts[0] == "containers" else self._answer(request, parts)

    def _next(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count:04d}"

    def _containers(self, request: Request, parts: list[str], query: str) -> Reply:
        if not parts:
            name = self._next("cntr")
            self.boxes[name] = Box(request.body)
            self.made.append(self.boxes[name])
            self.most_at_once = max(self.most_at_once, len(self.boxes))
            return Payload({"id": name, "object": "container", "status": "running"})
        box = self.boxes.get(parts[0])
        if box is None:
            return HttpError(404, message=f"Container {parts[0]} not found", kind="invalid_request_error")
        if len(parts) == 1 and request.method == "DELETE":
            del self.boxes[parts[0]]
            self.deleted.append(parts[0])
            return Payload({"id": parts[0], "object": "container.deleted", "deleted": True})
        if len(parts) == 1:
            return Payload({"id": parts[0], "object": "container", "status": "running"})
        if len(parts) == 2 and request.method == "POST":
            name, data = _uploaded(request)
            path = f"/mnt/data/{self._count:08x}-{name.rpartition('/')[2]}" if self.moved else name
            made = self._next("cfile")
            box.files[made] = (path, data, "user")
            return Payload(_entry(made, box.files[made]))
        if len(parts) == 2:
            asked = parse_qs(query)
            names = list(box.files)
            after = asked.get("after", [""])[0]
            start = names.index(after) + 1 if after else 0
            shown = names[start : start + min(self.page, int(asked["limit"][0]))]
            listed = [_entry(one, box.files[one]) for one in shown]
            return Payload({"object": "list", "data": listed, "has_more": start + len(shown) < len(names)})
        return Raw(box.files[parts[2]][1])

    def _answer(self, request: Request, parts: list[str]) -> Reply:
        if len(parts) == 1:
            return self._asked(request.body)
        name = parts[1]
        self.looked += 1
        if parts[2:] == ["cancel"]:
            self.cancelled.append(name)
            self._responses[name] = {**self._responses[name], "status": "cancelled", "output": [], "usage": USAGE}
            self._pending.pop(name, None)
        pending = self._pending.get(name)
        if pending is not None and self.looks is not None:
            pending.looks -= 1
            if pending.looks <= 0:
                self._responses[name] |= self._run(self._pending.pop(name).body)
        if name not in self._responses:
            return HttpError(404, message=f"Response {name} not found")
        return Payload(self._responses[name])

    def _asked(self, body: Json) -> Reply:
        background = body.get("background") is True
        if background and not self.background:
            return HttpError(400, message="Unsupported parameter: 'background' is not supported with this model.")
        name = self._next("resp")
        whole: Json = {"id": name, "object": "response", "model": f"{body['model']}-2026", "error": None}
        if background:
            self._pending[name] = Pending(body, self.looks or 0)
            self._responses[name] = {**whole, "status": "queued", "output": [], "usage": None}
        else:
            self._responses[name] = {**whole, **self._run(body)}
        return Payload(self._responses[name])

    def _run(self, body: Json) -> Json:
        self.ran.append(body)
        box = self.boxes[body["tools"][0]["environment"]["container_id"]]
        work = Work({path: data for path, data, _ in box.files.values()}, body)
        told = {"status": "completed", "output": [], "usage": USAGE, **self.agent(work)}
        known = {path: one for one, (path, _, _) in box.files.items()}
        for path, data in work.files.items():
            if path in known:
                box.files[known[path]] = (path, data, box.files[known[path]][2])
            else:
                box.files[self._next("cfile")] = (path, data, "assistant")
        return told


def _entry(name: str, file: tuple[str, bytes, str]) -> Json:
    path, data, source = file
    return {"id": name, "object": "container.file", "path": path, "bytes": len(data), "source": source}


def _uploaded(request: Request) -> tuple[str, bytes]:
    """(name, content) of the one file in a form."""
    start = request.raw.index(b"\r\n\r\n") + 4
    head = request.raw[:start].decode()
    assert 'form-data; name="file"; filename="' in head, head
    name = head.partition('filename="')[2].partition('"')[0]
    return unquote(name), request.raw[start : request.raw.rindex(b"\r\n--")]


def body_of(raw: bytes) -> Json:
    """The JSON object of a request, or nothing."""
    try:
        loaded = json.loads(raw)
    except ValueError:
        return {}
    return loaded if isinstance(loaded, dict) else {}
