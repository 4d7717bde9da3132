"""Section 1.2: which rewards a tests folder has, and what its reward.toml may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.rewardkit import error, graded, graded_each, problems, read, scores

JUDGE = '[judge]\njudge = "openai/gpt-5.2"\nweight = {weight}\n[[criterion]]\ndescription = "Is it good?"\n'
FLAT = {"a.py": scores(1), "b.py": scores(0.5)}
NESTED = {"top.py": scores(1), "style/a.py": scores(0.5), "style/b.py": scores(0)}


def reward(name: str = "reward", **keys: str) -> str:
    """A [[reward]] table; none of that name with an empty one."""
    lines = [f'name = "{name}"'] if name else []
    return "\n".join(["[[reward]]", *lines, *(f"{key} = {value}" for key, value in keys.items())]) + "\n"


def test_a_flat_folder_has_one_reward(tmp_path: Path) -> None:
    """1.2: the weighted mean over its files."""
    found = graded(tmp_path, FLAT)
    assert found.rewards == {"reward": 0.75}
    assert found.details["reward"]["aggregation"] == "weighted-mean"


def test_a_single_file_passes_its_score_through(tmp_path: Path) -> None:
    """1.2: and is itself what the details show."""
    found = graded(tmp_path, scores(3, -1))
    assert found.rewards == {"reward": 1.0}
    assert found.details["reward"]["kind"] == "programmatic"


def test_a_file_counts_once_whatever_its_criteria_weigh(tmp_path: Path) -> None:
    """1.2, 11.16: a Python file has weight 1."""
    assert graded(tmp_path, {"a.py": scores((1, 90), (1, 9)), "b.py": scores((0, 1))}).reward == 0.5


def test_every_input_of_a_folder_with_others_below_is_a_reward(tmp_path: Path) -> None:
    """1.2: and there is no `reward`."""
    assert graded(tmp_path, NESTED).rewards == {"style": 0.25, "top": 1.0}


def test_only_folders_below(tmp_path: Path) -> None:
    assert graded(tmp_path, {"one/a.py": scores(0.5)}).rewards == {"one": 0.5}


def test_a_folder_without_inputs_is_no_child(tmp_path: Path) -> None:
    """1.2: the root stays flat."""
    assert graded(tmp_path, {**FLAT, "helpers/x.py": "X = 1\n", "data/y.toml": "a = 1"}).rewards == {"reward": 0.75}


def test_folders_nest_without_limit(tmp_path: Path) -> None:
    found = graded(tmp_path, {"a/b/c/d.py": scores(0.5), "a/b/e.py": scores(1), "a/f.py": scores(0)})
    assert found.rewards == {"a": 0.375}
    (b, f) = found.details["a"]["components"]
    assert (b["name"], b["detail"]["score"], f["name"]) == ("b", 0.75, "f")


def test_a_rule_of_the_flat_reward(tmp_path: Path) -> None:
    """1.2: `[[reward]]` with the name reward."""
    found = graded(tmp_path, {**FLAT, "reward.toml": reward(aggregation='"weighted-sum"', weights="{a = 2.0}")})
    assert found.rewards == {"reward": 2.5}
    assert [part["weight"] for part in found.details["reward"]["components"]] == [2.0, 1.0]


def test_more_rewards_over_the_same_inputs(tmp_path: Path) -> None:
    """1.2: their names come after `reward`; 7: the details do not list them."""
    text = reward("strict", aggregation='"all-pass"') + reward("best", aggregation='"max"')
    found = graded(tmp_path, {**FLAT, "reward.toml": text})
    assert list(found.rewards.items()) == [("reward", 0.75), ("strict", 0.0), ("best", 1.0)]
    assert list(found.details) == ["reward"]


def test_a_named_reward_of_a_folder_with_others_below(tmp_path: Path) -> None:
    """1.2: `reward` is a name like another there."""
    found = graded(tmp_path, {**NESTED, "reward.toml": reward(weights="{style = 3.0}")})
    assert found.rewards == {"style": 0.25, "top": 1.0, "reward": 0.4375}
    assert list(found.details) == ["style", "top"]


def test_a_rule_of_a_folder_below(tmp_path: Path) -> None:
    """1.2: one [[reward]] without a name."""
    found = graded(tmp_path, {**NESTED, "style/reward.toml": reward("", aggregation='"any-pass"', weights="{a = 2}")})
    assert found.rewards == {"style": 0.0, "top": 1.0}
    assert found.details["style"]["aggregation"] == "any-pass"


def test_the_rule_of_one_file(tmp_path: Path) -> None:
    """1.2: [scoring.<stem>]."""
    rules = '[scoring.a]\naggregation = "any-pass"\n[scoring.b]\naggregation = "threshold"\nthreshold = 0.5\n'
    tests = {"a.py": scores(1, 0), "b.py": scores(0.4, 0.6), "reward.toml": rules}
    assert graded(tmp_path, tests).reward == 1.0


def test_the_rule_of_a_file_below(tmp_path: Path) -> None:
    tests = {**NESTED, "style/a.py": scores(1, 0), "style/reward.toml": '[scoring.a]\naggregation = "any_pass"\n'}
    assert graded(tmp_path, tests).rewards == {"style": 0.5, "top": 1.0}


def test_a_group_of_one_with_a_rule_is_no_pass_through(tmp_path: Path) -> None:
    """1.2: only without one."""
    found = graded(tmp_path, {"a.py": scores(0.5), "reward.toml": reward(aggregation='"all-pass"')})
    assert found.rewards == {"reward": 0.0}
    assert found.details["reward"]["kind"] == "group"


def test_the_weight_of_a_judge_counts_in_its_folder(tmp_path: Path) -> None:
    """1.2: `[judge].weight`, unless `weights` says otherwise."""
    tests = {"a.py": scores(1), "j.toml": JUDGE.format(weight=3)}
    (node,) = read(tmp_path, tests).rewards
    assert [(child.name, child.weight) for child in node.inputs] == [("a", 1.0), ("j", 3.0)]
    (node,) = read(tmp_path, {**tests, "reward.toml": reward(weights="{j = 0.5}")}).rewards
    assert [child.weight for child in node.inputs] == [1.0, 0.5]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [("{a = 0, b = 1}", 0.5), ("{a = 0, b = 0}", 0.0), ("{}", 0.75), ("{a = 1_000_000}", 1.0)],
)
def test_weights_are_overrides(tmp_path: Path, weights: str, expected: float) -> None:
    """1.2: an input that is not named keeps its own; 6: weights that sum to 0 give 0."""
    assert graded(tmp_path, {**FLAT, "reward.toml": reward(weights=weights)}).reward == expected


def test_scores_are_rounded_at_each_level(tmp_path: Path) -> None:
    """1.2: to 4 decimals before they are used above."""
    tests = {"a/b/c.py": scores(1, 0, 0), "a/b/d.py": scores(1, 0, 0), "a/e.py": scores(1, 1, 0), "z.py": scores(1)}
    found = graded(tmp_path, tests)
    assert found.rewards == {"a": 0.5, "z": 1.0}
    b, e = found.details["a"]["components"]
    assert b["detail"]["score"] == 0.3333
    assert e["detail"]["score"] == 0.6667
    assert b["detail"]["components"][0]["detail"]["score"] == 0.3333


def test_rounding_below_is_seen_above(tmp_path: Path) -> None:
    found = graded(
        tmp_path,
        {"a.py": scores(1, 0, 0), "reward.toml": reward("sum", aggregation='"weighted-sum"', weights="{a = 3}")},
    )
    assert found.rewards == {"reward": 0.3333, "sum": 0.9999}


@pytest.mark.parametrize(
    ("files", "told"),
    [
        pytest.param(
            {"reward.toml": reward(weights="{aa = 1, b = 1}")},
            "reward.toml:3:1: error: reward[0].weights.aa: there is no input 'aa' (did you mean 'a'?)",
            id="weights",
        ),
        pytest.param(
            {"checks.py": scores(1), "reward.toml": reward(weights="{check = 1}")},
            "there is no input 'check' (did you mean 'checks'?)",
            id="nearest",
        ),
        pytest.param(
            {"reward.toml": "[scoring.bb]\n"},
            "reward.toml:1:1: error: scoring.bb: there is no Python file 'bb' with criteria (did you mean 'b'?)",
            id="scoring",
        ),
        pytest.param({"reward.toml": "[scoring.zzzz]\n"}, "'zzzz' with criteria (known: a, b)", id="nothing near"),
        pytest.param({"reward.toml": reward(gate='"aa"')}, "there is no input 'aa' (did you mean 'a'?)", id="gate"),
        pytest.param(
            {"reward.toml": reward(aggregation='"weighted-mena"')},
            "'weighted-mena' is none of weighted-mean, weighted-sum, all-pass, any-pass, threshold, required-pass, "
            "min, max, product (did you mean 'weighted-mean'?)",
            id="aggregation",
        ),
        pytest.param({"reward.toml": reward(wieghts="{a = 1}")}, "did you mean 'weights'?", id="key"),
        pytest.param({"reward.toml": "[[rewrad]]\nname = 'x'\n"}, "did you mean 'reward'?", id="table"),
        pytest.param({"reward.toml": "[scoring.a]\nweight = 1\n"}, "scoring.a.weight", id="key of scoring"),
        pytest.param({"reward.toml": "[[reward]]\n"}, "the key 'name' is missing", id="no name"),
        pytest.param({"reward.toml": reward() + reward()}, "two rewards are called 'reward'", id="twice"),
        pytest.param({"reward.toml": reward() + reward("x") * 2}, "two rewards are called 'x'", id="twice x"),
        pytest.param({"reward.toml": reward(threshold="nan")}, "must be a finite number", id="threshold"),
        pytest.param({"reward.toml": reward(weights="{a = inf}")}, "a weight must be a finite number", id="infinite"),
        pytest.param(
            {"reward.toml": reward(weights="{a = -1}")},
            "a negative weight needs aggregation weighted-sum",
            id="negative",
        ),
        pytest.param({"reward.toml": reward(clamp="[1, 0]")}, "expected [low, high] with low < high", id="clamp"),
        pytest.param({"reward.toml": reward(clamp="[1]")}, "expected [low, high] with low < high", id="clamp of one"),
        pytest.param({"a.py": scores((1, -1))}, "a.py: error: a negative weight needs", id="criterion weight"),
    ],
)
def test_what_a_flat_folder_may_not_say(tmp_path: Path, files: dict[str, str], told: str) -> None:
    """1.2: unknown names and keys, each with what is nearest."""
    assert told in error(tmp_path, {**FLAT, **files})


@pytest.mark.parametrize(
    ("files", "told"),
    [
        pytest.param(
            {"reward.toml": reward("style")}, "'style' is an input of this folder already", id="name of an input"
        ),
        pytest.param({"style/reward.toml": reward("x")}, "is named by itself", id="name below"),
        pytest.param({"style/reward.toml": reward("") * 2}, "has one score, and so one [[reward]]", id="two below"),
        pytest.param({"reward.toml": reward("x", weights="{a = 1}")}, "there is no input 'a'", id="input below"),
        pytest.param({"reward.toml": "[scoring.style]\n"}, "there is no Python file 'style'", id="scoring of a folder"),
        pytest.param({"reward.toml": "[scoring.a]\n"}, "there is no Python file 'a'", id="scoring of a file below"),
    ],
)
def test_what_a_folder_with_others_below_may_not_say(tmp_path: Path, files: dict[str, str], told: str) -> None:
    """1.2."""
    assert any(told in str(problem) for problem in problems(tmp_path, {**NESTED, **files}))


@pytest.mark.parametrize("folder", ["", "below/"])
def test_a_reward_needs_inputs(tmp_path: Path, folder: str) -> None:
    """1.2: [[reward]] with nothing to reward."""
    tests = {f"{folder}reward.toml": reward("" if folder else "reward"), **({"a.py": scores(1)} if folder else {})}
    assert "there is nothing in this folder to reward" in error(tmp_path, tests)


def test_a_rule_cannot_be_for_a_judge_file(tmp_path: Path) -> None:
    """1.2: a judge TOML has its own [scoring]."""
    tests = {"j.toml": JUDGE.format(weight=1), "reward.toml": '[scoring.j]\naggregation = "all-pass"\n'}
    assert "there is no Python file 'j'" in error(tmp_path, tests)


def test_several_tests_folders_are_judged_side_by_side(tmp_path: Path) -> None:
    """7: `<folder>/<reward>`."""
    found = graded_each(tmp_path, {"one": FLAT, "two": NESTED})
    assert found.rewards == {"one/reward": 0.75, "two/style": 0.25, "two/top": 1.0}
    assert list(found.details) == ["one/reward", "two/style", "two/top"]


def test_nothing_found_is_a_warning(tmp_path: Path) -> None:
    """1.2: and no rewards."""
    found = read(tmp_path, {"readme.txt": "x"})
    assert found.rewards == ()
    assert any("no criteria and no judges, so there is no reward" in str(warning) for warning in found.warnings)
