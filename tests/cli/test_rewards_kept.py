"""Where `adjudge rewardkit` keeps its journal: for as long as anything may be lost."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from adjudge.cli import rewards
from adjudge.cli.common import Refused
from adjudge.domain import CheckJudge, Suite

SUITE = Suite(name="tests", judges=(CheckJudge(name="ok", code="return True"),))


@pytest.mark.parametrize(
    ("ends", "kept"), [(0, False), (4, True), (130, True), (RuntimeError("a fault"), True), (Refused([]), False)]
)
def test_the_journal_goes_only_when_nothing_can_be_lost(
    ends: int | Exception, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(suite: Suite, options: Any, *_: Any, **__: Any) -> int:
        (options.output / "journal.db").write_text("what was paid for")
        if isinstance(ends, Exception):
            raise ends
        return ends

    monkeypatch.setattr(rewards, "_run", run)
    monkeypatch.setattr(tempfile, "mkdtemp", lambda prefix: str(_made(tmp_path / "run")))
    arguments: Any = (SUITE, None, tmp_path / "reward.json", None, 8, 8, 2)
    if isinstance(ends, Exception):
        with pytest.raises(type(ends)):
            rewards._judge(*arguments)
    else:
        assert rewards._judge(*arguments) == ends
    assert (tmp_path / "run" / "journal.db").exists() is kept


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
