"""A run in MLflow: what is told of it, and the real library over a local store."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import Decision, MissingExtraError, RunResult, StoreError, Usage
from adjudge.report.mlflow import figures, log_run
from tests.support.build import result, score, summary


def made(values: tuple[bool | None, ...] = (True, None), **fields: Any) -> RunResult:
    scores = [score(value, str(k)) for k, value in enumerate(values)]
    known = [value for value in values if value is not None]
    rate = sum(known) / len(known) if known else None
    judge = summary(scores, kind="llm", model="m", value=rate, usage=Usage(calls=2, cost_usd=0.25))
    return result(scores, judges=[judge], usage=Usage(calls=2, cost_usd=0.25), decision=Decision.FAIL, **fields)


def test_what_is_unscored_is_counted_and_has_no_value() -> None:
    told = figures(made())
    assert told.metrics["good/value"] == 1.0
    assert (told.metrics["good/n"], told.metrics["good/unscored"], told.metrics["good/cost_usd"]) == (1, 1, 0.25)
    assert "good/value" not in figures(made((None, None))).metrics
    assert told.tags["adjudge.decision"] == "fail"
    assert (told.params["good/kind"], told.params["good/model"]) == ("llm", "m")


def test_names_are_those_that_mlflow_takes_and_differ() -> None:
    names = ("a?b", "a!b", "../x", "/y", "", "z" * 400)
    told = figures(result([], judges=[summary(by=name) for name in names]))
    keys = [key for key in told.metrics if key.endswith("/n")]
    assert len(keys) == len(names)
    for key in keys:
        assert os.path.normpath(key) == key
        assert not key.startswith((".", "/"))
        assert len(key) <= 250


def test_without_mlflow_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mlflow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'adjudge\[mlflow\]'"):
        log_run(made(), tmp_path)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A tracking store of its own, in a folder where artifacts may lie."""
    monkeypatch.chdir(tmp_path)
    return f"sqlite:///{tmp_path}/mlflow.db"


def test_a_run_is_logged_once_and_then_updated(store: str, tmp_path: Path) -> None:
    import mlflow

    run = tmp_path / "run"
    run.mkdir()
    (run / "report.html").write_text("<p>report</p>")
    first = log_run(made((True, None)), run, tracking_uri=store, experiment="e", tags={"branch": "main"})
    again = log_run(made((None, None), selection="later"), run, tracking_uri=store, experiment="e")
    assert again == first
    client = mlflow.MlflowClient(tracking_uri=store)
    experiment: Any = client.get_experiment_by_name("e")
    (logged,) = client.search_runs([experiment.experiment_id])
    assert logged.info.status == "FINISHED"
    assert logged.data.params["good/model"] == "m"
    assert math.isnan(logged.data.metrics["good/value"])
    assert logged.data.metrics["good/unscored"] == 2
    assert (logged.data.tags["adjudge.decision"], logged.data.tags["branch"]) == ("fail", "main")
    assert logged.data.tags["adjudge.run"].startswith("run-")
    kept = {file.path for file in client.list_artifacts(first)}
    assert kept == {"result.json", "summary.md", "junit.xml", "report.html", "scores.json"}
    table = json.loads(Path(client.download_artifacts(first, "scores.json", str(tmp_path))).read_text())
    assert [row[table["columns"].index("status")] for row in table["data"]] == ["unscored", "unscored"]


def test_another_directory_is_another_run_wherever_it_lies(store: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    first = log_run(made(), tmp_path / "a", tracking_uri=store)
    assert log_run(made(), tmp_path / "b", tracking_uri=store) != first
    (tmp_path / "a").rename(tmp_path / "moved")
    assert log_run(made(), tmp_path / "moved", tracking_uri=store) == first


def test_a_server_that_does_not_take_it_is_told_in_one_line(store: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        log_run(made(), tmp_path, tracking_uri="nothing://name:pass@host")
    assert "\n" not in str(caught.value)
    assert "pass@" not in str(caught.value)
