"""What passes between the engine and its worker processes: length-prefixed msgpack frames."""

from __future__ import annotations

import struct
from typing import Any

import msgspec

from adjudge.cases import CaseFolder
from adjudge.domain import Case, Discovered, Failure, Judge
from adjudge.judges import Asking, Outcome

MAX_FRAME = 256 * 1024 * 1024

_HEAD = struct.Struct(">I")


class Setup(msgspec.Struct, tag="setup"):
    """The first frame: every judge of the run, in order, and where code is imported from."""

    judges: tuple[Judge, ...]
    code_paths: tuple[str, ...]


class Discover(msgspec.Struct, tag="discover"):
    """Before the setup, as often as wanted: import the criteria files of these tests folders and tell of them."""

    roots: tuple[str, ...]


class Job(msgspec.Struct, tag="job"):
    """One case: which judges to run on it, and the keys of verdicts that the journal holds already."""

    case: Case | CaseFolder
    judges: tuple[int, ...]
    known: dict[int, str] = {}
    baseline: CaseFolder | None = None
    """What the baseline run made of the case."""


class Loaded(msgspec.Struct, tag="loaded"):
    """The case is read (or is not, and then nothing else follows)."""

    failure: Failure | None = None
    notes: tuple[str, ...] = ()


class Item(msgspec.Struct, tag="item", omit_defaults=True):
    """What became of one judge: exactly one of the fields after `key` is set."""

    judge: int
    key: str = ""
    outcome: Outcome | None = None
    reused: bool = False
    skipped: bool = False
    asking: Asking | None = None


Message = Loaded | Item | Discovered

encoder = msgspec.msgpack.Encoder()
setup_decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(Setup | Discover)
job_decoder = msgspec.msgpack.Decoder(Job)
message_decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(Message)


def frame(message: Any) -> bytes:
    """A message with its length before it."""
    body = encoder.encode(message)
    if len(body) > MAX_FRAME:
        raise ValueError(f"a case of {len(body)} bytes is too large to be judged")
    return _HEAD.pack(len(body)) + body


class FrameReader:
    """Cuts a byte stream into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The frames that are complete once `data` has come.

        Raises:
            ValueError: a frame announces more than MAX_FRAME bytes.
        """
        self._buffer += data
        frames = []
        start = 0
        while len(self._buffer) - start >= _HEAD.size:
            (size,) = _HEAD.unpack_from(self._buffer, start)
            if size > MAX_FRAME:
                raise ValueError(f"a frame of {size} bytes")
            end = start + _HEAD.size + size
            if len(self._buffer) < end:
                break
            frames.append(bytes(self._buffer[start + _HEAD.size : end]))
            start = end
        del self._buffer[:start]
        return frames
