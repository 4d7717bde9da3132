"""adjudge harbor"""

from __future__ import annotations

from pathlib import Path

import click

from adjudge.cli.common import Refused
from adjudge.domain import Case, ConfigError, Execution


@click.command("harbor")
@click.argument("config", type=click.Path(path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), metavar="DIR", required=True, help="Where the tasks go.")
@click.option("--image", metavar="IMAGE", help="What the tasks' images are built from.")
@click.option("--env", "env", multiple=True, metavar="NAME", help="A variable that judges need (repeatable).")
@click.option("--organisation", default="adjudge", show_default=True, metavar="ORG", help="Of the tasks' names.")
def command(config: Path, output: Path, image: str | None, env: tuple[str, ...], organisation: str) -> int:
    """Make a Harbor task folder of each case of the eval.yaml CONFIG, graded by adjudge inside the container."""
    from adjudge.formats import eval_yaml
    from adjudge.formats.eval_yaml.harbor import IMAGE, write_tasks

    path = eval_yaml.detect(config)
    if path is None or not path.is_file():
        raise click.UsageError(f"{config} is no eval.yaml, and holds none")
    try:
        execution = eval_yaml.load(path).execution
        tasks = write_tasks(
            path,
            output,
            render=lambda case: instruction(case, execution),
            image=image or IMAGE,
            env=env,
            organisation=organisation,
        )
    except ConfigError as error:
        raise Refused(error.problems) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or output} cannot be written: {error.strerror}") from None
    click.echo(f"{len(tasks)} tasks in {output}")
    return 0


def instruction(case: Case, execution: Execution | None) -> str:
    """What the agent is asked: the suite's prompt, the call of its skill, or the input as it stands."""
    from adjudge.cases import inputs_text
    from adjudge.prompts import fill

    if execution is None or not (execution.prompt or execution.skill):
        return inputs_text(case.inputs)
    fields = {**case.inputs, **execution.overrides}
    arguments = fill(execution.arguments, fields).strip() if execution.arguments else ""
    if execution.prompt:
        return "\n\n".join(filter(None, (fill(execution.prompt, fields), arguments)))
    return f"Use the skill {execution.skill}." + (f"\n\n{arguments}" if arguments else "")
