"""What a template sees as `outputs` and `annotations`. Values are plain; fences are put on where they are printed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


class FilesView(Mapping[str, Any]):
    """`outputs.files`: path -> text; as a whole it reads as a listing of every file."""

    def __init__(self, files: Mapping[str, Any]) -> None:
        self._files = files

    def __getitem__(self, key: str) -> Any:
        return self._files[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __str__(self) -> str:
        parts = []
        for path in sorted(self._files):
            content = self._files[path]
            text = content if isinstance(content, str) else "(binary file, not shown)"
            parts.append(f"### {path}\n\n{text}\n")
        return "\n".join(parts)


class OutputsView(Mapping[str, Any]):
    """`outputs`: the record by key; as a whole it reads as the listing of its files."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._record = {**record, "files": FilesView(record.get("files", {}))}

    def __getitem__(self, key: str) -> Any:
        return self._record[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._record)

    def __len__(self) -> int:
        return len(self._record)

    def __bool__(self) -> bool:
        return bool(self._record["files"])

    def __str__(self) -> str:
        return str(self._record["files"])


class AnnotationsView(dict[str, Any]):
    """`annotations`: a mapping that prints as a bullet list, with the text of files it names below."""

    def __init__(self, annotations: Mapping[str, Any], texts: Mapping[str, str]) -> None:
        super().__init__(annotations)
        self._texts = texts

    def __str__(self) -> str:
        lines = [f"- **{key}**: {value}" for key, value in self.items()]
        lines += [f"\n### {key}\n\n{text}" for key, text in self._texts.items()]
        return "\n".join(lines)


def to_json(value: Any, indent: int | None = 2) -> str:
    """Readable JSON of anything a template may hold."""
    return json.dumps(value, indent=indent, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Iterator | set | frozenset) else str(value)


def shown(value: Any) -> str:
    """The text that printing a value gives: text as it is, collections as JSON, views as their listing."""
    if isinstance(value, str | bytes | FilesView | OutputsView | AnnotationsView):
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    if isinstance(value, Iterator):
        value = list(value)
    return to_json(value) if isinstance(value, list | tuple | Mapping) else str(value)
