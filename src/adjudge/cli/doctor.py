"""adjudge doctor"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator

import click

EXTRAS = {
    "documents": ("markitdown",),
    "image": ("PIL",),
    "jev": (),
    "litellm": ("litellm",),
    "local": ("numpy", "safetensors", "tokenizers"),
    "mlflow": ("alembic", "mlflow", "sqlalchemy"),
    "parquet": ("pyarrow",),
    "schema": ("jsonschema",),
    "stats": ("scipy", "statsmodels"),
}
"""Each extra of the package -> the modules that it brings."""
NEEDED_FOR = {
    "documents": "PDF and Office files",
    "image": "criteria on images",
    "jev": "decision models",
    "litellm": "other providers",
    "local": "similarity without a key",
    "mlflow": "tracking servers",
    "parquet": "tables in Parquet",
    "schema": "JSON Schema",
    "stats": "factorial runs",
}
PROVIDERS = {
    "Anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    "OpenAI": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "OpenRouter": ("OPENROUTER_API_KEY",),
    "JEV": ("TYPESAFE_API_KEY",),
}


@click.command("doctor")
def command() -> int:
    """Show what works on this machine, and for the rest why not. Nothing is asked of anybody."""
    for title, rows in (
        ("agents", _agents()),
        ("sandboxes", _sandboxes()),
        ("providers", _providers()),
        ("extras", _extras()),
    ):
        click.echo(title)
        for works, name, text in rows:
            click.echo(f"  {'ok ' if works else '-- '} {name:34} {text}")
    return 0


def _agents() -> Iterator[tuple[bool, str, str]]:
    from adjudge.agents import AgentError, agent_of, check_version, version_of
    from adjudge.domain import AGENTS, AgentSpec

    for name in AGENTS:
        spec = AgentSpec(name=name)
        agent = agent_of(spec)
        try:
            check_version(agent, spec, os.environ)
        except AgentError as error:
            yield False, name, str(error)
        else:
            yield True, name, version_of(agent, os.environ)


def _sandboxes() -> Iterator[tuple[bool, str, str]]:
    from adjudge.sandbox import Kind, probe, strongest

    for kind in Kind:
        if kind is not Kind.NONE:
            problem = probe(kind)
            yield not problem, kind.value, problem or "no network but the model, nothing outside to be read or changed"
    chosen = strongest()
    if chosen is Kind.NONE:
        yield False, "used", "none: agents are confined by copies and their own rules only (sandbox: strict refuses)"
    else:
        yield True, "used", chosen.value


def _providers() -> Iterator[tuple[bool, str, str]]:
    for name, variables in PROVIDERS.items():
        given = [variable for variable in variables if os.environ.get(variable)]
        yield bool(given), name, f"by {', '.join(given)}" if given else f"needs {' or '.join(variables)}"


def _extras() -> Iterator[tuple[bool, str, str]]:
    for name, modules in EXTRAS.items():
        absent = [module for module in modules if importlib.util.find_spec(module) is None]
        hint = f"pip install 'adjudge[{name}]'"
        found = "installed" if modules else "nothing to install"
        yield not absent, f"{name} ({NEEDED_FOR[name]})", f"{', '.join(absent)} missing: {hint}" if absent else found
