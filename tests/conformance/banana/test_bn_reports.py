"""Sections 7 to 9: scores, exit codes, the verbs and what they write."""

from __future__ import annotations

import hashlib
import json
import re
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.banana.projects import (
    CONFIG,
    PASS,
    adjudge,
    agent,
    judge,
    ran,
    run_banana,
    says,
    script,
    write_project,
)

FAIL = "import sys; sys.exit('it is wrong')"
REPORT = {
    *("schema_version", "run_id", "project_root", "output_dir", "started_at", "completed_at", "duration_ms"),
    *("total_checks", "passed_checks", "failed_checks", "errored_checks", "points_earned", "total_points"),
    *("percentage", "pass_threshold", "meets_threshold", "run_passed", "checks"),
}
CHECK = {
    *("check_id", "check_type", "check_definition_sha256", "description", "source_path", "tags", "status", "score"),
    *("started_at", "completed_at", "duration_ms", "reason", "error_detail", "stdout", "stderr", "exit_code"),
    "details",
}
MIXED = {
    CONFIG: agent(harness='model = "m"\nreasoning_effort = "low"', keys='reasoning_effort_flag = ["-e", "{effort}"]'),
    "agent.sh": says(PASS),
    "eval_checks/a.yaml": script("a", FAIL, "tags: [t]\n"),
    "eval_checks/b.yaml": script("b"),
    "eval_checks/c.yaml": judge("c"),
}


def checks(passed: int, failed: int = 0, errors: int = 0) -> dict[str, str]:
    files = {f"eval_checks/p{k}.yaml": script(f"p{k}") for k in range(passed)}
    files |= {f"eval_checks/f{k}.yaml": script(f"f{k}", FAIL) for k in range(failed)}
    kill = "import os; os.kill(os.getpid(), 9)"
    return files | {f"eval_checks/e{k}.yaml": script(f"e{k}", kill) for k in range(errors)}


@pytest.mark.parametrize(
    ("counts", "threshold", "percentage", "meets", "code"),
    [
        ((2, 0), "1", 100.0, True, 0),
        ((2, 1), "1", 66.7, False, 1),
        ((2, 1), "0.6666666666666666", 66.7, True, 0),
        ((2, 1), "0.667", 66.7, False, 1),
        ((1, 2), "0.3", 33.3, True, 0),
        ((0, 1), "0.1", 0.0, False, 1),
        ((1, 0, 1), "0.5", 50.0, True, 4),
        ((2, 1, 1), "0.1", 50.0, True, 4),
    ],
)
def test_scores_and_exit_codes(
    tmp_path: Path, counts: tuple[int, ...], threshold: str, percentage: float, meets: bool, code: int
) -> None:
    found = ran(tmp_path, checks(*counts), "--pass-threshold", threshold)
    report = found.report
    assert (report["percentage"], report["meets_threshold"], found.code) == (percentage, meets, code)
    assert report["run_passed"] is (code == 0)
    passed, failed, errors = (*counts, 0)[:3]
    counted = [report[key] for key in ("passed_checks", "failed_checks", "errored_checks", "points_earned")]
    assert counted == [passed, failed, errors, passed]
    assert report["total_checks"] == report["total_points"] == sum(counts)
    assert f"Score: {passed}/{sum(counts)}" in found.out
    assert f"Passed: {'yes' if code == 0 else 'no'}" in found.out


@pytest.mark.parametrize(
    ("files", "arguments"),
    [
        ({"eval_checks/a.yaml": "{"}, ["run"]),
        ({"eval_checks/a.yaml": "{"}, ["list"]),
        ({"eval_checks/a.yaml": "{"}, ["validate"]),
        ({"eval_checks/a.yaml": script("a"), CONFIG: "x"}, ["run"]),
        ({"eval_checks/a.yaml": script("a")}, ["run", "--check-id", "b"]),
        ({"eval_checks/a.yaml": script("a")}, ["run", "--nonsense"]),
        ({"eval_checks/a.yaml": script("a")}, ["run", "--flat-output"]),
        ({"eval_checks/a.yaml": script("a")}, ["run", "--provenance-field", "x"]),
        ({"eval_checks/a.yaml": script("a")}, ["run", "--pass-threshold", "2"]),
    ],
)
def test_errors_of_configs_and_usage_end_with_2(tmp_path: Path, files: dict[str, str], arguments: list[str]) -> None:
    done = run_banana(*arguments, cwd=write_project(tmp_path, files))
    assert done.returncode == 2
    assert done.stderr


def test_no_checks_fail_a_run_but_not_the_other_verbs(tmp_path: Path) -> None:
    assert run_banana("run", cwd=tmp_path).returncode == 1
    assert run_banana("list", cwd=tmp_path).returncode == 0
    assert run_banana("validate", cwd=tmp_path).returncode == 0


def test_the_report_and_the_files_of_each_check(tmp_path: Path) -> None:
    found = ran(tmp_path, MIXED)
    report = found.report
    assert report.keys() >= REPORT
    assert report["schema_version"] == 1
    assert report["project_root"] == str(tmp_path.resolve())
    assert report["output_dir"] == str(tmp_path.resolve() / "out")
    assert [check["check_id"] for check in report["checks"]] == ["a", "b", "c"]
    assert [check["status"] for check in report["checks"]] == ["failed", "passed", "passed"]
    for check in report["checks"]:
        assert check.keys() >= CHECK
        stem = f"{check['check_id']}-{hashlib.sha256(check['check_id'].encode()).hexdigest()}"
        assert json.loads((found.run / "checks" / f"{stem}.json").read_text()) == check
        assert (found.run / "checks" / stem).is_dir() is (check["check_type"] == "deterministic")
        assert (found.run / "checks" / f"{stem}.prompt.txt").is_file() is (check["check_type"] == "harness_judge")
    by = found.checks
    assert by["a"]["tags"] == ["t"]
    assert by["a"]["source_path"] == str(tmp_path.resolve() / "eval_checks" / "a.yaml")
    assert by["b"]["details"] == {}
    assert by["b"]["stdout"] == by["b"]["stderr"] == ""
    assert not list(found.run.glob("checks/b-*.std*.txt"))
    raw = by["c"]["details"].pop("raw_response_path")
    assert (found.run / raw).read_text().strip() == PASS
    expected = {"model": "m", "agent_type": "fake", "reasoning_effort": "low", "timeout_seconds": 300}
    assert by["c"]["details"].items() >= expected.items()
    text = (found.run / "report.md").read_text()
    assert all(word in text for word in ("| a | deterministic | failed |", "| c | harness_judge | passed |", "66.7%"))
    assert "it is wrong" in text


def test_a_run_is_kept_below_the_output_dir_by_its_id(tmp_path: Path) -> None:
    write_project(tmp_path, {CONFIG: "", "eval_checks/a.yaml": script("a"), "sub/x": ""})
    assert run_banana("run", "--cwd", "sub", cwd=tmp_path).returncode == 0
    (run,) = (tmp_path / ".eval-banana" / "results").iterdir()
    assert re.fullmatch(r"\d{8}_\d{6}_[0-9a-f]{8}", run.name)
    assert json.loads((run / "report.json").read_text())["run_id"] == run.name


def test_long_ids_are_cut_in_file_names(tmp_path: Path) -> None:
    name = "x" * 200
    found = ran(tmp_path, {"eval_checks/a.yaml": script(name)})
    assert (found.run / "checks" / f"{'x' * 40}-{hashlib.sha256(name.encode()).hexdigest()}.json").is_file()


def test_the_report_holds_the_end_of_a_long_output(tmp_path: Path) -> None:
    found = ran(tmp_path, {"eval_checks/a.yaml": script("a", "print('y' * 5000 + 'x' * 2000, end='')")})
    said = found.checks["a"]["stdout"]
    (whole,) = found.run.glob("checks/*.stdout.txt")
    assert said.endswith("x" * 2000)
    assert "yx" not in said
    assert whole.name in said
    assert whole.stat().st_size == 7000


@pytest.mark.parametrize("kind", ["full", "link", "file"])
def test_flat_output_needs_an_empty_folder(tmp_path: Path, kind: str) -> None:
    write_project(tmp_path, {"empty/x": "", "eval_checks/a.yaml": script("a")})
    (tmp_path / "empty" / "x").unlink()
    if kind == "full":
        write_project(tmp_path, {"out/x": ""})
    elif kind == "link":
        (tmp_path / "out").symlink_to(tmp_path / "empty")
    else:
        write_project(tmp_path, {"out": ""})
    assert run_banana("run", "--output-dir", "out", "--flat-output", cwd=tmp_path).returncode == 2
    assert not list((tmp_path / "empty").iterdir())


def test_flat_output_takes_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert ran(tmp_path, checks(1)).report["total_checks"] == 1


def document(path: Path) -> Any:
    text = path.read_text()
    if text.startswith("```"):
        match = re.match(r"```eval-banana-result v1\n(.*?)\n```\n", text, re.DOTALL)
        assert match is not None
        text = match[1]
    return json.loads(text)


@pytest.mark.parametrize("form", ["json", "md"])
def test_the_result_document(tmp_path: Path, form: str) -> None:
    flags = ("--provenance-attempt", "2", "--provenance-field", "a=b=c", "--result-format", form)
    ran(tmp_path, MIXED, "--result-out", "result", *flags)
    path = tmp_path / "result"
    found = document(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert found.pop("produced_at")
    assert found.pop("tool_version")
    assert found.pop("observed").keys() == {
        *("commit_before", "commit_after", "dirty_tree_digest", "dirty_tree_algorithm")
    }
    by = {check["id"]: check for check in found.pop("checks")}
    assert {name: check["status"] for name, check in by.items()} == {"a": "failed", "b": "passed", "c": "passed"}
    assert (by["c"]["model"], by["c"]["reason"]) == ("m", "all is well")
    assert found == {
        "schema_version": 1,
        "status": "completed",
        "run_passed": False,
        "pass_threshold": 1.0,
        "harness": {"family": "fake", "effort": "low"},
        "error": None,
        "provenance": {"attempt": 2, "a": "b=c"},
    }
    assert ("# Eval report" in path.read_text()) is (form == "md")


def test_the_result_document_names_the_commit_and_what_differs(tmp_path: Path) -> None:
    write_project(tmp_path, {".gitignore": "out\nresult\n", "x.txt": "1", **checks(1)})
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, timeout=30)
    write_project(tmp_path, {"x.txt": "2"})
    ran(tmp_path, {}, "--result-out", "result", "--result-format", "json")
    seen = document(tmp_path / "result")["observed"]
    assert re.fullmatch("[0-9a-f]{40}", seen["commit_before"])
    assert seen["commit_before"] == seen["commit_after"]
    assert re.fullmatch("[0-9a-f]{64}", seen["dirty_tree_digest"])


@pytest.mark.parametrize(("files", "status"), [({"eval_checks/a.yaml": "{"}, "config_error"), ({"x": ""}, "no_checks")])
def test_the_result_document_says_why_nothing_ran(tmp_path: Path, files: dict[str, str], status: str) -> None:
    ran(tmp_path, files, "--result-out", "result", "--result-format", "json")
    found = document(tmp_path / "result")
    assert (found["status"], found["run_passed"], found["checks"]) == (status, False, [])


def test_the_result_document_is_written_through_no_link(tmp_path: Path) -> None:
    write_project(tmp_path, {"target": "mine"})
    (tmp_path / "result").symlink_to(tmp_path / "target")
    assert ran(tmp_path, checks(1), "--result-out", "result").code == 2
    assert (tmp_path / "target").read_text() == "mine"


def test_result_out_starts_at_the_current_folder(tmp_path: Path) -> None:
    write_project(tmp_path / "project", checks(1))
    assert run_banana("run", "--cwd", "project", "--result-out", "result", cwd=tmp_path).returncode == 0
    assert (tmp_path / "result").is_file()


def test_list_prints_a_line_a_check(tmp_path: Path) -> None:
    write_project(tmp_path, {name: text for name, text in MIXED.items() if name != CONFIG})
    done = run_banana("list", cwd=tmp_path)
    root = tmp_path.resolve()
    kinds = {"a": "deterministic", "b": "deterministic", "c": "harness_judge"}
    expected = [f"{k}\t{kind}\tAbout {k}.\t{root}/eval_checks/{k}.yaml" for k, kind in kinds.items()]
    assert (done.returncode, done.stdout.splitlines()) == (0, expected)
    assert run_banana("list", "--tag", "t", cwd=tmp_path).stdout.splitlines() == expected[:1]


def test_validate_runs_nothing(tmp_path: Path) -> None:
    body = "open('ran', 'w').close()"
    write_project(tmp_path, {**MIXED, "eval_checks/b.yaml": script("b", body)})
    done = run_banana("validate", cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "3 checks are valid")
    assert not (tmp_path / "ran").exists()
    assert not list(tmp_path.glob(".eval-banana/results/*"))


@pytest.mark.parametrize("flag", [[], ["--format", "banana"]])
def test_adjudge_run_knows_such_a_folder(tmp_path: Path, flag: list[str]) -> None:
    write_project(tmp_path, MIXED)
    done = adjudge("run", ".", *flag, "--output", "out", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert [check["status"] for check in report["checks"]] == ["failed", "passed", "passed"]


def test_an_eval_yaml_beside_eval_checks_is_run_with_them(tmp_path: Path) -> None:
    files = {
        "eval.yaml": "name: suite\ndataset: {path: cases}\noutputs: [{path: output}]\njudges:\n"
        "  - name: there\n    check: \"return True, 'fine'\"\n",
        "cases/one/input.yaml": "request: x\n",
        "cases/one/output/a.md": "answer\n",
    }
    write_project(tmp_path, {**files, **checks(1, 1)})
    done = adjudge("run", ".", cwd=tmp_path)
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    assert "there" in said
    assert "f0" in said
