"""The page at the root of a matrix: factors, cost against score in a drawing and in words, a link to every run."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from adjudge.domain import Decision, RunState
from adjudge.report.html.matrix import MatrixRun, matrix_html
from adjudge.report.pareto import described, pareto_svg
from adjudge.stats.factorial import Condition, Effect, Factorial
from tests.report.test_html_report import HOSTILE, Page
from tests.support.build import result, score
from tests.support.reports import full_result

FACTORS = {"model": ("small", "large"), "effort": ("low", "high")}
EFFECTS = (
    Effect(factor="model", levels=("small", "large"), df=1, statistic=31.2, p=2e-8),
    Effect(factor="effort", levels=("low", "high"), df=1, note="the scores do not vary"),
)


def condition(model: str, effort: str, mean: float | None, cost: float | None, *, pareto: bool = False) -> Condition:
    low, high = (None, None) if mean is None else (mean - 0.1, mean + 0.1)
    return Condition(
        levels={"model": model, "effort": effort}, cases=0 if mean is None else 6, mean=mean, low=low, high=high,
        cost_usd=cost, pareto=pareto,
    )  # fmt: skip


def factorial(*conditions: Condition) -> Factorial:
    return Factorial(effects=EFFECTS, conditions=conditions, missing_cells=({},), cases=6, observations=24)


DESIGN = factorial(
    condition("small", "low", 0.5, 0.01, pareto=True),
    condition("small", "high", 0.45, 0.02),
    condition("large", "low", 0.8, 0.05, pareto=True),
    condition("large", "high", None, None),
)


def run(model: str, effort: str, replication: int = 1, decision: Decision = Decision.PASS) -> MatrixRun:
    made = result([score(True)], suite="invoices", decision=decision)
    folder = f"model-{model}-effort-{effort}-r{replication}"
    return MatrixRun(folder=folder, levels={"model": model, "effort": effort}, replication=replication, result=made)


RUNS = [run(model, effort, r) for model in FACTORS["model"] for effort in FACTORS["effort"] for r in (1, 2)]


def page(found: Factorial | None = DESIGN, runs: list[MatrixRun] = RUNS, problem: str = "") -> Page:
    return Page(matrix_html(runs, FACTORS, found, problem=problem))


def test_the_page_links_the_report_of_every_run() -> None:
    found = page()
    links = [str(a["href"]) for tag, a in found.tags if tag == "a" and not str(a["href"]).startswith("#")]
    assert links == [f"{one.folder}/report.html" for one in RUNS]
    assert found.text.count("run 2") == 4


def words_of(found: Factorial | None = DESIGN, runs: list[MatrixRun] = RUNS) -> str:
    """What the page shows, with a blank between cells."""
    return " ".join(re.sub(r"<[^>]+>", " ", matrix_html(runs, FACTORS, found).decode()).replace("&lt;", "<").split())


def test_the_page_says_which_factor_changes_the_score() -> None:
    text = words_of()
    assert "model small, large 1 31.20 < 0.0001" in text
    assert "effort low, high 1 the scores do not vary" in text
    assert "0.500 0.4 to 0.6 6 $0.0100 not beaten" in text
    assert "no scores" in text
    assert "MEASURED" in text


def test_a_run_that_could_not_be_measured_is_said_first() -> None:
    bad = [*RUNS[:-1], run("large", "high", 2, Decision.BROKEN)]
    text = words_of(runs=bad)
    assert "BROKEN" in text
    assert "1 of its runs could not be measured" in text
    lost = MatrixRun(folder="x", levels=RUNS[0].levels, replication=3, result=full_result(40))
    text = words_of(runs=[*RUNS, lost])
    ended = sum(one.state is not RunState.OK for one in full_result(40).execution.cases)  # type: ignore[union-attr]
    assert f"{ended} agent runs ended badly" in text
    assert "4 unscored" in text


def test_without_an_analysis_the_runs_are_there_all_the_same() -> None:
    found = page(None, problem="It is not analysed: factorial runs need statsmodels")
    assert "It is not analysed: factorial runs need statsmodels" in found.text
    assert sum(str(a.get("href")).endswith("report.html") for _, a in found.tags) == 8
    assert not any(tag == "svg" for tag, _ in found.tags)
    assert "no scores" not in found.text


def test_the_drawing_says_in_words_what_it_shows() -> None:
    words = described(DESIGN)
    assert words == (
        "model small, effort low: score 0.500 (0.400 to 0.600) at $0.0100, which nothing beats; "
        "model large, effort low: score 0.800 (0.700 to 0.900) at $0.0500, which nothing beats; "
        "model small, effort high: score 0.450 (0.350 to 0.550) at $0.0200. 1 more without a cost or a score."
    )
    for svg in (pareto_svg(DESIGN), pareto_svg(DESIGN, alone=False)):
        root = ET.fromstring(svg)
        assert root.attrib["role"] == "img"
        said = root.find(f".//*[@id='{root.attrib['aria-describedby']}']")
        assert said is not None
        assert said.text == words


def test_the_drawing_holds_every_condition_with_a_cost_within_its_frame() -> None:
    root = ET.fromstring(
        pareto_svg(factorial(condition("a", "b", 1.4, 3.0, pareto=True), condition("c", "d", -0.5, 1)))
    )
    circles = [one.attrib for one in root.iter() if one.tag.endswith("circle")]
    assert len(circles) == 2
    for one in circles:
        assert 56 <= float(one["cx"]) <= 696
        assert 22 <= float(one["cy"]) <= 348
    by_class = {one["class"]: one for one in circles}
    assert float(by_class["best"]["cy"]) < float(by_class["open"]["cy"])
    assert float(by_class["best"]["cx"]) > float(by_class["open"]["cx"])


def test_labels_do_not_lie_on_each_other() -> None:
    crowd = [condition(f"model-{k}", "low", 0.5 + k * 0.002, 0.05 + k * 0.0004) for k in range(30)]
    texts = re.findall(r'<text class="name" x="([\d.-]+)" y="([\d.-]+)">([^<]*)', pareto_svg(factorial(*crowd)))
    boxes = [(float(x), float(y) - 10, float(x) + 6 * len(text), float(y)) for x, y, text in texts]
    assert 2 <= len(boxes) < 30
    for at, one in enumerate(boxes):
        for other in boxes[at + 1 :]:
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            assert apart


@pytest.mark.parametrize("conditions", [(), (condition("a", "b", None, None),), (condition("a", "b", 0.0, 0.0),)])
def test_a_design_with_next_to_nothing_is_drawn(conditions: tuple[Condition, ...]) -> None:
    ET.fromstring(pareto_svg(factorial(*conditions)))
    assert page(factorial(*conditions)).text


@pytest.mark.parametrize("text", HOSTILE)
def test_levels_and_names_are_text(text: str) -> None:
    def made(name: str) -> Page:
        levels = {name: name, "effort": "low"}
        run = MatrixRun(
            folder=f"{name}-1", levels=levels, replication=1,
            result=result([score(True)], suite=name, description=name),
        )  # fmt: skip
        only = Condition(levels=levels, cases=3, mean=0.5, low=0.4, high=0.6, cost_usd=0.1, pareto=True)
        found = Factorial(
            effects=(Effect(factor=name, levels=(name,), df=0, note=name),), conditions=(only,), missing_cells=(),
            cases=3, observations=3,
        )  # fmt: skip
        return Page(matrix_html([run], {name: [name], "effort": ["low"]}, found))

    hostile, plain = made(text), made("harmless")
    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in plain.tags]
    assert not any(key.startswith("on") or key == "style" for _, a in hostile.tags for key in a)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", hostile.text)
    links = [str(a["href"]) for tag, a in hostile.tags if tag == "a"]
    assert all(re.fullmatch(r"#[\w-]+|[\w%./~-]+/report\.html", link, re.ASCII) for link in links)


def test_nothing_is_fetched_and_nothing_runs() -> None:
    found = page()
    policy = next(str(a["content"]) for _, a in found.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy
    assert not found.scripts
    assert all("scope" in a for tag, a in found.tags if tag == "th")


def test_equal_designs_give_equal_bytes() -> None:
    assert matrix_html(RUNS, FACTORS, DESIGN) == matrix_html(list(RUNS), dict(FACTORS), DESIGN)
