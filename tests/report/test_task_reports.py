"""Coding tasks beside their baseline, in every report: a cell a dimension with its word, falls with their interval,
hard failures first, and how far the judge is to be trusted."""

from __future__ import annotations

import io
import re
import time

import junitparser
import msgspec
import pytest
from rich.console import Console

from adjudge.domain import Calibration, Decision, RunResult, TaskTable, Trust, Word
from adjudge.report import html_report, print_result, result_json, summary_markdown
from adjudge.report.junit import junit_xml
from adjudge.report.tasks import MAX_ROWS
from adjudge.scoring import compare
from tests.report.test_html_report import HOSTILE, Page
from tests.report.test_markdown import tokens
from tests.support.reports import detail
from tests.support.task_runs import BASELINE, NOW, task_run

TOLD = {
    "broken": "failed", "gone": "missing", "falls": "regressed", "lost": "unscored", "other": "changed",
    "wobbles": "noise", "away": "flaky", "silent": "abstained", "fresh": "new", "rises": "improved", "keeps": "same",
}  # fmt: skip
"""Task -> the word for its correctness, in the order of the reports."""


def table(made: RunResult) -> TaskTable:
    assert made.tasks is not None
    return made.tasks


def terminal(made: RunResult, width: int, *, verbose: bool = False) -> str:
    console = Console(file=io.StringIO(), width=width)
    print_result(made, console, verbose=verbose)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def grid(text: str) -> list[list[str]]:
    """The rows of the first table of a summary, as GitHub shows them."""
    rows: list[list[str]] = []
    found = iter(tokens(text))
    for token in found:
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("td_open", "th_open"):
            rows[-1].append(" ".join(next(found).content.replace("<br>", " ").replace("*", "").split()))
        elif token.type == "table_close":
            break
    return [[cell.replace("\\", "") for cell in row] for row in rows]


def test_the_result_holds_every_word_and_the_gravest_first() -> None:
    found = table(task_run())
    assert {row.task: row.word for row in found.rows} == {task: Word(word) for task, word in TOLD.items()}
    assert [row.task for row in found.rows] == list(TOLD)
    assert set(TOLD.values()) == set(Word)
    falls = {cell.dimension: cell for cell in found.rows[2].cells}
    assert (falls["correctness"].before, falls["correctness"].after, falls["correctness"].drop) == (5, 2, 3)
    low, high = falls["correctness"].low, falls["correctness"].high
    assert low is not None
    assert high is not None
    assert 0 < low < 3 < high
    assert found.rows[0].hard == ("expected_files",)
    assert [cell.dimension for cell in found.overall] == ["correctness", "scope"]


def test_what_the_table_says_is_what_the_gate_decided() -> None:
    made = task_run()
    checks = {(check.case, check.criterion): check for check in made.gate.checks}
    for row in table(made).rows:
        for cell in row.cells:
            check = checks.get((row.task, cell.dimension)) or checks.get((row.task, ""))
            assert check is not None
            assert check.metric in (cell.word.value, "hard check", row.word)
    assert sum(check.case == "broken" for check in made.gate.checks) == 1


def test_a_first_run_shows_its_scores_without_a_baseline() -> None:
    found = table(task_run(baseline=False))
    assert not found.compared
    assert [row.word for row in found.rows][:3] == [Word.FAILED, Word.UNSCORED, Word.ABSTAINED]
    assert {row.word for row in found.rows[3:]} == {Word.NEW}
    assert {cell.after for row in found.rows if row.task == "fresh" for cell in row.cells} == {13 / 3, 4}
    for text in (terminal(task_run(baseline=False), 100), summary_markdown(task_run(baseline=False))):
        assert "There is no baseline yet" in text


def test_without_a_judge_there_is_no_empty_table() -> None:
    made = task_run(judge=False)
    assert [row.word for row in table(made).rows] == [Word.FAILED, *[None] * 9]
    for text in (terminal(made, 80), summary_markdown(made), Page(html_report(made)).text):
        flat = " ".join(text.split())
        assert "was not asked, so that there is no score to compare" in flat
        assert "9 without a rubric's score" in flat
    assert [row[0] for row in page_rows(made)[1:]] == [
        "broken hard check expected_files failed", "keeps soft check commit_message failed"
    ]  # fmt: skip
    assert "rises" not in terminal(made, 80)
    fine = msgspec.structs.replace(table(made), rows=table(made).rows[5:6])
    assert b'class="tasks"' not in html_report(msgspec.structs.replace(made, tasks=fine))


@pytest.mark.parametrize("width", [44, 80, 140])
def test_the_terminal_shows_every_cell_at_any_width(width: int) -> None:
    text = terminal(task_run(), width)
    assert all(len(line) <= width for line in text.splitlines())
    flat = " ".join(text.split())
    places = [re.search(rf"(?m)^{task}\b", text) for task in TOLD]
    starts = [place.start() for place in places if place is not None]
    assert len(starts) == len(TOLD)
    assert starts == sorted(starts)
    for word in TOLD.values():
        assert word in flat
    assert "hard check expected_files failed" in flat
    assert "soft check commit_message failed" in flat
    assert re.search(r"2\.00 was 5\.00", flat)
    assert re.search(r"fell 3\.00,? 1\.85 to 4\.15", flat)
    assert "in quarantine until 2999-01-01" in flat


def test_the_summary_has_a_cell_a_dimension() -> None:
    rows = grid(summary_markdown(task_run()))
    assert rows[0] == ["task", "correctness", "scope"]
    assert [row[0].split()[0] for row in rows[1:]] == [*TOLD, "all"]
    cells = {row[0].split()[0]: row[1] for row in rows[1:]}
    for task, word in TOLD.items():
        assert word in cells[task].split()
    assert rows[1][0] == "broken hard check expected_files failed"
    assert cells["falls"] == "2.00 was 5.00 regressed fell 3.00, 1.85 to 4.15"


def page_rows(made: RunResult) -> list[list[str]]:
    """The rows of the table of tasks in the page, each cell as it reads."""
    text = html_report(made).decode()
    part = text[text.index('<table class="tasks">') : text.index('id="h-judges"')]
    rows = re.findall(r"<tr>(.*?)</tr>", part, re.DOTALL)
    plain = [
        [re.sub(r"<[^>]+>", " ", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)] for row in rows
    ]
    return [[" ".join(cell.split()) for cell in row] for row in plain]


def test_the_page_has_a_cell_a_dimension() -> None:
    rows = page_rows(task_run())
    assert rows[0] == ["Task", "correctness", "scope"]
    assert [row[0].split()[0] for row in rows[1:]] == [*TOLD, "All"]
    cells = {row[0].split()[0]: row[1] for row in rows[1:]}
    for task, word in TOLD.items():
        assert word in cells[task].split()
    assert rows[1][0] == "broken hard check expected_files failed"
    assert cells["falls"] == "2.00 was 5.00 regressed fell 3.00, 1.85 to 4.15"


def test_the_page_links_tasks_of_the_run_alone() -> None:
    page = Page(html_report(task_run()))
    links = {str(a["href"]) for tag, a in page.tags if tag == "a" and str(a.get("href")).startswith("#case=")}
    assert links == {f"#case={task}" for task in (*NOW, "broken")}
    assert page.held("index")["words"]["falls"] == "regressed"
    held = page.held("index")
    assert [column[2] for column in held["columns"]] == ["uncalibrated", "uncalibrated", "", ""]
    at = [row[0] for row in held["cases"]].index("falls")
    assert page.held(f"d{at}")["scores"]["0"]["beside"] == "regressed: 2.00 was 5.00, fell 3.00, 1.85 to 4.15 (95%)"


def properties(suite: junitparser.TestSuite) -> dict[str, str]:
    return {found.name: found.value for found in suite.properties()}  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("trust", Trust)
def test_how_far_the_judge_is_to_be_trusted_stands_everywhere(trust: Trust) -> None:
    reason = "correctness: 24 traces, 79% within one point, alpha 0.81"
    made = task_run(calibration=Calibration(trust=trust, reason=reason))
    text = terminal(made, 140)
    assert f"the judge rubric is {trust.value}: {reason}" in text
    assert re.search(rf"(?m)^FAIL .*judge {trust.value}$", text)
    assert len(re.findall(rf"(?m)^rubric\.\w+ .* {trust.value} ", text)) == 2
    summary = summary_markdown(made)
    assert f"The judge rubric is **{trust.value}**: " in summary
    assert len(re.findall(rf"(?m)^\| rubric\.\w+ .*\| {trust.value} \|", summary)) == 2
    page = html_report(made).decode()
    assert reason in page
    assert page.count(f'class="tag j-{trust.value}"') == 4, "the decision, the table of tasks, two rows of judges"
    suites = {suite.name: suite for suite in junitparser.JUnitXml.fromstring(junit_xml(made))}
    for name in ("tasks", "gate"):
        assert properties(suites[name]) == {"calibration": f"{trust.value}: {reason}"}
    assert properties(suites["rubric.correctness"])["beside_people"] == trust.value


def test_a_stale_certificate_says_why() -> None:
    why = "the certificate is stale: it is of a judge with another model opus"
    for text in (terminal(task_run(), 140), summary_markdown(task_run()), html_report(task_run()).decode()):
        assert why in text
    assert why.encode() in junit_xml(task_run())


def test_a_comparison_of_two_runs_says_how_far_their_judges_are_to_be_trusted() -> None:
    calibrated = Calibration(trust=Trust.CALIBRATED, reason="correctness: 24 traces")
    notes = compare(task_run(calibration=calibrated), task_run()).notes
    assert "in the run the judge rubric is calibrated: correctness: 24 traces" in notes
    assert any(note.startswith("in the baseline the judge rubric is uncalibrated: the cert") for note in notes)


def test_a_task_that_fell_or_is_gone_is_a_failure_and_one_without_a_score_an_error() -> None:
    suites = {suite.name: suite for suite in junitparser.JUnitXml.fromstring(junit_xml(task_run()))}
    found = {(case.classname, case.name): case for case in suites["tasks"]}
    kinds = {
        ("broken", "expected_files"): (junitparser.Failure, "hard check"),
        ("gone", "missing"): (junitparser.Failure, "missing"),
        ("falls", "correctness"): (junitparser.Failure, "regressed"),
        ("lost", "correctness"): (junitparser.Error, "unscored"),
        ("other", "changed"): (junitparser.Error, "changed"),
    }
    for key, (kind, word) in kinds.items():
        (only,) = found[key].result
        assert (type(only), only.type) == (kind, word)
        assert key[0] in only.message
    for key in (("away", "correctness"), ("silent", "correctness")):
        assert isinstance(found[key].result[0], junitparser.Skipped)
    bad = {key for key, case in found.items() if case.result and not isinstance(case.result[0], junitparser.Skipped)}
    assert bad == set(kinds)
    assert "improved" in found["rises", "correctness"].system_out
    assert not any("falls" in case.name or "gone" in case.name for case in suites["gate"])
    soft = [case for case in suites["commit_message"] if case.name == "keeps"]
    assert isinstance(soft[0].result[0], junitparser.Skipped), "a soft check does not gate"


def test_every_task_of_a_first_run_is_in_the_suite_of_tasks() -> None:
    (suite,) = [s for s in junitparser.JUnitXml.fromstring(junit_xml(task_run(baseline=False))) if s.name == "tasks"]
    assert {case.classname for case in suite} == {*NOW, "broken"}


@pytest.mark.parametrize("text", HOSTILE)
def test_names_and_reasons_of_tasks_are_text_everywhere(text: str) -> None:
    hostile = task_run(names={"falls": text, "gone": text + "2"}, calibration=Calibration(reason=text))
    benign = task_run(names={"falls": "x", "gone": "x2"}, calibration=Calibration(reason="x"))
    page, plain = Page(html_report(hostile)), Page(html_report(benign))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    assert not any(key.startswith("on") for _, a in page.tags for key in a)
    shapes = [[(t.type, t.tag) for t in tokens(summary_markdown(made)) if t.type not in ("text", "text_special")]
              for made in (hostile, benign)]  # fmt: skip
    assert shapes[0] == shapes[1]
    shown = terminal(hostile, 100) + summary_markdown(hostile) + page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    junitparser.JUnitXml.fromstring(junit_xml(hostile))


def test_a_long_name_stays_within_the_terminal() -> None:
    text = terminal(task_run(names={"falls": "x" * 5_000}), 80)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert text.count("x") < 1_000


def test_of_many_tasks_those_with_something_to_say_are_shown_and_the_rest_is_folded() -> None:
    made = task_run(copies=20)
    quiet = sum(row.word in (Word.NEW, Word.IMPROVED, Word.SAME) for row in table(made).rows if not row.soft)
    assert len(table(made).rows) > MAX_ROWS
    assert quiet > 0
    short, whole = terminal(made, 100), terminal(made, 100, verbose=True)
    assert f"and {quiet} more: new, improved or same" in short
    assert len(re.findall(r"(?m)^fresh\b", short)) == 0
    assert len(re.findall(r"(?m)^fresh(?:-\d+)? +\d", whole)) == 20
    assert f"<summary>{quiet} more tasks: new, improved or same</summary>" in summary_markdown(made)
    page = html_report(made).decode()
    assert f"<summary>{quiet} more tasks: new, improved or same</summary>" in page
    assert page.index(">falls-3<") < page.index(f"{quiet} more tasks") < page.index(">fresh-3<")


def test_200_tasks_are_small_and_quick() -> None:
    made = task_run(copies=20)
    assert len(made.cases) == 200
    known = {stub.id: detail(stub.id) for stub in made.cases}
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        page = html_report(made, details=known.__getitem__)
        seconds.append(time.perf_counter() - start)
    assert len(page) <= 1_000_000
    assert min(seconds) < 2.5, "0.4 s on a quiet machine"


def test_equal_runs_give_equal_bytes() -> None:
    first, second = task_run(), task_run()
    assert result_json(first) == result_json(second)
    assert html_report(first) == html_report(second)
    assert summary_markdown(first) == summary_markdown(second)


def test_a_run_of_no_tasks_says_nothing_of_them() -> None:
    made = RunResult(suite="x", gate=task_run().gate)
    assert made.tasks is None
    for text in (terminal(made, 100), summary_markdown(made)):
        assert "calibrated" not in text
    assert b'id="h-tasks"' not in html_report(made)
    assert b'name="tasks"' not in junit_xml(made)


def test_the_run_fails_for_what_fell_alone() -> None:
    assert task_run().gate.decision is Decision.FAIL
    assert len(BASELINE) == len(TOLD) - 1
