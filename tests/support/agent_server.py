"""A loopback HTTP server that plays, from a script, the model behind a real agent CLI.

It speaks Anthropic Messages (the claude CLI) and OpenAI Responses (the codex CLI), streamed or whole.
"""

from __future__ import annotations

import contextlib
import json
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

__all__ = ["AgentRequest", "AgentServer", "Say", "Step", "Use", "shell_call"]

Json = dict[str, Any]
Wire = Literal["anthropic", "responses"]

ROUTES: dict[str, Wire] = {"/v1/messages": "anthropic", "/v1/responses": "responses"}
COUNT_PATH = "/v1/messages/count_tokens"
INPUT_TOKENS = 100
OUTPUT_TOKENS = 10
CREATED = 1_700_000_000
SHELLS = ("exec_command", "shell_command", "shell", "local_shell", "container.exec", "Bash")


@dataclass(frozen=True)
class Say:
    """The model ends its turn with a text."""

    text: str


@dataclass(frozen=True)
class Use:
    """The model calls one tool."""

    name: str
    input: Mapping[str, Any]


Step = Say | Use


@dataclass(frozen=True)
class AgentRequest:
    """One POST to a model endpoint as it arrived; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Json

    @property
    def wire(self) -> Wire:
        return ROUTES[self.path]

    @cached_property
    def tools(self) -> dict[str, Json]:
        """Each tool offered, by name, in the caller's order."""
        return {str(tool.get("name") or tool.get("type")): tool for tool in _dicts(self.body.get("tools"))}

    @property
    def main(self) -> bool:
        """Whether the agent itself asks (or a subagent of it), and not the CLI on the side.

        claude's side calls force a tool (WebSearch), ask for a format (prompt hooks), or have neither tools nor more
        than the CLI's two fixed lines as `system` (WebFetch). The agent with `--tools ''` has instructions there.
        """
        forced = _member(self.body, "tool_choice", "type") in ("tool", "function")
        formatted = _member(self.body, "output_config", "format") is not None
        return not forced and not formatted and (bool(self.tools) or len(_dicts(self.body.get("system"))) > 2)

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def system(self) -> str:
        if self.wire == "anthropic":
            return "\n".join(_texts(self.body.get("system")))
        said = [text for role, content in self._turns if role in ("system", "developer") for text in _texts(content)]
        return "\n".join([*_texts(self.body.get("instructions")), *said])

    @property
    def prompt(self) -> str:
        """All the texts of the user's turns, what the CLI adds to them included."""
        return "\n".join(text for role, content in self._turns if role == "user" for text in _texts(content))

    @property
    def tool_results(self) -> list[str]:
        """The texts of the tool results that came since the model last spoke."""
        if self.wire == "anthropic":
            turns = [content for role, content in self._turns if role == "user"]
            parts = [part for part in _dicts(turns[-1] if turns else None) if part.get("type") == "tool_result"]
            return ["\n".join(_texts(part.get("content"))) for part in parts]
        results: list[str] = []
        for item in reversed(_dicts(self.body.get("input"))):
            if str(item.get("type")).endswith("_output"):
                results.insert(0, "\n".join(_texts(item.get("output"))))
            elif item.get("role") not in ("user", "developer", "system"):
                break
        return results

    @property
    def _turns(self) -> list[tuple[str, Any]]:
        if self.wire == "responses" and isinstance(self.body.get("input"), str):
            return [("user", self.body["input"])]
        turns = _dicts(self.body.get("messages" if self.wire == "anthropic" else "input"))
        return [(str(turn["role"]), turn.get("content")) for turn in turns if "role" in turn]


def _dicts(value: object) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _member(body: Json, *names: str) -> object:
    value: object = body
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in _dicts(content) if isinstance(part.get("text"), str)]


def shell_call(request: AgentRequest, command: str) -> Use:
    """A call that runs `command`, with whatever tool for it the CLI offers."""
    for name in SHELLS:
        tool = request.tools.get(name, {})
        known = (tool.get("parameters") or tool.get("input_schema") or {}).get("properties", {})
        for key in ("cmd", "command"):
            if key in known:
                return Use(name, {key: ["bash", "-lc", command] if known[key].get("type") == "array" else command})
    raise LookupError(f"no tool that runs commands among {', '.join(request.tools) or 'none'}")


def _anthropic_message(step: Step, request: AgentRequest, number: int) -> Json:
    if isinstance(step, Say):
        content: Json = {"type": "text", "text": step.text}
    else:
        content = {"type": "tool_use", "id": f"toolu_{number:04d}", "name": step.name, "input": dict(step.input)}
    return {
        "id": f"msg_{number:04d}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [content],
        "stop_reason": "end_turn" if isinstance(step, Say) else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS},
    }


def _anthropic_events(message: Json) -> list[Json]:
    (content,) = message["content"]
    if content["type"] == "text":
        start, delta = {**content, "text": ""}, {"type": "text_delta", "text": content["text"]}
    else:
        start = {**content, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(content["input"])}
    # As from the real API, the start counts no output yet: the CLI's `assistant` events show that, its `result` all.
    opening = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    closing = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    return [
        {"type": "message_start", "message": opening},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": closing, "usage": {"output_tokens": OUTPUT_TOKENS}},
        {"type": "message_stop"},
    ]


def _response(step: Step, request: AgentRequest, number: int) -> Json:
    if isinstance(step, Say):
        part = {"type": "output_text", "text": step.text, "annotations": []}
        item: Json = {"type": "message", "id": f"msg_{number:04d}", "role": "assistant", "content": [part]}
    else:
        item = {"type": "function_call", "id": f"fc_{number:04d}", "call_id": f"call_{number:04d}", "name": step.name}
        if request.tools.get(step.name, {}).get("type") == "custom":
            item |= {"type": "custom_tool_call", "input": str(step.input.get("input", ""))}
        else:
            item["arguments"] = json.dumps(dict(step.input))
    usage: Json = {"input_tokens": INPUT_TOKENS, "input_tokens_details": {"cached_tokens": 0}}
    usage |= {"output_tokens": OUTPUT_TOKENS, "output_tokens_details": {"reasoning_tokens": 0}}
    usage |= {"total_tokens": INPUT_TOKENS + OUTPUT_TOKENS}
    whole = {"id": f"resp_{number:04d}", "object": "response", "created_at": CREATED, "status": "completed"}
    return {**whole, "model": request.model, "output": [{**item, "status": "completed"}], "usage": usage}


def _response_events(whole: Json) -> list[Json]:
    (item,) = whole["output"]
    opening = {**whole, "status": "in_progress", "output": [], "usage": None}
    begun = {**item, "status": "in_progress"} | ({"content": []} if item["type"] == "message" else {})
    return [
        {"type": "response.created", "sequence_number": 0, "response": opening},
        {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": begun},
        {"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": item},
        {"type": "response.completed", "sequence_number": 3, "response": whole},
    ]


def _sse(events: list[Json]) -> bytes:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


class AgentServer:
    """Listens for as long as the `with` block lasts.

    Each `main` request takes the next step of the script; once those are used up the last step is said again if it
    is a `Say`, else "done". Side requests are answered without a step. A script that raises is answered with status
    400 and fails the block.
    """

    def __init__(self, script: Sequence[Step] | Callable[[AgentRequest], Step]) -> None:
        self.requests: list[AgentRequest] = []
        self.hits: list[str] = []
        self.failure: Exception | None = None
        self._script = script
        self._steps = 0
        self._lock = threading.Lock()
        server = self

        class Handler(_Handler):
            owner = server

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), name="agent-server", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(timeout=10)
        if error is None and self.failure is not None:
            raise AssertionError("the script of the agent server failed") from self.failure

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def main_requests(self) -> list[AgentRequest]:
        return [request for request in self.requests if request.main]

    def answer(self, request: AgentRequest) -> tuple[Step, int]:
        """The step to play, and the number of the call."""
        with self._lock:
            self.requests.append(request)
            step = self._next(request) if request.main else Say("ok")
            return step, len(self.requests)

    def _next(self, request: AgentRequest) -> Step:
        if callable(self._script):
            return self._script(request)
        place, self._steps = self._steps, self._steps + 1
        if place < len(self._script):
            return self._script[place]
        last = self._script[-1] if self._script else None
        return last if isinstance(last, Say) else Say("done")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    owner: AgentServer

    def log_message(self, format: str, *args: object) -> None:
        pass

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # a CLI that was stopped half-way
            super().handle()

    def parse_request(self) -> bool:
        whole = super().parse_request()
        if whole:
            self.path = self.path.partition("?")[0]
            self.owner.hits.append(self.path)
        return whole

    def do_GET(self) -> None:
        self._refuse(404, f"no such path: {self.path}")

    def do_POST(self) -> None:
        path = self.path
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if path == COUNT_PATH:
            self._send(200, {"input_tokens": INPUT_TOKENS})
        elif path not in ROUTES:
            self._refuse(404, f"no such path: {path}; this server plays {', '.join(ROUTES)}")
        elif not isinstance(body, dict):
            self._refuse(400, "the request body is not a JSON object")
        else:
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._play(AgentRequest(path, headers, body))

    def _play(self, request: AgentRequest) -> None:
        try:
            step, number = self.owner.answer(request)
            if request.wire == "anthropic":
                whole = _anthropic_message(step, request, number)
                events = _anthropic_events(whole)
            else:
                whole = _response(step, request, number)
                events = _response_events(whole)
            stream = _sse(events)
        except Exception as error:
            traceback.print_exception(error)
            self.owner.failure = self.owner.failure or error
            self._refuse(400, f"the script failed: {error!r}")
            return
        if request.body.get("stream") is True:
            self._head(200, "text/event-stream", len(stream))
            self.wfile.write(stream)
        else:
            self._send(200, whole)

    def _refuse(self, status: int, message: str) -> None:
        self._send(status, {"type": "error", "error": {"type": "invalid_request_error", "message": message}})

    def _send(self, status: int, body: Json) -> None:
        data = json.dumps(body).encode()
        self._head(status, "application/json", len(data))
        self.wfile.write(data)

    def _head(self, status: int, kind: str, length: int) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(length))
        self.end_headers()
