"""What an agent under test is told: templates over a case's input, `{field}` or Jinja, decided by what they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import nodes

_FIELD = re.compile(r"\{([A-Za-z_][\w-]*)(\?)?\}")


class InputError(ValueError):
    """A template that this case cannot fill."""


def is_jinja(template: str) -> bool:
    """True for templates that hold a Jinja expression or statement; the others have `{field}` places."""
    return "{{" in template or "{%" in template


def fields_of(template: str) -> tuple[str, ...]:
    """The fields that every case must have, by a template with `{field}` places."""
    if is_jinja(template):
        return ()
    return tuple(dict.fromkeys(name for name, optional in _FIELD.findall(template) if not optional))


def fill(template: str, fields: Mapping[str, Any], *, steps: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """The text for one case. Whitespace and all other braces stay as they are; what is put in is not expanded again.

    `{field}` must be there and not blank; `{field?}` may be absent. Jinja sees `input` and `steps`, and an undefined
    variable is an error.

    Raises:
        InputError: with every field that is missing, or what Jinja says.
    """
    if is_jinja(template):
        return _jinja(template, fields, steps or {})
    missing = [name for name in fields_of(template) if _blank(fields.get(name))]
    if missing:
        what = "field is" if len(missing) == 1 else "fields are"
        raise InputError(f"the {what} missing or blank in the case's input: {', '.join(missing)}")
    return _FIELD.sub(lambda match: as_text(fields.get(match[1])), template)


def entries(given: Mapping[str, Any]) -> list[Any]:
    """The entries of a case in a batch: those of an input that is a list, else the input itself."""
    whole = given.get("input") if set(given) == {"input"} else given
    return whole if isinstance(whole, list) else [given]


def entry_fields(entry: Any) -> dict[str, Any]:
    """What a template sees of an entry of a batch; one that is no mapping is a `prompt`."""
    return dict(entry) if isinstance(entry, Mapping) else {"prompt": entry}


def template_faults(template: str, *, steps: Sequence[str] = ()) -> str:
    """What keeps a template from being filled for any case; empty when nothing does. `steps` came before it."""
    if not is_jinja(template):
        return ""
    from jinja2 import TemplateSyntaxError, meta

    try:
        tree = _parsed(template)
    except TemplateSyntaxError as error:
        return f"line {error.lineno}: {error.message}"
    seen = meta.find_undeclared_variables(tree)
    unknown = sorted(seen - {"input", "steps"})
    if unknown:
        return f"there is no {', '.join(unknown)}: it sees input and steps"
    return _step_fault(tree, steps) if "steps" in seen else ""


def uses_steps(template: str) -> bool:
    """True for templates without a fault that can be filled only after earlier steps."""
    from jinja2 import meta

    return is_jinja(template) and "steps" in meta.find_undeclared_variables(_parsed(template))


def _parsed(template: str) -> nodes.Template:
    from jinja2.sandbox import SandboxedEnvironment

    return SandboxedEnvironment().parse(template)


def _step_fault(tree: nodes.Template, steps: Sequence[str]) -> str:
    """What is wrong with the steps that a template names; one is not asked for where the template tests for it."""
    from jinja2 import nodes

    tested = {_step_of(test.node) for test in tree.find_all((nodes.Test, nodes.Filter)) if test.name in _TESTS}
    tested |= {
        compare.expr.value
        for compare in tree.find_all(nodes.Compare)
        if isinstance(compare.expr, nodes.Const) and any(_is_steps(operand.expr) for operand in compare.ops)
    }
    called = [call.node for call in tree.find_all(nodes.Call)]
    for access in tree.find_all((nodes.Getattr, nodes.Getitem)):
        name = _step_of(access)
        is_method = isinstance(access, nodes.Getattr) and hasattr(dict, access.attr)
        if name is None or name in tested or (is_method and any(access is node for node in called)):
            continue
        if name not in steps:
            return f"no step {name!r} comes before it"
        if is_method:
            return f"steps.{name} is a method of mappings: steps[{name!r}] is the step"
    return ""


_TESTS = ("defined", "undefined", "default", "d")


def _step_of(access: nodes.Node | None) -> Any:
    """The name in `steps.name` and `steps['name']`; `None` for anything else."""
    from jinja2 import nodes

    if isinstance(access, nodes.Getattr) and _is_steps(access.node):
        return access.attr
    if isinstance(access, nodes.Getitem) and _is_steps(access.node) and isinstance(access.arg, nodes.Const):
        return access.arg.value
    return None


def _is_steps(node: nodes.Node) -> bool:
    from jinja2 import nodes

    return isinstance(node, nodes.Name) and node.name == "steps"


def as_text(value: Any) -> str:
    """A field's value as it stands in a prompt: text without the line break at its end; other data as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.rstrip("\n")
    return str(value) if isinstance(value, int | float) else json.dumps(value, ensure_ascii=False)


def _blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _jinja(template: str, fields: Mapping[str, Any], steps: Mapping[str, Mapping[str, Any]]) -> str:
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=False)
    try:
        return environment.from_string(template).render(input=dict(fields), steps=dict(steps))
    except (TemplateError, ArithmeticError, TypeError, ValueError, LookupError, AttributeError) as error:
        raise InputError(f"the template cannot be filled: {error}") from None
