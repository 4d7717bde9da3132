"""Ready criteria on commands: real processes, some of which will not end."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from adjudge.judges.criteria import Finding
from adjudge.judges.criteria.library.commands import (
    command_output_contains,
    command_output_matches,
    command_output_matches_regex,
    command_succeeds,
)


def running(mark: str) -> list[int]:
    """Processes whose command line holds a mark."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if mark in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return found


def gone(mark: str) -> bool:
    deadline = time.monotonic() + 3
    while running(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not running(mark)


def test_success_is_exit_code_0(tmp_path: Path) -> None:
    assert command_succeeds(tmp_path, "true") == Finding(True, "exit code 0")
    failed = command_succeeds(tmp_path, "echo out; echo err >&2; exit 3")
    assert failed == Finding(False, "exit code 3\nstdout: out\nstderr: err")


def test_a_command_that_is_not_there_is_told(tmp_path: Path) -> None:
    finding = command_succeeds(tmp_path, "no-such-program-at-all")
    assert finding.value is False
    assert finding.evidence.startswith("exit code 127\nstderr: ")


def test_a_command_that_is_killed_is_told(tmp_path: Path) -> None:
    assert command_succeeds(tmp_path, "kill -9 $$") == Finding(False, "killed by signal 9")


def test_the_shell_is_sh_in_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    assert command_output_matches(tmp_path, "pwd", str(tmp_path.resolve())).value is True
    assert command_output_matches(tmp_path, "pwd", str(tmp_path.resolve() / "in"), cwd="in").value is True
    assert command_output_matches(tmp_path, "pwd", str(tmp_path.resolve() / "in"), str(tmp_path / "in")).value is True
    assert command_output_matches(tmp_path, "echo $0", "/bin/sh").value is True


def test_output_counts_whatever_the_exit_code_which_is_shown(tmp_path: Path) -> None:
    contains = command_output_contains(tmp_path, "echo one two; exit 7", "two")
    assert contains == Finding(True, "stdout contains 'two'; exit code 7\nstdout: one two")
    assert command_output_matches(tmp_path, "echo ' hi '; exit 7", "hi\n").value is True
    assert command_output_matches(tmp_path, "echo hi there", "hi").value is False
    assert command_output_matches_regex(tmp_path, "echo v1.23; exit 7", r"v\d+\.\d+").value is True
    assert command_output_matches_regex(tmp_path, "echo v1", r"v\d+\.\d+").value is False


def test_only_stdout_counts_and_stderr_is_shown(tmp_path: Path) -> None:
    finding = command_output_contains(tmp_path, "echo secret >&2", "secret")
    assert finding.value is False
    assert finding.evidence.endswith("stderr: secret")


def test_bytes_that_are_not_utf8_do_no_harm(tmp_path: Path) -> None:
    assert command_succeeds(tmp_path, r"printf 'a\377b'").value is True
    assert command_output_contains(tmp_path, r"printf 'a\377b'", "a\N{REPLACEMENT CHARACTER}b").value is True


def test_standard_input_is_closed(tmp_path: Path) -> None:
    started = time.monotonic()
    assert command_output_matches(tmp_path, "cat", "").value is True
    assert time.monotonic() - started < 5


def test_time_is_up_for_the_whole_group(tmp_path: Path) -> None:
    started = time.monotonic()
    finding = command_output_contains(tmp_path, "echo hi; sleep 7101 & sleep 7101", "hi", timeout=0.5)
    assert finding.value is False
    assert "timed out after 0.5 seconds and was killed\nstdout: hi" in finding.evidence
    assert time.monotonic() - started < 4
    assert gone("7101")


def test_a_command_that_ignores_signals_is_killed(tmp_path: Path) -> None:
    finding = command_succeeds(tmp_path, "trap '' TERM INT HUP; while :; do sleep 0.05; done", timeout=0.3)
    assert "timed out" in finding.evidence


@pytest.mark.parametrize(
    ("command", "mark"),
    [
        pytest.param("sleep 7102 & echo hi", "7102", id="holds stdout open"),
        pytest.param("sleep 7103 >/dev/null 2>&1 & echo hi", "7103", id="closed stdout"),
        pytest.param("nohup sleep 7104 >/dev/null 2>&1 & echo hi", "7104", id="ignores hang-ups"),
        pytest.param("timeout 7105 sleep 7105 & sleep 0.1; echo hi", "7105", id="in a group of its own"),
    ],
)
def test_what_is_left_running_is_killed_and_not_waited_for(tmp_path: Path, command: str, mark: str) -> None:
    started = time.monotonic()
    assert command_output_matches(tmp_path, command, "hi", timeout=20).value is True
    assert time.monotonic() - started < 5
    assert gone(mark)


def test_closed_streams_do_not_end_a_command(tmp_path: Path) -> None:
    assert command_succeeds(tmp_path, "exec >&- 2>&-; sleep 0.2; exit 4") == Finding(False, "exit code 4")


def test_a_command_that_never_stops_printing_is_survived(tmp_path: Path) -> None:
    before = psutil.Process().memory_info().rss
    finding = command_output_contains(tmp_path, "echo first; yes | head -c 300000000; echo last", "first")
    assert finding.value is True
    assert command_output_contains(tmp_path, "echo first; yes | head -c 300000000; echo last", "last").value is True
    assert command_output_matches(tmp_path, "yes | head -c 300000000", "y").value is False
    assert "the beginning and the end were kept" in finding.evidence
    assert finding.evidence.endswith("last")
    assert len(finding.evidence) <= 2000
    assert psutil.Process().memory_info().rss - before < 150 * 1024 * 1024
    assert "timed out" in command_succeeds(tmp_path, "yes", timeout=0.5).evidence


def test_long_output_on_both_streams_shares_the_evidence(tmp_path: Path) -> None:
    shown = command_succeeds(tmp_path, "seq 100000; seq 100000 >&2; exit 1").evidence
    assert len(shown) <= 2000
    assert shown.count("100000") == 2
    assert "stdout: [...] " in shown
    assert "stderr: [...] " in shown


def test_evidence_moves_no_cursor(tmp_path: Path) -> None:
    assert "\x1b" not in command_succeeds(tmp_path, r"printf '\033[2Jhi'").evidence


def test_a_folder_that_is_not_there_is_false(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for cwd in ("nope", "file"):
        finding = command_succeeds(tmp_path, "true", cwd=cwd)
        assert finding == Finding(False, f"the folder '{cwd}' to run in does not exist")


def test_a_folder_that_a_link_leads_out_to_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "workspace"
    home.mkdir()
    (home / "out").symlink_to(tmp_path)
    assert "a link leads out" in command_succeeds(home, "true", cwd="out").evidence


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), "30", True])
def test_a_time_limit_is_a_positive_number(tmp_path: Path, timeout: Any) -> None:
    with pytest.raises(ValueError, match="timeout must be a positive number of seconds"):
        command_succeeds(tmp_path, "true", timeout=timeout)


@pytest.mark.parametrize("command", ["echo a\0b", "x" * 5_000_000, ["true"]])
def test_what_is_no_command_is_the_authors(tmp_path: Path, command: Any) -> None:
    with pytest.raises(ValueError):
        command_succeeds(tmp_path, command)


def test_a_bad_pattern_runs_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is no regular expression"):
        command_output_matches_regex(tmp_path, "touch ran", "[")
    assert not (tmp_path / "ran").exists()
