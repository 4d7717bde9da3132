"""adjudge calibrate"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from adjudge.domain import RunResult, Snapshot, TaskRules
    from adjudge.trust import Certificate, DimensionTrust, Item, Labels


class _Group(click.Group):
    """`calibrate LABELS ...` is `calibrate check LABELS ...`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["check", *args]
        return super().resolve_command(ctx, args)


@click.group("calibrate", cls=_Group)
def command() -> None:
    """How far the rubric's judge agrees with people: write a label sheet, and take it back.

    `adjudge calibrate export RUN` writes traces to label, without the judge's scores. People fill in 1 to 5, or 0 where
    they cannot tell. `adjudge calibrate LABELS --run RUN` sets them beside the judge and writes certificate.json.
    """


@command.command("export")
@click.argument("runs", type=click.Path(path_type=Path, exists=True, file_okay=False), nargs=-1, required=True)
@click.option("--n", "count", type=click.IntRange(1), default=30, show_default=True, help="Most traces.")
@click.option(
    "--output", type=click.Path(path_type=Path), default="labels.csv", show_default=True, help=".csv or .yaml"
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--force", is_flag=True, help="Overwrite the sheet.")
def export(runs: tuple[Path, ...], count: int, output: Path, seed: int, force: bool) -> int:
    """Write a label sheet of the traces of RUNS, spread over the judge's scores and blind to them."""
    from adjudge.trust import sheet, stratified
    from adjudge.whole_files import write_whole

    if output.exists() and not force:
        raise click.ClickException(f"{output} is there already; --force overwrites it, with whatever people wrote")
    items: list[Item] = []
    dimensions: tuple[str, ...] = ()
    _distinct(runs)
    for run in runs:
        snapshot, result, rules = _tasks_of(run)
        dimensions = dimensions or _dimensions(snapshot, rules)
        items += _items(run, result, rules)
    if not items:
        raise click.ClickException("these runs hold no trace that a judge was asked about")
    chosen = stratified(items, count, seed=seed)
    text = sheet(chosen, dimensions, as_yaml=output.suffix in (".yaml", ".yml"))
    write_whole(output, text.encode("utf-8", "replace"))
    click.echo(f"wrote {output}: {len(chosen)} of {len(items)} traces, to be scored by {', '.join(dimensions)}")
    if len(chosen) < 20:
        click.echo("20 to 30 labelled traces are wanted before a judge is trusted; more runs can be exported together")
    return 0


@command.command("check")
@click.argument("labels", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--run",
    "runs",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    required=True,
    help="The run whose traces were labelled (repeatable).",
)
@click.option("--judge", metavar="M", help="Judge the same traces anew with this model.")
@click.option("--min-agreement", type=click.FloatRange(0, 1), default=0.75, show_default=True)
@click.option("--min-alpha", type=click.FloatRange(-1, 1), default=0.8, show_default=True)
@click.option("--cut", type=float, default=4.0, show_default=True, help="From which score a trace passes, for TPR/TNR.")
@click.option("--output", type=click.Path(path_type=Path), help="certificate.json beside the rubric by default.")
def check(
    labels: Path,
    runs: tuple[Path, ...],
    judge: str | None,
    min_agreement: float,
    min_alpha: float,
    cut: float,
    output: Path | None,
) -> int:
    """Set the judge's scores beside people's LABELS, and write the certificate. Exit 3 unless it is calibrated."""
    from adjudge.domain import Trust
    from adjudge.trust import CERTIFICATE, LabelError, Targets, calibrate, read_labels, write_certificate

    scores: dict[str, dict[str, float | None]] = {}
    rules: TaskRules | None = None
    root = Path()
    traces: set[str] = set()
    _distinct(runs)
    for run in runs:
        asked = _judged_anew(run, judge) if judge else run
        snapshot, result, found = _tasks_of(asked)
        if rules is not None and found.identity != rules.identity:
            raise click.ClickException(
                f"{run} was judged by another judge: {', '.join(found.identity.changes(rules.identity))}"
            )
        rules = found
        root = Path(snapshot.execution.project) if snapshot.execution else root
        traces |= {_name(run, stub.id) for stub in result.cases}
        for name in _dimensions(snapshot, rules):
            scores.setdefault(name, {}).update(_scores(run, result, rules, name))
    assert rules is not None
    try:
        read = read_labels(labels, tuple(scores))
    except LabelError as error:
        raise click.ClickException(str(error)) from None
    _same_traces(labels, read, traces)
    targets = Targets(agreement=min_agreement, alpha=min_alpha)
    digest = hashlib.sha256(labels.read_bytes()).hexdigest()
    made = calibrate(read, scores, rules.identity, digest=digest, targets=targets, cut=cut)
    path = output or root / CERTIFICATE
    write_certificate(path, made)
    _show(made)
    _show_missing(read, scores)
    if made.trust is not Trust.CALIBRATED:
        click.echo(f"\n{_advice(made)}")
    click.echo(f"wrote {path}")
    return 0 if made.trust is Trust.CALIBRATED else 3


def _distinct(runs: Sequence[Path]) -> None:
    """A label sheet names traces by run: the labels of one must not count for another."""
    names = [run.resolve().name for run in runs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise click.ClickException(f"two runs are called {twice!r}, so that a sheet cannot tell their traces apart")


def _same_traces(path: Path, labels: Labels, traces: set[str]) -> None:
    """Labels of traces that no run holds are of other work: nothing is computed from the rest."""
    strange = sorted({trace for given in labels.scores.values() for trace in given} - traces)
    if strange:
        told = ", ".join(strange[:5]) + (", ..." if len(strange) > 5 else "")
        raise click.ClickException(f"{path}: {len(strange)} of the labelled traces are in none of the runs: {told}")


def _tasks_of(run: Path) -> tuple[Snapshot, RunResult, TaskRules]:
    from adjudge.domain import StoreError
    from adjudge.engine import read_run

    try:
        snapshot, result = read_run(run)
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    if snapshot.tasks is None:
        raise click.ClickException(f"{run} is no run of coding tasks")
    return snapshot, result, snapshot.tasks


def _dimensions(snapshot: Snapshot, rules: TaskRules) -> tuple[str, ...]:
    judge = next((one for one in snapshot.judges if one.name == rules.judge), None)
    if judge is None:
        raise click.ClickException("the run left the rubric's judge out")
    return tuple(criterion.name for criterion in judge.criteria)


def _name(run: Path, task: str) -> str:
    return f"{run.resolve().name}/{task}"


def _items(run: Path, result: RunResult, rules: TaskRules) -> list[Item]:
    from adjudge.cases import TraceLimits, read_trace, shown_trace
    from adjudge.domain import Status
    from adjudge.scoring.tasks import samples_of
    from adjudge.trust import Item

    found = []
    for stub in result.cases:
        try:
            trace, _ = shown_trace(read_trace(str(run / "cases" / stub.id)), TraceLimits())
        except (OSError, ValueError):
            continue
        mine = [s for s in result.scores if s.case == stub.id and s.judge == rules.judge]
        if mine and all(score.status is Status.SKIPPED for score in mine):
            continue  # a hard check failed: no judge is asked about such work
        values = [value for score in mine for value in samples_of(score)]
        found.append(
            Item(
                trace=_name(run, stub.id),
                prompt=trace["prompt"],
                files=trace["files_touched"],
                diff=trace["diff"],
                final_message=trace["final_message"],
                score=sum(values) / len(values) if values else None,
            )
        )
    return found


def _scores(run: Path, result: RunResult, rules: TaskRules, dimension: str) -> dict[str, float | None]:
    """Trace -> the judge's score, `None` where it could not tell; what could not be had is left out."""
    from adjudge.domain import Status

    found: dict[str, float | None] = {}
    for score in result.scores:
        if score.judge == rules.judge and score.criterion == dimension:
            if score.status is Status.SCORED and isinstance(score.value, int | float):
                found[_name(run, score.case)] = float(score.value)
            elif score.status is Status.ABSTAINED:
                found[_name(run, score.case)] = None
    return found


def _judged_anew(run: Path, model: str) -> Path:
    """A run of the same traces with another judge, below the run."""
    import msgspec

    from adjudge.api import load
    from adjudge.api import run as judge_suite
    from adjudge.cases import PATCH, read_trace
    from adjudge.cli.common import Refused
    from adjudge.domain import ConfigError, Submission

    snapshot, _, _ = _tasks_of(run)
    assert snapshot.execution is not None
    try:
        suite = load(snapshot.execution.project, format="golden")
        submissions = {}
        for stub in snapshot.cases:
            home = run / "cases" / stub.id
            events = home / "events.json"
            submissions[stub.id] = Submission(
                patch=(home / PATCH).read_bytes().decode("utf-8", "surrogateescape"),
                trace=str(events.resolve()) if events.is_file() else "",
                final_message=read_trace(str(home)).final_message,
                source=run.name,
            )
        assert suite.execution is not None
        assert suite.tasks is not None
        suite = msgspec.structs.replace(
            suite,
            execution=msgspec.structs.replace(suite.execution, submissions=submissions),
            tasks=msgspec.structs.replace(suite.tasks, baseline=None),
        )
        output = run / "calibration" / hashlib.sha256(model.encode()).hexdigest()[:8]
        output.parent.mkdir(exist_ok=True)
        judge_suite(suite, output=output, judge_model=model, cases=tuple(submissions))
    except ConfigError as error:
        raise Refused(error.problems) from None
    except OSError as error:
        raise click.ClickException(f"the traces of {run} cannot be read: {error}") from None
    return output


def _show(made: Certificate) -> None:
    click.echo(f"{made.trust.value}: {made.why}")
    for name, one in made.dimensions.items():
        click.echo(f"\n{name} ({one.n} traces, {made.labellers} labelling)")
        for label, figure in _figures(one):
            click.echo(f"  {label:<28} {figure}")
        for person, row in one.confusion.items():
            click.echo(f"  people {person}: " + ", ".join(f"judge {score} x{count}" for score, count in row.items()))
        for trace, theirs, its in one.farthest:
            click.echo(f"  far apart: {trace}: people {theirs:g}, judge {its:g}")


def _show_missing(labels: Labels, scores: dict[str, dict[str, float | None]]) -> None:
    for name, given in labels.scores.items():
        missing = len(set(given) - set(scores[name]))
        if missing:
            click.echo(f"{name}: of the labelled traces the judge has no score of {missing}: left out")


def _advice(made: Certificate) -> str:
    """What to do about a judge that is not calibrated: more labels, then the rubric, and another judge last."""
    name, top = next(iter(made.dimensions.items()))
    people = top.people_alpha.value if top.people_alpha is not None else None
    if top.n < made.targets.traces:
        return f"label more traces: {made.targets.traces} to 30 are wanted"
    if people is None:
        return (
            f"sharpen the anchors of {name} in rubric.md, and calibrate again; let a second person label, to see "
            "whether two people agree; another judge (--judge MODEL) comes last"
        )
    if people < made.targets.alpha:
        return (
            f"people do not agree with each other (alpha {people:.2f}): sharpen the anchors of {name} in rubric.md "
            "until they do, and calibrate again; no other judge will help"
        )
    return (
        f"people agree with each other (alpha {people:.2f}), and the judge does not with them: sharpen the anchors of "
        f"{name} in rubric.md, and calibrate again; then try another judge (--judge MODEL)"
    )


def _figures(one: DimensionTrust) -> Sequence[tuple[str, str]]:
    named = [
        ("exact agreement", one.exact),
        ("within one point", one.within_1),
        ("Cohen's kappa", one.kappa),
        ("  quadratic weights", one.kappa_quadratic),
        *((f"Krippendorff's alpha, {level}", alpha) for level, alpha in one.alpha.items()),
        ("bias (judge - people)", one.bias),
        (f"TPR (people >= {one.cut:g})", one.tpr),
        (f"TNR (people < {one.cut:g})", one.tnr),
    ]
    if one.people_alpha is not None:
        named.append(("alpha among people", one.people_alpha))
    figures = [(label, _text(estimate.value, estimate.low, estimate.high)) for label, estimate in named]
    told = f"judge {one.judge_abstained}, people {one.people_abstained}"
    return [*figures, ("could not tell", told)]


def _text(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "undefined"
    return f"{value:.3f}" + (f"  95% {low:.3f} to {high:.3f}" if low is not None and high is not None else "")
