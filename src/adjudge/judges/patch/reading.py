"""Reading a tree that may be hostile: regular files only, through no link, and never more than the caps."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

MAX_BYTES = 2 * 1024 * 1024
MAX_FILES = 5000
"""Files that one check reads."""
MAX_ENTRIES = 200_000
"""Names that one walk through a tree sees."""
_NOT_THE_REPOSITORY = frozenset(
    {".git", ".hg", ".svn", ".tox", ".nox", ".venv", "venv", "node_modules", "__pycache__", "site-packages"}
)
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*(?:latin-?1|iso-8859-1|cp1252|windows-1252)", re.M | re.I)


class Text(NamedTuple):
    """The text of a file; None with `why` when it could not be read, and None without when there is no such file."""

    text: str | None
    why: str = ""


def read(root: Path, path: str) -> Text:
    """The text of a file below a tree. A link, also on the way, is not followed."""
    parts = path.split("/")
    if not path or "\0" in path or path.startswith("/") or ".." in parts:
        return Text(None, "not a path within the tree")
    try:
        here = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        return Text(None, f"the tree cannot be read: {error.strerror}")
    try:
        for part in [part for part in parts[:-1] if part not in ("", ".")]:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = below
        file = os.open(parts[-1] or ".", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
    except FileNotFoundError:
        return Text(None)
    except NotADirectoryError:
        return Text(None, "" if not _is_link(root, path) else "a link")
    except (OSError, UnicodeError) as error:
        return Text(None, "a link" if _is_link(root, path) else f"cannot be read: {error}")
    finally:
        os.close(here)
    with os.fdopen(file, "rb", closefd=True) if stat.S_ISREG(os.fstat(file).st_mode) else _Closed(file) as opened:
        if opened is None:
            return Text(None, "not a regular file")
        data = opened.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        return Text(None, "over 2 MB")
    if b"\0" in data[:8192]:
        return Text(None, "binary")
    if _CODING.search(data[:200]):
        return Text(data.decode("latin-1"))
    return Text(data.decode("utf-8-sig", "replace"))


class _Closed:
    def __init__(self, handle: int) -> None:
        os.close(handle)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def _is_link(root: Path, path: str) -> bool:
    here = str(root)
    for part in path.split("/"):
        here = f"{here}/{part}"
        try:
            if stat.S_ISLNK(os.lstat(here).st_mode):
                return True
        except (OSError, ValueError):
            return False
    return False


def walk(root: Path, suffix: str) -> tuple[list[str], bool]:
    """Paths of the regular files with a suffix below a tree, sorted, and whether that is all of them.

    Links are not followed, and folders that hold no code of the repository are left out.
    """
    found: list[str] = []
    seen = 0
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            entries = sorted(os.scandir(f"{root}/{folder}"), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            seen += 1
            if seen > MAX_ENTRIES:
                return sorted(found), False
            name = f"{folder}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _NOT_THE_REPOSITORY:
                    folders.append(f"{name}/")
            elif entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False):
                found.append(name)
    return sorted(found), True
