"""Where cases come from, and the record that judges see of one."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest

import adjudge
from tests.support.configs import ANSWER, Files, check, errors, judged, only_score, write_case, write_suite, write_text
from tests.support.llm import command, environment


def case_ids(config: Path, **options: Any) -> list[str]:
    return [stub.id for stub in adjudge.load(config, **options).source.stubs()]


def test_every_sub_folder_is_a_case_in_order_of_name(tmp_path: Path) -> None:
    names = ["case-10", "case-2", "Case-1", "größer", "with blank", "日本", "a'b\"c", "100%", "-dash", "a.b"]
    config = write_suite(tmp_path, cases=names)
    (tmp_path / "cases" / "README.md").write_text("not a case")
    assert case_ids(config) == sorted(names)
    assert {score.case for score in judged(config).scores} == set(names)


@pytest.mark.parametrize("name", [".git", ".DS_Store"])
def test_a_hidden_folder_is_no_case(tmp_path: Path, name: str) -> None:
    config = write_suite(tmp_path)
    (tmp_path / "cases" / name).mkdir()
    assert case_ids(config) == ["case-1"]


def test_a_linked_folder_is_no_case(tmp_path: Path) -> None:
    config = write_suite(tmp_path)
    write_case(tmp_path / "elsewhere")
    (tmp_path / "cases" / "linked").symlink_to(tmp_path / "elsewhere")
    assert case_ids(config) == ["case-1"]


def test_the_dataset_lies_beside_the_config_wherever_the_command_is_run(tmp_path: Path) -> None:
    config = write_suite(tmp_path / "deep" / "down", cases=["there"])
    write_case(tmp_path / "cases" / "here")
    assert case_ids(config) == ["there"]


def test_the_dataset_may_be_an_absolute_path(tmp_path: Path) -> None:
    write_case(tmp_path / "data" / "far")
    assert case_ids(write_suite(tmp_path / "suite", dataset={"path": str(tmp_path / "data")})) == ["far"]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("nowhere", "does not exist"),
        ("eval.yaml", "is not a folder"),
        ("../cases", "must not contain .."),
        ("cases/../cases", "must not contain .."),
        ("empty", "has no cases"),
    ],
)
def test_a_dataset_that_is_not_there_is_an_error_with_its_place(tmp_path: Path, path: str, why: str) -> None:
    (tmp_path / "empty").mkdir()
    (error,) = errors(write_text(tmp_path, f"dataset:\n  path: {path}\njudges: [{{name: j, check: return True}}]\n"))
    assert error.startswith("eval.yaml:2:9: error: dataset.path: ")
    assert why in error


@pytest.mark.parametrize("name", ["input.yaml", "input.yml", "input.json"])
def test_the_input_may_be_yaml_or_json(tmp_path: Path, name: str) -> None:
    code = "return outputs['inputs'] == '**ask**: what', outputs['inputs']"
    config = write_suite(tmp_path, [check(code=code)], {"case-1": {**ANSWER, name: '{"ask": "what"}'}})
    assert only_score(config).value is True


@pytest.mark.parametrize(
    ("files", "why"),
    [
        pytest.param({"input.yaml": "a: [\n"}, "input.yaml:2:1: error: not valid YAML", id="broken input"),
        pytest.param({"annotations.yaml": "a: [\n"}, "annotations.yaml:2:1: error: ", id="broken annotations"),
        pytest.param({"annotations.yaml": "- a\n"}, "annotations.yaml: error: expected a mapping", id="a list"),
        pytest.param({"annotations.yaml": "a: 2026-02-30\n"}, "annotations.yaml", id="a day that does not exist"),
        pytest.param({"input.yaml": b"a: caf\xe9\n"}, "input.yaml", id="not UTF-8"),
    ],
)
def test_a_case_that_cannot_be_read_is_an_error_that_names_it(tmp_path: Path, files: Files, why: str) -> None:
    (error,) = errors(write_suite(tmp_path, cases={"good": ANSWER, "bad one": {**ANSWER, **files}}))
    assert error.startswith("cases/bad one")
    assert why in error


def test_a_case_without_input_is_an_error_that_names_it(tmp_path: Path) -> None:
    config = write_suite(tmp_path)
    (tmp_path / "cases" / "case-2" / "output").mkdir(parents=True)
    (error,) = errors(config)
    assert "cases/case-2: error: the case has no input.yaml" in error


@pytest.mark.parametrize("name", ["input.yaml", "annotations.yaml"])
@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("a: &a [*a]\n", "case-1", id="anchor that contains itself"),
        pytest.param("acceptable: true\nacceptable: false\n", "'acceptable' stands twice", id="key twice"),
        pytest.param("a: " + "[" * 5000 + "]" * 5000, "case-1", id="deep nesting"),
        pytest.param("a: !!int\n", "case-1", id="whole number of nothing"),
        pytest.param("a: !!bool maybe\n", "case-1", id="no boolean"),
        pytest.param("a: !!python/object/apply:os.getcwd []\n", ":1:4: error: ", id="python object"),
    ],
)
def test_hostile_yaml_in_a_case_is_an_error_that_names_the_file(tmp_path: Path, name: str, text: str, why: str) -> None:
    (error,) = errors(write_suite(tmp_path, cases={"case-1": {**ANSWER, name: text}}))
    assert error.startswith(f"cases/case-1/{name}")
    assert why in error


@pytest.mark.parametrize("name", ["input.yaml", "annotations.yaml"])
def test_aliases_that_explode_in_a_case_are_an_error_and_not_the_end_of_memory(tmp_path: Path, name: str) -> None:
    laughs = "".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9) if k else 'x'}]\n" for k in range(12))
    write_suite(tmp_path, cases={"case-1": {**ANSWER, name: laughs}})

    def small_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))

    done = subprocess.run(
        command("validate"),
        check=False,
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        preexec_fn=small_memory,
        timeout=60,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == 2
    assert f"cases/case-1/{name}" in done.stderr


def test_annotations_that_are_a_link_are_refused(tmp_path: Path) -> None:
    config = write_suite(tmp_path)
    (tmp_path / "secret.yaml").write_text("answer: 42\n")
    (tmp_path / "cases" / "case-1" / "annotations.yaml").symlink_to(tmp_path / "secret.yaml")
    (error,) = errors(config)
    assert "symbolic link" in error


EVENTS: list[Any] = [
    {"type": "assistant", "text": "First.", "thinking": "Hm.", "tools": [{"name": "Read", "input": {"path": "a.md"}}]},
    {"type": "assistant", "text": "from a subagent", "parent_tool_use_id": "t1"},
    {"type": "tool_result", "tool_name": "Read", "content": "x"},
    {"type": "assistant", "text": "Second."},
]
RUN = {"exit_code": 0, "duration_s": 1.5, "cost_usd": 0.25, "num_turns": 3, "token_usage": {"input": 7, "output": 2}}
CASE: Files = {
    "input.yaml": "request: Say it.\nopts: {loud: true}\n",
    "annotations.yaml": "category: x\ngold: gold.md\nabove: ../other/secret.md\nprose: no such file\n",
    "gold.md": "the gold\n",
    "output/b.md": "second",
    "output/a.md": "first",
    "output/deep/c.txt": "third",
    "output/logo.bin": b"\x00\x01",
    "output/latin.txt": b"caf\xe9",
    "report.md": "a single file",
    "_modified/src/hooks_test.py": "changed",
    "stdout.log": "raw out",
    "stderr.log": "raw err",
    "events.json": json.dumps(EVENTS),
    "run_result.json": json.dumps(RUN),
    "private.txt": "not declared",
}

RECORD: dict[str, str] = {
    "files by relative path": """sorted(outputs["files"]) == ["_modified/src/hooks_test.py", "output/a.md",
        "output/b.md", "output/deep/c.txt", "output/latin.txt", "output/logo.bin", "report.md"]""",
    "text of a file": "outputs['files']['output/a.md'] == 'first'",
    "a binary file": """outputs["files"]["output/logo.bin"]["_binary"] is True
        and outputs["files"]["output/logo.bin"]["name"] == "logo.bin"
        and outputs["files"]["output/logo.bin"]["path"].endswith("output/logo.bin")""",
    "a file that is not UTF-8": "outputs['files']['output/latin.txt'].startswith('caf')",
    "first file of an output folder": "outputs['output_content'] == 'first'",
    "its path": "outputs['output_file'] == outputs['case_dir'] + '/output/a.md'",
    "modified files by their own path": "outputs['modified_files'] == {'src/hooks_test.py': 'changed'}",
    "inputs as text": r"outputs['inputs'] == '**request**: Say it.\n\n**opts**: loud: true'",
    "annotations": "outputs['annotations']['category'] == 'x'",
    "reference that an annotation names": r"outputs['annotation_gold_content'] == 'the gold\n'",
    "no reference outside of the case": "'annotation_above_content' not in outputs",
    "prose is no reference": "'annotation_prose_content' not in outputs",
    "conversation of the root assistant": r"outputs['conversation'] == 'First.\n\nSecond.'",
    "reasoning": r"outputs['reasoning'] == '[thinking]\nHm.\n\nFirst.\n\nSecond.'",
    "tool trace": "outputs['tool_trace'] == '1. Read: a.md'",
    "tool calls": "outputs['tool_calls'] == [{'name': 'Read', 'input': {'path': 'a.md'}}]",
    "events": "len(outputs['events']) == 4 and outputs['events'][2]['type'] == 'tool_result'",
    "stdout": "outputs['stdout'] == 'raw out'",
    "stderr": "outputs['stderr'] == 'raw err'",
    "exit code": "outputs['exit_code'] == 0",
    "duration": "outputs['duration_s'] == 1.5",
    "cost": "outputs['cost_usd'] == 0.25",
    "turns": "outputs['num_turns'] == 3",
    "tokens": "outputs['token_usage']['input'] == 7 and outputs['token_usage']['output'] == 2",
    "case id": "outputs['case_id'] == 'case-1'",
    "case folder": "outputs['case_dir'].endswith('cases/case-1')",
}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What each expression of the table comes to, for one full case."""
    folder = tmp_path_factory.mktemp("record")
    judges = [check(name, f"return bool({expression}), repr(outputs)") for name, expression in RECORD.items()]
    cases = {"case-1": CASE, "other": {**ANSWER, "secret.md": "another case's"}}
    config = write_suite(folder, judges, cases, outputs=[{"path": "output"}, {"path": "report.md"}])
    return {score.judge: score for score in judged(config, output=folder / "run").scores if score.case == "case-1"}


@pytest.mark.parametrize("name", RECORD)
def test_a_judge_sees(record: dict[str, Any], name: str) -> None:
    found = record[name]
    assert found.error is None
    assert found.value is True, found.rationale


@pytest.mark.parametrize(
    ("expression", "files"),
    [
        pytest.param("'modified_files' not in outputs", ANSWER, id="modified_files only if there are any"),
        pytest.param("outputs['cost_usd'] is None and outputs['exit_code'] is None", ANSWER, id="unknown is not zero"),
        pytest.param("outputs['events'] == []", ANSWER, id="no trajectory"),
        pytest.param("outputs['conversation'] == 'hi'", {**ANSWER, "stdout.log": "hi"}, id="conversation of stdout"),
        pytest.param("outputs['conversation'] == ''", ANSWER, id="no conversation"),
        pytest.param(
            "outputs['events'] == [{'type': 'assistant', 'text': 'a'}] and outputs['conversation'] == 'a'",
            {**ANSWER, "events.jsonl": '42\nnull\n[1]\n"x"\n{"type": "assistant", "text": "a"}\n{"cut\n'},
            id="lines that are no objects are left out",
        ),
        pytest.param("outputs['annotations'] == {}", {**ANSWER, "annotations.yaml": ""}, id="empty annotations"),
        pytest.param("outputs['inputs'] == ''", {**ANSWER, "input.yaml": ""}, id="empty input"),
        pytest.param("outputs['files'] == {'output/e.md': ''}", {"output/e.md": ""}, id="empty file"),
        pytest.param(
            "outputs['annotations'] == {'due': '2026-02-03', '1': 'one'}",
            {**ANSWER, "annotations.yaml": "due: 2026-02-03\n1: one\n"},
            id="dates and number keys",
        ),
    ],
)
def test_a_judge_sees_at_the_edges(tmp_path: Path, expression: str, files: Files) -> None:
    config = write_suite(tmp_path, [check(code=f"return bool({expression}), repr(outputs)")], {"case-1": files})
    found = only_score(config)
    assert found.value is True, found


def test_links_among_the_outputs_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.txt").write_text("s3cret")
    config = write_suite(tmp_path, [check(code="return 's3cret' not in repr(outputs), repr(outputs['files'])")])
    output = tmp_path / "cases" / "case-1" / "output"
    (output / "file.txt").symlink_to(tmp_path / "secret" / "key.txt")
    (output / "folder").symlink_to(tmp_path / "secret")
    (output / "loop").symlink_to(".")
    assert only_score(config).value is True


def test_a_named_pipe_among_the_outputs_does_not_stop_the_run(tmp_path: Path) -> None:
    config = write_suite(tmp_path)
    os.mkfifo(tmp_path / "cases" / "case-1" / "output" / "pipe")
    assert only_score(config).value is True


@pytest.mark.parametrize("layout", ["cases", "."], ids=["a run directory", "a folder of cases"])
def test_a_workspace_holds_the_outputs_and_the_dataset_the_rest(tmp_path: Path, layout: str) -> None:
    case = {"annotations.yaml": "gold: gold.md\n", "gold.md": "gold", "output/answer.md": "stale"}
    code = "return (outputs['output_content'], outputs['annotation_gold_content']) == ('fresh', 'gold'), repr(outputs)"
    config = write_suite(tmp_path / "suite", [check(code=code)], {"case-1": case})
    made = tmp_path / "made" / layout / "case-1" / "output"
    made.mkdir(parents=True)
    (made / "answer.md").write_text("fresh")
    assert only_score(config, workspace=tmp_path / "made").value is True


@pytest.mark.parametrize("path", ["output", "output/", "./output", "output//", "output/.", "./output/answer.md"])
def test_an_output_has_one_name_however_its_path_is_written(tmp_path: Path, path: str) -> None:
    judge = check(code="return list(outputs['files']) == ['output/answer.md'], repr(outputs['files'])")
    assert only_score(write_suite(tmp_path, [judge], outputs=[{"path": path}])).value is True


def test_an_output_below_another_is_listed_once(tmp_path: Path) -> None:
    case = {"output/a.md": "a", "output/deep/b.md": "b"}
    judge = check(code="return list(outputs['files']) == ['output/a.md', 'output/deep/b.md'], ''")
    config = write_suite(tmp_path, [judge], {"case-1": case}, outputs=[{"path": "output"}, {"path": "output/deep"}])
    assert only_score(config).value is True


def test_the_first_of_two_output_folders_of_one_name_has_the_shortcut(tmp_path: Path) -> None:
    case = {"b/out/x.md": "of b", "a/out/x.md": "of a"}
    judge = check(code="return outputs['out_content'] == 'of b', outputs['out_content']")
    config = write_suite(tmp_path, [judge], {"case-1": case}, outputs=[{"path": "b/out"}, {"path": "a/out"}])
    assert only_score(config).value is True


def test_an_output_folder_named_like_a_key_of_the_record_does_not_take_its_place(tmp_path: Path) -> None:
    case = {"annotation_gold/x.md": "forged", "annotations.yaml": "gold: gold.md\n", "gold.md": "true gold"}
    judge = check(code="return outputs['annotation_gold_content'] == 'true gold', ''")
    config = write_suite(tmp_path, [judge], {"case-1": case}, outputs=[{"path": "annotation_gold"}])
    assert only_score(config).value is True


def test_a_workspace_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    (error,) = errors(write_suite(tmp_path), workspace=tmp_path / "nowhere")
    assert "--workspace" in error


def test_outputs_that_no_case_has_are_an_error(tmp_path: Path) -> None:
    (error,) = errors(write_suite(tmp_path, outputs=[{"path": "artefacts"}]))
    assert "outputs: no case has any output below cases" in error
    assert "--workspace" in error


def test_a_case_whose_outputs_are_missing_is_judged_on_none(tmp_path: Path) -> None:
    cases: dict[str, Files] = {"full": ANSWER, "empty": {}}
    result = judged(write_suite(tmp_path, [check(code="return len(outputs['files']), ''")], cases))
    assert {score.case: score.value for score in result.scores} == {"full": 1, "empty": 0}
