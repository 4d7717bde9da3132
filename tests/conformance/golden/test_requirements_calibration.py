"""Requirements 41 to 47 of the article: people label traces, and the judge is held against them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import msgspec
import pytest

from adjudge.stats.krippendorff import krippendorff_alpha
from adjudge.trust import Certificate, DimensionTrust
from tests.support.golden import SOLUTION, UNCHECKED, Ran, patch_of, ran, scoring, typed, write_suite
from tests.support.llm import environment
from tests.support.provider import LoopbackProvider, Reply, Request

COUNT = 24
Grade = Callable[[int], int]
"""Number of a trace -> score."""


def its(number: int) -> int:
    """What the judge says of a task."""
    return number % 5 + 1


def by_number(grade: Grade) -> Callable[[Request], Reply]:
    def answer(request: Request) -> Reply:
        number = int(request.prompt.partition("Task number ")[2].partition(".")[0])
        return scoring(correctness=grade(number), scope=3)(request)

    return answer


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Work on many tasks, judged; one that a hard check fails; and an empty label sheet of it."""
    folder = tmp_path_factory.mktemp("calibration")
    names = [f"t{number:02}" for number in range(COUNT)]
    tasks = {name: {"prompt": f"Task number {int(name[1:])}.", **UNCHECKED} for name in names}
    root = write_suite(folder, {**tasks, "failed": {}})
    for place in (root / "tasks").iterdir():
        (place / "checks.py").unlink()
    work = folder / "work"
    work.mkdir()
    patch = patch_of(root / "repo", SOLUTION)
    for name in names:
        (work / f"{name}.patch").write_text(patch)
    (work / "failed.patch").write_text(patch_of(root / "repo", {"app.py": "x = 1\n"}))
    done = ran(root, by_number(its), "--patch", work)
    assert len(done.requests) == COUNT
    exported = typed("calibrate", "export", "run", "--n", "30", cwd=folder, env=environment(folder))
    assert exported.returncode == 0, exported.stderr
    return done


def labelled(run: Ran, folder: Path, *people: Grade, count: int = COUNT) -> Path:
    """The sheet, with what each of some people says of the first traces by number; who says 9 leaves it empty."""
    with (run.root.parent / "labels.csv").open() as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["trace"])[:count]
    path = folder / "labels.csv"
    with path.open("w") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        for who, grade in enumerate(people):
            for number, row in enumerate(rows):
                score = grade(number)
                writer.writerow({**row, "labeller": f"person {who}", "correctness": "" if score == 9 else score})
    return path


def calibrate(run: Ran, sheet: Path, *words: str, **env: str) -> CompletedProcess[str]:
    home = run.root.parent
    out = sheet.with_name("certificate.json")
    words = ("calibrate", str(sheet), "--run", "run", "--output", str(out), *words)
    done = typed(*words, cwd=home, env={**environment(home), **env})
    assert "Traceback" not in done.stderr
    return done


def found(sheet: Path) -> DimensionTrust:
    made = msgspec.json.decode(sheet.with_name("certificate.json").read_bytes(), type=Certificate)
    return made.dimensions["correctness"]


def figure(done: CompletedProcess[str], name: str) -> float:
    """A figure of the first dimension, as it is printed."""
    line = next(line for line in done.stdout.splitlines() if line.strip().startswith(name))
    return float(line.strip().removeprefix(name).split()[0])


def off(count: int, points: int) -> Grade:
    """People who differ from the judge about the first traces by so many points, up or down."""
    return lambda n: its(n) + (points if its(n) + points <= 5 else -points) * (n < count)


def test_req_41_traces_are_written_for_people_to_label_blind(run: Ran) -> None:
    with (run.root.parent / "labels.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["trace"] for row in rows) == [f"run/t{number:02}" for number in range(COUNT)]
    assert "failed" not in str(rows)  # no judge is asked about what a hard check fails
    for row in rows:
        assert (row["correctness"], row["scope"], row["labeller"]) == ("", "", "")
        assert row["prompt"].startswith("Task number")
        assert "+    return config.get('name', 'unnamed')" in row["diff"]
        assert "seen" not in " ".join(row.values())  # the judge's reason


def test_req_42_a_judge_is_not_trusted_before_20_traces_are_labelled(run: Ran, tmp_path: Path) -> None:
    few = calibrate(run, labelled(run, tmp_path, its, count=19))
    assert few.returncode == 3
    assert "uncalibrated: correctness: 19 traces" in few.stdout
    assert "label more traces: 20 to 30 are wanted" in few.stdout
    enough = calibrate(run, labelled(run, tmp_path, its, count=20))
    assert (enough.returncode, enough.stdout.partition(":")[0]) == (0, "calibrated")


def test_req_42_a_run_says_whether_its_judge_is_calibrated(run: Ran, tmp_path: Path) -> None:
    work = run.root.parent / "work" / "t00.patch"
    flags = ["--patch", str(work), "--case", "t00", "--require-calibration"]
    before = ran(run.root, by_number(its), *flags, output="before")
    assert before.done.returncode == 3
    assert "uncalibrated: there is no certificate; adjudge calibrate makes one" in before.done.stdout
    sheet = labelled(run, tmp_path, its)
    assert calibrate(run, sheet).returncode == 0
    certificate = run.root / "certificate.json"
    certificate.write_bytes(sheet.with_name("certificate.json").read_bytes())
    try:
        after = ran(run.root, by_number(its), *flags, output="after")
    finally:
        certificate.unlink()
    assert after.done.returncode == 0, after.done.stdout
    assert any(
        check.reason == "calibrated: correctness: 24 traces, 100% within one point, alpha 1.00"
        for check in after.result.gate.checks
    )


def test_req_43_the_same_traces_are_judged_by_another_judge(run: Ran, tmp_path: Path) -> None:
    sheet = labelled(run, tmp_path, its)
    with LoopbackProvider(by_number(lambda n: 5 - n % 5)) as provider:
        done = calibrate(run, sheet, "--judge", "claude-opus-4-7", **provider.env())
        requests = provider.requests
    assert [request.model for request in requests] == ["claude-opus-4-7"] * COUNT
    assert sum("config.get('name', 'unnamed')" in request.prompt for request in requests) == COUNT
    assert figure(done, "exact agreement") == round(sum(its(n) == 5 - n % 5 for n in range(COUNT)) / COUNT, 3)
    assert json.loads(sheet.with_name("certificate.json").read_text())["judge"]["model"] == "claude-opus-4-7"


def test_req_44_within_one_point_and_exactly(run: Ran, tmp_path: Path) -> None:
    done = calibrate(run, labelled(run, tmp_path, lambda n: off(6, 1)(n) if n < 18 else off(24, 2)(n)))
    assert figure(done, "exact agreement") == 0.5
    assert figure(done, "within one point") == 0.75


def test_req_44_labels_of_other_traces_are_an_error(run: Ran, tmp_path: Path) -> None:
    sheet = labelled(run, tmp_path, its)
    sheet.write_text(sheet.read_text().replace("run/t07", "run/t77").replace("run/t03", "other/t03"))
    done = calibrate(run, sheet)
    assert done.returncode == 2
    assert "2 of the labelled traces are in none of the runs: other/t03, run/t77" in done.stderr
    assert not sheet.with_name("certificate.json").exists()


def test_req_44_labelled_traces_without_a_score_of_the_judge_are_counted(run: Ran, tmp_path: Path) -> None:
    sheet = labelled(run, tmp_path, its)
    sheet.write_text(sheet.read_text().replace("run/t07", "run/failed"))  # of which no judge was asked
    done = calibrate(run, sheet)
    assert "correctness: of the labelled traces the judge has no score of 1: left out" in done.stdout
    assert found(sheet).n == COUNT - 1


@pytest.mark.parametrize(("apart", "status"), [(6, 0), (7, 3)])
def test_req_45_three_quarters_within_one_point_are_wanted(run: Ran, tmp_path: Path, apart: int, status: int) -> None:
    sheet = labelled(run, tmp_path, off(apart, 2))
    done = calibrate(run, sheet, "--min-alpha", "-1")
    assert done.returncode == status
    assert ("75% within one point are wanted" in done.stdout) is (status == 3)
    assert calibrate(run, sheet, "--min-alpha", "-1", "--min-agreement", "0.7").returncode == 0


@pytest.mark.parametrize(("shift", "word"), [(0, "calibrated"), (1, "weak"), (-2, "uncalibrated")])
def test_req_46_an_alpha_of_four_fifths_is_wanted(run: Ran, tmp_path: Path, shift: int, word: str) -> None:
    oracle = pytest.importorskip("krippendorff", reason="krippendorff is not installed")

    def people(number: int) -> int:
        return max(1, min(5, its(number) + shift))

    sheet = labelled(run, tmp_path, people)
    done = calibrate(run, sheet, "--min-agreement", "0")
    assert done.stdout.partition(":")[0] == word
    assert done.returncode == (0 if word == "calibrated" else 3)
    both = [[people(n) for n in range(COUNT)], [its(n) for n in range(COUNT)]]
    for level in ("nominal", "ordinal", "interval"):
        alpha = oracle.alpha(both, level_of_measurement=level)
        assert found(sheet).alpha[level].value == pytest.approx(alpha, abs=1e-9)
        assert figure(done, f"Krippendorff's alpha, {level}") == pytest.approx(alpha, abs=6e-4)


def test_req_47_the_rubric_is_mended_before_the_judge_is_changed(run: Ran, tmp_path: Path) -> None:
    alone = calibrate(run, labelled(run, tmp_path, off(12, 2)))
    assert "sharpen the anchors of correctness in rubric.md" in alone.stdout
    assert "let a second person label" in alone.stdout
    differ = calibrate(run, labelled(run, tmp_path, off(12, 2), lambda n: 5 - n % 5))
    assert "people do not agree with each other" in differ.stdout
    assert "no other judge will help" in differ.stdout
    agree = calibrate(run, labelled(run, tmp_path, off(12, 2), off(12, 2)))
    assert figure(agree, "alpha among people") == 1
    assert "people agree with each other (alpha 1.00)" in agree.stdout
    assert agree.stdout.index("rubric.md") < agree.stdout.index("another judge (--judge MODEL)")
    assert "sharpen" not in calibrate(run, labelled(run, tmp_path, its)).stdout


def test_req_47_people_are_set_beside_each_other(run: Ran, tmp_path: Path) -> None:
    sheet = labelled(run, tmp_path, its, lambda n: 9 if n % 2 else off(4, 1)(n))
    calibrate(run, sheet)
    between = [[its(n), off(4, 1)(n)] for n in range(0, COUNT, 2)]
    alpha = found(sheet).people_alpha
    assert alpha is not None
    assert alpha.value == pytest.approx(krippendorff_alpha(between, level="ordinal"), abs=1e-9)
