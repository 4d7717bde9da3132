"""The `reward` of an eval.yaml: every form of it, what it does without a value, and what keeps it from loading."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import RewardScore, RunResult
from tests.conformance.eval_yaml.test_pairwise import both, pairwise, saying
from tests.support.configs import asked, check, errors, judged, llm, warnings, write_suite
from tests.support.provider import LoopbackProvider
from tests.support.replies import Verdict

FIVE = [1, 5]


def returns(name: str, value: str, **keys: Any) -> dict[str, Any]:
    """A check that returns this Python value."""
    return check(name, f"return {value}, ''", **keys)


def rewarded(tmp_path: Path, reward: dict[str, Any], *judges: dict[str, Any], **options: Any) -> RewardScore:
    return reward_of(judged(write_suite(tmp_path, judges, reward=reward), **options))


def reward_of(result: RunResult) -> RewardScore:
    ((reward,),) = [entry.rewards for entry in result.rewards]
    return reward


YES, NO, LOST, SKIPPED = (
    returns("yes", "True"),
    returns("no", "False"),
    returns("lost", "1 / 0"),
    returns("gone", "1", condition="False"),
)
THREE = returns("three", "3", score_range=FIVE)
TWO = returns("two", "2", score_range=[0, 2])
FREE = returns("free", "4")
HALF = returns("half", "0.5")


@pytest.mark.parametrize(
    ("reward", "judges", "expected"),
    [
        pytest.param({"judge": "half"}, [HALF], 0.5, id="judge as it is"),
        pytest.param({"judge": "three"}, [THREE], 1.0, id="judge is cut"),
        pytest.param({"judge": "low"}, [returns("low", "-3")], 0.0, id="judge is cut below"),
        pytest.param({"judge": "three", "normalize": True}, [THREE], 0.5, id="judge by its range"),
        pytest.param({"judge": "free", "normalize": True}, [FREE], 0.75, id="judge by 1 to 5"),
        pytest.param({"judge": "free", "normalize": True, "score_range": [0, 10]}, [FREE], 0.4, id="judge by reward's"),
        pytest.param({"judge": "yes"}, [YES], 1.0, id="judge says true"),
        pytest.param({"judge": "no"}, [NO], 0.0, id="judge says false"),
        pytest.param({"judge": "half"}, [HALF, NO], 0.5, id="judge has no gate"),
        pytest.param({"judge": "half", "gate": True}, [HALF, NO], 0.0, id="judge with a gate"),
        pytest.param({"judge": "half"}, [HALF, LOST], 0.5, id="judge needs no other"),
        pytest.param({"weights": {"three": 1, "two": 3}}, [THREE, TWO], 0.875, id="weighted"),
        pytest.param({"formula": "weighted", "weights": {"three": 1}}, [THREE, TWO], 0.5, id="weighted by one"),
        pytest.param({"weights": {"three": 1, "yes": 1}}, [THREE, YES], 0.75, id="weighted boolean"),
        pytest.param({"weights": {"three": 1}}, [THREE, NO], 0.0, id="any false closes the gate"),
        pytest.param({"weights": {"three": 1, "no": 1}, "gate": False}, [THREE, NO], 0.25, id="weighted, no gate"),
        pytest.param({"weights": {"three": 1, "gone": 9}}, [THREE, SKIPPED], 0.5, id="skipped is left out"),
        pytest.param({"weights": {"free": 1}}, [FREE], 0.75, id="1 to 5 for who declares none"),
        pytest.param({"weights": {"free": 1}, "score_range": [0, 8]}, [FREE], 0.5, id="reward's range"),
        pytest.param(
            {"weights": {"two": 1, "free": 1}, "score_range": [0, 8]}, [TWO, FREE], 0.75, id="the own range wins"
        ),
        pytest.param({"weights": {"half": 1}, "raw": ["half"]}, [HALF], 0.5, id="raw"),
        pytest.param({"weights": {"free": 1}, "raw": ["free"]}, [FREE], 1.0, id="raw is cut"),
        pytest.param({"weights": {"three": 1}, "raw": ["three"]}, [THREE], 1.0, id="raw has no range"),
        pytest.param({"formula": "three * two"}, [THREE, TWO], 0.5, id="expression"),
        pytest.param({"formula": "x = three\nx + x / 2"}, [THREE], 0.75, id="expression in steps"),
        pytest.param({"formula": "three * 9"}, [THREE], 1.0, id="expression is cut"),
        pytest.param({"formula": "three - 9"}, [THREE], 0.0, id="expression is cut below"),
        pytest.param({"formula": "three > 0.4"}, [THREE], 1.0, id="expression that compares"),
        pytest.param({"formula": "three"}, [THREE, NO], 0.0, id="expression has a gate"),
        pytest.param({"formula": "three", "gate": False}, [THREE, NO], 0.5, id="expression without a gate"),
        pytest.param({"formula": "no + three", "gate": False}, [THREE, NO], 0.5, id="expression over a boolean"),
        pytest.param(
            {"formula": 'judge("my-judge") / 2'}, [returns("my-judge", "5", score_range=FIVE)], 0.5, id="by judge()"
        ),
        pytest.param({"formula": "my_judge / 2"}, [returns("my-judge", "5", score_range=FIVE)], 0.5, id="by a_b"),
        pytest.param({"formula": "default"}, [THREE, TWO, YES], 0.75, id="default is the mean of numbers"),
        pytest.param({"formula": "default"}, [THREE, NO], 0.0, id="default with a false"),
        pytest.param({"formula": "default", "gate": False}, [THREE, NO], 0.0, id="default is 0 whatever the gate"),
        pytest.param({"formula": "default"}, [YES], 1.0, id="default of booleans"),
        pytest.param({"formula": "default"}, [YES, SKIPPED], 1.0, id="default without what is skipped"),
    ],
)
def test_a_reward_composes_what_the_judges_said(
    tmp_path: Path, reward: dict[str, Any], judges: list[dict[str, Any]], expected: float
) -> None:
    assert rewarded(tmp_path, reward, *judges).score == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("reward", "judges", "expected"),
    [
        pytest.param({"judge": "lost"}, [LOST], None, id="judge"),
        pytest.param({"judge": "lost", "unscored": "zero"}, [LOST], 0.0, id="judge as zero"),
        pytest.param({"judge": "lost", "unscored": "drop"}, [LOST], None, id="judge cannot be dropped"),
        pytest.param({"judge": "gone"}, [SKIPPED, YES], None, id="judge that is skipped"),
        pytest.param({"weights": {"lost": 9, "two": 1}}, [LOST, TWO], None, id="weighted"),
        pytest.param({"weights": {"lost": 1, "two": 1}, "unscored": "zero"}, [LOST, TWO], 0.5, id="weighted as zero"),
        pytest.param({"weights": {"lost": 1, "three": 1}, "unscored": "drop"}, [LOST, THREE], 0.5, id="weighted drop"),
        pytest.param({"weights": {"lost": 1}, "unscored": "drop"}, [LOST, TWO], None, id="nothing is left"),
        pytest.param({"weights": {"two": 1}}, [LOST, TWO], None, id="a gate that is not known"),
        pytest.param({"weights": {"two": 1}, "gate": False}, [LOST, TWO], 1.0, id="not needed without a gate"),
        pytest.param({"weights": {"two": 1}}, [LOST, NO, TWO], 0.0, id="a false is known to close the gate"),
        pytest.param({"formula": "lost + two"}, [LOST, TWO], None, id="expression"),
        pytest.param({"formula": "lost + two / 2", "unscored": "zero"}, [LOST, TWO], 0.5, id="expression as zero"),
        pytest.param({"formula": "lost + two", "unscored": "drop"}, [LOST, TWO], None, id="expression names it"),
        pytest.param({"formula": "gone + two"}, [SKIPPED, TWO], None, id="expression over what is skipped"),
        pytest.param({"formula": "two / (two - two)"}, [TWO], None, id="expression that divides by zero"),
        pytest.param({"formula": "default"}, [LOST], None, id="default, all lost"),
        pytest.param({"formula": "default", "unscored": "zero"}, [LOST], 0.0, id="default, all lost, as zero"),
        pytest.param({"formula": "default", "unscored": "drop"}, [LOST], None, id="default, all lost, dropped"),
        pytest.param({"formula": "default"}, [LOST, YES], None, id="default, one lost"),
        pytest.param({"formula": "default", "unscored": "zero"}, [LOST, TWO], 0.5, id="default, one as zero"),
        pytest.param({"formula": "default"}, [SKIPPED], None, id="default, all skipped"),
    ],
)
def test_a_judge_without_a_value_never_makes_a_reward_better(
    tmp_path: Path, reward: dict[str, Any], judges: list[dict[str, Any]], expected: float | None
) -> None:
    found = rewarded(tmp_path, reward, *judges)
    assert found.score == expected
    assert bool(found.failure) == (expected is None)
    if "unscored" in reward and expected is not None:
        assert "lost: " in " ".join(found.warnings)


@pytest.mark.parametrize(
    "reward", [{"judge": "odd"}, {"weights": {"odd": 1}}, {"formula": "odd"}, {"formula": "default"}]
)
@pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "1e999 - 1e999"])
def test_no_value_that_is_no_number_becomes_a_reward(tmp_path: Path, reward: dict[str, Any], value: str) -> None:
    assert rewarded(tmp_path, reward, returns("odd", value)).score is None


@pytest.mark.parametrize(
    ("reward", "judge"),
    [
        ({"weights": {"big": 1.7e308, "half": 1.7e308}, "raw": ["half"]}, returns("big", "5", score_range=FIVE)),
        ({"weights": {"big": 1}}, returns("big", "1e308", score_range=[-1e308, 1e308])),
    ],
    ids=["weights", "range"],
)
def test_the_largest_numbers_there_are_make_a_reward_from_0_to_1(
    tmp_path: Path, reward: dict[str, Any], judge: dict[str, Any]
) -> None:
    score = rewarded(tmp_path, reward, judge, HALF).score
    assert score is not None
    assert math.isfinite(score)
    assert score == pytest.approx(0.75 if "half" in reward.get("weights", {}) else 1.0)


def test_what_closed_the_gate_is_named(tmp_path: Path) -> None:
    assert rewarded(tmp_path, {"formula": "default"}, YES, NO).gated == "no"


@pytest.mark.parametrize(
    ("answers", "expected"), [(("A", "B"), 1.0), (("B", "A"), 0.0), (("A", "A"), 0.5), (("A", "wrong"), None)]
)
@pytest.mark.parametrize("form", [{"judge": "pairwise"}, {"weights": {"pairwise": 1}}, {"formula": "pairwise"}])
def test_a_comparison_is_a_part_like_any_other(
    tmp_path: Path, form: dict[str, Any], answers: tuple[str, str], expected: float | None
) -> None:
    config, baseline = both(tmp_path, judges=[pairwise(), TWO], reward=form)
    with LoopbackProvider(saying({"case-1": answers})) as provider:
        result = asked(config, provider, baseline=baseline)
    assert reward_of(result).score == expected


def test_a_comparison_without_a_winner_is_not_left_out_of_the_weights(tmp_path: Path) -> None:
    config, baseline = both(tmp_path, judges=[pairwise(), TWO], reward={"weights": {"pairwise": 9, "two": 1}})
    with LoopbackProvider(saying({"case-1": ("A", "wrong")})) as provider:
        found = reward_of(asked(config, provider, baseline=baseline))
    assert found.score is None
    assert "pairwise" in found.failure


@pytest.mark.parametrize("form", [{"judge": "good"}, {"weights": {"good": 9, "two": 1}}, {"formula": "good + two"}])
def test_a_judge_that_is_left_out_leaves_no_reward(tmp_path: Path, form: dict[str, Any]) -> None:
    found = rewarded(tmp_path, form, llm("good"), TWO, no_llm=True)
    assert found.score is None
    assert "good" in found.failure


@pytest.mark.parametrize("form", [{"judge": "good"}, {"weights": {"good": 1}}, {"formula": "good"}])
def test_a_panel_is_one_judge_of_the_reward(tmp_path: Path, form: dict[str, Any]) -> None:
    panel = llm("good", score_range=[0, 4], model=["claude-sonnet-5-5", "claude-opus-5"])
    config = write_suite(tmp_path, [panel], reward={**form, **({"normalize": True} if "judge" in form else {})})
    with LoopbackProvider(lambda _: Verdict({"rationale": "", "score": 3})) as provider:
        assert reward_of(asked(config, provider)).score == 0.75


def test_every_case_has_a_reward_of_its_own(tmp_path: Path) -> None:
    judge = check("size", "return outputs['input']['k'], ''", score_range=[0, 4])
    cases = {f"case-{k}": {"input.yaml": f"k: {k}\n", "output/a.md": "a"} for k in range(3)}
    result = judged(write_suite(tmp_path, [judge], cases, reward={"weights": {"size": 1}}))
    assert [(entry.case, entry.rewards[0].score) for entry in result.rewards] == [
        ("case-0", 0.0),
        ("case-1", 0.25),
        ("case-2", 0.5),
    ]


def test_without_a_reward_block_there_is_none(tmp_path: Path) -> None:
    assert judged(write_suite(tmp_path, [YES])).rewards == ()
    assert not (tmp_path / "run" / "reward.json").exists()


def test_a_reward_decides_nothing_at_the_gate(tmp_path: Path) -> None:
    result = judged(write_suite(tmp_path, [NO], reward={"formula": "default"}))
    assert (reward_of(result).score, result.decision) == (0.0, "pass")


def test_the_files_hold_the_reward_and_every_number(tmp_path: Path) -> None:
    rewarded(tmp_path, {"formula": "three"}, THREE, YES, SKIPPED)
    for folder in (tmp_path / "run", tmp_path / "run" / "cases" / "case-1"):
        assert json.loads((folder / "reward.json").read_text()) == {"three": 3.0, "yes": 1.0, "reward": 0.5}
        assert (folder / "reward.txt").read_text() == "0.5\n"
        told = json.loads((folder / "judges.json").read_text())
        assert told["reward"] == 0.5
        assert told["per_judge"]["three"] == {"value": 3, "judge_type": "check"}


def test_a_case_without_a_reward_has_no_file_that_says_one(tmp_path: Path) -> None:
    config = write_suite(tmp_path, [THREE], reward={"weights": {"three": 1}})
    judged(config)
    assert (tmp_path / "run" / "reward.txt").exists()
    config = write_suite(tmp_path, [LOST], reward={"weights": {"lost": 1}})
    judged(config, fresh=True)
    for folder in (tmp_path / "run", tmp_path / "run" / "cases" / "case-1"):
        assert not (folder / "reward.json").exists()
        assert not (folder / "reward.txt").exists()
        told = json.loads((folder / "judges.json").read_text())
        assert told["reward"] is None
        assert "lost: " in told["failure"]


@pytest.mark.parametrize(
    ("reward", "where", "why"),
    [
        ({"judge": "lots"}, "reward.judge", "there is no judge 'lots'"),
        ({"judge": "three", "formula": "default"}, "reward.formula", "cannot go with judge"),
        ({"judge": "three", "weights": {"three": 1}}, "reward.weights", "cannot go with judge"),
        ({"judge": "three", "raw": ["three"]}, "reward.raw", "cannot go with judge"),
        ({"weights": {"thre": 1}}, "reward.weights.thre", "there is no judge 'thre'"),
        ({"weights": {"three": -1}}, "reward.weights.three", "must be 0 or more"),
        ({"weights": {"three": math.inf}}, "reward.weights.three", ""),
        ({"weights": {"three": math.nan}}, "reward.weights.three", ""),
        ({"weights": {"three": 10**400}}, "reward.weights.three", ""),
        ({"weights": {"three": "1"}}, "reward.weights.three", "expected a number"),
        ({"weights": {"three": [1]}}, "reward.weights.three", "expected a number"),
        ({"weights": {"three": 0}}, "reward", "needs weights"),
        ({"weights": {}}, "reward", "needs weights"),
        ({}, "reward", "needs weights"),
        ({"formula": "weighted"}, "reward", "needs weights"),
        ({"formula": "default", "raw": ["tree"]}, "reward.raw.tree", "there is no judge 'tree'"),
        ({"formula": "default", "score_range": [5, 1]}, "reward.score_range", "min < max"),
        ({"formula": "default", "score_range": [1]}, "reward.score_range", "min < max"),
        ({"formula": "default", "score_range": [1, math.nan]}, "reward.score_range", ""),
        ({"formula": "default", "score_range": [0, 10**400]}, "reward.score_range", ""),
        ({"formula": "default", "unscored": "ignore"}, "reward.unscored", "fail, zero or drop"),
        ({"formula": "three ** 2"}, "reward.formula", "not part of the language"),
        ({"formula": "tree"}, "reward.formula", "there is no judge 'tree'"),
        ({"formula": "three +"}, "reward.formula", "is no expression"),
        ({"formula": "0x" + "f" * 5000}, "reward.formula", "no number"),
        ({"formula": "__import__('os')"}, "reward.formula", "no function"),
        ({"formule": "three"}, "reward.formule", "did you mean"),
    ],
)
def test_what_can_never_be_a_reward_is_an_error_at_load_with_its_place(
    tmp_path: Path, reward: dict[str, Any], where: str, why: str
) -> None:
    found = errors(write_suite(tmp_path, [THREE], reward=reward))
    (error,) = [error for error in found if f": {where}" in error] or [str(found)]
    assert f"error: {where}" in error
    assert why in error
    file, line, column = error.split(":")[:3]
    assert file == "eval.yaml"
    assert int(line) > 0 < int(column)


def test_a_range_that_is_not_used_is_a_warning(tmp_path: Path) -> None:
    reward = {"weights": {"three": 1, "free": 1}, "score_range": [0, 8]}
    (found,) = [w for w in warnings(write_suite(tmp_path, [THREE, FREE], reward=reward)) if "reward" in w]
    assert "is not used for three," in found


def test_a_lone_judge_that_is_cut_is_a_warning(tmp_path: Path) -> None:
    (found,) = [w for w in warnings(write_suite(tmp_path, [THREE], reward={"judge": "three"})) if "reward" in w]
    assert "without normalize: true" in found
    fine = write_suite(tmp_path, [THREE], reward={"judge": "three", "normalize": True})
    assert not [w for w in warnings(fine) if "reward" in w]
