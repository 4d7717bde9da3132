"""The real agent programs, from the npm registry or from the folder `ADJUDGE_AGENT_CLIS`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.npm import install

PACKAGES = {"claude": "@anthropic-ai/claude-code@2.1.332", "codex": "@openai/codex@0.171.0"}


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that holds the programs."""
    given = os.environ.get("ADJUDGE_AGENT_CLIS")
    folder = Path(given) if given else tmp_path_factory.mktemp("agents")
    missing = [package for name, package in PACKAGES.items() if not (folder / "node_modules/.bin" / name).exists()]
    if missing and given:
        pytest.skip(f"not installed: {', '.join(missing)}")
    if missing:
        install(folder, *missing)
    yield folder / "node_modules" / ".bin"
    if not given:
        shutil.rmtree(folder, ignore_errors=True)
