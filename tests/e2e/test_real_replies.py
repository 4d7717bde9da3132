"""Real words of real judges, served as a model would send them: every verdict is the one on record."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

import pytest

import adjudge
from adjudge.domain import Case, Criterion, Levels, LLMJudge, Numeric, RunResult, Status, Suite
from tests.conftest import ROOT
from tests.support.llm import QUICK
from tests.support.provider import LoopbackProvider
from tests.support.replies import Reply, Text, ToolCall, Verdict
from tests.support.request import Request

DATA = ROOT.parent / "shared" / "data"
PROMPT = "Which is better?\n\n{{ inputs }}\n\n{{ outputs }}"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the judge data of ../shared/data is not here")


def test_every_llmbar_verdict_is_read_from_between_its_own_words() -> None:
    with gzip.open(DATA / "llmbar" / "replies.jsonl.gz", "rt") as file:
        records = [json.loads(line) for line in file]
    said: dict[tuple[str, str], tuple[str, int | None]] = {}
    for record in records:
        model = f"{record['judge']}-{record['prompt']}".lower().replace("_", "-")
        for order in ("ab", "ba"):
            winner = record[f"winner_{order}"]
            key = f"{record['subset']}#{record['idx']}#{order}".replace(" ", "-")
            said[model, key] = (record[f"reply_{order}"] or "", int(winner) if winner in ("1", "2") else None)
    models = sorted({model for model, _ in said})
    keys = sorted({key for _, key in said})

    def reply(request: Request) -> Reply:
        found = re.search(r"\*\*pair\*\*: (\S+)", request.prompt)
        assert found is not None
        words, winner = said[request.model, found[1]]
        form = sum(found[1].encode()) % 3
        if winner is None:
            return Text(words or "I cannot say.")
        answer = {"rationale": words, "score": winner}
        if form == 0:
            return Text(f"{words}\n\n{json.dumps(answer)}")
        return Text(f"{words}\n\n```json\n{json.dumps(answer, indent=2)}\n```") if form == 1 else Verdict(answer)

    judges = tuple(
        LLMJudge(
            name=model,
            model=f"openai:/{model}",
            prompt=PROMPT,
            criteria=(Criterion(name=model, scale=Numeric(1, 2, integer=True)),),
        )
        for model in models
    )
    cases = [Case(id=key.replace("/", "-"), inputs={"pair": key}, outputs={"a.md": "x"}) for key in keys]
    result = judged(reply, judges, cases)
    values = by_case_and_judge(result)
    assert [key for key, (_, winner) in said.items() if values[key[1].replace("/", "-"), key[0]] != winner] == []
    assert len(said) == 5028
    unscored = sum(score.status is Status.UNSCORED for score in result.scores)
    assert unscored == sum(winner is None for _, winner in said.values()) > 0


def test_every_pandalm_verdict_is_the_recorded_one_and_garbage_stays_unscored() -> None:
    with gzip.open(DATA / "pandalm" / "gpt-3.5-turbo-testset-v1.json.gz", "rt") as file:
        records = json.load(file)

    def reply(request: Request) -> Reply:
        found = re.search(r"\*\*number\*\*: (\d+)", request.prompt)
        assert found is not None
        record = records[int(found[1])]
        if record["gpt_result"] == "garbage":
            raw = json.dumps({key: value for key, value in record.items() if key != "idx"})
            forms: list[Reply] = [Text(raw), ToolCall(request.tool_name or "", raw), Text(record["gpt_result"])]
            return forms[int(found[1]) % 3]
        return Verdict({"rationale": record["gpt_reason"], "score": record["gpt_result"]})

    scale = Levels(("1", "2", "Tie"))
    judge = LLMJudge(
        name="better", model="openai:/gpt-3.5", prompt=PROMPT, criteria=(Criterion(name="better", scale=scale),)
    )
    cases = [Case(id=f"{k:03}", inputs={"number": k}, outputs={"a.md": "x"}) for k in range(len(records))]
    result = judged(reply, (judge,), cases)
    values = by_case_and_judge(result)
    for number, record in enumerate(records):
        recorded = None if record["gpt_result"] == "garbage" else record["gpt_result"]
        assert values[f"{number:03}", "better"] == recorded
    summary = result.summary("better")
    assert (summary.n, summary.unscored, summary.unscored_kinds) == (974, 25, {"unparseable": 25})
    assert summary.usage is not None
    assert summary.usage.calls == 974 + 25 * judge.attempts


def judged(reply: Any, judges: tuple[LLMJudge, ...], cases: list[Case]) -> RunResult:
    with LoopbackProvider(reply) as provider:
        suite = Suite(name="real", cases=cases, judges=judges)
        return adjudge.run(suite, environ=provider.env(), retry=QUICK, max_concurrency=16)


def by_case_and_judge(result: RunResult) -> dict[tuple[str, str], Any]:
    return {(score.case, score.judge): score.value for score in result.scores}
