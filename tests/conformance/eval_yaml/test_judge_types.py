"""The five types of judge: how the type is inferred, which wins, and how each is called."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge import formats
from adjudge.domain import AgentJudge, kind_of
from tests.support.configs import (
    ANSWER,
    check,
    errors,
    judged,
    only_judge,
    only_score,
    warnings,
    write_suite,
    write_text,
)

CHECK = {"check": "return True, 'fine'"}
PROMPT = {"prompt": "Is it good? {{ outputs }}", "feedback_type": "bool"}
RUBRIC = {"llm_rubric": "It is good.", "feedback_type": "bool"}
CODE = {"module": "my_judges", "function": "judge"}
AGENT: dict[str, Any] = {"agent": {}, "prompt": "Is it good?", "feedback_type": "bool"}


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        pytest.param({"builtin": "cost_budget"}, "builtin", id="builtin"),
        pytest.param(CHECK, "check", id="check"),
        pytest.param(PROMPT, "llm", id="prompt"),
        pytest.param(RUBRIC, "llm", id="llm_rubric"),
        pytest.param(CODE, "code", id="module and function"),
        pytest.param({**CHECK, **AGENT}, "check", id="check before agent"),
        pytest.param({**CHECK, **PROMPT, **CODE}, "check", id="check before prompt"),
        pytest.param({**PROMPT, **CODE}, "llm", id="prompt before module"),
        pytest.param({**RUBRIC, **CODE}, "llm", id="llm_rubric before module"),
    ],
)
def test_the_type_follows_from_the_key_that_is_set_in_a_fixed_order(
    tmp_path: Path, keys: dict[str, Any], kind: str
) -> None:
    write_module(tmp_path, "def judge(outputs): return True")
    assert kind_of(only_judge(write_suite(tmp_path, [{"name": "j", **keys}]))) == kind


@pytest.mark.parametrize("keys", [AGENT, {**AGENT, **CODE}], ids=["with a prompt", "before module"])
def test_an_agent_block_upgrades_an_llm_judge(tmp_path: Path, keys: dict[str, Any]) -> None:
    write_module(tmp_path, "def judge(outputs): return True")
    assert kind_of(only_judge(write_suite(tmp_path, [{"name": "j", **keys}]))) == "agent"


@pytest.mark.parametrize(
    "other",
    [
        {"check": "return True"},
        {"prompt": "p"},
        {"prompt_file": "prompt.md"},
        {"llm_rubric": "r"},
        {"agent": {}},
        {"module": "m"},
        {"function": "f"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_builtin_goes_with_none_of_the_others(tmp_path: Path, other: dict[str, Any]) -> None:
    (tmp_path / "prompt.md").write_text("p")
    (error,) = errors(write_suite(tmp_path, [{"name": "j", "builtin": "cost_budget", **other}]))
    assert "cannot be combined with" in error
    assert next(iter(other)) in error


def test_a_judge_with_no_type_is_skipped_with_a_warning_and_the_others_run(tmp_path: Path) -> None:
    config = write_suite(tmp_path, [{"name": "undecided", "description": "to do"}, check("ok")])
    (warning,) = warnings(config)
    assert "'undecided'" in warning
    assert "skipped" in warning
    assert [judge.name for judge in adjudge.load(config).judges] == ["ok"]


@pytest.mark.parametrize("name", ["cost_budget", "efficiency/cost_budget"])
def test_a_builtin_is_named_with_or_without_its_category(tmp_path: Path, name: str) -> None:
    config = write_suite(tmp_path, [{"name": "j", "builtin": name}])
    assert getattr(only_judge(config), "builtin", None) == "cost_budget"


@pytest.mark.parametrize(("cost", "fits"), [(0.5, True), (2.5, True), (2.6, False), (None, False)])
def test_arguments_are_keyword_arguments_of_a_builtin(tmp_path: Path, cost: float | None, fits: bool) -> None:
    result = {} if cost is None else {"run_result.json": f'{{"cost_usd": {cost}}}'}
    judge = {"name": "j", "builtin": "cost_budget", "arguments": {"max_cost_usd": 2.5}}
    found = only_score(write_suite(tmp_path, [judge], {"case-1": {**ANSWER, **result}}))
    assert found.value is fits
    assert ("no cost" in found.rationale.lower()) == (cost is None)


@pytest.mark.parametrize(
    ("code", "value", "rationale"),
    [
        pytest.param("return True, 'both'", True, "both", id="pair"),
        pytest.param("return False", False, "", id="value alone"),
        pytest.param("return 3, 'three'", 3, "three", id="number"),
        pytest.param("if 1:\n  return 'a' in arguments, 'two spaces'", True, "two spaces", id="two-space body"),
        pytest.param('text = """\n  a\n"""\nreturn len(text), repr(text)', 5, "'\\n  a\\n'", id="multi-line string"),
        pytest.param("import json\nreturn sum(json.loads('[1, 2]')), 'imports'", 3, "imports", id="import"),
        pytest.param("def f(n): return n + 1\nreturn [f(n) for n in range(3)][2], ''", 3, "", id="inner function"),
        pytest.param("return outputs['files']['output/answer.md'] == 'The answer.\\n', ''", True, "", id="outputs"),
        pytest.param("return arguments['a'] == 1 and arguments['b'] == ['x'], ''", True, "", id="arguments"),
        pytest.param("    return True, 'all of it indented'", True, "all of it indented", id="indented"),
        pytest.param(
            "from types import SimpleNamespace\nreturn SimpleNamespace(value=2.5, rationale='said')",
            2.5,
            "said",
            id="object with value and rationale",
        ),
        pytest.param("from types import SimpleNamespace\nreturn SimpleNamespace(value=7)", 7, "", id="object"),
    ],
)
def test_a_check_is_the_body_of_a_function_over_outputs_and_arguments(
    tmp_path: Path, code: str, value: object, rationale: str
) -> None:
    judge = {"name": "j", "check": code, "arguments": {"a": 1, "b": ["x"]}}
    found = only_score(write_suite(tmp_path, [judge]))
    assert found.error is None
    assert (type(found.value), found.value, found.rationale) == (type(value), value, rationale)


def test_a_check_without_arguments_gets_an_empty_mapping(tmp_path: Path) -> None:
    assert only_score(write_suite(tmp_path, [check(code="return arguments == {}, repr(arguments)")])).value is True


def write_module(folder: Path, code: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "my_judges.py").write_text(textwrap.dedent(code))


def test_a_code_judge_is_called_with_outputs_and_its_arguments_as_keywords(tmp_path: Path) -> None:
    write_module(
        tmp_path,
        """
        def judge(*args, outputs, threshold, **rest):
            return not args and not rest and threshold == 0.8 and "files" in outputs, "called"
        """,
    )
    found = only_score(write_suite(tmp_path, [{"name": "j", **CODE, "arguments": {"threshold": 0.8}}]))
    assert (found.value, found.rationale) == (True, "called")


def test_a_code_judge_without_arguments_is_called_with_outputs_alone(tmp_path: Path) -> None:
    write_module(tmp_path, "def judge(**given): return sorted(given) == ['outputs'], repr(sorted(given))")
    assert only_score(write_suite(tmp_path, [{"name": "j", **CODE}])).value is True


def test_a_code_judge_in_a_package_is_found(tmp_path: Path) -> None:
    write_module(tmp_path / "eval" / "judges", "def judge(outputs): return 1, 'packed'")
    found = only_score(write_suite(tmp_path, [{"name": "j", "module": "eval.judges.my_judges", "function": "judge"}]))
    assert found.rationale == "packed"


def test_a_module_is_found_beside_the_config_before_the_current_folder(tmp_path: Path) -> None:
    write_module(tmp_path, "def judge(outputs): return True, 'current folder'")
    config = write_suite(tmp_path / "suite", [{"name": "j", **CODE}])
    assert only_score(config).rationale == "current folder"
    write_module(tmp_path / "suite", "def judge(outputs): return True, 'beside the config'")
    assert only_score(config, output="second").rationale == "beside the config"


@pytest.mark.parametrize(
    ("module", "key", "names"),
    [
        pytest.param(None, "module", "my_judges", id="no such module"),
        pytest.param("def jugde(outputs): return True", "function", "did you mean 'jugde'?", id="no such function"),
        pytest.param("def judge(outputs:", "module", "my_judges.py", id="not Python"),
    ],
)
def test_a_code_judge_that_is_not_there_is_an_error_before_anything_runs(
    tmp_path: Path, module: str | None, key: str, names: str
) -> None:
    if module is not None:
        write_module(tmp_path, module)
    (error,) = errors(write_suite(tmp_path, [{"name": "j", **CODE}]))
    assert f"judges[0].{key}: " in error
    assert names in error


@pytest.mark.parametrize(
    ("module", "names"),
    [
        pytest.param("judge = 5", "not callable", id="not a function"),
        pytest.param("def judge(outputs): ...\nraise RuntimeError('on import')", "on import", id="raises on import"),
        pytest.param("def judge(outputs): ...\nimport sys\nsys.exit(0)", "SystemExit", id="exits on import"),
        pytest.param("import not_installed_here as judge", "not_installed_here", id="imports what is not there"),
    ],
)
def test_a_code_judge_that_cannot_be_imported_is_unscored_and_the_others_run(
    tmp_path: Path, module: str, names: str
) -> None:
    write_module(tmp_path, module)
    result = judged(write_suite(tmp_path, [{"name": "broken", **CODE}, check("after")]))
    broken = result.score("case-1", "broken")
    assert broken.error is not None
    assert broken.error.kind == "config"
    assert names in broken.error.message
    assert result.score("case-1", "after").value is True
    assert result.exit_code == 4


@pytest.mark.parametrize(
    "module",
    [
        "from functools import partial\njudge = partial(lambda outputs: True)",
        "try:\n  import nothing\nexcept ImportError:\n  def judge(outputs): return True",
        "from helpers import *",
        "class Judges:\n  @staticmethod\n  def strict(outputs): return True\njudge = Judges.strict",
        "judge: object = lambda outputs: True",
    ],
    ids=["partial", "in a try", "star import", "assigned", "annotated"],
)
def test_a_function_may_be_defined_in_any_way(tmp_path: Path, module: str) -> None:
    write_module(tmp_path, module)
    (tmp_path / "helpers.py").write_text("def judge(outputs): return True")
    assert only_score(write_suite(tmp_path, [{"name": "j", **CODE}])).value is True


@pytest.mark.parametrize(
    ("given", "missing"), [("module", "function"), ("function", "module")], ids=["no function", "no module"]
)
def test_half_of_a_code_judge_is_an_error_that_names_the_missing_half(tmp_path: Path, given: str, missing: str) -> None:
    (error,) = errors(write_suite(tmp_path, [{"name": "j", given: "x"}]))
    assert f"'{missing}' is missing" in error


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        pytest.param("annotations.get('category') == 'navigation'", "scored", id="annotations hold"),
        pytest.param("annotations.get('category') == 'other'", "skipped", id="annotations do not hold"),
        pytest.param("'output/answer.md' in outputs['files']", "scored", id="outputs hold"),
        pytest.param("outputs['files'].get('nothing')", "skipped", id="falsy"),
        pytest.param("len(outputs['files']) == 1 and any([True])", "scored", id="builtins of Python"),
        pytest.param("annotations['nowhere']", "unscored", id="an exception is no skip"),
        pytest.param("[t for t in annotations if t][0] == 'category'", "scored", id="a comprehension"),
        pytest.param("exit()", "unscored", id="exit is no skip"),
        pytest.param(False, "skipped", id="yaml false"),
        pytest.param(True, "scored", id="yaml true"),
        pytest.param("", "scored", id="empty"),
        pytest.param("\n(annotations.get('category') ==\n  'navigation')\n", "scored", id="several lines"),
    ],
)
def test_if_skips_the_cases_for_which_it_is_false(tmp_path: Path, condition: str | bool, status: str) -> None:
    case = {**ANSWER, "annotations.yaml": "category: navigation\n"}
    found = only_score(write_suite(tmp_path, [check(condition=condition)], {"case-1": case}))
    assert found.status == status
    if status == "unscored":
        assert found.error is not None
        assert found.error.kind == "raised"
        assert found.error.message.startswith("if: ")


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        pytest.param("annotation.get('x')", "did you mean 'annotations'?", id="unknown name"),
        pytest.param("annotations.get(", "is not a Python expression", id="not an expression"),
        pytest.param("x = 1", "is not a Python expression", id="a statement"),
    ],
)
def test_an_if_that_can_never_hold_is_an_error_at_load(tmp_path: Path, condition: str, names: str) -> None:
    (error,) = errors(write_suite(tmp_path, [check(condition=condition)]))
    assert "judges[0].if: " in error
    assert names in error


def test_a_skipped_case_counts_in_no_rate(tmp_path: Path) -> None:
    cases = {name: {**ANSWER, "annotations.yaml": f"kind: {name[0]}\n"} for name in ("a1", "a2", "b1")}
    judge = check(code="return outputs['case_id'] == 'a1'", condition="annotations['kind'] == 'a'")
    result = judged(write_suite(tmp_path, [judge], cases, thresholds={"ok": {"min_pass_rate": 0.5}}))
    summary = result.summary("ok")
    assert (summary.n, summary.skipped, summary.unscored, summary.value) == (2, 1, 0, 0.5)
    assert result.exit_code == 0


def test_judges_are_shown_in_the_order_of_the_config(tmp_path: Path) -> None:
    names = ["zeta", "alpha", "mid"]
    result = judged(write_suite(tmp_path, [check(name) for name in names]))
    assert [summary.judge for summary in result.judges] == names


def test_a_literal_block_of_a_check_keeps_its_line_numbers(tmp_path: Path) -> None:
    check = "x = 1\n\ny = 2\nraise ValueError\n".replace("\n", "\n      ")
    text = f"dataset: {{path: cases}}\njudges:\n  - name: j\n    check: |\n      {check}\n"
    found = only_score(write_text(tmp_path, text))
    assert found.error is not None
    assert "line 4" in found.error.message


def test_everything_wrong_with_an_agent_is_told_at_once(tmp_path: Path) -> None:
    agent = {"runner": {"type": "cloude", "effort": "huge"}, "sandbox": "strickt", "context": ["gone"], "timeout": 0}
    found = errors(write_suite(tmp_path, [{"name": "j", "feedback_type": "bool", "prompt": "p", "agent": agent}]))
    for key in ("agent.runner.type", "agent.runner.effort", "agent.sandbox", "agent.context[0]", "agent.timeout"):
        assert sum(f"judges[0].{key}: " in error for error in found) == 1


@pytest.mark.parametrize(("written", "meant"), [("off", "off"), ("'off'", "off"), ("strict", "strict")])
def test_a_sandbox_may_be_off_without_quotes(tmp_path: Path, written: str, meant: str) -> None:
    """YAML reads a bare `off` as false."""
    judge = f"- {{name: j, prompt: p, feedback_type: bool, model: m, agent: {{sandbox: {written}}}}}\n"
    config = write_suite(tmp_path, [check()])
    config.write_text(config.read_text().replace("judges:\n", f"judges:\n{judge}"))
    (found,) = [one for one in formats.load(config).judges if isinstance(one, AgentJudge)]
    assert found.sandbox == meant
