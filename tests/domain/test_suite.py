"""A suite: everything wrong with it at once, and where its cases come from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.domain import (
    BuiltinJudge,
    Case,
    CaseRef,
    CaseStub,
    CheckJudge,
    ConfigError,
    Criterion,
    InlineCases,
    Suite,
    Threshold,
    duplicates,
)


def judge(name: str, *criteria: str) -> CheckJudge:
    return CheckJudge(name=name, code="return True", criteria=tuple(Criterion(name=text) for text in criteria))


def problems(**fields: Any) -> list[str]:
    try:
        Suite(**{"name": "suite", "judges": (judge("j"),), **fields}).check()
    except ConfigError as error:
        return [problem.message for problem in error.problems]
    return []


def test_a_sound_suite_has_no_problems() -> None:
    found = problems(
        cases=[Case(id="a"), Case(id="b")],
        judges=(judge("j", "x", "y"), judge("k", "x")),
        thresholds={"j": Threshold(min_mean=1)},
    )
    assert found == []


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/a", "a/", "../a", "a\0b"], ids=repr)
def test_a_name_that_is_no_path_segment_is_refused(name: str) -> None:
    (message,) = problems(name=name)
    assert repr(name) in message


@pytest.mark.parametrize("name", ["a", "my suite", "v1.2", "...", "prüfung"])
def test_any_other_name_will_do(name: str) -> None:
    assert problems(name=name) == []


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        pytest.param({"judges": (judge("j"), judge("j"))}, "'j'", id="judge twice"),
        pytest.param({"cases": [Case(id="c"), Case(id="c")]}, "'c'", id="case twice"),
        pytest.param({"thresholds": {"nobody": Threshold(min_mean=1)}}, "'nobody'", id="threshold for no judge"),
        pytest.param({"judges": (judge("j", "x", "x"),)}, "'x'", id="criterion twice"),
        pytest.param({"judges": (BuiltinJudge(name="b", builtin="nosuch"),)}, "'nosuch'", id="no such builtin judge"),
        pytest.param(
            {"judges": (BuiltinJudge(name="b", builtin="no_harmful_content"),)}, "use an LLMJudge", id="asks a model"
        ),
        pytest.param({"judges": (CheckJudge(name="c", code="return ("),)}, "'c'", id="check that is no Python"),
        pytest.param({"judges": (CheckJudge(name="c", code="a\0b"),)}, "'c'", id="check with a NUL"),
        pytest.param({"thresholds": {"j": Threshold(min_pass_rate=1.5)}}, "'j'", id="rate above one"),
        pytest.param({"thresholds": {"j": Threshold(max_error_rate=-0.1)}}, "'j'", id="rate below zero"),
        pytest.param({"thresholds": {"j": Threshold(min_win_rate=math.nan)}}, "'j'", id="rate that is no number"),
        pytest.param({"thresholds": {"j": Threshold(min_mean=math.nan)}}, "'j'", id="mean that is no number"),
        pytest.param({"thresholds": {"j": Threshold(decide_by="points")}}, "'points'", id="unknown way to decide"),
    ],
)
def test_a_name_that_means_two_things_or_nothing_is_a_problem(fields: dict[str, Any], names: str) -> None:
    (message,) = problems(**fields)
    assert names in message


def test_every_problem_is_told_at_once() -> None:
    found = problems(
        name="a/b",
        cases=[Case(id="c"), Case(id="c"), Case(id="d"), Case(id="d")],
        judges=(judge("j", "x", "x"), judge("j")),
        thresholds={"p": Threshold(), "q": Threshold()},
    )
    assert len(found) == 7


def test_criteria_of_different_judges_may_share_a_name() -> None:
    assert problems(judges=(judge("j", "x"), judge("k", "x"))) == []


class _Counted:
    """A source of one's own: the suite takes it as it is."""

    def stubs(self) -> Sequence[CaseStub]:
        return [CaseStub(id="far"), CaseStub(id="far")]

    def ref(self, case_id: str) -> CaseRef:
        return Case(id=case_id)


def test_the_cases_of_any_source_are_checked() -> None:
    (message,) = problems(cases=_Counted())
    assert "'far'" in message


def test_a_source_is_used_as_it_is() -> None:
    source = _Counted()
    assert Suite(name="s", cases=source).source is source


def test_a_list_of_cases_is_a_source_in_the_same_order() -> None:
    cases = [Case(id="b", tags=("slow",), annotations={"acceptable": True}), Case(id="a")]
    stubs = Suite(name="s", cases=cases).source.stubs()
    assert list(stubs) == [CaseStub(id="b", tags=("slow",), annotations={"acceptable": True}), CaseStub(id="a")]


def test_a_case_in_memory_is_loaded_as_it_is() -> None:
    case = Case(id="a", outputs={"x.md": "text"})
    assert InlineCases([case]).ref("a").load() is case


def test_an_unknown_case_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        InlineCases([Case(id="a")]).ref("b")


@given(names=st.lists(st.sampled_from("abcd")))
def test_duplicates_are_each_name_that_repeats_once_in_order_of_repetition(names: list[str]) -> None:
    found = duplicates(names)
    assert set(found) == {name for name, count in Counter(names).items() if count > 1}
    second = [[k for k, other in enumerate(names) if other == name][1] for name in found]
    assert second == sorted(second)
