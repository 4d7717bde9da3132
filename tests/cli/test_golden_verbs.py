"""What the verbs beside `run` say of a folder of golden tasks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.support.golden import SOLUTION, TASK, agent, patch_of, typed, write_suite
from tests.support.llm import ROOT, call, environment

EXAMPLE = ROOT / "examples" / "golden"


def said(folder: Path, *words: str | Path, **more: str) -> str:
    done = call(*words, cwd=folder, env=environment(folder, None, **more))
    assert done.returncode == 0, done.stderr
    return done.stdout


def schema(folder: Path, name: str) -> Any:
    return json.loads(said(folder, "schema", name))


def test_formats_are_listed(tmp_path: Path) -> None:
    assert "golden" in said(tmp_path, "list", "formats").split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["init", "--format", "go"], "golden"),
        (["schema", "ta"], "task_yaml"),
        (["run", "--update-baseline", ""], "ratchet"),
        (["run", "--gol"], "--golden"),
    ],
)
def test_a_shell_completes_it(tmp_path: Path, words: list[str], offered: str) -> None:
    asked = {"_ADJUDGE_COMPLETE": "bash_complete", "COMP_CWORD": str(len(words))}
    env = environment(tmp_path, None, COMP_WORDS=" ".join(["adjudge", *words]), **asked)
    script = Path(sys.executable).parent / "adjudge"
    done = subprocess.run([script], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert f"plain,{offered}" in done.stdout.split()


def test_the_schemas_admit_what_is_read(tmp_path: Path) -> None:
    tasks = list(EXAMPLE.glob("tasks/*/task.yaml"))
    assert tasks
    for path in tasks:
        jsonschema.validate(yaml.safe_load(path.read_text()), schema(tmp_path, "task_yaml"))
    jsonschema.validate(yaml.safe_load((EXAMPLE / "golden.yaml").read_text()), schema(tmp_path, "golden_yaml"))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("task_yaml", {**TASK, "id": "x", "promt": "y"}),
        ("task_yaml", {**TASK}),
        ("task_yaml", {**TASK, "id": "x", "max_files_touched": "3"}),
        ("golden_yaml", {"judge": {"sampels": 3}}),
        ("golden_yaml", {"max_drop": "0.3"}),
    ],
)
def test_the_schemas_refuse_what_is_refused(tmp_path: Path, name: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema(tmp_path, name))
    root = write_suite(tmp_path)
    (root / ("golden.yaml" if name == "golden_yaml" else "tasks/fix-load/task.yaml")).write_text(yaml.safe_dump(wrong))
    assert call("validate", root, cwd=tmp_path, env=environment(tmp_path)).returncode == 2


def test_off_needs_no_quotes(tmp_path: Path) -> None:
    """YAML reads it as false; `on` is no level."""
    root = write_suite(tmp_path)
    settings = root / "golden.yaml"
    settings.write_text("checks: {weakened_tests: off, expected_files: soft}\n")
    planned = json.loads(said(tmp_path, "plan", root, "--json"))
    assert "weakened_tests" not in {entry["judge"] for entry in planned}
    settings.write_text("checks: {weakened_tests: on}\n")
    done = call("validate", root, cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 2
    assert "checks.weakened_tests: must be hard, soft or off" in done.stderr


def test_validate_counts_tasks_and_tells_every_fault_at_once(tmp_path: Path) -> None:
    root = write_suite(tmp_path, {"a": {}, "b": {}})
    assert "valid (golden): 2 cases" in said(tmp_path, "validate", root)
    (root / "tasks" / "a" / "task.yaml").write_text(yaml.safe_dump({**TASK, "id": "a", "repo": "gone"}))
    (root / "tasks" / "b" / "checks.py").write_text("def run_checks(:\n")
    (root / "rubric.md").write_text("no dimension\n")
    done = call("validate", root, cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 2
    for text in ("tasks/a/task.yaml", "tasks/b/checks.py", "rubric.md", "3 errors; nothing was run"):
        assert text in done.stderr


def test_a_plan_counts_the_calls_of_tasks_that_no_agent_has_worked_on_yet(tmp_path: Path) -> None:
    """What the judge will be shown is not known, so that neither tokens nor cost are made up."""
    root = write_suite(tmp_path, {"a": {}, "b": {}}, judge={"samples": 3})
    (rubric,) = [entry for entry in json.loads(said(tmp_path, "plan", root, "--json")) if entry["judge"] == "rubric"]
    assert (rubric["cases"], rubric["unseen"], rubric["calls"]) == (2, 2, 6)
    assert rubric["usd"] is None
    shown = said(tmp_path, "plan", root)
    assert "The agent under test runs first" in shown
    assert "estimated cost: $0.0000 + unknown" in shown
    row = next(line.split() for line in shown.splitlines() if line.startswith("rubric"))
    assert row[3:] == ["2", "6", "0", "unknown", "1500", "unknown"]


@pytest.mark.parametrize("drop", ["nan", "inf"])
def test_a_drop_that_is_no_number_is_refused(tmp_path: Path, drop: str) -> None:
    """No fall is larger than it: everything would pass."""
    root = write_suite(tmp_path)
    done = typed(
        "run", root, "--no-llm", "--max-drop", drop, "--output", "run", cwd=tmp_path, env=environment(tmp_path)
    )
    assert (done.returncode, (tmp_path / "run").exists()) == (2, False)
    assert "--max-drop takes a number of 0 or more" in done.stderr


def test_a_patch_of_a_task_that_is_left_out_runs_no_agent_instead(tmp_path: Path) -> None:
    root = write_suite(tmp_path, {"a": {}, "b": {}}, agent=agent(tmp_path, f"touch {tmp_path}/ran"))
    (tmp_path / "b.patch").write_text(patch_of(root / "repo", SOLUTION))
    words = ("run", root, "--no-llm", "--case", "a", "--patch", tmp_path / "b.patch")
    done = typed(*words, cwd=tmp_path, env=environment(tmp_path))
    assert (done.returncode, (tmp_path / "ran").exists()) == (2, False)
    assert "it is for b, which --case leaves out" in done.stderr
