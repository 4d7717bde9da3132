"""`report.html` in a real Chromium: what people click, type, print and see, and that nothing judged runs."""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import BinaryFile, Case, CaseDetail, CaseStub, RunResult
from adjudge.report import html_report
from tests.support.build import result, score
from tests.support.reports import detail, full_result

playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
CHROMIUM = Path(os.environ.get("ADJUDGE_TEST_CHROMIUM", "/usr/bin/chromium"))
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"needs a Chromium at {CHROMIUM}"),
]
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
READY = "html[data-ready]"
ROWS = "#grid tbody tr.row"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("reports")
    (made / "full.html").write_bytes(html_report(full_result(60), details=lambda case: detail(case, events=9_000)))
    return made


class Opened:
    """A page, with what it printed to its console and asked of anyone."""

    def __init__(self, browser: Any, file: Path, fragment: str = "") -> None:
        self.url = file.as_uri()
        self.troubles: list[str] = []
        self.asked: list[str] = []
        self.page = browser.new_page(viewport={"width": 1300, "height": 900})
        self.page.set_default_timeout(10_000)
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(self.url + fragment)
        self.page.wait_for_selector(READY)

    def ids(self) -> list[str]:
        return [str(text) for text in self.page.locator(f"{ROWS} th a").all_inner_texts()]

    def count(self, expected: str) -> None:
        playwright.expect(self.page.locator("#shown")).to_have_text(expected)

    def close(self) -> None:
        self.page.close()
        assert self.troubles == []
        left = [url for url in self.asked if not url.startswith((self.url, "data:", "blob:"))]
        assert left == []


@pytest.fixture
def opened(browser: Any, folder: Path) -> Iterator[Opened]:
    made = Opened(browser, folder / "full.html")
    yield made
    made.close()


def test_filters_narrow_the_list_and_go_into_the_link(opened: Opened) -> None:
    page = opened.page
    opened.count("60 cases")
    page.select_option("#f-judge", "correct")
    page.select_option("#f-class", "unscored")
    opened.count("6 of 60 cases shown")
    assert set(opened.ids()) == {f"case-{k:04d}" for k in (4, 14, 24, 34, 44, 54)}
    assert page.locator(f"{ROWS} .cell.v-lost", has_text="unscored: timeout").count() == 6
    assert "class=unscored" in page.url
    page.click("#clear")
    opened.count("60 cases")
    page.select_option("#f-exec", "timeout")
    opened.count("3 of 60 cases shown")
    assert page.locator(ROWS).first.locator(".tag").inner_text() == "⚠ timed out"
    page.select_option("#f-exec", "")
    page.select_option("#f-tag", "hard")
    opened.count("15 of 60 cases shown")
    page.click("#clear")
    page.select_option("#f-judge", "quality")
    page.select_option("#f-class", "range")
    page.fill("#f-min", "4")
    page.fill("#f-max", "4")
    opened.count("12 of 60 cases shown")


def test_search_goes_over_ids_and_rationales(opened: Opened) -> None:
    opened.page.keyboard.press("/")
    opened.page.keyboard.type("no answer to case-0014")
    opened.count("1 of 60 cases shown")
    opened.page.fill("#f-q", "0021")
    playwright.expect(opened.page.locator(f"{ROWS} th a").first).to_have_text("case-0021")


def test_columns_sort_both_ways_and_errors_come_before_low_values(opened: Opened) -> None:
    header = opened.page.get_by_role("button", name="near")
    header.click()
    assert opened.ids()[0] == "case-0003"
    assert opened.page.locator("th[aria-sort=ascending]").count() == 1
    opened.page.locator("#grid thead [data-sort]", has_text="near").click()
    assert opened.page.locator("th[aria-sort=descending]").inner_text().startswith("near")
    opened.page.locator("#grid thead [data-sort]", has_text="correct").click()
    assert opened.ids()[0] == "case-0004"


def test_a_link_opens_its_case_and_its_filter(browser: Any, folder: Path) -> None:
    made = Opened(browser, folder / "full.html", "#class=fail&judge=correct&case=case-0003")
    playwright.expect(made.page.locator("#case-title")).to_have_text("case-0003")
    made.count("18 of 60 cases shown")
    made.close()


def test_everything_can_be_done_with_the_keyboard(opened: Opened) -> None:
    page = opened.page
    for _ in range(3):
        page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    playwright.expect(page.locator("#case-title")).to_have_text("case-0002")
    playwright.expect(page.locator("#case-title")).to_be_focused()
    page.keyboard.press("j")
    playwright.expect(page.locator("#case-title")).to_have_text("case-0003")
    page.keyboard.press("Escape")
    playwright.expect(page.locator("#case")).to_be_hidden()
    playwright.expect(page.locator(f"{ROWS} th a", has_text="case-0003")).to_be_focused()


def test_a_case_shows_how_it_came_about(opened: Opened) -> None:
    page = opened.page
    page.locator(f"{ROWS} th a", has_text="case-0002").click()
    panel = page.locator("#case")
    for word in ("Scores", "Inputs", "Outputs", "Trajectory", "Prompts and replies", "What people know and said"):
        playwright.expect(panel.get_by_role("heading", name=word)).to_be_visible()
    assert panel.locator(".diff tr.add").count() > 0
    panel.get_by_label("Compare with").select_option(label="the reference gold")
    playwright.expect(panel.locator(".diff")).to_have_attribute("aria-label", "the output beside the reference gold")
    panel.locator("summary", has_text="correct, sample 1").click()
    playwright.expect(panel.get_by_text('{"value": true}')).to_be_visible()
    assert panel.locator(".event.error").count() > 0
    assert panel.locator(".event.thinking").count() > 0
    panel.locator("summary", has_text="3 samples").click()
    assert panel.locator(".verdict ol li").count() == 3


def _focus(page: Any) -> str:
    """Where the focus is: within the open case or outside, and on what."""
    return str(
        page.evaluate(
            "(document.activeElement.closest('#case') ? 'case' : 'page') + ' ' +"
            "(document.activeElement.getAttribute('aria-label') || document.activeElement.textContent.slice(0, 40))"
        )
    )


def test_tab_goes_round_within_an_open_case(opened: Opened) -> None:
    page = opened.page
    page.locator(f"{ROWS} th a", has_text="case-0002").click()
    playwright.expect(page.get_by_role("dialog", name="case-0002")).to_have_attribute("aria-modal", "true")
    playwright.expect(page.get_by_role("heading", name="Trajectory")).to_be_visible()
    page.keyboard.press("Shift+Tab")
    last = _focus(page)
    seen = []
    for _ in range(80):
        page.keyboard.press("Tab")
        seen.append(_focus(page))
        if seen[-1] == last:
            break
    assert seen[:3] == ["case Previous case", "case Next case", "case Close the case"]
    assert last == seen[-1]
    assert all(place.startswith("case ") for place in seen)
    page.keyboard.press("Tab")
    assert _focus(page) == "case Previous case"
    page.keyboard.press("Shift+Tab")
    assert _focus(page) == last
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    assert _focus(page) == "case Previous case"
    page.evaluate("document.querySelector('#f-q').focus()")
    assert _focus(page).startswith("case ") or page.evaluate("document.activeElement === document.body")


def test_closing_a_case_gives_the_focus_back(opened: Opened) -> None:
    page = opened.page
    row = page.locator(f"{ROWS} th a", has_text="case-0002")
    row.click()
    page.get_by_label("Compare with").focus()
    page.keyboard.press("Escape")
    playwright.expect(page.locator("#case")).to_be_hidden()
    playwright.expect(row).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Close the case").press("Enter")
    playwright.expect(row).to_be_focused()
    link = page.locator("table.judges a", has_text="case-0001")
    link.press("Enter")
    playwright.expect(page.get_by_role("dialog", name="case-0001")).to_be_visible()
    page.keyboard.press("Escape")
    playwright.expect(link).to_be_focused()
    link.press("Enter")
    playwright.expect(page.locator("#case-title")).to_have_text("case-0001")
    page.keyboard.press("j")
    playwright.expect(page.locator("#case-title")).to_have_text("case-0002")
    page.keyboard.press("Escape")
    playwright.expect(row).to_be_focused()
    row.press("Enter")
    page.mouse.click(20, 400)
    playwright.expect(page.locator("#case")).to_be_hidden()
    page.keyboard.press("Tab")
    assert _focus(page).startswith("page ")


def test_a_comparison_can_be_laid_out_in_two_columns(opened: Opened) -> None:
    page = opened.page
    page.locator(f"{ROWS} th a", has_text="case-0002").click()
    panel = page.locator("#case")
    expect, pressed = playwright.expect, panel.locator(".choice [aria-pressed=true]")
    expect(pressed).to_have_text("Unified")
    gone, new = panel.locator(".diff tr.del").count(), panel.locator(".diff tr.add").count()
    assert gone > 0
    panel.get_by_role("button", name="Unified").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(pressed).to_have_text("Side by side")
    expect(pressed).to_be_focused()
    two = panel.locator(".diff table.two")
    assert two.locator("thead th").all_inner_texts() == ["the baseline", "the output"]
    assert two.locator("td.del:not(.mark)").count() == gone
    assert two.locator("td.add:not(.mark)").count() == new
    pair = two.locator("tr:has(td.del):has(td.add)").first.locator("td")
    assert [pair.nth(at).get_attribute("aria-label") for at in (1, 4)] == ["removed", "added"]
    assert pair.nth(2).inner_text().replace("right", "wrong") == pair.nth(5).inner_text()
    page.keyboard.press("j")
    expect(panel.locator(".diff table.two")).to_be_visible()
    page.set_viewport_size({"width": 600, "height": 900})
    expect(panel.locator(".diff table.one")).to_be_visible()
    expect(panel.locator(".choice")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1300, "height": 900})
    expect(panel.locator(".diff table.two")).to_be_visible()


HOSTILE = (
    "</script><script>window.owned=1</script><img src=x onerror='window.owned=1'><a href='javascript:window.owned=1'>"
)


def test_what_was_judged_is_inert(browser: Any, tmp_path: Path) -> None:
    made = result(
        [score(False, case=HOSTILE, rationale=HOSTILE + "\u202e\x1b[31m")], cases=(CaseStub(HOSTILE, (HOSTILE,)),)
    )
    case = Case(
        id=HOSTILE, inputs={HOSTILE: HOSTILE}, outputs={"a\u202efdp.exe": HOSTILE + "\x1b[2J"},
        events=({"type": "assistant", "text": HOSTILE, "tools": [{"name": HOSTILE, "input": HOSTILE}]},),
    )  # fmt: skip
    page = _open(browser, tmp_path, made, CaseDetail(case=case, baseline={"a\u202efdp.exe": "before"}))
    page.page.locator(f"{ROWS} th a").click()
    panel = page.page.locator("#case")
    playwright.expect(panel.get_by_role("heading", name="Trajectory")).to_be_visible()
    text = panel.inner_text()
    assert "\\u202e" in text
    assert "\\x1b" in text
    assert not {"\u202e", "\x1b"} & set(text)
    assert page.page.locator("img").count() == 0
    assert page.page.locator("a[href^=javascript]").count() == 0
    assert page.page.evaluate("typeof window.owned") == "undefined"
    page.close()


MARKDOWN = """# Title

Some **bold** words, `code`, a [link](javascript:window.owned=1) and ![a picture](http://example.invalid/x.png).
<img src=x onerror="window.owned=1">

- one
  - inner
- two

> quoted

| a | b |
|---|---|
| 1 | <b>2</b> |

```python
print("<script>")
```
"""


def test_outputs_are_shown_by_their_kind_and_stay_inert(browser: Any, tmp_path: Path) -> None:
    picture = base64.b64decode(PIXEL)
    (tmp_path / "dot.png").write_bytes(picture)
    outputs: dict[str, str | BinaryFile] = {
        "a.md": MARKDOWN,
        "b.json": '{"n": 12345678901234567890, "n": 1.50, "list": [], "deep": [{"k": "a: [b, {c}]"}]}',
        "c.json": "{not json",
        "d.metrics": '{"tokens": {"input": 5}, "name": "<b>x</b>"}',
        "e.py": "one = 1\n\ntwo = '<i>'\n",
        "dot.png": BinaryFile(str(tmp_path / "dot.png"), len(picture)),
    }
    shown = CaseDetail(case=Case(id="a", outputs=outputs, directory=str(tmp_path)))
    made = _open(browser, tmp_path, result([score(True)]), shown, types={"*.metrics": "metrics"})
    made.page.locator(f"{ROWS} th a").click()
    panel, expect = made.page.locator("#case"), playwright.expect
    text = panel.locator(".md")
    expect(text.get_by_role("heading", name="Title")).to_be_visible()
    assert text.locator("strong").inner_text() == "bold"
    assert text.locator("li").all_inner_texts()[-1] == "two"
    assert text.locator("li ul li").inner_text() == "inner"
    assert text.locator("td").all_inner_texts() == ["1", "<b>2</b>"]
    assert text.locator("pre").inner_text() == 'print("<script>")'
    assert "link (javascript:window.owned=1)" in text.inner_text()
    assert '<img src=x onerror="window.owned=1">' in text.inner_text()
    assert panel.locator(".md a, .md img").count() == 0
    part = panel.locator("details.part")
    pretty = part.filter(has_text="b.json").locator("pre").inner_text()
    assert pretty == (
        '{\n  "n": 12345678901234567890,\n  "n": 1.50,\n  "list": [],\n  "deep": [\n    {\n      "k": "a: [b, {c}]"\n'
        "    }\n  ]\n}"
    )
    raw = part.filter(has_text="b.json")
    raw.get_by_role("button", name="As it is").press("Enter")
    assert raw.locator("pre").inner_text() == outputs["b.json"]
    assert part.filter(has_text="c.json").locator("pre").inner_text() == "{not json"
    assert part.filter(has_text="c.json").locator(".choice").count() == 0
    rows = part.filter(has_text="d.metrics").locator("tbody tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [["tokens.input", "5"], ["name", "<b>x</b>"]]
    assert part.filter(has_text="e.py").locator(".l").all_inner_texts()[2].strip() == "two = '<i>'"
    image = panel.get_by_role("img", name="dot.png")
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1
    assert panel.locator("img").count() == 1
    assert made.page.evaluate("typeof window.owned") == "undefined"
    made.close()


@pytest.mark.parametrize(
    "text",
    [" " * 150_000 + "x", "[" * 150_000, "*" * 150_000, "`" * 150_000, "|-" * 75_000, "> " * 75_000, "- " * 75_000,
     "[[" * 75_000 + "]]" * 75_000, "#" * 150_000, "a\n" * 75_000, "- x\n  " * 20_000],
)  # fmt: skip
def test_no_text_keeps_the_page_busy(browser: Any, tmp_path: Path, text: str) -> None:
    outputs = {"a.md": text, "b.json": text, "c.metrics": text, "d.py": text}
    shown = CaseDetail(case=Case(id="a", outputs=outputs))
    made = _open(browser, tmp_path, result([score(True)]), shown, types={"*.metrics": "metrics"})
    start = time.perf_counter()
    made.page.locator(f"{ROWS} th a").click()
    playwright.expect(made.page.get_by_role("heading", name="Outputs")).to_be_visible()
    assert time.perf_counter() - start < 5
    made.close()


PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)  # fmt: skip


def _open(
    browser: Any, folder: Path, made: RunResult, shown: CaseDetail, *, types: dict[str, str] | None = None
) -> Opened:
    file = folder / "report.html"
    file.write_bytes(html_report(made, details=lambda _: shown, types=types))
    return Opened(browser, file)


def test_colours_follow_the_system_and_the_button(opened: Opened) -> None:
    page = opened.page
    page.emulate_media(color_scheme="dark")
    assert _background(page) == "rgb(20, 23, 28)"
    page.click("#theme")
    assert _background(page) == "rgb(247, 248, 250)"
    page.emulate_media(color_scheme="light")
    page.click("#theme")
    assert _background(page) == "rgb(20, 23, 28)"


def _background(page: Any) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def test_print_shows_every_row_and_no_controls(opened: Opened) -> None:
    page = opened.page
    page.emulate_media(media="print")
    playwright.expect(page.locator(ROWS)).to_have_count(60)
    assert not page.locator("#filters").is_visible()
    assert page.locator("main details:not([open])").count() == 0
    assert page.pdf()[:5] == b"%PDF-"
    page.emulate_media(media="screen")
    playwright.expect(page.locator("#filters")).to_be_visible()
    assert page.locator(ROWS).count() < 50


def test_5000_cases_open_soon_and_few_rows_are_drawn(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "large.html"
    file.write_bytes(html_report(full_result(5_000), details=lambda case: detail(case, events=900)))
    start = time.perf_counter()
    made = Opened(browser, file)
    assert time.perf_counter() - start < 8
    made.count("5,000 cases")
    assert made.page.locator(ROWS).count() < 60
    made.page.evaluate("document.getElementById('list').scrollTop = 80000")
    playwright.expect(made.page.locator(f"{ROWS} th a", has_text="case-2360")).to_have_count(1)
    made.page.evaluate("document.getElementById('list').scrollTop = 1e9")
    playwright.expect(made.page.locator(f"{ROWS} th a").last).to_have_text("case-4999")
    assert made.page.locator(ROWS).count() < 60
    made.page.fill("#f-q", "case-4321")
    made.count("1 of 5,000 cases shown")
    made.close()


def test_a_browser_that_cannot_unpack_says_so(browser: Any, folder: Path) -> None:
    page = browser.new_page()
    page.add_init_script("delete globalThis.DecompressionStream")
    page.goto((folder / "full.html").as_uri() + "#case=case-0001")
    playwright.expect(page.locator("#case")).to_contain_text("cannot unpack the details")
    assert page.locator(ROWS).count() > 10
    page.close()
