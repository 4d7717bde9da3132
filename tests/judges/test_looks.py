"""What a check looks at, as far as its text says so; and that checks which do not look at a trajectory are the same
without one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.cases import OF_TRAJECTORY
from adjudge.judges.looks import keys_used
from tests.support.configs import check, write_suite


@pytest.mark.parametrize(
    ("code", "keys"),
    [
        ("return True", set()),
        ("return 'x' in outputs['files']['a.md']", {"files"}),
        (
            "a = outputs.get('files', outputs['inputs'])\nreturn [outputs['case_id'] for _ in a]",
            {"files", "inputs", "case_id"},
        ),
        ("def f():\n  return outputs['events']\nreturn f()", {"events"}),
        ("outputs['files']['new'] = 1\nreturn True", {"files"}),
    ],
)
def test_what_stands_there_is_known(code: str, keys: set[str]) -> None:
    assert keys_used(code) == frozenset(keys)


@pytest.mark.parametrize(
    "code",
    [
        "return len(outputs)",
        "for key in outputs: pass\nreturn True",
        "name = 'events'\nreturn outputs[name]",
        "return outputs.get(*['events'])",
        "other = outputs\nreturn other['events']",
        "import json\nreturn json.dumps(outputs)",
        "return 'events' in outputs",
        "return outputs.items()",
        "return outputs['files'], outputs",
        "outputs = {}\nreturn outputs['files']",
        "return eval('outputs')",
        "return locals()['outputs']",
        "import sys\nreturn sys._getframe().f_locals['outputs']",
        "return f'{outputs}'",
        "return (lambda outputs: outputs['files'])(outputs)",
        "return outputs[1]",
        "return (",
    ],
)
def test_what_might_look_at_anything_is_not(code: str) -> None:
    assert keys_used(code) is None


def test_a_condition_is_looked_at_too() -> None:
    assert keys_used("annotations['x'] and outputs['events']", expression=True) == frozenset({"events"})
    assert keys_used("any(outputs)", expression=True) is None


@pytest.mark.parametrize("also", [[], [check("looks", "return len(outputs['events']) == 1, str(sorted(outputs))")]])
def test_a_light_check_says_the_same_beside_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, also: list[dict[str, Any]]
) -> None:
    monkeypatch.chdir(tmp_path)
    event = {"type": "assistant", "text": "Hello."}
    cases = {"a": {"input.yaml": "request: x\n", "output/a.md": "said", "events.json": json.dumps([event])}}
    light = check("light", "return outputs['files']['output/a.md'] == 'said', outputs['case_id']")
    asks = check("asks", "return True", condition="outputs['conversation'] == 'Hello.'")
    result = adjudge.run(write_suite(tmp_path, [light, asks, *also], cases), output="run", workers=1)
    assert (result.score("a", "light").value, result.score("a", "light").rationale) == (True, "a")
    assert result.score("a", "asks").value is True
    if also:
        looked = result.score("a", "looks")
        assert looked.value is True
        assert all(f"'{key}'" in looked.rationale for key in OF_TRAJECTORY)
    again = adjudge.run(write_suite(tmp_path, [light], cases), output="run", workers=1)
    assert again.score("a", "light").value is True


def test_a_check_that_does_not_look_at_a_trajectory_does_not_need_one_that_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cases = {"a": {"input.yaml": "request: x\n", "output/a.md": "said", "events.json": "{"}}
    light = check("light", "return 'output/a.md' in outputs['files']")
    assert adjudge.run(write_suite(tmp_path, [light], cases), output="one", workers=1).score("a", "light").value is True
    looks = check("looks", "return bool(outputs['events'])")
    result = adjudge.run(write_suite(tmp_path, [looks], cases), output="two", workers=1)
    assert result.score("a", "looks").value is None
