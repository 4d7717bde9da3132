"""adjudge schema"""

from __future__ import annotations

import json

import click


@click.command("schema")
@click.argument("what", type=click.Choice(["eval_yaml", "golden_yaml", "task_yaml", "result"]), default="eval_yaml")
def command(what: str) -> int:
    """Print the JSON Schema of eval.yaml (default), of the golden.yaml or task.yaml of golden tasks, or result.json."""
    if what == "result":
        from adjudge.domain import result_schema

        schema = result_schema()
    elif what == "eval_yaml":
        from adjudge.formats.eval_yaml import json_schema

        schema = json_schema()
    else:
        from adjudge.formats.golden.schema import json_schema as golden_schema

        schema = golden_schema(what)
    click.echo(json.dumps(schema, indent=2))
    return 0
