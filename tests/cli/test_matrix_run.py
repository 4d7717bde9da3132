"""`adjudge run --matrix`: every cell is run once, and a second time not at all; the analysis where statsmodels is."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path

import pytest

from adjudge.stats.factorial import Observation, analyse
from tests.cli.test_cli import run as command
from tests.conformance.eval_yaml.test_whole_run import count, write
from tests.support.configs import check, errors
from tests.support.request import dig

MATRIX = {"factors": {"model": ["m1", "m2"], "topic": ["red", "blue"]}, "replications": 2}
LONG = check("long", 'text = outputs["files"]["output/a"]\nreturn 5 if "m2" in text else 3, text', score_range=[1, 5])


def suite(folder: Path) -> Path:
    body = 'echo "$3 $2" > "$1/a"; echo "{\\"cost_usd\\": 0.0${#2}}" > "$1/metrics.json"'
    return write(folder, body, [LONG], matrix=MATRIX)


def test_every_cell_is_run_with_its_levels_and_only_once(tmp_path: Path) -> None:
    suite(tmp_path)
    first = command("run", "--matrix", "-q", cwd=tmp_path)
    assert "statsmodels" in first.stderr or first.returncode == 0, first.stderr
    assert count(tmp_path) == 16
    base = tmp_path / "eval" / "runs" / "demo" / "matrix"
    cell = base / "model-m2-topic-red-r2"
    assert (cell / "cases" / "one" / "output" / "a").read_text() == "m2 red\n"
    assert dig(json.loads((cell / "condition.json").read_text()), "levels") == {"model": "m2", "topic": "red"}
    command("run", "--matrix", "-q", cwd=tmp_path)
    assert count(tmp_path) == 16


def test_a_factor_of_the_command_without_a_level_is_told_of(tmp_path: Path) -> None:
    suite(tmp_path)
    told = "is a factor of the matrix, and has no level in this run"
    plain = command("plan", cwd=tmp_path)
    assert f"{{topic}} {told}" in plain.stderr
    assert told not in command("plan", "--input", "topic=red", cwd=tmp_path).stderr
    assert told not in command("run", "--matrix", cwd=tmp_path).stderr


def test_the_analysis_is_written_and_told(tmp_path: Path) -> None:
    suite(tmp_path)
    done = command("run", "--matrix", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    made = json.loads((tmp_path / "eval/runs/demo/matrix/anova.json").read_text())
    assert [effect["factor"] for effect in made["effects"]] == ["model", "topic"]
    best = [cell["levels"] for cell in made["conditions"] if cell.get("pareto")]
    assert {"model": "m2", "topic": "red"} in best
    base = tmp_path / "eval/runs/demo/matrix"
    assert (base / "pareto.svg").read_text().startswith("<svg")
    links = re.findall(r'href="([^"#]+/report\.html)"', (base / "report.html").read_text())
    assert len(links) == 8
    assert all((base / link).is_file() for link in links)


def test_a_design_needs_levels_and_something_to_run(tmp_path: Path) -> None:
    assert errors(write(tmp_path / "a", "", matrix={"factors": {"model": []}}))
    assert errors(write(tmp_path / "b", "", matrix={"factors": {"x": ["1", 1]}}))
    assert errors(write(tmp_path / "c", "", matrix={"factors": {"x": ["1"]}, "replications": 0}))


def observations(effect: float, *, levels: int = 3, cases: int = 12, seed: int = 1) -> list[Observation]:
    """Scores of cases that differ, in a design of one factor whose last level adds `effect`."""
    draw = random.Random(seed)
    own = [draw.gauss(0, 1) for _ in range(cases)]
    return [
        Observation(
            levels={"f": str(level)},
            case=str(case),
            replication=1,
            score=own[case] + (effect if level == levels - 1 else 0) + draw.gauss(0, 0.3),
        )
        for level in range(levels)
        for case in range(cases)
        if not (level == 0 and case == 0)  # a cell that lacks a case
    ]


def test_a_factor_of_three_levels_has_two_degrees_of_freedom_and_is_found() -> None:
    factors = {"f": ["0", "1", "2"]}
    found = analyse(observations(1.0), factors).effects[0]
    assert (found.df, found.note) == (2, "")
    assert found.p is not None
    assert found.p < 0.001
    nothing = analyse(observations(0.0), factors).effects[0]
    assert nothing.p is not None
    assert nothing.p > 0.01
    assert nothing.statistic is not None
    assert math.isfinite(nothing.statistic)


def test_under_no_effect_small_p_values_are_rare() -> None:
    ps = [analyse(observations(0.0, seed=seed), {"f": ["0", "1", "2"]}).effects[0].p or 0 for seed in range(60)]
    assert sum(p < 0.05 for p in ps) <= 9  # 3 are expected; the smallest coefficient's p would give about 8 and more


def test_what_cannot_be_tested_says_why() -> None:
    same = [Observation(levels={"f": level}, case=str(c), replication=1, score=1.0) for level in "ab" for c in range(4)]
    assert analyse(same, {"f": ["a", "b"]}).effects[0].note == "the scores do not vary"
    one = analyse(same[:4], {"f": ["a", "b"]})
    assert one.effects[0].note == "only one level has scores"
    assert one.missing_cells == ({"f": "b"},)


def test_cases_that_do_not_differ_are_no_obstacle() -> None:
    """The variance between cases is estimated as 0 here, where a fit by derivatives finds no likelihood."""
    draw = random.Random(3)
    found = [
        Observation(levels={"f": f, "g": g}, case=str(c), replication=1, score=(f == "b") + draw.gauss(0, 0.5))
        for f in "ab"
        for g in "xyz"
        for c in range(8)
    ]
    f, g = analyse(found, {"f": ["a", "b"], "g": ["x", "y", "z"]}).effects
    assert (f.note, g.note, f.df, g.df) == ("", "", 1, 2)
    assert f.p is not None
    assert g.p is not None
    assert f.p < 1e-6 < 0.01 < g.p


def test_the_likelihood_is_that_of_an_iterative_fit() -> None:
    numpy = pytest.importorskip("numpy")
    lme = pytest.importorskip("statsmodels.regression.mixed_linear_model")
    given = observations(0.5)
    groups = numpy.array([o.case for o in given])
    scores = numpy.array([o.score for o in given])
    columns = [[1.0, o.levels["f"] == "1", o.levels["f"] == "2"] for o in given]
    full = lme.MixedLM(scores, numpy.array(columns, dtype=float), groups=groups).fit(reml=False).llf
    alone = lme.MixedLM(scores, numpy.ones((len(given), 1)), groups=groups).fit(reml=False).llf
    statistic = analyse(given, {"f": ["0", "1", "2"]}).effects[0].statistic
    assert statistic == pytest.approx(2 * (full - alone), abs=1e-5)


def test_scores_without_noise_and_factors_that_go_together_are_not_tested() -> None:
    exact = [
        Observation(levels={"f": f, "g": g}, case=str(c), replication=r, score=c + 2.0 * (f == "b"))
        for f, g in ("ax", "by")
        for c in range(4)
        for r in (1, 2)
    ]
    assert "explain the scores exactly" in analyse(exact, {"f": ["a", "b"]}).effects[0].note
    both = analyse(exact, {"f": ["a", "b"], "g": ["x", "y"]}).effects
    assert ["tell the factors apart" in effect.note for effect in both] == [True, True]
