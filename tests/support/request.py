"""What a caller asked of a `LoopbackProvider`, read the same way from every wire."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

Wire = Literal["anthropic", "openai", "jev", "hosted"]

DEEP = 6


@dataclass(frozen=True)
class Request:
    """One call as it arrived; `index` counts from 0 in the order of arrival."""

    index: int
    wire: Wire
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    raw: bytes
    method: str = "POST"
    target: str = ""

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def streams(self) -> bool:
        return self.body.get("stream") is True

    @property
    def system(self) -> str:
        if self.wire == "anthropic":
            return _joined([self.body.get("system")])
        return self._said("system", "developer")

    @property
    def prompt(self) -> str:
        return str(self.body.get("state", "")) if self.wire == "jev" else self._said("user")

    @property
    def questions(self) -> dict[str, Any]:
        """What a decision model is asked, by key."""
        questions = self.body.get("questions")
        return questions if self.wire == "jev" and isinstance(questions, dict) else {}

    @cached_property
    def tools(self) -> dict[str, Any]:
        """The schema of each tool the model may call, by name, in the caller's order."""
        if self._choice == "none":
            return {}
        tools = [tool if self.wire == "anthropic" else dig(tool, "function") for tool in _list(self.body.get("tools"))]
        schema = "input_schema" if self.wire == "anthropic" else "parameters"
        return {tool["name"]: tool.get(schema) for tool in tools if isinstance(dig(tool, "name"), str)}

    @property
    def tool_name(self) -> str | None:
        """The tool the caller forces, or the name of OpenAI's json_schema; a tool merely offered is not forced."""
        if self._choice in ("tool", "function"):
            choice = self.body["tool_choice"]
            name = dig(choice, "name") if self.wire == "anthropic" else dig(choice, "function", "name")
        elif self._choice in ("any", "required") and len(self.tools) == 1:
            name = next(iter(self.tools))
        else:
            name = dig(self.body, "response_format", "json_schema", "name")
        return name if isinstance(name, str) else None

    @property
    def schema(self) -> dict[str, Any] | None:
        """The forced tool's schema, else the schema the caller gave for the text of the answer."""
        found = self.tools.get(self.tool_name) if self.tool_name is not None else None
        found = found or dig(self.body, "response_format", "json_schema", "schema")
        found = found or dig(self.body, "output_config", "format", "schema")
        return found if isinstance(found, dict) else None

    @property
    def _choice(self) -> object:
        choice = self.body.get("tool_choice")
        return choice.get("type") if isinstance(choice, dict) else choice

    def _said(self, *roles: str) -> str:
        messages = _list(self.body.get("messages"))
        return _joined([dig(message, "content") for message in messages if dig(message, "role") in roles])


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def dig(value: Any, *path: str) -> Any:
    """What lies at a path of nested objects; `None` where there is nothing."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _joined(contents: list[Any]) -> str:
    """The text of message contents, each a string or a list of blocks."""
    parts = [part for content in contents for part in ([content] if isinstance(content, str) else _list(content))]
    texts = [part if isinstance(part, str) else dig(part, "text") for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str))


def satisfying(schema: dict[str, Any]) -> Any:
    """A value the JSON schema accepts, the same every time; patterns and formats are not looked at."""
    return _fill(schema, schema, 0)


def _fill(schema: Any, root: Any, depth: int) -> Any:
    if not isinstance(schema, dict):
        return "ok"
    if isinstance(schema.get("$ref"), str):
        return _fill(dig(root, *schema["$ref"].split("/")[1:]), root, depth + 1)
    if "const" in schema:
        return schema["const"]
    if _list(schema.get("enum")):
        return schema["enum"][0]
    if options := next(filter(None, (_list(schema.get(key)) for key in ("anyOf", "oneOf", "allOf"))), None):
        # A schema that refers to itself ends where it allows null.
        ends = [option for option in options if dig(option, "type") == "null"]
        return _fill((ends or options)[0] if depth > DEEP else options[0], root, depth + 1)
    kinds = schema.get("type", "object" if "properties" in schema else None)
    match kinds[0] if isinstance(kinds, list) and kinds else kinds:
        case "boolean":
            return True
        case "null":
            return None
        case "integer" | "number" as kind:
            return _number(schema, kind == "integer")
        case "array":
            count = schema.get("minItems", 0 if depth > DEEP else min(1, schema.get("maxItems", 1)))
            items = schema.get("items", {})
            if schema.get("uniqueItems") and _list(dig(items, "enum")):
                return items["enum"][:count]
            return [_fill(items, root, depth + 1) for _ in range(count)]
        case "object":
            properties = schema.get("properties") or {}
            required = _list(schema.get("required"))
            names = [name for name in properties if depth <= DEEP or name in required]
            names.sort(key=lambda name: bool(name != "rationale"))
            extra = [name for name in required if name not in properties]
            return {name: _fill(properties.get(name), root, depth + 1) for name in [*names, *extra]}
    return "ok".ljust(schema.get("minLength", 0), ".")[: schema.get("maxLength")]


def _number(schema: dict[str, Any], whole: bool) -> int | float:
    above, top = schema.get("exclusiveMinimum"), schema.get("maximum", schema.get("exclusiveMaximum"))
    if "minimum" in schema:
        low: int | float = schema["minimum"]
    elif above is not None:
        low = math.floor(above) + 1 if whole or top is None else (above + top) / 2
    else:
        low = 1 if "maximum" not in schema else min(1, schema["maximum"])
    step = schema.get("multipleOf", 1 if whole else None)
    return math.ceil(low / step) * step if step else low
