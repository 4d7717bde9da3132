"""Golden tasks from the folder to the gate: checkout, agent, trace, checks, rubric."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from adjudge import load
from adjudge.domain import Decision, RunState, Status, Trace
from adjudge.formats.golden.submissions import with_work
from tests.support.golden import MORE, SOLUTION, agent, git, judged, patch_of, scoring, write_suite
from tests.support.provider import LoopbackProvider

SOLVES = """\
set -e
printf 'def load(config):\\n    return config.get("name", "unnamed")\\n' > app.py
printf '\\n\\ndef test_unnamed():\\n    assert load({}) == "unnamed"\\n' >> test_app.py
echo "Made load() fall back to unnamed, since a missing name raised KeyError."
"""


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def trace(tmp_path: Path, task: str = "fix-load") -> Trace:
    return msgspec.json.decode((tmp_path / "run" / "cases" / task / "trace.json").read_bytes(), type=Trace)


def test_an_agent_solves_a_task_and_the_judge_scores_what_it_did(tmp_path: Path) -> None:
    root = write_suite(tmp_path, agent=agent(tmp_path, SOLVES))
    with LoopbackProvider(scoring(correctness=5, scope=4)) as provider:
        result = judged(root, provider)
        request = provider.requests[0]
    assert result.gate.decision is Decision.PASS, result.gate.reasons
    assert result.score("fix-load", "rubric", "correctness").value == 5
    assert result.score("fix-load", "expected_files").value is True
    kept = trace(tmp_path)
    assert [file.path for file in kept.files] == ["app.py", "test_app.py"]
    assert "+def test_unnamed" in kept.diff
    assert "fall back to unnamed" in kept.final_message
    shown = str(request.body)
    assert "Output schema" not in shown
    assert "def test_unnamed" in shown


def test_what_the_agent_committed_and_new_files_are_in_the_diff(tmp_path: Path) -> None:
    script = SOLVES + "git add -A\ngit commit -q -m 'Fall back to unnamed'\necho x > new.py\nrm -rf .git\n"
    root = write_suite(tmp_path, agent=agent(tmp_path, script))
    with LoopbackProvider(scoring(correctness=5, scope=5)) as provider:
        judged(root, provider)
    kept = trace(tmp_path)
    assert [(file.path, file.status) for file in kept.files] == [
        ("app.py", "changed"),
        ("new.py", "added"),
        ("test_app.py", "changed"),
    ]


def test_a_hard_failure_fails_the_task_and_no_judge_is_asked(tmp_path: Path) -> None:
    root = write_suite(tmp_path, agent=agent(tmp_path, "echo x > app.py\necho done\n"))
    with LoopbackProvider(scoring(correctness=5, scope=5)) as provider:
        result = judged(root, provider)
        assert provider.requests == []
    assert result.gate.decision is Decision.FAIL
    assert any("fix-load: the hard check expected_files failed" in reason for reason in result.gate.reasons)
    score = result.score("fix-load", "rubric", "correctness")
    assert score.status is Status.SKIPPED


def test_work_done_elsewhere_is_judged_without_an_agent(tmp_path: Path) -> None:
    root = write_suite(tmp_path)
    (tmp_path / "fix-load.patch").write_text(patch_of(root / "repo", SOLUTION))
    suite = with_work(load(root), [tmp_path / "fix-load.patch"], [], tasks=())
    with LoopbackProvider(scoring(correctness=5, scope=5)) as provider:
        result = judged(suite, provider)
    assert result.gate.decision is Decision.PASS, result.gate.reasons
    assert result.execution is not None
    assert result.execution.agent == "work done elsewhere"
    assert trace(tmp_path).source == "fix-load.patch"
    assert MORE.splitlines()[-1] in trace(tmp_path).diff


def test_a_patch_that_does_not_fit_is_unscored(tmp_path: Path) -> None:
    root = write_suite(tmp_path)
    patch = patch_of(root / "repo", SOLUTION).replace("config['name']", "config['other']")
    (tmp_path / "x.patch").write_text(patch)
    suite = with_work(load(root), [tmp_path / "x.patch"], [], tasks=())
    with LoopbackProvider(scoring(correctness=5, scope=5)) as provider:
        result = judged(suite, provider)
    assert result.gate.decision is Decision.BROKEN
    assert result.execution is not None
    assert result.execution.cases[0].state is RunState.ERROR


def test_the_agent_sees_no_later_commit(tmp_path: Path) -> None:
    root = write_suite(tmp_path, agent=agent(tmp_path, SOLVES))
    (root / "repo" / "later.txt").write_text("the solution")
    start = git(root / "repo", "rev-parse", "HEAD")
    git(root / "repo", "add", "-A")
    git(root / "repo", "commit", "-q", "-m", "the solution")
    write_suite(
        tmp_path, {"fix-load": {"revision": start}}, agent=agent(tmp_path, "git log --all --oneline\n" + SOLVES)
    )
    with LoopbackProvider(scoring(correctness=5, scope=5)) as provider:
        judged(root, provider)
    said = (tmp_path / "run" / "cases" / "fix-load" / "stdout.log").read_text()
    assert "Begin" in said
    assert "the solution" not in said


def test_zero_is_an_abstention_and_never_a_score(tmp_path: Path) -> None:
    root = write_suite(tmp_path, agent=agent(tmp_path, SOLVES))
    with LoopbackProvider(scoring(correctness=0, scope=4)) as provider:
        result = judged(root, provider)
    assert result.score("fix-load", "rubric", "correctness").status is Status.ABSTAINED
    assert result.summary("rubric", "correctness").value is None
    assert result.summary("rubric", "scope").value == 4
