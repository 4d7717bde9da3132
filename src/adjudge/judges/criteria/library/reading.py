"""How every ready criterion looks at files: confined to the workspace, capped, and whatever the bytes are."""

from __future__ import annotations

import codecs
import functools
import os
import re
import reprlib
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, ParamSpec

from adjudge.judges.criteria.finding import Finding

MAX_BYTES = 64 * 1024 * 1024
"""Of a file that is searched or compared."""
MAX_PARSED = 16 * 1024 * 1024
"""Of a file that is read into objects, which take many times its size."""

P = ParamSpec("P")


class UnusableError(Exception):
    """What is judged cannot be looked at; the text is the evidence."""


def failing(value: bool | float) -> Callable[[Callable[P, Finding]], Callable[P, Finding]]:
    """Give `value` and the reason where a criterion finds its material unusable: bad work is not an error."""

    def decorate(criterion: Callable[P, Finding]) -> Callable[P, Finding]:
        @functools.wraps(criterion)
        def judged(*args: P.args, **kwargs: P.kwargs) -> Finding:
            try:
                return criterion(*args, **kwargs)
            except UnusableError as reason:
                return Finding(value, str(reason))

        return judged

    return decorate


def locate(workspace: Path, path: str | os.PathLike[str]) -> Path:
    """The real place of a path that the author wrote, which may be absolute or climb with `..`.

    A path in the workspace stays there: what is judged may hold a link to the expected solution.

    Raises:
        UnusableError: a link leads out of the workspace.
        ValueError: it is no path.
    """
    if not isinstance(path, str | os.PathLike) or not os.fspath(path) or "\0" in os.fspath(path):
        raise ValueError(f"a path must be a non-empty string, got {brief(path)}")
    home = Path(os.path.normpath(workspace.absolute()))
    # `..` is taken as it is written, before links: `link/../x` must not mean a place that the link decides.
    written = Path(os.path.normpath(home / path))
    real, real_home = Path(os.path.realpath(written)), Path(os.path.realpath(home))
    own = written.is_relative_to(home) or written.is_relative_to(real_home)
    if own and not real.is_relative_to(real_home):
        raise UnusableError(f"{path}: a link leads out of the workspace, so it is not followed")
    return real


@contextmanager
def opened(workspace: Path, path: str | os.PathLike[str]) -> Iterator[tuple[BinaryIO, int]]:
    """A regular file, open for reading, and its size.

    Raises:
        UnusableError: there is none, or it cannot be read.
        ValueError: it is no path.
    """
    place = locate(workspace, path)
    try:
        # Without O_NONBLOCK, a pipe put in the place of a file would wait for its writer for ever.
        descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise UnusableError(_reason(path, error)) from None
    with os.fdopen(descriptor, "rb", closefd=True) if _is_file(descriptor) else _refuse(path, descriptor) as file:
        try:
            yield file, os.fstat(descriptor).st_size
        except OSError as error:
            raise UnusableError(_reason(path, error)) from None


def read_bytes(workspace: Path, path: str | os.PathLike[str], limit: int = MAX_BYTES) -> bytes:
    """All bytes of a file.

    Raises:
        UnusableError: there is none, it cannot be read, or it is larger than `limit`.
    """
    with opened(workspace, path) as (file, _):
        data = file.read(limit + 1)
    if len(data) > limit:
        raise UnusableError(f"{path} is larger than {size(limit)}, which is too large to compare")
    return data


class Text(NamedTuple):
    """A file as text; `note` says what was done to read it, ready to be put after a sentence."""

    text: str
    note: str = ""


def read_text(workspace: Path, path: str | os.PathLike[str], limit: int = MAX_BYTES, *, head: bool = False) -> Text:
    """A file as text with `\\n` at the ends of lines; with `head`, the beginning of one larger than `limit`.

    Raises:
        UnusableError: as `read_bytes`.
    """
    text = read_raw_text(workspace, path, limit, head=head)
    return text._replace(text=text.text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text.text else text.text)


def read_raw_text(workspace: Path, path: str | os.PathLike[str], limit: int = MAX_BYTES, *, head: bool = False) -> Text:
    """As `read_text`, with the ends of lines as they are."""
    if not head:
        return decode(read_bytes(workspace, path, limit))
    with opened(workspace, path) as (file, total):
        data = file.read(limit + 1)
    if len(data) <= limit:
        return decode(data)
    text = decode(data[:limit], final=False)
    return text._replace(note=f"{text.note}; only the first {size(limit)} of {size(total)} were read")


def decode(data: bytes, *, final: bool = True) -> Text:
    """UTF-8, else UTF-16 where a mark says so, else Windows-1252, which has a character for nearly every byte."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Text(data.decode("utf-16", "replace"), "; read as UTF-16")
    try:
        return Text(codecs.getincrementaldecoder("utf-8-sig")().decode(data, final))
    except UnicodeDecodeError:
        kind = "binary" if b"\0" in data[:8192] else "not UTF-8"
        return Text(data.decode("cp1252", "replace"), f"; {kind}, read as Windows-1252")


def is_text(data: bytes) -> bool:
    """Whether bytes are UTF-8 text."""
    if b"\0" in data:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80
_SHORT.maxlong = 40
_SHORT.maxlevel = 3


def brief(value: Any) -> str:
    """A value in at most some 200 printable characters, in bounded time also where parts of it repeat."""
    try:
        text = _SHORT.repr(value)
    except Exception:  # a number of many digits refuses to be written
        text = f"<{type(value).__name__}>"
    return cut(clean(text), 200)


def beginning(text: str) -> str:
    """How a text begins, for evidence."""
    return brief(text) if len(text) <= 80 else f"{clean(repr(text[:200]))}..."


def clean(text: str) -> str:
    """Text without anything that moves a terminal's cursor."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def cut(text: str, limit: int) -> str:
    """The head of a text, with dots where it was cut."""
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def size(count: int) -> str:
    """A number of bytes for people."""
    return f"{count / 1024 / 1024:.0f} MiB" if count >= 1024 * 1024 else f"{count} bytes"


def same(expected: Any, actual: Any) -> bool:
    """Python's `==`, but true is not 1 and false is not 0, at any depth."""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(same(value, actual[key]) for key, value in expected.items())
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        return len(expected) == len(actual) and all(map(same, expected, actual))
    return bool(expected == actual)


def need_string(name: str, value: Any) -> str:
    """An argument that must be a string.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string, got {brief(value)}")
    return value


def need_whole(name: str, value: Any, minimum: int | None = None) -> int:
    """An argument that must be a whole number, at least `minimum`.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int) or (minimum is not None and value < minimum):
        least = "" if minimum is None else f" of at least {minimum}"
        raise ValueError(f"{name} must be a whole number{least}, got {brief(value)}")
    return value


def need_pattern(pattern: Any) -> re.Pattern[str]:
    """A regular expression.

    Raises:
        ValueError: it is none.
    """
    try:
        return re.compile(need_string("pattern", pattern))
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"pattern {brief(pattern)} is no regular expression: {error}") from None


def _is_file(descriptor: int) -> bool:
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def _refuse(path: str | os.PathLike[str], descriptor: int) -> BinaryIO:
    folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
    os.close(descriptor)
    raise UnusableError(f"{path} is a folder" if folder else f"{path} is not a regular file")


def _reason(path: str | os.PathLike[str], error: OSError) -> str:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return f"{path} does not exist"
    return f"{path} cannot be read: {error.strerror or error}"
