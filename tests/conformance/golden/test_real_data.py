"""Published figures of real judges and people come out of our statistics."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter, defaultdict
from typing import Any

import pytest

from adjudge.stats.agreement import cohen_kappa
from adjudge.stats.krippendorff import krippendorff_alpha
from adjudge.stats.length_bias import slot_share
from tests.conftest import ROOT

DATA = ROOT.parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the judge data of ../shared/data is not here")


def pandalm(name: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / "pandalm" / f"{name}.json.gz", "rt") as file:
        rows: list[dict[str, Any]] = json.load(file)
    return sorted(rows, key=lambda row: int(row["idx"]))


def people() -> list[list[int]]:
    return [[row[f"annotator{k}"] for k in (1, 2, 3)] for row in pandalm("testset-v1")]


def test_people_of_pandalm_agree_as_published() -> None:
    assert krippendorff_alpha(people()) == pytest.approx(0.864, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "key", "kappa", "unscored"),
    [
        ("gpt-3.5-turbo-testset-v1", "gpt_result", 0.493, 25),
        ("pandalm-7b-testset-v1", "pandalm_result", 0.435, 0),
    ],
)
def test_judges_of_pandalm_agree_with_the_majority_as_published(
    name: str, key: str, kappa: float, unscored: int
) -> None:
    majority = [Counter(labels).most_common(1)[0][0] for labels in people()]
    answers = [str(row[key]).replace("Tie", "0") for row in pandalm(name)]
    judge = [int(answer) if answer in ("0", "1", "2") else None for answer in answers]
    found = cohen_kappa(judge, majority)
    assert found.n == 999 - unscored
    assert found.value == pytest.approx(kappa, abs=5e-4)


def llmbar() -> dict[tuple[str, str, str], list[dict[str, str]]]:
    groups: dict[tuple[str, str, str], list[dict[str, str]]] = defaultdict(list)
    with gzip.open(DATA / "llmbar" / "verdicts.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            groups[row["subset"], row["judge"], row["prompt"]].append(row)
    return groups


def test_every_published_statistic_of_llmbar() -> None:
    groups = llmbar()
    expected = [json.loads(line) for line in (DATA / "llmbar" / "expected.jsonl").read_text().splitlines()]
    assert expected
    for entry in expected:
        rows, published = groups[entry["subset"], entry["judge"], entry["prompt"]], entry["statistics"]
        label, ab, ba = ([row[key] for row in rows] for key in ("label", "winner_ab", "winner_ba"))
        counts = {
            "correct_False": sum(x == y for x, y in zip(ab, label, strict=True)),
            "correct_True": sum(x == y for x, y in zip(ba, label, strict=True)),
            "correct_both": sum(x == y == z for x, y, z in zip(ab, ba, label, strict=True)),
            "equal": sum(x == y for x, y in zip(ab, ba, strict=True)),
        }
        for key, count in counts.items():
            assert published[key].startswith(f"{count} / {len(rows)} = "), (entry, key, count)
        # A reply without a verdict counts as output 2 in the published kappa, though never as agreement or correct.
        named = [[winner or "2" for winner in order] for order in (ab, ba)]
        agreement = cohen_kappa(*named).value
        assert agreement == pytest.approx(published["kappa_agreement"], abs=1e-9), entry
        # Beside the labels 1 and 2 the authors write the verdicts 1 and 0, so that their kappas with the labels see
        # no agreement on output 2.
        apart = [cohen_kappa(["1" if w == "1" else "0" for w in order], label).value for order in (ab, ba)]
        for key, ours in zip(("kappa_False", "kappa_True"), apart, strict=True):
            assert ours == pytest.approx(published[key], abs=1e-9), (entry, key)
        assert sum(ours or 0 for ours in apart) / 2 == pytest.approx(published["kappa_average"], abs=1e-9)
        average = 50 * (counts["correct_False"] + counts["correct_True"]) / len(rows)
        assert average == pytest.approx(float(published["correct_average"].rstrip("%")))


@pytest.mark.parametrize(
    ("judge", "flips", "first"),
    [("GPT-4", 8.8, 51), ("PaLM2", 23.6, 68), ("LLaMA2", 22.9, 80), ("ChatGPT", 38.9, 97.5), ("Falcon", 55.8, 98)],
)
def test_flips_of_llmbar_and_who_gains_by_them(judge: str, flips: float, first: float) -> None:
    names = {key[1] for key in llmbar()}
    name = judge if judge in names else next(n for n in sorted(names) if n.startswith(judge) and "0301" not in n)
    rows = [r for key, group in llmbar().items() if key[1:] == (name, "Vanilla_NoRules") for r in group]
    flipped = [r for r in rows if r["winner_ab"] != r["winner_ba"]]
    assert len(rows) == 419
    assert 100 * len(flipped) / len(rows) == pytest.approx(flips, abs=0.06)
    share = slot_share(r["winner_ab"] == "1" for r in flipped).value
    assert share is not None
    assert 100 * share == pytest.approx(first, abs=0.6)
