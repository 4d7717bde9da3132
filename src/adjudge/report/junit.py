"""`junit.xml`: one test suite a judge, one test case a case; failures, errors and skips told apart. Coding tasks have a
suite more, with how each stands beside its baseline."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import TYPE_CHECKING

from adjudge.domain import Decision, GateCheck, JudgeSummary, RunResult, Score, Status, TaskRow, Word
from adjudge.report import tasks, words

if TYPE_CHECKING:
    from junitparser import TestCase, TestSuite

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(result: RunResult) -> bytes:
    """The result as JUnit XML. A false value is a failure, unscored an error, a skipped or abstained one a skip.

    Judges that score with numbers fail no single case; what the gate says of them is in the suite `gate`, and what it
    says of single tasks in the suite `tasks`. Soft checks of tasks, and hard ones in quarantine, are skips when false.
    """
    import junitparser

    document = junitparser.JUnitXml(name=_xml(f"adjudge: {result.suite}"))
    scores: dict[tuple[str, str], list[Score]] = {}
    for score in result.scores:
        scores.setdefault((score.judge, score.criterion), []).append(score)
    rows = result.tasks.rows if result.tasks is not None else ()
    admitted = {(row.task, name) for row in rows for name in (*row.soft, *(row.hard if row.quarantined else ()))}
    for summary in result.judges:
        suite = junitparser.TestSuite(_xml(words.judge_name(summary)))
        suite.add_property("judge", _xml(summary.judge))
        suite.add_property("criterion", _xml(summary.criterion))
        for name, text in _properties(result, summary).items():
            suite.add_property(name, _xml(text))
        column = scores.get((summary.judge, summary.criterion), ())
        suite.add_testcases([_case(score, summary, admitted) for score in column])
        document.add_testsuite(suite)
    of_tasks = [check for check in result.gate.checks if check.case]
    if result.tasks is not None:
        suite = _trusting(result, "tasks")
        suite.add_testcases([_task(check) for check in of_tasks])
        told = {check.case for check in of_tasks}
        suite.add_testcases([_untold(row) for row in rows if row.task not in told])
        document.add_testsuite(suite)
    gate = _trusting(result, "gate")
    for check in result.gate.checks:
        if not check.case or result.tasks is None:
            gate.add_testcase(_checked(check, f"{check.judge} {check.metric}", "gate", "threshold"))
    document.add_testsuite(gate)
    document.update_statistics()  # type: ignore[no-untyped-call]
    rendered: str | bytes = document.tostring()  # type: ignore[no-untyped-call]
    return (rendered.encode() if isinstance(rendered, str) else rendered) + b"\n"


def _trusting(result: RunResult, name: str) -> TestSuite:
    """A suite of comparisons, with how far the judge of coding tasks is to be trusted."""
    import junitparser

    suite = junitparser.TestSuite(name)
    if result.tasks is not None:
        calibration = result.tasks.calibration
        suite.add_property("calibration", _xml(f"{calibration.trust.value}: {calibration.reason}"))
    return suite


def _task(check: GateCheck) -> TestCase:
    """How one dimension of a task stands beside its baseline, or a hard check that it failed."""
    import junitparser

    of = check.judge if check.metric == _HARD else check.criterion or check.metric
    case = _checked(check, of, check.case, check.metric)
    if check.decision is Decision.PASS and check.metric in (Word.ABSTAINED, Word.FLAKY, _HARD):
        case.result = [junitparser.Skipped(_xml(check.reason))]
    elif check.decision is Decision.PASS:
        case.system_out = _xml(check.reason)
    return case


def _untold(row: TaskRow) -> TestCase:
    """A task of which the gate says nothing: it passed its hard checks, and there is no baseline."""
    import junitparser

    case = junitparser.TestCase("hard checks", classname=_xml(row.task))
    case.system_out = _xml("; ".join([*tasks.remarks(row), *map(tasks.beside, row.cells)]))
    return case


_HARD = "hard check"


def _checked(check: GateCheck, name: str, classname: str, kind: str) -> TestCase:
    import junitparser

    case = junitparser.TestCase(_xml(name), classname=_xml(classname))
    if check.decision is Decision.FAIL:
        case.result = [junitparser.Failure(_xml(check.reason), kind)]
    elif check.decision is not Decision.PASS:
        case.result = [junitparser.Error(_xml(check.reason), kind if check.case else check.decision.value)]
    return case


def _case(score: Score, summary: JudgeSummary, admitted: Container[tuple[str, str]]) -> TestCase:
    import junitparser

    case = junitparser.TestCase(_xml(score.case), classname=_xml(words.judge_name(summary)))
    if score.status is Status.UNSCORED and score.error is not None:
        case.result = [junitparser.Error(_xml(str(score.error)), score.error.kind.value)]
    elif score.status in (Status.SKIPPED, Status.ABSTAINED):
        case.result = [junitparser.Skipped(score.status.value)]
    elif score.value is False and (score.case, score.judge) in admitted:
        case.result = [junitparser.Skipped(_xml(f"does not gate: {score.rationale}"))]
    elif score.value is False:
        case.result = [junitparser.Failure(_xml(score.rationale) or "fail", "verdict")]
    elif score.rationale or score.value is not None:
        case.system_out = _xml(f"{words.value(score.value)}: {score.rationale}")
    return case


def _properties(result: RunResult, summary: JudgeSummary) -> dict[str, str]:
    found = {"kind": summary.kind, "result": words.metric(summary), "beside_people": words.trusted(result, summary)}
    if summary.model:
        found["model"] = summary.model
    if words.remarks(summary):
        found["remarks"] = "; ".join(words.remarks(summary))
    return found


def _xml(text: str) -> str:
    """Text without what XML 1.0 cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
