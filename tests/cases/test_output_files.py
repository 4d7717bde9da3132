"""What an agent made, read as it lies on disk: text where it is text, capped, and never through a link."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.cases.files import MAX_CASE_BYTES, MAX_FILE_BYTES, plain_files, read_output, read_outputs, read_text
from adjudge.domain import BinaryFile


def write(path: Path, data: bytes | str = b"x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def outputs(home: Path, declared: str = "output") -> tuple[dict[str, str | BinaryFile], list[str]]:
    notes: list[str] = []
    return read_outputs(str(home), declared, notes), notes


def sparse(path: Path, size: int) -> None:
    """A text file of this size, spaces but for what no disk holds."""
    write(path, b" " * 8192)
    with path.open("ab") as file:
        file.write(b"x" * (size - 8192))


def test_every_file_below_a_folder_is_read_in_order_of_its_path(tmp_path: Path) -> None:
    for name in ("output/b.md", "output/a/z.md", "output/a/deep/er.md", "output/a.md", "output/.hidden", "other/x.md"):
        write(tmp_path / name, name)
    found, notes = outputs(tmp_path)
    expected = ["output/.hidden", "output/a.md", "output/a/deep/er.md", "output/a/z.md", "output/b.md"]
    assert list(found) == expected
    assert found == {name: name for name in expected}
    assert notes == []


@pytest.mark.parametrize("declared", ["report.md", "deep/down/report.md"])
def test_a_declared_file_is_read_alone(tmp_path: Path, declared: str) -> None:
    write(tmp_path / declared, "report")
    write((tmp_path / declared).parent / "other.md")
    assert outputs(tmp_path, declared) == ({declared: "report"}, [])


@pytest.mark.parametrize("declared", ["nowhere", "nowhere/at/all", "file.txt/below"])
def test_what_is_not_there_gives_nothing(tmp_path: Path, declared: str) -> None:
    write(tmp_path / "file.txt")
    assert outputs(tmp_path, declared) == ({}, [])


def test_an_empty_folder_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / "output" / "empty").mkdir(parents=True)
    assert outputs(tmp_path) == ({}, [])


@pytest.mark.parametrize("name", ["with blank.md", "größe.md", "日本.md", "a'b\"c.md", "new\nline.md", "-rf", "a\\b"])
def test_any_file_name_is_read(tmp_path: Path, name: str) -> None:
    write(tmp_path / "output" / name, "text")
    assert outputs(tmp_path)[0] == {f"output/{name}": "text"}


def test_a_file_name_that_is_not_utf_8_is_shown_as_text(tmp_path: Path) -> None:
    (tmp_path / "output").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/output/caf\xe9.md")).write_text("text")
    found, _ = outputs(tmp_path)
    (name,) = found
    name.encode("utf-8")
    assert name.startswith("output/caf")
    assert found[name] == "text"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"a\r\nb\n", "a\r\nb\n"),
        ("ünï 日".encode(), "ünï 日"),
        (b"\x1b[31mred", "\x1b[31mred"),
        (b"\x07\x08", "\x07\x08"),
    ],
    ids=["empty", "line ends", "letters", "escapes", "control characters"],
)
def test_text_is_kept_as_it_is(tmp_path: Path, data: bytes, text: str) -> None:
    notes: list[str] = []
    assert read_output(str(write(tmp_path / "f", data)), notes, "f") == text
    assert notes == []


def test_text_that_is_not_utf_8_is_read_with_a_note(tmp_path: Path) -> None:
    write(tmp_path / "output" / "latin.txt", b"caf\xe9")
    found, notes = outputs(tmp_path)
    assert found == {"output/latin.txt": "caf\N{REPLACEMENT CHARACTER}"}
    assert notes == ["output/latin.txt: not UTF-8, some characters are replaced"]


def test_a_binary_file_is_a_path_a_size_and_a_hash(tmp_path: Path) -> None:
    data = b"\x89PNG\0\0" + bytes(range(256)) * 100
    path = write(tmp_path / "output" / "shot.png", data)
    expected = BinaryFile(str(path), len(data), hashlib.sha256(data).hexdigest())
    assert outputs(tmp_path)[0] == {"output/shot.png": expected}


def test_a_large_text_is_cut_with_a_mark_and_a_note(tmp_path: Path) -> None:
    sparse(tmp_path / "output" / "log.txt", MAX_FILE_BYTES + 5)
    found, notes = outputs(tmp_path)
    text = found["output/log.txt"]
    assert isinstance(text, str)
    assert text.endswith("\n[... cut: 5 bytes more]\n")
    assert len(text) < MAX_FILE_BYTES + 100
    assert len(notes) == 1
    assert "output/log.txt: cut" in notes[0]


def test_a_cut_through_a_letter_leaves_text(tmp_path: Path) -> None:
    write(tmp_path / "output" / "log.txt", b"x" + "ü".encode() * (MAX_FILE_BYTES // 2 + 1))
    text = outputs(tmp_path)[0]["output/log.txt"]
    assert isinstance(text, str)
    assert text.startswith("xü")


def test_outputs_beyond_the_cap_of_a_case_are_refused_rather_than_judged_in_part(tmp_path: Path) -> None:
    for k in range(MAX_CASE_BYTES // MAX_FILE_BYTES + 1):
        with write(tmp_path / "output" / f"{k:02d}.txt").open("ab") as file:
            file.truncate(MAX_FILE_BYTES)
    with pytest.raises(ValueError, match=str(MAX_CASE_BYTES)):
        outputs(tmp_path)


@pytest.mark.parametrize(
    ("link", "target", "declared"),
    [
        ("output/link.txt", "secret/key.txt", "output"),
        ("output/folder", "secret", "output"),
        ("output/up", ".", "output"),
        ("output/self", "output/self", "output"),
        ("output/gone", "nowhere", "output"),
        ("output", "secret", "output"),
        ("a", "secret", "a/key.txt"),
        ("report.md", "secret/key.txt", "report.md"),
    ],
    ids=[
        "file",
        "folder",
        "loop",
        "itself",
        "dangling",
        "the declared folder",
        "a folder on the way",
        "the declared file",
    ],
)
def test_links_are_skipped_with_a_note(tmp_path: Path, link: str, target: str, declared: str) -> None:
    write(tmp_path / "secret" / "key.txt", "s3cret")
    path = tmp_path / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(tmp_path / target)
    found, notes = outputs(tmp_path, declared)
    assert "s3cret" not in found.values()
    assert not any("key" in name for name in found)
    assert len(notes) == 1
    assert "a link, not followed" in notes[0]


def test_a_pipe_is_noted_and_never_opened(tmp_path: Path) -> None:
    write(tmp_path / "output" / "a.md")
    os.mkfifo(tmp_path / "output" / "pipe")
    found, notes = outputs(tmp_path)
    assert list(found) == ["output/a.md"]
    assert notes == ["output/pipe: neither a file nor a folder, left out"]


def test_a_declared_pipe_gives_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "output")
    assert outputs(tmp_path)[0] == {}


def test_a_binary_log_is_empty_text_with_a_note(tmp_path: Path) -> None:
    notes: list[str] = []
    assert read_text(str(write(tmp_path / "stdout.log", b"\0\1")), notes, "stdout.log") == ""
    assert notes == ["stdout.log: binary, left out"]


def test_plain_files_are_files_that_are_no_links(tmp_path: Path) -> None:
    write(tmp_path / "a.txt")
    write(tmp_path / "folder" / "b.txt")
    (tmp_path / "link.txt").symlink_to(tmp_path / "a.txt")
    assert plain_files(str(tmp_path)) == {"a.txt"}
    assert plain_files(str(tmp_path / "nowhere")) == frozenset()


@given(st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_text_or_binary_and_the_text_is_what_was_there(tmp_path: Path, data: bytes) -> None:
    content = read_output(str(write(tmp_path / "f", data)), [], "f")
    if isinstance(content, BinaryFile):
        assert b"\0" in data
        assert content.size == len(data)
    else:
        assert content == data.decode("utf-8", "replace")
