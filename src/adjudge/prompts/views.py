"""What a template sees as `outputs` and `annotations`: fenced where the agent made it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from adjudge.prompts.fence import Material


class FilesView(Mapping[str, Any]):
    """`outputs.files`: each text fenced on its own; printed as a whole, one fenced listing."""

    def __init__(self, files: Mapping[str, Any]) -> None:
        self._files = files

    def __getitem__(self, key: str) -> Any:
        content = self._files[key]
        return Material(content, key) if isinstance(content, str) else content

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def listing(self) -> Material:
        parts = []
        for path in sorted(self._files):
            content = self._files[path]
            text = content if isinstance(content, str) else "(binary file, not shown)"
            parts.append(f"### {path}\n\n{text}\n")
        return Material("\n".join(parts), "outputs")

    def plain(self) -> Any:
        return dict(self._files)

    def __str__(self) -> str:
        return str(self.listing())


class OutputsView(Mapping[str, Any]):
    """`outputs`: the record by key; printed as a whole, the fenced files."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._record = record
        self.files = FilesView(record.get("files", {}))

    def __getitem__(self, key: str) -> Any:
        if key == "files":
            return self.files
        value = self._record[key]
        return value if key.startswith("annotation") else tagged(value, key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._record)

    def __len__(self) -> int:
        return len(self._record)

    def plain(self) -> Any:
        return dict(self._record)

    def __bool__(self) -> bool:
        return bool(self.files)

    def __str__(self) -> str:
        return str(self.files)


class _TaggedList(list[Any]):
    """A list from the agent's run: printed as a whole, fenced JSON."""

    name: str

    def __str__(self) -> str:
        return str(Material(to_json(self), self.name))


class _TaggedDict(dict[Any, Any]):
    """A mapping from the agent's run: printed as a whole, fenced JSON."""

    name: str

    def __str__(self) -> str:
        return str(Material(to_json(self), self.name))


def tagged(value: Any, name: str) -> Any:
    """The same value, whose texts are fenced wherever a template prints them."""
    if isinstance(value, str):
        return Material(value, name)
    result: _TaggedList | _TaggedDict
    if isinstance(value, list | tuple):
        result = _TaggedList(tagged(item, name) for item in value)
    elif isinstance(value, Mapping):
        result = _TaggedDict({key: tagged(item, name) for key, item in value.items()})
    else:
        return value
    result.name = name
    return result


class AnnotationsView(dict[str, Any]):
    """`annotations`: a mapping that prints as a bullet list, with the text of files it names below."""

    def __init__(self, annotations: Mapping[str, Any], texts: Mapping[str, str]) -> None:
        super().__init__(annotations)
        self._texts = texts

    def __str__(self) -> str:
        lines = [f"- **{key}**: {value}" for key, value in self.items()]
        lines += [f"\n### {key}\n\n{text}" for key, text in self._texts.items()]
        return "\n".join(lines)


def to_json(value: Any) -> str:
    """Readable JSON of anything a template may hold."""
    return json.dumps(_unfenced(value), indent=2, ensure_ascii=False, default=_default)


def _unfenced(value: Any) -> Any:
    """Plain data, texts as they are."""
    if isinstance(value, FilesView | OutputsView):
        return value.plain()
    if isinstance(value, Material):
        return value.raw
    if isinstance(value, list | tuple):
        return [_unfenced(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _unfenced(item) for key, item in value.items()}
    return value


def _default(value: Any) -> str:
    return str(value)


def agent_made(value: Any) -> bool:
    """True for values that hold agent-made text and must stay fenced."""
    return isinstance(value, Material | FilesView | OutputsView | _TaggedList | _TaggedDict)
