"""adjudge list"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from typing import Any

import click

from adjudge.domain import BUILTIN_JUDGES, BuiltinArgument, BuiltinInfo

_HEAD = """\
# Builtin judges

`builtin: NAME` or `builtin: CATEGORY/NAME` in an eval.yaml, with `arguments`. An argument that a judge does not take,
or a value that does not fit, is an error of `validate`. Python judges need no model. LLM judges ask a model pass or
fail, and take `model`, `samples`, `guard`, `reasoning_effort`, `early_stop`, `abstain`, `context` and `examples` as
every LLM judge does.

What is judged and missing is a fail; a measurement that is missing leaves the case unscored, but for `cost_budget`.

This page is made by `adjudge list judges --markdown`.
"""


@click.command("list")
@click.argument("what", type=click.Choice(["judges", "formats"]))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--markdown", is_flag=True, help="Print the builtin judges as the reference page.")
def command(what: str, as_json: bool, markdown: bool) -> int:
    """Show the builtin judges with their arguments and what they need here, or the formats of configs."""
    if what == "formats":
        from adjudge.formats import FORMATS

        click.echo(json.dumps(list(FORMATS)) if as_json else "\n".join(FORMATS))
    elif markdown:
        click.echo(judges_page(), nl=False)
    elif as_json:
        click.echo(json.dumps([_data(name) for name in _names()], indent=2))
    else:
        click.echo("\n".join(_lines()))
    return 0


def judges_page() -> str:
    """docs/reference/builtin-judges.md"""
    parts = [_HEAD]
    for name in _names():
        info = BUILTIN_JUDGES[name]
        parts.append(f"## {info.category}/{name}\n\n{_kind(info)}. {info.summary} {info.notes}".rstrip() + "\n")
        if info.arguments:
            rows = [f"| `{one.name}` | {one.expected} | {_default(one)} | {one.summary} |" for one in info.arguments]
            parts.append("\n".join(["| argument | takes | default | |", "|---|---|---|---|", *rows]) + "\n")
        for names, how in ((info.exactly_one, "Exactly one"), (info.at_least_one, "At least one")):
            if names:
                parts.append(f"{how} of {', '.join(f'`{one}`' for one in names)} must be given.\n")
        if info.install:
            parts.append(f"Needs `{info.install}`.\n")
    return "\n".join(parts)


def _names() -> list[str]:
    return sorted(BUILTIN_JUDGES, key=lambda name: (BUILTIN_JUDGES[name].category, name))


def _kind(info: BuiltinInfo) -> str:
    return "LLM" if info.kind == "llm" else "Python"


def _default(argument: BuiltinArgument) -> str:
    if argument.required:
        return "required"
    return "" if argument.default is None else f"`{json.dumps(argument.default)}`"


def _missing(info: BuiltinInfo) -> list[str]:
    return [module for module in info.requires if importlib.util.find_spec(module) is None]


def _data(name: str) -> dict[str, Any]:
    info = BUILTIN_JUDGES[name]
    return {
        "name": name,
        "category": info.category,
        "kind": info.kind,
        "summary": info.summary,
        "notes": info.notes,
        "arguments": [
            {
                "name": one.name,
                "takes": one.expected,
                "required": one.required,
                "default": one.default,
                "summary": one.summary,
            }
            for one in info.arguments
        ],
        "exactly_one": list(info.exactly_one),
        "at_least_one": list(info.at_least_one),
        "missing": _missing(info),
        "install": info.install,
    }


def _lines() -> Iterator[str]:
    for name in _names():
        info = BUILTIN_JUDGES[name]
        yield f"{info.category}/{name} ({info.kind}): {info.summary}"
        for one in info.arguments:
            default = _default(one).strip("`")
            yield f"    {one.name}{f' ({default})' if default else ''}: {one.expected}; {one.summary}"
        missing = _missing(info)
        if missing:
            yield f"    not available here, {', '.join(missing)} missing: {info.install}"
