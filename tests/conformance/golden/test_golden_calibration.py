"""Label sheets out and in, and the certificate that follows from them."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from adjudge.domain import Calibration, Decision, JudgeIdentity, Trust
from adjudge.trust import (
    Item,
    LabelError,
    Labels,
    Targets,
    calibrate,
    calibration_of,
    read_labels,
    sheet,
    stratified,
)
from tests.cli.test_cli import run as adjudge
from tests.conformance.golden.test_golden_gate import SOLVES
from tests.support.golden import agent, judged, scoring, write_suite
from tests.support.provider import LoopbackProvider


def items(count: int) -> list[Item]:
    fields = {"prompt": "p", "files": "f", "diff": "=1+1", "final_message": "m"}
    return [Item(trace=f"run/t{n}", score=float(1 + n % 5), **fields) for n in range(count)]


def test_a_sample_holds_every_level_of_the_judge_and_is_the_same_for_a_seed() -> None:
    chosen = stratified(items(100), 10, seed=3)
    assert sorted(item.score or 0 for item in chosen) == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert chosen == stratified(items(100), 10, seed=3)
    assert chosen != stratified(items(100), 10, seed=4)


@pytest.mark.parametrize("as_yaml", [False, True])
def test_a_sheet_is_blind_and_comes_back(tmp_path: Path, as_yaml: bool) -> None:
    text = sheet(items(2), ("scope",), as_yaml=as_yaml)
    assert "score" not in text
    path = tmp_path / ("labels.yaml" if as_yaml else "labels.csv")
    path.write_text(text)
    with pytest.raises(LabelError, match="nobody has filled in"):
        read_labels(path, ("scope",))
    filled = text.replace("scope: ''", "scope: 4", 1) if as_yaml else text.replace("run/t0,,", "run/t0,ann,4", 1)
    path.write_text(filled)
    assert next(iter(read_labels(path, ("scope",)).scores["scope"]["run/t0"].values())) == 4


def test_a_cell_that_a_spreadsheet_would_run_is_inert() -> None:
    row = next(csv.DictReader(sheet(items(1), ("scope",), as_yaml=False).splitlines()))
    assert row["diff"] == "'=1+1"


@pytest.mark.parametrize("bad", ["6", "-1", "3.5", "good", "nan", "inf"])
def test_what_is_no_score_is_told_with_its_row(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(f"trace,labeller,scope\na,ann,3\nb,ann,{bad}\n")
    with pytest.raises(LabelError, match="csv:3: scope"):
        read_labels(path, ("scope",))


def test_a_sheet_of_a_spreadsheet_that_separates_by_semicolons(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes("\ufefftrace;labeller;Scope\r\nrun/a;ann;3\r\n".encode())
    assert read_labels(path, ("scope",)).scores == {"scope": {"run/a": {"ann": 3.0}}}


def test_a_broken_sheet_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("name,scope\na,3\n")
    with pytest.raises(LabelError, match="no column trace"):
        read_labels(path, ("scope",))
    path.write_text("trace,scope,humour\na,3,4\n")
    with pytest.raises(LabelError, match="'humour' is no dimension"):
        read_labels(path, ("scope",))


def certified(tmp_path: Path, people: list[int], judge: Sequence[float | None]) -> Calibration:
    path = tmp_path / "labels.csv"
    path.write_text("trace,labeller,scope\n" + "".join(f"t{n},ann,{score}\n" for n, score in enumerate(people)))
    labels = read_labels(path, ("scope",))
    scores = {"scope": {f"t{n}": score for n, score in enumerate(judge)}}
    made = calibrate(labels, scores, JudgeIdentity(model="m"), digest="", targets=Targets())
    return calibration_of(made, JudgeIdentity(model="m"))


def test_agreement_decides_over_trust(tmp_path: Path) -> None:
    people = [1, 2, 3, 4, 5] * 6
    assert certified(tmp_path, people, [float(score) for score in people]).trust is Trust.CALIBRATED
    assert certified(tmp_path, people[:10], [float(s) for s in people[:10]]).trust is Trust.UNCALIBRATED
    shifted = [float(min(5, score + 1)) for score in people]
    assert certified(tmp_path, people, shifted).trust is Trust.WEAK
    assert certified(tmp_path, people, [3.0] * 30).trust is Trust.UNCALIBRATED


def test_what_one_side_could_not_tell_is_counted_and_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("trace,labeller,scope\na,ann,0\nb,ann,4\nc,ann,4\n")
    labels = read_labels(path, ("scope",))
    made = calibrate(labels, {"scope": {"a": 3.0, "b": None, "c": 4.0}}, JudgeIdentity(), digest="")
    found = made.dimensions["scope"]
    assert (found.n, found.judge_abstained, found.people_abstained) == (1, 1, 1)


def test_a_certificate_of_another_rubric_is_stale(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("trace,labeller,scope\na,ann,4\n")
    made = calibrate(read_labels(path, ("scope",)), {"scope": {"a": 4.0}}, JudgeIdentity(rubric="x"), digest="")
    assert "stale" in calibration_of(made, JudgeIdentity(rubric="y")).reason


def test_from_a_run_to_a_certificate_that_the_gate_asks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = write_suite(tmp_path, agent=agent(tmp_path, SOLVES))
    with LoopbackProvider(scoring(correctness=5, scope=4)) as provider:
        assert judged(root, provider, require_calibration=True).gate.decision is Decision.INCONCLUSIVE
    done = adjudge("calibrate", "export", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "labels.csv").read_text()
    (tmp_path / "labels.csv").write_text(text.replace("run/fix-load,,,", "run/fix-load,ann,5,4", 1))
    done = adjudge("calibrate", "labels.csv", "--run", "run", cwd=tmp_path)
    assert done.returncode == 3, done.stderr  # one trace is not enough
    assert "uncalibrated: correctness: 1 traces, 100% within one point" in done.stdout
    assert json.loads((root / "certificate.json").read_text())["judge"]["model"] == "claude-sonnet-4-6"


def test_the_example_lets_its_reference_solutions_through(tmp_path: Path) -> None:
    example = Path(__file__).parents[3] / "examples" / "golden"
    done = adjudge("run", example, "--golden", "--no-llm", "-q", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert {score["case"] for score in result["scores"]} == {"missing-config", "rate-limit", "unicode-slugs"}
    assert all(score["value"] is True for score in result["scores"] if score["status"] == "scored")


def test_how_far_two_scores_lie_apart_does_not_depend_on_which_others_occur() -> None:
    """Quadratic kappa of people 1, 1, 5, 5 and a judge of 1, 4, 5, 5: 1 - 9 / 29, by hand."""
    people, judge = [1.0, 1.0, 5.0, 5.0], [1.0, 4.0, 5.0, 5.0]
    labels = Labels(dimensions=("scope",), scores={"scope": {f"t{n}": {"ann": s} for n, s in enumerate(people)}})
    scores: dict[str, float | None] = {f"t{n}": score for n, score in enumerate(judge)}
    made = calibrate(labels, {"scope": scores}, JudgeIdentity(), digest="")
    assert made.dimensions["scope"].kappa_quadratic.value == pytest.approx(1 - 9 / 29)


def test_runs_of_one_name_are_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = write_suite(tmp_path, agent=agent(tmp_path, SOLVES))
    with LoopbackProvider(scoring(correctness=5, scope=5)) as provider:
        for name in ("one/run", "two/run"):
            judged(root, provider, output=tmp_path / name)
    done = adjudge("calibrate", "export", "one/run", "two/run", cwd=tmp_path)
    assert (done.returncode, (tmp_path / "labels.csv").exists()) == (2, False)
    assert "two runs are called 'run'" in done.stderr
    (tmp_path / "labels.csv").write_text("trace,labeller,correctness,scope\nrun/fix-load,ann,1,1\n")
    done = adjudge("calibrate", "labels.csv", "--run", "one/run", "--run", "two/run", cwd=tmp_path)
    assert (done.returncode, (root / "certificate.json").exists()) == (2, False)
