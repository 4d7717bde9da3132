"""What a judge is shown of a workspace: files, folders and globs as text and images; what is not shown is said."""

from __future__ import annotations

import base64
import codecs
import glob
import os
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from adjudge.domain import MissingExtraError

MAX_TEXT_BYTES = 1024 * 1024
MAX_IMAGE_BYTES = 5 * 1024 * 1024
MAX_DOCUMENT_BYTES = 32 * 1024 * 1024
MAX_UNPACKED_BYTES = 512 * 1024 * 1024
MAX_FILES = 2_000
MAX_IMAGES = 20

IMAGES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}
DOCUMENTS = frozenset({".pdf", ".docx", ".pptx", ".xlsx", ".xls", ".msg", ".epub"})
HTML = frozenset({".html", ".htm"})
INSTALL = "pip install 'adjudge[documents]'"

ELSEWHERE = "found in the current directory, not in the workspace"
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
        strayed: set[str] = set()
        images = 0
        for pattern in patterns:
            for label, path, missing in self._matches(pattern):
                if (path or label) in seen:
                    continue
                seen.add(path or label)
                if len(found) >= MAX_FILES:
                    found.append(Document(pattern, missing=f"not shown: more than {MAX_FILES} files are named"))
                    return found
                document = Document(label, missing=missing) if missing else self._document(label, path, html)
                if path and pattern not in strayed and not (os.path.isabs(pattern) or self._at_home(path)):  # noqa: PTH117
                    strayed.add(pattern)
                    note = "; ".join(filter(None, (document.note, ELSEWHERE)))
                    document = msgspec.structs.replace(document, note=note)
                images += bool(document.data)
                if document.data and images > MAX_IMAGES:
                    document = Document(label, missing=f"not shown: more than {MAX_IMAGES} images are named")
                found.append(document)
        return found

    def _at_home(self, path: str) -> bool:
        home = os.path.realpath(self.home)
        return path == home or path.startswith(home.rstrip(os.sep) + os.sep)

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
                names = sorted(_globbed(base, pattern))
                shown = [name for name in names if not os.path.isdir(os.path.join(base, name))]  # noqa: PTH112, PTH118
                for name in names:
                    path = os.path.join(base, name)  # noqa: PTH118
                    if not os.path.isdir(path):  # noqa: PTH112
                        yield from self._below(name, path, self._root(base, name))
                    elif os.path.islink(path):  # noqa: PTH114
                        yield name, "", "not shown: a link to a folder"
                    elif not shown:
                        yield name, "", "not shown: a folder, of which the pattern names no file"
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
        document = self._read[key]
        # However it was named when it was read, so that no prompt depends on the one before.
        return document if document.label == label else msgspec.structs.replace(document, label=label)


def _globbed(base: str, pattern: str) -> set[str]:
    """What a glob matches; `**` follows no link, since links that lead round have no end."""
    head, recursive, tail = pattern.partition("**/") if "**/" in pattern else pattern.partition("**")
    if not recursive or (head and not head.endswith("/")) or (tail and not recursive.endswith("/")):
        return set(glob.glob(pattern, root_dir=base))  # noqa: PTH207
    found: set[str] = set()
    for top in glob.glob(head, root_dir=base) if head else [""]:  # noqa: PTH207
        for folder, inner, _ in os.walk(os.path.join(base, top)):  # noqa: PTH118
            inner[:] = [name for name in inner if not name.startswith(".")]
            below = os.path.relpath(folder, os.path.join(base, top))  # noqa: PTH118
            names = _globbed(folder, tail or "*")
            found.update(os.path.normpath(os.path.join(top, below, name)) for name in names)  # noqa: PTH118
    return found


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
    half = MAX_TEXT_BYTES // 2
    whole = size <= MAX_TEXT_BYTES
    with open(path, "rb") as file:  # noqa: PTH123
        head = file.read(MAX_TEXT_BYTES if whole else half)
        tail = b""
        if not whole:
            file.seek(-half, os.SEEK_END)
            tail = file.read()
    notes = [] if whole else [f"cut to {MAX_TEXT_BYTES} of {size} bytes"]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16-le" if head.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
        parts = [part.decode(encoding, "replace") for part in (head[2:], tail[(size - half) % 2 :])]
    elif b"\0" in head[:8192]:
        return Document(label, missing=f"not shown: binary, {size} bytes")
    else:
        try:
            # What is cut may be cut within a character.
            start = next((k for k, byte in enumerate(tail[:4]) if byte & 0xC0 != 0x80), 0)
            parts = [codecs.getincrementaldecoder("utf-8-sig")().decode(head, whole), tail[start:].decode()]
        except UnicodeDecodeError:
            parts = [part.decode("cp1252", "replace") for part in (head, tail)]
            notes.append("not UTF-8: decoded as Windows-1252, some characters may be wrong")
    text = parts[0] if whole else f"\n[... cut: {size - MAX_TEXT_BYTES} bytes ...]\n".join(parts)
    return Document(label, text, note="; ".join(notes), missing="" if text.strip() else "empty")


def _converted(label: str, path: str) -> Document:
    try:
        from markitdown import MarkItDown
    except ImportError:
        raise MissingExtraError(f"{label} is shown through markitdown, which is not installed: {INSTALL}") from None
    unpacked = _unpacked_bytes(path)
    if unpacked > MAX_UNPACKED_BYTES:
        return Document(label, missing=f"not shown: {unpacked} bytes unpacked, more than {MAX_UNPACKED_BYTES}")
    try:
        text = MarkItDown(enable_plugins=False).convert_local(path).text_content
    except Exception as error:  # whatever a parser does with a hostile file
        return Document(label, missing=f"unreadable: {type(error).__name__}: {_readable(str(error))[:120]}")
    if len(text) > MAX_TEXT_BYTES:
        from adjudge.prompts.budget import cut

        return Document(label, cut(text, MAX_TEXT_BYTES), note=f"cut to {MAX_TEXT_BYTES} of {len(text)} characters")
    return Document(label, text, missing="" if text.strip() else "holds no text that could be read")


def _unpacked_bytes(path: str) -> int:
    """What a zip archive, which many documents are, says that it holds; it is read no further than that."""
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return 0


def _readable(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")
