"""adjudge init"""

from __future__ import annotations

from pathlib import Path

import click

STARTER = """\
# An evaluation suite. `adjudge validate` checks it, `adjudge plan` shows what it would cost, `adjudge run` runs it.
name: starter
description: What this suite is for, in a line.

dataset:
  path: cases            # one sub-folder a case: input.yaml, annotations.yaml, and what was made below output/

outputs:
  - path: output         # folder (or file) below each case that holds what is judged

judges:
  # A check is the body of a Python function. It sees `outputs` and `arguments` and returns (value, rationale).
  - name: has_answer
    check: |
      text = outputs["files"].get("output/answer.md", "")
      if len(text.split()) < arguments["min_words"]:
          return False, f"only {len(text.split())} words"
      return True, "long enough"
    arguments:
      min_words: 5

  # An LLM judge asks a model. Uncomment it and set ANTHROPIC_API_KEY (or OPENAI_API_KEY and another model).
  # - name: answers_the_question
  #   model: claude-sonnet-5-5
  #   feedback_type: bool          # pass or fail; without it, declare score_range: [1, 5]
  #   prompt: |
  #     Does the output answer what was asked, without inventing facts?
  #
  #     {{ inputs }}
  #
  #     {{ outputs }}

thresholds:
  has_answer:
    min_pass_rate: 1.0   # reaching it exactly passes
"""

FILES = {
    ".gitignore": ".adjudge/\n",
    "eval.yaml": STARTER,
    "cases/first-case/input.yaml": "request: What is the capital of Austria, and on which river does it lie?\n",
    "cases/first-case/annotations.yaml": (
        "# What people know about this case; no agent sees it. `acceptable` is set beside every judge in the summary.\n"
        "acceptable: true\n"
    ),
    "cases/first-case/output/answer.md": "The capital of Austria is Vienna, which lies on the Danube.\n",
}


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option("--force", is_flag=True, help="Overwrite files that are there.")
def command(folder: Path, force: bool) -> int:
    """Write a commented eval.yaml with one case into FOLDER (by default the current one)."""
    there = [name for name in FILES if name != ".gitignore" and (folder / name).exists()]
    if there and not force:
        raise click.ClickException(f"{folder / there[0]} is there already; --force overwrites it")
    try:
        for name, text in FILES.items():
            path = folder / name
            if name == ".gitignore" and path.exists():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{folder} cannot be written: {error.strerror}") from None
    click.echo(f"wrote {', '.join(str(folder / name) for name in FILES)}")
    click.echo(f"next: adjudge run {folder / 'eval.yaml'}")
    return 0
