"""Running an agent's process: time, output, and what it leaves behind."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from adjudge.agents import Ran, run_process
from adjudge.agents import process as module


def ran(tmp_path: Path, script: str, *, stdin: bytes = b"", limit_s: float = 20.0) -> Ran:
    """Run a Python program as an agent would be."""
    file = tmp_path / "agent.py"
    file.write_text(script)
    return asyncio.run(
        run_process(
            [sys.executable, str(file)],
            env={"PATH": os.environ["PATH"]},
            cwd=tmp_path,
            stdin=stdin,
            stdout=tmp_path / "out",
            stderr=tmp_path / "err",
            limit_s=limit_s,
        )
    )


def alive(pid: int) -> bool:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[0] not in ("Z", "X")


def test_what_it_reads_says_and_how_it_ends(tmp_path: Path) -> None:
    script = "import sys; print(sys.stdin.read()[::-1]); print('oops', file=sys.stderr); sys.exit(3)"
    result = ran(tmp_path, script, stdin="größe".encode())
    assert (result.status, result.text().strip(), result.errors().strip()) == (3, "eßörg", "oops")


def test_standard_input_is_closed_when_there_is_nothing_to_read(tmp_path: Path) -> None:
    assert ran(tmp_path, "import sys; print(repr(sys.stdin.read()))").text().strip() == "''"


def test_a_program_that_does_not_read_its_prompt_ends_all_the_same(tmp_path: Path) -> None:
    assert ran(tmp_path, "print('done')", stdin=b"x" * 5_000_000).status == 0


LEAVES = {
    "child": "subprocess.Popen(['sleep', '60'])",
    "child in a session of its own": "subprocess.Popen(['sleep', '60'], start_new_session=True)",
    "daemon": "subprocess.Popen(['sh', '-c', 'setsid sleep 60 & exit 0'], start_new_session=True).wait()",
    "child that holds the output open": "subprocess.Popen(['sleep', '60'], stdout=1, stderr=2)",
}


@pytest.mark.parametrize("ends", [True, False], ids=["it ends", "it is stopped"])
@pytest.mark.parametrize("leaves", LEAVES.values(), ids=LEAVES)
def test_nothing_that_it_started_is_left(tmp_path: Path, leaves: str, ends: bool) -> None:
    script = f"import subprocess, time\n{leaves}\nprint('started', flush=True)\n" + ("" if ends else "time.sleep(60)\n")
    began = time.monotonic()
    result = ran(tmp_path, script, limit_s=2.0)
    assert time.monotonic() - began < 10
    assert result.timed_out is not ends
    assert "started" in result.text()
    left = [
        int(entry)
        for entry in os.listdir("/proc")  # noqa: PTH208
        if entry.isdigit() and int(entry) != os.getpid() and _is_ours(int(entry), tmp_path)
    ]
    assert [pid for pid in left if alive(pid)] == []


def _is_ours(pid: int, tmp_path: Path) -> bool:
    try:
        return Path(f"/proc/{pid}/cwd").readlink() == tmp_path and alive(pid)
    except OSError:
        return False


def test_a_flood_of_output_is_spooled_and_then_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_HEAD", 1 << 20)
    monkeypatch.setattr(module, "MAX_TAIL", 1 << 18)
    monkeypatch.setattr(module, "MAX_OUTPUT", 1 << 26)
    script = "import os\nblock = b'x' * (1 << 16)\nfor _ in range(10 * (1 << 30) >> 16): os.write(1, block)\n"
    result = ran(tmp_path, script, limit_s=60)
    assert result.flooded
    assert result.status is None
    assert (tmp_path / "out").stat().st_size < 2 * (1 << 20)


def test_the_middle_of_a_long_output_is_cut_and_its_end_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_HEAD", 1000)
    monkeypatch.setattr(module, "MAX_TAIL", 500)
    text = ran(tmp_path, "print('a' * 5000); print('the verdict')").text()
    assert text.startswith("a" * 1000)
    assert "[... cut:" in text
    assert text.endswith("the verdict\n")
