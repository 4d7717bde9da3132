"""adjudge plan"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from adjudge.cli.common import (
    PATHS,
    Refused,
    against,
    build_options,
    load_suite,
    run_options,
    show_problems,
    source_options,
)
from adjudge.domain import ConfigError


@click.command("plan")
@PATHS
@source_options
@run_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    paths: tuple[Path, ...], workspace: Path | None, format_name: str | None, as_json: bool, **flags: Any
) -> int:
    """Show what a run of PATHS would ask: calls by judge and model, estimated tokens and USD. Runs no judge."""
    import asyncio

    import msgspec

    from adjudge.engine import make_plan
    from adjudge.engine.estimate import estimate
    from adjudge.report.words import count

    suite = load_suite(paths, workspace=workspace, format_name=format_name)
    options = against(build_options(dict(flags)), suite, flags)
    try:
        plan = make_plan(suite, msgspec.structs.replace(options, offline=True))  # a plan needs no key
    except ConfigError as error:
        raise Refused(error.problems) from None
    estimates = asyncio.run(estimate(plan, options))
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(estimates), indent=2).decode())
        return 0
    show_problems(plan.warnings)
    cases, judges = count(len(plan.refs), "case", "cases"), count(len(plan.judges), "judge", "judges")
    click.echo(f"{suite.name}: {cases}, {judges}, up to {count(plan.verdicts, 'verdict', 'verdicts')}\n")
    if plan.execution is not None:
        click.echo("The agent under test runs first: its cost, and what it will have made, are in no estimate.\n")
    header = ("judge", "kind", "model", "cases", "calls", "kept", "tokens in", "tokens out", "USD")
    rows = [header]
    for item in estimates:
        asked = item.kind in ("llm", "decision")
        usd = "-" if not asked else "unknown" if item.usd is None else f"{item.usd:.4f}"
        sent = "unknown" if item.unseen else item.input_tokens
        counts = (item.calls, item.kept, sent, item.output_tokens) if asked else ("-",) * 4
        rows.append((item.judge, item.kind, item.model or "-", str(item.cases), *map(str, counts), usd))  # type: ignore[arg-type]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    total = sum(item.usd for item in estimates if item.usd is not None)
    unknown = any(item.kind in ("llm", "decision") and item.calls and item.usd is None for item in estimates)
    click.echo(f"\nestimated cost: ${total:.4f}" + (" + unknown" if unknown else ""))
    return 0
