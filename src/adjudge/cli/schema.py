"""adjudge schema"""

from __future__ import annotations

import json

import click


@click.command("schema")
@click.argument("what", type=click.Choice(["eval_yaml", "result"]), default="eval_yaml")
def command(what: str) -> int:
    """Print the JSON Schema of an eval.yaml (default), or of result.json."""
    if what == "result":
        from adjudge.domain import result_schema

        schema = result_schema()
    else:
        from adjudge.formats.eval_yaml import json_schema

        schema = json_schema()
    click.echo(json.dumps(schema, indent=2))
    return 0
