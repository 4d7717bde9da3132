"""Every verb as other tools call it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from adjudge import __version__
from adjudge.domain import result_schema
from tests.conftest import ROOT
from tests.support.llm import call, environment
from tests.support.suites import check, write_suite

PASSES = check("passes", "return True, 'fine'")
FAILS = check("fails", "return False, 'not fine'")
RAISES = check("raises", "raise ValueError('no')")


@pytest.mark.parametrize(
    ("judges", "thresholds", "code"),
    [
        ([PASSES], {"passes": {"min_pass_rate": 1.0}}, 0),
        ([FAILS], {}, 0),
        ([FAILS], {"fails": {"min_pass_rate": 0.5}}, 1),
        ([{**PASSES, "if": "False"}], {"passes": {"min_pass_rate": 0.5}}, 3),
        ([RAISES], {}, 4),
        ([RAISES], {"raises": {"max_error_rate": 1.0}}, 0),
        ([RAISES, FAILS], {"fails": {"min_pass_rate": 0.5}}, 1),
        ([PASSES], {"passes": {"min_mean": 0.5}}, 0),
        ([PASSES], {"passes": {"min_pass_rate": 0.5, "decide_by": "interval"}}, 3),
    ],
)
def test_exit_codes(tmp_path: Path, judges: list[dict[str, object]], thresholds: dict[str, object], code: int) -> None:
    write_suite(tmp_path, judges, thresholds=thresholds)
    env = environment(tmp_path)
    assert call("run", "-q", "--output", "run", cwd=tmp_path, env=env).returncode == code
    assert call("gate", "run", cwd=tmp_path, env=env).returncode == code
    assert call("report", "run", cwd=tmp_path, env=env).returncode == 0


def test_json_is_one_document_on_standard_output(tmp_path: Path) -> None:
    write_suite(tmp_path, [check("loud", "print('x'); return 3, 'y'"), RAISES])
    done = call("run", "--json", "--output", "run", cwd=tmp_path, env=environment(tmp_path))
    result = json.loads(done.stdout)
    assert done.returncode == 4
    jsonschema.validate(result, result_schema())
    assert done.stdout.encode() == (tmp_path / "run" / "result.json").read_bytes()
    gate = call("gate", "run", "--json", cwd=tmp_path, env=environment(tmp_path))
    assert json.loads(gate.stdout) == result["gate"]
    report = call("report", "run", "--json", cwd=tmp_path, env=environment(tmp_path))
    assert report.stdout == done.stdout
    plan = call("plan", "--json", cwd=tmp_path, env=environment(tmp_path))
    assert [entry["judge"] for entry in json.loads(plan.stdout)] == ["loud", "raises"]


def test_a_report_made_twice_has_the_same_bytes(tmp_path: Path) -> None:
    write_suite(tmp_path, [PASSES, FAILS, RAISES])
    env = environment(tmp_path)
    call("run", "-q", "--output", "run", cwd=tmp_path, env=env)
    names = ("result.json", "summary.md", "junit.xml")
    before = [(tmp_path / "run" / name).read_bytes() for name in names]
    for name in names:
        (tmp_path / "run" / name).unlink()
    call("report", "run", cwd=tmp_path, env=env)
    assert [(tmp_path / "run" / name).read_bytes() for name in names] == before


def test_quiet_says_nothing_and_verbose_every_score(tmp_path: Path) -> None:
    write_suite(tmp_path, [FAILS])
    quiet = call("run", "-q", cwd=tmp_path, env=environment(tmp_path))
    assert (quiet.stdout, quiet.stderr) == ("", "")
    verbose = call("run", "-v", cwd=tmp_path, env=environment(tmp_path))
    assert "case-1  fails: fail  not fine" in verbose.stdout


def test_the_step_summary_of_github_is_written(tmp_path: Path) -> None:
    write_suite(tmp_path, [PASSES])
    target = tmp_path / "summary"
    target.write_text("before\n")
    call("run", "-q", cwd=tmp_path, env=environment(tmp_path, GITHUB_STEP_SUMMARY=str(target)))
    assert target.read_text().startswith("before\n## ")
    assert "passes" in target.read_text()


def test_no_escape_codes_without_a_terminal(tmp_path: Path) -> None:
    write_suite(tmp_path, [FAILS, RAISES])
    done = call("run", cwd=tmp_path, env=environment(tmp_path, NO_COLOR="1"))
    assert "\x1b" not in done.stdout + done.stderr


def test_the_config_schema_knows_good_from_bad(tmp_path: Path) -> None:
    schema = json.loads(call("schema", cwd=tmp_path, env=environment(tmp_path)).stdout)
    good = yaml.safe_load((ROOT / "examples" / "quickstart" / "eval.yaml").read_text())
    jsonschema.validate(good, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**good, "judgs": []}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**good, "judges": [{"name": "x", "chek": "return True"}]}, schema)


def test_version_and_completion(tmp_path: Path) -> None:
    env = environment(tmp_path)
    assert call("--version", cwd=tmp_path, env=env).stdout == f"adjudge {__version__}\n"
    assert call("run", "--help", cwd=tmp_path, env=env).stdout.startswith("Usage: ")
    for shell in ("bash", "zsh", "fish"):
        assert "_ADJUDGE_COMPLETE" in call("completion", shell, cwd=tmp_path, env=env).stdout


def test_init_writes_a_suite_that_runs(tmp_path: Path) -> None:
    env = environment(tmp_path)
    assert call("init", "new", cwd=tmp_path, env=env).returncode == 0
    assert call("validate", "new", cwd=tmp_path, env=env).returncode == 0
    assert call("run", "new", cwd=tmp_path, env=env).returncode == 0
    again = call("init", "new", cwd=tmp_path, env=env)
    assert again.returncode == 2
    assert call("init", "new", "--force", cwd=tmp_path, env=env).returncode == 0


def test_selection_by_case_and_tag(tmp_path: Path) -> None:
    cases = {"a": {"annotations.yaml": "tags: [slow]\n", "output/a.md": ""}, "b": {"output/a.md": ""}}
    write_suite(tmp_path, [PASSES], cases=cases)
    env = environment(tmp_path)
    for flag in (["--case", "a"], ["--tag", "slow"]):
        done = call("run", "--json", *flag, cwd=tmp_path, env=env)
        result = json.loads(done.stdout)
        assert [score["case"] for score in result["scores"]] == ["a"]
        assert "1 of 2 cases" in result["selection"]
