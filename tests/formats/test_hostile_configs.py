"""Whatever an eval.yaml holds, loading it gives a suite or problems with places, and nothing else."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adjudge
from adjudge.domain import ConfigError
from tests.conftest import ROOT
from tests.support.configs import check, errors, llm, problems, write_suite, write_text

LONG = "x" * 500
SENTENCE = "Score from 1 to 5 how completely the output covers the request, " * 10


def deep(before: str, times: int, after: str) -> str:
    return before * times + after


HOSTILE: dict[str, dict[str, Any]] = {
    "a prompt where a file belongs": {"judges": [llm(prompt_file=SENTENCE)]},
    "a long context": {"judges": [llm(context=[LONG])]},
    "a long module": {"judges": [{"name": "j", "module": LONG, "function": "f"}]},
    "a long dataset": {"dataset": {"path": LONG}},
    "a long output": {"outputs": [{"path": LONG}]},
    "NUL in a file name": {"judges": [llm(prompt_file="a\0b", context=["c\0d"])]},
    "NUL in the dataset": {"dataset": {"path": "a\0b"}},
    "NUL in an output": {"outputs": [{"path": "a\0b"}]},
    "NUL in a check": {"judges": [check(code="return True\0")]},
    "deep condition": {"judges": [check(condition=deep("not ", 5000, "True"))]},
    "deep negation": {"judges": [check(condition=deep("-", 50_000, "1"))]},
    "long chain of attributes": {"judges": [check(condition="outputs" + ".a" * 5000)]},
    "deep check": {"judges": [check(code="return " + deep("-", 50_000, "1"))]},
    "long sum in a check": {"judges": [check(code="return 1" + " + 1" * 50_000)]},
    "deep template": {"judges": [llm(prompt="{% if outputs %}" * 3000)]},
    "deep expression in a template": {"judges": [llm(prompt="{{ " + "(" * 3000 + "outputs" + ")" * 3000 + " }}")]},
    "long chain in a template": {"judges": [llm(prompt="{{ outputs" + ".a" * 3000 + " }}")]},
    "deep rubric": {"judges": [llm(llm_rubric="{% if conversation %}" * 3000)]},
    "a bound larger than any float": {"judges": [check(score_range=[0, 10**400])]},
    "samples beyond any number": {"judges": [llm(samples=10**30)]},
    "a threshold larger than any float": {"thresholds": {"ok": {"min_mean": 10**400}}},
    "a rate larger than any float": {"thresholds": {"ok": {"min_pass_rate": 10**400}}},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_value_is_a_problem_with_a_place(tmp_path: Path, name: str) -> None:
    sections = dict(HOSTILE[name])
    judges = sections.pop("judges", None)
    found = [problem for problem in problems(write_suite(tmp_path, judges, **sections)) if not problem.warning]
    assert found
    assert all(problem.line and problem.column for problem in found)
    assert all(len(str(problem)) < 6000 for problem in found)


def test_a_module_that_is_nested_too_deeply_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "deep.py").write_text("x = " + deep("-", 50_000, "1"))
    found = problems(write_suite(tmp_path, [{"name": "j", "module": "deep", "function": "f"}]))
    assert "judges[0].module" in {problem.key for problem in found}


@pytest.mark.parametrize("name", [LONG, "a" * 300, "///", "..", "\0", "\n", "日本 größe", "a\x1b[31m", " "], ids=ascii)
def test_any_name_of_a_suite_becomes_one_path_segment(tmp_path: Path, name: str) -> None:
    suite = adjudge.load(write_suite(tmp_path, name=name))
    suite.check()
    (tmp_path / suite.name).mkdir()


@pytest.mark.parametrize(
    "arguments",
    [
        {"day": datetime.date(2026, 2, 3), "at": datetime.datetime(2026, 2, 3, 4, 5, tzinfo=datetime.UTC)},
        {"bytes": b"\x00\xff"},
        {"nan": float("nan"), "inf": float("inf")},
        {"large": 10**30},
    ],
    ids=["dates", "bytes", "not finite", "large"],
)
def test_arguments_of_any_yaml_type_are_judged_or_told_of(tmp_path: Path, arguments: dict[str, Any]) -> None:
    config = write_suite(tmp_path, [check(code="return bool(arguments), repr(arguments)", arguments=arguments)])
    told = errors(config)
    assert all("judges[0].arguments" in error for error in told)
    assert told or adjudge.run(config, workers=1).score("case-1", "ok").value is True


VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.dates()
    | st.sampled_from(["", "x", "return True", "{{ outputs }}", "cases", "..", "/", "sonnet", "openai:/", "bool"])
    | st.text(st.characters(codec="utf-8"), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3),
    max_leaves=5,
)
JUDGE_KEYS = [
    *["name", "builtin", "check", "agent", "prompt", "prompt_file", "llm_rubric", "context", "module", "function"],
    *["arguments", "if", "feedback_type", "score_range", "model", "samples", "step", "examples", "provider_options"],
]
JUDGE = st.dictionaries(st.sampled_from(JUDGE_KEYS), VALUE, max_size=6)
NAMED = st.builds(lambda judge, name: {"name": name, "check": "return 1", **judge}, JUDGE, st.sampled_from("abcd"))
BOUNDS = ["min_mean", "min_pass_rate", "min_win_rate", "max_error_rate", "decide_by"]
THRESHOLDS = st.dictionaries(st.sampled_from("abcd"), st.dictionaries(st.sampled_from(BOUNDS), VALUE, max_size=3))
SECTIONS = ["execution", "runner", "models", "outputs", "hooks", "reward", "name", "skill", "dataset", "inputs", "x"]
CONFIG = st.fixed_dictionaries(
    {"judges": VALUE | st.lists(VALUE | JUDGE | NAMED, max_size=4)},
    optional={"thresholds": VALUE | THRESHOLDS, "outputs": VALUE | st.lists(VALUE, max_size=2)},
)


@given(CONFIG, st.dictionaries(st.sampled_from(SECTIONS), VALUE, max_size=3))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_mapping_loads_or_gives_problems_with_places(
    tmp_path: Path, config: dict[str, Any], rest: dict[str, Any]
) -> None:
    write_suite(tmp_path)
    whole = {"dataset": {"path": "cases"}, **config, **rest}
    (tmp_path / "eval.yaml").write_text(yaml.safe_dump(whole, allow_unicode=True), encoding="utf-8")
    try:
        suite = adjudge.load(tmp_path / "eval.yaml")
    except ConfigError as error:
        told = [problem for problem in error.problems if not problem.warning]
        assert told
        assert all(problem.message for problem in told)
        assert all(problem.line for problem in told if problem.file == "eval.yaml")
    else:
        suite.check()
        assert suite.judges


REAL = (ROOT / "examples" / "quickstart" / "eval.yaml").read_text()
SLIPS = st.lists(st.sampled_from([*"\n :-[]{}'\"#&*|>!%", "  ", "\t", "null", "<<: *x", "!!int", "é"]), max_size=3)


@given(st.integers(0, len(REAL)), st.integers(0, 30), SLIPS.map("".join))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_real_config_with_a_slip_loads_or_gives_problems(
    tmp_path: Path, start: int, length: int, inserted: str
) -> None:
    config = write_text(tmp_path, REAL[:start] + inserted + REAL[start + length :])
    assert all(problem.message and problem.file for problem in problems(config))
