"""Judges with several criteria: in one call or in one each, asked again, sampled, turned round."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import (
    Binary,
    ConfigError,
    Criterion,
    Levels,
    Likert,
    LLMJudge,
    Mode,
    Numeric,
    Reduce,
    RunResult,
    Scale,
    Score,
    Status,
)
from tests.support.llm import judged
from tests.support.provider import LoopbackProvider
from tests.support.replies import HttpError, Reply, Text, ToolCall, Truncated, Usage, Verdict
from tests.support.request import Request

CRITERIA = (
    Criterion(name="correct", description="It is correct.", scale=Binary()),
    Criterion(name="readable", description="It reads well.", scale=Likert(5)),
    Criterion(name="size", description="How large is it?", scale=Numeric(-1, 1)),
    Criterion(name="tests", description="Is it tested?", scale=Levels(("none", "some", "thorough")), abstain=True),
)
VALUES: dict[str, Any] = {"correct": True, "readable": 4, "size": -0.5, "tests": "some"}
FIELDS = {"correct": "passed", "readable": "score", "size": "score", "tests": "score"}
NAMES = list(VALUES)


def review(*criteria: Criterion, **fields: Any) -> LLMJudge:
    shown = {"prompt": "Look at {{ outputs }}", "model": "claude-sonnet-5-5", "name": "review"}
    return LLMJudge(criteria=criteria or CRITERIA, **{**shown, **fields})


def said(**changes: Any) -> dict[str, Any]:
    """An answer on every criterion; a change replaces one value, and `...` leaves its criterion out."""
    values = {**VALUES, **changes}
    return {
        name: {"rationale": f"{name} because", FIELDS.get(name, "score"): value}
        for name, value in values.items()
        if value is not ...
    }


def told(request: Request) -> str:
    """Everything that a request says, from any place of it."""
    return request.raw.decode()


def scores(result: RunResult) -> dict[str, Score]:
    return {score.criterion: score for score in result.scores}


Script = Callable[[Request], Reply] | Sequence[Reply]


def ask(reply: Script, judge: LLMJudge | None = None) -> tuple[dict[str, Score], list[Request]]:
    """The scores of one case by criterion, and what was asked for them."""
    with LoopbackProvider(reply) as provider:
        result = judged(provider, judges=[judge or review()], max_concurrency=1)
        return scores(result), provider.requests


def test_one_call_answers_every_criterion_on_its_own_scale() -> None:
    found, requests = ask([Verdict(said())])
    assert len(requests) == 1
    assert {name: score.value for name, score in found.items()} == VALUES
    assert {name: score.rationale for name, score in found.items()} == {name: f"{name} because" for name in NAMES}
    assert [found[name].normalised for name in NAMES] == [1.0, 0.75, 0.25, 0.5]


def test_what_a_call_cost_counts_once_for_all_that_it_answers() -> None:
    with LoopbackProvider([Verdict(said(), usage=Usage(input=70, output=9))]) as provider:
        result = judged(provider, judges=[review()])
    assert (result.usage.calls, result.usage.input, result.usage.output) == (1, 70, 9)


def test_the_tool_asks_for_each_rationale_before_its_value_and_for_nothing_else() -> None:
    _, (request,) = ask([Verdict(said())])
    schema = request.schema
    assert schema is not None
    assert (request.tool_name, list(schema["properties"]), schema["required"]) == ("submit_verdicts", NAMES, NAMES)
    assert schema["additionalProperties"] is False
    for name, answer in schema["properties"].items():
        assert list(answer["properties"]) == answer["required"] == ["rationale", FIELDS[name]]
        assert answer["additionalProperties"] is False
    for criterion in CRITERIA:
        assert f'"{criterion.name}": {criterion.description}' in request.system


def test_null_is_offered_only_where_a_model_may_say_that_it_cannot_tell() -> None:
    _, (request,) = ask([Verdict(said())])
    assert request.schema is not None
    nullable = [name for name, answer in request.schema["properties"].items() if '"null"' in json.dumps(answer)]
    assert nullable == ["tests"]


def test_an_abstention_is_no_error_and_in_no_mean() -> None:
    judge = review(*CRITERIA[:3], Criterion(name="tests", scale=Likert(5), abstain=True))
    replies = [Verdict(said(tests=None)), Verdict(said(tests=5))]
    with LoopbackProvider(replies) as provider:
        result = judged(provider, judges=[judge], count=2, max_concurrency=1)
        assert len(provider.requests) == 2
    (summary,) = [summary for summary in result.judges if summary.criterion == "tests"]
    assert (summary.n, summary.abstained, summary.unscored, summary.value) == (1, 1, 0, 5.0)
    assert result.exit_code == 0


@pytest.mark.parametrize("name", ["correct", "readable", "size"])
def test_null_is_no_verdict_where_a_model_must_decide(name: str) -> None:
    found, requests = ask([Verdict(said(**{name: None}))])
    error = found[name].error
    assert error is not None
    assert error.kind == "unparseable"
    assert len(requests) == review().attempts


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        pytest.param({"readable": ...}, "unparseable", id="missing"),
        pytest.param({"readable": "4"}, "unparseable", id="number as text"),
        pytest.param({"readable": True}, "unparseable", id="boolean for a number"),
        pytest.param({"readable": 6}, "off_scale", id="above"),
        pytest.param({"readable": 3.5}, "off_scale", id="between two points"),
        pytest.param({"size": -1.01}, "off_scale", id="below"),
        pytest.param({"tests": "Some"}, "off_scale", id="no such level"),
        pytest.param({"tests": 1}, "unparseable", id="index of a level"),
        pytest.param({"correct": "true"}, "unparseable", id="boolean as text"),
        pytest.param({"correct": 1}, "unparseable", id="number for a boolean"),
    ],
)
def test_one_bad_answer_leaves_only_its_own_criterion_unscored(changes: dict[str, Any], kind: str) -> None:
    (bad,) = changes
    found, requests = ask([Verdict(said(**changes))])
    assert {name: score.value for name, score in found.items() if name != bad} == {
        name: value for name, value in VALUES.items() if name != bad
    }
    error = found[bad].error
    assert error is not None
    assert error.kind == kind
    assert repr(bad) in error.message
    assert len(requests) == review().attempts


@pytest.mark.parametrize(
    "reply",
    [
        ToolCall("submit_verdicts", "[1, 2]"),
        Text("correct: yes, readable: 4"),
        ToolCall("submit_verdicts", json.dumps(said())[:-1] + ', "correct": {"rationale": "no", "passed": false}}'),
        ToolCall("submit_verdicts", json.dumps(said()).replace('"passed": true', '"passed": true, "passed": false')),
    ],
    ids=["no object", "prose", "a criterion twice", "a field twice"],
)
def test_an_answer_that_is_no_verdict_at_all_leaves_every_criterion_unscored(reply: Reply) -> None:
    judge = review(model="openai:/gpt-5.2")  # Anthropic's wire holds parsed arguments, where no key stands twice
    found, _ = ask([reply], judge)
    assert {score.error.kind for score in found.values() if score.error} == {"unparseable"}
    assert all(score.value is None for score in found.values())


def test_what_was_not_asked_for_is_not_read() -> None:
    answer = said() | {"review": {"rationale": "", "passed": False}}
    answer["correct"]["score"] = 1
    found, _ = ask([Verdict(answer)])
    assert {name: score.value for name, score in found.items()} == VALUES


def test_names_that_no_provider_takes_as_a_key_are_numbered_and_never_clash() -> None:
    names = ["Is it correct?", "criterion_1", "größe", "x" * 65, "plain"]
    judge = review(*(Criterion(name=name, scale=Binary()) for name in names))

    def reply(request: Request) -> Reply:
        assert request.schema is not None
        return Verdict({key: {"rationale": key, "passed": True} for key in request.schema["properties"]})

    found, requests = ask(reply, judge)
    assert len(requests) == 1
    assert list(found) == names
    keys = ["criterion_1_", "criterion_1", "criterion_3", "criterion_4", "plain"]
    assert [found[name].rationale for name in names] == keys


def test_individual_criteria_have_a_call_each_with_files_of_their_own(tmp_path: Path) -> None:
    for name in ("common", "own", "other"):
        (tmp_path / f"{name}.md").write_text(f"text of {name}\n")
    criteria = (
        Criterion(name="first", description="FIRST?", scale=Binary(), files=("own.md",)),
        Criterion(name="second", description="SECOND?", scale=Likert(5)),
        Criterion(name="third", description="THIRD?", scale=Binary(), files=("other.md", "common.md")),
    )
    judge = review(*criteria, mode=Mode.INDIVIDUAL, files=("common.md",), prompt="")

    def reply(request: Request) -> Reply:
        value = {"score": 2} if "SECOND?" in request.system else {"passed": True}
        return Verdict({"rationale": "r", **value})

    with LoopbackProvider(reply) as provider:
        result = judged(provider, judges=[judge])
        shown = {
            asked: {name for name in ("common", "own", "other") if f"text of {name}" in request.prompt}
            for request in provider.requests
            for asked in ("FIRST?", "SECOND?", "THIRD?")
            if asked in request.system
        }
        assert len(provider.requests) == 3
    assert shown == {"FIRST?": {"own"}, "SECOND?": {"common"}, "THIRD?": {"common", "other"}}
    assert {name: score.value for name, score in scores(result).items()} == {"first": True, "second": 2, "third": True}
    assert result.usage.calls == 3


def test_individual_criteria_fail_alone() -> None:
    judge = review(*CRITERIA[:2], mode=Mode.INDIVIDUAL, attempts=1)

    def reply(request: Request) -> Reply:
        return HttpError(400) if "reads well" in request.system else Verdict({"rationale": "r", "passed": True})

    found, requests = ask(reply, judge)
    assert found["correct"].value is True
    assert found["readable"].error is not None
    assert len(requests) == 2


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        pytest.param(Verdict(said(readable=9)), "9 is not a whole number from 1 to 5", id="off scale"),
        pytest.param(Verdict(said(tests=...)), "the verdict on 'tests' is missing", id="missing"),
        pytest.param(Verdict(said(correct="yes")), "'passed' on 'correct' must be true", id="wrong type"),
        pytest.param(Text("It is fine."), "no verdict tool call", id="prose"),
        pytest.param(Truncated(said()), "", id="cut off"),
    ],
)
def test_the_model_is_told_what_was_wrong_and_every_attempt_is_counted(bad: Reply, words: str) -> None:
    found, requests = ask([bad, Verdict(said())])
    assert {name: score.value for name, score in found.items()} == VALUES
    first, second = requests
    assert "could not be used" not in told(first)
    assert "could not be used" in told(second)
    assert words in told(second)
    assert "attempt 2 of 3" in told(second)
    usage = found["correct"].usage
    assert usage is not None
    assert (usage.calls, usage.input, usage.output) == (2, 200, 40)


def test_what_an_earlier_attempt_settled_stands() -> None:
    replies = [Verdict(said(readable=9)), Verdict(said(correct=False, readable=2, size=...))]
    found, requests = ask(replies)
    assert {name: score.value for name, score in found.items()} == {**VALUES, "readable": 2}
    assert len(requests) == 2


@pytest.mark.parametrize("attempts", [1, 2, 3, 5])
def test_a_model_that_never_answers_properly_is_asked_as_often_as_the_judge_says(attempts: int) -> None:
    found, requests = ask([Text("hm")], review(attempts=attempts))
    assert len(requests) == attempts
    usage = found["correct"].usage
    assert usage is not None
    assert usage.calls == attempts
    assert len({told(request) for request in requests}) == attempts  # or the journal would answer


def test_an_answer_that_was_asked_for_again_is_kept_as_a_whole() -> None:
    replies = [Verdict(said(readable=9)), Verdict(said())]
    with LoopbackProvider(replies) as provider:
        first = judged(provider, judges=[review()], output="run", max_concurrency=1)
        again = judged(provider, judges=[review()], output="run", max_concurrency=1)
        cached = judged(provider, judges=[review()], output="other", max_concurrency=1)
        assert len(provider.requests) == 2
    assert first.scores == again.scores == cached.scores


def test_a_failure_of_the_second_call_keeps_what_the_first_said() -> None:
    found, _ = ask([Verdict(said(readable=9)), HttpError(400, message="no more")])
    assert found["correct"].value is True
    error = found["readable"].error
    assert error is not None
    assert error.kind == "request_rejected"


def sampled(values: Sequence[Any], scale: Scale | None = None, **fields: Any) -> tuple[Score, int]:
    """The score of a criterion whose samples are answered with these values, and how many were asked."""
    key = "passed" if scale is None else "score"
    replies: list[Reply] = [
        Text("hm") if value is None else Verdict({"rationale": f"r{k}", key: value}) for k, value in enumerate(values)
    ]
    criterion = Criterion(name="review", scale=scale or Binary(), negate=fields.pop("negate", False))
    judge = review(criterion, attempts=1, **{"samples": len(values), **fields})
    found, requests = ask(replies, judge)
    return found["review"], len(requests)


@pytest.mark.parametrize(
    ("values", "scale", "reduce", "value", "agreement"),
    [
        pytest.param([1, 5, 2, 4], Likert(5), Reduce.AUTO, 2, 0.25, id="the lower of two medians"),
        pytest.param([5, 5, 1, 2, 3], Likert(5), Reduce.MAJORITY, 5, 0.4, id="most common number"),
        pytest.param([0.25, -1.0, 0.5], Numeric(-1, 1), Reduce.MEDIAN_LOW, 0.25, 1 / 3, id="median of numbers"),
        pytest.param([True, False], None, Reduce.AUTO, False, 0.5, id="a tie is no pass"),
        pytest.param([True, False, True], None, Reduce.AUTO, True, 2 / 3, id="majority"),
        pytest.param([True, False, True], None, Reduce.MEDIAN_LOW, True, 2 / 3, id="median of booleans"),
        pytest.param(
            ["bad", "good", "good", "fair"], Levels(("bad", "fair", "good")), Reduce.AUTO, "fair", 0.25, id="levels"
        ),
        pytest.param(
            ["good", "bad", "bad"], Levels(("bad", "fair", "good")), Reduce.MAJORITY, "bad", 2 / 3, id="common level"
        ),
    ],
)
def test_samples_are_reduced(
    values: list[Any], scale: Scale | None, reduce: Reduce, value: object, agreement: float
) -> None:
    found, asked = sampled(values, scale, reduce=reduce)
    assert asked == len(values)
    assert found.value == value
    assert found.agreement == pytest.approx(agreement)
    assert [(sample.value, sample.rationale) for sample in found.samples] == [
        (said, f"r{k}") for k, said in enumerate(values)
    ]
    assert found.rationale == f"r{values.index(value)}"


@pytest.mark.parametrize(
    ("values", "min_votes", "value"),
    [
        pytest.param([True, True, None, None], 0, True, id="half is enough"),
        pytest.param([True, None, None], 0, None, id="less than half is not"),
        pytest.param([True, True, True, None], 4, None, id="fewer than asked for"),
        pytest.param([True, None, None, None], 1, True, id="one is enough when the judge says so"),
        pytest.param([False, None, True, True], 3, True, id="an error is no vote against"),
        pytest.param([None, None], 0, None, id="none"),
    ],
)
def test_what_is_unscored_does_not_vote(values: list[Any], min_votes: int, value: bool | None) -> None:
    found, _ = sampled(values, min_votes=min_votes)
    assert found.value is value
    assert (found.status is Status.UNSCORED) == (value is None)
    assert len(found.samples) == len(values)


@pytest.mark.parametrize(("second", "value"), [(Verdict({"rationale": "", "passed": True}), True), (Text("hm"), None)])
def test_no_more_votes_are_wanted_than_an_option_asks_for(second: Reply, value: bool | None) -> None:
    judge = review(Criterion(name="review", scale=Binary()), samples=3, min_votes=3, attempts=1)
    replies = [Verdict({"rationale": "", "passed": True}), second]
    with LoopbackProvider(replies) as provider:
        found = judged(provider, judges=[judge], samples=2, max_concurrency=1).score("case-0000", "review")
    assert (found.value, found.status) == (value, Status.UNSCORED if value is None else Status.SCORED)


@pytest.mark.parametrize(
    ("values", "fields", "asked", "value"),
    [
        pytest.param([True] * 5, {}, 3, True, id="decided at once"),
        pytest.param([True, False, True, True, False], {}, 4, True, id="decided by the fourth"),
        pytest.param([True, False, True, False, False], {}, 5, False, id="decided by the last"),
        pytest.param([False, False, True, True], {}, 3, False, id="half against is a tie, which is no pass"),
        pytest.param([None, True, True, True, True], {}, 4, True, id="what is unscored decides nothing"),
        pytest.param([True] * 5, {"min_votes": 4}, 4, True, id="not before there are votes enough"),
        pytest.param([True] * 5, {"min_votes": 5}, 5, True, id="every vote is wanted"),
        pytest.param([True] * 5, {"early_stop": False}, 5, True, id="off"),
    ],
)
def test_samples_that_cannot_change_the_score_are_not_asked(
    values: list[Any], fields: dict[str, Any], asked: int, value: bool
) -> None:
    found, requests = sampled(values, **{"early_stop": True, **fields})
    assert (requests, found.value, found.status) == (asked, value, Status.SCORED)
    assert len(found.samples) == asked


def test_one_call_is_asked_until_all_its_criteria_are_decided() -> None:
    replies = [Verdict(said(readable=score)) for score in (4, 4, 1, 4, 1)]
    found, requests = ask(replies, review(samples=5, early_stop=True))
    assert len(requests) == 4
    assert {name: score.value for name, score in found.items()} == VALUES


@pytest.mark.parametrize("mode", list(Mode))
def test_every_sample_of_every_criterion_is_kept_with_its_own_words(mode: Mode) -> None:
    def reply(request: Request) -> Reply:
        words: Mapping[str, Any] = {"rationale": f"call {request.index}", "passed": True}
        return Verdict({"a": words, "b": words} if mode is Mode.BATCHED else words)

    criteria = [Criterion(name=name, description=f"{name}?", scale=Binary()) for name in ("a", "b")]
    found, requests = ask(reply, review(*criteria, mode=mode, samples=3))
    assert len(requests) == (3 if mode is Mode.BATCHED else 6)
    words = [sample.rationale for score in found.values() for sample in score.samples]
    assert len(words) == 6
    assert set(words) == {f"call {k}" for k in range(len(requests))}


@pytest.mark.parametrize(
    ("value", "scale", "normalised"),
    [(True, None, 0.0), (False, None, 1.0), (2, Likert(5), 0.75), (-1.0, Numeric(-1, 1), 1.0)],
)
def test_a_negated_criterion_keeps_its_value_and_turns_what_it_counts_for(
    value: object, scale: Scale | None, normalised: float
) -> None:
    found, _ = sampled([value], scale, negate=True)
    assert (found.value, found.normalised) == (value, normalised)


def test_criteria_of_one_judge_must_differ_in_name() -> None:
    with LoopbackProvider() as provider, pytest.raises(ConfigError, match="two criteria called 'correct'"):
        judged(provider, judges=[review(CRITERIA[0], CRITERIA[0])])
