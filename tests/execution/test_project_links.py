"""Links among the project's resources: what of them an agent under test is given, and what is said of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.domain import CaseRun
from tests.support.configs import judged, write_suite

SCRIPT = "cat CLAUDE.md skills/a/SKILL.md > output/seen 2>/dev/null; find . -type l > output/links; true"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with something outside of it."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("SECRET\n")
    inner = tmp_path / "project"
    (inner / "docs").mkdir(parents=True)
    (inner / "docs/rules.md").write_text("the rules\n")
    monkeypatch.chdir(inner)
    return inner


def ran(project: Path, mode: str = "case") -> CaseRun:
    runner = {"type": "cli", "command": ["sh", "-c", f"echo x >> {project.parent}/count; {SCRIPT}"]}
    execution = {"prompt": "do it", "mode": mode}
    outputs = [{"path": "output", "batch_pattern": "*"}]
    cases = {"a": {"input.yaml": "request: x\n"}}
    result = judged(write_suite(project, cases=cases, runner=runner, execution=execution, outputs=outputs))
    assert result.execution is not None
    return result.execution.cases[0]


def seen(project: Path) -> str:
    home = project / "run/cases/a/output"
    assert (home / "links").read_text() == ""
    return (home / "seen").read_text()


@pytest.mark.parametrize("mode", ["case", "batch"])
def test_a_link_to_a_file_of_the_project_is_given_as_that_file(project: Path, mode: str) -> None:
    (project / "CLAUDE.md").symlink_to("docs/rules.md")
    (project / "skills/a").mkdir(parents=True)
    (project / "skills/a/SKILL.md").symlink_to("../../CLAUDE.md")  # a link to a link
    assert not [note for note in ran(project, mode).notes if "link" in note]
    assert seen(project) == "the rules\nthe rules\n"


@pytest.mark.parametrize("mode", ["case", "batch"])
@pytest.mark.parametrize("target", ["../outside/secret", "absent", "CLAUDE.md", "docs", ".git/config", "{outside}"])
def test_any_other_link_is_left_out_and_said(project: Path, target: str, mode: str) -> None:
    (project / ".git").mkdir()
    (project / ".git/config").write_text("token\n")
    (project / "CLAUDE.md").symlink_to(target.format(outside=project.parent / "outside/secret"))
    (project / "skills/a").mkdir(parents=True)
    (project / "skills/b").symlink_to(project.parent / "outside")
    told = [note for note in ran(project, mode).notes if "is a link" in note]
    assert [note.split()[0] for note in told] == ["CLAUDE.md", "skills/b"]
    assert seen(project) == ""


def test_settings_of_the_user_are_not_given_by_way_of_a_link(project: Path) -> None:
    (project / ".claude").mkdir()
    (project / ".claude/settings.local.json").write_text("{}")
    (project / "CLAUDE.md").symlink_to(".claude/settings.local.json")
    assert any(note.startswith("CLAUDE.md") for note in ran(project).notes)
    assert seen(project) == ""


def test_a_change_of_what_a_link_leads_to_runs_the_case_again(project: Path) -> None:
    (project / "CLAUDE.md").symlink_to("docs/rules.md")
    for text, runs in (("one\n", 1), ("one\n", 1), ("two\n", 2)):
        (project / "docs/rules.md").write_text(text)
        ran(project)
        assert (project.parent / "count").read_text().split() == ["x"] * runs
        assert seen(project) == text
