"""Ready criteria on JSON and YAML."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import MissingExtraError
from adjudge.judges.criteria import Finding
from adjudge.judges.criteria.library.data import (
    json_key_equals,
    json_path_equals,
    json_schema_valid,
    yaml_key_equals,
)

DATA = {"a": {"b": [1, 2.5, {"c": True}]}, "yes": True, "one": 1, "0": "zero", "none": None, "x.y": "dotted"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "a.json").write_text(json.dumps(DATA))
    (tmp_path / "list.json").write_text('[10, {"k": "v"}]')
    return tmp_path


@pytest.mark.parametrize(
    ("key", "expected", "value"),
    [
        ("yes", True, True),
        ("yes", 1, False),
        ("one", True, False),
        ("one", 1, True),
        ("one", 1.0, True),
        ("one", "1", False),
        ("none", None, True),
        ("absent", None, False),
        ("x.y", "dotted", True),
        ("a", {"b": [1, 2.5, {"c": True}]}, True),
        ("a", {"b": [1, 2.5, {"c": 1}]}, False),
        ("a", {"b": [True, 2.5, {"c": True}]}, False),
        ("a", {"b": (1, 2.5, {"c": True})}, True),
    ],
)
def test_a_key_is_compared_and_true_is_not_1(home: Path, key: str, expected: Any, value: bool) -> None:
    assert json_key_equals(home, "a.json", key, expected).value is value


@pytest.mark.parametrize(
    ("path", "json_path", "expected", "value"),
    [
        ("a.json", "a.b.0", 1, True),
        ("a.json", "a.b.-1.c", True, True),
        ("a.json", "a.b.2.c", 1, False),
        ("a.json", "0", "zero", True),
        ("a.json", "a.b.3", None, False),
        ("a.json", "a.b.-4", None, False),
        ("a.json", "a.b.x", None, False),
        ("a.json", "a.b.0.c", None, False),
        ("a.json", "x.y", "dotted", False),
        ("a.json", "", DATA, False),
        ("list.json", "1.k", "v", True),
        ("list.json", "0", 10, True),
    ],
)
def test_a_path_goes_through_keys_and_lists(home: Path, path: str, json_path: str, expected: Any, value: bool) -> None:
    assert json_path_equals(home, path, json_path, expected).value is value


def test_evidence_shows_what_was_there(home: Path) -> None:
    assert json_key_equals(home, "a.json", "one", 2) == Finding(False, "'one' is 1 in a.json, not 2")
    assert json_key_equals(home, "a.json", "two", 2) == Finding(False, "a.json has no 'two'")
    assert json_key_equals(home, "list.json", "0", 10).evidence.endswith("not an object")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is no JSON"),
        (b"{", "is no JSON"),
        (b'{"a": 1} trailing', "is no JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "is no JSON"),
        (b"\xff\xfe\x00", "is no JSON"),
        (b" " * (17 * 1024 * 1024), "too large"),
    ],
    ids=["empty", "cut", "trailing", "deep", "long number", "bytes", "huge"],
)
def test_bad_json_is_false(home: Path, content: bytes, why: str) -> None:
    (home / "bad.json").write_bytes(content)
    for finding in (json_key_equals(home, "bad.json", "a", 1), json_path_equals(home, "bad.json", "a", 1)):
        assert finding.value is False
        assert why in finding.evidence
    assert json_schema_valid(home, "bad.json", {}).value is False


def test_json_in_another_encoding_is_read_and_that_is_said(home: Path) -> None:
    (home / "latin.json").write_bytes('{"k": "caf\u00e9"}'.encode("latin-1"))
    finding = json_key_equals(home, "latin.json", "k", "caf\u00e9")
    assert finding.value is True
    assert "not UTF-8, read as Windows-1252" in finding.evidence


# --- JSON Schema

SCHEMA: dict[str, Any] = {"type": "object", "required": ["one"], "properties": {"one": {"type": "integer"}}}


def test_a_schema_given_or_in_a_file(home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("tests") / "schema.json"
    outside.write_text(json.dumps(SCHEMA))
    (home / "schema.json").write_text(json.dumps(SCHEMA))
    (home / "bad.json").write_text('{"one": "two"}')
    for schema in (SCHEMA, str(outside), "schema.json"):
        assert json_schema_valid(home, "a.json", schema) == Finding(True, "a.json is valid by the schema")
        wrong = json_schema_valid(home, "bad.json", schema)
        assert wrong.value is False
        assert "$.one: 'two' is not of type 'integer'" in wrong.evidence


def test_a_schema_that_is_none_is_the_fault_of_who_wrote_it(
    home: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("tests") / "schema.json"
    outside.write_text('{"type": 3}')
    (home / "schema.json").write_text('{"type": 3}')
    for schema in ({"type": 3}, str(outside), str(outside.with_name("nope")), 3, {"$ref": "https://example.org/x"}):
        with pytest.raises(ValueError):
            json_schema_valid(home, "a.json", schema)  # type: ignore[arg-type]
    for own in ("schema.json", "nope.json"):
        assert "the schema in the workspace cannot be used" in json_schema_valid(home, "a.json", own).evidence


def test_a_recursive_schema_and_a_deep_document(home: Path) -> None:
    (home / "deep.json").write_text("[" * 900 + "]" * 900)
    finding = json_schema_valid(home, "deep.json", {"items": {"$ref": "#"}})
    assert isinstance(finding, Finding)


def test_without_jsonschema_the_command_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(MissingExtraError, match="pip install jsonschema"):
        json_schema_valid(home, "a.json", {})


# --- YAML


@pytest.mark.parametrize(
    ("key", "expected", "value"),
    [
        ("name", "app", True),
        ("server.port", 8080, True),
        ("server.port", "8080", False),
        ("server.hosts.-1", "b", True),
        ("server.debug", True, True),
        ("server.debug", 1, False),
        ("2", "two", True),
        ("on.push", "x", True),
        ("null", 0, True),
        ("server.nope", None, False),
        ("merged.port", 8080, True),
    ],
)
def test_a_key_of_yaml(tmp_path: Path, key: str, expected: Any, value: bool) -> None:
    (tmp_path / "a.yaml").write_text(
        "name: app\nserver: &s\n  port: 8080\n  hosts: [a, b]\n  debug: true\n"
        "2: two\non: {push: x}\nnull: 0\nmerged: {<<: *s, other: 1}\n"
    )
    assert yaml_key_equals(tmp_path, "a.yaml", key, expected).value is value


def bomb(line: str, width: int = 9) -> str:
    return "a0: &a0 {k: 1}\n" + "".join(
        f"a{at}: &a{at} {line.format(', '.join([f'*a{at - 1}'] * width))}\n" for at in range(1, 40)
    )


@pytest.mark.parametrize(
    "text",
    [
        "[" * 900_000,
        "- " * 300_000,
        "x: [",
        "x: !!python/object/apply:os.system ['true']",
        "x: " + "1" * 100_000,
        "x: 0x" + "f" * 100_000,
        "x: 1" + ":1" * 300_000,
        bomb("[{}]"),
        bomb("{{<<: [{}]}}"),
        bomb("{{<<: [{}]}}", 2000),
        "x: 1\n---\nx: 1\n",
        "{[1]: 2}",
        "? {a: b}\n: 1",
        "\0",
        "x: 2026-99-99",
        "y: 1\n" * 300_000,
    ],
    ids=lambda text: text[:20],
)
def test_hostile_yaml_is_false_and_quick(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    started = time.monotonic()
    for key in ("x", "a39", "y.z"):
        finding = yaml_key_equals(tmp_path, "a.yaml", key, "nothing like it")
        assert finding.value is False
        assert len(finding.evidence) < 1000
    assert time.monotonic() - started < 10
