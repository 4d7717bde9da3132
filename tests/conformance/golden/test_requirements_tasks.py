"""Requirements 1 to 14 of the article: golden tasks, the runner, and the deterministic gate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.domain import Decision, Status
from tests.support.golden import (
    SOLUTION,
    SOLVES,
    SOURCE,
    Ran,
    agent,
    by_prompt,
    git,
    judged,
    make_repository,
    patch_of,
    ran,
    scoring,
    typed,
    write_suite,
)
from tests.support.llm import environment
from tests.support.provider import LoopbackProvider

WELL = scoring(correctness=5, scope=4)
DOES = {
    "solve": SOLVES,
    "stray": SOLVES + "echo x > one.txt; echo x > two.txt\n",
    "half": "printf 'def load(config):\\n    return None\\n' > app.py\n",
    "weaken": "printf 'from app import load\\n\\n\\ndef test_named():\\n    load({})\\n' > test_app.py\n",
    "circle": SOLVES + "sed -i '1i import util' app.py; echo 'from app import load' > util.py\n",
    "long": SOLVES + "seq 1 60 | sed 's/^/# /' >> app.py\n",
    "hard-code": SOLVES
    + """cat >> test_app.py <<END


def test_id():
    assert load({"id": 12345}) == "number 12345"
END
cat > app.py <<END
def load(config):
    if config == {"id": 12345}:
        return "number 12345"
    return config.get("name", "unnamed")
END
""",
    "swallow": SOLVES
    + """cat > app.py <<END
def load(config):
    try:
        return config["name"]
    except Exception:
        pass
END
""",
    "commit": SOLVES + "git add -A; git commit -q -m 'fix bug'\n",
}
MISSED = {
    "hard-code": ("hard_coded_values", "app.py:2"),
    "weaken": ("weakened_tests", "test_named"),
    "circle": ("circular_imports", "util"),
    "long": ("diff_size", "at most 40 allowed"),
    "swallow": ("swallowed_exceptions", "app.py:"),
    "commit": ("commit_message", "fix bug"),
}
OWN = """\
from pathlib import Path


def run_checks(workdir):
    assert isinstance(workdir, Path)
    text = (workdir / "app.py").read_text()
    return [
        {"name": "loads", "passed": "def load" in text, "detail": "-" * 600 + "the end"},
        {"name": "get", "passed": "get" in text, "detail": "no .get() in app.py", "hard": False},
    ]
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Nine tasks, each done in its own way by an agent that is told which."""
    folder = tmp_path_factory.mktemp("tasks")
    tasks = {name: {"prompt": f"Do as in {name}.\n", "max_lines_changed": 40} for name in DOES}
    root = write_suite(folder, tasks, checks=OWN, agent=agent(folder, by_prompt(DOES)))
    return ran(root, WELL)


def test_req_01_checks_and_a_rubric_both_judge_a_task(run: Ran) -> None:
    kinds = {one.judge: one.kind for one in run.result.judges}
    assert (kinds["checks"], kinds["expected_files"], kinds["rubric"]) == ("code", "code", "llm")
    assert run.score("solve", "checks").value is True
    assert run.score("solve", "rubric", "scope").value == 4
    table = [line.split()[:2] for line in run.done.stdout.splitlines()]
    assert ["rubric.correctness", "llm"] in table
    assert ["weakened_tests", "code"] in table


@pytest.mark.parametrize("task", MISSED)
def test_req_02_what_tests_do_not_see_is_found_and_named(run: Ran, task: str) -> None:
    check, said = MISSED[task]
    found = run.score(task, check)
    assert found.value is False
    assert said in found.rationale
    assert run.score("solve", check).value is True


def test_req_03_a_folder_a_task_and_its_reference_solution_is_optional(tmp_path: Path) -> None:
    root = write_suite(tmp_path, {"fix-load": {}, "other": {}})
    golden = {"patch": patch_of(root / "repo", SOLUTION), "final_message": "Done."}
    (root / "tasks" / "fix-load" / "golden.json").write_text(json.dumps(golden))
    done = ran(root, WELL, "--golden")
    assert done.result.decision == "pass"
    assert [case.id for case in done.result.cases] == ["fix-load"]
    (root / "tasks" / "other" / "task.yaml").unlink()
    refused = ran(root, WELL, "--golden", output="again")
    assert refused.done.returncode == 2
    assert "evals/tasks/other: error: the task has no task.yaml" in refused.done.stderr


def test_req_04_the_fields_of_a_task(tmp_path: Path) -> None:
    root = write_suite(tmp_path, {"a": {"revison": "main", "max_files_touched": 0}, "b": {"repo": "no-such"}})
    done = typed("validate", root, cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 2
    told = done.stderr.splitlines()
    assert any("a/task.yaml:" in line and "revison" in line and "revision" in line for line in told)
    assert any("max_files_touched" in line and "must be 1 or more, got 0" in line for line in told)
    assert any("b/task.yaml" in line and "there is no no-such" in line for line in told)
    for key in ("id", "repo", "prompt"):
        keys = {name: text for name, text in {"id": "a", "repo": "../../repo", "prompt": "x"}.items() if name != key}
        (root / "tasks" / "a" / "task.yaml").write_text(json.dumps(keys))
        done = typed("validate", root, cwd=tmp_path, env=environment(tmp_path))
        assert done.returncode == 2
        assert any("a/task.yaml" in line and f"{key}" in line for line in done.stderr.splitlines())


def test_req_05_the_repository_is_at_the_revision_and_clean(tmp_path: Path) -> None:
    root = write_suite(tmp_path, agent=agent(tmp_path, "git rev-parse HEAD; cat app.py; ls\n" + SOLVES))
    start = git(root / "repo", "rev-parse", "HEAD")
    git(root / "repo", "commit", "-q", "--allow-empty", "-m", "later")
    (root / "repo" / "app.py").write_text("uncommitted")
    (root / "repo" / "uncommitted.txt").write_text("left lying about")
    write_suite(tmp_path, {"fix-load": {"revision": start}}, agent=agent(tmp_path, (tmp_path / "agent.sh").read_text()))
    done = ran(root, WELL)
    assert done.log("fix-load").startswith(f"{start}\n{SOURCE}app.py\ntest_app.py\n")
    assert done.trace("fix-load").start == start
    assert (root / "repo" / "app.py").read_text() == "uncommitted"  # and the agent worked elsewhere


def test_req_06_the_agent_is_run_on_each_task(run: Ran) -> None:
    assert run.result.execution is not None
    assert {one.case: one.exit_code for one in run.result.execution.cases} == dict.fromkeys(sorted(DOES), 0)
    assert run.trace("swallow").prompt == "Do as in swallow.\n"
    assert "Made load() fall back to unnamed." in run.log("solve")


def test_req_07_files_that_should_have_been_touched_and_were_not(run: Ran) -> None:
    found = run.score("half", "expected_files")
    assert (found.value, found.rationale) == (False, "not touched: test_app.py")
    assert any("half: the hard check expected_files failed: not touched" in r for r in run.result.gate.reasons)


def test_req_08_no_more_files_than_the_task_admits(run: Ran) -> None:
    found = run.score("stray", "blast_radius")
    assert found.value is False
    assert found.rationale.startswith("4 files touched, at most 3 allowed: app.py")
    assert run.score("circle", "blast_radius").value is True  # just three


def test_req_09_own_checks_get_the_work_and_return_named_results(run: Ran) -> None:
    assert run.score("solve", "checks").rationale.startswith("passed loads: ---")
    assert run.score("half", "soft_checks").rationale == "failed get: no .get() in app.py"


@pytest.mark.parametrize("returned", ["None", "[{'passed': True}]", "[{'name': 'a', 'passed': 1}]", "1 / 0"])
def test_req_09_what_is_no_list_of_results_is_no_verdict(tmp_path: Path, returned: str) -> None:
    root = write_suite(
        tmp_path, checks=f"def run_checks(workdir):\n    return {returned}\n", agent=agent(tmp_path, SOLVES)
    )
    with LoopbackProvider(WELL) as provider:
        result = judged(root, provider)
        assert provider.requests == []
    assert result.gate.decision is Decision.BROKEN
    assert result.score("fix-load", "checks").status is Status.UNSCORED


def test_req_10_checks_that_do_not_end_are_stopped(tmp_path: Path) -> None:
    checks = "import subprocess\n\n\ndef run_checks(workdir):\n    subprocess.run(['sleep', '60'])\n"
    root = write_suite(tmp_path, {"fix-load": {"checks_timeout": 0.5}}, checks=checks, agent=agent(tmp_path, SOLVES))
    with LoopbackProvider(WELL) as provider:
        result = judged(root, provider)
    found = result.score("fix-load", "checks")
    assert (found.status, found.value) == (Status.UNSCORED, None)
    assert found.error is not None
    assert "longer than 0.5 s and was stopped" in found.error.message
    assert result.gate.decision is Decision.BROKEN


def test_req_11_of_a_detail_the_end_is_kept(run: Ran) -> None:
    said = run.score("solve", "checks").rationale.removeprefix("passed loads: ")
    assert len(said) == 500
    assert said.endswith("--the end")


def test_req_12_a_hard_failure_skips_the_judge(run: Ran) -> None:
    failed = {"stray", "half", "weaken", "circle", "long"}
    asked = {task for task in DOES if run.score(task, "rubric", "scope").status is not Status.SKIPPED}
    assert asked == set(DOES) - failed
    assert len(run.requests) == len(asked)
    assert run.done.returncode == 1
    for task in failed:
        assert any(f"{task}: the hard check" in line for line in run.done.stdout.splitlines())
        assert any(note.startswith("not asked: the hard check") for note in run.score(task, "rubric", "scope").notes)


def test_req_13_a_soft_failure_is_shown_and_does_not_gate(run: Ran) -> None:
    assert run.score("commit", "commit_message").value is False
    assert run.score("commit", "rubric", "scope").value == 4
    assert not any("commit:" in reason for reason in run.result.gate.reasons)
    assert "commit_message" in (run.folder / "summary.md").read_text().replace("\\", "").partition("Failed:")[2]


def test_req_13_a_task_says_which_checks_are_hard(tmp_path: Path) -> None:
    levels = {"soft": {"weakened_tests": "soft", "expected_files": "off"}, "hard": {}, "strict": {}}
    tasks = {name: {"checks": level, "expected_files_touched": []} for name, level in levels.items()}
    tasks["strict"]["checks"] = {"weakened_tests": "off", "commit_message": "hard"}
    script = DOES["weaken"] + "git commit -q -a -m wip\n"
    root = write_suite(tmp_path, tasks, agent=agent(tmp_path, script))
    with LoopbackProvider(WELL) as provider:
        result = judged(root, provider)
    assert result.score("soft", "rubric", "scope").value == 4
    assert result.score("soft", "weakened_tests").value is False
    assert result.score("hard", "rubric", "scope").status is Status.SKIPPED
    assert result.score("strict", "weakened_tests").status is Status.SKIPPED
    assert result.score("strict", "rubric", "scope").status is Status.SKIPPED


def test_req_14_a_task_needs_nothing_but_its_own_folder(tmp_path: Path) -> None:
    make_repository(tmp_path / "made")
    root = write_suite(tmp_path, {"fix-load": {"repo": "repo.bundle"}}, agent=agent(tmp_path, SOLVES))
    git(tmp_path / "made", "bundle", "create", "-q", str(root / "tasks" / "fix-load" / "repo.bundle"), "main")
    (tmp_path / "elsewhere").mkdir()
    root = root.rename(tmp_path / "elsewhere" / "evals")
    for gone in ("made", "elsewhere/evals/repo"):
        (tmp_path / gone).rename(tmp_path / f"{Path(gone).name}-gone")
    done = ran(root, WELL)
    assert (done.done.returncode, done.score("fix-load", "rubric", "scope").value) == (0, 4)
