"""`report.html`, read as a browser reads it before any script runs, and unpacked as its script does."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
import zlib
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings

from adjudge.domain import (
    Case,
    CaseDetail,
    CaseStub,
    Comparison,
    Decision,
    ErrorKind,
    Failure,
    GateCheck,
    JudgeComparison,
    JudgeSummary,
    RunResult,
    RunTotals,
    Score,
    Status,
)
from adjudge.report import html_report
from adjudge.report.html.payload import level, visible
from adjudge.report.html.plots import MAX_BINS, bars, distribution, histogram, scale_of, tone
from tests.support.build import RESULT, result, score, summary
from tests.support.reports import detail, full_result

HOSTILE = (
    "<script>window.owned=1</script>",
    "</script><script>window.owned=1</script>",
    "<!--<script>",
    "]]><img src=x onerror=window.owned=1>",
    "\x1b[31mred\x1b[0m \x07",
    "\u202egnp.exe\u2066",
    "{{ 7 * 7 }}{% raw %}",
    "half \ud800 a character",
    '" onmouseover="window.owned=1',
)


class Page(HTMLParser):
    """Tags with their attributes, the text outside scripts, and what each script element holds."""

    def __init__(self, made: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self._raw: str = ""
        self.feed(made.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._raw = tag if tag in ("script", "style") else ""
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self._raw = ""

    def handle_data(self, data: str) -> None:
        if self._raw == "script":
            attributes, held = self.scripts[-1]
            self.scripts[-1] = (attributes, held + data)
        elif not self._raw:
            self.text += data

    def held(self, name: str) -> Any:
        data = next(text for attributes, text in self.scripts if attributes.get("id") == name)
        return json.loads(data if name == "index" else zlib.decompress(base64.b64decode(data)))


def test_the_page_says_what_was_decided_and_why() -> None:
    page = Page(html_report(full_result()))
    text = page.text
    for word in ("FAIL", "invoices", "correct: pass rate 0.64 is below 0.8", "the agent is not installed", "timed out"):
        assert word in text
    for word in (
        "it needs the extra",
        "the key is unknown",
        "uncalibrated",
        "10/12 agree",
        "0.48 to 0.77 (95%, Wilson)",
    ):
        assert word in text
    assert "Win rate" in text
    assert "25/40 stable over 3 samples" in text


def test_nothing_is_fetched_and_only_its_own_script_may_run() -> None:
    made = html_report(full_result(), details=detail)
    page = Page(made)
    policy = next(str(a["content"]) for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    runs = [text for attributes, text in page.scripts if "type" not in attributes]
    assert len(runs) == 1
    digest = base64.b64encode(hashlib.sha256(runs[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    links = [str(value) for _, a in page.tags for key, value in a.items() if key in ("src", "href", "action", "srcset")]
    assert all(link.startswith(("#", "data:,")) for link in links)
    assert not any(key.startswith("on") or key == "style" for _, a in page.tags for key in a)


def test_tables_have_scopes_and_drawings_have_words() -> None:
    page = Page(html_report(full_result()))
    assert all("scope" in a for tag, a in page.tags if tag == "th")
    assert all(a.get("aria-label") for tag, a in page.tags if tag == "svg")
    assert {"header", "main", "footer", "h1"} <= {tag for tag, _ in page.tags}
    (dialog,) = [a for _, a in page.tags if a.get("role") == "dialog"]
    assert (dialog["aria-modal"], dialog["aria-labelledby"]) == ("true", "case-title")
    assert any(a.get("aria-live") for _, a in page.tags)


def test_equal_input_gives_equal_bytes() -> None:
    assert html_report(full_result(), details=detail) == html_report(full_result(), details=detail)


def test_200_cases_with_long_trajectories_are_small_and_quick() -> None:
    made = full_result(200)
    known = {stub.id: detail(stub.id) for stub in made.cases}
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        page = html_report(made, details=known.__getitem__)
        seconds.append(time.perf_counter() - start)
    assert len(page) <= 1_000_000
    assert min(seconds) < 2.5, "0.25 s on a quiet machine"
    events = Page(page).held("d3")["events"]
    assert events["total"] > len(events["items"]) > 4
    assert events["where"] == "/runs/1/case-0003"


@pytest.mark.parametrize("text", HOSTILE)
def test_what_was_judged_is_text_everywhere(text: str) -> None:
    plain, hostile = Page(_page_of("harmless")), Page(_page_of(text))
    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in plain.tags]
    assert not any(key.startswith("on") for _, a in hostile.tags for key in a)
    shown = hostile.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    assert hostile.held("index")["cases"][0][0] == text.encode("utf-8", "replace").decode()


def _page_of(text: str) -> bytes:
    scores = [score(False, case=text, by=text, rationale=text), score(case=text, error=Failure(ErrorKind.RAISED, text))]
    made = result(
        scores, judges=[summary(scores[:1], by=text, model=text), summary(scores[1:], first_failure=text)],
        checks=[GateCheck(text, "m", Decision.FAIL, text)], suite=text, description=text, selection=text,
        cases=(CaseStub(text, (text,), {text: text}),),
    )  # fmt: skip
    case = Case(id=text, inputs={text: text}, outputs={text: text}, events=({"type": "assistant", "text": text},))
    return html_report(made, details=lambda _: CaseDetail(case=case, baseline={text: ""}), title=text, analysis=text)


def test_a_line_of_5_megabytes_is_cut_and_says_so() -> None:
    case = Case(id="a", outputs={"big.txt": "<" + "x\u202e" * 2_500_000}, directory="/runs/a")
    made = html_report(result([score(True)]), details=lambda _: CaseDetail(case=case))
    assert len(made) < 1_200_000
    part, total, where = Page(made).held("d0")["outputs"][0][1]
    assert total == 5_000_001
    assert where == "/runs/a/big.txt"
    assert 1000 < len(part) < total


def test_an_error_is_never_a_skip_or_a_pass() -> None:
    scores = [
        score(case="a"),
        score(True, case="b"),
        score(case="c", status=Status.SKIPPED),
        score(case="d", status=Status.ABSTAINED),
    ]
    page = Page(html_report(result(scores, judges=[summary(scores, unscored_kinds={"timeout": 1})])))
    cells = {row[0]: row[5][0] for row in page.held("index")["cases"]}
    assert cells == {"a": ["u", "timeout"], "b": ["s", True], "c": ["k", ""], "d": ["a", ""]}
    assert "1 unscored" in page.text
    assert "timeout: 1" in page.text
    assert [bar.label for bar in bars(scores)] == ["fail", "pass", "unscored"]


def test_details_that_cannot_be_read_say_why() -> None:
    def gone(case: str) -> CaseDetail:
        raise FileNotFoundError(f"no folder of {case}")

    page = Page(html_report(result([score(True)]), details=gone))
    assert page.held("d0")["problem"] == "FileNotFoundError: no folder of a"


def test_details_hold_the_exchange_the_baseline_and_binary_files() -> None:
    held = Page(html_report(full_result(3), details=lambda case: detail(case, events=9_000))).held("d1")
    assert held["exchanges"][0]["prompt"].startswith("Judge this.")
    assert held["outputs"][1][1] == {"binary": "/runs/chart.png", "size": 20480, "sha256": "ab" * 32}
    assert held["baseline"][0][0] == "answer.md"
    assert held["references"][0][0] == "gold"
    assert {kind for kind, _, _ in held["events"]["items"]} >= {"text", "thinking", "call", "result", "error"}
    assert [sample[1] for sample in held["scores"]["1"]["samples"]] == [2, 2, 3]


def test_a_comparison_is_shown() -> None:
    compared = Comparison(
        a=RunTotals(name="today"), b=RunTotals(name="last week"),
        judges=(JudgeComparison(judge="good", criterion="good", n=9, value_a=0.5, value_b=0.75, difference=-0.25),),
    )  # fmt: skip
    text = Page(html_report(result([score(True)]), comparison=compared)).text
    assert "today compared with last week" in text
    assert "-0.25" in text


@settings(max_examples=30, deadline=None)
@given(RESULT)
def test_any_result_makes_a_page(made: RunResult) -> None:
    page = Page(html_report(made))
    ids = {stub.id for stub in made.cases} | {one.case for one in made.scores}
    assert {row[0] for row in page.held("index")["cases"]} == ids


def numbers(values: list[float], *, low: float = 0, high: float = 1) -> list[Score]:
    return [score(value, case=str(k), normalised=(value - low) / (high - low)) for k, value in enumerate(values)]


def test_what_lies_off_the_scale_has_a_bin_of_its_own() -> None:
    found = bars(numbers([-0.2, 0.0, 0.1, 0.6, 1.0, 1.4, 1.5]))
    assert len(found) <= MAX_BINS
    assert (found[0].count, found[0].tone) == (1, "off")
    assert (found[-1].count, found[-1].tone) == (2, "off")
    assert sum(bar.count for bar in found) == 7
    assert "off the scale" in histogram(found, name="near")


def test_points_have_a_bin_each_and_the_colour_of_their_place() -> None:
    found = bars(numbers([1, 2, 3, 4, 5, 5], low=1, high=5))
    assert [(bar.label, bar.count, bar.tone) for bar in found] == [
        ("1", 1, "bad"), ("2", 1, "bad"), ("3", 1, "mid"), ("4", 1, "good"), ("5", 2, "good"),
    ]  # fmt: skip


def test_a_scale_where_less_is_better_is_coloured_the_other_way() -> None:
    found = [score(value, case=str(value), normalised=1 - value / 10) for value in (0, 2, 10)]
    assert scale_of(found) == (10.0, 0.0)
    assert [bars(found)[0].tone, bars(found)[-1].tone] == ["good", "bad"]


def test_pass_and_fail_share_one_bar() -> None:
    found = bars([score(True), score(False), score(True), score()])
    drawing, below = distribution(found, name="good")
    assert below == ("1 fail", "2 pass")
    widths = [float(width) for width in re.findall(r'width="([\d.]+)" height="12"', drawing)]
    assert widths[1] > widths[0] == widths[2]
    assert sum(widths) <= 180
    assert 'aria-label="Distribution of good: fail: 1, pass: 2, unscored: 1"' in drawing
    assert distribution(bars([]), name="good") == ("", ("", ""))
    assert distribution(bars(numbers([3, 3], low=1, high=5)), name="x")[1] == ("3", "")


def test_a_criterion_has_its_own_reasons() -> None:
    judges = [JudgeSummary(judge="rubric", criterion=name, kind="llm", metric="mean", value=2.0, n=3) for name in "ab"]
    failed = GateCheck("rubric", "mean", Decision.FAIL, "rubric.a: mean 2, below 3", 2, 3, criterion="a")
    met = GateCheck("rubric", "mean", Decision.PASS, "rubric.b: mean 2, at least 1", 2, 1, criterion="b")
    made = html_report(result([], judges=judges, checks=[failed, met], decision=Decision.FAIL)).decode()
    first, second = made[made.index('class="judges"') :].split("rubric.b", 1)
    assert "below 3" in first
    assert "below 3" not in second[: second.index("</table>")]


def test_no_scale_is_neutral() -> None:
    assert {bar.tone for bar in bars([score(1.5, case="a"), score(7.25, case="b")])} == {"neutral"}
    assert [tone(p) for p in (None, 0.0, 0.374, 0.375, 0.749, 0.75, 1.0)] == [
        "neutral", "bad", "bad", "mid", "mid", "good", "good",
    ]  # fmt: skip


def test_long_texts_share_what_short_ones_leave() -> None:
    assert level([100, 1000, 50_000, 90_000], 20_000) == 9450
    assert level([], 10) > 0


def test_escapes_are_visible() -> None:
    assert visible("a\x1b[0m\u202eb\u200bc\n\td") == "a\\x1b[0m\\u202eb\\u200bc\n\td"
