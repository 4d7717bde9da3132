"""Files as a judge is shown them: whatever a file is, it is there or it is said why not."""

from __future__ import annotations

import base64
import json
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge
from adjudge.domain import Binary, Case, Criterion, LLMJudge, RunResult, Score, Suite
from adjudge.prompts import DocumentReader, documents
from tests.support.llm import QUICK
from tests.support.material import outside
from tests.support.provider import LoopbackProvider
from tests.support.replies import Verdict
from tests.support.request import Request
from tests.support.showing import MIB, PIXELS, noted, read, shown, text_of, write

# Texts


@pytest.mark.parametrize(
    ("content", "text", "note"),
    [
        pytest.param(b"plain", "plain", "", id="ascii"),
        pytest.param("\u00e9\u4e2d\U0001f600".encode(), "\u00e9\u4e2d\U0001f600", "", id="utf-8"),
        pytest.param(b"\xef\xbb\xbfx", "x", "", id="byte order mark"),
        pytest.param("\u00e9\n".encode("utf-16"), "\u00e9\n", "", id="utf-16"),
        pytest.param(b"\xfe\xff" + "\u00e9".encode("utf-16-be"), "\u00e9", "", id="utf-16 big end first"),
        pytest.param(b"caf\xe9", "caf\u00e9", "not UTF-8", id="latin-1"),
        pytest.param(b"\x93x\x94", "\u201cx\u201d", "not UTF-8", id="windows-1252"),
        pytest.param(b"\x81\xff!", "\ufffd\u00ff!", "not UTF-8", id="no encoding at all"),
        pytest.param(b"a\r\nb\r", "a\r\nb\r", "", id="line ends as they are"),
    ],
)
def test_text_is_read_in_its_encoding(content: bytes, text: str, note: str, tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": content})
    assert (found := read(tmp_path, "a.txt")["a.txt"]).text == text
    assert found.missing == ""
    assert note in found.note
    assert bool(found.note) == bool(note)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        pytest.param("a.bin", b"\0\1\2", "binary, 3 bytes", id="binary"),
        pytest.param("a.txt", b"text\0text", "binary", id="text with a NUL"),
        pytest.param("a.txt", b"", "empty", id="empty"),
        pytest.param("a.txt", b" \n\t\n", "empty", id="blank"),
        pytest.param("a.png", b"", "empty", id="empty image"),
        pytest.param("a.pdf", b"%PDF-1.4\n\xff\xfe\0\1\2", "unreadable", id="broken pdf"),
        pytest.param("a.docx", b"PK\x03\x04\0\0cut\xff\xfe\0", "unreadable", id="broken docx"),
        pytest.param("a.xlsx", b"PK\x05\x06" + b"\0" * 18, "unreadable", id="empty zip"),
        pytest.param("a.epub", b"\xff" * 10, "unreadable", id="broken epub"),
    ],
)
def test_what_cannot_be_shown_is_named_with_the_reason(name: str, content: bytes, why: str, tmp_path: Path) -> None:
    if name.endswith((".pdf", ".docx", ".xlsx", ".epub")):
        pytest.importorskip("markitdown")
    write(tmp_path, {f"out/{name}": content})
    material = shown(tmp_path, "out")
    assert f"out/{name}" in text_of(material)
    assert why in text_of(material)
    assert noted(material, f"out/{name}", why)


@given(content=st.binary(max_size=200), suffix=st.sampled_from([".txt", ".csv", "", ".png", ".svg", ".ipynb"]))
def test_no_file_is_silently_absent(content: bytes, suffix: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("any")
    write(home, {f"a{suffix}": content})
    (found,) = read(home, f"a{suffix}").values()
    assert bool(found.missing) != bool(found.text.strip() or found.data)


@pytest.mark.parametrize("size", [MIB - 1, MIB, MIB + 1, 3 * MIB + 1])
@pytest.mark.parametrize(
    ("unit", "encoding"), [("a", "utf-8"), ("\u4e2d", "utf-8"), ("\u00e9", "cp1252"), ("\u4e2d", "utf-16")]
)
def test_a_text_over_the_cap_keeps_head_and_tail_and_says_so(
    unit: str, encoding: str, size: int, tmp_path: Path
) -> None:
    body = unit * (size // len(unit.encode(encoding.replace("16", "16-le"))))
    text = f"HEAD {body} TAIL"
    data = text.encode(encoding)
    write(tmp_path, {"a.txt": data})
    found = read(tmp_path, "a.txt")["a.txt"]
    assert found.text.startswith("HEAD ")
    assert found.text.endswith(" TAIL")
    assert ("not UTF-8" in found.note) == (encoding == "cp1252")
    if len(data) <= MIB:
        assert found.text == text
        return
    gone = len(data) - MIB
    assert f"\n[... cut: {gone} bytes ...]\n" in found.text
    assert f"cut to {MIB} of {len(data)} bytes" in found.note
    assert set(found.text.replace(f"\n[... cut: {gone} bytes ...]\n", "")) == {unit, *"HEAD TAIL"}
    assert noted(shown(tmp_path, "a.txt"), "a.txt", "cut to")


# Folders and globs


TREE: dict[str, str | bytes] = {
    "out/b.md": "b",
    "out/a.md": "a",
    "out/sub/deep/c.md": "c",
    "out/.hidden": "h",
    "out/.git/config": "g",
    "out/node_modules/x/y.js": "y",
    "out/sub/d.txt": "d",
    "top.md": "t",
}


def test_a_folder_is_shown_whole_in_order_and_what_is_left_out_is_named(tmp_path: Path) -> None:
    write(tmp_path, TREE)
    (tmp_path / "out" / "empty").mkdir()
    found = read(tmp_path, "out")
    assert {label: document.text or document.missing for label, document in found.items()} == {
        "out/.git": "not shown: hidden",
        "out/.hidden": "not shown: hidden",
        "out/a.md": "a",
        "out/b.md": "b",
        "out/empty": "an empty folder",
        "out/node_modules": "not shown: not written by hand",
        "out/sub/d.txt": "d",
        "out/sub/deep/c.md": "c",
    }
    assert [label for label in found if not found[label].missing] == [
        "out/a.md",
        "out/b.md",
        "out/sub/d.txt",
        "out/sub/deep/c.md",
    ]


@pytest.mark.parametrize(
    ("pattern", "labels"),
    [
        ("*.md", ["top.md"]),
        ("out/*.md", ["out/a.md", "out/b.md"]),
        ("**/*.md", ["out/a.md", "out/b.md", "out/sub/deep/c.md", "top.md"]),
        ("out/**/*.md", ["out/a.md", "out/b.md", "out/sub/deep/c.md"]),
        ("out/**/deep/*", ["out/sub/deep/c.md"]),
        ("out/**/deep/**/*.md", ["out/sub/deep/c.md"]),
        ("out/sub/**", ["out/sub/d.txt", "out/sub/deep/c.md"]),
        ("o*/[ab].md", ["out/a.md", "out/b.md"]),
        ("out/.hid*", ["out/.hidden"]),
        ("./top.md", ["./top.md"]),
        ("out/../top.md", ["out/../top.md"]),
    ],
)
def test_a_glob_finds_files_in_order(pattern: str, labels: list[str], tmp_path: Path) -> None:
    write(tmp_path, {**TREE, "out/node_modules/x/y.js": "y"})
    assert [label for label, document in read(tmp_path, pattern).items() if not document.missing] == labels


def test_a_glob_and_a_folder_show_each_file_once(tmp_path: Path) -> None:
    write(tmp_path, TREE)
    found = read(tmp_path, "out/a.md", "out", "**/*.md", "out/a.md", "./out/a.md")
    assert [label for label in found if label.endswith("a.md")] == ["out/a.md"]
    assert "top.md" in found


@pytest.mark.parametrize("pattern", ["gone.md", "gone/", "*.nosuch", "**/*.nosuch", "[", "a\0b", "x" * 5000, "***"])
def test_what_matches_nothing_is_named(pattern: str, tmp_path: Path) -> None:
    (found,) = read(tmp_path, pattern).values()
    assert found.missing.startswith("not found")


@pytest.mark.parametrize("pattern", ["ou*", "o*t/s*b", "ou*/"])
def test_a_glob_that_matches_only_a_folder_is_not_silent(pattern: str, tmp_path: Path) -> None:
    write(tmp_path, TREE)
    material = shown(tmp_path, pattern)
    assert material.parts
    assert noted(material, "not shown: a folder")


def test_a_file_whose_name_looks_like_a_glob_is_a_file(tmp_path: Path) -> None:
    write(tmp_path, {"a[1].md": "one", "a1.md": "other"})
    assert read(tmp_path, "a[1].md")["a[1].md"].text == "one"


def test_a_name_that_is_no_text_is_shown_and_named(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path / "out") + b"/\xff.txt")).write_text("odd")
    material = shown(tmp_path, "out")
    assert "out/\\xff.txt" in text_of(material)
    assert "odd" in text_of(material)
    json.dumps(text_of(material)).encode()


def test_the_file_count_is_capped_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_FILES", 5)
    write(tmp_path, {f"out/{k}.md": "x" for k in range(9)})
    material = shown(tmp_path, "out")
    assert noted(material, "not shown: more than 5 files")
    assert "not shown: more than 5 files" in text_of(material)


def test_a_file_is_labelled_as_it_is_named_whoever_read_it_first(tmp_path: Path) -> None:
    write(tmp_path, {"out/a.md": "a"})
    reader = DocumentReader(str(tmp_path))
    labels = [reader.read([name])[0].label for name in ("out", "out/a.md", "./out/a.md", str(tmp_path / "out/*.md"))]
    assert labels == ["out/a.md", "out/a.md", "./out/a.md", str(tmp_path / "out/a.md")]
    assert reader.opened == 1


# Links and files that are none


def test_a_link_out_of_the_workspace_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x.txt").write_text("the secret")
    home = tmp_path / "home"
    write(home, {"out/a.md": "a", "out/real/b.md": "b"})
    (home / "out" / "link.txt").symlink_to(secret)
    (home / "out" / "up").symlink_to(tmp_path / "other")
    (home / "out" / "within.md").symlink_to(home / "out" / "a.md")
    (home / "out" / "loop").symlink_to(home / "out")
    (home / "out" / "gone").symlink_to(home / "nosuch")
    (home / "out" / "self").symlink_to("self")
    for patterns in (
        ["out"],
        ["out/*"],
        ["out/**/*"],
        ["out/**"],
        ["out/link.txt", "out/up", "out/up/x.txt", "out/gone", "out/self", "out/loop/a.md"],
        ["out/u*/*.txt"],
        ["out/up/../link.txt"],
    ):
        material = shown(home, *patterns)
        assert "the secret" not in text_of(material), patterns
        assert material.notes, patterns
    found = read(home, "out")
    assert "a link that leads out" in found["out/link.txt"].missing
    assert "a link" in found["out/up"].missing
    assert "a link" in found["out/loop"].missing
    assert "a link to nothing" in found["out/gone"].missing
    assert "out/self" in found
    assert found["out/real/b.md"].text == "b"


def test_links_that_lead_round_do_not_keep_a_glob_busy(tmp_path: Path) -> None:
    write(tmp_path, {"out/a.md": "a"})
    for k in range(4):
        (tmp_path / "out" / f"round{k}").symlink_to(".")
    start = time.perf_counter()
    assert read(tmp_path, "**/*.md")["out/a.md"].text == "a"
    assert [document.text for document in read(tmp_path, "out/**").values()].count("a") == 1
    assert "not found" in read(tmp_path, "**/*.nosuch")["**/*.nosuch"].missing
    assert time.perf_counter() - start < 2


def test_pipes_and_sockets_are_named_and_not_opened(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out" / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        os.chdir(tmp_path / "out")
        listening.bind("socket")
        found = read(tmp_path, "out", "out/pip*")
    assert {document.missing for document in found.values()} == {"not shown: neither a file nor a folder"}


def test_an_unreadable_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"out/a.md": "a", "out/b.png": "b", "out/c.md": "c"})

    def refused(path: str, *_: object) -> Any:
        raise PermissionError(13, "Permission denied")

    real: Callable[..., Any] = open
    monkeypatch.setattr(
        "builtins.open", lambda path, *rest: refused(path) if "a.md" in str(path) else real(path, *rest)
    )
    monkeypatch.setattr(Path, "read_bytes", lambda path: refused(str(path)))
    material = shown(tmp_path, "out")
    for name in ("out/a.md", "out/b.png"):
        assert noted(material, name, "unreadable: Permission denied")
    assert "c" in text_of(material)


# In a request, and in a result


def test_a_file_is_not_cut_when_it_fits_and_marked_when_it_does_not(tmp_path: Path) -> None:
    write(tmp_path, {"small.md": "s" * 100, "large.md": "L" * 50_000, "wide.md": "\u4e2d" * 20_000})
    whole = shown(tmp_path, "*.md")
    assert whole.notes == ()
    assert "L" * 50_000 in text_of(whole)
    cut = shown(tmp_path, "*.md", model="gpt-4")
    assert "s" * 100 in text_of(cut)
    assert text_of(cut).count("[... cut: ") == 2
    assert noted(cut, "large.md", "cut to")
    assert noted(cut, "wide.md", "cut to")
    assert 6_000 < len(text_of(cut).encode()) < (8_000 - 4_096 - 1_000) * 3


@given(
    sizes=st.lists(
        st.tuples(st.sampled_from("a\u00e9\u4e2d\U0001f600"), st.integers(1, 20_000)), min_size=1, max_size=6
    )
)
def test_the_files_never_exceed_the_room_and_use_it_well(
    sizes: list[tuple[str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("sizes")
    write(home, {f"{k}.md": unit * size for k, (unit, size) in enumerate(sizes)})
    room = (8_000 - 4_096 - 1_000) * 3
    material = shown(home, "*.md", model="gpt-4")
    used = len(text_of(material).encode())
    assert used <= room
    if noted(material, "cut to"):
        assert used > 0.75 * room - 160 * len(sizes)


def test_a_reference_is_shown_apart_and_whole(tmp_path: Path) -> None:
    write(tmp_path, {"out/a.md": "the work", "ref/one.md": "first of it", "ref/two.md": "second of it"})
    text = text_of(shown(tmp_path, "out", reference="ref"))
    assert text.index("the work") < text.index("## Reference solution") < text.index("first of it")
    assert "second of it" in text
    assert "[BEGIN REFERENCE SOLUTION: ref/one.md #" in text
    assert noted(shown(tmp_path, "out", reference="gone.md"), "gone.md", "not found")


def test_everything_left_out_is_in_the_result_and_in_the_request(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "out/a.md": "the work",
            "out/b.bin": b"\0",
            "out/c.txt": b"caf\xe9",
            "out/.hidden": "h",
            "out/large.md": "x" * (2 * MIB),
            "out/shot.png": base64.b64decode(PIXELS[".png"]),
        },
    )
    (tmp_path / "out" / "link").symlink_to("/etc/hostname")
    result, requests = judged(tmp_path, "out", "gone.md")
    notes = "\n".join(result.notes)
    for label in ("out/b.bin", "out/c.txt", "out/.hidden", "out/large.md", "out/link", "gone.md"):
        assert f"{label}: " in notes
    (request,) = requests
    for label in ("out/a.md", "out/b.bin", "out/c.txt", "out/.hidden", "out/large.md", "out/link", "gone.md"):
        assert label in request.prompt
    blocks = request.body["messages"][0]["content"]
    assert [block["source"]["media_type"] for block in blocks if block["type"] == "image"] == ["image/png"]
    assert "the work" not in outside(request.prompt)


def judged(home: Path, *files: str) -> tuple[Score, list[Request]]:
    judge = LLMJudge(
        name="good", model="claude-sonnet-5-5", files=files, criteria=(Criterion(name="good", scale=Binary()),)
    )
    with LoopbackProvider(lambda _: Verdict({"rationale": "r", "passed": True})) as provider:
        suite = Suite(name="files", cases=[Case(id="a", directory=str(home))], judges=(judge,))
        result: RunResult = adjudge.run(suite, environ=provider.env(), retry=QUICK, workers=1)
        return result.score("a", "good"), provider.requests
