"""Jinja2 prompts in a sandbox, where what the agent made stays fenced."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, wraps
from typing import Any

from jinja2 import Template, TemplateError, TemplateSyntaxError, Undefined, meta
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment

from adjudge.prompts.fence import Material
from adjudge.prompts.views import AnnotationsView, FilesView, OutputsView, agent_made, tagged, to_json

VARIABLES = (
    "outputs",
    "conversation",
    "reasoning",
    "tool_trace",
    "inputs",
    "evidence",
    "annotations",
    "arguments",
    "examples",
)
_FENCED_TEXTS = ("conversation", "reasoning", "tool_trace", "inputs", "evidence")


class PromptError(ValueError):
    """A template that cannot be rendered for this case."""


class _Environment(SandboxedEnvironment):
    """A sandbox in which filters, methods and operators give fenced results for fenced operands."""

    intercepted_binops = frozenset({"+", "%", "*"})

    def __init__(self) -> None:
        super().__init__(autoescape=False, keep_trailing_newline=True, undefined=Undefined)
        self.filters = {name: _keep_fence(name, function) for name, function in self.filters.items()}
        self.filters["tojson"] = _tojson

    def call(self, context: Context, obj: Any, *args: Any, **kwargs: Any) -> Any:
        owner = getattr(obj, "__self__", None)
        result = super().call(context, obj, *args, **kwargs)
        return _refence(result, _name_of([owner, *args]))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        name = _name_of([left, right])
        if name is None:
            return super().call_binop(context, operator, left, right)
        return _refence(super().call_binop(context, operator, _raw(left), _raw(right)), name)

    def getitem(self, obj: Any, argument: Any) -> Any:
        result = super().getitem(_raw(obj) if isinstance(obj, Material) else obj, argument)
        return _refence(result, obj.name) if isinstance(obj, Material) else result


def _keep_fence(name: str, function: Any) -> Any:
    passes_first = getattr(function, "jinja_pass_arg", None) is not None

    @wraps(function)
    def filtered(*args: Any, **kwargs: Any) -> Any:
        operands = args[1:] if passes_first else args
        owner = _name_of([*operands, *kwargs.values()])
        if owner is None:
            return function(*args, **kwargs)
        plain = [_raw(arg) for arg in operands]
        head = args[:1] if passes_first else ()
        return _refence(function(*head, *plain, **{key: _raw(value) for key, value in kwargs.items()}), owner)

    return filtered


def _tojson(value: Any, indent: int | None = None) -> str:
    name = _name_of([value])
    return to_json(value) if name is None else Material(to_json(value), name)


def _raw(value: Any) -> Any:
    if isinstance(value, Material):
        return value.raw
    if isinstance(value, OutputsView):
        value = value.files
    if isinstance(value, FilesView):
        return value.listing().raw
    if isinstance(value, list | tuple):
        return [_raw(item) for item in value]
    if isinstance(value, dict) and agent_made(value):
        return {key: _raw(item) for key, item in value.items()}
    return value


def _name_of(values: list[Any]) -> str | None:
    """The name of the first operand that holds agent-made text, looked for inside plain lists too."""
    for value in values:
        if isinstance(value, Material):
            return value.name
        if agent_made(value):
            return str(getattr(value, "name", "outputs"))
        if isinstance(value, list | tuple):
            inner = _name_of(list(value))
            if inner is not None:
                return inner
    return None


def _refence(result: Any, name: str | None) -> Any:
    if name is None or isinstance(result, Material):
        return result
    if isinstance(result, str):
        return Material(result, name)
    return tagged(result, name) if isinstance(result, list | tuple) else result


@lru_cache(maxsize=1)
def _environment() -> _Environment:
    return _Environment()


@lru_cache(maxsize=512)
def _compiled(source: str) -> Template:
    return _environment().from_string(source)


def template_problem(source: str) -> str | None:
    """What keeps a template from rendering for any case, in words; `None` when nothing does."""
    try:
        parsed = _environment().parse(source)
    except TemplateSyntaxError as error:
        return f"line {error.lineno} of the template: {error.message}"
    unknown = sorted(meta.find_undeclared_variables(parsed) - set(VARIABLES) - set(_environment().globals))
    if unknown:
        return f"the template uses unknown variables: {', '.join(unknown)}; there are: {', '.join(VARIABLES)}"
    return None


def mentions(source: str, variable: str) -> bool:
    """True if a template refers to the variable; one that does not parse is searched as text."""
    try:
        parsed = _environment().parse(source)
    except TemplateSyntaxError:
        return variable in source
    return variable in meta.find_undeclared_variables(parsed)


def template_variables(record: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The variables of a prompt, from a case record."""
    texts = {key: value for key, value in record.items() if key.startswith("annotation_") and isinstance(value, str)}
    variables: dict[str, Any] = {name: Material(record.get(name) or "", name) for name in _FENCED_TEXTS}
    variables["outputs"] = OutputsView(record)
    variables["annotations"] = AnnotationsView(record.get("annotations") or {}, texts)
    variables["arguments"] = dict(arguments)
    variables["examples"] = ""
    return variables


def render(source: str, variables: Mapping[str, Any]) -> str:
    """Render a prompt.

    Raises:
        PromptError: the template fails on this case.
    """
    try:
        return _compiled(source).render(variables)
    except (TemplateError, TypeError, ValueError, KeyError, AttributeError, ArithmeticError, OverflowError) as error:
        raise PromptError(f"the prompt cannot be rendered: {type(error).__name__}: {error}") from None
