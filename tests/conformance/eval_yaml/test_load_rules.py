"""What a config may not say: each rule is told at load, before anything runs, where it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.domain import BUILTIN_JUDGES, ConfigError, Numeric
from tests.support.configs import check, errors, llm, only_judge, problems, warnings, write_suite, write_text

BUILTIN = {"name": "j", "builtin": "cost_budget"}
CODE = {"name": "j", "module": "my_judges", "function": "judge"}
EVERY_TYPE = [
    pytest.param(check("j"), id="check"),
    pytest.param(BUILTIN, id="builtin"),
    pytest.param(CODE, id="code"),
    pytest.param(llm("j", feedback_type=...), id="llm"),
]
DETERMINISTIC = [*EVERY_TYPE[:3], pytest.param(check("j", prompt="{{ outputs }}"), id="check before prompt")]


@pytest.fixture(autouse=True)
def module(tmp_path: Path) -> None:
    (tmp_path / "my_judges.py").write_text("def judge(outputs): return True\n")


def test_two_judges_must_not_share_a_name(tmp_path: Path) -> None:
    text = (
        "dataset: {path: cases}\njudges:\n  - name: twice\n    check: return True\n"
        "  - check: return True\n    name: twice\n"
    )
    (error,) = errors(write_text(tmp_path, text))
    assert error.startswith("eval.yaml:6:11: error: judges[1].name: ")
    assert "'twice'" in error
    assert "line 3" in error


@pytest.mark.parametrize(
    ("judge", "key"),
    [
        pytest.param({"check": "return True"}, "'name' is missing", id="no name"),
        pytest.param({"name": "", "check": "return True"}, "judges[0].name", id="empty"),
        pytest.param({"name": "  ", "check": "return True"}, "judges[0].name", id="blank"),
        pytest.param({"name": None, "check": "return True"}, "judges[0].name", id="null"),
        pytest.param({"name": 5, "check": "return True"}, "judges[0].name", id="number"),
    ],
)
def test_a_judge_needs_a_name(tmp_path: Path, judge: dict[str, Any], key: str) -> None:
    (error,) = errors(write_suite(tmp_path, [judge]))
    assert key in error


@pytest.mark.parametrize(
    ("builtin", "hint"),
    [
        ("cost_budgets", "did you mean 'cost_budget'?"),
        ("semantic_similarty", "did you mean 'semantic_similarity'?"),
        ("quality/cost_budget", "efficiency/cost_budget"),
        ("zzz", "there are: "),
        ("", "there are: "),
    ],
)
def test_an_unknown_builtin_is_told_with_every_builtin_there_is(tmp_path: Path, builtin: str, hint: str) -> None:
    (error,) = errors(write_suite(tmp_path, [{"name": "j", "builtin": builtin}]))
    assert all(f"{info.category}/{name}" in error for name, info in BUILTIN_JUDGES.items())
    assert hint in error


def test_an_argument_that_a_builtin_does_not_take_is_an_error(tmp_path: Path) -> None:
    (error,) = errors(write_suite(tmp_path, [{**BUILTIN, "arguments": {"max_cost": 1}}]))
    assert "judges[0].arguments.max_cost" in error
    assert "did you mean 'max_cost_usd'?" in error


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("builtin", 5, "text"),
        ("builtin", ["cost_budget"], "text"),
        ("arguments", "threshold: 1", "a mapping"),
        ("arguments", [1], "a mapping"),
        ("description", 5, "text"),
        ("check", {"code": "x"}, "text"),
        ("prompt", ["a"], "text"),
        ("llm_rubric", 5, "text"),
        ("prompt_file", 5, "text"),
        ("module", 5, "text"),
        ("model", {"a": "b"}, "text or a list of text"),
        ("samples", "4", "a whole number"),
        ("samples", 2.7, "a whole number"),
        ("samples", True, "a whole number"),
        ("samples", [3], "a whole number"),
        ("score_range", "1-5", "a list"),
        ("score_range", {"min": 1}, "a list"),
        ("context", "file.md", "a list"),
        ("agent", "claude", "a mapping"),
        ("if", 5, "text"),
        ("feedback_type", True, "text"),
    ],
)
def test_a_value_of_the_wrong_type_is_told_in_words(tmp_path: Path, key: str, value: object, expected: str) -> None:
    (error,) = errors(write_suite(tmp_path, [{"name": "j", key: value}]))
    assert f"judges[0].{key}: expected {expected}" in error


@pytest.mark.parametrize("judge", EVERY_TYPE)
@pytest.mark.parametrize(
    "bounds",
    [
        [],
        [1],
        [1, 2, 3],
        [5, 1],
        [3, 3],
        [0, float("inf")],
        [float("nan"), 1],
        ["1", "5"],
        [False, True],
        [None, 5],
        [[1], [5]],
    ],
    ids=repr,
)
def test_a_score_range_is_two_increasing_finite_numbers(
    tmp_path: Path, judge: dict[str, Any], bounds: list[Any]
) -> None:
    found = errors(write_suite(tmp_path, [{**judge, "score_range": bounds}]))
    assert found
    assert all("judges[0].score_range" in error for error in found)


@pytest.mark.parametrize("judge", EVERY_TYPE)
@pytest.mark.parametrize("bounds", [[1, 5], [-1, 1], [0, 2.5], [-2, -1]], ids=repr)
def test_a_score_range_may_be_negative_or_fractional(tmp_path: Path, judge: dict[str, Any], bounds: list[Any]) -> None:
    scale = only_judge(write_suite(tmp_path, [{**judge, "score_range": bounds}])).criteria[0].scale
    assert isinstance(scale, Numeric)
    assert (scale.min, scale.max, scale.enforced) == (*bounds, True)


@pytest.mark.parametrize("judge", EVERY_TYPE)
def test_a_boolean_judge_has_no_score_range(tmp_path: Path, judge: dict[str, Any]) -> None:
    (error,) = errors(write_suite(tmp_path, [{**judge, "feedback_type": "bool", "score_range": [0, 1]}]))
    assert "judges[0].score_range: cannot go with feedback_type: bool" in error


@pytest.mark.parametrize("judge", EVERY_TYPE)
def test_an_integer_judge_has_no_fractional_bounds(tmp_path: Path, judge: dict[str, Any]) -> None:
    (error,) = errors(write_suite(tmp_path, [{**judge, "feedback_type": "int", "score_range": [0, 2.5]}]))
    assert "judges[0].score_range: " in error
    assert "float" in error
    assert not errors(write_suite(tmp_path, [{**judge, "feedback_type": "float", "score_range": [0, 2.5]}]))
    assert not errors(write_suite(tmp_path, [{**judge, "feedback_type": "int", "score_range": [0.0, 2.0]}]))


@pytest.mark.parametrize("judge", EVERY_TYPE)
def test_feedback_type_is_validated_on_every_judge(tmp_path: Path, judge: dict[str, Any]) -> None:
    (error,) = errors(write_suite(tmp_path, [{**judge, "feedback_type": "boolean", "score_range": [1, 5]}]))
    assert "judges[0].feedback_type: must be bool, int or float, got 'boolean' (did you mean 'bool'?)" in error


@pytest.mark.parametrize("samples", [0, -1])
def test_samples_are_one_or_more(tmp_path: Path, samples: int) -> None:
    (error,) = errors(write_suite(tmp_path, [llm(samples=samples)]))
    assert "judges[0].samples: must be 1 or more" in error


@pytest.mark.parametrize("judge", DETERMINISTIC)
def test_samples_of_a_deterministic_judge_are_ignored_with_a_warning(tmp_path: Path, judge: dict[str, Any]) -> None:
    config = write_suite(tmp_path, [{**judge, "samples": 3}])
    (warning,) = warnings(config)
    assert "judges[0].samples: is ignored" in warning
    assert only_judge(config).samples == 1


@pytest.mark.parametrize("judge", [*DETERMINISTIC, pytest.param({"name": "pairwise", "prompt": "p"}, id="pairwise")])
def test_examples_are_for_llm_and_agent_judges_alone(tmp_path: Path, judge: dict[str, Any]) -> None:
    assert errors(write_suite(tmp_path, [{**judge, "examples": {"source": "reviews"}}]))


@pytest.mark.parametrize(
    ("judge", "warns"),
    [
        pytest.param(llm(feedback_type=..., prompt="{{ outputs }}"), True, id="prompt"),
        pytest.param(llm(feedback_type=..., llm_rubric="Score it."), True, id="rubric"),
        pytest.param(llm(feedback_type="int"), True, id="int"),
        pytest.param(llm(feedback_type="float"), True, id="float"),
        pytest.param(llm(feedback_type="bool"), False, id="bool"),
        pytest.param(llm(score_range=[1, 5]), False, id="range declared"),
        pytest.param(check(code="return 3"), False, id="check"),
        pytest.param(BUILTIN, False, id="builtin"),
    ],
)
def test_a_numeric_llm_judge_without_a_range_warns(tmp_path: Path, judge: dict[str, Any], warns: bool) -> None:
    config = write_suite(tmp_path, [judge])
    found = [warning for warning in warnings(config) if "score_range" in warning]
    assert len(found) == warns
    assert not errors(config)
    assert all("'good'" in warning and "1 to 5" in warning for warning in found)


@pytest.mark.parametrize("model", ["gemini:/pro", "bedrock:/claude", "azure:/gpt-4o", ":/x"])
def test_a_provider_that_is_not_supported_is_rejected(tmp_path: Path, model: str) -> None:
    (error,) = errors(write_suite(tmp_path, [llm(model=model)]))
    assert "judges[0].model: " in error
    assert "OPENAI_BASE_URL" in error
    (error,) = errors(write_suite(tmp_path, [llm(model=...)], models={"judge": model}))
    assert "models.judge: " in error


@pytest.mark.parametrize("model", ["openai:/", "anthropic:/ "])
def test_a_model_that_names_none_is_rejected(tmp_path: Path, model: str) -> None:
    (error,) = errors(write_suite(tmp_path, [llm(model=model)]))
    assert "judges[0].model: " in error


def test_provider_options_go_with_openrouter_alone(tmp_path: Path) -> None:
    (error,) = errors(write_suite(tmp_path, [llm(provider_options={"max_tokens": 10})]))
    assert "openrouter:/" in error


def test_providers_at_the_top_have_moved(tmp_path: Path) -> None:
    (error,) = errors(write_suite(tmp_path, providers={"openrouter": {}}))
    assert "models.providers" in error


def sections(name: str, value: object) -> dict[str, Any]:
    return {name: value}


UNKNOWN: dict[str, tuple[dict[str, Any], str]] = {
    "top": ({"judgs": []}, "judgs: unknown key 'judgs' (did you mean 'judges'?)"),
    "dataset": ({"dataset": {"path": "cases", "pth": "x"}}, "dataset.pth: unknown key 'pth' (did you mean 'path'?)"),
    "outputs": ({"outputs": [{"path": "output", "tol": "x"}]}, "outputs[0].tol: unknown key 'tol'"),
    "judge": ({"judges": [check(chek="x")]}, "judges[0].chek: unknown key 'chek' (did you mean 'check'?)"),
    "threshold": (
        {"thresholds": {"ok": {"min_pas_rate": 1}}},
        "thresholds.ok.min_pas_rate: unknown key 'min_pas_rate' (did you mean 'min_pass_rate'?)",
    ),
    "models": ({"models": {"judges": "sonnet"}}, "models.judges: unknown key 'judges' (did you mean 'judge'?)"),
}


@pytest.mark.parametrize("level", UNKNOWN)
def test_an_unknown_key_at_any_level_is_an_error_with_the_nearest_name(tmp_path: Path, level: str) -> None:
    keys, message = UNKNOWN[level]
    (error,) = errors(write_suite(tmp_path, **keys))
    assert message in error


@pytest.mark.parametrize("key", ["description", "if", "arguments", "model", "samples", "feedback_type", "score_range"])
def test_a_null_key_of_a_judge_is_as_if_it_were_not_there(tmp_path: Path, key: str) -> None:
    assert not errors(write_suite(tmp_path, [{**check(), key: None}]))


@pytest.mark.parametrize("key", ["builtin", "check", "prompt", "prompt_file", "llm_rubric"])
@pytest.mark.parametrize("text", ["", "  "], ids=["empty", "blank"])
def test_a_judge_whose_only_key_is_empty_does_not_load_in_silence(tmp_path: Path, key: str, text: str) -> None:
    found = problems(write_suite(tmp_path, [check(), {"name": "j", key: text, "feedback_type": "bool"}]))
    assert any("judges[1]" in problem.key for problem in found)


NULLABLE = ("outputs", "thresholds", "models", "execution", "permissions", "mlflow", "traces", "hooks", "reward")


@pytest.mark.parametrize("section", [*NULLABLE, "runner", "generation", "inputs", "name", "description"])
def test_a_null_section_is_an_empty_section(tmp_path: Path, section: str) -> None:
    assert not problems(write_suite(tmp_path, **sections(section, None)))


@pytest.mark.parametrize(
    ("section", "missing"), [("dataset", "there is no dataset"), ("judges", "there are no judges")]
)
@pytest.mark.parametrize("absent", [None, ..., []], ids=["null", "absent", "empty"])
def test_without_cases_or_judges_the_message_says_what_is_missing(
    tmp_path: Path, section: str, missing: str, absent: object
) -> None:
    if (section, absent) == ("dataset", []):
        absent = {}
    text = "dataset: {path: cases}\n" if section == "judges" else "judges: [{name: j, check: return True}]\n"
    text += "" if absent is ... else f"{section}: {'null' if absent is None else absent}\n"
    assert any(missing in error for error in errors(write_text(tmp_path, text)))


@pytest.mark.parametrize(
    "section", ["execution", "runner", "permissions", "inputs", "mlflow", "reward", "hooks", "matrix"]
)
def test_an_unknown_key_of_a_section_is_an_error(tmp_path: Path, section: str) -> None:
    found = errors(write_suite(tmp_path, **sections(section, {"a": 1})))
    assert any(f"{section}.a" in error and "unknown key 'a'" in error for error in found)


def test_how_cases_are_made_is_accepted_with_a_warning(tmp_path: Path) -> None:
    config = write_suite(tmp_path, generation={"strategy": "skill"})
    (warning,) = warnings(config)
    assert "generation" in warning
    assert not errors(config)


@pytest.mark.parametrize(
    ("path", "why"),
    [("../x", ".."), ("a/../../x", ".."), ("/etc", "relative"), (".", "below"), ("", "below"), ("/", "below")],
)
def test_an_output_lies_below_its_case(tmp_path: Path, path: str, why: str) -> None:
    (error,) = errors(write_suite(tmp_path, outputs=[{"path": path}]))
    assert "outputs[0].path" in error
    assert why in error


def test_every_problem_is_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    judges = [check("a", "return ("), {"name": "b", "builtin": "x"}, llm("c", samples=0), check("a", chek=1)]
    with pytest.raises(ConfigError) as caught:
        adjudge.load(write_suite(tmp_path, judges, thresholds={"nobody": {"min_mean": 1}}, nmae="x"))
    found = [problem for problem in caught.value.problems if not problem.warning]
    assert len(found) == 7
    assert [problem.line for problem in found] == sorted(problem.line for problem in found)
    assert all(problem.file == "eval.yaml" and problem.line and problem.column for problem in found)
