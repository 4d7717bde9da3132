"""Result -> reward.json and reward-details.json, key for key as Reward Kit writes them, and what we add."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adjudge.domain import (
    GUARD,
    AgentJudge,
    AsksModel,
    Binary,
    Criterion,
    CriterionJudge,
    DecisionJudge,
    Judge,
    Levels,
    LLMJudge,
    RewardRule,
    RewardScore,
    RunResult,
    SampleRecord,
    Score,
    Snapshot,
    Status,
    Usage,
    Value,
)
from adjudge.scoring import normalise, reward_value
from adjudge.whole_files import write_whole

DETAILS = "reward-details.json"
DIGITS = 4


def reward_numbers(result: RunResult) -> dict[str, float]:
    """The rewards by name, without those that have no value."""
    return {r.name: r.score for case in result.rewards for r in case.rewards if r.score is not None}


def complete(result: RunResult) -> bool:
    """Whether every reward has a value."""
    return all(reward.score is not None for case in result.rewards for reward in case.rewards)


def write(result: RunResult, snapshot: Snapshot, output: Path) -> None:
    """Write the rewards to `output`, if each has a value, and the details beside it.

    Raises:
        OSError: they cannot be written; then neither is there.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    beside = output.with_name(DETAILS)
    if result.rewards and any(case.rewards for case in result.rewards):
        text = json.dumps(details(result, snapshot), indent=2, ensure_ascii=False)
        write_whole(beside, text.encode("utf-8", "replace"))
    if complete(result):
        write_whole(output, json.dumps(reward_numbers(result), indent=2).encode())


def write_empty(output: Path) -> None:
    """What there is to say where nothing is judged."""
    output.parent.mkdir(parents=True, exist_ok=True)
    write_whole(output, b"{}")


def remove_stale(output: Path) -> None:
    """Take away what an earlier run, or anybody else, left where the results will be.

    Raises:
        OSError: it cannot be taken away.
    """
    for path in (output, output.with_name(DETAILS)):
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


def details(result: RunResult, snapshot: Snapshot) -> dict[str, Any]:
    """Everything behind each reward, as plain data."""
    judges = {judge.name: judge for judge in snapshot.judges}
    scores = {(score.judge, score.criterion): score for score in result.scores}
    writer = _Writer(judges, scores)
    return {reward.name: writer.node(reward) for case in result.rewards for reward in case.rewards if reward.listed}


class _Writer:
    def __init__(self, judges: Mapping[str, Judge], scores: Mapping[tuple[str, str], Score]) -> None:
        self._judges = judges
        self._scores = scores

    def node(self, node: RewardScore) -> dict[str, Any]:
        if node.parts:
            return self._leaf(node)
        if node.rule is None and len(node.inputs) == 1:
            return self.node(node.inputs[0])
        rule = node.rule or RewardRule()
        group: dict[str, Any] = {"kind": "group", "score": node.score, "aggregation": rule.aggregation.value}
        if rule.aggregation.value == "threshold":
            group["threshold"] = rule.threshold
        group["components"] = [
            {"name": child.name, "weight": child.weight, "detail": self.node(child)} for child in node.inputs
        ]
        if node.gated:
            group["gate"] = f"{node.gated} is below {rule.gate_threshold:g}, so the score is 0"
        if node.failure:
            group["error"] = node.failure
        return group

    def _leaf(self, node: RewardScore) -> dict[str, Any]:
        judge = self._judges[node.parts[0].judge]
        leaf: dict[str, Any] = {
            "score": node.score,
            "criteria": [self._criterion(part.judge, part.criterion, part.weight) for part in node.parts],
            "kind": node.kind,
        }
        warnings = list(node.warnings)
        if not isinstance(judge, CriterionJudge):
            scores = [self._scores[judge.name, criterion.name] for criterion in judge.criteria]
            leaf["judge"] = _settings(judge)
            leaf["judge_output"] = _output(judge, scores)
            usages = [score.usage for score in scores if score.usage]
            if usages:
                leaf["usage"] = _usage(sum(usages[1:], usages[0]), judge.model if isinstance(judge, AsksModel) else "")
            guard = self._scores.get((judge.name, GUARD))
            if isinstance(judge, LLMJudge) and judge.guards and guard is not None:
                leaf["guard"] = _guard(guard)
            warnings += list(dict.fromkeys(note for score in scores for note in score.notes))
        if node.failure:
            leaf["error"] = node.failure
        if warnings:
            leaf["warnings"] = warnings
        return leaf

    def _criterion(self, judge_name: str, name: str, weight: float) -> dict[str, Any]:
        judge = self._judges[judge_name]
        criterion = next(c for c in judge.criteria if c.name == name)
        score = self._scores[judge_name, name]
        value = reward_value(criterion, score)
        said = score.raw if score.flagged else score.value
        row: dict[str, Any] = {"id": criterion.id} if criterion.id else {}
        row["name"] = judge.label if isinstance(judge, CriterionJudge) else name
        row["value"] = 0.0 if value is None else round(value, DIGITS)
        row["raw"] = _raw(judge, criterion, said, score.confidence)
        row["weight"] = weight
        if criterion.description:
            row["description"] = criterion.description
        if score.rationale:
            row["reasoning"] = score.rationale
        if value is None:
            row["error"] = str(score.error) if score.error else score.status.value
            row["unscored"] = score.error.kind.value if score.error else score.status.value
        if criterion.negate:
            row["negate"] = True
        if criterion.optional:
            row["optional"] = True
        if score.confidence is not None and isinstance(judge, CriterionJudge):
            row["confidence"] = score.confidence
        if score.model:
            row["model"] = score.model
        if score.printed:
            row["printed"] = score.printed
        if judge.samples > 1 and score.samples:
            usable = [s for s in score.samples if s.status is Status.SCORED]
            if usable:
                row["samples"] = [_raw(judge, criterion, s.value, None) for s in score.samples]
                row["agreement"] = _agreement(criterion, said, usable)
        return row


def _raw(judge: Judge, criterion: Criterion, value: Value | None, confidence: float | None) -> Any:
    """The answer as Reward Kit spells it: yes and no, the number of a level, the probability of a decision model."""
    if value is None:
        return None
    if isinstance(judge, DecisionJudge) and confidence is not None and isinstance(criterion.scale, Binary):
        return confidence
    if isinstance(criterion.scale, Binary):
        return "yes" if value else "no"
    if isinstance(criterion.scale, Levels) and isinstance(value, str):
        return criterion.scale.labels.index(value)
    return value


def _agreement(criterion: Criterion, said: Value | None, samples: Sequence[SampleRecord]) -> float:
    """1 - mean |value - median|, of normalised values."""
    middle = normalise(criterion, said) if said is not None else None
    values = [normalise(criterion, s.value) for s in samples if s.value is not None]
    distances = [abs(value - middle) for value in values if value is not None and middle is not None]
    return round(1 - sum(distances) / len(distances), DIGITS) if distances else 0.0


def _settings(judge: Judge) -> dict[str, Any]:
    if isinstance(judge, AgentJudge):
        servers = [
            {"name": s.name, "transport": s.transport, "allowed_tools": list(s.allowed_tools)}
            for s in judge.mcp_servers
        ]
        return {
            "agent": judge.agent.name,
            "model": judge.model or None,
            "version": judge.agent.version or None,
            "reasoning_effort": judge.effort or None,
            "timeout": int(judge.timeout_s),
            "cwd": judge.cwd or None,
            "isolated": judge.isolated,
            "atif_trajectory": judge.trajectory or None,
            "mode": judge.mode.value,
            "mcp_servers": servers,
            "samples": judge.samples,
            "guard": judge.guard.value,
        }
    if isinstance(judge, LLMJudge):
        return {
            "model": judge.model,
            "reasoning_effort": judge.effort,
            "timeout": int(judge.timeout_s),
            "files": list(judge.files),
            "atif_trajectory": judge.trajectory or None,
            "reference": judge.reference or None,
            "mode": judge.mode.value,
            "samples": judge.samples,
            "guard": judge.guard.value,
        }
    assert isinstance(judge, DecisionJudge)
    return {
        "model": judge.model or "jev-latest",
        "timeout": int(judge.timeout_s),
        "files": list(judge.files),
        "reference": judge.reference or None,
        "mode": judge.mode.value,
        "samples": judge.samples,
    }


def _output(judge: Judge, scores: Sequence[Score]) -> str:
    """What the judge answered, put together again from what was read of it."""
    if judge.samples > 1 and any(score.samples for score in scores):
        blocks = []
        for k in range(judge.samples):
            said = {
                c.name: {"score": _raw(judge, c, s.samples[k].value, None), "reasoning": s.samples[k].rationale}
                for c, s in zip(judge.criteria, scores, strict=True)
                if k < len(s.samples)
            }
            blocks.append(f"--- sample {k + 1} ---\n{json.dumps(said, ensure_ascii=False)}")
        return "\n".join(blocks)
    answer = {
        c.name: {
            "score": _raw(judge, c, s.raw if s.flagged else s.value, s.confidence),
            "reasoning": s.rationale,
        }
        for c, s in zip(judge.criteria, scores, strict=True)
    }
    return json.dumps(answer, ensure_ascii=False)


def _guard(score: Score) -> dict[str, Any]:
    if isinstance(score.value, bool):
        return {"flagged": not score.value, "reasoning": score.rationale}
    return {"flagged": None, "error": str(score.error) if score.error else score.status.value}


def _usage(usage: Usage, model: str) -> dict[str, Any]:
    sent = usage.input + usage.cache_read + usage.cache_write
    counts = {
        "input_tokens": sent,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
        "reasoning_output_tokens": usage.reasoning,
    }
    made: dict[str, Any] = {name: count for name, count in counts.items() if count}
    made["total_tokens"] = sent + usage.output
    if usage.cost_usd is not None and not usage.unpriced_calls:
        made["cost_usd"] = usage.cost_usd
        made["cost_source"] = usage.price_source
    return {**made, "models": {model: made}} if model else made
