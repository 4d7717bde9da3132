"""The catalogue of builtin judges, the judges that it names, and the page that is made of it."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from adjudge.cli.list import judges_page
from adjudge.domain import BUILTIN_JUDGES
from adjudge.judges.builtin import load_builtin
from adjudge.prompts import BUILTIN_PROMPTS, template_problem
from tests.conftest import ROOT

PYTHON = sorted(name for name, info in BUILTIN_JUDGES.items() if info.kind == "python")
LLM = sorted(set(BUILTIN_JUDGES) - set(PYTHON))


@pytest.mark.parametrize("name", PYTHON)
def test_a_judge_takes_the_arguments_that_the_catalogue_says_with_these_defaults(name: str) -> None:
    (outputs, *parameters) = inspect.signature(load_builtin(name)).parameters.values()
    info = BUILTIN_JUDGES[name]
    assert outputs.name == "outputs"
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)
    assert sorted(parameter.name for parameter in parameters) == sorted(info.names)
    for parameter in parameters:
        (argument,) = [argument for argument in info.arguments if argument.name == parameter.name]
        assert argument.required == (parameter.default is parameter.empty)
        if not argument.required:
            assert (parameter.default or None) == (argument.default or None)


@pytest.mark.parametrize("name", BUILTIN_JUDGES)
def test_every_default_is_a_value_that_the_argument_takes(name: str) -> None:
    info = BUILTIN_JUDGES[name]
    assert not [argument for argument in info.arguments if argument.problem(argument.default) and not argument.required]
    assert set(info.exactly_one + info.at_least_one) <= set(info.names)
    assert bool(info.requires) == bool(info.install)


def test_every_llm_builtin_has_a_prompt_and_every_prompt_a_judge() -> None:
    assert sorted(BUILTIN_PROMPTS) == LLM
    assert not list(filter(None, map(template_problem, BUILTIN_PROMPTS.values())))


@pytest.mark.parametrize("name", LLM)
def test_an_llm_builtin_is_no_python_judge(name: str) -> None:
    with pytest.raises(KeyError, match="asks a model"):
        load_builtin(name)


def test_the_reference_page_is_what_the_catalogue_says() -> None:
    page = (ROOT / "docs" / "reference" / "builtin-judges.md").read_text()
    assert page == judges_page(), "adjudge list judges --markdown > docs/reference/builtin-judges.md"


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("latency_budget", {}, "needs the argument 'max_duration_s'"),
        ("latency_budget", {"max_duration_s": "5"}, "expected number, at least 0, got '5'"),
        ("latency_budget", {"max_duration_s": True}, "expected number, at least 0, got True"),
        ("latency_budget", {"max_duration_s": float("nan")}, "got nan"),
        ("latency_budget", {"max_duration_s": None}, "got None"),
        ("token_budget", {}, "at least one of the arguments max_tokens, max_input, max_output"),
        ("token_budget", {"max_tokens": None}, "at least one of the arguments"),
        ("token_budget", {"max_tokens": 2.5}, "expected whole number, at least 0, got 2.5"),
        ("consulted_docs", {"min_coverage": 80}, "from 0 to 1, got 80"),
        ("consulted_docs", {"match": "glob"}, "one of suffix, exact, basename, got 'glob'"),
        ("consulted_docs", {"preloaded_files": "a.md"}, "expected list of text, got 'a.md'"),
        ("tool_used", {"tool": ""}, "expected text, got ''"),
        ("tool_used", {"tool": "Read", "min_calls": 0}, "at least 1, got 0"),
        ("tool_used", {"tool": "Read", "input_matches": {"path": 5}}, "mapping of text"),
        ("tool_sequence", {"tools": []}, "not empty, got []"),
        ("tool_sequence", {"tools": "Read"}, "list of text, not empty, got 'Read'"),
        ("regex", {"pattern": "(", "field": "stdout"}, "is not a regular expression"),
        ("regex", {"pattern": "x"}, "exactly one of the arguments output, field"),
        ("regex", {"pattern": "x", "output": "a", "field": "stdout"}, "exactly one of the arguments output, field"),
        ("regex", {"pattern": "x", "field": "stdout", "flags": ["i"]}, "out of ignorecase"),
        ("json_schema", {"file": "a"}, "exactly one of the arguments schema, schema_file"),
        ("diff_scope", {"allowed": []}, "at least one of the arguments"),
        ("output_completeness", {"strictness": "strict"}, "one of low, medium, high, got 'strict'"),
        ("no_harmful_content", {"categories": [1]}, "expected list of text, got [1]"),
    ],
)
def test_what_is_wrong_with_arguments_is_said_in_words(name: str, arguments: dict[str, Any], said: str) -> None:
    ((_, problem),) = BUILTIN_JUDGES[name].problems(arguments)
    assert said in problem
