"""What an agent under test is told: templates over a case's input, `{field}` or Jinja, decided by what they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

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


def template_faults(template: str, *, steps: Sequence[str] = ()) -> str:
    """What keeps a template from being filled for any case; empty when nothing does. `steps` came before it."""
    if not is_jinja(template):
        return ""
    from jinja2 import TemplateSyntaxError, meta, nodes
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment()
    try:
        tree = environment.parse(template)
    except TemplateSyntaxError as error:
        return f"line {error.lineno}: {error.message}"
    unknown = sorted(meta.find_undeclared_variables(tree) - {"input", "steps"})
    if unknown:
        return f"there is no {', '.join(unknown)}: it sees input and steps"
    for access in tree.find_all(nodes.Getattr):
        if isinstance(access.node, nodes.Name) and access.node.name == "steps" and access.attr not in steps:
            return f"no step {access.attr!r} comes before it"
    return ""


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
