"""Rendering templates with Jinja2 in a sandbox: what can hold what the agent made is fenced when it is printed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jinja2 import Template, TemplateSyntaxError, Undefined, meta, nodes, pass_context
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from adjudge.prompts.fence import fenced
from adjudge.prompts.taint import FENCE, fence_outputs
from adjudge.prompts.templates import AGENT_MADE, TEXTS, VARIABLES, Fitting, PromptError
from adjudge.prompts.views import shown, to_json

_FITTING = "the fitting of this rendering"  # no name that a template could spell
_PARTS: tuple[type[nodes.Node], ...] = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)


@lru_cache(maxsize=1)
def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(autoescape=False, keep_trailing_newline=True, finalize=_finalize)
    environment.filters["tojson"] = lambda value, indent=2: to_json(value, indent)
    environment.filters[FENCE] = _fence
    return environment


@pass_context
def _finalize(context: Context, value: Any) -> Any:
    """How a value of the suite's author prints: collections as JSON, an undefined one not at all, which is noted."""
    if isinstance(value, Undefined):
        _note_undefined(context, value)
        return ""
    return value if isinstance(value, str) else shown(value)


def _note_undefined(context: Context, value: Undefined) -> None:
    fitting = context.get(_FITTING)
    if isinstance(fitting, Fitting):
        fitting.notes.append(f"the prompt prints nothing for {value._undefined_name or 'a value'}, which is not there")


@pass_context
def _fence(context: Context, value: Any, label: str) -> str:
    """How a value prints that can hold what the agent made; numbers and nothing need no fence."""
    if isinstance(value, Undefined):
        _note_undefined(context, value)
        return ""
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return str(value)
    fitting = context.get(_FITTING)
    return fenced(fitting.fit(value, label) if isinstance(fitting, Fitting) else shown(value), label)


@lru_cache(maxsize=512)
def _compiled(source: str) -> Template:
    environment = _environment()
    tree = fence_outputs(environment.parse(source), AGENT_MADE)
    return Template.from_code(environment, environment.compile(tree), environment.make_globals(None))


def template_problem(source: str) -> str | None:
    """What keeps a template from rendering for any case, in words; `None` when nothing does."""
    try:
        tree = _environment().parse(source)
        if any(tree.find(part) is not None for part in _PARTS):
            return "a template cannot include, import or extend another file; context adds files to a prompt"
        for kind, known in ((nodes.Filter, _environment().filters), (nodes.Test, _environment().tests)):
            for used in tree.find_all(kind):
                if used.name not in known:
                    return f"line {used.lineno} of the template: there is no {kind.__name__.lower()} {used.name!r}"
        unknown = sorted(meta.find_undeclared_variables(tree) - set(VARIABLES) - set(_environment().globals))
        problem = _text_attribute(tree)
        if problem:
            return problem
        _compiled(source)
    except TemplateSyntaxError as error:
        return f"line {error.lineno} of the template: {error.message}"
    except RecursionError:
        return "the template is nested too deeply"
    if unknown:
        return f"the template uses unknown variables: {', '.join(unknown)}; there are: {', '.join(VARIABLES)}"
    return None


def _text_attribute(tree: nodes.Template) -> str | None:
    """`{{ inputs.request }}`: the text variables are text, and have no keys."""
    picked: list[tuple[nodes.Node, str, int]] = [(p.node, p.attr, p.lineno) for p in tree.find_all(nodes.Getattr)]
    picked += [
        (p.node, p.arg.value, p.lineno)
        for p in tree.find_all(nodes.Getitem)
        if isinstance(p.arg, nodes.Const) and isinstance(p.arg.value, str)
    ]
    rebound = {name.name for name in tree.find_all(nodes.Name) if name.ctx != "load"}
    for node, key, line in picked:
        if not isinstance(node, nodes.Name) or node.name in rebound:
            continue
        if node.name in TEXTS and not hasattr(str, key):
            return f"line {line} of the template: {node.name} is text and has no {key!r}"
    return None


def mentions(source: str, variable: str) -> bool:
    """True if a template refers to the variable; one that does not parse is searched as text."""
    used = _used(source)
    return variable in source if used is None else variable in used


@lru_cache(maxsize=512)
def _used(source: str) -> frozenset[str] | None:
    try:
        return frozenset(meta.find_undeclared_variables(_environment().parse(source)))
    except (TemplateSyntaxError, RecursionError):
        return None


@lru_cache(maxsize=512)
def fixed_prefix(source: str) -> str:
    """The text that every rendering of a template begins with."""
    try:
        body = _environment().parse(source).body
    except (TemplateSyntaxError, RecursionError):
        return ""
    found = ""
    for node in body[0].nodes if body and isinstance(body[0], nodes.Output) else ():
        if not isinstance(node, nodes.TemplateData):
            return found
        found += node.data
    return found if len(body) > 1 or not body else ""


def render(source: str, variables: Mapping[str, Any], fitting: Fitting | None = None) -> str:
    """Render a prompt; `fitting` notes what it shows of the agent's work, and may keep it short.

    Raises:
        PromptError: the template fails on this case.
    """
    try:
        return _compiled(source).render({**variables, _FITTING: fitting})
    except Exception as error:
        raise PromptError(f"the prompt cannot be rendered: {type(error).__name__}: {error}") from None
