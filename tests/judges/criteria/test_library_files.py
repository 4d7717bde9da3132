"""Ready criteria on files: text, bytes, links, globs."""

from __future__ import annotations

import os
import random
import time
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest

from adjudge.judges.criteria import Finding
from adjudge.judges.criteria.library import difference, reading
from adjudge.judges.criteria.library.difference import diff_ratio
from adjudge.judges.criteria.library.files import (
    file_contains,
    file_contains_regex,
    file_count,
    file_exists,
    file_matches,
    file_not_exists,
    files_equal,
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A workspace, with room beside it for what must not be reached."""
    home = tmp_path / "workspace"
    home.mkdir()
    return home


@pytest.mark.parametrize(("path", "there"), [("a.txt", True), ("folder", True), ("nope", False), ("a.txt/b", False)])
def test_existence_counts_files_and_folders(home: Path, path: str, there: bool) -> None:
    (home / "a.txt").touch()
    (home / "folder").mkdir()
    assert file_exists(home, path).value is there
    assert file_not_exists(home, path).value is not there


def test_a_link_to_nothing_does_not_exist(home: Path) -> None:
    (home / "link").symlink_to("nothing")
    assert file_exists(home, "link").value is False
    assert file_not_exists(home, "link").value is True


def test_a_name_that_no_system_takes_is_false(home: Path) -> None:
    assert file_exists(home, "x" * 5000).value is False
    assert file_not_exists(home, "x" * 5000).value is False
    assert file_contains(home, "x" * 5000, "a").value is False


def test_contains_says_the_line(home: Path) -> None:
    (home / "a.txt").write_text("one\ntwo\n")
    assert file_contains(home, "a.txt", "two") == Finding(True, "a.txt contains 'two' in line 2")
    missing = file_contains(home, "a.txt", "three")
    assert missing == Finding(False, "a.txt does not contain 'three'; it begins 'one\\ntwo\\n'")


def test_every_text_contains_nothing(home: Path) -> None:
    (home / "a.txt").touch()
    assert file_contains(home, "a.txt", "").value is True
    assert file_contains(home, "nope", "").value is False


def test_ends_of_lines_do_not_count(home: Path) -> None:
    (home / "a.txt").write_bytes(b"one\r\ntwo\rthree")
    assert file_contains(home, "a.txt", "one\ntwo\nthree").value is True
    assert file_matches(home, "a.txt", "one\ntwo\nthree\n").value is True


@pytest.mark.parametrize(
    ("data", "note"),
    [
        pytest.param("caf\u00e9".encode(), "", id="UTF-8"),
        pytest.param("caf\u00e9".encode("utf-8-sig"), "", id="UTF-8 with a mark"),
        pytest.param("caf\u00e9".encode("cp1252"), "not UTF-8, read as Windows-1252", id="Latin-1"),
        pytest.param("caf\u00e9".encode("utf-16"), "read as UTF-16", id="UTF-16 with a mark"),
        pytest.param(b"\0\1caf\xe9\x81", "binary, read as Windows-1252", id="binary"),
    ],
)
def test_encodings_are_read_and_said(home: Path, data: bytes, note: str) -> None:
    (home / "a.txt").write_bytes(data)
    finding = file_contains(home, "a.txt", "caf\u00e9")
    assert finding.value is True
    assert note in finding.evidence
    assert bool(note) is ("read as" in finding.evidence)


def test_only_the_beginning_of_a_huge_file_is_searched_and_that_is_said(home: Path) -> None:
    with (home / "a.txt").open("wb") as file:
        file.write(b"start")
        file.truncate(3 * 1024**3)
        file.seek(-3, os.SEEK_END)
        file.write(b"end")
    started = time.monotonic()
    assert file_contains(home, "a.txt", "start").value is True
    missed = file_contains(home, "a.txt", "end")
    assert missed.value is False
    assert "only the first 64 MiB of 3072 MiB were read" in missed.evidence
    assert "too large" in file_matches(home, "a.txt", "start").evidence
    assert "too large" in files_equal(home, "a.txt", "a.txt").evidence
    assert "too large" in diff_ratio(home, "a.txt", "start").evidence
    assert time.monotonic() - started < 10


def test_a_character_cut_by_the_cap_does_not_make_a_text_another(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "a.txt").write_bytes("\u00e9\u00e9\u00e9".encode())
    text = reading.read_text(home, "a.txt", 3, head=True)
    assert text.text == "\u00e9"
    assert "Windows" not in text.note


def test_regex_searches_without_flags(home: Path) -> None:
    (home / "a.txt").write_text("first\nport = 8080\n")
    assert file_contains_regex(home, "a.txt", r"port\s*=\s*\d+").value is True
    assert file_contains_regex(home, "a.txt", r"^port").value is False
    assert file_contains_regex(home, "a.txt", r"(?m)^port").value is True
    assert "in line 2: 'port = 8080'" in file_contains_regex(home, "a.txt", r"port = \d+").evidence


def test_a_bad_regex_is_the_authors(home: Path) -> None:
    with pytest.raises(ValueError, match="'\\(' is no regular expression: missing \\)"):
        file_contains_regex(home, "nope", "(")


def test_matches_ignores_space_at_the_ends_only(home: Path) -> None:
    (home / "a.txt").write_text("\n one\ntwo  \n")
    assert file_matches(home, "a.txt", "one\ntwo").value is True
    differs = file_matches(home, "a.txt", "one\ntw o")
    assert differs == Finding(False, "a.txt differs from what is expected from line 2 on: 'o' against ' o'")


def test_equal_texts_and_equal_bytes(home: Path) -> None:
    (home / "a").write_bytes(b"text\r\n")
    (home / "b").write_bytes(b"  text\n\n")
    (home / "c").write_bytes(b"\x89PNG\xff\0")
    (home / "d").write_bytes(b"\x89PNG\xff\0")
    (home / "e").write_bytes(b"\x89PNG\xff\0\n")
    assert files_equal(home, "a", "b") == Finding(True, "a and b have the same text")
    assert files_equal(home, "c", "d").value is True
    assert files_equal(home, "d", "e").value is False
    assert "bytes count" in files_equal(home, "a", "c").evidence
    assert "nope does not exist" in files_equal(home, "a", "nope").evidence


def test_a_link_out_of_the_workspace_is_refused_everywhere(home: Path) -> None:
    expected = home.parent / "expected.txt"
    expected.write_text("the answer")
    (home / "answer.txt").symlink_to(expected)
    (home / "way").symlink_to(home.parent)
    for path in ("answer.txt", "way/expected.txt", str(home / "answer.txt")):
        for finding in (
            file_exists(home, path),
            file_not_exists(home, path),
            file_contains(home, path, "answer"),
            file_matches(home, path, "the answer"),
            files_equal(home, path, str(expected)),
            diff_ratio(home, path, "the answer"),
        ):
            assert not finding.value
            assert "a link leads out of the workspace" in finding.evidence


def test_what_the_author_wrote_is_followed(home: Path) -> None:
    expected = home.parent / "expected.txt"
    expected.write_text("the answer")
    (home / "answer.txt").write_text("the answer")
    (home / "inner.txt").symlink_to("answer.txt")
    assert files_equal(home, "answer.txt", str(expected)).value is True
    assert files_equal(home, "answer.txt", "../expected.txt").value is True
    assert files_equal(home, "inner.txt", str(expected)).value is True


def test_dots_are_taken_as_written_whatever_a_link_makes_of_them(home: Path) -> None:
    (home / "x.txt").write_text("own")
    (home / "link").symlink_to(home.parent)
    assert file_matches(home, "link/../x.txt", "own").value is True


def test_a_workspace_reached_through_a_link(home: Path) -> None:
    (home / "a.txt").write_text("x")
    alias = home.parent / "alias"
    alias.symlink_to(home)
    assert file_matches(alias, "a.txt", "x").value is True
    assert file_matches(alias, str(home / "a.txt"), "x").value is True
    assert file_matches(home, str(alias / "a.txt"), "x").value is True


def test_a_pipe_or_a_loop_in_the_place_of_a_file_is_not_waited_for(home: Path) -> None:
    os.mkfifo(home / "pipe")
    (home / "loop").symlink_to("loop")
    assert file_contains(home, "pipe", "x") == Finding(False, "pipe is not a regular file")
    assert file_contains(home, "/dev/zero", "x").value is False
    assert file_contains(home, "loop", "x").value is False


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_false(home: Path) -> None:
    (home / "a.txt").touch(mode=0)
    assert "cannot be read: Permission denied" in file_contains(home, "a.txt", "").evidence


@pytest.mark.parametrize("path", ["", "a\0b", 3, None])
def test_what_is_no_path_is_the_authors(home: Path, path: Any) -> None:
    with pytest.raises(ValueError, match="a path must be a non-empty string"):
        file_exists(home, path)


def test_text_arguments_must_be_strings(home: Path) -> None:
    wrong: Any = 3
    for criterion in (file_contains, file_contains_regex, file_matches, diff_ratio):
        with pytest.raises(ValueError, match="must be a string, got 3"):
            criterion(home, "a.txt", wrong)


def test_evidence_moves_no_cursor_and_stays_short(home: Path) -> None:
    (home / "a.txt").write_text("\x1b[2J" + "x" * 100_000)
    for finding in (file_contains(home, "a.txt", "y" * 9000), file_matches(home, "a.txt", "y" * 9000)):
        assert "\x1b" not in finding.evidence
        assert len(finding.evidence) < 1500


# --- diff_ratio


def test_ratio_is_difflibs(home: Path) -> None:
    rng = random.Random(7)
    for length in (0, 5, 50, 199, 200, 400):
        first, second = ("".join(rng.choice("ab cde\n") for _ in range(length)) for _ in range(2))
        (home / "a.txt").write_text(f"\n{first} ")
        assert diff_ratio(home, "a.txt", second).value == SequenceMatcher(None, first.strip(), second.strip()).ratio()


def test_equal_texts_have_ratio_one_however_long(home: Path) -> None:
    (home / "a.txt").write_text("ab" * 4_000_000)
    assert diff_ratio(home, "a.txt", "ab" * 4_000_000).value == 1.0


def test_a_missing_file_has_ratio_zero_also_against_nothing(home: Path) -> None:
    assert diff_ratio(home, "nope", "") == Finding(0.0, "nope does not exist")


def test_long_texts_are_compared_by_lines(home: Path) -> None:
    lines = [f"line {number} of the text\n" for number in range(30_000)]
    (home / "a.txt").write_text("".join(lines))
    finding = diff_ratio(home, "a.txt", "".join(lines[:15_000]))
    assert finding.value == pytest.approx(2 / 3, abs=0.01)
    assert "compared by lines" in finding.evidence


def test_texts_made_to_be_slow_are_bounded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "a.txt").write_text("x\ny\n" * 500_000)
    started = time.monotonic()
    finding = diff_ratio(home, "a.txt", "y\nx\n" * 400_000)
    assert finding.value == 0.0
    assert "too long to say how much" in finding.evidence
    assert time.monotonic() - started < 10
    monkeypatch.setattr(difference, "BUDGET", 5)
    (home / "a.txt").write_text("abcabc")
    assert "compared by lines" in diff_ratio(home, "a.txt", "bcabca").evidence


# --- file_count


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("*.txt", 2),
        ("**/*.txt", 4),
        ("src/*.txt", 1),
        ("src/**", 3),
        ("**", 6),
        ("src/**/deep/*.txt", 1),
        ("[ab].txt", 2),
        ("[!a].txt", 1),
        ("?.txt", 2),
        ("src", 0),
        (".hid*", 1),
        ("***.txt", 2),
    ],
)
def test_globs_count_files(home: Path, pattern: str, count: int) -> None:
    for path in ("a.txt", "b.txt", ".hidden", "src/c.txt", "src/x/deep/d.txt", "src/e.py"):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).touch()
    assert file_count(home, pattern, exactly=count).value is True
    assert file_count(home, pattern, exactly=count + 1).value is False


def test_count_has_bounds_and_at_least_one_by_default(home: Path) -> None:
    assert file_count(home, "*").value is False
    for name in "abc":
        (home / name).touch()
    assert file_count(home, "*") == Finding(True, "3 files match '*': 'a', 'b', 'c'")
    assert file_count(home, "*", minimum=4).value is False
    assert file_count(home, "*", maximum=3).value is True
    assert file_count(home, "*", maximum=2).value is False
    assert file_count(home, "*", minimum=1, maximum=3).value is True
    assert file_count(home, "z", maximum=3).value is True


def test_count_does_not_follow_links(home: Path) -> None:
    (home.parent / "b").touch()
    (home / "out").symlink_to(home.parent)
    assert file_count(home, "out/*", exactly=0).value is True


@pytest.mark.parametrize(
    "arguments",
    [
        {"pattern": ""},
        {"pattern": "/etc/*"},
        {"pattern": "../*"},
        {"pattern": "[z-a]"},
        {"pattern": "*", "minimum": -1},
        {"pattern": "*", "exactly": 1, "maximum": 2},
        {"pattern": "*", "minimum": 3, "maximum": 2},
        {"pattern": "*", "exactly": True},
    ],
)
def test_count_refuses_what_means_nothing(home: Path, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        file_count(home, **arguments)


def test_a_glob_of_many_stars_is_no_trap(home: Path) -> None:
    (home / ("a" * 200)).touch()
    started = time.monotonic()
    assert file_count(home, "*" * 50 + "b", exactly=0).value is True
    assert file_count(home, "**/" * 30 + "b", exactly=0).value is True
    assert time.monotonic() - started < 2
