"""Section 1.1: what is found in a tests folder, and what is said of what cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.domain import LLMJudge
from tests.support.judge_folders import put
from tests.support.rewardkit import HEAD, error, graded, problems, read, returns

JUDGE = '[judge]\njudge = "openai/gpt-5.2"\n[[criterion]]\ndescription = "Is it good?"\n'
PLAIN = "X = 1\n"


def names(tmp_path: Path, tests: dict[str, str]) -> list[str]:
    return [judge.name for judge in read(tmp_path, tests).judges]


def test_every_python_file_is_executed_whatever_it_is_called(tmp_path: Path) -> None:
    """1.1: conftest.py, test_*.py and helpers too."""
    files = ("conftest.py", "test_it.py", "setup.py", "it_test.py", "__init__.py", ".hidden.py")
    found = read(tmp_path, {name: returns("True") for name in files})
    assert sorted(node.name for node in found.rewards[0].inputs) == [
        ".hidden",
        "__init__",
        "conftest",
        "it_test",
        "setup",
        "test_it",
    ]


@pytest.mark.parametrize(
    ("folder", "found"),
    [
        (".git", False),
        ("__pycache__", False),
        ("__x", False),
        ("_x", True),
        ("x.py", True),
        ("with space", True),
        ("a/b/c/d/e/f/g/h/i/j", True),
        ("a/.b/c", False),
        ("a/__b/c", False),
    ],
)
def test_which_folders_are_entered(tmp_path: Path, folder: str, found: bool) -> None:
    """1.1: those that begin with a dot or two underscores are passed over, at any depth; recursion has no limit."""
    files = {f"{folder}/in.py": returns("True"), f"{folder}/quality.toml": JUDGE}
    suite = read(tmp_path, files)
    assert [(judge.name, type(judge) is LLMJudge) for judge in suite.judges] == (
        [(f"{folder}/quality", True), (f"{folder}/in:c", False)] if found else []
    )


def test_a_link_that_leads_back_ends(tmp_path: Path) -> None:
    tests = put(tmp_path / "tests", {"below/a.py": returns("True")})
    (tests / "below" / "up").symlink_to(tests)
    assert names(tmp_path, {}) == ["below/a:c"]


def test_files_of_a_folder_come_before_those_below_it(tmp_path: Path) -> None:
    """1.1: so that what the root shares can be called below."""
    shared = HEAD + "@criterion(shared=True)\ndef says(ws, word): return word in 'hello'\n"
    files = {"zz.py": shared, "aa/in.py": HEAD + "rk.says('ell')", "aa/deep/er.py": HEAD + "rk.says('x')"}
    assert graded(tmp_path, files).values == {"says:ell": 1.0, "says:x": 0.0}


def test_what_is_shared_below_is_not_there_above(tmp_path: Path) -> None:
    shared = HEAD + "@criterion(shared=True)\ndef says(ws, word): return True\n"
    assert "there is no criterion 'says'" in error(tmp_path, {"a.py": HEAD + "rk.says('x')", "below/b.py": shared})


def test_a_python_file_without_criteria_is_no_input(tmp_path: Path) -> None:
    """1.1: only a file that registers something is scored."""
    found = read(tmp_path, {"helpers.py": PLAIN, "a.py": returns("True")})
    assert [node.name for node in found.rewards[0].inputs] == ["a"]
    assert found.warnings == ()


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"a.py": returns("True"), "a.toml": JUDGE}, id="file and judge"),
        pytest.param({"a.py": returns("True"), "a/b.py": returns("True")}, id="file and folder"),
        pytest.param({"a.toml": JUDGE, "a/b.toml": JUDGE}, id="judge and folder"),
        pytest.param({"x/a.py": returns("True"), "x/a.toml": JUDGE}, id="below"),
    ],
)
def test_two_inputs_of_a_folder_may_not_share_a_name(tmp_path: Path, files: dict[str, str]) -> None:
    """1.1: ambiguous scoring input name."""
    assert "two inputs of this folder are called 'a'" in error(tmp_path, files)


def test_a_name_may_repeat_in_another_folder_and_a_helper_is_no_input(tmp_path: Path) -> None:
    files = {"a.toml": JUDGE, "a/none.py": PLAIN, "b/a.toml": JUDGE, "c/a.py": returns("True")}
    assert names(tmp_path, files) == ["a", "b/a", "c/a:c"]


@pytest.mark.parametrize(
    "text", ["[tool.ruff]\nx = 1", "[project]\nname = 'x'", "", "[case]\n[case.judges_ok]", "a = 1"]
)
def test_other_toml_files_are_passed_over(tmp_path: Path, text: str) -> None:
    """1.1: neither `judge` nor `criterion`, and not called reward.toml."""
    found = read(tmp_path, {"pyproject.toml": text, "a.py": returns("True")})
    assert [judge.name for judge in found.judges] == ["a:c"]
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("text", "at", "hint"),
    [
        ('[judges]\nmodel = "x"', "quality.toml:1:1", "did you mean [judge]?"),
        ('\n[[criteria]]\ndescription = "x"', "quality.toml:2:1", "did you mean [criterion]?"),
        ('[Judge]\njudge = "x"', "quality.toml:1:1", "did you mean [judge]?"),
        ('[jugde]\njudge = "x"', "quality.toml:1:1", "did you mean [judge]?"),
        ("[[rewards]]\nname = 'x'", "quality.toml:1:1", "did you mean [reward]?"),
    ],
)
def test_a_file_that_looks_like_a_judge_is_an_error_with_a_hint(tmp_path: Path, text: str, at: str, hint: str) -> None:
    """11.23: Reward Kit drops such a file without a word."""
    told = error(tmp_path, {"quality.toml": text, "a.py": returns("True")})
    assert told.startswith(at)
    assert hint in told


def test_a_toml_that_cannot_be_read_is_an_error_with_its_place(tmp_path: Path) -> None:
    told = error(tmp_path, {"quality.toml": '[judge]\njudge = "x', "a.py": returns("True")})
    assert told.startswith("quality.toml:2:")
    assert "not valid TOML" in told


def test_a_reward_toml_with_a_judge_is_a_judge(tmp_path: Path) -> None:
    """1.1, 11.24: by its keys, whatever its name; here with a warning."""
    found = read(tmp_path, {"reward.toml": JUDGE})
    assert [judge.name for judge in found.judges] == ["reward"]
    assert "this reward.toml is a judge" in str(found.warnings[0])


@pytest.mark.parametrize("name", ["x.toml", "pyproject.toml", ".toml"])
def test_a_judge_is_known_by_its_keys_whatever_its_name(tmp_path: Path, name: str) -> None:
    """1.1: a top-level `criterion` is enough."""
    assert names(tmp_path, {name: '[[criterion]]\ndescription = "Is it good?"\n'}) == [Path(name).stem]


def test_modules_beside_and_above_can_be_imported(tmp_path: Path) -> None:
    """11.17: Reward Kit puts nothing on the path."""
    files = {
        "top.py": "WORD = 'top'\n",
        "pack/__init__.py": "WORD = 'pack'\n",
        "pack/inner.py": "WORD = 'inner'\n",
        "a/beside.py": "WORD = 'beside'\n",
        "a/check.py": HEAD + "import beside, top, pack\nfrom pack import inner\n"
        "@criterion\ndef c(ws): return [m.WORD for m in (beside, top, pack, inner)] == "
        "['beside', 'top', 'pack', 'inner']\n",
    }
    assert graded(tmp_path, files).values == {"c": 1.0}


def test_a_module_can_be_imported_while_a_criterion_runs(tmp_path: Path) -> None:
    code = HEAD + "@criterion\ndef late(ws):\n    import helper\n    return helper.OK\n"
    assert graded(tmp_path, {"a/b.py": code, "helper.py": "OK = True\n"}).values == {"late": 1.0}


def test_modules_of_the_same_name_in_two_folders_are_two(tmp_path: Path) -> None:
    files = {}
    for folder in "ab":
        files[f"{folder}/helper.py"] = f"WORD = '{folder}'\n"
        files[f"{folder}/check.py"] = (
            HEAD + f"import helper\n@criterion\ndef in_{folder}(ws): return helper.WORD == '{folder}'\n"
        )
    assert graded(tmp_path, files).values == {"in_a": 1.0, "in_b": 1.0}


def test_a_file_that_another_imports_is_executed_once(tmp_path: Path) -> None:
    files = {"a.py": HEAD + "import z\n@criterion\ndef one(ws): return True\n", "z.py": returns("True")}
    assert sorted(names(tmp_path, files)) == ["a:one", "z:c"]


@pytest.mark.parametrize(
    ("code", "line", "why"),
    [
        pytest.param("import no_such_module", 4, "ModuleNotFoundError: No module named 'no_such_module'", id="import"),
        pytest.param("def f(:", 4, "SyntaxError", id="syntax"),
        pytest.param("\n\n1 / 0", 6, "ZeroDivisionError", id="raises"),
        pytest.param("raise SystemExit(0)", 4, "SystemExit", id="exits"),
        pytest.param("import sys; sys.exit()", 4, "SystemExit", id="sys.exit"),
        pytest.param("rk.no_such_criterion()", 4, "there is no criterion 'no_such_criterion'", id="unknown"),
        pytest.param("rk.file_exist('x')", 4, "did you mean 'file_exists'?", id="nearly"),
        pytest.param("rk.file_exists()", 4, "TypeError", id="arguments"),
        pytest.param("@criterion\ndef c(): return 1", 4, "must take the workspace", id="no workspace"),
        pytest.param("rk.file_exists('x', weight=float('nan'))", 4, "must be a finite number", id="weight"),
        pytest.param("rk.run", 4, "adjudge reads and runs them itself", id="not offered"),
    ],
)
def test_a_criteria_file_that_cannot_be_imported_is_an_error_with_its_line(
    tmp_path: Path, code: str, line: int, why: str
) -> None:
    told = error(tmp_path, {"bad.py": HEAD + code, "good.py": returns("True")})
    assert told.startswith(f"bad.py:{line}:1: error: cannot be imported: ")
    assert why in told


def test_a_file_that_has_nothing_to_do_with_criteria_is_passed_over_with_a_warning(tmp_path: Path) -> None:
    found = graded(tmp_path, {"conftest.py": "import no_such_module\n", "a.py": returns("True")})
    assert found.rewards == {"reward": 1.0}
    assert "conftest.py:1:1: warning: cannot be imported" in found.warnings


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    files = {"a.py": HEAD + "1 / 0", "b.py": HEAD + "def f(:", "c.toml": "[judges]", "d/e.toml": "[judge]\nx = 1"}
    told = [Path(problem.file).name for problem in problems(tmp_path, files)]
    assert told[:3] == ["a.py", "b.py", "c.toml"]
    assert set(told[3:]) == {"e.toml"}


def test_a_file_that_ends_the_process_while_it_is_imported_is_told(tmp_path: Path) -> None:
    told = problems(tmp_path, HEAD + "os.kill(os.getpid(), 9)\n")
    assert "while criteria were imported" in str(told[0])


def test_what_is_printed_while_files_are_imported_harms_nothing(tmp_path: Path) -> None:
    code = "import sys\nprint('noise', flush=True)\nprint('more', file=sys.stderr)\nos.write(1, b'raw')\n"
    assert graded(tmp_path, HEAD + code + returns("True")).rewards == {"reward": 1.0}


def test_no_compiled_files_are_left_in_the_tests_folder(tmp_path: Path) -> None:
    graded(tmp_path, {"helper.py": PLAIN, "a.py": HEAD + "import helper\n" + returns("True")})
    assert not list((tmp_path / "tests").rglob("*.pyc"))


def test_files_are_read_in_the_order_of_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1.1: sorted."""
    monkeypatch.setenv("ORDER", str(tmp_path / "order"))
    note = "import rewardkit, os\nwith open(os.environ['ORDER'], 'a') as f: f.write(__file__[-4:-3])\n"
    read(tmp_path, {"c.py": note, "a.py": note, "B.py": note, "a/d.py": note, "0.py": note})
    assert (tmp_path / "order").read_text() == "0Bacd"
