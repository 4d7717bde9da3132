"""examples/ci: its files are read as GitHub and GitLab read them, and the shell of their steps is carried out, with the
real adjudge, a real repository and a `gh` that remembers what it was asked."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT
from tests.support.ci_jobs import Command, Job, commands, evaluated
from tests.support.golden import agent, by_prompt, git, write_suite

CI = ROOT / "examples" / "ci"
ACTION = CI / "github/.github/actions/adjudge/action.yml"
WORKFLOW = CI / "github/.github/workflows/golden-tasks.yml"
GITLAB = CI / "gitlab/.gitlab-ci.yml"
SCHEMAS = {ACTION: "vendor.github-actions", WORKFLOW: "vendor.github-workflows", GITLAB: "vendor.gitlab-ci"}
REFERENCES = "--golden --no-llm"
needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="gh filters with jq, which is not installed")


def read(path: Path) -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load(path.read_text())
    return made


ACTION_STEPS = read(ACTION)["runs"]["steps"]
JOBS = read(WORKFLOW)["jobs"]
ON: dict[str, Any] = yaml.load(WORKFLOW.read_text(), yaml.BaseLoader)["on"]
"""Read so, `on` is no boolean."""
GITLAB_JOB = read(GITLAB)["golden tasks"]
SHELLS = {
    **{f"action: {step['name']}": step["run"] for step in ACTION_STEPS},
    **{f"{name}: {step['name']}": step["run"] for name, job in JOBS.items() for step in job["steps"] if "run" in step},
    "gitlab": "\n".join([*GITLAB_JOB["before_script"], *GITLAB_JOB["script"]]),
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A checkout with examples/golden as its evals, and one commit."""
    folder = tmp_path / "workspace"
    shutil.copytree(ROOT / "examples" / "golden", folder / "evals")
    return committed(folder)


def committed(folder: Path) -> Path:
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Change")
    return folder


def inputs(**given: str) -> dict[str, str]:
    declared = {name: str(about.get("default", "")) for name, about in read(ACTION)["inputs"].items()}
    assert not given.keys() - declared.keys()
    return {**declared, "flags": REFERENCES, **given}


def action(workspace: Path, *, env: Mapping[str, str] | None = None, **given: str) -> Job:
    contexts = {"inputs": inputs(**given), "github": {"token": "of the job"}}
    return Job(workspace, contexts, env=dict(env or {})).run(ACTION_STEPS)


def fails_blast_radius(workspace: Path) -> None:
    """Make a reference solution of two files be one too many."""
    task = workspace / "evals/tasks/rate-limit/task.yaml"
    task.write_text(task.read_text().replace("max_files_touched: 2", "max_files_touched: 1"))


def misspells_a_key(workspace: Path) -> None:
    task = workspace / "evals/tasks/rate-limit/task.yaml"
    task.write_text(task.read_text() + "promt: x\n")


def named(job: Job, name: str) -> list[Command]:
    return [command for command in job.commands if command.name == name]


# The files.


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_each_file_follows_its_schema(path: Path) -> None:
    pytest.importorskip("check_jsonschema")
    words = ["--builtin-schema", SCHEMAS[path], *(["--data-transform", "gitlab-ci"] if path == GITLAB else [])]
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", *words, str(path)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", SHELLS)
def test_shellcheck_has_nothing_against_a_shell(name: str) -> None:
    program = shutil.which("shellcheck", path=str(Path(sys.executable).parent)) or shutil.which("shellcheck")
    if program is None:
        pytest.skip("shellcheck is not installed")
    # GitLab's is any POSIX shell, whose lists are words to be split.
    words = ["--shell=sh", "--exclude=SC2086"] if name == "gitlab" else ["--shell=bash"]
    done = subprocess.run([program, *words, "-"], input=SHELLS[name], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", SHELLS)
def test_nothing_is_written_into_a_shell_but_by_its_environment(name: str) -> None:
    assert "${{" not in SHELLS[name]
    for step in (step for job in JOBS.values() for step in job["steps"]):
        assert not re.search(r"github\.(head_ref|event\.pull_request\.(title|body|head\.ref))", str(step))


def test_actions_are_pinned_to_whole_versions() -> None:
    used = [step["uses"] for job in JOBS.values() for step in job["steps"] if "uses" in step]
    foreign = [name for name in used if not name.startswith("./")]
    assert len(foreign) == 5
    assert all(re.fullmatch(r"actions/[\w/-]+@v\d+\.\d+\.\d+", name) for name in foreign)


def test_a_job_may_do_no_more_than_it_must() -> None:
    assert read(WORKFLOW)["permissions"] == {}
    permissions = {name: job["permissions"] for name, job in JOBS.items()}
    assert permissions == {"key": {}, "golden-tasks": {"contents": "read", "pull-requests": "write"}}
    checkout = next(step for step in JOBS["golden-tasks"]["steps"] if "checkout" in step.get("uses", ""))
    assert checkout["with"]["persist-credentials"] is False


def test_strangers_code_never_runs_beside_the_key() -> None:
    assert set(ON) == {"pull_request", "schedule", "workflow_dispatch"}
    holders = [step.get("uses") for step in JOBS["golden-tasks"]["steps"] if "ANTHROPIC_API_KEY" in str(step)]
    assert holders == ["./.github/actions/adjudge"]
    assert "ANTHROPIC_API_KEY" not in str(JOBS["golden-tasks"].get("env"))


def test_whatever_starts_a_run_is_watched_by_it() -> None:
    """A path that starts the workflow and that `watched` lacks would judge nothing."""
    watched = given("golden-tasks")["watched"].split()
    assert watched == GITLAB_JOB["variables"]["WATCHED"].split()
    started = [path for path in ON["pull_request"]["paths"] if not path.startswith(("evals/", ".github/"))]
    rule = next(rule for rule in GITLAB_JOB["rules"] if "changes" in rule)
    at_gitlab = [path for path in rule["changes"] if path not in ("evals/**/*", ".gitlab-ci.yml")]
    for paths in (started, at_gitlab):
        assert [re.sub(r"/\*\*(/\*)?$", "", path) for path in paths] == [
            name.removeprefix(":(glob)") for name in watched
        ]


def given(job: str) -> dict[str, Any]:
    found: dict[str, Any] = next(step["with"] for step in JOBS[job]["steps"] if step.get("uses", "").startswith("./"))
    return found


def test_the_workflow_names_inputs_that_there_are() -> None:
    assert given("golden-tasks").keys() <= read(ACTION)["inputs"].keys()


def test_the_run_directory_is_kept_however_the_job_ends_and_never_for_another_commit() -> None:
    steps = {step["uses"].partition("@")[0]: step for step in JOBS["golden-tasks"]["steps"] if "uses" in step}
    restore, save = steps["actions/cache/restore"], steps["actions/cache/save"]
    assert save["if"] == "always()"
    assert restore["with"]["path"] == save["with"]["path"] == given("golden-tasks")["run"]
    assert restore["with"]["key"] == save["with"]["key"]
    expression = JOBS["golden-tasks"]["env"]["RESUME"].removeprefix("golden-tasks-")[3:-2]
    event = {"sha": "abc", "run_id": "7"}
    assert evaluated(expression, {"github": {**event, "event_name": "pull_request"}}) == "abc"
    assert evaluated(expression, {"github": {**event, "event_name": "schedule"}}) == "7"
    names = [step.get("uses", "") for step in JOBS["golden-tasks"]["steps"]]
    assert names.index(steps["actions/upload-artifact"]["uses"]) > names.index("./.github/actions/adjudge")
    assert steps["actions/upload-artifact"]["if"] == "always()"
    assert "adjudge-run/junit.xml" in steps["actions/upload-artifact"]["with"]["path"].split()


# The action.


def test_a_pass(workspace: Path) -> None:
    done = action(workspace)
    assert (done.code, done.outputs["run"]) == (0, {"code": "0", "judged": "true", "word": "pass"})
    assert "## ✅ adjudge: golden\\-example: pass" in done.summary
    assert done.summary.endswith("**Exit code 0**: pass\n")
    assert not named(done, "error")
    assert (workspace / "adjudge-run/junit.xml").is_file()
    assert (workspace / "adjudge-run/report.html").is_file()
    assert done.gh == []


def test_a_failing_task_is_annotated_at_its_file(workspace: Path) -> None:
    fails_blast_radius(workspace)
    done = action(workspace)
    assert done.code == 1
    task, gate = named(done, "error")
    assert task.properties == {
        "file": "evals/tasks/rate-limit/task.yaml",
        "line": "1",
        "title": "rate-limit: hard check blast_radius",
    }
    assert "2 files touched" in task.data
    assert gate.data == "exit code 1: the gate failed"
    assert "❌" in done.summary
    assert "**Exit code 1**: the gate failed" in done.summary


def test_an_error_of_the_config_is_annotated_at_its_line(workspace: Path) -> None:
    misspells_a_key(workspace)
    done = action(workspace)
    assert (done.code, done.outputs["run"]["judged"]) == (2, "false")
    problem, gate = named(done, "error")
    lines = (workspace / "evals/tasks/rate-limit/task.yaml").read_text().splitlines()
    assert problem.properties["file"] == "evals/tasks/rate-limit/task.yaml"
    assert int(problem.properties["line"]) == lines.index("promt: x") + 1
    assert "promt" in problem.data
    assert gate.data.startswith("exit code 2: usage or config error, nothing ran")
    assert "nothing was judged" in done.summary


def test_an_earlier_result_is_not_told_again_after_an_error_of_the_config(workspace: Path) -> None:
    assert action(workspace).code == 0
    misspells_a_key(workspace)
    done = action(workspace)
    assert (done.code, done.outputs["run"]["judged"]) == (2, "false")
    assert "pass" not in done.summary
    assert not (workspace / "adjudge-run/report.html").exists()


def test_without_a_key_the_agent_does_not_run_and_the_job_fails(workspace: Path) -> None:
    done = action(workspace, flags="")
    assert done.code == 2
    assert "nothing was judged" in done.summary


STANDS_IN = """\
#!/bin/sh
test "$1" = run || exit 0
mkdir -p adjudge-run
test {code} = 2 || echo "{{}}" > adjudge-run/result.json
exit {code}
"""


@pytest.mark.parametrize(
    ("code", "word"),
    [
        (0, "pass"),
        (1, "the gate failed"),
        (2, "usage or config error, nothing ran"),
        (3, "inconclusive"),
        (4, "broken: it could not be measured"),
        (130, "interrupted; run the job again, and it goes on where it was"),
    ],
)
def test_every_exit_code_has_its_word_and_is_the_jobs(workspace: Path, code: int, word: str) -> None:
    job = Job(workspace, {"inputs": inputs(), "github": {}})
    (job.home / "bin" / "adjudge").write_text(STANDS_IN.format(code=code))
    job.run(ACTION_STEPS)
    assert job.code == code
    assert f"**Exit code {code}**: {word}" in job.summary
    told = [command.data for command in named(job, "error")]
    assert (told == []) if code == 0 else told[-1].startswith(f"exit code {code}: {word}")
    assert ("nothing was judged" in job.summary) == (code in (2, 130))


def judged_tasks(workspace: Path) -> list[str]:
    made = json.loads((workspace / "adjudge-run/result.json").read_text())
    return [case["id"] for case in made["cases"]]


def test_of_a_change_of_one_task_that_one_is_run(workspace: Path) -> None:
    fails_blast_radius(workspace)
    committed(workspace)
    done = action(workspace, since="HEAD^1")
    assert done.code == 1
    assert judged_tasks(workspace) == ["rate-limit"]


@pytest.mark.parametrize(
    "path", ["prompts/a.md", "docs/system_prompt.txt", "evals/baseline.json", "evals/rubric.md", "evals/shared/x.txt"]
)
def test_of_a_change_of_what_all_tasks_depend_on_all_are_run(workspace: Path, path: str) -> None:
    changed = workspace / path
    changed.parent.mkdir(parents=True, exist_ok=True)
    text = '{"tasks": {}}' if path.endswith(".json") else "\n"
    with changed.open("a") as file:
        file.write(text)
    fails_blast_radius(workspace)
    committed(workspace)
    action(workspace, since="HEAD^1", watched=str(given("golden-tasks")["watched"]))
    assert sorted(judged_tasks(workspace)) == ["missing-config", "rate-limit", "unicode-slugs"]


def test_what_is_not_watched_starts_no_task(workspace: Path) -> None:
    (workspace / "README.md").write_text("Read me.\n")
    committed(workspace)
    done = action(workspace, since="HEAD^1", watched="prompts")
    assert (done.code, done.outputs["run"]["judged"]) == (0, "false")


def test_a_run_that_judged_nothing_says_so(workspace: Path) -> None:
    (workspace / "adjudge-run").mkdir()
    (workspace / "adjudge-run/result.json").write_text("{}")  # of an earlier attempt
    done = action(workspace, since="HEAD", comment="12")
    assert (done.code, done.outputs["run"]["judged"]) == (0, "false")
    assert [command.data for command in named(done, "notice")] == [
        "nothing was judged, because no task differs; this is no pass"
    ]
    assert "## adjudge: nothing was judged" in done.summary
    assert "✅" not in done.summary
    assert "## adjudge: nothing was judged" in done.gh[-1]["body"]


def test_a_cancelled_job_loses_nothing(tmp_path: Path) -> None:
    """The runner signals the shell alone. Another attempt asks the agent for the rest only."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    slow = f"echo slow >> {tmp_path}/asked; touch {tmp_path}/under-way; sleep 60"
    scripts = {"one": f"echo quick >> {tmp_path}/asked", "two": slow}
    tasks = {"a-one": {"prompt": "one"}, "b-two": {"prompt": "two"}}
    root = write_suite(folder, tasks, agent=agent(tmp_path, by_prompt(scripts)), parallelism=1)
    job = Job(committed(folder), {"inputs": inputs(flags="--no-llm"), "github": {}})
    step = next(step for step in ACTION_STEPS if step.get("id") == "run")
    with job.started(step) as process:
        wait_for((tmp_path / "under-way").exists)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=60)
    job.ended(step, process.returncode, printed)
    assert job.outputs["run"]["code"] == "130", printed
    job.run([step for step in ACTION_STEPS if step.get("id") != "run"])
    assert job.code == 130
    assert "interrupted; run the job again, and it goes on where it was" in job.summary
    assert "✅" not in job.summary

    (tmp_path / "agent.sh").write_text((tmp_path / "agent.sh").read_text().replace("sleep 60", "true"))
    again = Job(folder, {"inputs": inputs(flags="--no-llm"), "github": {}}).run(ACTION_STEPS)
    assert again.outputs["run"]["judged"] == "true"
    assert (tmp_path / "asked").read_text().split() == ["quick", "slow", "slow"]
    assert judged_tasks(folder) == ["a-one", "b-two"]
    assert root.is_dir()


def wait_for(done: Callable[[], bool]) -> None:
    for _ in range(600):
        if done():
            return
        time.sleep(0.1)
    raise AssertionError("it did not come to that within a minute")


EVIL = [
    "",
    "::add-mask::e",
    "  ::error::forged",
    "x ##[set-output name=code]0",
    "::stop-commands::a",
    "::error::forged",
]
HOSTILE = """\
import os


def run_checks(workdir):
    os.write(1, EVIL.encode())
    os.write(2, EVIL.encode())
    detail = EVIL + "%0A::error::forged ##[error]forged"
    return [{"name": "::error::forged", "passed": False, "detail": detail}]
"""


def test_nothing_that_is_judged_commands_the_runner(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    evil = "\n".join(EVIL) + "\n"
    script = f"cat <<'END'\n{evil}\nEND\ncat >&2 <<'END'\n{evil}\nEND\necho x > app.py"
    checks = f"EVIL = {evil!r}\n{HOSTILE}"
    write_suite(folder, {"forged": {}}, checks=checks, agent=agent(tmp_path, script), parallelism=1)
    done = action(committed(folder), flags="--no-llm --verbose")
    assert done.code == 1
    printed = done.printed["Run the tasks"]
    assert "forged" in printed
    assert [command.name for command in commands(f"{printed}::notice::after\n")] == ["stop-commands", "notice"]
    assert {command.name for command in done.commands} == {"stop-commands", "error", "warning"}
    assert all("may be another commit tomorrow" in command.data for command in named(done, "warning"))
    assert {command.properties.get("file", "") for command in done.commands} == {"", "evals/tasks/forged/task.yaml"}
    errors = [command.data for command in named(done, "error")]
    assert "forged" not in errors
    assert sum("::error::forged" in data and "%0A::error::forged ##[error]forged" in data for data in errors) == 1


# The comment.


@needs_jq
def test_the_first_run_writes_a_comment(workspace: Path) -> None:
    done = action(workspace, comment="12")
    asked, written = done.gh
    assert asked["words"][:3] == ["api", "--paginate", "repos/o/r/issues/12/comments"]
    assert written["words"][:5] == ["api", "--silent", "--method", "POST", "repos/o/r/issues/12/comments"]
    assert written["body"].startswith("<!-- adjudge: evals -->\n## ✅ adjudge: golden\\-example: pass")
    assert "**Exit code 0**: pass. [The run](https://host/o/r/actions/runs/7)" in written["body"]
    assert {call["token"] for call in done.gh} == {"of the job"}


@needs_jq
def test_a_later_run_writes_its_own_comment_anew_and_no_one_elses(workspace: Path) -> None:
    comments = [
        {"id": 1, "user": {"login": "mallory"}, "body": "<!-- adjudge: evals -->\nmine"},
        {"id": 2, "user": {"login": "github-actions[bot]"}, "body": "of another action <!-- adjudge: evals -->"},
        {"id": 3, "user": {"login": "github-actions[bot]"}, "body": "<!-- adjudge: evals -->\nof an earlier run"},
        {"id": 4, "user": {"login": "github-actions[bot]"}, "body": "<!-- adjudge: evals -->\nof another"},
    ]
    contexts = {"inputs": inputs(comment="12", flags=f"{REFERENCES} --case rate-limit"), "github": {"token": "t"}}
    job = Job(workspace, contexts)
    (job.home / "comments.json").write_text(json.dumps(comments))
    job.run(ACTION_STEPS)
    assert job.gh[-1]["words"][:5] == ["api", "--silent", "--method", "PATCH", "repos/o/r/issues/comments/3"]
    assert len(job.gh) == 2


def test_without_permission_the_gate_decides_all_the_same(workspace: Path) -> None:
    fails_blast_radius(workspace)
    job = Job(workspace, {"inputs": inputs(comment="12"), "github": {"token": "t"}})
    (job.home / "forbidden").touch()
    job.run(ACTION_STEPS)
    assert job.code == 1
    assert ["no comment was written" in command.data for command in named(job, "notice")] == [True]


# The key.


def look(tmp_path: Path, *, key: str, actor: str = "someone", head: str = "o/r", event: str = "pull_request") -> Job:
    (tmp_path / "workspace").mkdir()
    github = {"actor": actor, "event_name": event, "repository": "o/r"}
    if event == "pull_request":
        github["event"] = {"pull_request": {"head": {"repo": {"full_name": head}}}}  # type: ignore[assignment]
    contexts = {"github": github, "secrets": {"ANTHROPIC_API_KEY": key}}
    return Job(tmp_path / "workspace", contexts).run(JOBS["key"]["steps"])


def runs(job: Job) -> bool:
    condition = JOBS["golden-tasks"]["if"]
    return bool(evaluated(condition, {"needs": {"key": {"outputs": {"there": job.outputs["look"]["there"]}}}}))


def test_with_a_key_the_tasks_run(tmp_path: Path) -> None:
    done = look(tmp_path, key="sk-secret")
    assert (done.code, runs(done), done.summary) == (0, True, "")
    assert "sk-secret" not in str(done.printed)


@pytest.mark.parametrize("who", [{"head": "mallory/r"}, {"actor": "dependabot[bot]"}], ids=["fork", "dependabot"])
def test_a_fork_has_no_key_which_is_a_skip_that_is_said(tmp_path: Path, who: dict[str, str]) -> None:
    done = look(tmp_path, key="", **who)
    assert (done.code, runs(done)) == (0, False)
    assert "## adjudge: nothing was judged" in done.summary
    assert "this is a skip, and no pass" in done.summary
    assert [command.name for command in done.commands] == ["notice"]


@pytest.mark.parametrize("event", ["pull_request", "schedule", "workflow_dispatch"])
def test_a_repository_that_lacks_its_key_fails(tmp_path: Path, event: str) -> None:
    done = look(tmp_path, key="", event=event)
    assert (done.code, runs(done)) == (2, False)
    assert "The secret ANTHROPIC_API_KEY is not set." in done.summary
    assert [command.name for command in done.commands] == ["error"]


# GitLab.


def gitlab(workspace: Path, *, env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Carry out the job's script, in a shell that stops at the first failure; what installs something is absent."""
    job = Job(workspace, {})
    for name in ("apt-get", "npm"):
        (job.home / "bin" / name).write_text("#!/bin/sh\n")
        (job.home / "bin" / name).chmod(0o755)
    (job.home / "bin" / "python").write_text("#!/bin/sh\n")
    variables = {name: str(value) for name, value in GITLAB_JOB["variables"].items()}
    own = {"CI_PROJECT_DIR": str(workspace), "FLAGS": REFERENCES, "ANTHROPIC_API_KEY": "k"}
    script = "set -e\n" + "\n".join([*GITLAB_JOB["before_script"], *GITLAB_JOB["script"]])
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=workspace,
        env={**job.env, **variables, **own, **(env or {})},
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout


def quality(workspace: Path) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = json.loads((workspace / "gl-code-quality-report.json").read_text())
    return made


def test_gitlab_passes(workspace: Path) -> None:
    code, printed = gitlab(workspace)
    assert (code, printed.splitlines()[-1]) == (0, "adjudge: exit code 0: pass")
    assert quality(workspace) == []
    for name in (*GITLAB_JOB["artifacts"]["paths"], *GITLAB_JOB["artifacts"]["reports"].values()):
        assert (workspace / name).exists()


def test_gitlab_fails_at_the_tasks_file(workspace: Path) -> None:
    fails_blast_radius(workspace)
    code, printed = gitlab(workspace)
    assert (code, printed.splitlines()[-1]) == (1, "adjudge: exit code 1: the gate failed")
    (entry,) = quality(workspace)
    assert entry["location"] == {"path": "evals/tasks/rate-limit/task.yaml", "lines": {"begin": 1}}
    assert entry["description"].startswith("rate-limit: hard check blast_radius: ")


def test_gitlab_shows_errors_of_the_config(workspace: Path) -> None:
    misspells_a_key(workspace)
    code, printed = gitlab(workspace)
    assert (code, printed.splitlines()[-1]) == (2, "adjudge: exit code 2: usage or config error, nothing ran")
    assert [entry["location"]["path"] for entry in quality(workspace)] == ["evals/tasks/rate-limit/task.yaml"]


def test_gitlab_warns_where_nothing_was_judged(workspace: Path) -> None:
    code, printed = gitlab(workspace, env={"SINCE": "HEAD"})
    assert GITLAB_JOB["allow_failure"] == {"exit_codes": [code]}
    assert "nothing was judged, because no task differs; this is no pass" in printed


def test_gitlab_runs_the_task_that_a_merge_request_changes(workspace: Path) -> None:
    fails_blast_radius(workspace)
    committed(workspace)
    assert gitlab(workspace, env={"SINCE": "HEAD^1"})[0] == 1
    assert judged_tasks(workspace) == ["rate-limit"]


@pytest.mark.parametrize(("source", "expected"), [("mallory/r", 77), ("o/r", 2)], ids=["fork", "own"])
def test_gitlab_says_of_a_fork_that_it_has_no_key(workspace: Path, source: str, expected: int) -> None:
    env = {"ANTHROPIC_API_KEY": "", "FLAGS": ""}
    env |= {"CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": source, "CI_MERGE_REQUEST_PROJECT_PATH": "o/r"}
    code, printed = gitlab(workspace, env=env)
    assert code == expected
    assert ("Nothing was judged: a fork has no key." in printed) == (expected == 77)


def test_gitlab_keeps_the_run_of_a_commit_and_begins_schedules_anew() -> None:
    rules = {rule["variables"]["RESUME"]: rule for rule in GITLAB_JOB["rules"]}
    assert "changes" not in rules["pipeline-$CI_PIPELINE_ID"]
    assert rules["commit-$CI_COMMIT_SHA"]["variables"]["SINCE"] == "$CI_MERGE_REQUEST_DIFF_BASE_SHA"
    assert GITLAB_JOB["cache"] == {"key": "golden-tasks-$RESUME", "when": "always", "paths": ["adjudge-run"]}
