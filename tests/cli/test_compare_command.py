"""`adjudge compare`: run directories of both kinds, as a table, as Markdown and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from adjudge.domain import Comparison
from tests.support.llm import call, environment
from tests.support.suites import check, write_suite

GRADE = check("grade", "text = outputs['files']['output/a.md']\nreturn len(text), 'long: ' + text")
GOOD = check("good", "return 'good' in outputs['files']['output/a.md'], 'looked'")


def ours(folder: Path, answers: dict[str, str], judges: list[dict[str, Any]], output: str) -> None:
    cases = {name: {"output/a.md": text} for name, text in answers.items()}
    write_suite(folder, judges, cases=cases)
    done = call("run", "-q", "--output", output, cwd=folder, env=environment(folder))
    assert done.returncode == 0, done.stderr


def theirs(folder: Path, records: dict[str, dict[str, Any]], **summary: Any) -> Path:
    folder.mkdir(parents=True)
    (folder / "summary.yaml").write_text(yaml.safe_dump({"run_id": folder.name, "per_case": records, **summary}))
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs of adjudge, `old` and `new`, below the folder."""
    ours(tmp_path, {"c1": "good", "c2": "bad", "c3": "good"}, [GOOD, GRADE, check("gone", "return True")], "old")
    ours(tmp_path, {"c1": "bad", "c2": "bad ", "c3": "good"}, [GOOD, GRADE, check("fresh", "return True")], "new")
    return tmp_path


def compare(folder: Path, *arguments: str, **env: str) -> Any:
    return call("compare", *arguments, cwd=folder, env={**environment(folder), **env})


def test_a_table_and_the_cases_behind_it(runs: Path) -> None:
    done = compare(runs, "new", "old")
    assert (done.returncode, done.stderr) == (0, "")
    assert "new compared with old" in done.stdout
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("good ")]
    assert "rate 0.333" in row
    assert "rate 0.667" in row
    assert "0/1/2" in row
    assert "judges of the run alone (1): fresh" in done.stdout
    assert "judges of the baseline alone (1): gone" in done.stdout
    assert "c1: fail, was pass" in done.stdout
    assert "baseline: long: good" in done.stdout
    assert "mcnemar exact, wilcoxon signed-rank, two-sided" in done.stdout
    assert "no difference stands out from chance" in done.stdout


def test_json_is_the_comparison(runs: Path) -> None:
    done = compare(runs, "new", "old", "--json", "--seed", "7")
    assert done.returncode == 0
    found = msgspec.json.decode(done.stdout, type=Comparison)
    assert (found.seed, found.a.name, found.b.name) == (7, "new", "old")
    assert [judge.judge for judge in found.judges] == ["good", "grade"]
    assert json.loads(done.stdout)["judges_only_in_b"] == ["gone"]
    assert compare(runs, "new", "old", "--json", "--seed", "7").stdout == done.stdout


def test_markdown_shows_what_was_written_and_does_nothing(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script> [x](http://e.example) | @team\n# heading"
    a = theirs(tmp_path / "e" / "a", {"case|1": {"q": {"value": 1, "rationale": evil, "judge_type": "llm"}}})
    b = theirs(tmp_path / "e" / "b", {"case|1": {"q": {"value": 5, "rationale": "fine", "judge_type": "llm"}}})
    done = compare(tmp_path, str(a), str(b), "--markdown")
    assert done.returncode == 0
    assert "<script>" not in done.stdout
    assert "@team" not in done.stdout
    assert "\n# heading" not in done.stdout
    rows = [line for line in done.stdout.splitlines() if line.startswith("| case&#124;1")]
    assert len(rows) == 1
    assert rows[0].count("|") == 6


def test_the_terminal_is_not_steered_by_what_judges_wrote(tmp_path: Path) -> None:
    evil = "\x1b[2J\x1b]0;owned\x07 line\nGATE PASSED [bold red]x[/]"
    a = theirs(tmp_path / "e" / "a", {"c\x1b[1m": {"q\x1b[0m": {"value": False, "rationale": evil}}})
    b = theirs(tmp_path / "e" / "b", {"c\x1b[1m": {"q\x1b[0m": {"value": True, "rationale": "fine"}}})
    done = compare(tmp_path, str(a), str(b))
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\x07" not in done.stdout
    assert not [line for line in done.stdout.splitlines() if line.startswith("GATE PASSED")]
    assert "[bold red]x[/]" in done.stdout


def test_a_run_of_ours_beside_one_of_agent_eval_harness(runs: Path) -> None:
    records = {
        case: {"good": {"value": case != "c2", "rationale": "r", "judge_type": "check"}} for case in ("c1", "c2")
    }
    theirs(runs / "peer" / "base", records)
    done = compare(runs, "new", "peer/base", "--json")
    found = msgspec.json.decode(done.stdout, type=Comparison)
    (judge,) = found.judges
    assert (judge.n, judge.only_in_a, judge.worse) == (2, 1, 1)
    assert found.judges_only_in_a == ("grade", "fresh")
    assert found.cases_only_in_a == ("c3",)


@pytest.mark.parametrize("columns", ["60", "100", "200"])
def test_narrow_terminals_keep_the_difference(runs: Path, columns: str) -> None:
    done = compare(runs, "new", "old", COLUMNS=columns)
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= int(columns)
    assert ("effect" in done.stdout) == (columns == "200")


def test_a_judge_that_is_not_compared_says_why(tmp_path: Path) -> None:
    a = theirs(tmp_path / "e" / "a", {"c": {"q": {"value": 3}}})
    b = theirs(tmp_path / "e" / "b", {"c": {"q": {"value": True}}})
    done = compare(tmp_path, str(a), str(b))
    assert done.returncode == 0
    assert "q: not compared: the run has numbers, the baseline booleans" in done.stdout


@pytest.mark.parametrize(
    ("content", "why"),
    [(None, "neither journal.db nor summary.yaml"), ("judges: [", "summary.yaml is not valid YAML")],
    ids=["nothing", "broken"],
)
@pytest.mark.parametrize("first", [True, False], ids=["run", "baseline"])
def test_what_cannot_be_read_is_exit_2_and_one_line(tmp_path: Path, content: str | None, why: str, first: bool) -> None:
    theirs(tmp_path / "ok", {"c": {"q": {"value": True}}})
    (tmp_path / "odd").mkdir()
    if content is not None:
        (tmp_path / "odd" / "summary.yaml").write_text(content)
    done = compare(tmp_path, *(("odd", "ok") if first else ("ok", "odd")))
    assert done.returncode == 2
    assert done.stdout == ""
    assert why in done.stderr
    assert "Traceback" not in done.stderr


def test_two_forms_at_once_are_refused(tmp_path: Path) -> None:
    assert compare(tmp_path, "a", "b", "--json", "--markdown").returncode == 2
