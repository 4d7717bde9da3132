"""The reports of coding tasks and of a matrix in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge.report import html_report
from adjudge.report.html.matrix import matrix_html
from adjudge.report.pareto import pareto_svg
from tests.e2e.test_report_browser import ARGUMENTS, CHROMIUM, HOSTILE, ROWS, Opened
from tests.report.test_matrix_report import DESIGN, FACTORS, RUNS
from tests.support.reports import detail
from tests.support.task_runs import task_run

playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"needs a Chromium at {CHROMIUM}"),
]
CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const over = (top, below) => top.slice(0, 3).map((part, at) => part * top[3] + below[at] * (1 - top[3]));
  const read = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const light = (rgb) => rgb.slice(0, 3).map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (one) => {
    const layers = [];
    for (let at = one; at; at = at.parentElement) layers.push(read(getComputedStyle(at).backgroundColor));
    return layers.reduceRight((below, top) => over(top, below), [255, 255, 255]);
  };
  const poor = [];
  for (const one of document.querySelectorAll("body *")) {
    const text = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!text || !one.getClientRects().length || one.closest("svg, :disabled, .skip, option")) continue;
    const back = behind(one), [a, b] = [light(over(read(getComputedStyle(one).color), back)), light(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(`${one.tagName}.${one.className}: ${one.textContent.slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return poor;
}"""
"""Texts whose colour has less than the 4.5 : 1 of WCAG 2 AA to what is behind them."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Opened]:
    path = tmp_path / "tasks.html"
    path.write_bytes(html_report(task_run(), details=lambda case: detail(case, events=2_000)))
    made = Opened(browser, path)
    yield made
    made.close()


def test_a_task_that_fell_is_found_from_its_row_and_from_its_word(opened: Opened) -> None:
    page = opened.page
    page.get_by_role("link", name="regressed task").click()
    opened.count("1 of 10 cases shown")
    assert opened.ids() == ["falls"]
    assert "word=regressed" in page.url
    page.click("#clear")
    page.select_option("#f-word", "flaky")
    opened.count("1 of 10 cases shown")
    assert page.locator(f"{ROWS} td").nth(0).inner_text() == "flaky"
    page.click("#clear")
    page.locator("table.tasks").get_by_role("link", name="falls").press("Enter")
    panel = page.get_by_role("dialog", name="falls")
    verdict = panel.locator(".verdict").filter(has_text="rubric.correctness")
    playwright.expect(verdict).to_contain_text("regressed: 2.00 was 5.00, fell 3.00, 1.85 to 4.15 (95%)")
    playwright.expect(verdict.locator(".tag")).to_have_text("uncalibrated")
    page.keyboard.press("Escape")
    playwright.expect(page.locator("table.tasks").get_by_role("link", name="falls")).to_be_focused()


def test_what_went_wrong_is_first_in_an_open_task(opened: Opened) -> None:
    opened.page.locator(f"{ROWS} th a", has_text="broken").click()
    first = opened.page.locator("#case .verdict").first
    playwright.expect(first).to_contain_text("expected_files")
    playwright.expect(first).to_contain_text("nothing was changed in app.py")


def test_the_word_of_each_task_is_its_outcome_in_the_list(opened: Opened) -> None:
    told = {row.split("\t")[0].strip(): row.split("\t")[1] for row in opened.page.locator(ROWS).all_inner_texts()}
    assert told["falls"] == "regressed"
    assert told["broken"] == "failed"
    assert told["lost"] == "unscored"
    assert told["keeps"] == "1 fail", "a soft check"
    assert told["rises"] == "improved"
    heads = opened.page.locator("#grid thead th").all_inner_texts()
    assert [head.split()[-1] for head in heads if head.startswith("rubric.")] == ["uncalibrated"] * 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(opened: Opened, scheme: str) -> None:
    opened.page.emulate_media(color_scheme=scheme)
    assert opened.page.evaluate(CONTRAST) == []
    opened.page.locator(f"{ROWS} th a", has_text="lost").click()
    playwright.expect(opened.page.get_by_role("heading", name="Outputs")).to_be_visible()
    assert opened.page.evaluate(CONTRAST) == []


def test_nothing_is_wider_than_a_phone(opened: Opened) -> None:
    opened.page.set_viewport_size({"width": 390, "height": 800})
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    opened.page.locator(f"{ROWS} th a", has_text="falls").click()
    assert opened.page.evaluate("document.querySelector('#case').scrollWidth") <= 390


def test_hostile_tasks_are_inert(browser: Any, tmp_path: Path) -> None:
    name = HOSTILE + "\u202e\x1b[31m" + "x" * 3_000
    path = tmp_path / "hostile.html"
    path.write_bytes(html_report(task_run(names={"falls": name, "gone": name + "2"})))
    made = Opened(browser, path)
    page = made.page
    assert page.evaluate("typeof window.owned") == "undefined"
    assert page.locator("img").count() == 0
    text = page.locator("table.tasks").inner_text()
    assert "\\u202e" in text
    assert not {"\u202e", "\x1b"} & set(text)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("table.tasks a", has_text="<script>").first.click()
    playwright.expect(page.get_by_role("dialog")).to_contain_text("regressed")
    made.close()


class _Static(Opened):
    """A page without a script, which is ready at once."""

    def __init__(self, browser: Any, file: Path) -> None:
        self.url, self.troubles, self.asked = file.as_uri(), [], []
        self.page = browser.new_page(viewport={"width": 1300, "height": 900})
        self.page.set_default_timeout(10_000)
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(self.url)


def test_a_matrix_leads_to_its_runs_and_can_be_read(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_bytes(matrix_html(RUNS, FACTORS, DESIGN))
    run = tmp_path / RUNS[1].folder
    run.mkdir()
    (run / "report.html").write_bytes(html_report(RUNS[1].result))
    made = _Static(browser, tmp_path / "report.html")
    page = made.page
    drawing = page.get_by_role("img", name="Mean score over mean cost of a run, by condition")
    playwright.expect(drawing).to_be_visible()
    playwright.expect(drawing).to_have_accessible_description(
        "model small, effort low: score 0.500 (0.400 to 0.600) at $0.0100, which nothing beats; "
        "model large, effort low: score 0.800 (0.700 to 0.900) at $0.0500, which nothing beats; "
        "model small, effort high: score 0.450 (0.350 to 0.550) at $0.0200. 1 more without a cost or a score."
    )
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(CONTRAST) == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    made.close()
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    page.get_by_role("link", name="run 2").first.press("Enter")
    playwright.expect(page.get_by_role("heading", name="Judges")).to_be_visible()
    page.close()


def test_the_drawing_stands_alone_in_the_colours_of_the_reader(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "pareto.svg").write_text(pareto_svg(DESIGN))
    page = browser.new_page(color_scheme="dark")
    page.goto((tmp_path / "pareto.svg").as_uri())
    colours = page.evaluate(
        "['.back', '.name', '.best'].map((one) => getComputedStyle(document.querySelector(one)).fill)"
    )
    assert colours == ["rgb(28, 32, 39)", "rgb(228, 231, 235)", "rgb(98, 201, 138)"]
    page.close()
