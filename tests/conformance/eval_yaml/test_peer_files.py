"""What files of agent-eval-harness's repository and documentation rely on: agents that edit in place, the short keys
of a case's record, and keys of its newer releases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

import adjudge
from adjudge.domain import Decision, RewardForm
from tests.support.configs import (
    ANSWER,
    Files,
    asked,
    check,
    errors,
    judged,
    llm,
    only_score,
    warnings,
    write_case,
    write_suite,
)
from tests.support.llm import call, environment
from tests.support.provider import LoopbackProvider
from tests.support.replies import Verdict

CHANGED: Files = {"_modified/pkg/gate.go": "package gate // opens once\n", "_modified/logo.bin": b"\x00\x01"}
EVENTS = json.dumps([{"type": "assistant", "text": "It is 42.", "tools": []}])


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    with LoopbackProvider(lambda request: Verdict({"rationale": "as it says", "score": 4})) as provider:
        yield provider


def holds(folder: Path, expression: str, files: Files, **sections: Any) -> None:
    """The expression is true of the record that a check is given of a case with these files."""
    config = write_suite(
        folder, [check(code=f"return bool({expression}), repr(outputs)")], {"case-1": files}, **sections
    )
    found = only_score(config)
    assert found.error is None, found.error
    assert found.value is True, found.rationale


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("outputs.get('modified_files', {}).get('pkg/gate.go', '').startswith('package')", id="by path"),
        pytest.param("sorted(outputs['modified_files']) == ['logo.bin', 'pkg/gate.go']", id="nothing else"),
        pytest.param("outputs['modified_files']['logo.bin']['_binary'] is True", id="a binary file"),
        pytest.param("'_modified/pkg/gate.go' in outputs['files']", id="the files have it below _modified"),
        pytest.param(
            "sum(len(v) for v in outputs['modified_files'].values() if isinstance(v, str)) > 20", id="how much changed"
        ),
    ],
)
def test_a_file_that_was_changed_in_place_has_its_own_path(tmp_path: Path, expression: str) -> None:
    holds(tmp_path, expression, {**ANSWER, **CHANGED})


def test_a_check_of_the_only_change_may_compare_the_whole(tmp_path: Path) -> None:
    files = {**ANSWER, "_modified/a/b.yaml": "c: d\n", "annotations.yaml": "place: a/b.yaml\n"}
    holds(tmp_path, "outputs['modified_files'] == {outputs['annotations']['place']: 'c: d\\n'}", files)


def test_an_output_of_the_same_path_as_a_changed_file_stays_apart(tmp_path: Path) -> None:
    files = {"output/x.md": "made\n", "_modified/output/x.md": "changed\n"}
    holds(tmp_path, "(outputs['files']['output/x.md'], outputs['modified_files']['output/x.md']) == "
          "('made\\n', 'changed\\n')", files)  # fmt: skip


@pytest.mark.parametrize(
    ("paths", "files", "text"),
    [
        pytest.param(["artifacts"], {"artifacts/b.md": "B", "artifacts/a.md": "A"}, "A", id="first file of the folder"),
        pytest.param(["two", "one"], {"one/x": "1", "two/x": "2"}, "2", id="first folder that is declared"),
        pytest.param(["none", "one"], {"one/x": "1"}, "1", id="first folder that has a file"),
        pytest.param(["deep/down"], {"deep/down/x": "D"}, "D", id="a folder in a folder"),
        pytest.param(["made/answer.md"], {"made/answer.md": "F", "made/z": "Z"}, "F", id="a file that is declared"),
        pytest.param(["out", "main"], {"out/x": "o", "main/x": "m"}, "m", id="a declared folder of that name"),
        pytest.param(["out"], {"out/x": "o", "out/main/forged": "f"}, "o", id="no folder that the agent made"),
        pytest.param(["out"], {"out/a.bin": b"\x00", "out/b": "text"}, "text", id="text only"),
    ],
)
def test_the_main_content_is_that_of_the_first_output(
    tmp_path: Path, paths: list[str], files: Files, text: str
) -> None:
    expression = f"outputs['main_content'] == {text!r} == open(outputs['main_file']).read()"
    holds(tmp_path, expression, files, outputs=[{"path": path} for path in paths])


@pytest.mark.parametrize(
    "files", [pytest.param({"out/a.bin": b"\x00"}, id="no text"), pytest.param({**CHANGED, "out/d/x": ""}, id="deeper")]
)
def test_without_text_there_is_no_main_content(tmp_path: Path, files: Files) -> None:
    holds(tmp_path, "'main_content' not in outputs and 'main_file' not in outputs", files, outputs=[{"path": "out"}])


@pytest.mark.parametrize("key", ["output_file", "main_file"])
def test_the_path_of_a_shortcut_can_be_opened_wherever_checks_run(tmp_path: Path, key: str) -> None:
    holds(tmp_path, f"open(outputs[{key!r}]).read() == 'The answer.\\n'", ANSWER)


def test_the_main_content_is_material_in_a_prompt(tmp_path: Path, provider: LoopbackProvider) -> None:
    config = write_suite(tmp_path, [llm(score_range=[1, 5], prompt="Good?\n{{ outputs.main_content }}")])
    assert asked(config, provider).scores[0].value == 4
    (text,) = [request.body["messages"][0]["content"] for request in provider.requests]
    before, _, after = str(text).partition("The answer.")
    assert "[BEGIN EVALUATED MATERIAL" in before
    assert after.strip().startswith("[END EVALUATED MATERIAL")


@pytest.mark.parametrize(
    "code",
    [
        'content = outputs["main_content"]\nreturn True, content',
        "return len(outputs.get('main_content', '')) > 5, ''",
        "return open(outputs[ 'artifacts_file' ]).read() != '', ''",
    ],
)
def test_a_check_that_reads_an_output_where_none_is_declared_is_told(tmp_path: Path, code: str) -> None:
    (warning,) = warnings(write_suite(tmp_path, [check(code=code)], outputs=...))
    assert "judges[0].check: reads " in warning
    assert "no outputs[].path is declared" in warning


@pytest.mark.parametrize(
    ("code", "sections"),
    [
        pytest.param("return outputs['main_content'] != '', ''", {}, id="an output is declared"),
        pytest.param("return outputs.get('annotation_gold_content') != '', ''", {"outputs": ...}, id="of annotations"),
        pytest.param("return outputs.get('stdout') != '', 'main_content'", {"outputs": ...}, id="only its text"),
    ],
)
def test_a_check_that_reads_what_may_be_there_is_not_told(tmp_path: Path, code: str, sections: dict[str, Any]) -> None:
    assert warnings(write_suite(tmp_path, [check(code=code)], **sections)) == []


def workspace(folder: Path, files: Files) -> Path:
    """A run's folder with one case."""
    for name, content in files.items():
        path = folder / "made" / "cases" / "case-1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / "made"


@pytest.mark.parametrize(
    ("files", "expression"),
    [
        pytest.param(CHANGED, "'pkg/gate.go' in outputs['modified_files']", id="changes in place"),
        pytest.param({"events.json": EVENTS}, "outputs['conversation'] == 'It is 42.'", id="only a trajectory"),
        pytest.param({"stdout.log": "It is 42.\n"}, "'42' in outputs['conversation']", id="only what was printed"),
        pytest.param({"run_result.json": '{"exit_code": 0}'}, "outputs['exit_code'] == 0", id="only figures"),
        pytest.param({"steps/a/stdout.log": "x"}, "'a' in outputs['steps']", id="only steps"),
    ],
)
def test_a_run_without_output_files_is_judged_on_what_it_left(tmp_path: Path, files: Files, expression: str) -> None:
    config = write_suite(tmp_path, [check(code=f"return {expression}, repr(outputs)")], {"case-1": {}})
    suite = adjudge.load(config, workspace=workspace(tmp_path, files))
    (warning,) = map(str, suite.warnings)
    assert "outputs: no case has any output below" in warning
    found = only_score(suite)
    assert found.value is True, found


@pytest.mark.parametrize(
    ("files", "hint"),
    [
        pytest.param({"summary.yaml": "judges: {}\n"}, "adjudge report", id="a run of which the summary was kept"),
        pytest.param({"notes.txt": "nothing"}, "point --workspace at them", id="another folder"),
    ],
)
def test_a_workspace_that_holds_nothing_to_judge_is_an_error_that_says_what_to_do(
    tmp_path: Path, files: Mapping[str, str], hint: str
) -> None:
    place = tmp_path / "made"
    place.mkdir()
    for name, text in files.items():
        (place / name).write_text(text)
    (error,) = errors(write_suite(tmp_path), workspace=place)
    assert "outputs: no case has any output below" in error
    assert hint in error


IN_PLACE: dict[str, Any] = {
    "name": "in-place",
    "skill": None,
    "execution": {"mode": "case", "arguments": "Edit the files.\n\n---\n{prompt}\n", "timeout": 900},
    "runner": {"type": "claude-code"},
    "models": {"skill": "claude-sonnet-5-5", "judge": "claude-sonnet-5-5"},
    "dataset": {"path": "dataset"},
    "outputs": [{"path": "artifacts", "schema": "The edits, in _modified/."}],
    "traces": {"stdout": False, "stderr": True, "events": False, "metrics": False},
    "judges": [
        {
            "name": "has_changes",
            "check": 'mods = outputs.get("modified_files") or {}\n'
            "total = sum(len(text) for text in mods.values() if isinstance(text, str))\n"
            'return total >= 20, f"{total} characters in {sorted(mods)}"\n',
        },
        {
            "name": "quality",
            "feedback_type": "int",
            "prompt": "Task:\n{{ outputs.annotation_instruction_content }}\nChanges:\n{{ outputs.modified_files }}\n"
            "Reference:\n{{ outputs.annotation_oracle_content }}\nHow sound, 1 to 5?\n",
        },
    ],
    "thresholds": {"has_changes": {"min_pass_rate": 0.8}, "quality": {"min_mean": 3.0}},
    "matrix": {"factors": {"model": ["model-a", "model-b"]}, "replications": 1},
}


def test_a_suite_whose_agent_only_edits_in_place_is_judged_from_its_run(
    tmp_path: Path, provider: LoopbackProvider
) -> None:
    config = tmp_path / "eval.yaml"
    config.write_text(yaml.safe_dump(IN_PLACE, sort_keys=False))
    for task, changed in (("task-1", CHANGED), ("task-2", {"_modified/a": "x"})):
        files = {
            "input.yaml": "prompt: Mend the gate.\n",
            "annotations.yaml": "instruction: instruction.txt\noracle: oracle.diff\n",
            "instruction.txt": f"Mend the gate of {task}.\n",
            "oracle.diff": f"+// {task}\n",
        }
        write_case(tmp_path / "dataset" / task, files)
        write_case(tmp_path / "run-1" / "cases" / task, changed)
    result = asked(adjudge.load(config, workspace=tmp_path / "run-1"), provider)
    changes = {score.case: (score.value, score.rationale) for score in result.scores if score.judge == "has_changes"}
    assert changes["task-1"] == (True, "27 characters in ['logo.bin', 'pkg/gate.go']")
    assert changes["task-2"][0] is False
    assert result.gate.decision is Decision.FAIL  # a rate of 0.5
    (prompt,) = [text for text in map(str, (r.body for r in provider.requests)) if "gate of task-1" in text]
    assert "opens once" in prompt
    assert "+// task-1" in prompt


@pytest.mark.parametrize("tier", ["exploratory", "safety", "gating"])
def test_a_consequence_is_read_and_said_to_ask_nothing(tmp_path: Path, tier: str) -> None:
    (warning,) = warnings(write_suite(tmp_path, [llm(consequence=tier, samples=3)]))
    assert "judges[0].consequence: asks nothing of the judge" in warning


def test_an_unknown_consequence_is_an_error(tmp_path: Path) -> None:
    (error,) = errors(write_suite(tmp_path, [llm(consequence="gatin")]))
    assert "judges[0].consequence" in error
    assert "did you mean 'gating'?" in error


AGREEMENTS = ("min_alpha", "min_panel_alpha", "min_human_agreement")


@pytest.mark.parametrize("key", AGREEMENTS)
def test_a_bound_on_agreement_is_read_and_said_to_gate_nothing(tmp_path: Path, key: str) -> None:
    config = write_suite(tmp_path, [check("j")], thresholds={"j": {"min_pass_rate": 1.0, key: 0.7}})
    (warning,) = warnings(config)
    assert f"thresholds.j.{key}: gates nothing" in warning
    result = judged(config)
    assert result.gate.decision is Decision.PASS
    assert any(key in str(problem) for problem in result.warnings)


@pytest.mark.parametrize("key", AGREEMENTS)
@pytest.mark.parametrize("value", [1.01, float("nan"), float("inf"), "much", True])
def test_a_bound_that_no_coefficient_can_reach_is_an_error(tmp_path: Path, key: str, value: object) -> None:
    (error,) = errors(write_suite(tmp_path, [check("j")], thresholds={"j": {key: value}}))
    assert f"thresholds.j.{key}" in error
    assert "unknown key" not in error


DESIGN: dict[str, Any] = {
    "execution": {"prompt": "{{ input.request }}"},
    "runner": {"type": "cli", "command": "true"},
    "matrix": {"factors": {"model": ["a", "b"], "temperature": [0.0, 0.5]}, "replications": 2},
}


@pytest.mark.parametrize(
    ("analysis", "told"),
    [
        pytest.param({"correction": "holm"}, ["matrix.analysis.correction: is not used"], id="holm"),
        pytest.param({"correction": "FDR_BH"}, ["matrix.analysis.correction: is not used"], id="any case"),
        pytest.param({"correction": "none"}, [], id="none is what is done"),
        pytest.param({"per_judge": True}, ["matrix.analysis.per_judge: is not used"], id="per judge"),
        pytest.param({"correction": "bh", "per_judge": False}, ["matrix.analysis.correction"], id="both"),
        pytest.param({}, [], id="empty"),
        pytest.param(None, [], id="null"),
    ],
)
def test_the_analysis_of_a_matrix_is_read_and_what_is_not_done_is_said(
    tmp_path: Path, analysis: dict[str, Any] | None, told: list[str]
) -> None:
    sections = {**DESIGN, "matrix": {**DESIGN["matrix"], "analysis": analysis}}
    config = write_suite(tmp_path, **sections)
    found = warnings(config)
    assert len(found) == len(told)
    assert all(text in warning for text, warning in zip(told, found, strict=True))
    matrix = adjudge.load(config).matrix
    assert matrix is not None
    assert (matrix.factors["temperature"], matrix.replications) == ((0.0, 0.5), 2)


@pytest.mark.parametrize(
    ("analysis", "why"),
    [
        pytest.param({"correction": "bonferroni"}, "matrix.analysis.correction: must be one of", id="unknown"),
        pytest.param({"correction": False}, "matrix.analysis.correction", id="no text"),
        pytest.param({"per_judge": "false"}, "matrix.analysis.per_judge", id="text for a boolean"),
        pytest.param({"corection": "holm"}, "did you mean 'correction'?", id="a typo"),
        pytest.param([], "matrix.analysis", id="a list"),
    ],
)
def test_an_analysis_that_cannot_be_meant_is_an_error(tmp_path: Path, analysis: object, why: str) -> None:
    (error,) = errors(write_suite(tmp_path, **{**DESIGN, "matrix": {**DESIGN["matrix"], "analysis": analysis}}))
    assert why in error


@pytest.mark.parametrize(
    ("names", "words"), [(["a"], "a, which declares a range"), (["a", "b"], "a, b, which declare ranges")]
)
def test_a_range_that_judges_shadow_is_told_in_good_grammar(tmp_path: Path, names: list[str], words: str) -> None:
    judges = [check(name, "return 2", score_range=[0, 2]) for name in names]
    reward = {"formula": "weighted", "weights": dict.fromkeys(names, 1), "score_range": [1, 5]}
    (warning,) = warnings(write_suite(tmp_path, judges, reward=reward))
    assert words in warning


@pytest.mark.parametrize(
    ("code", "why"),
    [
        pytest.param("return 1 / 0", "ZeroDivisionError", id="a judge that failed"),
        pytest.param("return 'x'", "low", id="a value of no kind"),
    ],
)
def test_a_reward_without_a_value_says_why(tmp_path: Path, code: str, why: str) -> None:
    judges = [check("low", code), check("high", "return 1.0")]
    reward = {"formula": "weighted", "weights": {"low": 0.5, "high": 0.5}, "raw": ["low", "high"]}
    config = write_suite(tmp_path, judges, reward=reward, thresholds={"low": {"max_error_rate": 1.0}})
    reward_of = adjudge.load(config).reward
    assert reward_of is not None
    assert reward_of.form is RewardForm.WEIGHTED
    done = call("run", "--output", "run-1", cwd=tmp_path, env=environment(tmp_path))
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("reward reward: ")]
    assert line.startswith("reward reward: no value (")
    assert "low" in line
    assert why in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("execution", "name"),
    [
        pytest.param({"skill": "MySkill.Make"}, "MySkill.Make", id="as it is written"),
        pytest.param({"skill": " rfe.create "}, "rfe.create", id="without the spaces around it"),
        pytest.param({"prompt": "{{ input.request }}"}, "my-suite", id="a name is made a folder's"),
    ],
)
def test_runs_are_called_as_their_skill_is(tmp_path: Path, execution: dict[str, str], name: str) -> None:
    suite = adjudge.load(write_suite(tmp_path, name="My Suite", execution=execution))
    assert suite.name == name
    assert suite.runs.endswith(f"/{name}")
