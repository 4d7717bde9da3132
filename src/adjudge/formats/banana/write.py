"""Result -> report.json, report.md and a file a check, as Eval Banana lays them out, and what we add."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adjudge.domain import AgentJudge, Judge, RunResult, Score, Snapshot, Status
from adjudge.scoring.aggregate import reaches
from adjudge.whole_files import write_whole

MAX_STDOUT = 2000
MAX_STDERR = 20_000
Times = Mapping[tuple[str, str], tuple[float, float]]


def write(result: RunResult, snapshot: Snapshot, times: Times, run: Path, *, run_id: str = "") -> dict[str, Any]:
    """Write the reports into the run directory, each whole or not at all, and return the one in JSON.

    Raises:
        OSError: they cannot be written.
    """
    made = report(result, snapshot, times, run, run_id=run_id)
    judges = {judge.name: judge for judge in snapshot.judges}
    for check in made["checks"]:
        judge = judges[check["check_id"]]
        assert not isinstance(judge, AgentJudge) or judge.artifacts
        path = run / f"{_artifacts(judge)}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, _json(check))
    write_whole(run / "report.json", _json(made))
    write_whole(run / "report.md", markdown(made).encode("utf-8", "replace"))
    return made


def report(result: RunResult, snapshot: Snapshot, times: Times, run: Path, *, run_id: str = "") -> dict[str, Any]:
    """The contents of report.json. A check that has no verdict yet is not in it."""
    judges = {judge.name: judge for judge in snapshot.judges}
    checks = [_check(judges[score.judge], score, times, run) for score in result.scores if score.judge in judges]
    total = len(snapshot.judges)
    statuses = [check["status"] for check in checks]
    earned = statuses.count("passed")
    threshold = snapshot.pass_threshold if snapshot.pass_threshold is not None else 1.0
    meets = bool(total) and reaches(earned / total, threshold)
    moments = list(times.values())
    began, ended = (min(t[0] for t in moments), max(t[1] for t in moments)) if moments else (0.0, 0.0)
    root = next((judge.arguments.get("project_root") for judge in snapshot.judges), None)
    return {
        "schema_version": 1,
        "run_id": run_id or run.name,
        "project_root": root,
        "output_dir": str(run),
        "started_at": _moment(began) if moments else None,
        "completed_at": _moment(ended) if moments else None,
        "duration_ms": round((ended - began) * 1000),
        "total_checks": total,
        "passed_checks": earned,
        "failed_checks": statuses.count("failed"),
        "errored_checks": statuses.count("error"),
        "points_earned": earned,
        "total_points": total,
        "percentage": round(100 * earned / total, 1) if total else 0.0,
        "pass_threshold": threshold,
        "meets_threshold": meets,
        "run_passed": meets and "error" not in statuses and len(checks) == total,
        "checks": checks,
    }


def _artifacts(judge: Judge) -> str:
    return str(getattr(judge, "artifacts", "") or f"checks/{judge.name}")


def _check(judge: Judge, score: Score, times: Times, run: Path) -> dict[str, Any]:
    began, ended = times.get((score.case, score.judge), (0.0, 0.0))
    passed = score.value is True
    status = "error" if score.status is not Status.SCORED else "passed" if passed else "failed"
    stdout = run / f"{_artifacts(judge)}.stdout.txt"
    stderr = run / f"{_artifacts(judge)}.stderr.txt"
    details: dict[str, Any] = {}
    if isinstance(judge, AgentJudge):
        raw = str(stdout.relative_to(run)) if stdout.is_file() else None
        details = {
            "model": judge.model or None,
            "agent_type": judge.agent.name,
            "reasoning_effort": judge.effort or None,
            "timeout_seconds": judge.timeout_s,
            "raw_response_path": raw,
        }
        if score.usage is not None:
            details["cost_usd"] = score.usage.cost_usd
        if score.denials:
            details["denials"] = score.denials
        if score.notes:
            details["notes"] = list(score.notes)
    return {
        "check_id": judge.name,
        "check_type": "harness_judge" if isinstance(judge, AgentJudge) else "deterministic",
        "check_definition_sha256": judge.arguments.get("definition"),
        "description": judge.description,
        "source_path": judge.arguments.get("source_path"),
        "tags": judge.arguments.get("tags", []),
        "status": status,
        "score": int(passed),
        "started_at": _moment(began) if began else None,
        "completed_at": _moment(ended) if began else None,
        "duration_ms": round((ended - began) * 1000),
        "reason": score.rationale or None,
        "error_detail": str(score.error) if score.error else None,
        "stdout": _tail(stdout, MAX_STDOUT, run),
        "stderr": _tail(stderr, MAX_STDERR, run),
        "exit_code": score.exit_code,
        "details": details,
    }


def _tail(path: Path, limit: int, run: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 4 * limit))
        text = file.read().decode("utf-8", "replace")
    if size <= 4 * limit and len(text) <= limit:
        return text
    return f"[the last {limit} characters; the whole is in {path.relative_to(run)}]\n{text[-limit:]}"


def markdown(made: Mapping[str, Any]) -> str:
    """The contents of report.md."""
    verdict = "Passed" if made["run_passed"] else "Not passed"
    points = f"{made['points_earned']} of {made['total_points']} points ({made['percentage']}%)"
    lines = [
        f"# Eval report {made['run_id']}",
        "",
        f"**{verdict}**: {points}, threshold {made['pass_threshold']:g}, {made['errored_checks']} errors",
        "",
        "| check | type | status | reason |",
        "|---|---|---|---|",
    ]
    for check in made["checks"]:
        said = " ".join(str(check["error_detail"] or check["reason"] or "").split())[:300]
        lines.append(f"| {_cell(check['check_id'])} | {check['check_type']} | {check['status']} | {_cell(said)} |")
    for check in made["checks"]:
        if check["status"] != "passed" and (check["stdout"] or check["stderr"]):
            shown = (check["stderr"] or check["stdout"])[-MAX_STDOUT:].replace("```", "'''")
            lines += ["", f"## {_cell(check['check_id'])}", "", "```text", shown.rstrip(), "```"]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Text within a table, where it can be nothing but text."""
    spelled = {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        "|": "&#124;",
        "`": "&#96;",
        "[": "&#91;",
        "!": "&#33;",
        "*": "&#42;",
    }
    return "".join(spelled.get(character, character if character.isprintable() else " ") for character in text)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
