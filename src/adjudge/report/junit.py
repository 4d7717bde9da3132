"""`junit.xml`: one test suite a judge, one test case a case; failures, errors and skips told apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from adjudge.domain import Decision, JudgeSummary, RunResult, Score, Status
from adjudge.report import words

if TYPE_CHECKING:
    from junitparser import TestCase

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(result: RunResult) -> bytes:
    """The result as JUnit XML. A false value is a failure, unscored an error, a skipped or abstained one a skip.

    Judges that score with numbers fail no single case; what the gate says of them is in the suite `gate`.
    """
    import junitparser

    document = junitparser.JUnitXml(name=_xml(f"adjudge: {result.suite}"))
    scores: dict[tuple[str, str], list[Score]] = {}
    for score in result.scores:
        scores.setdefault((score.judge, score.criterion), []).append(score)
    for summary in result.judges:
        suite = junitparser.TestSuite(_xml(words.judge_name(summary)))
        suite.add_property("judge", _xml(summary.judge))
        suite.add_property("criterion", _xml(summary.criterion))
        for name, text in _properties(summary).items():
            suite.add_property(name, _xml(text))
        column = scores.get((summary.judge, summary.criterion), ())
        suite.add_testcases([_case(score, summary) for score in column])
        document.add_testsuite(suite)
    gate = junitparser.TestSuite("gate")
    for check in result.gate.checks:
        case = junitparser.TestCase(_xml(f"{check.judge} {check.metric}"), classname="gate")
        if check.decision is Decision.FAIL:
            case.result = [junitparser.Failure(_xml(check.reason), "threshold")]
        elif check.decision is not Decision.PASS:
            case.result = [junitparser.Error(_xml(check.reason), check.decision.value)]
        gate.add_testcase(case)
    document.add_testsuite(gate)
    document.update_statistics()  # type: ignore[no-untyped-call]
    rendered: str | bytes = document.tostring()  # type: ignore[no-untyped-call]
    return (rendered.encode() if isinstance(rendered, str) else rendered) + b"\n"


def _case(score: Score, summary: JudgeSummary) -> TestCase:
    import junitparser

    case = junitparser.TestCase(_xml(score.case), classname=_xml(words.judge_name(summary)))
    if score.status is Status.UNSCORED and score.error is not None:
        case.result = [junitparser.Error(_xml(str(score.error)), score.error.kind.value)]
    elif score.status in (Status.SKIPPED, Status.ABSTAINED):
        case.result = [junitparser.Skipped(score.status.value)]
    elif score.value is False:
        case.result = [junitparser.Failure(_xml(score.rationale) or "fail", "verdict")]
    elif score.rationale or score.value is not None:
        case.system_out = _xml(f"{words.value(score.value)}: {score.rationale}")
    return case


def _properties(summary: JudgeSummary) -> dict[str, str]:
    found = {"kind": summary.kind, "result": words.metric(summary), "beside_people": words.people(summary.people)}
    if summary.model:
        found["model"] = summary.model
    if words.remarks(summary):
        found["remarks"] = "; ".join(words.remarks(summary))
    return found


def _xml(text: str) -> str:
    """Text without what XML 1.0 cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
