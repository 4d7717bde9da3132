"""YAML with positions: what is read, where it stood, and that no text is too odd to be told of."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.domain import Problem
from adjudge.located import MAX_BYTES, Located, parse_yaml, read_text
from tests.conftest import ROOT


def read(text: str) -> Located:
    root, problems = parse_yaml(text, "f.yaml")
    assert not problems
    assert root is not None
    return root


def told(text: str) -> list[str]:
    return [str(problem) for problem in parse_yaml(text, "f.yaml")[1]]


def at(node: Located, *path: str | int) -> Located:
    for step in path:
        node = node.value[step]
    return node


TEXT = """\
name: suite
judges:
  - name: first
    arguments: {limit: 3, words: [a, b]}
  -   name: second
thresholds:
    "quoted key": {min_mean: 1}
"""


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), (1, 1)),
        (("name",), (1, 7)),
        (("judges",), (3, 3)),
        (("judges", 0), (3, 5)),
        (("judges", 0, "name"), (3, 11)),
        (("judges", 0, "arguments"), (4, 16)),
        (("judges", 0, "arguments", "limit"), (4, 24)),
        (("judges", 0, "arguments", "words", 1), (4, 38)),
        (("judges", 1), (5, 7)),
        (("thresholds", "quoted key", "min_mean"), (7, 30)),
    ],
    ids=str,
)
def test_every_value_knows_its_line_and_column(path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    node = at(read(TEXT), *path)
    assert (node.line, node.column) == place


def test_every_key_knows_its_line_and_column() -> None:
    root = read(TEXT)
    assert root.keys == {"name": (1, 1), "judges": (2, 1), "thresholds": (6, 1)}
    assert at(root, "judges", 0, "arguments").keys == {"limit": (4, 17), "words": (4, 27)}
    assert at(root, "thresholds").keys == {"quoted key": (7, 5)}


def test_columns_count_characters_and_not_bytes() -> None:
    assert at(read("{größe: 日本, b: 2}"), "b").column == 16


# PyYAML writes a next-line character in a form that its own C reader folds.
LETTERS = st.characters(codec="utf-8", exclude_characters="\x85")
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(LETTERS))
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(LETTERS), inner, max_size=4),
    max_leaves=12,
)


@given(DATA, st.booleans())
def test_what_pyyaml_writes_is_read_as_it_was(data: Any, flow: bool) -> None:
    text = yaml.safe_dump(data, default_flow_style=flow)
    root, problems = parse_yaml(text, "f.yaml")
    assert not problems
    assert root is not None
    assert root.plain() == data


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a", "text"),
        ("3", "a whole number"),
        ("3.5", "a number"),
        ("yes", "true or false"),
        ("~", "nothing (null)"),
        ("2026-02-03", "a date"),
        ("[1]", "a list"),
        ("{a: 1}", "a mapping"),
    ],
)
def test_a_kind_is_told_in_words(text: str, kind: str) -> None:
    assert read(f"x: {text}").value["x"].kind == kind


@pytest.mark.parametrize("text", ["", " \n", "# a comment\n", "---\n", "--- # nothing\n...\n"])
def test_an_empty_document_is_nothing_without_a_problem(text: str) -> None:
    root, problems = parse_yaml(text, "f.yaml")
    assert problems == []
    assert root is None or root.value is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a: 1\nb: 2\na: 3\n", "f.yaml:3:1: error: a: the key 'a' stands twice", id="top"),
        pytest.param("x:\n  a: 1\n  a: 1\n", "f.yaml:3:3: error: x.a: the key 'a' stands twice", id="nested"),
        pytest.param("- {a: 1, a: 2}\n", "f.yaml:1:10: error: [0].a: the key 'a' stands twice", id="in a list"),
        pytest.param("1: a\n'1': b\n", "f.yaml:2:1: error: 1: the key '1' stands twice", id="number and text"),
        pytest.param("? [a]\n: 1\n", "f.yaml:1:3: error: a key must be text", id="list as a key"),
        pytest.param("~: 1\n", "f.yaml:1:1: error: a key must be text", id="null as a key"),
        pytest.param("a: 2026-02-30\n", "f.yaml:1:4: error: a: cannot be read: day is out of range", id="no such day"),
        pytest.param("a: !!int x\n", "f.yaml:1:4: error: a: cannot be read: ", id="no number"),
        pytest.param("a: !custom x\n", "f.yaml:1:4: error: a: cannot be read: could not", id="unknown tag"),
        pytest.param(
            "a: !!python/object/apply:os.system [id]\n", "f.yaml:1:4: error: ", id="a tag that would run something"
        ),
        pytest.param("a: !custom [x]\n", "f.yaml:1:4: error: ", id="unknown tag of a list"),
        pytest.param("a: !custom {b: x}\n", "f.yaml:1:4: error: ", id="unknown tag of a mapping"),
        pytest.param("a: !!int\n", "f.yaml:1:4: error: a: cannot be read", id="whole number of nothing"),
        pytest.param("a: !!float ''\n", "f.yaml:1:4: error: a: cannot be read", id="number of nothing"),
        pytest.param("a: !!bool maybe\n", "f.yaml:1:4: error: a: cannot be read", id="no boolean"),
        pytest.param("a: !!timestamp soon\n", "f.yaml:1:4: error: a: cannot be read", id="no date"),
        pytest.param("a: !!binary é\n", "f.yaml:1:4: error: a: cannot be read", id="no base64"),
        pytest.param("a: [1\n", "f.yaml:2:1: error: not valid YAML", id="open bracket"),
        pytest.param("a: b: c\n", "f.yaml:1:5: error: not valid YAML", id="two colons"),
        pytest.param("a: 'x\n", "f.yaml:2:1: error: not valid YAML", id="open quote"),
        pytest.param("a:\n\tb: 1\n", "indent with spaces: this line has a tab", id="tab"),
        pytest.param("a: *nobody\n", "f.yaml:1:4: error: not valid YAML: found undefined alias", id="unknown alias"),
        pytest.param("a: 1\n---\nb: 1\n", "f.yaml:2:1: error: not valid YAML", id="two documents"),
        pytest.param("a: \x07\n", "error: not valid YAML", id="control character"),
        pytest.param("%YAML 9.9\n---\na: 1\n", "error: not valid YAML", id="version"),
        pytest.param("x: {<<: 5}\n", "f.yaml:1:9: error: x: << must refer to a mapping", id="merge of a number"),
        pytest.param("x: {<<: [{a: 1}, 5]}\n", "<< must refer to a mapping", id="merge of a list with a number"),
    ],
)
def test_a_problem_is_told_where_it_stands(text: str, message: str) -> None:
    found = told(text)
    assert any(message in problem for problem in found), found


def test_several_problems_are_told_at_once_and_the_rest_is_read() -> None:
    root, problems = parse_yaml("a: 1\na: 2\nb: 2026-02-30\nc: fine\nd: {e: 1, e: 2}\n", "f.yaml")
    assert [problem.line for problem in problems] == [2, 3, 5]
    assert root is not None
    assert root.value["c"].value == "fine"


def test_an_alias_is_a_copy() -> None:
    root = read("base: &b {x: [1]}\none: *b\ntwo: *b\n")
    assert root.plain() == {"base": {"x": [1]}, "one": {"x": [1]}, "two": {"x": [1]}}
    assert root.value["one"] is not root.value["two"]


@pytest.mark.parametrize(
    ("text", "merged"),
    [
        pytest.param("<<: *a\ny: 9", {"x": 1, "y": 9}, id="own keys win"),
        pytest.param("y: 9\n<<: *a", {"x": 1, "y": 9}, id="own keys win when they come first"),
        pytest.param("<<: [*a, *b]", {"x": 1, "y": 2, "z": 4}, id="the first of a list wins"),
        pytest.param("<<: [*b, *a]", {"x": 3, "y": 2, "z": 4}, id="in its order"),
        pytest.param("<<: *c\nw: 0", {"x": 1, "y": 5, "w": 0}, id="through several"),
        pytest.param("<<: {}", {}, id="nothing"),
    ],
)
def test_merge_keys_merge_as_in_pyyaml(text: str, merged: dict[str, int]) -> None:
    whole = "a: &a {x: 1, y: 2}\nb: &b {x: 3, z: 4}\nc: &c {<<: *a, y: 5}\nm:\n  " + text.replace("\n", "\n  ")
    assert read(whole).value["m"].plain() == merged
    if "*c" not in text:  # there PyYAML lets a merged key win over the mapping's own
        assert merged == yaml.safe_load(whole)["m"]


@pytest.mark.parametrize(
    "text",
    ["a: &a [*a]\n", "a: &a {b: *a}\n", "&r\na: [{b: *r}]\n", "a: &a\n  <<: *a\n", "a: &a {b: {<<: [*a]}}\n"],
    ids=["list", "mapping", "root", "merge", "merge below"],
)
def test_an_anchor_that_contains_itself_is_a_problem_with_a_place(text: str) -> None:
    _, problems = parse_yaml(text, "f.yaml")
    assert any(problem.message == "an anchor contains itself" and problem.line for problem in problems)


LAUGHS = "".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9) if k else 'x'}]\n" for k in range(12))
MERGED_LAUGHS = "".join(
    f"a{k}: &a{k} {{{', '.join(f'k{n}: *a{k - 1}' for n in range(9)) if k else 'x: 1'}}}\n" for k in range(12)
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LAUGHS, id="a billion laughs"),
        pytest.param(MERGED_LAUGHS, id="a billion mappings"),
        pytest.param("[" * 200_000, id="open brackets"),
        pytest.param("a: " + "[" * 5000 + "]" * 5000, id="brackets"),
        pytest.param("- " * 20_000 + "x", id="lists in lists"),
        pytest.param("".join(" " * k + f"k{k}:\n" for k in range(1500)), id="mappings in mappings"),
        pytest.param("? " * 5000 + "x", id="keys in keys"),
        pytest.param("!" * 100_000 + " x", id="tags"),
        pytest.param("a: '" + "x" * 4_000_000, id="open quote"),
        pytest.param("{" * 100 + "<<: " * 3, id="merges"),
    ],
)
def test_hostile_text_is_a_problem_within_seconds(text: str) -> None:
    began = time.process_time()
    assert told(text)
    assert time.process_time() - began < 10


def test_as_many_values_as_a_large_suite_has_are_read() -> None:
    text = "".join(f"- {{name: j{k}, score_range: [1, 5]}}\n" for k in range(5000))
    assert len(read(text).value) == 5000


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_text(tmp_path / "f.yaml", "f.yaml") == "a: 1\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a: 1\nb: \xe4\n", "f.yaml:2:4: error: byte 0xe4 is not UTF-8 (save the file as UTF-8)"),
        ("größe: ".encode() + b"\xe4", "f.yaml:1:8: error: byte 0xe4 is not UTF-8"),
        ("a: ü".encode("utf-16"), "looks like UTF-16"),
        ("a: ü".encode("utf-16-le"), "is not UTF-8"),
    ],
    ids=["latin-1", "column in characters", "utf-16 with a mark", "utf-16 without"],
)
def test_bytes_that_are_not_utf_8_are_told_with_their_place(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "f.yaml").write_bytes(data)
    problem = read_text(tmp_path / "f.yaml", "f.yaml")
    assert isinstance(problem, Problem)
    assert message in str(problem)


def test_a_file_that_cannot_be_read_is_one_problem(tmp_path: Path) -> None:
    with (tmp_path / "large.yaml").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    for name, message in {"gone": "no such file", ".": "is a folder", "large.yaml": "a config may have"}.items():
        problem = read_text(tmp_path / name, "shown")
        assert isinstance(problem, Problem)
        assert str(problem).startswith("shown: error: ")
        assert message in str(problem)


PIECES = [
    *"abc:-?[]{},&*#|>!%@'\" \t\n0.~<=",
    "<<: ",
    "*a",
    "&a ",
    "!!int ",
    "- ",
    ": ",
    "\n  ",
    "---\n",
    "é",
    "\ud7ff",
]
REAL = (ROOT / "examples" / "quickstart" / "eval.yaml").read_text()


def sane(text: str) -> None:
    root, problems = parse_yaml(text, "f.yaml")
    assert isinstance(root, Located | None)
    assert all(problem.file == "f.yaml" and problem.message and not problem.warning for problem in problems)


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
@settings(max_examples=400)
def test_text_that_looks_like_yaml_gives_a_value_or_problems(text: str) -> None:
    sane(text)


@given(st.text())
def test_any_text_gives_a_value_or_problems(text: str) -> None:
    sane(text)


@given(st.integers(0, len(REAL)), st.integers(0, 40), st.lists(st.sampled_from(PIECES), max_size=4).map("".join))
@settings(max_examples=60)
def test_a_real_config_with_a_slip_gives_a_value_or_problems(start: int, length: int, inserted: str) -> None:
    sane(REAL[:start] + inserted + REAL[start + length :])


@given(st.binary())
@settings(max_examples=60)
def test_any_bytes_are_text_or_one_problem(data: bytes) -> None:
    path = Path("f.yaml")
    path.write_bytes(data)
    text = read_text(path, "f.yaml")
    if isinstance(text, str):
        sane(text)
    else:
        assert text.line > 0
        assert text.column > 0
