"""Where output goes: terminals with and without colour, pipes that close, encodings that lack letters, full disks."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from functools import partial
from pathlib import Path

import pytest

from tests.support.configs import ANSWER, check, write_suite
from tests.support.llm import command, environment

COLOUR = re.compile(r"\x1b\[[0-9;]*\b(3[0-7]|9[0-7])m")
ODD = check("prüf", "return False, 'nö 日'")


def on_a_terminal(*arguments: str, cwd: Path, **env: str) -> str:
    """What the command shows on a terminal, standard output and error together."""
    ours, theirs = pty.openpty()
    known = {**environment(cwd), **env, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
    process = subprocess.Popen(command(*arguments), cwd=cwd, env=known, stdout=theirs, stderr=theirs, stdin=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    process.wait(timeout=30)
    os.close(ours)
    return shown.decode()


@pytest.mark.parametrize("verb", ["run", "validate"])
def test_a_terminal_has_colours_unless_no_color_is_set(tmp_path: Path, verb: str) -> None:
    thresholds = {"ok": {"min_pass_rate": 1}} if verb == "run" else {"nobody": {}}
    write_suite(tmp_path, [check(code="return False")], thresholds=thresholds)
    assert COLOUR.search(on_a_terminal(verb, cwd=tmp_path))
    assert not COLOUR.search(on_a_terminal(verb, cwd=tmp_path, NO_COLOR="1"))


def test_a_terminal_has_live_progress(tmp_path: Path) -> None:
    write_suite(tmp_path)
    shown = on_a_terminal("run", cwd=tmp_path)
    assert "1/1 done, 0 unscored" in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("columns", ["20", "40", "300"])
def test_a_table_fits_any_width(tmp_path: Path, columns: str) -> None:
    write_suite(tmp_path, [check("a_judge_with_a_rather_long_name_indeed"), check("b", "1 / 0")])
    done = subprocess.run(
        command("run"),
        check=False,
        cwd=tmp_path,
        env=environment(tmp_path, COLUMNS=columns),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    assert "BROKEN" in done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("arguments", [["run", "-v"], ["run", "--json"], ["validate"], ["plan"]], ids=" ".join)
def test_letters_that_an_encoding_lacks_do_not_break_the_command(
    tmp_path: Path, encoding: str, arguments: list[str]
) -> None:
    write_suite(tmp_path, [ODD], {"größer 日本": ANSWER}, name="größe")
    done = subprocess.run(
        command(*arguments),
        check=False,
        cwd=tmp_path,
        env=environment(tmp_path, PYTHONIOENCODING=encoding),
        capture_output=True,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", [["schema"], ["run", "--json"], ["run", "-v"], ["--help"]], ids=" ".join)
def test_a_pipe_that_closes_early_is_no_fault(tmp_path: Path, arguments: list[str]) -> None:
    cases = dict.fromkeys([f"case-{k:03d}" for k in range(100)], ANSWER)
    write_suite(tmp_path, [check(code="return True, 'x' * 5000")], cases)
    process = subprocess.Popen(
        command(*arguments),
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    told = process.stderr.read().decode()
    process.stderr.close()
    process.wait(timeout=30)
    assert "Traceback" not in told
    assert "Error" not in told


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["run"], ["run", "-q", "--json"], ["schema"], ["plan"]], ids=" ".join)
def test_standard_output_on_a_full_disk_is_one_line_and_exit_4(tmp_path: Path, arguments: list[str]) -> None:
    write_suite(tmp_path)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command(*arguments),
            check=False,
            cwd=tmp_path,
            env=environment(tmp_path),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert "No space left on device" in done.stderr
    assert done.returncode == 4


def test_json_goes_to_standard_output_and_progress_to_standard_error(tmp_path: Path) -> None:
    write_suite(tmp_path)
    done = subprocess.run(
        command("run", "--json"), check=False, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True
    )
    assert done.stdout.startswith("{")
    assert done.stdout.endswith("}\n")
    assert "1/1 done" in done.stderr


@pytest.mark.parametrize("stream", [1, 2], ids=["standard output", "standard error"])
def test_a_stream_that_is_closed_from_the_start_is_no_fault(tmp_path: Path, stream: int) -> None:
    write_suite(tmp_path)
    done = subprocess.run(
        command("run", "--output", "run"),
        check=False,
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=partial(os.close, stream),
        timeout=30,
    )
    assert done.returncode == 0
    assert (tmp_path / "run" / "result.json").exists()
