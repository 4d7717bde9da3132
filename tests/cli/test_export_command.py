"""`adjudge export`: tables on standard output and in files, and what does not go together."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.llm import call, environment
from tests.support.suites import check, write_suite


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a finished run, `run`."""
    judges = [check("good", "return 'good' in outputs['files']['output/a.md'], '=1+1'"), check("bad", "return 1 / 0")]
    write_suite(tmp_path, judges, cases={"c1": {"output/a.md": "good"}, "c2": {"output/a.md": "bad"}})
    done = call("run", "-q", "--output", "run", cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode in (0, 4), done.stderr
    return tmp_path


def export(home: Path, *arguments: str) -> Any:
    return call("export", "run", *arguments, cwd=home, env=environment(home))


def test_csv_and_json_lines_are_printed(home: Path) -> None:
    done = export(home, "--to", "csv")
    assert (done.returncode, done.stderr) == (0, "")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(r["case"], r["judge"], r["value_text"], r["error_kind"]) for r in rows] == [
        ("c1", "good", "true", ""),
        ("c2", "good", "false", ""),
        ("c1", "bad", "", "raised"),
        ("c2", "bad", "", "raised"),
    ]
    assert rows[0]["rationale"] == "'=1+1"
    lines = export(home, "--to", "jsonl").stdout.splitlines()
    assert [json.loads(line)["case"] for line in lines] == ["c1", "c2", "c1", "c2"]


def test_a_file_holds_what_is_printed(home: Path) -> None:
    done = export(home, "--to", "jsonl", "--output", "t.jsonl")
    assert (done.returncode, done.stdout) == (0, "")
    assert (home / "t.jsonl").read_text() == export(home, "--to", "jsonl").stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--to", "parquet"), "needs --output"),
        (("--to", "csv", "--experiment", "e"), "for --to mlflow"),
        (("--to", "mlflow", "--output", "f"), "--output is for tables"),
        (("--to", "mlflow", "--run-tag", "x"), "NAME=VALUE"),
        (("--to", "csv", "--output", "no/such/f"), "cannot be written"),
        ((), "--to"),
    ],
)
def test_what_cannot_be_done_is_said(home: Path, arguments: tuple[str, ...], text: str) -> None:
    done = export(home, *arguments)
    assert done.returncode == 2
    assert text in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    done = call("export", ".", "--to", "csv", cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 2
    assert "no run directory" in done.stderr
