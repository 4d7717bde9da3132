"""docs/reference/cli.md knows every verb and every flag of `run`, and docs/README.md every page."""

from __future__ import annotations

import click
import pytest

from adjudge.cli import VERBS
from adjudge.cli.run import command
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "reference" / "cli.md").read_text()


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_there(verb: str) -> None:
    assert f"`adjudge {verb}" in PAGE


@pytest.mark.parametrize("flag", [p.opts[0] for p in command.params if isinstance(p, click.Option)])
def test_every_flag_of_run_is_there(flag: str) -> None:
    assert f"`{flag}" in PAGE


def test_every_page_is_linked() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    missing = [page for page in pages if page != "README.md" and "decisions/" not in page and f"({page})" not in index]
    assert missing == []
