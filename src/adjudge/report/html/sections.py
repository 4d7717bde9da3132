"""The parts of the page that are there without a script: the decision, the judges, rewards, the execution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from adjudge.domain import (
    Decision,
    ExecutionResult,
    GateCheck,
    JudgeSummary,
    PairwiseResult,
    RewardScore,
    RunResult,
    RunState,
    Score,
    Status,
    Word,
)
from adjudge.report import words
from adjudge.report.html import plots

_WORDS = frozenset(word.value for word in Word)
MAX_LINKS = 30
MAX_RUNS = 10
DECISIONS = {
    "pass": ("✔", "PASS", "Every threshold is met."),
    "fail": ("✘", "FAIL", "At least one threshold is not met."),
    "inconclusive": ("?", "INCONCLUSIVE", "The evidence does not decide it."),
    "broken": ("⚠", "BROKEN", "It could not be measured."),
}
STATES = {"ok": "ok", "failed": "failed", "timeout": "timed out", "error": "could not run"}


def link(case: str) -> Markup:
    """The fragment that opens a case."""
    return "#case=" + fragment(case)


def fragment(text: str) -> Markup:
    """Any text as part of a fragment, whole, however long."""
    return Markup(quote(text, safe="", errors="replace"))


def judges(result: RunResult) -> list[dict[str, Any]]:
    """One row a criterion of a judge."""
    grouped: dict[tuple[str, str], list[Score]] = {}
    for score in result.scores:
        grouped.setdefault((score.judge, score.criterion), []).append(score)
    return [_judge(result, summary, grouped.get((summary.judge, summary.criterion), [])) for summary in result.judges]


def _judge(result: RunResult, summary: JudgeSummary, scores: Sequence[Score]) -> dict[str, Any]:
    name = words.judge_name(summary)
    drawing, ends = plots.distribution(plots.bars(scores), name=name)
    mine = [check for check in result.gate.checks if check.judge in (summary.judge, name)]
    checks = [check for check in mine if not check.case and check.criterion in ("", summary.criterion)]
    bound = next((check.bound for check in checks if check.metric == summary.metric), None)
    scale = (0.0, 1.0) if summary.metric == "pass_rate" else plots.scale_of(scores)
    if scale is None and summary.interval is not None:
        scale = (summary.interval.low, summary.interval.high)
    drawn = ""
    if summary.value is not None and scale is not None:
        drawn = plots.whisker(summary.value, summary.interval, scale=scale, bound=bound, name=name)
    position = None
    if summary.value is not None and summary.metric == "pass_rate":
        position = summary.value
    elif summary.value is not None and (found := plots.scale_of(scores)) is not None:
        position = (summary.value - found[0]) / (found[1] - found[0])
    return {
        "name": name,
        "summary": summary,
        "metric": {"pass_rate": "pass rate", "mean": "mean"}.get(summary.metric or "", "no single metric"),
        "value": "" if summary.value is None else f"{summary.value:.3g}",
        "tone": plots.tone(position),
        "interval": _interval(summary),
        "whisker": Markup(drawn),
        "histogram": Markup(drawing),
        "ends": ends,
        "model": summary.model.split(" at ")[0],
        "stability": Markup(plots.stability(summary.stability)) if summary.stability else "",
        "trust": words.trust(result, summary.judge),
        "people": words.people(summary.people),
        "labelled": summary.people is not None,
        "differs": _differs(summary),
        "cost": words.usd(summary.usage),
        "gate": words.worst(result, summary.judge, summary.criterion),
        "checks": [check for check in checks if check.decision is not Decision.PASS],
        "met": [c for c in checks if c.decision is Decision.PASS and c.bound is not None and c.metric not in _WORDS],
        "remarks": words.remarks(summary),
    }


def _interval(summary: JudgeSummary) -> str:
    if summary.interval is None:
        return ""
    found = summary.interval
    return f"{found.low:.3g} to {found.high:.3g} ({found.level:.0%}, {found.method})"


def _differs(summary: JudgeSummary) -> list[tuple[str, Sequence[str], int]]:
    if summary.people is None:
        return []
    both = (("False pass", summary.people.false_pass_cases), ("False fail", summary.people.false_fail_cases))
    return [(word, cases[:MAX_LINKS], max(0, len(cases) - MAX_LINKS)) for word, cases in both if cases]


def reasons(result: RunResult) -> list[tuple[GateCheck, str, str]]:
    """The comparisons that are not passes, what decided first: each with the case that it is about, where it begins
    with one of this run, and the rest of its words."""
    known = {stub.id for stub in result.cases}
    against = [check for check in result.gate.checks if check.decision is not Decision.PASS]
    found = []
    for check in sorted(against, key=lambda check: check.decision is not result.gate.decision):
        case = check.case if check.case in known and check.reason.startswith(check.case) else ""
        found.append((check, case, check.reason[len(case) :]))
    return found


def execution(found: ExecutionResult | None) -> dict[str, Any] | None:
    """How the agent under test went: counts by state, and the cases that did not end well."""
    if found is None:
        return None
    counts = {state: sum(run.state is state for run in found.cases) for state in RunState}
    seconds = sum(run.duration_s for run in found.cases)
    bad = sorted(found.failed, key=lambda run: (RunState.ERROR, RunState.TIMEOUT, RunState.FAILED).index(run.state))
    return {
        "result": found,
        "counts": [(state.value, STATES[state.value], counts[state]) for state in RunState],
        "bad": [(run, STATES[run.state.value]) for run in bad[:MAX_RUNS]],
        "more": max(0, len(bad) - MAX_RUNS),
        "cost": "unknown" if found.cost_usd is None else f"${found.cost_usd:.4f}",
        "unknown": sum(run.cost_usd is None for run in found.cases),
        "seconds": seconds,
    }


def rewards(result: RunResult) -> list[dict[str, Any]]:
    """One row a reward, over all cases."""
    named: dict[str, list[RewardScore]] = {}
    for rewarded in result.rewards:
        for reward in rewarded.rewards:
            named.setdefault(reward.name, []).append(reward)
    rows = []
    for name, found in named.items():
        values = [reward.score for reward in found if reward.score is not None]
        scores = [
            Score(
                case="",
                judge=name,
                criterion=name,
                status=Status.UNSCORED if reward.score is None else Status.SCORED,
                value=reward.score,
            )
            for reward in found
        ]
        bars = plots.bars(scores)
        rows.append(
            {
                "name": name,
                "n": len(values),
                "mean": f"{sum(values) / len(values):.3g}" if values else "",
                "range": f"{min(values):.3g} to {max(values):.3g}" if values else "",
                "none": len(found) - len(values),
                "gated": sum(bool(reward.gated) for reward in found),
                "flagged": sum(reward.flagged for reward in found),
                "unscored": sum(reward.unscored for reward in found),
                "failure": next((reward.failure for reward in found if reward.failure), ""),
                "histogram": Markup(plots.histogram(bars, name=name)),
                "ends": plots.ends(bars),
            }
        )
    return rows


def pairwise(found: Sequence[PairwiseResult]) -> list[dict[str, Any]]:
    """One row a comparison with a baseline."""
    rows = []
    for one in found:
        known = one.low is not None and one.high is not None
        rows.append(
            {
                "result": one,
                "rate": "" if one.win_rate is None else f"{one.win_rate:.3g}",
                "interval": f"{one.low:.3g} to {one.high:.3g}" if known else "",
                "p": "" if one.p is None else f"{one.p:.3g}",
                "first": "" if one.first_share is None else f"{one.first_share:.0%}",
                "longer": "" if one.longer is None else f"{one.longer.won} of {one.longer.n}, p {one.longer.p:.2g}",
                "flipped": [case.case for case in one.cases if case.flipped][:MAX_LINKS],
                "lost": [case.case for case in one.cases if case.winner == "baseline"][:MAX_LINKS],
            }
        )
    return rows


def counts(result: RunResult) -> list[tuple[str, str, str, str]]:
    """Figures for the head of the page: word, figure, tone, fragment that filters by it."""
    totals: Mapping[Status, int] = {status: sum(score.status is status for score in result.scores) for status in Status}
    failed = sum(score.value is False for score in result.scores)
    flagged = sum(score.flagged for score in result.scores)
    agent = result.execution.cost_usd if result.execution else None
    shown = [
        ("cases", f"{len(result.cases):,}", "", ""),
        *_task_counts(result),
        ("verdicts scored", f"{totals[Status.SCORED]:,}", "", ""),
        ("said fail", f"{failed:,}", "bad" if failed else "", "#class=fail"),
        ("unscored", f"{totals[Status.UNSCORED]:,}", "lost" if totals[Status.UNSCORED] else "", "#class=unscored"),
    ]
    if totals[Status.ABSTAINED]:
        shown.append(("abstained", f"{totals[Status.ABSTAINED]:,}", "", "#class=abstained"))
    if totals[Status.SKIPPED]:
        shown.append(("skipped", f"{totals[Status.SKIPPED]:,}", "", "#class=skipped"))
    if flagged:
        shown.append(("flagged", f"{flagged:,}", "bad", "#class=flagged"))
    if result.execution is not None and (bad := len(result.execution.failed)):
        shown.append(("agent runs ended badly", f"{bad:,}", "bad", "#exec=bad"))
    if result.usage.calls:
        shown.append(("cost of judging", words.usd(result.usage), "", ""))
    if agent is not None:
        shown.append(("cost of the agent", f"${agent:.4f}", "", ""))
    return shown


def _task_counts(result: RunResult) -> list[tuple[str, str, str, str]]:
    """How many tasks failed, are missing, or regressed."""
    found = [row.word for row in result.tasks.rows] if result.tasks is not None else []
    shown = []
    for word in (Word.FAILED, Word.MISSING, Word.REGRESSED):
        if number := found.count(word):
            of = f"{word.value} task" if number == 1 else f"{word.value} tasks"
            shown.append((of, f"{number:,}", "bad", "" if word is Word.MISSING else f"#word={word.value}"))
    return shown
