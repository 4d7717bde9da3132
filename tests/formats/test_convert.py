"""From YAML nodes to config structs: every misfit is told, in words, with its place."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.formats.convert import Converter, expected, nearest
from adjudge.located import parse_yaml

DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abxyz") | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    a: Annotated[str, msgspec.Meta(description="needed")]
    b: int | None = None


class Outer(msgspec.Struct, forbid_unknown_fields=True, rename={"condition": "if"}):
    x: int = 1
    y: int | float | None = None
    text: str | None = None
    condition: str | bool | None = None
    words: list[str] | None = None
    numbers: list[int | float] | None = None
    free: dict[str, Any] | None = None
    typed: dict[str, str] | None = None
    one: Inner | None = None
    many: list[Inner] | None = None
    named: dict[str, Inner] | None = None


def convert(text: str) -> tuple[Outer | None, list[str]]:
    root, problems = parse_yaml(text, "f.yaml")
    assert root is not None
    assert not problems
    converter = Converter("f.yaml")
    return converter.struct(root, Outer), [str(problem) for problem in converter.problems]


def test_a_mapping_that_fits_becomes_the_struct() -> None:
    text = """
        {x: 3, y: 2.5, text: t, if: true, words: [a], numbers: [1, 2.5], free: {k: [1, {z: 2026-02-03}]},
         typed: {k: v}, one: {a: s}, many: [{a: s, b: 2}, {a: t}], named: {n: {a: s}}}
    """
    built, told = convert(text)
    assert told == []
    assert built is not None
    assert (built.x, built.y, built.text, built.condition) == (3, 2.5, "t", True)
    assert (built.words, built.numbers, built.typed) == (["a"], [1, 2.5], {"k": "v"})
    assert (built.one, built.named) == (Inner("s"), {"n": Inner("s")})
    assert built.many == [Inner("s", 2), Inner("t")]
    assert built.free is not None
    assert built.free["k"][0] == 1


def test_what_is_left_out_has_its_default() -> None:
    assert convert("{}") == (Outer(), [])


@pytest.mark.parametrize("key", ["y", "text", "if", "words", "free", "one", "many", "named"])
def test_null_stands_where_it_may(key: str) -> None:
    assert convert(f"{key}: null") == (Outer(), [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x: a", "f.yaml:1:4: error: x: expected a whole number, got text 'a'"),
        ("x: 2.5", "f.yaml:1:4: error: x: expected a whole number, got a number 2.5"),
        ("x: 2.0", "f.yaml:1:4: error: x: expected a whole number, got a number 2.0"),
        ("x: true", "f.yaml:1:4: error: x: expected a whole number, got true or false True"),
        ("x: '3'", "f.yaml:1:4: error: x: expected a whole number, got text '3'"),
        ("x: null", "f.yaml:1:4: error: x: expected a whole number, got nothing (null)"),
        ("y: true", "f.yaml:1:4: error: y: expected a number, got true or false True"),
        ("text: 5", "f.yaml:1:7: error: text: expected text, got a whole number 5"),
        ("text: 2026-02-03", "f.yaml:1:7: error: text: expected text, got a date"),
        ("text: [a]", "f.yaml:1:7: error: text: expected text, got a list"),
        ("if: 3", "f.yaml:1:5: error: if: expected text or true or false, got a whole number 3"),
        ("words: a", "f.yaml:1:8: error: words: expected a list of text, got text 'a'"),
        ("words: [a, 3, b]", "f.yaml:1:12: error: words[1]: expected text, got a whole number 3"),
        ("numbers: [1, x]", "f.yaml:1:14: error: numbers[1]: expected a number, got text 'x'"),
        ("free: [1]", "f.yaml:1:7: error: free: expected a mapping, got a list"),
        ("typed: {k: 3}", "f.yaml:1:12: error: typed.k: expected text, got a whole number 3"),
        ("one: 3", "f.yaml:1:6: error: one: expected a mapping, got a whole number"),
        ("one: {b: 3}", "f.yaml:1:6: error: one: the key 'a' is missing"),
        ("one: {a: s, b: t}", "f.yaml:1:16: error: one.b: expected a whole number, got text 't'"),
        ("one: {a: s, c: 1}", "f.yaml:1:13: error: one.c: unknown key 'c'"),
        ("many: {a: s}", "f.yaml:1:7: error: many: expected a list of"),
        ("many: [{a: s}, 5]", "f.yaml:1:16: error: many[1]: expected a mapping, got a whole number"),
        ("many:\n- a: s\n- a: 3", "f.yaml:3:6: error: many[1].a: expected text, got a whole number 3"),
        ("named: {n: 3}", "f.yaml:1:12: error: named.n: expected a mapping, got a whole number"),
        ("named: [3]", "f.yaml:1:8: error: named: expected a mapping, got a list"),
        ("condition: 'True'", "f.yaml:1:1: error: condition: unknown key 'condition'"),
        ("wrods: [a]", "f.yaml:1:1: error: wrods: unknown key 'wrods' (did you mean 'words'?)"),
        ("[1]", "f.yaml:1:1: error: expected a mapping, got a list"),
    ],
)
def test_a_misfit_is_told_in_words_with_its_place(text: str, message: str) -> None:
    _, told = convert(text)
    assert len(told) == 1
    assert told[0].startswith(message)


def test_every_misfit_is_told_and_the_rest_is_kept() -> None:
    built, told = convert("x: a\ntext: fine\nwords: [1, ok, 2]\none: {b: 3}\nmany: [{a: 1}, {a: s}]\nzzz: 1")
    assert len(told) == 6
    assert built is not None
    assert (built.x, built.text, built.words, built.many) == (1, "fine", ["ok"], [Inner("s")])


def test_an_enormous_value_is_not_printed_whole() -> None:
    _, told = convert(f"x: {'long' * 1000}")
    assert len(told[0]) < 200


@given(st.dictionaries(st.sampled_from(Outer.__struct_encode_fields__) | st.text(max_size=4), DATA, max_size=6))
def test_any_mapping_is_converted_or_told_of(data: dict[str, Any]) -> None:
    import yaml

    root, problems = parse_yaml(yaml.safe_dump(data, allow_unicode=True), "f.yaml")
    if root is None or problems:
        return
    converter = Converter("f.yaml")
    built = converter.struct(root, Outer)
    assert isinstance(built, Outer) or converter.problems
    assert all(problem.line > 0 and problem.column > 0 and problem.message for problem in converter.problems)
    if not converter.problems:
        assert built is not None
        assert {key: value for key, value in msgspec.to_builtins(built).items() if key in data} == msgspec.to_builtins(
            {key: None if value is None else root.value[key].plain() for key, value in data.items()}
        )


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("jugde", ["judge", "prompt"], "did you mean 'judge'?"),
        ("min_avg", ["min_mean", "min_pass_rate", "max_error_rate"], "did you mean 'min_mean'?"),
        ("zzz", ["b", "a"], "known: a, b"),
        ("zzz", [], ""),
        ("zzz", [f"n{k}" for k in range(50)], ""),
    ],
)
def test_the_nearest_name_or_a_short_list_is_the_hint(name: str, known: list[str], hint: str) -> None:
    assert nearest(name, known) == hint


@given(st.text(), st.lists(st.text()))
def test_a_hint_names_only_what_is_known(name: str, known: list[str]) -> None:
    hint = nearest(name, known)
    if hint.startswith("did you mean"):
        assert any(repr(one) in hint for one in known)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (str, "text"),
        (int, "a whole number"),
        (int | float, "a number"),
        (str | bool | None, "text or true or false"),
        (list[str], "a list of text"),
        (dict[str, Any], "a mapping"),
    ],
    ids=str,
)
def test_a_type_is_told_in_words(kind: Any, words: str) -> None:
    assert expected(msgspec.inspect.type_info(kind)) == words
