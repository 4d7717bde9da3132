"""`summary.md`, read as GitHub renders it: what was judged shows and does nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from adjudge.domain import (
    Decision,
    ErrorKind,
    Failure,
    GateCheck,
    HumanAgreement,
    Interval,
    LeftOut,
    RunResult,
    Status,
    Threshold,
    Usage,
    Verdict,
)
from adjudge.report import summary_markdown
from adjudge.scoring import compose
from tests.support.build import boolean_judge, lost, result, said, score, scores, snapshot, summary

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = {
    "script": "<script>alert(1)</script>",
    "image": "![x](https://evil.example/track.png)",
    "image tag": "<img src=x onerror=alert(1)>",
    "link": "[click](javascript:alert(1))",
    "reference": "[x]: https://evil.example",
    "autolink": "<https://evil.example>",
    "emphasis": "**bold** _it_ ~~gone~~ `code`",
    "entity": "&lt;script&gt; &#60;b&#62;",
    "escaped": "\\<b>\\*x\\*",
    "table cell": "a | b | c |",
    "heading": "# PASSED",
    "list": "- item",
    "quote": "> quoted",
    "closes the details": "</details></summary><details open>",
    "comment": "<!-- hidden -->",
    "code fence": "```js",
    "mathematics": "$\\href{https://evil.example}{x}$",
    "lines": "one\n\n# two\n\n| a |\n|---|\n",
    "carriage returns": "one\r# two\r\n\r\n<b>",
}
PLACES: dict[str, Any] = {
    "rationale": lambda text: result([score(False, rationale=text)]),
    "error": lambda text: result([score(error=Failure(ErrorKind.RAISED, text))]),
    "case": lambda text: result([score(False, case=text)]),
    "judge": lambda text: result([score(False, by=text)], judges=[summary([score(False)], by=text)]),
    "model": lambda text: result(judges=[summary(kind="llm", model=text)]),
    "description": lambda text: result(description=text),
    "suite": lambda text: result(suite=text),
    "selection": lambda text: result(selection=text),
    "reason": lambda text: result(checks=[GateCheck("good", "m", Decision.FAIL, text)], decision=Decision.FAIL),
    "left out": lambda text: result(left_out=(LeftOut(text, text),)),
    "people": lambda text: result(
        judges=[summary(people=HumanAgreement(n=1, agree=0, false_pass=1, false_fail=0, false_pass_cases=(text,)))]
    ),
}


def tokens(text: str) -> Iterator[Token]:
    for token in MARKDOWN.parse(text):
        yield token
        yield from token.children or ()


def shape(made: RunResult) -> list[tuple[str, str]]:
    """What a renderer makes of the summary, without the words."""
    found = [(token.type, token.tag) for token in tokens(summary_markdown(made))]
    return [entry for entry in found if entry[0] not in ("text", "softbreak", "text_special")]


def shown(made: RunResult) -> str:
    """The words that a reader sees, on one line."""
    return " ".join("".join(t.content if t.type != "softbreak" else " " for t in tokens_of_text(made)).split())


def tokens_of_text(made: RunResult) -> list[Token]:
    return [t for t in tokens(summary_markdown(made)) if t.type in ("text", "text_special", "softbreak")]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("make", PLACES.values(), ids=PLACES.keys())
def test_hostile_text_makes_nothing_but_text(make: Any, text: str) -> None:
    assert shape(make(text)) == shape(make("benign"))


@pytest.mark.parametrize(
    "text", [t for t in HOSTILE.values() if "\n" not in t], ids=[k for k, t in HOSTILE.items() if "\n" not in t]
)
@pytest.mark.parametrize("place", ["rationale", "error", "reason", "description"])
def test_hostile_text_is_shown_as_it_is(place: str, text: str) -> None:
    assert text in shown(PLACES[place](text))


@given(text=st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=60))
def test_any_rationale_makes_nothing_but_text(text: str) -> None:
    assert shape(PLACES["rationale"](f"a{text}z")) == shape(PLACES["rationale"]("benign"))


@pytest.mark.parametrize("address", ["https://evil.example/x", "http://evil.example", "www.evil.example"])
def test_a_bare_address_is_not_made_a_link_by_github(address: str) -> None:
    source = summary_markdown(result([score(False, rationale=f"see {address} now")]))
    assert not re.search(r"https?://\w|www\.\w", source)


def test_no_mathematics_is_set() -> None:
    source = summary_markdown(result([score(False, rationale="$x$ and $`y`$ and $$z$$")]))
    assert not re.search(r"(?<!\\)\$", source)


def test_nobody_is_mentioned_and_no_issue_linked() -> None:
    source = summary_markdown(result([score(False, rationale="@octocat fixes #123 in GH-7")]))
    assert not re.search(r"@\w|(?<![\\&])#\d|GH-\d", source)


@pytest.mark.parametrize(
    "text",
    ["\x1b[2J", "\x9b31m", "a\x00b", "\u202egnp.exe", "\u2066x", "\u200b", "\ufeff", "\u061c", "\u2028", "\U000e0041"],
    ids=ascii,
)
@pytest.mark.parametrize("make", PLACES.values(), ids=PLACES.keys())
def test_what_steers_a_terminal_or_hides_from_a_reader_is_replaced(make: Any, text: str) -> None:
    source = summary_markdown(make(f"x{text}y"))
    assert all(c in "\n\t\ufe0f" or c.isprintable() for c in source)


def test_a_megabyte_on_one_line_is_cut_with_a_mark() -> None:
    source = summary_markdown(result([score(False, rationale="x" * 2**20)]))
    assert len(source) < 5000
    assert "..." in source


@pytest.mark.parametrize("decision", Decision)
def test_the_heading_says_suite_and_decision(decision: Decision) -> None:
    heading = summary_markdown(result(suite="nightly", decision=decision)).splitlines()[0]
    assert heading.startswith("## ")
    assert "nightly" in heading
    assert heading.endswith(decision.value)


def test_a_fail_says_why_in_the_order_of_the_gate() -> None:
    checks = [
        GateCheck("a", "m", Decision.FAIL, "first reason"),
        GateCheck("b", "m", Decision.PASS, "not a reason"),
        GateCheck("c", "m", Decision.FAIL, "second reason"),
    ]
    source = summary_markdown(result(checks=checks, decision=Decision.FAIL))
    assert source.index("first reason") < source.index("second reason")
    assert "not a reason" not in source


def test_a_number_stands_with_its_n_its_unscored_and_its_interval() -> None:
    rated = summary(
        metric="pass_rate",
        value=0.8,
        interval=Interval(low=0.49, high=0.94, level=0.95, method="wilson"),
        n=10,
        unscored=3,
        unscored_kinds={"timeout": 2, "crashed": 1},
    )
    text = shown(result(judges=[rated]))
    for part in ("0.80", "[0.49, 0.94]", "10", "3 (timeout 2, crashed 1)"):
        assert part in text


def test_a_judge_without_labels_is_uncalibrated() -> None:
    assert "uncalibrated" in shown(result(judges=[summary()]))


def test_a_judge_with_labels_shows_both_ways_to_differ() -> None:
    people = HumanAgreement(
        n=9, agree=6, false_pass=2, false_fail=1, false_pass_cases=("p1", "p2"), false_fail_cases=("f1",)
    )
    text = shown(result(judges=[summary(people=people)]))
    for part in ("6/9", "2 false passes", "1 false fail", "false pass: p1, p2", "false fail: f1"):
        assert part in text


@pytest.mark.parametrize(
    ("threshold", "verdicts", "cell"),
    [
        pytest.param({}, [said(False)], "-", id="no threshold"),
        pytest.param({}, [lost()], "broken", id="no threshold, and nothing could be had"),
        pytest.param({"good": Threshold(min_pass_rate=0.5)}, [said(True)], "pass", id="reached"),
        pytest.param({"good": Threshold(min_pass_rate=0.5)}, [said(False)], "fail", id="not reached"),
        pytest.param({"good": Threshold(max_error_rate=1.0)}, [lost()], "pass", id="only an error rate, and kept"),
    ],
)
def test_a_judge_stands_beside_what_the_gate_says_of_it(
    threshold: dict[str, Threshold], verdicts: list[Verdict], cell: str
) -> None:
    made = compose(snapshot([boolean_judge()], thresholds=threshold), verdicts)
    (row,) = [line for line in summary_markdown(made).splitlines() if line.startswith("| good")]
    assert row.rstrip(" |").split("|")[-1].strip() == cell


def test_abstentions_are_counted_and_shown() -> None:
    found = [score(True, case="a"), *(score(case=f"b{k}", status=Status.ABSTAINED) for k in range(7))]
    assert re.search(r"\b7\b", shown(result(found)).replace("8 cases", ""))


def test_unscored_and_failed_cases_are_listed_apart() -> None:
    found = [
        score(False, case="lost the plot", rationale="no tests"),
        score(case="timed out"),
        score(True, case="fine"),
    ]
    source = summary_markdown(result(found))
    unscored, failed = source.split("Failed: 1")
    assert "Unscored: 1" in unscored
    assert "timed out" in unscored
    assert "timed out" not in failed
    assert "lost the plot" in failed
    assert "no tests" in failed
    assert "fine" not in source


def test_a_long_list_is_cut_and_says_how_much_is_missing() -> None:
    source = summary_markdown(result(scores([False] * 80)))
    assert "Failed: 80" in source
    assert "30 more" in source


@pytest.mark.parametrize(
    ("usage", "price"),
    [
        pytest.param(Usage(calls=3, cost_usd=0.5), "$0.5000", id="known"),
        pytest.param(Usage(calls=3, unpriced_calls=3), "unknown", id="unknown is not zero"),
        pytest.param(Usage(calls=3, cost_usd=0.5, unpriced_calls=1), "$0.5000 + 1 unpriced", id="partly known"),
    ],
)
def test_what_was_paid_is_shown_and_never_guessed(usage: Usage, price: str) -> None:
    last = summary_markdown(result(usage=usage)).rstrip().splitlines()[-1]
    assert "3 model calls" in last
    assert last.endswith(price)


def test_a_left_out_judge_is_told() -> None:
    assert "Left out: llm (no model was given)" in shown(result(left_out=(LeftOut("llm", "no model was given"),)))
