"""What running an agent makes in the temporary folder goes with the run, however it ends."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.configs import write_suite
from tests.support.llm import call, command, environment


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "temporary").mkdir()
    return environment(tmp_path, TMPDIR=str(tmp_path / "temporary"))


def suite(folder: Path, mode: str) -> None:
    """An agent that waits until there is a file `go`."""
    script = f"echo > $TMPDIR/mine; touch {folder}/began; for i in $(seq 600); do [ ! -e {folder}/go ] || break; "
    script += "sleep 0.05; done"
    runner = {"type": "cli", "command": ["sh", "-c", script]}
    write_suite(folder, cases=("a", "b"), runner=runner, execution={"prompt": "x", "mode": mode})


def left(folder: Path) -> list[str]:
    """Everything in the temporary folder, but for the folder of all workspaces itself."""
    return sorted(path.name for path in (folder / "temporary").glob("*") if any(path.rglob("*")))


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("mode", ["case", "batch"])
def test_nothing_is_left_after_a_run(tmp_path: Path, env: dict[str, str], mode: str) -> None:
    suite(tmp_path, mode)
    (tmp_path / "go").touch()
    assert call("run", "-q", "--output", "run", cwd=tmp_path, env=env).returncode == 0
    assert (tmp_path / "began").exists()
    assert left(tmp_path) == []


@pytest.mark.parametrize("mode", ["case", "batch"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_after_a_run_that_was_stopped(
    tmp_path: Path, env: dict[str, str], number: signal.Signals, mode: str
) -> None:
    suite(tmp_path, mode)
    process = subprocess.Popen(command("run", "-q", "--output", "run"), cwd=tmp_path, env=env)
    wait_for(tmp_path / "began")
    assert left(tmp_path)
    process.send_signal(number)
    assert process.wait(timeout=60) == 130
    assert left(tmp_path) == []


@pytest.mark.parametrize("mode", ["case", "batch"])
def test_what_a_run_that_was_killed_left_goes_with_the_next(tmp_path: Path, env: dict[str, str], mode: str) -> None:
    suite(tmp_path, mode)
    process = subprocess.Popen(command("run", "-q", "--output", "run"), cwd=tmp_path, env=env)
    wait_for(tmp_path / "began")
    process.kill()
    process.wait()
    assert left(tmp_path)
    (tmp_path / "go").touch()
    assert call("run", "-q", "--output", "run", cwd=tmp_path, env=env).returncode == 0
    assert left(tmp_path) == []
