"""How golden.yaml sets the agent up. That the real claude can work so is in tests/e2e/test_real_golden.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge import formats
from adjudge.domain import Execution
from tests.support.golden import write_suite
from tests.support.llm import ROOT


def execution(root: Path) -> Execution:
    found = formats.load(root).execution
    assert found is not None
    return found


@pytest.mark.parametrize("given", ["claude-code", {}, {"type": "claude-code"}, {"type": "codex"}, None])
def test_claude_code_may_change_files_unless_told_otherwise(tmp_path: Path, given: object) -> None:
    """Also when --agent names it later."""
    assert execution(write_suite(tmp_path, agent=given)).agent.permission_mode == "acceptEdits"


def test_what_it_may_do_besides_is_its_users_choice(tmp_path: Path) -> None:
    agent = {"permission_mode": "plan", "allow": ["Bash(make:*)"], "deny": ["WebFetch"]}
    found = execution(write_suite(tmp_path, agent=agent))
    assert found.agent.permission_mode == "plan"
    assert (found.permissions.allow, found.permissions.deny) == (("Bash(make:*)",), ("WebFetch",))


def test_the_agent_of_the_example_may_run_its_tests() -> None:
    assert "Bash(python3 -m unittest:*)" in execution(ROOT / "examples" / "golden").permissions.allow
