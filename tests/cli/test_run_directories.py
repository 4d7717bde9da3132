"""Run directories that cannot be written or read: a clear line, the right exit code, and nothing lost."""

from __future__ import annotations

import resource
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.configs import ANSWER, check, write_suite
from tests.support.llm import call, command, environment

FILES = ("result.json", "summary.md", "junit.xml")


def run(*arguments: str, cwd: Path, before: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        check=False,
        cwd=cwd,
        env=environment(cwd),
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=before,
    )


def disk(size: int) -> Callable[[], None]:
    """Files of the command may grow to `size` bytes; what is beyond fails as on a full disk."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def a_file(folder: Path) -> str:
    (folder / "file").write_text("mine")
    return "file"


def below_a_file(folder: Path) -> str:
    return a_file(folder) + "/run"


def a_journal_of_something_else(folder: Path) -> str:
    (folder / "odd").mkdir()
    (folder / "odd" / "journal.db").write_bytes(b"not a database" * 100)
    return "odd"


def a_folder_in_place_of_the_journal(folder: Path) -> str:
    (folder / "odd" / "journal.db").mkdir(parents=True)
    return "odd"


@pytest.mark.parametrize("place", [a_file, below_a_file, a_journal_of_something_else, a_folder_in_place_of_the_journal])
def test_a_run_directory_that_cannot_be_one_is_refused_before_anything_runs(
    tmp_path: Path, place: Callable[[Path], str]
) -> None:
    write_suite(tmp_path, [check(code="open('ran', 'w')\nreturn True")])
    done = run("run", "--output", place(tmp_path), cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "ran").exists()


def test_a_file_where_runs_are_kept_is_told_of(tmp_path: Path) -> None:
    write_suite(tmp_path)
    (tmp_path / ".adjudge").write_text("mine")
    done = run("run", cwd=tmp_path)
    assert done.returncode == 2
    assert ".adjudge" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / ".adjudge").read_text() == "mine"


def test_a_disk_that_is_full_from_the_start_is_told_of(tmp_path: Path) -> None:
    write_suite(tmp_path)
    done = run("run", "--output", "run", cwd=tmp_path, before=disk(0))
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_disk_that_fills_keeps_every_verdict_so_far_and_the_same_command_goes_on(tmp_path: Path) -> None:
    """The checks count how often they ran: what was kept before the disk was full is not judged again."""
    cases = {f"case-{k:03d}": {**ANSWER, "input.yaml": f"k: {k}\n"} for k in range(150)}
    code = "open('ran', 'a').write('x')\nreturn True, 'x' * 3000"
    write_suite(tmp_path, [check(code=code)], cases)
    full = run("run", "--output", "run", cwd=tmp_path, before=disk(600_000))
    before = len((tmp_path / "ran").read_text())
    assert 10 < before < 150
    assert full.returncode == 4
    assert "cannot be written" in full.stderr
    assert "Traceback" not in full.stderr
    whole = run("run", "--output", "run", "-q", cwd=tmp_path)
    assert whole.returncode == 0
    assert '"n": 150' in (tmp_path / "run" / "result.json").read_text()
    assert 150 <= len((tmp_path / "ran").read_text()) < 150 + 40


def test_a_report_on_a_full_disk_leaves_the_old_files_whole(tmp_path: Path) -> None:
    write_suite(tmp_path, [check(code="return True, 'x' * 20_000")])
    assert run("run", "-q", "--output", "run", cwd=tmp_path).returncode == 0
    before = {name: (tmp_path / "run" / name).read_bytes() for name in FILES}
    done = run("report", "run", cwd=tmp_path, before=disk(10_000))
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert {name: (tmp_path / "run" / name).read_bytes() for name in FILES} == before
    assert not list((tmp_path / "run").glob(".*"))


@pytest.mark.parametrize("verb", ["report", "gate"])
@pytest.mark.parametrize("make", [a_file, a_journal_of_something_else, a_folder_in_place_of_the_journal])
def test_what_is_no_run_directory_cannot_be_reported(tmp_path: Path, verb: str, make: Callable[[Path], str]) -> None:
    done = run(verb, make(tmp_path), cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize("verb", ["report", "gate"])
def test_a_journal_that_was_cut_is_told_of(tmp_path: Path, verb: str) -> None:
    write_suite(tmp_path)
    assert run("run", "-q", "--output", "run", cwd=tmp_path).returncode == 0
    journal = tmp_path / "run" / "journal.db"
    journal.write_bytes(journal.read_bytes()[:5000])
    done = run(verb, "run", cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "journal" in done.stderr


def test_a_step_summary_that_cannot_be_written_does_not_change_the_result(tmp_path: Path) -> None:
    write_suite(tmp_path)
    env = environment(tmp_path, GITHUB_STEP_SUMMARY=str(tmp_path / "nowhere" / "summary.md"))
    done = call("run", "-q", cwd=tmp_path, env=env)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_a_run_directory_goes_below_the_current_folder_by_default(tmp_path: Path) -> None:
    write_suite(tmp_path / "suite", name="My Suite")
    assert run("run", "-q", "suite", cwd=tmp_path).returncode == 0
    (found,) = (tmp_path / ".adjudge" / "runs" / "my-suite").iterdir()
    assert {path.name for path in found.iterdir()} >= {*FILES, "journal.db"}
    assert not (tmp_path / "suite" / ".adjudge").exists()


def test_a_finished_run_is_not_written_over_by_the_next(tmp_path: Path) -> None:
    write_suite(tmp_path)
    for _ in range(2):
        assert run("run", "-q", cwd=tmp_path).returncode == 0
    assert len(list((tmp_path / ".adjudge" / "runs" / "suite").iterdir())) == 2
