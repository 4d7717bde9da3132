"""Real verdicts of real judges on 419 pairs, in both orders: the published statistics come out of our results.

The provider answers, in the structure that is asked of it, with the winner that the judge really named.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import subprocess
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support.llm import call, command, environment
from tests.support.provider import LoopbackProvider
from tests.support.replies import Reply, Text, Verdict
from tests.support.request import Request

DATA = ROOT.parent / "shared" / "data" / "llmbar"
ALL = ["Vanilla_NoRules", "Vanilla", "CoT", "Metrics_Reference"]
PROMPTS = ALL if os.environ.get("ADJUDGE_SOAK") else ALL[:1]
JUDGES = {"openai:/gpt-4": "GPT-4", "openai:/gpt-3.5-turbo": "ChatGPT"}

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the judge data of ../shared/data is not here")

CONFIG = """\
name: llmbar
dataset: {path: cases}
outputs: [{path: output}]
judges:
"""
JUDGE = """\
  - name: %s
    model: %s
    score_range: [1, 2]
    prompt: |
      Which output follows the instruction better, 1 or 2?

      {{ inputs }}

      ## Output 1
      {{ outputs.files['output/1.md'] }}

      ## Output 2
      {{ outputs.files['output/2.md'] }}
"""


def write_suite(folder: Path, pairs: list[dict[str, Any]]) -> None:
    """Every pair as two cases; in `ba` the second output stands first."""
    for pair in pairs:
        for order in ("ab", "ba"):
            case = folder / "cases" / f"{pair['subset'].replace('/', '-')}-{pair['idx']:03d}-{order}"
            (case / "output").mkdir(parents=True)
            key = f"{pair['subset']}#{pair['idx']}#{order}"
            (case / "input.yaml").write_text(json.dumps({"pair": key, "instruction": pair["input"]}))
            first, second = (1, 2) if order == "ab" else (2, 1)
            (case / "output" / "1.md").write_text(pair[f"output_{first}"] or "(empty)")
            (case / "output" / "2.md").write_text(pair[f"output_{second}"] or "(empty)")
    names = [JUDGE % (name, model) for model, name in JUDGES.items()]
    (folder / "eval.yaml").write_text(CONFIG + "".join(names))


def recorded(prompt: str) -> dict[tuple[str, str, str, str], str]:
    """(judge, subset, idx, order) -> the output, 1 or 2, that the judge named."""
    with gzip.open(DATA / "verdicts.csv.gz", "rt") as file:
        rows = [row for row in csv.DictReader(file) if row["prompt"] == prompt]
    return {
        (row["judge"], row["subset"].removeprefix("LLMBar/"), row["idx"], order): row[f"winner_{order}"]
        for row in rows
        for order in ("ab", "ba")
    }


@pytest.mark.parametrize("prompt", PROMPTS)
def test_published_statistics_are_reproduced_though_the_run_is_killed_on_the_way(tmp_path: Path, prompt: str) -> None:
    pairs = [json.loads(line) for line in (DATA / "pairs.jsonl").read_text().splitlines()]
    write_suite(tmp_path, pairs)
    winners = recorded(prompt)

    def reply(request: Request) -> Reply:
        found = re.search(r"\*\*pair\*\*: (\S+)#(\d+)#(ab|ba)", request.prompt)
        assert found is not None
        subset, idx, order = found.groups()
        winner = winners[JUDGES[f"openai:/{request.model}"], subset, idx, order]
        if winner not in ("1", "2"):
            return Text("Both outputs have their merits.")
        slot = int(winner) if order == "ab" else 3 - int(winner)
        return Verdict({"rationale": f"slot {slot} follows the instruction", "score": slot})

    with LoopbackProvider(reply) as provider:
        env = environment(tmp_path, provider)
        arguments = ["run", "-q", "--output", "run", "--max-concurrency", "16"]
        killed = subprocess.Popen(command(*arguments), cwd=tmp_path, env=env)
        deadline = time.monotonic() + 120
        while len(provider.requests) < 500 and time.monotonic() < deadline:
            time.sleep(0.02)
        killed.kill()
        killed.wait()
        before = len(provider.requests)
        done = call(*arguments, cwd=tmp_path, env=env)
        assert 500 <= before < len(provider.requests) <= 2 * 2 * len(pairs) + 16, "asked again after the kill"
    assert done.returncode in (0, 4), done.stderr
    check(tmp_path / "run" / "result.json", pairs, prompt)


def check(result: Path, pairs: list[dict[str, Any]], prompt: str) -> None:
    scores = {(s["judge"], s["case"]): s.get("value") for s in json.loads(result.read_bytes())["scores"]}
    labels = {(pair["subset"], pair["idx"]): pair["label"] for pair in pairs}
    expected = [json.loads(line) for line in (DATA / "expected.jsonl").read_text().splitlines()]
    checked = 0
    flips: dict[str, int] = defaultdict(int)
    for row in expected:
        if row["prompt"] != prompt or row["judge"] not in JUDGES.values():
            continue
        subset = row["subset"].removeprefix("LLMBar/")
        indices = [idx for name, idx in labels if name == subset]
        right = {"ab": 0, "ba": 0, "both": 0, "equal": 0}
        for idx in indices:
            stem = f"{subset.replace('/', '-')}-{idx:03d}"
            ab, ba = scores[row["judge"], f"{stem}-ab"], scores[row["judge"], f"{stem}-ba"]
            winner_ab, winner_ba = ab, None if ba is None else 3 - ba
            label = labels[subset, idx]
            right["ab"] += winner_ab == label
            right["ba"] += winner_ba == label
            right["both"] += winner_ab == winner_ba == label
            right["equal"] += winner_ab == winner_ba
            flips[row["judge"]] += None not in (winner_ab, winner_ba) and winner_ab != winner_ba
        published = [row["statistics"][key] for key in ("correct_False", "correct_True", "correct_both", "equal")]
        assert [f"{right[key]} / {len(indices)}" for key in ("ab", "ba", "both", "equal")] == [
            text.split(" = ")[0] for text in published
        ]
        checked += 1
    assert checked == 10
    if prompt == "Vanilla_NoRules":
        assert round(flips["GPT-4"] / 419 * 100, 1) == 8.8
        assert round(flips["ChatGPT"] / 419 * 100, 1) == 38.9
