"""What a judge is shown of a workspace: files, folders and globs as text and images; what is not shown is said."""

from __future__ import annotations

import base64
import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from adjudge.domain import MissingExtraError

MAX_TEXT_BYTES = 1024 * 1024
MAX_IMAGE_BYTES = 5 * 1024 * 1024
MAX_DOCUMENT_BYTES = 32 * 1024 * 1024
MAX_FILES = 2_000
MAX_IMAGES = 20

IMAGES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}
DOCUMENTS = frozenset({".pdf", ".docx", ".pptx", ".xlsx", ".xls", ".msg", ".epub"})
HTML = frozenset({".html", ".htm"})
INSTALL = "pip install 'adjudge[documents]'"

_PASSED_OVER = frozenset({"__pycache__", "node_modules"})


class Document(msgspec.Struct, frozen=True):
    """One file as it is shown: its text, or an image in base64, or only why it is not shown."""

    label: str
    text: str = ""
    media_type: str = ""
    data: str = ""
    missing: str = ""
    note: str = ""


class DocumentReader:
    """Reads each file once, however many judges are shown it. Relative paths start at `home`, then where we are."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.opened = 0
        """How many files were read so far."""
        self._read: dict[tuple[str, str], Document] = {}

    def read(self, patterns: Sequence[str], *, html: str = "text") -> list[Document]:
        """What the patterns name, in their order, folders and globs sorted; each file once.

        Raises:
            MissingExtraError: a document needs markitdown, which is not installed.
        """
        found: list[Document] = []
        seen: set[str] = set()
        images = 0
        for pattern in patterns:
            for label, path, missing in self._matches(pattern):
                if path and path in seen:
                    continue
                seen.add(path)
                if len(found) >= MAX_FILES:
                    found.append(Document(pattern, missing=f"not shown: more than {MAX_FILES} files are named"))
                    return found
                document = Document(label, missing=missing) if missing else self._document(label, path, html)
                images += bool(document.data)
                if document.data and images > MAX_IMAGES:
                    document = Document(label, missing=f"not shown: more than {MAX_IMAGES} images are named")
                found.append(document)
        return found

    def image(self, label: str, path: str) -> Document:
        """One image by its path, which has been found before."""
        return self._document(label, path, "text")

    def _matches(self, pattern: str) -> Iterator[tuple[str, str, str]]:
        """(label, path, why it is not shown) of everything a pattern names."""
        base = next((base for base in (self.home, os.getcwd()) if os.path.lexists(os.path.join(base, pattern))), None)  # noqa: PTH109, PTH118
        if base is not None:
            yield from self._below(pattern, os.path.join(base, pattern), self._root(base, pattern))  # noqa: PTH118
            return
        if glob.has_magic(pattern):
            for base in (self.home, os.getcwd()):  # noqa: PTH109
                names = sorted(glob.glob(pattern, root_dir=base, recursive=True))  # noqa: PTH207
                for name in names:
                    path = os.path.join(base, name)  # noqa: PTH118
                    if not os.path.isdir(path):  # noqa: PTH112
                        yield from self._below(name, path, self._root(base, name))
                if names:
                    return
        yield pattern, "", "not found"

    def _root(self, base: str, name: str) -> str:
        """The folder that a named path may not lead out of: the case's, or the one that the path itself names."""
        path = os.path.normpath(os.path.join(base, name))  # noqa: PTH118
        for root in (self.home, base):
            root = os.path.normpath(root)
            if path == root or path.startswith(root + os.sep):
                return root
        return os.path.dirname(path)  # noqa: PTH120

    def _below(self, label: str, path: str, root: str) -> Iterator[tuple[str, str, str]]:
        resolved = os.path.realpath(path)
        allowed = os.path.realpath(root)
        if resolved != allowed and not resolved.startswith(allowed.rstrip(os.sep) + os.sep):
            yield label, "", "not shown: a link that leads out of the workspace"
        elif os.path.isdir(resolved):  # noqa: PTH112
            yield from self._folder(label.rstrip("/"), path, root)
        elif not os.path.exists(resolved):  # noqa: PTH110
            yield label, "", "not found: a link to nothing"
        elif not os.path.isfile(resolved):  # noqa: PTH113
            yield label, "", "not shown: neither a file nor a folder"
        else:
            yield label, resolved, ""

    def _folder(self, label: str, path: str, root: str) -> Iterator[tuple[str, str, str]]:
        try:
            with os.scandir(path) as entries:
                names = sorted(entry.name for entry in entries)
        except OSError as error:
            yield label, "", f"not shown: {error.strerror}"
            return
        if not names:
            yield label, "", "an empty folder"
        for name in names:
            inner = os.path.join(path, name)  # noqa: PTH118
            shown = f"{label}/{_readable(name)}"
            if name.startswith("."):
                yield shown, "", "not shown: hidden"
            elif name in _PASSED_OVER:
                yield shown, "", "not shown: not written by hand"
            elif os.path.isdir(inner) and os.path.islink(inner):  # noqa: PTH112, PTH114
                yield shown, "", "not shown: a link to a folder"
            else:
                yield from self._below(shown, inner, root)

    def _document(self, label: str, path: str, html: str) -> Document:
        key = (path, html)
        if key not in self._read:
            self.opened += 1
            self._read[key] = _read(label, path, html)
        return self._read[key]


def _read(label: str, path: str, html: str) -> Document:
    suffix = os.path.splitext(path)[1].lower()  # noqa: PTH122
    try:
        size = os.stat(path).st_size  # noqa: PTH116
        if suffix in IMAGES:
            if size > MAX_IMAGE_BYTES:
                return Document(label, missing=f"not shown: an image of {size} bytes, more than {MAX_IMAGE_BYTES}")
            data = base64.b64encode(Path(path).read_bytes()).decode()
            return Document(label, media_type=IMAGES[suffix], data=data) if data else Document(label, missing="empty")
        if suffix in DOCUMENTS or (suffix in HTML and html == "text"):
            if size > MAX_DOCUMENT_BYTES:
                return Document(label, missing=f"not shown: {size} bytes, more than {MAX_DOCUMENT_BYTES}")
            return _converted(label, path)
        return _text(label, path, size)
    except OSError as error:
        return Document(label, missing=f"unreadable: {error.strerror}")


def _text(label: str, path: str, size: int) -> Document:
    note = ""
    with open(path, "rb") as file:  # noqa: PTH123
        if size > MAX_TEXT_BYTES:
            data = file.read(MAX_TEXT_BYTES // 2)
            file.seek(-(MAX_TEXT_BYTES // 2), os.SEEK_END)
            gone = size - MAX_TEXT_BYTES
            data += f"\n[... cut: {gone} bytes ...]\n".encode() + file.read()
            note = f"cut to {MAX_TEXT_BYTES} of {size} bytes"
        else:
            data = file.read()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Document(label, data.decode("utf-16", "replace"), note=note)
    if b"\0" in data[:8192]:
        return Document(label, missing=f"not shown: binary, {size} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace") if note else data.decode("cp1252", "replace")
        note = "; ".join(filter(None, (note, "not UTF-8: decoded as Windows-1252, some characters may be wrong")))
    return Document(label, text, note=note, missing="" if text.strip() else "empty")


def _converted(label: str, path: str) -> Document:
    try:
        from markitdown import MarkItDown
    except ImportError:
        raise MissingExtraError(f"{label} is shown through markitdown, which is not installed: {INSTALL}") from None
    try:
        text = MarkItDown(enable_plugins=False).convert_local(path).text_content
    except Exception as error:  # whatever a parser does with a hostile file
        return Document(label, missing=f"unreadable: {type(error).__name__}: {_readable(str(error))[:120]}")
    if len(text) > MAX_TEXT_BYTES:
        from adjudge.prompts.budget import cut

        return Document(label, cut(text, MAX_TEXT_BYTES), note=f"cut to {MAX_TEXT_BYTES} of {len(text)} characters")
    return Document(label, text, missing="" if text.strip() else "holds no text that could be read")


def _readable(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")
