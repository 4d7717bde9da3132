"""Judges of output files: which there are, what they hold, and whether a schema admits them."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from adjudge.cases.record import case_record
from adjudge.domain import BinaryFile, Case, MissingExtraError
from adjudge.judges.builtin import load_builtin

BINARY = BinaryFile(path="/nowhere/a.png", size=3)
FILES: dict[str, Any] = {
    "output/a.md": "# One\nTwo\n",
    "output/data/b.json": '{"n": 5}',
    "_modified/src/app.py": "x = 1\n",
}


def verdict(name: str, files: dict[str, Any] | None = None, *, stdout: str = "", **arguments: Any) -> bool:
    case = Case(id="c", outputs=FILES if files is None else files, stdout=stdout)
    passes, rationale = load_builtin(name)(case_record(case), **arguments)
    assert isinstance(passes, bool)
    assert rationale
    return passes


@pytest.mark.parametrize(
    ("paths", "passes"),
    [
        (["output/a.md"], True),
        (["./output/a.md"], True),
        (["output/*.md", "output/**/*.json"], True),
        (["**/*.json"], True),
        (["**/a.md"], True),
        (["output"], True),
        (["output/data/"], True),
        (["src/app.py"], True),
        (["_modified/src/app.py"], True),
        (["output/[ab].md"], True),
        (["output/[!a].md"], False),
        (["output/?.md"], True),
        (["*.md"], False),
        (["output/*.json"], False),
        (["a.md"], False),
        (["output/a"], False),
        (["output/a.md", "output/c.md"], False),
        (["../output/a.md"], False),
    ],
)
def test_files_exist(paths: list[str], passes: bool) -> None:
    assert verdict("files_exist", paths=paths) is passes


def test_no_files_are_a_fail_of_files_exist() -> None:
    assert not verdict("files_exist", {}, paths=["output"])


@pytest.mark.parametrize(
    ("arguments", "passes"),
    [
        ({"allowed": ["output", "src"]}, True),
        ({"allowed": ["output/**", "src/*.py"]}, True),
        ({"allowed": ["output"]}, False),
        ({"forbidden": ["secrets", "*.lock"]}, True),
        ({"forbidden": ["src/**"]}, False),
        ({"forbidden": ["src"]}, False),
        ({"forbidden": ["_modified/src/*.py"]}, False),
        ({"forbidden": ["output/data/*"]}, False),
        ({"allowed": ["**"], "forbidden": ["**/*.py"]}, False),
        ({"max_files": 3}, True),
        ({"max_files": 2}, False),
        ({"max_lines": 4}, True),
        ({"max_lines": 3}, False),
    ],
)
def test_diff_scope(arguments: dict[str, Any], passes: bool) -> None:
    assert verdict("diff_scope", **arguments) is passes


def test_diff_scope_needs_files_and_for_lines_texts() -> None:
    with pytest.raises(ValueError, match="neither outputs nor modified files"):
        verdict("diff_scope", {}, max_files=3)
    binary = {**FILES, "output/a.png": BINARY}
    with pytest.raises(ValueError, match=r"output/a\.png"):
        verdict("diff_scope", binary, max_lines=10)
    assert not verdict("diff_scope", binary, max_lines=1)
    assert verdict("diff_scope", binary, max_files=4)


@pytest.mark.parametrize(
    ("arguments", "passes"),
    [
        ({"pattern": "Two", "output": "output/a.md"}, True),
        ({"pattern": "two", "output": "output/a.md"}, False),
        ({"pattern": "two", "output": "output/a.md", "flags": ["ignorecase"]}, True),
        ({"pattern": "^Two$", "output": "output/a.md"}, False),
        ({"pattern": "^two$", "output": "output/a.md", "flags": ["ignorecase", "multiline"]}, True),
        ({"pattern": "Two", "output": "**"}, True),
        ({"pattern": "Two", "output": "output/a.md", "absent": True}, False),
        ({"pattern": "Three", "output": "**", "absent": True}, True),
        ({"pattern": "x = 1", "output": "src/app.py"}, True),
        ({"pattern": "Two", "output": "none.md"}, False),
        ({"pattern": "Two", "output": "none.md", "absent": True}, False),
        ({"pattern": "said", "field": "stdout"}, True),
        ({"pattern": "said", "field": "conversation"}, True),
        ({"pattern": "Traceback", "field": "stderr", "absent": True}, True),
        ({"pattern": "One", "field": "output_content"}, True),
    ],
)
def test_regex(arguments: dict[str, Any], passes: bool) -> None:
    assert verdict("regex", stdout="it said so", **arguments) is passes


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"field": "nosuch"}, "no text 'nosuch'"),
        ({"field": "tool_calls"}, "no text 'tool_calls'"),
        ({"field": "conversation", "absent": True}, "no trajectory"),
        ({"output": "output/a.png", "absent": True}, "not text"),
        ({"output": "output/a.*", "absent": True}, "not text"),
    ],
)
def test_regex_gives_no_verdict_on_what_it_cannot_read(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        verdict("regex", {**FILES, "output/a.png": BINARY}, pattern="zzz", **arguments)


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}, "required": ["n"]}


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ('{"n": 5}', True),
        ('{"n": 50}', False),
        ('{"n": "5"}', False),
        ("{}", False),
        ("{n: 5}", False),
        ("", False),
        ('{"n": NaN}', False),
    ],
)
def test_json_schema(text: str, passes: bool) -> None:
    assert verdict("json_schema", {"output/b.json": text}, file="output/b.json", schema=SCHEMA) is passes


def test_every_file_that_matches_must_be_valid_and_there_must_be_one() -> None:
    files = {"output/a.json": '{"n": 1}', "output/b.json": '{"n": 1}'}
    assert verdict("json_schema", files, file="output/*.json", schema=SCHEMA)
    assert not verdict("json_schema", {**files, "output/b.json": "{}"}, file="output/*.json", schema=SCHEMA)
    assert not verdict("json_schema", files, file="output/c.json", schema=SCHEMA)


@pytest.mark.parametrize(
    ("files", "schema", "said"),
    [
        ({"b.json": "5"}, {"type": "nosuch"}, "the schema is not valid"),
        ({"b.json": BINARY}, {}, "is not text"),
        ({"b.json": "5"}, None, "needs its schema"),
    ],
)
def test_json_schema_gives_no_verdict_without_a_schema_or_text(files: Any, schema: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        verdict("json_schema", files, file="b.json", schema=schema)


def test_a_reference_to_elsewhere_is_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    import urllib.request

    def fetched(*_: Any, **__: Any) -> None:
        raise AssertionError("something was fetched")

    monkeypatch.setattr(urllib.request, "urlopen", fetched)
    with pytest.raises(Exception, match="example"):
        verdict("json_schema", {"b.json": "5"}, file="b.json", schema={"$ref": "http://example.test/s.json"})
    draft = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
    assert not verdict("json_schema", {"b.json": '{"type": 5}'}, file="b.json", schema=draft)


def test_without_jsonschema_there_is_one_line_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'adjudge\[schema\]'"):
        verdict("json_schema", {"b.json": "5"}, file="b.json", schema={})
