"""simulator_provenance: who answered the agent's questions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.judges.builtin.trajectories import Event, call, result, sub, verdict


def ask(*questions: str, id: str = "q1", **given: Any) -> Event:
    return call("AskUserQuestion", id, questions=[{"question": text} for text in questions], **given)


def provenance(*events: Event, **record: Any) -> bool:
    return verdict("simulator_provenance", list(events), record=record)


def test_where_nothing_is_asked_it_passes() -> None:
    assert provenance()
    assert provenance(call("Read", "t1"), result("t1", {"source": "fallback"}))


@pytest.mark.parametrize("key", ["provenance", "source"])
@pytest.mark.parametrize(
    ("word", "passes"),
    [
        ("override", True),
        ("llm", True),
        ("simulator", True),
        ("fallback", False),
        ("disabled", False),
        ("error", False),
    ],
)
def test_the_origin_decides_wherever_the_result_holds_it(key: str, word: str, passes: bool) -> None:
    for given in (
        result("q1", "blue", **{key: word}),
        result("q1", {"answer": "blue", key: word}),
        result("q1", json.dumps({"answers": {"Which?": "blue"}, key: word})),
        result("q1", [{"type": "text", "text": json.dumps({"meta": {key: {"source": word}}})}]),
    ):
        assert provenance(ask("Which?"), given) is passes


@pytest.mark.parametrize(("word", "passes"), [("llm", True), ("fallback", False)])
def test_hooks_may_tell_by_call_or_by_question(word: str, passes: bool) -> None:
    for told in ({"tool_use_id": "q1", "provenance": word}, {"question": "Which?", "source": word}):
        hooks = {"data": {"answers": [told]}}
        assert provenance(ask("Which?"), result("q1", "blue"), hook_outputs=hooks) is passes


def test_an_answer_that_is_an_error_fails() -> None:
    assert not provenance(ask("Which?"), result("q1", "denied", is_error=True, source="llm"))


def test_questions_without_an_answer_fail() -> None:
    assert not provenance(ask("Which?"))
    assert not provenance(ask("Which?"), result("q1", ""))
    first = [ask("Which?"), result("q1", "blue", source="llm")]
    assert not provenance(*first, ask("How many?", id="q2"))
    assert not provenance(*first, sub(ask("How many?", id="q2")))
    assert provenance(*first, ask("How many?", id="q2"), result("q2", "5", source="override"))


@pytest.mark.parametrize("answers", [{"A?": "x"}, {"A?": "x", "B?": ""}, {"Header": "x"}, {}])
def test_a_call_of_which_some_questions_are_answered_fails(answers: dict[str, str]) -> None:
    assert not provenance(ask("A?", "B?"), result("q1", {"answers": answers, "source": "llm"}))


def test_each_question_has_its_own_origin() -> None:
    def told(second: str) -> Event:
        told = [{"question": "A?", "answer": "x", "source": "llm"}, {"question": "B?", "answer": "y", "source": second}]
        return result("q1", {"answers": told})

    assert provenance(ask("A?", "B?"), told("override"))
    assert not provenance(ask("A?", "B?"), told("fallback"))


def test_an_answer_of_unknown_origin_is_no_verdict() -> None:
    for given in (result("q1", "blue"), result("q1", "blue", source="elsewhere"), result("q1", 'the "source": "llm"')):
        with pytest.raises(ValueError, match=r"not recorded who answered 'Which\?'"):
            provenance(ask("Which?"), given)
