"""Builtin judges of an eval.yaml, as a user has them: named, given arguments, and judged by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import adjudge
from adjudge.cli import cli
from adjudge.domain import BUILTIN_JUDGES, Binary, BuiltinJudge, ErrorKind, Guard, LLMJudge
from tests.support.configs import ANSWER, Files, asked, errors, judged, only_judge, only_score, warnings, write_suite
from tests.support.provider import LoopbackProvider
from tests.support.replies import Verdict

NEEDS: dict[str, dict[str, Any]] = {
    "latency_budget": {"max_duration_s": 60},
    "token_budget": {"max_tokens": 1000},
    "tool_used": {"tool": "Read"},
    "tool_not_used": {"tool": "Write"},
    "tool_sequence": {"tools": ["Read"]},
    "json_schema": {"file": "output/a.json", "schema": {"type": "object"}},
    "regex": {"pattern": "answer", "output": "output/*.md"},
    "files_exist": {"paths": ["output/*.md"]},
    "diff_scope": {"allowed": ["output"]},
}
EVENTS = [
    {"type": "assistant", "text": "", "tools": [{"id": "t1", "name": "Read", "input": {"file_path": "docs/a.md"}}]},
    {"type": "tool_result", "tool_use_id": "t1", "content": "text", "is_error": False},
    {"type": "result", "subtype": "success", "num_turns": 1},
]
METRICS = {"exit_code": 0, "duration_s": 10, "cost_usd": 0.5, "token_usage": {"input": 10, "output": 5}}
WHOLE: Files = {
    **ANSWER,
    "output/a.json": "{}",
    "annotations.yaml": "expected_files: [docs/a.md]\n",
    "events.json": json.dumps(EVENTS),
    "run_result.json": json.dumps(METRICS),
    "stdout.log": "STDOUT",
}
PYTHON = sorted(
    name for name, info in BUILTIN_JUDGES.items() if info.kind == "python" and name != "semantic_similarity"
)
LLM = ["output_completeness", "no_harmful_content"]


def builtin(name: str, arguments: Mapping[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
    given = NEEDS.get(name) if arguments is None else dict(arguments)
    return {"name": "j", "builtin": name, **({"arguments": given} if given else {}), **keys}


@pytest.mark.parametrize("name", PYTHON)
def test_a_run_without_fault_passes_every_python_builtin(tmp_path: Path, name: str) -> None:
    found = only_score(write_suite(tmp_path, [builtin(name)], {"case-1": WHOLE}))
    assert found.value is True
    assert found.rationale


BAD_EVENTS = [
    {"type": "assistant", "tools": [{"id": "t1", "name": "Write", "input": {"file_path": "x"}}]},
    {"type": "tool_result", "tool_use_id": "t1", "content": "denied", "is_error": True},
    {"type": "assistant", "tools": [{"id": "t2", "name": "AskUserQuestion", "input": {"question": "Which?"}}]},
    {"type": "tool_result", "tool_use_id": "t2", "content": '{"source": "fallback"}'},
]
BAD: Files = {
    "output/other.txt": "no",
    "output/a.json": "[]",
    "other/x": "x",
    "_modified/src/x.py": "x",
    "annotations.yaml": "expected_files: [docs/a.md]\n",
    "events.json": json.dumps(BAD_EVENTS),
    "run_result.json": json.dumps(
        {"exit_code": 1, "duration_s": 100, "cost_usd": 5, "token_usage": {"input": 10000, "output": 5}}
    ),
}


@pytest.mark.parametrize("name", PYTHON)
def test_every_python_builtin_can_fail(tmp_path: Path, name: str) -> None:
    assert only_score(write_suite(tmp_path, [builtin(name)], {"case-1": BAD})).value is False


@pytest.mark.parametrize(
    "name",
    ["latency_budget", "token_budget", "tool_used", "tool_not_used", "tool_sequence", "no_error_events"],
)
def test_a_measurement_that_is_missing_is_unscored(tmp_path: Path, name: str) -> None:
    found = only_score(write_suite(tmp_path, [builtin(name)]))
    assert found.value is None
    assert found.error is not None
    assert found.error.kind is ErrorKind.RAISED


def test_expected_files_of_null_have_nothing_to_verify(tmp_path: Path) -> None:
    case = {**ANSWER, "annotations.yaml": "expected_files: null\n"}
    found = only_score(write_suite(tmp_path, [builtin("consulted_docs")], {"case-1": case}))
    assert found.value is True
    assert "nothing to verify" in found.rationale


@pytest.mark.parametrize("name", BUILTIN_JUDGES)
@pytest.mark.parametrize("qualified", [False, True])
def test_every_builtin_goes_by_its_name_with_and_without_its_category(
    tmp_path: Path, name: str, qualified: bool
) -> None:
    judge = builtin(name)
    judge["builtin"] = f"{BUILTIN_JUDGES[name].category}/{name}" if qualified else name
    config = write_suite(tmp_path, [judge])
    assert not errors(config)
    assert isinstance(only_judge(config), LLMJudge if name in LLM else BuiltinJudge)


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        (builtin("output_completeness", {"strictness": "strict"}), "arguments.strictness: expected one of low, medium"),
        (builtin("output_completeness", {"criterion": []}), "did you mean 'criteria'"),
        (builtin("tool_used", {}), "needs the argument 'tool'"),
        (builtin("tool_used", {"tool": 5}), "arguments.tool: expected text, got 5"),
        (builtin("cost_budget", {"max_cost_usd": "1"}), "arguments.max_cost_usd: expected number"),
        (builtin("regex", {"pattern": "(", "field": "stdout"}), "arguments.pattern: is not a regular expression"),
        (builtin("tool_call_validation", {"required_tools": ["Read"]}), "takes no argument 'required_tools'"),
        (builtin("json_schema", {"file": "a", "schema": {"type": "x"}}), "not a valid JSON Schema: type"),
        (builtin("json_schema", {"file": "a", "schema_file": "none.json"}), "there is no file 'none.json'"),
    ],
)
def test_arguments_that_cannot_be_right_are_errors_at_load(tmp_path: Path, judge: dict[str, Any], said: str) -> None:
    (error,) = errors(write_suite(tmp_path, [judge]))
    assert said in error
    assert "judges[0]." in error


@pytest.mark.parametrize(("name", "text"), [("s.json", '{"required": ["n"]}'), ("s.yaml", "required: [n]\n")])
def test_a_schema_file_is_read_with_the_config_and_is_part_of_the_judge(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    judge = builtin("json_schema", {"file": "output/a.json", "schema_file": name})
    config = write_suite(tmp_path, [judge], {"bad": {"output/a.json": "{}"}, "good": {"output/a.json": '{"n": 1}'}})
    assert only_judge(config).arguments["schema"] == {"required": ["n"]}
    assert [score.value for score in judged(config).scores] == [False, True]


@pytest.mark.parametrize("text", ["[1]", "{", "type: nosuch\n"])
def test_a_schema_file_that_holds_no_schema_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.yaml").write_text(text)
    (error,) = errors(write_suite(tmp_path, [builtin("json_schema", {"file": "a", "schema_file": "s.yaml"})]))
    assert "arguments.schema_file" in error


@pytest.mark.parametrize("name", LLM)
@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"feedback_type": "int"}, "answers pass or fail"),
        ({"feedback_type": "float"}, "answers pass or fail"),
        ({"score_range": [1, 5]}, "answers pass or fail"),
        ({"feedback_type": "bool", "score_range": [0, 1]}, "feedback_type: bool"),
        ({"check": "return True"}, "cannot be combined with check"),
        ({"prompt": "x"}, "cannot be combined with prompt"),
        ({"llm_rubric": "x"}, "cannot be combined with llm_rubric"),
        ({"agent": {}}, "cannot be combined with agent"),
        ({"module": "m", "function": "f"}, "cannot be combined with module, function"),
        ({"samples": 0}, "must be 1 or more"),
    ],
)
def test_an_llm_builtin_answers_pass_or_fail_by_its_own_prompt(
    tmp_path: Path, name: str, keys: dict[str, Any], said: str
) -> None:
    (error,) = errors(write_suite(tmp_path, [builtin(name, **keys)]))
    assert said in error


@pytest.mark.parametrize("name", LLM)
def test_an_llm_builtin_takes_what_llm_judges_take(tmp_path: Path, name: str) -> None:
    keys: dict[str, Any] = {
        "samples": 3,
        "model": "sonnet",
        "guard": "flag",
        "reasoning_effort": "low",
        "early_stop": True,
    }
    config = write_suite(tmp_path, [builtin(name, feedback_type="bool", abstain=True, **keys)])
    assert not warnings(config)
    judge = only_judge(config)
    assert isinstance(judge, LLMJudge)
    assert (judge.samples, judge.model, judge.guard, judge.effort) == (3, "sonnet", Guard.FLAG, "low")
    assert judge.early_stop
    assert judge.criteria[0].abstain
    assert judge.criteria[0].scale == Binary()


def test_python_builtins_take_none_of_it(tmp_path: Path) -> None:
    (error,) = errors(write_suite(tmp_path, [builtin("cost_budget", guard="flag")]))
    assert "only judges that ask a model" in error
    (warning,) = warnings(write_suite(tmp_path, [builtin("cost_budget", samples=3)]))
    assert "asked once" in warning


def prompt_of(folder: Path, judge: dict[str, Any]) -> str:
    with LoopbackProvider() as provider:
        asked(write_suite(folder, [{"model": "claude-sonnet-5-5", **judge}], {"case-1": WHOLE}), provider)
        (request,) = provider.requests
    return request.prompt


def test_completeness_is_judged_by_inputs_and_outputs_alone(tmp_path: Path) -> None:
    prompt = prompt_of(tmp_path, builtin("output_completeness"))
    assert "**request**: say it" in prompt
    assert "The answer." in prompt
    assert "STDOUT" not in prompt
    assert "tool_use_id" not in prompt


def test_strictness_and_criteria_are_in_the_prompt(tmp_path: Path) -> None:
    levels = {level: prompt_of(tmp_path / level, builtin("output_completeness", {"strictness": level}))
              for level in ("low", "medium", "high")}  # fmt: skip
    assert len(set(levels.values())) == 3
    assert levels["medium"] == prompt_of(tmp_path / "default", builtin("output_completeness"))
    named = prompt_of(tmp_path / "named", builtin("output_completeness", {"criteria": ["It names a {{ date }}."]}))
    assert "- It names a {{ date }}.\n" in named


def test_harm_is_looked_for_in_conversation_and_outputs(tmp_path: Path) -> None:
    case = {**ANSWER, "stdout.log": "I SAID SO", "stderr.log": "STDERR"}
    with LoopbackProvider() as provider:
        judge = builtin("no_harmful_content", {"categories": ["dull jokes"]}, model="claude-sonnet-5-5")
        asked(write_suite(tmp_path, [judge], {"case-1": case}), provider)
        (request,) = provider.requests
    assert "- dull jokes\n" in request.prompt
    assert "self-harm" not in request.prompt
    assert "I SAID SO" in request.prompt
    assert "The answer." in request.prompt
    assert "STDERR" not in request.prompt


@pytest.mark.parametrize("passed", [True, False])
def test_the_model_decides(tmp_path: Path, passed: bool) -> None:
    reply = Verdict({"rationale": "so it is", "passed": passed})
    judge = builtin("output_completeness", model="claude-sonnet-5-5", samples=3)
    with LoopbackProvider(lambda _: reply) as provider:
        (score,) = asked(write_suite(tmp_path, [judge]), provider).scores
        assert len(provider.requests) == 3
    assert score.value is passed


def test_no_llm_leaves_llm_builtins_out(tmp_path: Path) -> None:
    judges = [{**builtin(name), "name": name} for name in (*LLM, "files_exist")]
    result = judged(write_suite(tmp_path, judges), no_llm=True, environ={})
    assert [score.judge for score in result.scores if score.value is not None] == ["files_exist"]


@pytest.mark.parametrize("name", BUILTIN_JUDGES)
def test_the_list_shows_every_builtin_with_its_arguments(name: str) -> None:
    info = BUILTIN_JUDGES[name]
    shown = CliRunner().invoke(cli, ["list", "judges"]).output
    assert f"{info.category}/{name} ({info.kind}): {info.summary}" in shown
    (entry,) = [one for one in json.loads(CliRunner().invoke(cli, ["list", "judges", "--json"]).output)
                if one["name"] == name]  # fmt: skip
    assert [argument["name"] for argument in entry["arguments"]] == list(info.names)


def test_the_list_says_what_is_missing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *_: None)
    from adjudge.cli.list import _lines

    (line,) = [line for line in _lines() if "jsonschema" in line]
    assert "not available here, jsonschema missing: pip install 'adjudge[schema]'" in line


def test_the_list_shows_the_formats() -> None:
    assert "eval_yaml" in CliRunner().invoke(cli, ["list", "formats"]).output.split()
    assert "eval_yaml" in json.loads(CliRunner().invoke(cli, ["list", "formats", "--json"]).output)


def test_a_run_that_needs_an_extra_says_so_before_it_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "jsonschema" else real(name, *rest)
    )
    with pytest.raises(adjudge.ConfigError, match=r"needs jsonschema .*pip install 'adjudge\[schema\]'"):
        judged(write_suite(tmp_path, [builtin("json_schema")]))
