"""The files of a run directory that users of eval.yaml expect beside ours: summary.yaml, and the rewards.

summary.yaml is written as JSON, which is YAML too: every loader reads it without tags, and it costs next to nothing.
Only a key of more than 1,024 characters, which YAML takes for none, is spelled as YAML alone does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import (
    CaseRewards,
    JudgeSummary,
    PairwiseResult,
    RunResult,
    Score,
    Snapshot,
    Status,
    StoreError,
    Usage,
)
from adjudge.whole_files import write_whole

_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufffe\uffff]")
"""What YAML takes only escaped, and what ends a line there."""
_KEY = re.compile(rb'^( *+)("[^"\\]*+(?:\\.[^"\\]*+)*+")(?=: )', re.MULTILINE)
_PIECES = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|(-?\d+)(\.\d+)?[eE]([+-]?)(\d+)')
"""Strings, which stay, and numbers with an exponent."""


def write(result: RunResult, snapshot: Snapshot, run: Path) -> None:
    """Write summary.yaml, and where the suite has a reward, reward.json, reward.txt and judges.json of each case.

    Raises:
        StoreError: the run directory cannot be written.
    """
    try:
        data = _yaml(summary(result, run.name))
        if any(len(item.judge) > 150 for item in result.judges):  # which may be six times as long when it is escaped
            data = _with_long_keys(data)
        write_whole(run / "summary.yaml", data)
        if snapshot.reward is not None:
            _write_rewards(result, run)
    except OSError as error:
        raise StoreError(f"{run} cannot be written: {error.strerror}") from None


def summary(result: RunResult, run_id: str) -> dict[str, Any]:
    """The content of summary.yaml."""
    per_case: dict[str, dict[str, Any]] = {case.id: {} for case in result.cases}
    kinds = {item.judge: item.kind for item in result.judges}
    for score in result.scores:
        if kinds.get(score.judge) != "pairwise":
            name = score.judge if score.judge == score.criterion else f"{score.judge}.{score.criterion}"
            per_case[score.case][name] = _record(score, kinds.get(score.judge, ""))
    plain = [item for item in result.judges if item.kind != "pairwise"]
    made: dict[str, Any] = {
        "run_id": run_id,
        "judges": {_name(item): _judge(item) for item in plain},
        "per_case": per_case,
        "judge_usage": {item.judge: _usage(item.usage) for item in result.judges if item.usage},
        "total_cost_usd": result.usage.cost_usd,
        "run_metrics": _run_metrics(result),
    }
    if result.pairwise:
        made["pairwise"] = _pairwise(result.pairwise[0], run_id)
    return made


def _name(item: JudgeSummary) -> str:
    return item.judge if item.judge == item.criterion else f"{item.judge}.{item.criterion}"


def _judge(item: JudgeSummary) -> dict[str, Any]:
    made: dict[str, Any] = {
        "mean": item.value,
        "pass_rate": item.value if item.metric == "pass_rate" else None,
        "scored_cases": item.n,
        "errored_cases": item.unscored,
        "judge_type": item.kind,
    }
    if item.stability is not None:
        made["stability"] = {
            "samples": item.stability.samples,
            "stable_cases": item.stability.stable_cases,
            "total_cases": item.stability.cases,
        }
    return made


def _record(score: Score, kind: str) -> dict[str, Any]:
    made: dict[str, Any] = {"value": score.value, "judge_type": kind}
    if score.status is Status.SKIPPED:
        made["rationale"] = "Skipped: condition is false"
    elif score.rationale:
        made["rationale"] = score.rationale
    if score.error is not None:
        made["error"] = str(score.error)
    elif score.status is Status.ABSTAINED:
        made["error"] = "the judge abstained"
    if score.samples:
        values = [sample.value for sample in score.samples if sample.status is Status.SCORED]
        errors = sum(sample.error is not None for sample in score.samples)
        made["stability"] = {
            "samples": len(score.samples),
            "error_count": errors,
            "values": values,
            "stable": not errors and len(set(map(repr, values))) == 1,
        }
    if score.usage is not None:
        made["usage"] = _usage(score.usage)
    if score.tool_choice:
        made["tool_choice_mode"] = score.tool_choice
    if score.denials:
        made["permission_denials"] = {"count": sum(score.denials.values()), "tools": sorted(score.denials)}
    return made


def _usage(usage: Usage) -> dict[str, Any]:
    made: dict[str, Any] = {
        "input": usage.input,
        "output": usage.output,
        "cache_read": usage.cache_read,
        "cache_create": usage.cache_write,
    }
    if usage.cost_usd is not None:
        made["cost_usd"] = usage.cost_usd
    return made


def _run_metrics(result: RunResult) -> dict[str, Any]:
    """Ratios of the agent's own use, where they are known."""
    if result.execution is None:
        return {}
    runs = result.execution.cases
    cost = result.execution.cost_usd
    turns = sum(run.num_turns or 0 for run in runs)
    used = [run.token_usage for run in runs if run.token_usage is not None]
    output = sum(usage.output for usage in used)
    read = sum(usage.cache_read for usage in used)
    shown = read + sum(usage.input + usage.cache_create for usage in used)
    return {
        "cost_per_turn_usd": cost / turns if cost is not None and turns else None,
        "output_tokens_per_turn": output / turns if turns and used else None,
        "cache_hit_rate": read / shown if shown else None,
        "cost_per_mtok_usd": cost / (shown + output) * 1e6 if cost is not None and shown + output else None,
    }


def _pairwise(compared: PairwiseResult, run_id: str) -> dict[str, Any]:
    letters = {"run": "A", "baseline": "B", "tie": "tie"}
    return {
        "run_a": run_id,
        "run_b": compared.baseline,
        "cases_compared": compared.n,
        "wins_a": compared.wins,
        "wins_b": compared.losses,
        "ties": compared.ties,
        "errors": compared.unscored,
        "flips": compared.flips,
        "win_rate": compared.win_rate,
        "win_rate_interval": [compared.low, compared.high],
        "sign_test_p": compared.p,
        "per_case": [
            {
                "case_id": case.case,
                "winner": letters.get(case.winner),
                "error": str(case.failure) if case.failure else None,
                "reasoning": " / ".join(order.rationale for order in case.orders if order.rationale),
            }
            for case in compared.cases
        ],
    }


def _write_rewards(result: RunResult, run: Path) -> None:
    """One folder a case; a single case's files lie in the run directory too. A case without a reward has none of the
    first two, and judges.json says why."""
    for case, files in _reward_files(result):
        places = [run / "cases" / case, *([run] if len(result.cases) == 1 else [])]
        for place in places:
            place.mkdir(parents=True, exist_ok=True)
            for name, data in files.items():
                if data is None:
                    (place / name).unlink(missing_ok=True)
                else:
                    write_whole(place / name, data)


def _reward_files(result: RunResult) -> Iterator[tuple[str, dict[str, bytes | None]]]:
    by_case: dict[str, list[Score]] = {}
    for score in result.scores:
        by_case.setdefault(score.case, []).append(score)
    kinds = {item.judge: item.kind for item in result.judges}
    for entry in result.rewards:
        yield entry.case, _files(entry, by_case.get(entry.case, []), kinds)


def _files(entry: CaseRewards, scores: list[Score], kinds: dict[str, str]) -> dict[str, bytes | None]:
    reward = entry.rewards[0]
    values = {score.judge: float(score.value) for score in scores if isinstance(score.value, bool | int | float)}
    record = {score.judge: _record(score, kinds.get(score.judge, "")) for score in scores}
    judges = {"reward": reward.score, "failure": reward.failure, "warnings": reward.warnings, "per_judge": record}
    known = reward.score is not None
    return {
        "reward.json": _yaml({**values, "reward": reward.score}) if known else None,
        "reward.txt": f"{reward.score}\n".encode() if known else None,
        "judges.json": _yaml(judges),
    }


def _yaml(content: Any) -> bytes:
    try:
        data = msgspec.json.encode(content)
    except UnicodeEncodeError:
        data = json.dumps(msgspec.to_builtins(content), ensure_ascii=False).encode("utf-8", "replace")
    text = _PIECES.sub(_piece, msgspec.json.format(data, indent=1).decode()) + "\n"
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def _with_long_keys(data: bytes) -> bytes:
    """Mark the keys that YAML knows for keys by their mark alone."""
    return _KEY.sub(lambda match: match[1] + (b"? " if len(match[2]) > 1000 else b"") + match[2], data)


def _piece(match: re.Match[str]) -> str:
    """A number as YAML 1.1 knows it for one: with a point, and a sign before the exponent."""
    whole, fraction, sign, exponent = match.groups()
    return f"{whole}{fraction or '.0'}e{sign or '+'}{exponent}" if whole else match[0]
