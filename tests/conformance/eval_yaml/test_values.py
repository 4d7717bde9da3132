"""What a judge in code may return, and what becomes of everything else: unscored, with a kind, and never a number."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.domain import RunResult, Score
from tests.support.configs import ANSWER, check, hurried, judged, only_score, write_suite, write_text

NUMPY = pytest.mark.skipif(importlib.util.find_spec("numpy") is None, reason="numpy is not installed")

SCORED: dict[str, tuple[str, list[float] | None, object]] = {
    "true": ("return True, ''", None, True),
    "false": ("return False, ''", None, False),
    "zero": ("return 0, ''", None, 0),
    "negative": ("return -2.5, ''", None, -2.5),
    "any number without a range": ("return 1e9, ''", None, 1e9),
    "lower bound": ("return 0, ''", [0, 2], 0),
    "upper bound": ("return 2, ''", [0, 2], 2),
    "negative bounds": ("return -1, ''", [-1, 1], -1),
    "fractional bound": ("return 2.5, ''", [0, 2.5], 2.5),
    "a deterministic value is never rounded": ("return 0.5, ''", [0, 2], 0.5),
    "whole as a float": ("return 2.0, ''", [1, 5], 2.0),
}


@pytest.mark.parametrize("name", SCORED)
def test_booleans_and_finite_numbers_on_the_scale_are_kept_as_they_are(outcomes: dict[str, Score], name: str) -> None:
    expected = SCORED[name][2]
    found = outcomes[name]
    assert found.error is None
    assert (type(found.value), found.value) == (type(expected), expected)


UNSCORED: dict[str, tuple[str, list[float] | None, str, str]] = {
    "nan": ("return float('nan'), ''", None, "wrong_type", "nan"),
    "infinity": ("return float('inf'), ''", None, "wrong_type", "inf"),
    "minus infinity": ("return float('-inf'), ''", None, "wrong_type", "-inf"),
    "larger than any float": ("return 10 ** 400, ''", None, "wrong_type", "1000"),
    "nan on a scale": ("return float('nan'), ''", [0, 2], "off_scale", "nan"),
    "infinity on a scale": ("return float('inf'), ''", [0, 2], "off_scale", "inf"),
    "a boolean where a range wants a number": ("return True, ''", [0, 2], "off_scale", "True"),
    "false where a range wants a number": ("return False, ''", [0, 2], "off_scale", "False"),
    "above the scale": ("return 4, ''", [0, 2], "off_scale", "[0, 2]"),
    "below the scale": ("return -1, ''", [0, 2], "off_scale", "[0, 2]"),
    "just above": ("return 2.0000001, ''", [0, 2], "off_scale", "[0, 2]"),
    "text on a scale": ("return '1', ''", [0, 2], "off_scale", "'1'"),
    "nothing": ("pass", None, "wrong_type", "None"),
    "none with a rationale": ("return None, 'no idea'", None, "wrong_type", "None"),
    "text": ("return 'true', ''", None, "wrong_type", "'true'"),
    "list pair": ("return [True, 'fine']", None, "wrong_type", "[True"),
    "mapping": ("return {'value': True}", None, "wrong_type", "{'value'"),
    "three of them": ("return True, 'fine', 1", None, "wrong_type", "(True"),
    "empty tuple": ("return ()", None, "wrong_type", "()"),
    "a tuple as the value": ("return (True, 'x'), 'y'", None, "wrong_type", "(True"),
    "decimal": ("from decimal import Decimal\nreturn Decimal('0.5'), ''", None, "wrong_type", "Decimal"),
    "complex": ("return 1j, ''", None, "wrong_type", "1j"),
    "bytes": ("return b'1', ''", None, "wrong_type", "b'1'"),
    "generator": ("yield True, 'fine'", None, "wrong_type", "generator"),
    "object with nan": (
        "from types import SimpleNamespace\nreturn SimpleNamespace(value=float('nan'))",
        None,
        "wrong_type",
        "nan",
    ),
    "exception": ("raise ValueError('no such luck')", None, "raised", "ValueError: no such luck"),
    "key error": ("return outputs['files']['gone'], ''", None, "raised", "KeyError: 'gone'"),
    "failed assertion": ("assert 1 == 2, 'unequal'", None, "raised", "AssertionError: unequal"),
    "unknown name": ("return nowhere", None, "raised", "NameError"),
    "generator exit": ("raise GeneratorExit", None, "raised", "GeneratorExit"),
    "exception whose text raises": (
        "class Odd(Exception):\n  def __str__(self): raise RuntimeError\nraise Odd",
        None,
        "raised",
        "Odd",
    ),
    "value whose repr raises": (
        "class Odd:\n  def __repr__(self): raise RuntimeError\nreturn Odd(), ''",
        None,
        "wrong_type",
        "Odd",
    ),
    "value property that raises": (
        "class Odd:\n  @property\n  def value(self): raise RuntimeError('lazy')\nreturn Odd()",
        None,
        "raised",
        "lazy",
    ),
}


@pytest.mark.parametrize("name", UNSCORED)
def test_anything_else_is_unscored_with_its_kind_and_what_was_returned(outcomes: dict[str, Score], name: str) -> None:
    _, _, kind, mentions = UNSCORED[name]
    found = outcomes[name]
    assert found.status == "unscored"
    assert found.value is None
    assert found.error is not None
    assert found.error.kind == kind
    assert mentions in found.error.message


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Score]:
    """Every judge of the two tables on one case, in one run."""
    folder = tmp_path_factory.mktemp("values")
    tables = {name: (code, span) for name, (code, span, _) in SCORED.items()}
    tables |= {name: (code, span) for name, (code, span, _, _) in UNSCORED.items()}
    judges = [check(name, code, score_range=span or ...) for name, (code, span) in tables.items()]
    result = judged(write_suite(folder, judges), output=folder / "run")
    return {score.judge: score for score in result.scores}


def test_an_off_scale_message_names_the_value_and_the_range(tmp_path: Path) -> None:
    found = only_score(write_suite(tmp_path, [check("quality", "return 4, 'great'", score_range=[0, 2])]))
    assert found.error is not None
    assert "4" in found.error.message
    assert "[0, 2]" in found.error.message
    assert found.rationale == "great"


WILD: dict[str, tuple[str, str]] = {
    "sys.exit": ("import sys\nsys.exit(0)", "crashed"),
    "os._exit": ("import os\nos._exit(0)", "crashed"),
    "segfault": ("import ctypes\nctypes.string_at(0)", "crashed"),
    "endless loop": ("while True: pass", "timeout"),
    "2 GB of print": ("for _ in range(2000): print('x' * 1_000_000)", "output_limit"),
    "swallowed exceptions": (
        "try:\n  for _ in range(2000): print('x' * 1_000_000)\nexcept Exception: pass\nreturn True, ''",
        "output_limit",
    ),
    "keyboard interrupt": ("raise KeyboardInterrupt", "raised"),
}


@pytest.fixture(scope="module")
def wild(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """Every wild judge between two tame ones."""
    folder = tmp_path_factory.mktemp("wild")
    judges = [check("before"), *(check(name, code) for name, (code, _) in WILD.items()), check("after")]
    suite = adjudge.load(write_suite(folder, judges))
    return judged(hurried(suite, 1.0), output=folder / "run")


@pytest.mark.parametrize("name", WILD)
def test_what_a_judge_does_to_its_process_is_one_unscored_verdict(wild: RunResult, name: str) -> None:
    error = wild.score("case-1", name).error
    assert error is not None
    assert error.kind == WILD[name][1]


def test_a_wild_judge_leaves_the_others_alone_and_is_no_pass(wild: RunResult) -> None:
    assert wild.score("case-1", "before").value is True
    assert wild.score("case-1", "after").value is True
    assert wild.decision == "broken"
    assert wild.exit_code == 4


def test_a_judge_that_changes_the_record_changes_its_own_copy(tmp_path: Path) -> None:
    vandal = """
        outputs["files"].clear()
        outputs["annotations"]["tags"].append("seen")
        outputs["inputs"] = "something else"
        arguments["limit"] = 99
        return True, "done"
    """
    witness = """
        return (
            list(outputs["files"]) == ["output/answer.md"]
            and outputs["annotations"] == {"tags": ["a"]}
            and outputs["inputs"] == "**request**: say it"
            and arguments == {"limit": 1}
        ), repr(outputs["annotations"])
    """
    case = {**ANSWER, "annotations.yaml": "tags: [a]\n"}
    judges = [check("vandal", vandal, arguments={"limit": 1}), check("witness", witness, arguments={"limit": 1})]
    result = judged(write_suite(tmp_path, judges, {"case-1": case, "case-2": case}))
    assert result.summary("witness").value == 1.0


@pytest.mark.parametrize(
    ("vandal", "witness"),
    [
        ("import os\nos.chdir('/')", "import os\nreturn os.getcwd() == arguments['root'], os.getcwd()"),
        ("import os\nos.environ['MARK'] = '1'", "import os\nreturn 'MARK' not in os.environ, ''"),
        ("import os\ndel os.environ['HOME']", "import os\nreturn 'HOME' in os.environ, ''"),
    ],
    ids=["folder", "variable set", "variable removed"],
)
def test_a_judge_runs_in_the_project_root_whatever_another_did(tmp_path: Path, vandal: str, witness: str) -> None:
    """As many a check does that wants to run something beside the outputs."""
    seen = check("witness", witness, arguments={"root": str(tmp_path)})
    result = judged(write_suite(tmp_path / "suite", [check("vandal", f"{vandal}\nreturn True"), seen], ["a", "b"]))
    assert result.summary("witness").value == 1.0


def test_what_a_judge_prints_is_kept_beside_its_verdict(tmp_path: Path) -> None:
    code = "import sys\nprint('seen', 3)\nprint('odd', file=sys.stderr)\nreturn True, 'fine'"
    found = only_score(write_suite(tmp_path, [check(code=code)]))
    assert (found.value, found.printed) == (True, "seen 3\nodd\n")


def test_what_a_judge_prints_before_it_raises_is_kept(tmp_path: Path) -> None:
    found = only_score(write_suite(tmp_path, [check(code="print('got here')\nraise ValueError")]))
    assert found.printed == "got here\n"


@pytest.mark.parametrize(
    ("rationale", "kept"),
    [
        pytest.param("'ünïcode \\u65e5'", "ünïcode 日", id="any letters"),
        pytest.param("'a \"quoted\" word'", 'a "quoted" word', id="quotes"),
        pytest.param("None", "None", id="none"),
        pytest.param("['a', 1]", "['a', 1]", id="a list"),
        pytest.param("'half a \\ud83d character'", "half a ? character", id="lone surrogate"),
        pytest.param("'x' * 300", "x" * 300, id="longer than 200 characters"),
    ],
)
def test_a_rationale_is_kept_whole_and_as_text(tmp_path: Path, rationale: str, kept: str) -> None:
    assert only_score(write_suite(tmp_path, [check(code=f"return True, {rationale}")])).rationale == kept


def test_an_enormous_rationale_is_cut_with_a_mark(tmp_path: Path) -> None:
    found = only_score(write_suite(tmp_path, [check(code="return True, 'x' * 5_000_000")]))
    assert found.value is True
    assert len(found.rationale) < 30_000
    assert "cut" in found.rationale


@NUMPY
@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("np.float64(0.5)", 0.5),
        ("np.float32(0.5)", 0.5),
        ("np.int64(3)", 3),
        ("np.bool_(True)", True),
        ("np.mean([1, 2])", 1.5),
    ],
)
def test_numpy_scalars_are_the_numbers_they_stand_for(tmp_path: Path, code: str, value: object) -> None:
    found = only_score(write_suite(tmp_path, [check(code=f"import numpy as np\nreturn {code}, ''")]))
    assert (type(found.value), found.value) == (type(value), value)


@NUMPY
def test_a_numpy_nan_is_unscored(tmp_path: Path) -> None:
    found = only_score(write_suite(tmp_path, [check(code="import numpy as np\nreturn np.nan, ''")]))
    assert found.status == "unscored"


@pytest.mark.parametrize("feedback_type", ["bool", "int", "float"])
def test_feedback_type_does_not_change_what_a_check_returns(tmp_path: Path, feedback_type: str) -> None:
    found = only_score(write_suite(tmp_path, [check(code="return 2.5, ''", feedback_type=feedback_type)]))
    assert found.value == 2.5


def aggregate(tmp_path: Path, values: list[str]) -> tuple[str | None, float | None, int, int]:
    """(metric, value, n, unscored) of a judge that returns these values, one a case."""
    cases: dict[str, Any] = {f"case-{k}": {**ANSWER, "input.yaml": f"k: {k}\n"} for k in range(len(values))}
    code = f"return [{', '.join(f'lambda: {value}' for value in values)}][outputs['input']['k']](), ''"
    summary = judged(write_suite(tmp_path, [check(code=code)], cases)).summary("ok")
    return summary.metric, summary.value, summary.n, summary.unscored


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param(["True", "True", "False"], ("pass_rate", 2 / 3, 3, 0), id="booleans"),
        pytest.param(["1", "2.5"], ("mean", 1.75, 2, 0), id="numbers"),
        pytest.param(["True", "3"], (None, None, 2, 0), id="a mix has neither"),
        pytest.param(["1", "0", "True"], (None, None, 3, 0), id="a boolean is no number"),
        pytest.param(["True", "None"], ("pass_rate", 1.0, 1, 1), id="nothing is no value"),
        pytest.param(["5", "float('nan')"], ("mean", 5.0, 1, 1), id="nan poisons no mean"),
        pytest.param(["5", "1 / 0"], ("mean", 5.0, 1, 1), id="an error is no zero"),
        pytest.param(["1 / 0"], (None, None, 0, 1), id="errors alone"),
    ],
)
def test_booleans_have_a_rate_and_numbers_a_mean(
    tmp_path: Path, values: list[str], expected: tuple[str | None, float | None, int, int]
) -> None:
    metric, value, n, unscored = aggregate(tmp_path, values)
    assert (metric, n, unscored) == (expected[0], *expected[2:])
    assert value == pytest.approx(expected[1])


def test_a_check_that_does_not_compile_fails_at_load_with_its_line(tmp_path: Path) -> None:
    text = "dataset: {path: cases}\njudges:\n  - name: j\n    check: |\n      x = 1\n      return (\n"
    with pytest.raises(adjudge.ConfigError, match=r"eval\.yaml:4:5: error: judges\[0\]\.check: line 2 of the check"):
        adjudge.load(write_text(tmp_path, text))
