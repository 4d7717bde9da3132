"""Section 7: reward.json and reward-details.json, key for key, and when they are there."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.engine import read_run
from adjudge.formats.rewardkit import remove_stale, write, write_empty
from tests.support.judge_folders import HEAD as JUDGE
from tests.support.judge_folders import answers, criteria, judged, put
from tests.support.replies import Usage
from tests.support.rewardkit import HEAD, Graded, graded, graded_each, listed, returns, scores

DIES = returns("1 / 0")
MANY = (
    "@criterion\ndef one(ws): return True\n"
    "@criterion(description='has {n}')\ndef many(ws, n): "
    "return {'score': 0.5, 'reasoning': 'half', 'confidence': 0.3, 'model': 'm'}\n"
    "rk.many(3, weight=2.0)\nrk.many('abc', name='named')\n"
)


def written(tmp_path: Path, found: Graded) -> tuple[Any, Any]:
    """Both files of a run; `None` for one that is not there."""
    snapshot, result = read_run(tmp_path / "run")
    output = tmp_path / "out" / "reward.json"
    write(result, snapshot, output)
    assert found.result == result
    return read(output), read(output.with_name("reward-details.json"))


def read(path: Path) -> Any:
    return json.loads(path.read_text()) if path.exists() else None


def test_reward_json_is_flat(tmp_path: Path) -> None:
    """7: name -> number, in the order of the rewards, rounded to 4 decimals."""
    tests = {"z.py": scores(1, 0, 0), "a/b.py": scores(1), "reward.toml": '[[reward]]\nname = "total"\n'}
    reward, _ = written(tmp_path, graded(tmp_path, tests))
    assert list(reward.items()) == [("a", 1.0), ("z", 0.3333), ("total", 0.6666)]
    assert all(type(value) is float for value in reward.values())


def test_the_details_of_a_file_of_criteria(tmp_path: Path) -> None:
    """7: a programmatic leaf."""
    _, details = written(tmp_path, graded(tmp_path, HEAD + MANY))
    half = {"value": 0.5, "raw": 0.5, "reasoning": "half", "confidence": 0.3, "model": "m"}
    assert details == {
        "reward": {
            "score": 0.625,
            "criteria": [
                {"name": "one", "value": 1.0, "raw": True, "weight": 1.0, "description": "one"},
                {"name": "many:3", "weight": 2.0, "description": "has 3", **half},
                {"name": "named", "weight": 1.0, "description": "has abc", **half},
            ],
            "kind": "programmatic",
        }
    }


def test_the_details_of_a_group(tmp_path: Path) -> None:
    """7: kind, score, aggregation, components of name, weight and detail."""
    _, details = written(tmp_path, graded(tmp_path, {"a.py": returns("True"), "b.py": returns("False")}))
    row = {"name": "c", "weight": 1.0, "description": "c"}
    yes = {"score": 1.0, "criteria": [{**row, "value": 1.0, "raw": True}], "kind": "programmatic"}
    no = {"score": 0.0, "criteria": [{**row, "value": 0.0, "raw": False}], "kind": "programmatic"}
    assert details == {
        "reward": {
            "kind": "group",
            "score": 0.5,
            "aggregation": "weighted-mean",
            "components": [
                {"name": "a", "weight": 1.0, "detail": yes},
                {"name": "b", "weight": 1.0, "detail": no},
            ],
        }
    }


@pytest.mark.parametrize(("rule", "expected"), [("threshold", 0.25), ("weighted-sum", None), ("min", None)])
def test_a_threshold_is_told_only_where_it_is_the_rule(tmp_path: Path, rule: str, expected: float | None) -> None:
    """7."""
    text = f'[[reward]]\nname = "reward"\naggregation = "{rule}"\nthreshold = 0.25\n'
    found = graded(tmp_path, {"a.py": scores(1), "b.py": scores(0), "reward.toml": text})
    assert found.details["reward"].get("threshold") == expected


def test_the_details_of_a_group_in_a_group(tmp_path: Path) -> None:
    found = graded(tmp_path, {"a/b/c.py": scores(1), "a/b/d.py": scores(0), "a/e.py": scores(1)})
    b, e = found.details["a"]["components"]
    assert (b["name"], b["detail"]["kind"], b["detail"]["score"]) == ("b", "group", 0.5)
    assert (e["name"], e["detail"]["kind"]) == ("e", "programmatic")


def test_the_details_of_a_judge(tmp_path: Path) -> None:
    """7: the example, key for key; every key of the judge's settings."""
    text = (
        JUDGE
        + 'files = ["a.py"]\nguard = "flag"\n'
        + criteria("code", keys='id = "1.1"')
        + criteria("readable", keys='type = "likert"\nweight = 2.0')
        + criteria("complete", keys='type = "rubric"\nlevels = ["none", "some", "all"]\nnegate = true')
    )
    said = answers({"code": True, "readable": 4, "complete": "all", "guard": False}, usage=Usage(input=600, output=20))
    found = judged(tmp_path, text, said, workspace={"a.py": "x = 1\n"})
    leaf = found.leaf
    assert (found.reward, leaf["kind"]) == (0.625, "llm")
    assert leaf["criteria"][0] == {
        "id": "1.1",
        "name": "code",
        "value": 1.0,
        "raw": "yes",
        "weight": 1.0,
        "description": "Ask code.",
        "reasoning": "because",
    }
    assert [(row["value"], row["raw"], row["weight"]) for row in leaf["criteria"]] == [
        (1.0, "yes", 1.0),
        (0.75, 4, 2.0),
        (0.0, 2, 1.0),
    ]
    assert [row.get("negate") for row in leaf["criteria"]] == [None, None, True]
    assert leaf["judge"] == {
        "model": "openai/gpt-5.2",
        "reasoning_effort": "medium",
        "timeout": 300,
        "files": ["a.py"],
        "atif_trajectory": None,
        "reference": None,
        "mode": "batched",
        "samples": 1,
        "guard": "flag",
    }
    assert json.loads(leaf["judge_output"])["readable"] == {"score": 4, "reasoning": "because"}
    assert leaf["guard"]["flagged"] is False
    assert (leaf["usage"]["input_tokens"], leaf["usage"]["output_tokens"], leaf["usage"]["total_tokens"]) == (
        600,
        20,
        620,
    )
    assert list(leaf["usage"]["models"]) == ["openai/gpt-5.2"]


def test_a_criterion_without_a_score_says_why(tmp_path: Path) -> None:
    """7: error, and what is ours: unscored; the reward's score is null."""
    reward, details = written(tmp_path, graded(tmp_path, {"a.py": DIES, "b.py": scores(1)}))
    assert reward is None
    a = details["reward"]["components"][0]["detail"]
    assert details["reward"]["score"] is None
    assert details["reward"]["error"].startswith("a: ")
    assert a["error"].startswith("a:c: raised: ZeroDivisionError")
    (row,) = a["criteria"]
    assert (row["value"], row["raw"], row["unscored"]) == (0.0, None, "raised")
    assert row["error"] == "raised: ZeroDivisionError: division by zero (a.py, line 6)"


def test_one_reward_without_a_value_withholds_reward_json(tmp_path: Path) -> None:
    """7: any error leaves no reward.json; the details say what there is."""
    reward, details = written(tmp_path, graded(tmp_path, {"a/x.py": DIES, "b/x.py": scores(1)}))
    assert reward is None
    assert (details["a"]["score"], details["b"]["score"]) == (None, 1.0)


def test_named_rewards_have_no_entry_in_the_details(tmp_path: Path) -> None:
    """7."""
    tests = {"a.py": scores(1), "reward.toml": '[[reward]]\nname = "x"\n'}
    reward, details = written(tmp_path, graded(tmp_path, tests))
    assert (list(reward), list(details)) == (["reward", "x"], ["reward"])


def test_several_folders_are_keys_with_their_names(tmp_path: Path) -> None:
    """7: `<dir basename>/<reward>`."""
    found = graded_each(tmp_path, {"one": scores(1), "two": {"a/b.py": scores(0)}})
    reward, details = written(tmp_path, found)
    assert list(reward) == list(details) == ["one/reward", "two/a"]


def test_what_is_not_ascii_and_what_is_no_text_at_all_is_written(tmp_path: Path) -> None:
    body = (
        "@criterion(description='gr\\u00fc\\u00df {x}')\n"
        "def c(ws, x): return {'score': 1, 'reasoning': '\\u2713 \\udc80'}\n"
    )
    _, details = written(tmp_path, graded(tmp_path, HEAD + body + "rk.c('\\u00e9')\n"))
    (row,) = details["reward"]["criteria"]
    assert (row["name"], row["description"]) == ("c:é", "grüß é")
    assert row["reasoning"].startswith("✓ ")


def test_files_are_replaced_whole_and_readable_by_all(tmp_path: Path) -> None:
    """7: atomically, with nothing left over."""
    output = tmp_path / "out" / "reward.json"
    put(tmp_path / "out", {"reward.json": "old", "reward-details.json": "old", "other.txt": "kept"})
    before = output.stat().st_ino
    reward, _ = written(tmp_path, graded(tmp_path, scores(1)))
    assert reward == {"reward": 1.0}
    assert output.stat().st_ino != before
    assert stat.S_IMODE(output.stat().st_mode) == 0o644
    assert listed(output.parent) == ["other.txt", "reward-details.json", "reward.json"]


def test_a_link_in_the_place_of_reward_json_is_replaced_and_not_followed(tmp_path: Path) -> None:
    """11.11: what is judged may have put it there."""
    outside = put(tmp_path, {"outside": "mine"}) / "outside"
    output = put(tmp_path / "out", {}) / "reward.json"
    output.symlink_to(outside)
    written(tmp_path, graded(tmp_path, scores(1)))
    assert outside.read_text() == "mine"
    assert not output.is_symlink()


def test_a_write_that_fails_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = graded(tmp_path, scores(1))

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        written(tmp_path, found)
    assert listed(tmp_path / "out") == []


def test_stale_files_are_removed(tmp_path: Path) -> None:
    """7: in Reward Kit a stale reward.json stays in place."""
    put(tmp_path, {"r.json": "1", "reward-details.json": "2", "reward.json": "3"})
    remove_stale(tmp_path / "r.json")
    remove_stale(tmp_path / "r.json")
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".json"] == ["reward.json"]


def test_nothing_found_is_an_empty_object_without_details(tmp_path: Path) -> None:
    """1.2."""
    write_empty(tmp_path / "new" / "folder" / "reward.json")
    assert listed(tmp_path / "new" / "folder") == ["reward.json"]
    assert (tmp_path / "new" / "folder" / "reward.json").read_text() == "{}"


def test_a_run_from_python_leaves_them_in_its_run_directory(tmp_path: Path) -> None:
    tests, home = put(tmp_path / "tests", {"a.py": scores(0.5)}), put(tmp_path / "app", {})
    result = adjudge.run(tests, workspace=home, output=tmp_path / "run", workers=1)
    assert result.rewards[0].rewards[0].score == 0.5
    assert read(tmp_path / "run" / "reward.json") == {"reward": 0.5}
    assert read(tmp_path / "run" / "reward-details.json")["reward"]["score"] == 0.5


def test_the_same_journal_gives_the_same_bytes(tmp_path: Path) -> None:
    found = graded(tmp_path, HEAD + MANY)
    output = tmp_path / "out" / "reward.json"
    written(tmp_path, found)
    first = output.read_bytes(), output.with_name("reward-details.json").read_bytes()
    written(tmp_path, found)
    assert (output.read_bytes(), output.with_name("reward-details.json").read_bytes()) == first
