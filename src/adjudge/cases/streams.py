"""The streams that agent programs print, as flat events and figures.

Every line is taken for itself: lines of several programs in one stream are all read, and what is no event is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

import msgspec

from adjudge.agents import claude_code, codex, gemini, opencode
from adjudge.agents.base import listing, mapping
from adjudge.cases.events import Event, of_subagent
from adjudge.cases.stream_figures import Figures
from adjudge.cases.stream_lines import cut_strings, moment, objects
from adjudge.domain import Metrics

_REDACTED = "[redacted thinking]"
_SIMILAR = 20
_CLAUDE_RESULT = ("subtype", "total_cost_usd", "modelUsage", "permission_denials")
_SILENT = frozenset(
    {
        *("error", "stream_event", "rate_limit_event", "progress", "summary", "attachment", "queue-operation"),
        *("file-history-snapshot", "tool_progress", "auth_status", "control_request", "control_response"),
    }
)
"""Events that are known and hold nothing that judges see."""


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    """What a stream tells.

    Attributes:
        events: In the flat form, oldest first.
        metrics: Without the exit code, which no stream tells.
        per_model_usage: Model -> tokens and `cost_usd`.
        per_model_turns: Model -> how many messages it wrote.
        denials: Refused tool calls, each once.
        models: In order of first use.
        skipped: Lines that were no event.
        recognised: Lines that were one, also where judges see nothing of it.
    """

    events: tuple[Event, ...] = ()
    metrics: Metrics = Metrics()
    per_model_usage: dict[str, dict[str, Any]] = {}
    per_model_turns: dict[str, int] = {}
    denials: tuple[Event, ...] = ()
    models: tuple[str, ...] = ()
    skipped: int = 0
    recognised: int = 0


def events_of(text: str, *, subagents: Mapping[str, str] = {}) -> Stream:
    """Read a stream of Claude Code, Codex, OpenCode, Gemini or of flat events, in any mixture.

    `subagents` maps the name of a transcript's file to its text. Its events are marked with `agent_id`, what the stream
    holds too is left out, and all are put in order of time, those without a time last. Nothing raises.
    """
    reader = _Reader()
    reader.read(text)
    for name in sorted(subagents):
        reader.read(subagents[name], agent=PurePosixPath(name).name.removesuffix(".jsonl"))
    return reader.stream(by_time=bool(subagents))


def with_subagents(events: Sequence[Event], subagents: Mapping[str, str]) -> tuple[Event, ...]:
    """Flat events together with the transcripts of subagents, which they do not hold yet."""
    reader = _Reader()
    for event in events:
        reader.known(event)
    for name in sorted(subagents):
        reader.read(subagents[name], agent=PurePosixPath(name).name.removesuffix(".jsonl"))
    return reader.stream(by_time=True).events


class _Message:
    """What is known of one message, which comes in several lines and maybe twice."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.texts: dict[str, None] = {}
        self.thoughts: set[str] = set()
        self.calls: set[str] = set()
        self.agent = ""

    def news(self, event: Event, *, again: bool) -> Event | None:
        """The part of an event that no earlier line told. Thinking that was missing is filled in where it was.

        `again` is for another source of the same message, which may cut it into other pieces.
        """
        text, thinking = event["text"], event.get("thinking", "")
        calls = [call for call in event["tools"] if not _is_in(call["id"], self.calls)]
        if text in self.texts or (again and any(text in earlier for earlier in self._similar())):
            text = ""
        repeats = again or bool((event["text"] or event["tools"]) and not (text or calls))
        if thinking in self.thoughts or (thinking == _REDACTED and self.thoughts):
            thinking = ""
        elif thinking and repeats and self.events and not self.thoughts - {_REDACTED}:
            first = next((e for e in self.events if e.get("thinking") == _REDACTED), self.events[0])
            first["thinking"] = thinking
            self.thoughts = {thinking}
            thinking = ""
        if self.events and not (text or thinking or calls):
            return None
        new = {**event, "text": text, "tools": calls}
        new.pop("thinking", None)
        if thinking:
            new["thinking"] = thinking
            self.thoughts.add(thinking)
        self.events.append(new)
        self.texts[text] = None
        self.calls.update(call["id"] for call in calls if isinstance(call["id"], str))
        return new

    def _similar(self) -> list[str]:
        """Texts that may hold this one too; a few, to stay quick."""
        return list(islice(self.texts, _SIMILAR)) if len(self.events) < 10 * _SIMILAR else []


class _Reader:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.figures = Figures()
        self.skipped = 0
        self.recognised = 0
        self._messages: dict[str, _Message] = {}
        self._names: dict[str, str] = {}
        self._results: set[str] = set()
        self._pieces: list[Event] = []
        self._agent = ""
        self._long = False

    def read(self, text: str, *, agent: str = "") -> None:
        self._agent = agent
        for event, self._long in objects(text):
            form = _form(event) if event is not None else ""
            if form != "gemini":
                self._flush()
            if event is None or not form:
                self.skipped += 1
                continue
            self.recognised += 1
            if form != "silent":
                getattr(self, f"_{form}")(event)
        self._flush()

    def known(self, event: Event) -> None:
        """An event that is flat already and stays as it is."""
        key = event.get("_msg_id")
        if event.get("type") == "assistant" and isinstance(key, str):
            message = self._messages.setdefault(key, _Message())
            message.events.append(event)
            message.texts[str(event.get("text") or "")] = None
            message.thoughts |= {str(event["thinking"])} if event.get("thinking") else set()
            calls = [call.get("id") for call in listing(event.get("tools")) if isinstance(call, dict)]
            message.calls |= {call for call in calls if isinstance(call, str)}
        self._add(event)

    def stream(self, *, by_time: bool) -> Stream:
        figures = self.figures
        if figures.said and not any(event.get("text") and not of_subagent(event) for event in self.events):
            self._add({"type": "assistant", "text": figures.said, "tools": [], "timestamp": None})
        self.events += figures.closing()
        if by_time:
            self.events.sort(key=moment)
        return Stream(
            events=tuple(self.events),
            metrics=figures.metrics(),
            per_model_usage=figures.by_model(),
            per_model_turns=figures.turns_by_model(),
            denials=tuple(figures.denials.values()),
            models=tuple(figures.models),
            skipped=self.skipped,
            recognised=self.recognised,
        )

    def _add(self, event: Event) -> None:
        """Keep an event, with long strings cut and the name of the tool whose result it is."""
        if self._agent:
            event["agent_id"] = self._agent
        for call in listing(event.get("tools")):
            if isinstance(call, dict) and isinstance(call.get("id"), str):
                self._names[call["id"]] = str(call.get("name") or "")
        if event.get("type") == "tool_result":
            key = event.get("tool_use_id")
            if isinstance(key, str):
                self._results.add(key)
                if not event.get("tool_name") and key in self._names:
                    event["tool_name"] = self._names[key]
        cut_strings(event, deep=self._long)
        self.events.append(event)

    def _flat(self, event: Event) -> None:
        kind = event["type"]
        if kind == "user":
            return
        if kind == "assistant":
            self.figures.flat_message(event.get("_msg_id"))
        elif kind == "result" and not self._agent:
            self.figures.flat_results.append(event)
        self._add(dict(event))

    def _claude(self, event: Event) -> None:
        kind, time = event["type"], event.get("timestamp")
        if kind == "system":
            init = {"model": event.get("model")} if event["subtype"] == "init" else {}
            self._add({"type": "system", "subtype": event["subtype"], "timestamp": time, **init})
        elif kind == "result":
            if not self._agent:  # a transcript's own sums are in those of the whole
                self.figures.claude_result(event)
                cost, turns = event.get("total_cost_usd"), event.get("num_turns")
                self._add({"type": "result", "cost_usd": cost, "num_turns": turns, "timestamp": None})
        elif kind == "user":
            for flat in claude_code.flattened(event):
                if not self._agent or not _is_in(flat["tool_use_id"], self._results):
                    self._result(flat, time)
        else:
            self._claude_message(event, time)

    def _claude_message(self, event: Event, time: Any) -> None:
        self.figures.claude_message(event["message"])
        key = event["message"].get("id")
        flat = _whole(claude_code.flattened(event)[0], time)
        if not isinstance(key, str):
            self._add(flat)
            return
        flat["_msg_id"] = key
        message = self._messages.setdefault(key, _Message())
        new = message.news(flat, again=bool(self._agent))
        if new is not None:
            self._add(new)
        if self._agent and not message.agent:
            message.agent = self._agent
            for earlier in message.events:
                if earlier.get("parent_tool_use_id"):
                    earlier.setdefault("agent_id", self._agent)

    def _codex(self, event: Event) -> None:
        if event["type"] == "turn.completed":
            self.figures.codex_turns.append(mapping(event.get("usage")))
        self.figures.codex = True
        item = mapping(event.get("item"))
        if event["type"] != "item.completed" or not isinstance(item.get("type"), str):
            return
        flats = codex.flattened(item)
        self._parts(flats, event.get("timestamp"))
        if item.get("status") == "declined":
            self._refused(flats)

    def _opencode(self, event: Event) -> None:
        part = event["part"]
        if event["type"] == "step_finish":
            self.figures.opencode_steps.append(part)
        flats = opencode.flattened(event["type"], part)
        self._parts(flats, event.get("timestamp"))
        if str(mapping(part.get("state")).get("error") or "").startswith(opencode.REFUSED):
            self._refused(flats)

    def _gemini(self, event: Event) -> None:
        if event["type"] == "init":
            self.figures.model(event.get("model"))
            model = event.get("model")
            self._add({"type": "system", "subtype": "init", "timestamp": event.get("timestamp"), "model": model})
        elif event["type"] == "result":
            self._flush()
            self.figures.gemini_stats.append(mapping(event.get("stats")))
            self._add({"type": "result", "cost_usd": None, "num_turns": None, "timestamp": None})
        else:
            self._pieces.append(event)

    def _flush(self) -> None:
        """The messages of Gemini come in pieces, which are put together once something else follows."""
        if not self._pieces:
            return
        pieces, self._pieces = self._pieces, []
        now_long, self._long = self._long, True
        for event in gemini.joined(pieces):
            flats = gemini.flattened(event)
            self.figures.gemini_turns += sum(flat["type"] == "assistant" for flat in flats)
            self._parts(flats, event.get("timestamp"))
            key = event.get("tool_id")
            if mapping(event.get("error")).get("type") in gemini.REFUSED and isinstance(key, str):
                self.figures.denials.setdefault(key, {"tool_name": self._names.get(key, "?"), "tool_use_id": key})
        self._long = now_long

    def _parts(self, flats: list[Event], time: Any) -> None:
        for flat in flats:
            if flat["type"] == "tool_result":
                self._result(flat, time)
            else:
                self._add(_whole(flat, time))

    def _result(self, flat: Event, time: Any) -> None:
        key = flat["tool_use_id"]
        name = self._names.get(key, "") if isinstance(key, str) else ""
        start = {"type": "tool_result", "tool_use_id": key, "tool_name": name}
        self._add({**start, **flat, "timestamp": time})

    def _refused(self, flats: list[Event]) -> None:
        for flat in flats:
            for call in flat.get("tools", ()):
                denial = {"tool_name": call["name"], "tool_use_id": call["id"], "tool_input": call["input"]}
                self.figures.denials.setdefault(str(call["id"]), denial)


def _whole(flat: Event, time: Any) -> Event:
    """An assistant's event with every key that such an event has."""
    calls = [{"name": call["name"], "id": call["id"], "input": call["input"]} for call in flat.get("tools", ())]
    rest = {key: value for key, value in flat.items() if key not in ("type", "text", "tools")}
    return {"type": "assistant", "text": flat["text"], "tools": calls, "timestamp": time, **rest}


def _is_in(key: Any, known: set[str]) -> bool:
    return isinstance(key, str) and key in known


def _form(event: Event) -> str:
    """Whose event this is; empty when it is nobody's."""
    kind = event.get("type")
    if not isinstance(kind, str):
        return ""
    if isinstance(event.get("part"), dict):
        return "opencode"
    if kind.startswith(("thread.", "turn.", "item.")):
        return "codex"
    if kind in ("assistant", "user"):
        if "message" in event:
            return "claude" if isinstance(event["message"], dict) else ""
        return "flat" if "text" in event or "tools" in event or "content" in event else ""
    if kind == "result":
        if any(key in event for key in _CLAUDE_RESULT):
            return "claude"
        return "gemini" if "status" in event and ("stats" in event or "error" in event) else "flat"
    if kind == "tool_result":
        return "gemini" if "tool_id" in event else "flat"
    if kind == "system":
        return "claude" if isinstance(event.get("subtype"), str) else ""
    if (kind == "message" and "role" in event) or (kind == "tool_use" and "tool_id" in event):
        return "gemini"
    if kind == "init" and "model" in event:
        return "gemini"
    return "silent" if kind in _SILENT else ""
