"""What a template sees as `outputs` and `annotations`. Values are plain; fences are put on where they are printed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from adjudge.prompts.budget import cut, fair_cap, in_proportion
from adjudge.prompts.documents import IMAGES


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
        return self.listing(None)

    def listing(self, room: int | None) -> str:
        """Every file under its path; within `room` characters when there is a limit, each cut to the same length."""
        texts = {path: _text(self._files[path]) for path in sorted(self._files)}
        if room is not None:
            headings = sum(len(path) + 8 for path in texts)
            cap = fair_cap([len(text) for text in texts.values()], room - headings)
            texts = {path: cut(text, cap) for path, text in texts.items()}
        return "\n".join(f"### {path}\n\n{text}\n" for path, text in texts.items())


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
        return bool(self._record["files"]) or "trace" in self._record

    def __str__(self) -> str:
        return self.listing(None)

    def listing(self, room: int | None) -> str:
        """The listing of its files, as `FilesView` gives it; of work on a repository the patch and the last words."""
        trace = self._record.get("trace")
        if trace:
            text = f"### Patch\n\n{trace['diff']}\n\n### Final message\n\n{trace['final_message']}\n"
            return text if room is None else cut(text, room)
        return str(self._record["files"].listing(room))


class AnnotationsView(dict[str, Any]):
    """`annotations`: a mapping that prints as a bullet list, with the text of files it names below."""

    def __init__(self, annotations: Mapping[str, Any], texts: Mapping[str, str]) -> None:
        super().__init__(annotations)
        self._texts = texts

    def __str__(self) -> str:
        lines = [f"- **{key}**: {value}" for key, value in self.items()]
        lines += [f"\n### {key}\n\n{text}" for key, text in self._texts.items()]
        return "\n".join(lines)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    name = str(content.get("name", "")) if isinstance(content, Mapping) else ""
    return "(an image, beside this text)" if name.lower().endswith(tuple(IMAGES)) else "(binary file, not shown)"


_STEPS = {"conversation": "\n\n", "reasoning": "\n\n", "tool_trace": "\n"}


def cut_shown(value: Any, text: str, label: str, cap: int) -> str:
    """What printing a value gives, in at most `cap` characters: files by the same measure, every step of a trace."""
    if isinstance(value, FilesView | OutputsView):
        listed = value.listing(cap)
        return listed if len(listed) <= cap else cut(listed, cap)
    if label in _STEPS:
        between = _STEPS[label]
        steps = text.split(between)
        fitted = between.join(in_proportion(steps, cap - len(between) * (len(steps) - 1)))
        return fitted if len(fitted) <= cap else cut(text, cap)
    return cut(text, cap)


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
