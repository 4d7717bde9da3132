"""Section 2: the fields of a check, and the digest of its definition."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from adjudge.domain import AgentJudge
from adjudge.formats.banana import Check
from tests.conformance.banana.projects import judge, loaded, refused, script, write_project

_ = pytest.param
NAME = "eval_checks/a.yaml"


def read(folder: Path, text: str, more: dict[str, str] | None = None) -> Check:
    write_project(folder, {NAME: text, **(more or {})})
    return loaded(folder, judges=False).checks[0]


def wrong(folder: Path, text: str) -> str:
    return refused(write_project(folder, {NAME: text}), judges=False)


def without(text: str, key: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(f"{key}:"))


@pytest.mark.parametrize("text", [script("a"), judge("a")], ids=["deterministic", "harness_judge"])
@pytest.mark.parametrize("key", ["schema_version", "id", "type", "description"])
def test_required_keys(tmp_path: Path, text: str, key: str) -> None:
    said = wrong(tmp_path, without(text, key))
    assert key in said
    assert NAME in said


@pytest.mark.parametrize("text", [script("a"), judge("a")], ids=["deterministic", "harness_judge"])
@pytest.mark.parametrize("key", ["weight", "timeout", "Tags", "target"])
def test_unknown_keys_are_errors(tmp_path: Path, text: str, key: str) -> None:
    assert key in wrong(tmp_path, f"{text}{key}: 1\n")


@pytest.mark.parametrize("value", ['"1"', "2", "0", "1.5", "null", "[1]", "true"])
def test_schema_version_is_one(tmp_path: Path, value: str) -> None:
    assert "schema_version" in wrong(tmp_path, script("a").replace("schema_version: 1", f"schema_version: {value}"))


@pytest.mark.parametrize("value", ["1", "1.0"])
def test_schema_version_may_be_any_number_that_equals_one(tmp_path: Path, value: str) -> None:
    """2: observed of 0.5.0, which also takes `true`, where we do not."""
    assert read(tmp_path, script("a").replace("schema_version: 1", f"schema_version: {value}")).id == "a"


@pytest.mark.parametrize("value", ["abc", "A-b_9", "_", '"-"', '"42"', '" padded "', "x" * 300])
def test_ids_that_hold(tmp_path: Path, value: str) -> None:
    assert read(tmp_path, script(value)).id == value.strip('"').strip()


@pytest.mark.parametrize("value", ["a b", "a.b", "a/b", "../a", "é", '""', '"  "', "42", "[a]", "null", '"a\\nb"'])
def test_ids_that_do_not(tmp_path: Path, value: str) -> None:
    assert "id" in wrong(tmp_path, script(value))


@pytest.mark.parametrize("value", ["determinstic", "''", "llm", "Deterministic", "1"])
def test_types_that_do_not_exist(tmp_path: Path, value: str) -> None:
    assert "type" in wrong(tmp_path, script("a").replace("type: deterministic", f"type: {value}"))


def test_llm_judge_is_explained(tmp_path: Path) -> None:
    said = wrong(tmp_path, judge("a").replace("harness_judge", "llm_judge"))
    assert "llm_judge" in said
    assert "harness_judge" in said


@pytest.mark.parametrize("text", [script("a"), judge("a")], ids=["deterministic", "harness_judge"])
def test_target_paths_are_explained(tmp_path: Path, text: str) -> None:
    said = wrong(tmp_path, f"{text}target_paths: [README.md]\n")
    assert "target_paths" in said
    assert "older version" in said


@pytest.mark.parametrize("value", ["''", "'   '", "null", "[a]", "3"])
def test_a_description_is_text_that_says_something(tmp_path: Path, value: str) -> None:
    text = judge("a").replace("description: About a.", f"description: {value}")
    assert "description" in wrong(tmp_path, text)


def test_description_and_instructions_are_stripped(tmp_path: Path) -> None:
    text = judge("a").replace("About a.", "'  About it. '").replace("Read README.md.", "|\n\n  Read it.\n\n")
    check = read(tmp_path, text)
    assert (check.description, check.instructions) == ("About it.", "Read it.")


@pytest.mark.parametrize("value", ["", "instructions: ''\n", "instructions: '  '\n", "instructions: [a]\n"])
def test_a_judge_needs_instructions(tmp_path: Path, value: str) -> None:
    assert "instructions" in wrong(tmp_path, without(judge("a"), "instructions") + value)


@pytest.mark.parametrize(
    ("value", "expected"), [("", ()), ("tags: []\n", ()), ("tags: [b, a]\n", ("b", "a")), ("tags: ['1']\n", ("1",))]
)
def test_tags_are_a_list_of_text(tmp_path: Path, value: str, expected: tuple[str, ...]) -> None:
    assert read(tmp_path, script("a", more=value)).tags == expected


@pytest.mark.parametrize("value", ["text", "[yes]", "[1]", "{a: 1}", "[[a]]"])
def test_tags_of_another_kind_are_errors(tmp_path: Path, value: str) -> None:
    assert "tags" in wrong(tmp_path, script("a", more=f"tags: {value}\n"))


HEAD = script("a").partition("script:")[0]


@pytest.mark.parametrize(
    "rest",
    [
        _("", id="neither"),
        _("script: ''\n", id="an empty script"),
        _("script: ''\nscript_path: ''\n", id="both empty"),
        _("script: pass\nscript_path: check.py\n", id="both"),
        _("script: [1]\n", id="a list"),
    ],
)
def test_a_script_stands_in_one_place(tmp_path: Path, rest: str) -> None:
    write_project(tmp_path, {"eval_checks/check.py": "pass"})
    assert "script" in wrong(tmp_path, HEAD + rest)


@pytest.mark.parametrize("name", ["check.py", "./check.py", "../scripts/check.py", "ABSOLUTE", "OUTSIDE"])
def test_a_script_path_starts_at_the_folder_of_the_file(tmp_path: Path, name: str) -> None:
    project = tmp_path / "project"
    target = {
        "../scripts/check.py": project / "scripts" / "check.py",
        "ABSOLUTE": tmp_path / "check.py",
        "OUTSIDE": tmp_path / "check.py",
    }.get(name, project / "eval_checks" / "check.py")
    name = {"ABSOLUTE": str(target), "OUTSIDE": "../../check.py"}.get(name, name)
    write_project(tmp_path, {str(target.relative_to(tmp_path)): "found = True"})
    check = read(project, f"{HEAD}script_path: {name}\n")
    assert check.script == "found = True"
    assert Path(check.script_path).resolve() == target.resolve()


@pytest.mark.parametrize("key", ["instructions", "model"])
def test_a_script_takes_no_key_of_a_judge(tmp_path: Path, key: str) -> None:
    assert key in wrong(tmp_path, f"{script('a')}{key}: text\n")


@pytest.mark.parametrize("key", ["script", "script_path"])
def test_a_judge_takes_no_key_of_a_script(tmp_path: Path, key: str) -> None:
    assert key in wrong(tmp_path, f"{judge('a')}{key}: text\n")


@pytest.mark.parametrize(
    ("value", "expected"), [("", "of-all"), ("model: ''\n", "of-all"), ("model: gpt-5.6-sol\n", "gpt-5.6-sol")]
)
def test_a_model_of_a_check_stands_over_the_model_of_all(tmp_path: Path, value: str, expected: str) -> None:
    """The page: the override falls back to harness.model when omitted."""
    write_project(tmp_path, {NAME: judge("a", more=value)})
    (made,) = loaded(tmp_path, agent="claude", model="of-all").suite.judges
    assert isinstance(made, AgentJudge)
    assert made.model == expected


@pytest.mark.parametrize(
    "text",
    [
        _(f"{script('a')}---\n{script('b')}", id="two documents"),
        _("- a\n", id="a list"),
        _("text\n", id="text"),
        _("", id="nothing"),
        _("# nothing\n", id="a comment"),
        _("id: [\n", id="not YAML"),
    ],
)
def test_a_file_is_one_mapping(tmp_path: Path, text: str) -> None:
    assert NAME in wrong(tmp_path, text)


def test_a_file_is_utf_8(tmp_path: Path) -> None:
    write_project(tmp_path, {NAME: script("a")})
    (tmp_path / NAME).write_bytes(script("a").replace("About", "\xc4bout").encode("latin-1"))
    assert NAME in refused(tmp_path)


def test_every_bad_file_is_named_at_once(tmp_path: Path) -> None:
    files = {f"eval_checks/{name}.yaml": script(name, more="wrong: 1\n") for name in "abc"}
    said = refused(write_project(tmp_path, files))
    assert all(name in said for name in files)


def framed(*parts: tuple[bytes, bytes]) -> str:
    data = b"eval-banana/check-definition-sha256/v1\0"
    for name, content in parts:
        data += len(name).to_bytes(8, "big") + name + len(content).to_bytes(8, "big") + content
    return "sha256:" + hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("text", [script("a"), judge("a"), f"# é\n{script('a')}\n\n"], ids=["script", "judge", "more"])
def test_the_digest_is_of_the_files_very_bytes(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).digest == framed((b"definition.yaml", text.encode()))


@pytest.mark.parametrize(
    "code", [b"x = 1\n", "x = 'é'\n".encode(), b"x = 1\r\ny = 2\r\n", b"\xef\xbb\xbfx = 1\n"], ids=repr
)
def test_the_digest_holds_the_bytes_of_the_script_that_is_referred_to(tmp_path: Path, code: bytes) -> None:
    text = f"{HEAD}script_path: check.py\n"
    write_project(tmp_path, {"eval_checks/x": ""})
    (tmp_path / "eval_checks" / "check.py").write_bytes(code)
    assert read(tmp_path, text).digest == framed((b"definition.yaml", text.encode()), (b"referenced-script", code))
