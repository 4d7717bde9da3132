"""Trajectories in the Agent Trajectory Interchange Format (ATIF), as text that fits: every step kept."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from adjudge.prompts.budget import in_proportion

MAX_BYTES = 64 * 1024 * 1024


class TrajectoryError(ValueError):
    """The file is no trajectory."""


class Trajectory(msgspec.Struct, frozen=True):
    """A trajectory as alternating fixed text and contents, so that only contents are cut.

    `images` are paths in the folder `home`; those that lead out of it are `refused`.
    """

    pieces: tuple[tuple[bool, str], ...]
    steps: int
    images: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    home: str = ""

    @property
    def length(self) -> int:
        return sum(len(text) for _, text in self.pieces)

    @property
    def _fixed(self) -> int:
        return sum(len(text) for content, text in self.pieces if not content)

    def keeps_steps(self, room: int) -> bool:
        """True if `room` characters hold every step, at least its heading."""
        return self._fixed <= room

    def text(self, room: int) -> str:
        """The trajectory in at most `room` characters, contents cut in proportion to their length."""
        if not self.keeps_steps(room):
            return _outline(self.steps, room)
        contents = in_proportion([text for content, text in self.pieces if content], room - self._fixed)
        cut = iter(contents)
        return "".join(next(cut) if content else text for content, text in self.pieces)


def read_trajectory(path: str) -> Trajectory:
    """Read an ATIF file: a JSON object with a list of steps.

    Raises:
        TrajectoryError: it is not there, not readable, or of another form.
    """
    try:
        if os.stat(path).st_size > MAX_BYTES:  # noqa: PTH116
            raise TrajectoryError(f"the trajectory {path} is larger than {MAX_BYTES} bytes")
        data = _decoded(Path(path).read_bytes())
    except TrajectoryError:
        raise
    except OSError as error:
        raise TrajectoryError(f"the trajectory {path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise TrajectoryError(f"the trajectory {path} is not valid JSON: {error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("steps"), list):
        raise TrajectoryError(f"the trajectory {path} is no object with a list of steps")
    return _trajectory(data, path)


def _decoded(raw: bytes) -> Any:
    """JSON as agents write it: half a character, which msgspec takes for no JSON, becomes a question mark."""
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError:
        whole = json.dumps(json.loads(raw, parse_constant=_refused), ensure_ascii=False)
        return json.loads(whole.encode("utf-8", "replace"))


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _trajectory(data: dict[str, Any], path: str) -> Trajectory:
    steps = data["steps"]
    agent = data.get("agent")
    name = str(agent.get("name") or "") if isinstance(agent, dict) else ""
    if not steps:
        return Trajectory(((False, "[trajectory empty]"),), 0)
    images: list[str] = []
    pieces: list[tuple[bool, str]] = [(False, f"{len(steps)} steps" + (f" by {_line(name)}" if name else ""))]
    for number, step in enumerate(steps, 1):
        fields = step if isinstance(step, dict) else {"message": step}
        label = _line(str(fields.get("step_id", number)))
        pieces.append((False, f"\n\n## Step {label} ({_line(str(fields.get('source', 'unknown')))})\n"))
        for mark, content in _contents(fields, images):
            pieces += [(False, mark), (True, content), (False, "\n")]
    home = os.path.realpath(os.path.dirname(path))  # noqa: PTH120
    inside: list[str] = []
    refused: list[str] = []
    for image in dict.fromkeys(images):
        real = "" if "\0" in image else os.path.realpath(os.path.join(home, image))  # noqa: PTH118
        if real.startswith(home.rstrip(os.sep) + os.sep):
            inside.append(os.path.relpath(real, home))
        else:
            refused.append(image)
    return Trajectory(tuple(pieces), len(steps), tuple(inside), tuple(refused), home)


def _contents(step: dict[str, Any], images: list[str]) -> Iterator[tuple[str, str]]:
    """(mark, content) of everything a step holds."""
    reasoning = _text(step.get("reasoning_content"), images)
    if reasoning:
        yield "[reasoning] ", reasoning
    message = _text(step.get("message"), images)
    if message:
        yield "", message
    for call in step.get("tool_calls") or () if isinstance(step.get("tool_calls"), list) else ():
        if isinstance(call, dict):
            name = _line(str(call.get("function_name") or call.get("name") or "?"))
            yield f"[tool call] {name} ", _json(call.get("arguments", {}))
    observation = step.get("observation")
    results = observation.get("results") if isinstance(observation, dict) else None
    for result in results if isinstance(results, list) else ():
        content = result.get("content") if isinstance(result, dict) else result
        yield "[result] ", _text(content, images) or "(nothing)"


def _text(content: Any, images: list[str]) -> str:
    """Text of a message: a string, or a list of parts; media are marked, and images remembered by their path."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else _json(content)
    parts = []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text":
            parts.append(str(part.get("text", "")))
        elif kind in ("image", "audio"):
            source = part.get("source")
            path = source.get("path") if isinstance(source, dict) else None
            parts.append(f"[{kind}: {_line(str(path or 'embedded'))}]")
            if kind == "image" and isinstance(path, str) and "://" not in path:
                images.append(path)
        else:
            parts.append(part if isinstance(part, str) else _json(part))
    return " ".join(parts)


def _outline(steps: int, room: int) -> str:
    """What is left to say of a trajectory whose very headings do not fit."""
    text = f"[{steps} steps, none shown: there is no room for them]"
    return text if len(text) <= room else ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _line(text: str) -> str:
    return " ".join(text.split())[:120]
