"""Section 6: how scores become one, the gate over them, and what an unscored criterion does to a reward."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.domain import Aggregation, OnError
from adjudge.scoring.aggregate import aggregate
from tests.support.judge_folders import HEAD as JUDGE
from tests.support.judge_folders import answers, criteria, judged
from tests.support.rewardkit import HEAD, error, graded, returns, scores

DIES = returns("1 / 0", "@criterion").replace("def c(", "def dies(")
_ = pytest.param


def ruled(rule: str, *values: float | tuple[float, float], **keys: str) -> dict[str, str]:
    """A tests folder whose only file is aggregated by a rule."""
    more = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return {"a.py": scores(*values), "reward.toml": f'[scoring.a]\naggregation = "{rule}"\n{more}'}


def grouped(*values: float, **keys: str) -> dict[str, str]:
    """A tests folder with the files a, b, c..., one value each, and a rule over them."""
    lines = [f"{key} = {value}" for key, value in keys.items()]
    files = {f"{name}.py": scores(value) for name, value in zip("abcdef", values, strict=False)}
    return {**files, "reward.toml": "\n".join(["[[reward]]", 'name = "reward"', *lines])}


@pytest.mark.parametrize(
    ("rule", "values", "expected"),
    [
        _("weighted-mean", [1, 0, 0.5], 0.5, id="mean"),
        _("weighted-mean", [(1, 3), (0, 1)], 0.75, id="mean, weighted"),
        _("weighted-mean", [(1, 0), (1, 0)], 0.0, id="mean, weights of 0"),
        _("weighted-mean", [(1, 0), (0.5, 2)], 0.5, id="mean, one weight of 0"),
        _("weighted-mean", [7, -0.5], 3.25, id="mean, outside 0 to 1"),
        _("weighted_mean", [1, 0], 0.5, id="mean, underscore"),
        _("weighted-sum", [(1, 2), (0.5, 1)], 2.5, id="sum above 1"),
        _("weighted-sum", [(0, 1), (1, -1)], -1.0, id="sum below 0"),
        _("weighted-sum", [(1, 1), (1, -1)], 0.0, id="sum of 0"),
        _("weighted_sum", [(1, 2)], 2.0, id="sum, underscore"),
        _("all-pass", [1, 1], 1.0, id="all"),
        _("all-pass", [1, 0.9999], 0.0, id="all but one"),
        _("all-pass", [1, 2], 1.0, id="all, above 1"),
        _("all-pass", [(1, 1), (0, 0)], 0.0, id="all, weight 0 counts"),
        _("any-pass", [0, 1], 1.0, id="any"),
        _("any-pass", [0.9, 0.99], 0.0, id="any, nearly"),
        _("any-pass", [(0, 1), (1, 0)], 1.0, id="any, weight 0 counts"),
        _("required-pass", [0.1, 1], 1.0, id="required, above 0"),
        _("required-pass", [0, 1], 0.0, id="required, one at 0"),
        _("required-pass", [-1, 1], 0.0, id="required, one below 0"),
        _("min", [0.25, 0.5, 1], 0.25, id="min"),
        _("min", [(1, 1), (0, 0)], 0.0, id="min, weight 0 counts"),
        _("max", [0.25, 0.5, 0], 0.5, id="max"),
        _("product", [0.5, 0.5, 1], 0.25, id="product"),
        _("product", [0.5, 0], 0.0, id="product with 0"),
        _("product", [-1, 3], -3.0, id="product below 0"),
    ],
)
def test_rules_over_the_criteria_of_a_file(
    tmp_path: Path, rule: str, values: list[float | tuple[float, float]], expected: float
) -> None:
    """6: within a file."""
    assert graded(tmp_path, ruled(rule, *values)).reward == expected


@pytest.mark.parametrize(
    ("threshold", "values", "expected"),
    [
        _("", [1, 0], 1.0, id="half by default"),
        _("", [0.99, 0], 0.0, id="below half"),
        _("0.75", [(1, 3), (0, 1)], 1.0, id="reached exactly"),
        _("0.76", [(1, 3), (0, 1)], 0.0, id="missed"),
        _("0.1", [0.1, 0.1, 0.1], 1.0, id="but for the last digit"),
        _("0", [0, 0], 1.0, id="0 is reached by 0"),
        _("-1", [-2], 0.0, id="below 0"),
        _("1.5", [2, 1], 1.0, id="above 1"),
    ],
)
def test_the_threshold(
    tmp_path: Path, threshold: str, values: list[float | tuple[float, float]], expected: float
) -> None:
    """6: 1 when the weighted mean reaches it."""
    keys = {"threshold": threshold} if threshold else {}
    assert graded(tmp_path, ruled("threshold", *values, **keys)).reward == expected


@pytest.mark.parametrize("rule", list(Aggregation))
def test_every_rule_over_the_inputs_of_a_folder(tmp_path: Path, rule: Aggregation) -> None:
    """6: in a group and in [[reward]] as within a file."""
    found = graded(tmp_path, grouped(1, 0.5, 0, aggregation=f'"{rule.value}"', weights="{a = 2}"))
    expected = {
        "weighted-mean": 0.625,
        "weighted-sum": 2.5,
        "all-pass": 0.0,
        "any-pass": 1.0,
        "threshold": 1.0,
        "required-pass": 0.0,
        "min": 0.0,
        "max": 1.0,
        "product": 0.0,
    }
    assert found.reward == expected[rule.value]
    assert found.details["reward"]["aggregation"] == rule.value
    assert found.details["reward"].get("threshold") == (0.5 if rule is Aggregation.THRESHOLD else None)


def test_nothing_is_optional_in_a_group(tmp_path: Path) -> None:
    """6 and the page: required-pass asks for more than 0."""
    assert graded(tmp_path, grouped(0.1, 0.75, aggregation='"required-pass"')).reward == 1.0


@pytest.mark.parametrize(
    ("keys", "optional", "values", "expected"),
    [
        _("", "optional = true", {"must": True, "may": False}, 1.0, id="optional never gates"),
        _("", "optional = true", {"must": False, "may": True}, 0.0, id="required does"),
        _("optional = true", "optional = true", {"must": True, "may": True}, 0.0, id="all optional"),
        _('type = "likert"', "", {"must": 2, "may": True}, 1.0, id="more than 0 is enough"),
        _('type = "likert"', "", {"must": 1, "may": True}, 0.0, id="0 is not"),
    ],
)
def test_required_pass_over_a_judges_criteria(
    tmp_path: Path, keys: str, optional: str, values: dict[str, bool | int], expected: float
) -> None:
    """The page: 1 when every criterion that is not optional is above 0; with none of those a warning and 0."""
    text = JUDGE + criteria("must", keys=keys) + criteria("may", keys=optional)
    found = judged(tmp_path, text + '[scoring]\naggregation = "required-pass"\n', answers(values))
    assert found.reward == expected
    assert ("every criterion is optional: scored 0" in found.warnings) is ("optional" in keys)


@pytest.mark.parametrize(
    ("clamp", "values", "expected"),
    [
        ("[0, 1]", [(1, 2), (1, 1)], 1.0),
        ("[0, 1]", [(0, 1), (1, -1)], 0.0),
        ("[-0.5, 0.5]", [(1, -1)], -0.5),
        ("[0, 10]", [(1, 3)], 3.0),
    ],
)
def test_a_clamp_brings_the_sum_within_bounds(
    tmp_path: Path, clamp: str, values: list[float | tuple[float, float]], expected: float
) -> None:
    """6: Reward Kit has none."""
    assert graded(tmp_path, ruled("weighted-sum", *values, clamp=clamp)).reward == expected


def test_a_clamp_over_a_group(tmp_path: Path) -> None:
    found = graded(tmp_path, grouped(1, 1, aggregation='"weighted-sum"', weights="{a = 5}", clamp="[0, 2]"))
    assert found.reward == 2.0


def test_no_clamp_unless_it_is_asked_for(tmp_path: Path) -> None:
    """6: the result may lie outside 0 to 1."""
    assert graded(tmp_path, grouped(1, 1, aggregation='"weighted-sum"')).reward == 2.0


def test_a_negative_weight_is_a_penalty_in_a_sum_of_files(tmp_path: Path) -> None:
    assert graded(tmp_path, grouped(1, 1, aggregation='"weighted-sum"', weights="{b = -0.25}")).reward == 0.75


@pytest.mark.parametrize("rule", ["weighted-sum", "weighted-mean", "threshold", "product"])
def test_a_number_that_is_too_large_is_no_score(tmp_path: Path, rule: str) -> None:
    """6: a non-finite aggregate is an error; here of one reward."""
    body = "@criterion(range=(0, 1e308))\ndef big(ws, k): return 1e308\nrk.big(1)\nrk.big(2)\n"
    found = graded(tmp_path, {"a.py": HEAD + body, "reward.toml": f'[scoring.a]\naggregation = "{rule}"\n'})
    assert found.reward is None
    assert "too large" in found.failures["reward"]


@pytest.mark.parametrize("rule", list(Aggregation))
def test_nothing_gives_0(rule: Aggregation) -> None:
    """6: the empty list."""
    assert aggregate(rule, [], []) == 0.0


@pytest.mark.parametrize(
    ("values", "keys", "expected", "gated"),
    [
        _([1, 0.5], {"gate": '"a"'}, 0.75, False, id="passes"),
        _([0, 1], {"gate": '"a"'}, 0.0, True, id="fails"),
        _([0.9, 1], {"gate": '"a"'}, 0.0, True, id="needs 1 by default"),
        _([0.9, 0.5], {"gate": '"a"', "gate_threshold": "0.9"}, 0.7, False, id="threshold reached"),
        _([0.89, 0.5], {"gate": '"a"', "gate_threshold": "0.9"}, 0.0, True, id="threshold missed"),
        _([0, 0.5], {"gate": '"a"', "gate_threshold": "0"}, 0.25, False, id="threshold of 0"),
        _([1, 0, 0.5], {"gate": '["a", "b"]'}, 0.0, True, id="one of two fails"),
        _([1, 1, 0.4], {"gate": '["a", "b"]'}, 0.8, False, id="two pass"),
        _([1, 0.5], {"gate": "[]"}, 0.75, False, id="none"),
        _([0, 1], {"gate": '"a"', "aggregation": '"any-pass"'}, 0.0, True, id="before any rule"),
        _([0, 1], {"gate": '"a"', "weights": "{a = 0}"}, 0.0, True, id="weight 0 gates"),
        _([1, 0.5], {"gate": '"a"', "weights": "{a = 0}"}, 0.5, False, id="weight 0 does not score"),
        _(
            [0, 1],
            {"gate": '"a"', "aggregation": '"weighted-sum"', "clamp": "[0.5, 1]"},
            0.0,
            True,
            id="before a clamp",
        ),
    ],
)
def test_the_gate(tmp_path: Path, values: list[float], keys: dict[str, str], expected: float, gated: bool) -> None:
    """6, 11.10: if an input fails, 0, else what the others say; Reward Kit cannot express it."""
    found = graded(tmp_path, grouped(*values, **keys))
    assert found.reward == expected
    assert ("gate" in found.details["reward"]) is gated


def test_the_details_name_the_gate_that_failed(tmp_path: Path) -> None:
    found = graded(tmp_path, grouped(1, 0, 0.5, gate='["a", "b"]'))
    assert found.details["reward"]["gate"] == "b is below 1, so the score is 0"
    assert [part["detail"]["score"] for part in found.details["reward"]["components"]] == [1.0, 0.0, 0.5]


def test_a_gate_can_be_a_folder_and_stand_in_one(tmp_path: Path) -> None:
    tests = {
        "safe/a.py": scores(1, 0),
        "work/a.py": scores(0),
        "work/b.py": scores(1),
        "work/reward.toml": '[[reward]]\ngate = "a"\n',
        "reward.toml": '[[reward]]\nname = "total"\ngate = "safe"\ngate_threshold = 0.5\n',
    }
    assert graded(tmp_path, tests).rewards == {"safe": 0.5, "work": 0.0, "total": 0.25}


@pytest.mark.parametrize(("gate", "told"), [('"aa"', "did you mean 'a'?"), ('["a", "zz"]', "'zz'")])
def test_a_gate_must_be_an_input(tmp_path: Path, gate: str, told: str) -> None:
    text = error(tmp_path, grouped(1, 1, gate=gate))
    assert "reward[0].gate: there is no input" in text
    assert told in text


def test_a_judge_behind_a_failed_gate_is_not_asked(tmp_path: Path) -> None:
    tests = {
        "a.py": scores(0),
        "quality.toml": JUDGE + criteria("good"),
        "reward.toml": '[[reward]]\nname = "reward"\ngate = "a"\n',
    }
    found = judged(tmp_path / "shut", tests, answers({"good": True}))
    assert (found.reward, found.requests) == (0.0, ())
    found = judged(tmp_path / "open", {**tests, "a.py": scores(1)}, answers({"good": True}))
    assert (found.reward, len(found.requests)) == (1.0, 1)


@pytest.mark.parametrize("gate", ["", 'gate = "b"\n'])
def test_a_gate_that_failed_decides_although_something_else_has_no_score(tmp_path: Path, gate: str) -> None:
    tests = {"a.py": DIES, "b.py": scores(0), "reward.toml": f'[[reward]]\nname = "reward"\n{gate}'}
    assert graded(tmp_path, tests).reward == (0.0 if gate else None)


def test_a_gate_without_a_score_leaves_the_reward_without_one(tmp_path: Path) -> None:
    tests = {"a.py": DIES, "b.py": scores(1), "reward.toml": '[[reward]]\nname = "reward"\ngate = "a"\n'}
    assert graded(tmp_path, tests).reward is None


def test_an_unscored_criterion_leaves_only_its_own_rewards_without_a_value(tmp_path: Path) -> None:
    """11.1: on_error fail, the default."""
    tests = {
        "a/x.py": DIES,
        "b/x.py": scores(1),
        "reward.toml": '[[reward]]\nname = "all"\n',
    }
    found = graded(tmp_path, tests)
    assert found.rewards == {"a": None, "b": 1.0, "all": None}
    assert "dies" in found.failures["a"]
    assert "ZeroDivisionError" in found.failures["a"]
    assert found.failures["all"].startswith("a: ")


def test_how_many_more_have_no_score_is_told(tmp_path: Path) -> None:
    body = "@criterion\ndef c(ws, k): return k\n" + "".join(f"rk.c({k})\n" for k in ("None", "'x'", 1, "'y'"))
    assert graded(tmp_path, HEAD + body).failures["reward"].endswith("(and 2 more)")


@pytest.mark.parametrize(
    ("rule", "expected"), [("weighted-mean", 0.5), ("all-pass", 0.0), ("any-pass", 1.0), ("min", 0.0), ("max", 1.0)]
)
def test_on_error_zero_counts_it_as_0_with_its_weight(tmp_path: Path, rule: str, expected: float) -> None:
    """6: and says so."""
    tests = ruled(rule, 1)
    tests["a.py"] += "@criterion\ndef dies(ws): return None\n"
    found = graded(tmp_path, tests, on_error=OnError.ZERO)
    assert found.reward == expected
    assert found.rows["dies"]["unscored"] == "wrong_type"
    (warning,) = found.details["reward"]["warnings"]
    assert "dies" in warning
    assert warning.endswith("; counted as 0")
