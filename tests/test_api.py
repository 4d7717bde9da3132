"""The public Python API: suites from files and from typed objects, and what comes back."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge import Case, CheckJudge, Criterion, Numeric, Suite, Threshold
from tests.support.configs import check, write_suite
from tests.support.functions import Judges, length, share
from tests.support.llm import environment

CASES = [
    Case(id="vienna", inputs={"ask": "Capital of Austria?"}, outputs={"a.md": "Vienna."}, tags=("short",)),
    Case(id="lagos", inputs={"ask": "Capital of Nigeria?"}, outputs={"a.md": "Lagos, I think."}),
]


def suite(*judges: adjudge.CodeJudge | CheckJudge, **fields: Any) -> Suite:
    return Suite(**{"name": "answers", "cases": CASES, "judges": judges, **fields})


def test_a_config_is_run_by_its_path(tmp_path: Path) -> None:
    config = write_suite(tmp_path, thresholds={"ok": {"min_pass_rate": 1}})
    for path in (config, str(config), tmp_path):
        result = adjudge.run(path)
        assert (result.decision, result.exit_code, result.suite) == ("pass", 0, "suite")


def test_a_suite_is_built_without_any_file() -> None:
    checks = CheckJudge(name="short", code="return len(outputs['files']['a.md']) < 10, 'length'")
    result = adjudge.run(suite(checks, thresholds={"short": Threshold(min_pass_rate=0.5)}))
    assert result.decision == "pass"
    assert result.summary("short").value == 0.5
    assert {score.case: score.value for score in result.scores} == {"vienna": True, "lagos": False}


def test_a_function_is_a_judge() -> None:
    judge = adjudge.code_judge(length, arguments={"at_most": 10})
    assert (judge.name, judge.description) == ("length", "Is the answer short?")
    result = adjudge.run(suite(judge))
    assert result.score("vienna", "length").value is True
    assert result.score("lagos", "length").rationale == "15 characters"


def test_a_function_may_have_a_scale_and_a_name() -> None:
    result = adjudge.run(suite(adjudge.code_judge(share, name="size", scale=Numeric(0, 1))))
    assert result.score("vienna", "size").value == 0.7
    error = result.score("lagos", "size").error
    assert error is not None
    assert error.kind == "off_scale"


def test_a_static_method_is_found_by_its_qualified_name() -> None:
    result = adjudge.run(suite(adjudge.code_judge(Judges.nested)))
    assert result.summary("nested").value == 1.0


def _local() -> Callable[..., Any]:
    def inner(outputs: dict[str, Any]) -> bool:
        return True

    return inner


@pytest.mark.parametrize(
    "function", [lambda outputs: True, _local(), len, Judges, 5], ids=["lambda", "inner", "builtin", "class", "number"]
)
def test_a_function_that_no_worker_could_find_again_is_refused(function: Any) -> None:
    with pytest.raises(adjudge.ConfigError, match="top level of a file"):
        adjudge.code_judge(function)


def test_a_function_of_a_script_is_found_again(tmp_path: Path) -> None:
    """In a script the module is `__main__`, and the file must not run twice."""
    script = tmp_path / "my_eval.py"
    script.write_text(
        "import adjudge\n\n"
        "def polite(outputs):\n    return 'please' in outputs['files']['a.md'], 'looked'\n\n"
        "if __name__ == '__main__':\n"
        "    case = adjudge.Case(id='a', outputs={'a.md': 'please'})\n"
        "    suite = adjudge.Suite(name='s', cases=[case], judges=(adjudge.code_judge(polite),))\n"
        "    print(adjudge.run(suite).summary('polite').value)\n"
    )
    done = subprocess.run(
        [sys.executable, script], check=False, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True
    )
    assert done.stdout == "1.0\n", done.stderr


@pytest.mark.parametrize("folder", [".", "evals"], ids=["from its folder", "from above"])
def test_a_function_of_a_script_may_use_what_lies_beside_the_script(tmp_path: Path, folder: str) -> None:
    """Python finds `helper` because the script lies beside it; so must the worker."""
    script = tmp_path / "evals" / "my_eval.py"
    script.parent.mkdir()
    (tmp_path / "evals" / "helper.py").write_text("WORD = 'please'\n")
    script.write_text(
        "import adjudge\nfrom helper import WORD\n\n"
        "def polite(outputs):\n    return WORD in outputs['files']['a.md'], 'looked'\n\n"
        "if __name__ == '__main__':\n"
        "    case = adjudge.Case(id='a', outputs={'a.md': 'please'})\n"
        "    suite = adjudge.Suite(name='s', cases=[case], judges=(adjudge.code_judge(polite),))\n"
        "    result = adjudge.run(suite)\n"
        "    print(result.score('a', 'polite').error or result.summary('polite').value)\n"
    )
    cwd = tmp_path / "evals" if folder == "." else tmp_path
    done = subprocess.run(
        [sys.executable, script], check=False, cwd=cwd, env=environment(tmp_path), capture_output=True, text=True
    )
    assert done.stdout == "1.0\n", done.stderr


def test_run_async_runs_inside_an_event_loop() -> None:
    async def both() -> Sequence[adjudge.RunResult]:
        return await asyncio.gather(
            adjudge.run_async(suite(adjudge.code_judge(length)), output="one"),
            adjudge.run_async(suite(adjudge.code_judge(length)), output="two"),
        )

    assert [result.decision for result in asyncio.run(both())] == ["pass", "pass"]


def test_a_run_is_read_again_from_its_directory() -> None:
    result = adjudge.run(suite(adjudge.code_judge(length)), output="run")
    assert adjudge.read("run") == result
    assert {path.name for path in Path("run").iterdir()} >= {"journal.db", "result.json", "summary.md", "junit.xml"}


def test_what_is_no_run_directory_is_a_store_error() -> None:
    with pytest.raises(adjudge.StoreError, match="is no run directory"):
        adjudge.read("nowhere")


@pytest.mark.parametrize(
    ("options", "cases"),
    [
        ({"cases": ["lagos"]}, ["lagos"]),
        ({"tags": ["short"]}, ["vienna"]),
        ({"cases": ("lagos", "vienna")}, ["vienna", "lagos"]),
        ({}, ["vienna", "lagos"]),
    ],
    ids=["case", "tag", "order of the suite", "all"],
)
def test_options_are_those_of_the_command(options: dict[str, Any], cases: list[str]) -> None:
    result = adjudge.run(suite(adjudge.code_judge(length)), **options)
    assert [case.id for case in result.cases] == cases


def test_an_option_that_does_not_exist_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="outptu"):
        adjudge.run(suite(adjudge.code_judge(length)), outptu="run")


def test_every_problem_of_a_config_is_in_the_exception(tmp_path: Path) -> None:
    config = write_suite(tmp_path, [check("a", "return ("), check("a")], thresholds={"b": {}})
    with pytest.raises(adjudge.ConfigError) as caught:
        adjudge.load(config)
    assert [problem.line > 0 for problem in caught.value.problems] == [True] * 3
    assert all(str(problem) in str(caught.value) for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"judges": (CheckJudge(name="a", code="pass"), CheckJudge(name="a", code="pass"))}, "'a'"),
        ({"cases": [CASES[0], CASES[0]]}, "'vienna'"),
        ({"cases": []}, "no cases"),
        ({"thresholds": {"b": Threshold()}}, "'b'"),
        ({"name": "a/b"}, "'a/b'"),
    ],
    ids=["judge twice", "case twice", "no cases", "unknown threshold", "name"],
)
def test_a_suite_of_objects_is_checked_before_it_runs(fields: dict[str, Any], names: str) -> None:
    built = suite(**{"judges": (CheckJudge(name="a", code="return True"),), **fields})
    with pytest.raises(adjudge.ConfigError, match=names):
        adjudge.run(built, output="run")
    assert not Path("run").exists()


def test_a_suite_without_judges_is_no_pass() -> None:
    try:
        result = adjudge.run(suite())
    except adjudge.ConfigError:
        return
    assert result.decision == "inconclusive"


def test_a_check_with_a_criterion_of_its_own_scale() -> None:
    judge = CheckJudge(name="n", code="return 3, ''", criteria=(Criterion(name="n", scale=Numeric(0, 2)),))
    assert adjudge.run(suite(judge)).summary("n").unscored_kinds == {"off_scale": 2}


def test_every_public_name_is_there() -> None:
    assert all(getattr(adjudge, name) is not None for name in adjudge.__all__)
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = adjudge.nothing_here


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert adjudge.__version__ == version("adjudge")
