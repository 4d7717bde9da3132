"""`junit.xml`, read back as CI systems read it."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import junitparser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.domain import (
    Decision,
    ErrorKind,
    Failure,
    GateCheck,
    HumanAgreement,
    JudgeSummary,
    RunResult,
    Score,
    Status,
)
from adjudge.report.junit import junit_xml
from tests.support.build import RESULT, result, score, summary

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "closes the element": "</failure></testcase><testcase name='forged'/>",
    "cdata": "]]><![CDATA[ x ]]>",
    "entity": "&lol; &#0; \"quoted\" 'single'",
    "doctype": '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>&e;',
    "ansi": "\x1b[2J\x1b]0;title\x07",
    "bidi": "\u202egnp.exe\u2066",
    "nul": "a\x00b",
    "lone surrogate": "a\ud800b\udfffc",
    "noncharacter": "a\ufffeb\uffffc",
    "emoji": "\U0001f600",
    "lines": "one\r\ntwo\n\tthree",
    "one megabyte on a line": "x" * 2**20,
}
ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=30)


def read(made: RunResult) -> dict[str, Any]:
    """Suite name -> suite."""
    return {suite.name: suite for suite in junitparser.JUnitXml.fromstring(junit_xml(made))}


def only(found: Score) -> Any:
    """The test case of a result with one score."""
    (case,) = read(result([found]))["good"]
    return case


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        pytest.param(score(True), None, id="true passes"),
        pytest.param(score(0), None, id="a number fails no case"),
        pytest.param(score(0.0), None, id="a fraction fails no case"),
        pytest.param(score("poor"), None, id="a level fails no case"),
        pytest.param(score(False), junitparser.Failure, id="false fails"),
        pytest.param(score(), junitparser.Error, id="unscored is an error"),
        pytest.param(score(status=Status.ABSTAINED), junitparser.Skipped, id="abstained is skipped"),
        pytest.param(score(status=Status.SKIPPED), junitparser.Skipped, id="skipped is skipped"),
    ],
)
def test_failures_errors_and_skips_are_told_apart(found: Score, kind: type | None) -> None:
    assert [type(entry) for entry in only(found).result] == ([] if kind is None else [kind])


def test_the_counts_of_a_suite_are_those_of_its_cases() -> None:
    found = [
        score(True, case="a"),
        score(False, case="b"),
        score(False, case="c"),
        score(case="d"),
        score(case="e", status=Status.SKIPPED),
        score(case="f", status=Status.ABSTAINED),
        score(case="g", status=Status.SKIPPED),
    ]
    suite = read(result(found))["good"]
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (7, 2, 1, 3)
    assert [case.name for case in suite] == list("abcdefg")


def test_a_failure_says_why() -> None:
    assert only(score(False, rationale="no tests")).result[0].message == "no tests"


def test_a_failure_without_a_reason_has_a_message_all_the_same() -> None:
    assert only(score(False)).result[0].message


def test_an_error_says_its_kind_and_message() -> None:
    (error,) = only(score(error=Failure(ErrorKind.RATE_LIMITED, "429 five times"))).result
    assert error.type == "rate_limited"
    assert "429 five times" in error.message


def test_abstained_is_not_called_skipped() -> None:
    assert only(score(status=Status.ABSTAINED)).result[0].message == "abstained"


def test_a_number_and_its_rationale_are_in_the_output() -> None:
    output = only(score(3.5, rationale="half right")).system_out
    assert "3.5" in output
    assert "half right" in output


@pytest.mark.parametrize(
    ("decision", "kind"),
    [
        (Decision.PASS, None),
        (Decision.FAIL, junitparser.Failure),
        (Decision.BROKEN, junitparser.Error),
        (Decision.INCONCLUSIVE, junitparser.Error),
    ],
)
def test_each_comparison_of_the_gate_is_a_case_of_the_suite_gate(decision: Decision, kind: type | None) -> None:
    checks = [GateCheck("good", "mean", decision, "mean 3, below 4")]
    (case,) = read(result([score(3)], checks=checks, decision=decision))["gate"]
    assert [type(entry) for entry in case.result] == ([] if kind is None else [kind])
    assert all(entry.message == "mean 3, below 4" for entry in case.result)
    assert "good" in case.name


def test_a_judge_is_shown_with_its_result_and_its_calibration() -> None:
    found = [score(True)]
    people = HumanAgreement(n=4, agree=3, false_pass=1, false_fail=0)
    labelled = summary(found, metric="pass_rate", value=1.0, model="anthropic:m", people=people)
    properties = {p.name: p.value for p in read(result(found, judges=[labelled]))["good"].properties()}
    assert properties["model"] == "anthropic:m"
    assert "1.00" in properties["result"]
    assert "3/4" in properties["beside_people"]
    plain = {p.name: p.value for p in read(result(found))["good"].properties()}
    assert plain["beside_people"] == "uncalibrated"


def test_judges_keep_their_order_and_cases_their_judge() -> None:
    found = [score(True, by="z"), score(False, by="b")]
    suites = read(result(found, judges=[summary(found[:1], by="z"), summary(found[1:], by="b")]))
    assert list(suites) == ["z", "b", "gate"]
    assert [case.classname for name in ("z", "b") for case in suites[name]] == ["z", "b"]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param([("gate", "gate")], id="a judge called gate"),
        pytest.param([("a", "b"), ("a.b", "a.b")], id="a criterion and a judge that read the same"),
    ],
)
def test_suites_that_read_the_same_are_not_mixed(names: list[tuple[str, str]]) -> None:
    judges = [JudgeSummary(judge=by, criterion=criterion, kind="check", n=1) for by, criterion in names]
    found = [
        Score(case="a", judge=by, criterion=criterion, status=Status.SCORED, value=True) for by, criterion in names
    ]
    made = result(found, judges=judges, checks=[GateCheck("x", "mean", Decision.PASS, "fine")])
    suites = list(junitparser.JUnitXml.fromstring(junit_xml(made)))
    assert [len(list(suite)) for suite in suites] == [1] * (len(names) + 1)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda text: result([score(True, rationale=text)]), id="rationale of a pass"),
        pytest.param(lambda text: result([score(False, rationale=text)]), id="rationale of a fail"),
        pytest.param(lambda text: result([score(error=Failure(ErrorKind.RAISED, text))]), id="error"),
        pytest.param(lambda text: result([score(text)]), id="level"),
        pytest.param(lambda text: result([score(True, case=text)]), id="case"),
        pytest.param(lambda text: result([score(True, by=text)], judges=[summary([score(True)], by=text)]), id="judge"),
        pytest.param(lambda text: result([score(True)], suite=text), id="suite"),
        pytest.param(lambda text: result(checks=[GateCheck(text, "m", Decision.FAIL, text)]), id="gate"),
    ],
)
def test_hostile_text_shows_and_does_nothing(make: Any, text: str) -> None:
    data = junit_xml(make(text))
    root = ET.fromstring(data)
    benign = ET.fromstring(junit_xml(make("benign")))
    assert [element.tag for element in root.iter()] == [element.tag for element in benign.iter()]
    assert b"\x1b" not in data
    assert b"\x00" not in data


@pytest.mark.parametrize("name", ["script", "cdata", "entity", "emoji", "bidi", "one megabyte on a line"])
def test_what_xml_can_hold_arrives_whole(name: str) -> None:
    text = HOSTILE[name]
    assert only(score(False, rationale=text)).result[0].message == text
    assert text in only(score(True, rationale=text)).system_out
    assert only(score(True, case=text)).name == text


@pytest.mark.parametrize("name", ["ansi", "nul", "lone surrogate", "noncharacter"])
def test_what_xml_cannot_hold_is_replaced_where_it_stood(name: str) -> None:
    shown = only(score(False, rationale=HOSTILE[name])).result[0].message
    assert len(shown) == len(HOSTILE[name])
    assert "\N{REPLACEMENT CHARACTER}" in shown


@given(text=ANY_TEXT)
def test_any_text_leaves_well_formed_xml(text: str) -> None:
    case = only(score(False, case=text, rationale=text))
    assert len(case.result) == 1


@settings(max_examples=50)
@given(made=RESULT)
def test_any_result_is_well_formed_and_the_same_twice(made: RunResult) -> None:
    data = junit_xml(made)
    assert junit_xml(made) == data
    suites = list(junitparser.JUnitXml.fromstring(data))
    assert len(suites) == len(made.judges) + 1
