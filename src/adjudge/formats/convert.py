"""From located nodes to config structs, with every problem at once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from adjudge.domain import Problem, closest
from adjudge.located import Located

T = TypeVar("T", bound=msgspec.Struct)


class Converter:
    """Converts one file. Collects problems instead of raising at the first."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.problems: list[Problem] = []

    def add(self, node: Located, key: str, message: str, *, hint: str = "", warning: bool = False) -> None:
        self.problems.append(
            Problem(
                file=getattr(node.line, "file", self.shown),
                line=int(node.line),
                column=node.column,
                key=key,
                message=message,
                hint=hint,
                warning=warning,
            )
        )

    def add_at(self, place: tuple[int, int], key: str, message: str, *, hint: str = "", warning: bool = False) -> None:
        self.add(Located(None, *place), key, message, hint=hint, warning=warning)

    def struct(self, node: Located, kind: type[T], path: str = "") -> T | None:
        """Convert a mapping. Fields that fail are reported and left at their default.

        Returns:
            `None` when the node is no mapping, or a required field is absent or wrong.
        """
        if not isinstance(node.value, dict):
            self.add(node, path, f"expected a mapping, got {node.kind}")
            return None
        fields = {f.encode_name: f for f in _fields(kind)}
        values: dict[str, Any] = {}
        complete = True
        for key, child in node.value.items():
            where = f"{path}.{key}" if path else key
            if key not in fields:
                self.add_at(node.keys[key], where, f"unknown key {key!r}", hint=nearest(key, fields))
                continue
            field = fields[key]
            converted = self.value(child, field.type, where)
            if converted is not _FAILED:
                values[field.name] = converted
            elif field.required:
                complete = False
        for name, field in fields.items():
            if field.required and name not in node.value:
                self.add(node, path, f"the key {name!r} is missing")
                complete = False
        return kind(**values) if complete else None

    def value(self, node: Located, kind: Any, path: str) -> Any:
        """Convert one value; `_FAILED` when it does not fit, after reporting why."""
        options = list(_options(kind))
        if node.value is None and any(isinstance(option, msgspec.inspect.NoneType) for option in options):
            return None
        for option in options:
            if isinstance(option, msgspec.inspect.StructType) and isinstance(node.value, dict):
                converted = self.struct(node, option.cls, path)
                return _FAILED if converted is None else converted
            if isinstance(option, msgspec.inspect.ListType) and isinstance(node.value, list):
                items = [self.value(child, option.item_type, f"{path}[{i}]") for i, child in enumerate(node.value)]
                return [item for item in items if item is not _FAILED]
            if (
                isinstance(option, msgspec.inspect.DictType)
                and isinstance(node.value, dict)
                and not isinstance(option.value_type, msgspec.inspect.AnyType)
            ):
                pairs = {k: self.value(v, option.value_type, f"{path}.{k}") for k, v in node.value.items()}
                return {k: v for k, v in pairs.items() if v is not _FAILED}
        scalars = [option for option in options if not _has_struct(option)]
        if len(scalars) < len(options) and scalars and not isinstance(node.value, dict | list):
            kind = msgspec.inspect.UnionType(tuple(scalars)) if len(scalars) > 1 else scalars[0]
            if isinstance(kind, msgspec.inspect.NoneType):
                self.add(node, path, f"expected {expected(msgspec.inspect.UnionType(tuple(options)))}, got {node.kind}")
                return _FAILED
        elif any(map(_has_struct, options)):
            self.add(node, path, f"expected {expected(kind)}, got {node.kind}")
            return _FAILED
        try:
            return msgspec.convert(node.plain(), _python_type(kind), strict=True)
        except msgspec.ValidationError as error:
            self.add(node, path, _explain(error, node, kind))
            return _FAILED


class _Failed:
    pass


_FAILED: Any = _Failed()


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint with the most similar known name, or the whole list when it is short, or nothing."""
    names = sorted({str(name) for name in known})
    match = closest(name, names)
    if match:
        return match
    return f"known: {', '.join(names)}" if names and len(names) <= 40 else ""


@lru_cache(maxsize=256)
def _fields(kind: type[msgspec.Struct]) -> tuple[msgspec.inspect.Field, ...]:
    info = msgspec.inspect.type_info(kind)
    assert isinstance(info, msgspec.inspect.StructType)
    return info.fields


def _options(kind: Any) -> Iterable[Any]:
    kind = _bare(kind)
    return [_bare(option) for option in kind.types] if isinstance(kind, msgspec.inspect.UnionType) else [kind]


def _bare(kind: Any) -> Any:
    return kind.type if isinstance(kind, msgspec.inspect.Metadata) else kind


def _has_struct(kind: Any) -> bool:
    """True if the type is, or holds, a config struct, which is converted node by node."""
    for option in _options(kind):
        if isinstance(option, msgspec.inspect.StructType):
            return True
        inner = getattr(option, "item_type", None) or getattr(option, "value_type", None)
        if inner is not None and _has_struct(inner):
            return True
    return False


_PLAIN: dict[type, Any] = {
    msgspec.inspect.StrType: str,
    msgspec.inspect.IntType: int,
    msgspec.inspect.FloatType: float,
    msgspec.inspect.BoolType: bool,
    msgspec.inspect.NoneType: None,
    msgspec.inspect.AnyType: Any,
}


def _python_type(kind: Any) -> Any:
    """The type to hand to msgspec.convert; constraints beyond type and list/dict shape are checked by the reader."""
    kind = _bare(kind)
    if isinstance(kind, msgspec.inspect.UnionType):
        result: Any = None
        for index, option in enumerate(kind.types):
            python = _python_type(option)
            result = python if index == 0 else result | python
        return result
    if isinstance(kind, msgspec.inspect.ListType):
        return list[_python_type(kind.item_type)]  # type: ignore[misc]
    if isinstance(kind, msgspec.inspect.DictType):
        return dict[str, _python_type(kind.value_type)]  # type: ignore[misc]
    return _PLAIN[type(kind)]


def expected(kind: Any) -> str:
    """The type in a user's words: `text`, `a list of text`, `a number or true/false`."""
    words: dict[type, str] = {
        msgspec.inspect.StrType: "text",
        msgspec.inspect.IntType: "a whole number",
        msgspec.inspect.FloatType: "a number",
        msgspec.inspect.BoolType: "true or false",
        msgspec.inspect.DictType: "a mapping",
        msgspec.inspect.StructType: "a mapping",
    }
    names = []
    for option in _options(kind):
        if isinstance(option, msgspec.inspect.NoneType):
            continue
        if isinstance(option, msgspec.inspect.ListType):
            inner = expected(option.item_type)
            names.append("a list" if inner == "anything" else f"a list of {inner}")
        else:
            names.append(words.get(type(option), "anything"))
    if "a number" in names and "a whole number" in names:
        names.remove("a whole number")
    return " or ".join(dict.fromkeys(names))


def _explain(error: msgspec.ValidationError, node: Located, kind: Any) -> str:
    text = f"expected {expected(kind)}, got {node.kind}"
    if isinstance(node.value, list | dict):
        text += f" ({error})"
    elif node.value is not None:
        shown = repr(node.value)
        text += f" {shown if len(shown) <= 60 else shown[:57] + '...'}"
    return text
