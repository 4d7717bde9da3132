"""What judges leave in temporary folders goes with the run, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.llm import call, command, write_config

LEAVES = """\
  - name: leaves
    check: |
      import tempfile, time
      tempfile.mkdtemp(); time.sleep({})
      return True
"""


def folder(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    place = tmp_path / "temporary"
    place.mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return place, {**kept, "HOME": str(tmp_path), "TMPDIR": str(place)}


def test_nothing_is_left_after_a_run(tmp_path: Path) -> None:
    place, env = folder(tmp_path)
    write_config(tmp_path, 3, judges=LEAVES.format(0))
    assert call("run", "-q", "--no-llm", cwd=tmp_path, env=env).returncode == 0
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_after_a_run_that_was_stopped(tmp_path: Path, number: signal.Signals) -> None:
    place, env = folder(tmp_path)
    write_config(tmp_path, 3, judges=LEAVES.format(30))
    process = subprocess.Popen(command("run", "-q", "--no-llm"), cwd=tmp_path, env=env)
    wait_until(place, holds=True)
    process.send_signal(number)
    process.wait(timeout=20)
    wait_until(place, holds=False)


def wait_until(place: Path, *, holds: bool) -> None:
    """Wait until a judge has left something below the folder, or the folder is empty."""
    deadline = time.monotonic() + 20
    while bool(list(place.glob("*/*" if holds else "*"))) is not holds:
        assert time.monotonic() < deadline, list(place.rglob("*"))
        time.sleep(0.05)
