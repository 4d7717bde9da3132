"""The tests folders that `differential_rewardkit` judges by: what lies in each, and what the model answers."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

Files = Mapping[str, str | bytes]

MODEL = "openai/gpt-5"
HEAD = "import os, rewardkit as rk\nfrom rewardkit import criterion, criteria\n"
JUDGE = f'[judge]\njudge = "{MODEL}"\nfiles = ["main.py"]\n'
AGGREGATIONS = ("weighted-mean", "weighted-sum", "all-pass", "any-pass", "threshold", "required-pass")


@dataclass(frozen=True, kw_only=True)
class Folder:
    """`answers` are by criterion: yes-or-no as a bool, a rubric's level as its number; a list is one a sample.

    `fault` is what the provider does in place of answering. `stale` puts a reward.json where the new one will be.
    Several tests folders are judged in one run when `folders` names them.
    """

    tests: Files
    answers: Mapping[str, Any] = field(default_factory=dict)
    workspace: Files = field(default_factory=dict)
    fault: str = ""
    stale: bool = False
    folders: Sequence[str] = (".",)


def _database() -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript("create table t (n, s); insert into t values (3, 'three'), (4, 'four');")
        return connection.serialize()


def _call(tool: str) -> dict[str, Any]:
    return {"tool_call_id": tool, "function_name": tool, "arguments": {}}


_STEPS = [
    {"step_id": 1, "source": "user", "message": "do it"},
    {"step_id": 2, "source": "agent", "message": "so", "tool_calls": [_call("bash"), _call("edit")]},
    {"step_id": 3, "source": "agent", "message": "and so", "tool_calls": [_call("bash")]},
    {"step_id": 4, "source": "agent", "message": "done"},
]
WORKSPACE: Files = {
    "main.py": "def double(x):\n    return 2 * x\n",
    "a.txt": "the quick brown fox\n",
    "same.txt": "  the quick brown fox\n\n",
    "b.txt": "the quick red fox\n",
    "latin.txt": "caf\xe9".encode("latin-1"),
    "data.json": json.dumps({"name": "x", "n": 3, "deep": {"list": [{"k": "v"}, 7, None, True]}, "a.b": 1}),
    "bad.json": "{",
    "table.csv": "id,name\n1,one\n2,two\n",
    "data.db": _database(),
    "trajectory.json": json.dumps({"agent": {"name": "a", "version": "1", "model_name": "m"}, "steps": _STEPS}),
    "sub/inner.txt": "inner",
}


def checks(*calls: str) -> str:
    """A criteria file that makes these calls of built-in criteria."""
    return HEAD + "".join(f"rk.{call}\n" for call in calls)


def scores(*values: float | tuple[float, float]) -> str:
    """A criteria file with a criterion for each value, or for each (value, weight)."""
    text = HEAD + "@criterion(shared=True)\ndef scored(ws, value): return value\n"
    for k, given in enumerate(values):
        value, weight = given if isinstance(given, tuple) else (given, 1.0)
        text += f'rk.scored({value}, weight={weight}, name="c{k}")\n'
    return text


def returns(expression: str) -> str:
    return f"{HEAD}@criterion\ndef c(workspace):\n    return {expression}\n"


def asks(*criteria: str, keys: str = "", end: str = "") -> str:
    """A judge TOML. A criterion is its name and, after a colon, further keys apart by `;`."""
    text = JUDGE + keys + "\n"
    for written in criteria:
        name, _, more = written.partition(":")
        lines = "\n".join(more.split(";"))
        text += f'[[criterion]]\nname = "{name}"\ndescription = "Ask {name}."\n{lines}\n'
    return text + end


LEVELS = 'type = "rubric";levels = ["poor", "fair", "good", "best"]'
FOUR = ("sound", 'clear:type = "likert";weight = 2.0', 'share:type = "numeric";max = 10', f"whole:{LEVELS};id = '1.2'")
FOUR_ANSWERS = {"sound": True, "clear": 4, "share": 2.5, "whole": 2}
TWO_ANSWERS = {"good": True, "bad": False}


def _reward(rule: str, *more: str) -> str:
    return "\n".join((f'[[reward]]\nname = "reward"\n{rule}', *more))


PROGRAMMATIC: dict[str, Folder] = {
    "files": Folder(
        tests={
            "checks.py": checks(
                'file_exists("a.txt")',
                'file_exists("sub")',
                'file_exists("none.txt", weight=2.0)',
                'file_not_exists("a.txt")',
                'file_not_exists("none.txt")',
                'file_contains("a.txt", "brown")',
                'file_contains("a.txt", "purple")',
                'file_contains_regex("a.txt", r"qu.ck\\s")',
                'file_contains_regex("a.txt", "^brown")',
                'file_matches("a.txt", "the quick brown fox")',
                'file_matches("b.txt", "the quick brown fox")',
                'files_equal("a.txt", "same.txt")',
                'files_equal("a.txt", "b.txt")',
                'diff_ratio("b.txt", "the quick brown fox")',
                'diff_ratio("a.txt", "the quick brown fox")',
            )
        }
    ),
    "missing-files": Folder(
        tests={
            "checks.py": checks(
                'file_contains("none", "x")',
                'file_contains_regex("none", "x")',
                'file_matches("none", "x")',
                'files_equal("none", "a.txt")',
                'diff_ratio("none", "x")',
                'json_key_equals("none", "k", 1)',
                'json_path_equals("none", "k", 1)',
                'csv_cell_equals("none", 0, 0, "x")',
                'sqlite_query_equals("none", "select 1", 1)',
                'trajectory_tool_used("bash", path="none")',
                'trajectory_tool_not_used("bash", path="none")',
                'trajectory_turn_count(3, path="none")',
                'file_exists("a.txt")',
            )
        }
    ),
    "commands": Folder(
        tests={
            "checks.py": checks(
                'command_succeeds("true")',
                'command_succeeds("exit 3")',
                'command_succeeds("test -f inner.txt", cwd="sub")',
                'command_succeeds("sleep 30", timeout=1)',
                'command_output_contains("echo one two", "two")',
                'command_output_contains("echo one >&2", "one")',
                'command_output_matches("echo \' one \'", "one")',
                'command_output_matches("echo one; exit 1", "one")',
                'command_output_matches_regex("echo 12", "^[0-9]+$")',
                'command_output_matches_regex("echo x", "[0-9]")',
            )
        }
    ),
    "json": Folder(
        tests={
            "checks.py": checks(
                'json_key_equals("data.json", "n", 3)',
                'json_key_equals("data.json", "n", "3")',
                'json_key_equals("data.json", "none", None)',
                'json_key_equals("bad.json", "n", 3)',
                'json_path_equals("data.json", "deep.list.0.k", "v")',
                'json_path_equals("data.json", "deep.list.-1", True)',
                'json_path_equals("data.json", "deep.list.2", None)',
                'json_path_equals("data.json", "deep.list.9", 1)',
                'json_path_equals("data.json", "deep.list.x", 1)',
                'json_path_equals("data.json", "a.b", 1)',
                'json_path_equals("data.json", "name.0", "x")',
                'json_path_equals("bad.json", "n", 3)',
            )
        }
    ),
    "csv": Folder(
        tests={
            "checks.py": checks(
                'csv_cell_equals("table.csv", 0, 0, "id")',
                'csv_cell_equals("table.csv", 1, 1, "one")',
                'csv_cell_equals("table.csv", 0, "name", "one")',
                'csv_cell_equals("table.csv", 1, "name", "two")',
                'csv_cell_equals("table.csv", 9, "name", "two")',
                'csv_cell_equals("table.csv", 0, 9, "x")',
                'csv_cell_equals("table.csv", 0, "none", "x")',
            )
        }
    ),
    "sqlite": Folder(
        tests={
            "checks.py": checks(
                'sqlite_query_equals("data.db", "select s from t where n = 3", "three")',
                'sqlite_query_equals("data.db", "select count(*) from t", 2)',
                'sqlite_query_equals("data.db", "select n from t where n > 9", 1)',
                'sqlite_query_equals("data.db", "not sql", 1)',
            )
        }
    ),
    "http": Folder(
        tests={
            "checks.py": HEAD
            + 'url = os.environ["OPENAI_BASE_URL"]\n'
            + "rk.http_status_equals(url + '/none', 404, name='found')\n"
            + "rk.http_status_equals(url + '/none', name='fine')\n"
            + "rk.http_response_contains(url + '/none', 'path', name='text')\n"
            + "rk.http_status_equals('http://127.0.0.1:9/', timeout=2)\n"
            + "rk.http_response_contains('http://127.0.0.1:9/', 'x', timeout=2)\n"
        }
    ),
    "trajectory-criteria": Folder(
        tests={
            "checks.py": HEAD
            + 'path = os.path.abspath("trajectory.json")\n'
            + "".join(
                f'rk.{call}, path=path, name="t{k}")\n'
                for k, call in enumerate(
                    (
                        'trajectory_tool_used("bash"',
                        'trajectory_tool_used("bash", min_count=3',
                        'trajectory_tool_used("none"',
                        'trajectory_tool_not_used("bash"',
                        'trajectory_tool_not_used("none"',
                        "trajectory_turn_count(3",
                        "trajectory_turn_count(2",
                        "trajectory_turn_count(1",
                    )
                )
            )
        }
    ),
    "own-criteria": Folder(
        tests={
            "checks.py": HEAD
            + "@criterion\ndef yes(workspace): return (workspace / 'a.txt').exists()\n"
            + "@criterion\ndef no(ws): return False\n"
            + "@criterion\ndef part(ws): return 0.25\n"
            + "@criterion\ndef one(ws): return 1\n"
            + "@criterion\ndef told(ws): return {'score': 0.5, 'reasoning': 'so', 'confidence': 0.75, 'model': 'm'}\n"
            + "@criterion\ndef short(ws): return {'score': True}\n"
        }
    ),
    "factories": Folder(
        tests={
            "checks.py": HEAD
            + "@criterion(description='has {word} {times}')\n"
            + "def has(ws, word, times=1): return (ws / 'a.txt').read_text().count(word) >= times\n"
            + "rk.has('quick')\nrk.has('o', times=2, weight=3)\ncriteria.has('purple', name='colour')\n"
            + f"rk.has({'long ' * 20!r})\nrk.has('quick')\n"
            + "@criterion\ndef replaced(ws): return True\nrk.replaced(weight=4.0)\n"
        }
    ),
    "shared-from-root": Folder(
        tests={
            "root.py": HEAD + "@criterion(shared=True)\ndef at_least(ws, n): return n >= 2\nrk.at_least(3)\n",
            "below/checks.py": HEAD + "rk.at_least(1)\nrk.at_least(2)\n",
        }
    ),
    "overrides-a-builtin": Folder(
        tests={"checks.py": HEAD + "@criterion\ndef file_exists(ws, path): return 0.5\nrk.file_exists('a.txt')\n"}
    ),
    "zero-weights": Folder(tests={"checks.py": scores((1.0, 0.0), (0.5, 0.0))}),
}

LAYOUTS: dict[str, Folder] = {
    "empty": Folder(tests={}),
    "flat-two": Folder(tests={"a.py": scores(1.0, 0.5), "b.py": scores(0.0)}),
    "flat-weights": Folder(
        tests={"a.py": scores(1.0), "b.py": scores(0.0), "reward.toml": _reward("weights = {a = 3.0}")}
    ),
    **{
        f"flat-{rule}": Folder(
            tests={"a.py": scores(1.0), "b.py": scores(0.6), "reward.toml": _reward(f'aggregation = "{rule}"')}
        )
        for rule in AGGREGATIONS
    },
    **{
        f"scoring-{rule}": Folder(
            tests={
                "a.py": scores((1.0, 2.0), 0.3, (1.0, 0.5)),
                "b.py": scores(1.0, 1.0),
                "c.py": scores(0.0, 0.25),
                "reward.toml": "".join(f'[scoring.{stem}]\naggregation = "{rule}"\n' for stem in "abc"),
            }
        )
        for rule in AGGREGATIONS
    },
    "threshold-exact": Folder(
        tests={
            "a.py": scores(1.0, 0.5),
            "reward.toml": _reward('aggregation = "threshold"\nthreshold = 0.75'),
        }
    ),
    "penalty": Folder(
        tests={"a.py": scores(1.0, (1.0, -3.0)), "reward.toml": '[scoring.a]\naggregation = "weighted-sum"\n'}
    ),
    "named-rewards": Folder(
        tests={
            "a.py": scores(1.0),
            "b.py": scores(0.5),
            "reward.toml": _reward(
                "weights = {b = 3.0}",
                '[[reward]]\nname = "all"\naggregation = "all-pass"',
                '[[reward]]\nname = "sum"\naggregation = "weighted-sum"\nweights = {a = 2.0}',
            ),
        }
    ),
    "only-other-reward": Folder(
        tests={"a.py": scores(0.25), "reward.toml": '[[reward]]\nname = "any"\naggregation = "any-pass"\n'}
    ),
    "nested": Folder(
        tests={"top.py": scores(0.5), "one/a.py": scores(1.0), "one/b.py": scores(0.0), "two/deep/c.py": scores(0.3)}
    ),
    "nested-rules": Folder(
        tests={
            "one/a.py": scores(1.0, 0.2),
            "one/b.py": scores(0.6),
            "one/reward.toml": '[[reward]]\naggregation = "threshold"\nthreshold = 0.6\nweights = {b = 2.0}\n',
            "two/a.py": scores(1.0),
            "reward.toml": '[[reward]]\nname = "total"\nweights = {two = 3.0}\n',
        }
    ),
    "rounding": Folder(tests={"one/a.py": scores(1.0, 0.0, 0.0), "one/b.py": scores(1 / 7), "reward.toml": ""}),
    "hidden-folders": Folder(
        tests={".git/a.py": scores(0.0), "__old/a.py": scores(0.0), "_x/a.py": scores(0.5), "b.py": scores(1.0)}
    ),
    "other-toml": Folder(tests={"a.py": scores(1.0), "pyproject.toml": '[project]\nname = "x"\n'}),
    "mixed": Folder(
        tests={
            "quality.toml": asks("good", "bad", keys="weight = 3.0"),
            "checks.py": scores(1.0, 0.0),
            "speed/fast.py": scores(0.75),
        },
        answers=TWO_ANSWERS,
    ),
    "mixed-flat": Folder(
        tests={"quality.toml": asks("good", "bad", keys="weight = 3.0"), "checks.py": scores(1.0)}, answers=TWO_ANSWERS
    ),
    "two-folders": Folder(
        tests={"old/a.py": scores(0.25), "new/a.py": scores(1.0), "new/b/c.py": scores(0.5)}, folders=("old", "new")
    ),
}

JUDGES: dict[str, Folder] = {
    "judge-yes": Folder(tests={"q.toml": asks("good")}, answers={"good": True}),
    "judge-no": Folder(tests={"q.toml": asks("good")}, answers={"good": False}),
    "judge-likert": Folder(tests={"q.toml": asks('clear:type = "likert";points = 7')}, answers={"clear": 3}),
    "judge-numeric": Folder(tests={"q.toml": asks('share:type = "numeric";min = -5;max = 5')}, answers={"share": 1.25}),
    "judge-rubric": Folder(tests={"q.toml": asks(f"whole:{LEVELS}")}, answers={"whole": 2}),
    "judge-four": Folder(tests={"q.toml": asks(*FOUR)}, answers=FOUR_ANSWERS),
    "judge-individual": Folder(tests={"q.toml": asks(*FOUR, keys='mode = "individual"')}, answers=FOUR_ANSWERS),
    **{
        f"judge-{rule}": Folder(
            tests={"q.toml": asks(*FOUR[:2], end=f'[scoring]\naggregation = "{rule}"\n')},
            answers={"sound": True, "clear": 1},
        )
        for rule in AGGREGATIONS
    },
    "judge-underscores": Folder(
        tests={"q.toml": asks(*FOUR[:2], end='[scoring]\naggregation = "all_pass"\n')},
        answers={"sound": True, "clear": 5},
    ),
    "judge-negate": Folder(
        tests={"q.toml": asks("bad:negate = true", f"whole:{LEVELS};negate = true")}, answers={"bad": True, "whole": 1}
    ),
    "judge-annotations": Folder(
        tests={
            "q.toml": asks(
                'bad:annotations = {type = "negative", importance = "must"}',
                'nice:annotations = {importance = "optional"}',
                'plain:annotations = {type = "negative"};negate = false',
                end='[scoring]\naggregation = "required-pass"\n',
            )
        },
        answers={"bad": False, "nice": False, "plain": True},
    ),
    "judge-penalty": Folder(
        tests={"q.toml": asks("good:weight = 2.0", "bad:weight = -1.5", end='[scoring]\naggregation = "weighted-sum"')},
        answers={"good": True, "bad": True},
    ),
    "judge-samples": Folder(
        tests={"q.toml": asks("good", 'clear:type = "likert"', keys="samples = 3")},
        answers={"good": [True, False, True], "clear": [2, 5, 4]},
    ),
    "judge-samples-tie": Folder(tests={"q.toml": asks("good", keys="samples = 2")}, answers={"good": [True, False]}),
    "judge-samples-individual": Folder(
        tests={"q.toml": asks("good", f"whole:{LEVELS}", keys='samples = 3\nmode = "individual"')},
        answers={"good": [False, False, True], "whole": [1, 3, 3]},
    ),
    **{
        f"guard-{mode}-{'flagged' if flagged else 'clear'}": Folder(
            tests={"q.toml": asks("good", f"whole:{LEVELS}", keys=f'guard = "{mode}"')},
            answers={"good": True, "whole": 2, "guard": flagged},
        )
        for mode in ("flag", "penalize")
        for flagged in (False, True)
    },
    "guard-individual": Folder(
        tests={"q.toml": asks("good", keys='guard = "penalize"\nmode = "individual"')},
        answers={"good": True, "guard": True},
    ),
    "guard-samples-tie": Folder(
        tests={"q.toml": asks("good", keys='guard = "penalize"\nsamples = 2')},
        answers={"good": [True, True], "guard": [True, False]},
    ),
    "judge-template": Folder(
        tests={"q.toml": asks(*FOUR, keys='prompt_template = "t.md"'), "t.md": "Judge by this:\n\n{criteria}\n"},
        answers=FOUR_ANSWERS,
    ),
    "judge-reference": Folder(
        tests={"q.toml": asks("good", keys='reference = "a.txt"\ntimeout = 60\nreasoning_effort = "high"')},
        answers={"good": True},
    ),
    "judge-trajectory": Folder(
        tests={"q.toml": asks("good", keys='atif-trajectory = "trajectory.json"')}, answers={"good": True}
    ),
    "judge-criterion-files": Folder(
        tests={"q.toml": asks('good:files = ["a.txt"]', 'bad:files = ["b.txt"]', keys='mode = "individual"')},
        answers=TWO_ANSWERS,
    ),
    "judge-unnamed": Folder(
        tests={"q.toml": JUDGE + '[[criterion]]\ndescription = "Is it good?"\n[[criterion]]\ndescription = "Fast!"\n'},
        answers={"is_it_good": True, "fast": False},
    ),
    "judge-in-reward-toml": Folder(tests={"reward.toml": asks("good")}, answers={"good": True}),
    "judges-nested": Folder(
        tests={"look/a.toml": asks("good"), "look/b.toml": asks("bad", keys="weight = 3"), "feel/c.toml": asks("good")},
        answers=TWO_ANSWERS,
    ),
}

EDGES: dict[str, Folder] = {
    "likert-9999": Folder(
        tests={"q.toml": asks("good", 'clear:type = "likert"')}, answers={"good": True, "clear": 9999}
    ),
    "numeric-below": Folder(tests={"q.toml": asks('share:type = "numeric"')}, answers={"share": -3}),
    "yes-mostly": Folder(tests={"q.toml": asks("good")}, answers={"good": "Yes, mostly"}),
    "likert-as-text": Folder(tests={"q.toml": asks('clear:type = "likert"')}, answers={"clear": "4"}),
    "rubric-fraction": Folder(tests={"q.toml": asks(f"whole:{LEVELS}")}, answers={"whole": 1.5}),
    "required-pass-0.75": Folder(
        tests={"q.toml": asks('clear:type = "likert"', end='[scoring]\naggregation = "required-pass"\n')},
        answers={"clear": 4},
    ),
    "required-pass-all-optional": Folder(
        tests={"q.toml": asks("good:optional = true", end='[scoring]\naggregation = "required-pass"\n')},
        answers={"good": True},
    ),
    "judge-times-out": Folder(tests={"q.toml": asks(*FOUR[:2], keys="timeout = 1")}, fault="stall"),
    "judge-negative-timeout": Folder(tests={"q.toml": asks("good", keys="timeout = -5")}, answers={"good": True}),
    "provider-fails": Folder(
        tests={"q.toml": asks("good"), "checks.py": scores(1.0)}, answers={"good": True}, fault="500"
    ),
    "provider-refuses-key": Folder(tests={"q.toml": asks("good")}, answers={"good": True}, fault="401"),
    "judge-without-files": Folder(
        tests={"q.toml": f'[judge]\njudge = "{MODEL}"\n[[criterion]]\nname = "good"\ndescription = "Ask good."\n'},
        answers={"good": True},
    ),
    "judge-missing-file": Folder(tests={"q.toml": asks("good").replace("main.py", "none.py")}, answers={"good": True}),
    "judge-latin-1-file": Folder(
        tests={"q.toml": asks("good").replace("main.py", "latin.txt")}, answers={"good": True}
    ),
    "same-40-characters": Folder(
        tests={
            "q.toml": JUDGE
            + 'mode = "individual"\n'
            + "".join(f'[[criterion]]\ndescription = "{"The same words again " * 3}{k}"\n' for k in "ab")
        },
        answers={"the_same_words_again_the_same_words_agai": True, "the_same_words_again_the_same_words_agai_2": True},
    ),
    "not-ascii": Folder(
        tests={"q.toml": JUDGE + '[[criterion]]\ndescription = "好吗"\n[[criterion]]\ndescription = "快吗"\n'},
        answers={"criterion_0": True, "criterion_1": False},
    ),
    "same-name": Folder(tests={"q.toml": asks("good", "good")}, answers={"good": True}),
    "model-of-llm-judge": Folder(tests={"q.toml": asks("good", keys='model = "x"')}, answers={"good": True}),
    "judges-lookalike": Folder(
        tests={
            "checks.py": scores(1.0),
            "q.toml": asks("bad").replace("[judge]", "[judges]").replace("[[criterion]]", "[[criteria]]"),
        }
    ),
    "unknown-key": Folder(tests={"q.toml": asks("good", keys="tiemout = 5")}),
    "unknown-type": Folder(tests={"q.toml": asks('good:type = "likret"')}),
    "not-toml": Folder(tests={"q.toml": "[judge\n"}),
    "unknown-weight": Folder(tests={"a.py": scores(1.0), "reward.toml": _reward("weights = {b = 1.0}")}),
    "negative-weight": Folder(tests={"a.py": scores(1.0, (1.0, -1.0))}),
    "latin-1-file": Folder(tests={"checks.py": checks('file_contains("latin.txt", "caf")', 'file_exists("a.txt")')}),
    "latin-1-output": Folder(tests={"checks.py": checks('command_succeeds("cat latin.txt")', 'file_exists("a.txt")')}),
    "missing-cwd": Folder(tests={"checks.py": checks('command_succeeds("true", cwd="none")', 'file_exists("a.txt")')}),
    "zero-turns": Folder(
        tests={"checks.py": HEAD + "rk.trajectory_turn_count(0, path=os.path.abspath('trajectory.json'))\n"}
    ),
    "raises": Folder(tests={"checks.py": returns("1 / 0"), "good.py": scores(1.0)}),
    "raises-over-stale": Folder(tests={"checks.py": returns("1 / 0")}, stale=True),
    "returns-too-much": Folder(tests={"a.py": returns("7"), "b.py": returns("-0.5")}),
    "returns-nan": Folder(tests={"checks.py": returns("float('nan')")}),
    "returns-none": Folder(tests={"checks.py": returns("None")}),
    "returns-text": Folder(tests={"checks.py": returns("'1'")}),
    "returns-more-keys": Folder(tests={"checks.py": returns("{'score': 1.0, 'note': 'x'}")}),
    "async": Folder(tests={"checks.py": HEAD + "@criterion\nasync def c(ws): return True\n"}),
    "exits": Folder(tests={"checks.py": returns("os._exit(0)")}),
    "cannot-import": Folder(tests={"checks.py": scores(1.0), "test_x.py": "import no_such_module\n"}),
    "sibling-import": Folder(
        tests={
            "checks.py": HEAD + "import helper\n@criterion\ndef c(ws): return helper.VALUE\n",
            "helper.py": "VALUE = 0.5\n",
        }
    ),
    "prints": Folder(tests={"checks.py": returns("print('seen') or True")}),
    "stale": Folder(tests={"checks.py": scores(1.0)}, stale=True),
    "unread-factory": Folder(tests={"checks.py": HEAD + "@criterion\ndef c(ws, word): return True\n"}),
    "wrong-decorator-call": Folder(tests={"checks.py": HEAD + "@criterion\ndef c(ws, word): return True\nc('x')\n"}),
}

FOLDERS: dict[str, Folder] = {**PROGRAMMATIC, **LAYOUTS, **JUDGES, **EDGES}
