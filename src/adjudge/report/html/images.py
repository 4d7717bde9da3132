"""Images among the outputs of cases, small enough to be carried by the page."""

from __future__ import annotations

import base64
import hashlib
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from adjudge.domain import BinaryFile, Case
from adjudge.report.html.kinds import kind_of

BUDGET = 300_000
"""Bytes for all images in the finished page; what they take is taken from the details of the cases."""
MAX_BYTES = 150_000
MAX_PIXELS = 25_000_000
"""Of one image: a few bytes can name a picture that takes gigabytes to draw."""


class Image(msgspec.Struct, frozen=True):
    """What is known of an image's first bytes."""

    mime: str
    width: int
    height: int


class Images:
    """The images that the page carries, each once: base64 by its place in `data`."""

    def __init__(self, cases: Sequence[Case], types: Mapping[str, str]) -> None:
        self.data: list[str] = []
        self.size = 0
        self._places: dict[str, tuple[int, Image] | None] = {}
        shown = [list(_files(case, types)) for case in cases]
        for rank in range(max(map(len, shown), default=0)):  # the first of every case, before the second of any
            for files in shown:
                if rank < len(files):
                    self._take(*files[rank])

    def of(self, path: str) -> list[Any] | None:
        """`[place, MIME type, width, height]` of the image that lies at `path`, if it is carried."""
        found = self._places.get(path)
        return None if found is None else [found[0], found[1].mime, found[1].width, found[1].height]

    def _take(self, folder: str, file: BinaryFile) -> None:
        if file.path in self._places or file.size > MAX_BYTES or self.size + _carried(file.size) > BUDGET:
            return
        data = read_image(folder, file)
        known = None if data is None else sniff(data)
        if data is None or known is None:
            self._places[file.path] = None
            return
        text = base64.b64encode(data).decode()
        if text in self.data:
            self._places[file.path] = (self.data.index(text), known)
            return
        self._places[file.path] = (len(self.data), known)
        self.data.append(text)
        self.size += len(text)


def _carried(size: int) -> int:
    return 4 * ((size + 2) // 3)


def _files(case: Case, types: Mapping[str, str]) -> Iterator[tuple[str, BinaryFile]]:
    for name, file in case.outputs.items():
        if case.directory and isinstance(file, BinaryFile) and kind_of(name, types) == "image":
            yield case.directory, file


def read_image(folder: str, file: BinaryFile) -> bytes | None:
    """The bytes of an output, if it still lies below the case's folder, by no link, and is what was judged."""
    try:
        inside, path = os.path.realpath(folder), os.path.realpath(file.path)
        if not path.startswith(inside.rstrip("/") + "/"):
            return None
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except (OSError, ValueError):
        return None
    same = len(data) == file.size and (not file.sha256 or hashlib.sha256(data).hexdigest() == file.sha256)
    return data if same else None


def sniff(data: bytes) -> Image | None:
    """The kind and size of a PNG, JPEG, GIF or WebP by what it holds; `None` for all else, and what is too large."""
    try:
        found = _sniff(data)
    except (struct.error, IndexError):
        return None
    return found if found is not None and 0 < found.width * found.height <= MAX_PIXELS else None


def _sniff(data: bytes) -> Image | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
        return Image("image/png", *struct.unpack_from(">II", data, 16))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return Image("image/gif", *struct.unpack_from("<HH", data, 6))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _webp(data)
    return _jpeg(data) if data.startswith(b"\xff\xd8\xff") else None


def _webp(data: bytes) -> Image | None:
    kind = data[12:16]
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return Image("image/webp", width & 0x3FFF, height & 0x3FFF)
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return Image("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8X" and len(data) >= 30:
        sides = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
        return Image("image/webp", *sides)
    return None


def _jpeg(data: bytes) -> Image | None:
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return Image("image/jpeg", width, height)
        else:
            (length,) = struct.unpack_from(">H", data, at + 2)
            at += 2 + length
    return None
