"""A finished run in MLflow: parameters, metrics, tags, artifacts and a table of the scores."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import MissingExtraError, RunResult, StoreError, label_name
from adjudge.report.files import write_files
from adjudge.report.tables import COLUMNS, rows
from adjudge.whole_files import write_whole

RUN_TAG = "adjudge.run"
IDENTITY = "mlflow-run.txt"
"""Beside a run's journal: the value of its tag, so that the same directory is the same run wherever it lies."""
TABLE = "scores.json"
_NOT_IN_NAMES = re.compile(r"[^\w\-. /]")
_MAX_NAME, _MAX_TEXT = 250, 500
_PARAMS_AT_ONCE, _METRICS_AT_ONCE = 100, 900


class Figures(msgspec.Struct, frozen=True):
    """What MLflow is told of a run, apart from files."""

    params: dict[str, str]
    metrics: dict[str, float]
    tags: dict[str, str]


def figures(result: RunResult) -> Figures:
    """The figures of a result. A judge without a value has no metric `value`: what is not scored is never a 0."""
    params = {"suite": result.suite, "format": result.format, "selection": result.selection, "seed": str(result.seed)}
    params |= {"adjudge": result.adjudge, "cases": str(len(result.cases)), "baseline": result.baseline}
    metrics: dict[str, float] = {}
    taken: set[str] = set()
    for summary in result.judges:
        name = _name(label_name(summary.judge, summary.criterion), taken)
        params[f"{name}/kind"] = summary.kind
        params[f"{name}/model"] = summary.model
        known: dict[str, float | None] = {
            "value": summary.value,
            "n": summary.n,
            "unscored": summary.unscored,
            "abstained": summary.abstained,
            "low": summary.interval.low if summary.interval else None,
            "high": summary.interval.high if summary.interval else None,
            "cost_usd": summary.usage.cost_usd if summary.usage else None,
        }
        if summary.people is not None:
            known |= {"people_n": summary.people.n, "people_agree": summary.people.agree}
        metrics |= {f"{name}/{key}": float(value) for key, value in known.items() if value is not None}
    if result.usage.cost_usd is not None:
        metrics["cost_usd"] = result.usage.cost_usd
    metrics["unscored"] = float(sum(summary.unscored for summary in result.judges))
    tags = {
        "adjudge.decision": result.decision,
        "adjudge.reasons": "\n".join(result.gate.reasons),
        "adjudge.unpriced_calls": str(result.usage.unpriced_calls),
    }
    return Figures(
        {key: value[:_MAX_TEXT] for key, value in params.items() if value},
        metrics,
        {key: value[:_MAX_TEXT] for key, value in tags.items()},
    )


def _name(text: str, taken: set[str]) -> str:
    """A name that MLflow takes, and that no other judge has."""
    parts = [part if part.strip(". ") else "_" for part in _NOT_IN_NAMES.sub("_", text).split("/")]
    name = made = "/".join(parts)[: _MAX_NAME - 30]
    number = 2
    while made in taken or made == "":
        made, number = f"{name}_{number}", number + 1
    taken.add(made)
    return made


def log_run(
    result: RunResult,
    run: Path,
    *,
    tracking_uri: str | None = None,
    experiment: str | None = None,
    tags: Mapping[str, str] | None = None,
) -> str:
    """Log the run directory `run` with its result; returns the id of MLflow's run.

    The tracking server is `tracking_uri`, else that of MLFLOW_TRACKING_URI, else the library's default; the experiment
    `experiment`, else that of MLFLOW_EXPERIMENT_NAME, else the suite's name. A run directory that was logged there
    before is updated.

    Raises:
        MissingExtraError: MLflow, or what it needs for such a server, is not installed.
        StoreError: MLflow does not take it, in its own words.
    """
    try:
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
    except ImportError:
        raise MissingExtraError("logging to MLflow needs mlflow: pip install 'adjudge[mlflow]'") from None
    try:
        client = MlflowClient(tracking_uri=tracking_uri)
        wanted = experiment or os.environ.get("MLFLOW_EXPERIMENT_NAME") or result.suite
        return _log(client, result, run, experiment=wanted, tags=tags or {})
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"this MLflow server needs {error.name}: pip install 'adjudge[mlflow]'") from None
    except MlflowException as error:
        text = " ".join(str(error).split())
        raise StoreError(f"MLflow: {re.sub('://[^/@ ]*@', '://', text)[:500]}") from None
    except OSError as error:
        raise StoreError(f"MLflow: {error.strerror or error}") from None


def _log(client: Any, result: RunResult, run: Path, *, experiment: str, tags: Mapping[str, str]) -> str:
    found = client.get_experiment_by_name(experiment)
    home = found.experiment_id if found is not None else client.create_experiment(experiment)
    identity = _identity(run)
    earlier = client.search_runs([home], filter_string=f"tags.`{RUN_TAG}` = '{identity}'", max_results=1)
    own = {RUN_TAG: identity, "mlflow.runName": run.resolve().name}
    logged = earlier[0] if earlier else client.create_run(home, tags=own)
    run_id = str(logged.info.run_id)
    try:
        _log_figures(client, run_id, figures(result), logged.data, tags={**tags, **own})
        with tempfile.TemporaryDirectory(prefix="adjudge-") as folder:
            _write_artifacts(result, run, Path(folder))
            client.log_artifacts(run_id, folder)
        client.set_tag(run_id, "mlflow.loggedArtifacts", json.dumps([{"path": TABLE, "type": "table"}]))
    except BaseException:
        client.set_terminated(run_id, status="FAILED")
        raise
    client.set_terminated(run_id, status="FINISHED")
    return run_id


def _identity(run: Path) -> str:
    """What tells this run directory from every other."""
    file = run / IDENTITY
    if file.is_file():
        told = file.read_text(encoding="utf-8", errors="replace").strip()
        if re.fullmatch(r"[\w.-]{1,200}", told):
            return told
    stem = re.sub(r"[^\w.-]", "-", run.resolve().name)[:150]
    made = f"{stem}-{secrets.token_hex(4)}"
    write_whole(file, f"{made}\n".encode())
    return made


def _log_figures(client: Any, run_id: str, told: Figures, before: Any, *, tags: Mapping[str, str]) -> None:
    """Log what is new. MLflow takes a parameter once: a later value of it is a tag. It cannot forget a metric: one that
    is no longer known becomes NaN."""
    from mlflow.entities import Metric, Param, RunTag

    now = int(time.time() * 1000)
    gone = {key: nan for key in before.metrics if key not in told.metrics}
    metrics = [Metric(k, v, now, 0) for k, v in {**told.metrics, **gone}.items() if before.metrics.get(k) != v]
    params = [Param(key, value) for key, value in told.params.items() if key not in before.params]
    changed = {
        f"adjudge.now.{key}"[:_MAX_NAME]: value
        for key, value in told.params.items()
        if before.params.get(key, value) != value
    }
    every = [RunTag(key, str(value)) for key, value in {**tags, **told.tags, **changed}.items()]
    for chunk in _chunks(params, _PARAMS_AT_ONCE):
        client.log_batch(run_id, params=chunk)
    for chunk in _chunks(metrics, _METRICS_AT_ONCE):
        client.log_batch(run_id, metrics=chunk)
    for chunk in _chunks(every, _PARAMS_AT_ONCE):
        client.log_batch(run_id, tags=chunk)


def _chunks(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _write_artifacts(result: RunResult, run: Path, folder: Path) -> None:
    write_files(result, folder)
    if (run / "report.html").is_file():
        shutil.copyfile(run / "report.html", folder / "report.html")
    encoder = msgspec.json.Encoder()
    with (folder / TABLE).open("wb") as file:
        file.write(b'{"columns":' + encoder.encode(COLUMNS) + b',"data":[')
        for number, row in enumerate(rows(result)):
            cells = [getattr(row, name) for name in COLUMNS]
            file.write((b",\n" if number else b"\n") + encoder.encode(cells))
        file.write(b"]}\n")
