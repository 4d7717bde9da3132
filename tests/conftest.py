"""No test sees a key of whoever runs it, nor writes into the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long one example takes depends on who else uses the machine.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")

ROOT = Path(__file__).parent.parent
SECRETS = ("ANTHROPIC", "OPENAI", "OPENROUTER", "EVAL_JUDGE", "AWS_", "GOOGLE_", "GEMINI_", "REWARDKIT", "GITHUB_")


@pytest.fixture(autouse=True)
def nobodys_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A clean environment and a working directory of its own for every test."""
    for name in list(os.environ):
        if name.startswith(SECRETS):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
