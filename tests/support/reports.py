"""Runs to make reports of: every kind of verdict, and as many cases as wanted."""

from __future__ import annotations

import random

from adjudge.domain import (
    BinaryFile,
    Case,
    CaseDetail,
    CaseRewards,
    CaseRun,
    CaseStub,
    Decision,
    ErrorKind,
    Exchange,
    ExecutionResult,
    Failure,
    GateCheck,
    HumanAgreement,
    Interval,
    JudgeSummary,
    LeftOut,
    OrderSaid,
    PairwiseCase,
    PairwiseResult,
    Problem,
    RewardScore,
    RunResult,
    RunState,
    SampleRecord,
    Score,
    Stability,
    Status,
    Usage,
)
from tests.support.build import result, summary

_TEXT = (
    "the agent read file wrote answer because evidence shows table column missing total correct wrong draft "
    "customer invoice parser branch commit test passes fails unclear value range tone style heading list item"
)
WORDS = _TEXT.split()


def prose(length: int, seed: int) -> str:
    """Words that pack about as well as real text."""
    chance = random.Random(seed)
    made = ""
    while len(made) < length:
        made += f"{chance.choice(WORDS)}{chance.randrange(1000) if chance.random() < 0.15 else ''} "
    return made[:length]


def full_result(count: int = 40) -> RunResult:
    """A run with booleans, numbers off and on the scale, levels, every status, rewards, pairwise and execution."""
    scores: list[Score] = []
    runs: list[CaseRun] = []
    pairs: list[PairwiseCase] = []
    rewards: list[CaseRewards] = []
    for k in range(count):
        case = f"case-{k:04d}"
        runs.append(_run(case, k))
        scores += _scores(case, k)
        winner = ("run", "baseline", "tie")[k % 3]
        pairs.append(
            PairwiseCase(
                case=case,
                winner=winner,
                flipped=k % 9 == 2,
                orders=(OrderSaid(order="run_first", preferred=winner, rationale=prose(120, k)),),
            )
        )
        value = None if k % 7 == 3 else (k % 5) / 4
        reward = RewardScore(name="reward", score=value, failure="" if value is not None else "correct is unscored")
        rewards.append(CaseRewards(case, (reward,)))
    checks = (
        GateCheck("correct", "pass_rate", Decision.FAIL, "correct: pass rate 0.64 is below 0.8", 0.64, 0.8),
        GateCheck("quality", "mean", Decision.PASS, "quality: mean 3.2 reaches 3", 3.2, 3.0),
    )
    return result(
        scores,
        judges=_summaries(scores),
        checks=checks,
        decision=Decision.FAIL,
        suite="invoices",
        description="Answers about invoices, judged by five judges.",
        cases=tuple(CaseStub(f"case-{k:04d}", ("hard",) if k % 4 == 0 else ("easy",)) for k in range(count)),
        rewards=tuple(rewards),
        usage=Usage(calls=2 * count, input=90_000, output=12_000, cost_usd=0.0021 * count, price_source="list"),
        left_out=(LeftOut("slow", "it needs the extra `local`"),),
        warnings=(Problem(message="the key is unknown", file="suite.yaml", line=4, column=3, warning=True),),
        execution=ExecutionResult(agent="claude-code", agent_version="2.1", model="sonnet", cases=tuple(runs)),
        pairwise=(
            PairwiseResult(
                judge="better", baseline="last-week", n=count, wins=count // 3, losses=count // 3, ties=count // 3,
                flips=count // 9, win_rate=0.5, low=0.36, high=0.64, p=1.0, first_share=0.55, cases=tuple(pairs),
            ),
        ),
    )  # fmt: skip


def _run(case: str, k: int) -> CaseRun:
    state = {5: RunState.FAILED, 6: RunState.TIMEOUT, 7: RunState.ERROR}.get(k % 20, RunState.OK)
    if state is RunState.OK:
        return CaseRun(case=case, duration_s=30.0 + k % 50, cost_usd=0.02 + k % 10 / 100, exit_code=0, num_turns=6)
    error = {"failed": "exit status 7", "timeout": "no end after 600 s", "error": "the agent is not installed"}
    return CaseRun(case=case, state=state, exit_code=7, duration_s=12.5, error=error[state.value])


def _scores(case: str, k: int) -> list[Score]:
    usage = Usage(calls=1, input=2000, output=150, cost_usd=0.0021)
    right = k % 3 != 0
    correct = (
        Score(case=case, judge="correct", criterion="correct", status=Status.UNSCORED,
              error=Failure(ErrorKind.TIMEOUT, f"no answer to {case} within 60 s"))
        if k % 10 == 4
        else Score(case=case, judge="correct", criterion="correct", status=Status.SCORED, value=right,
                   normalised=float(right), rationale=f"{'Right' if right else 'Wrong'}: {prose(280, k)}", usage=usage)
    )  # fmt: skip
    points = k % 5 + 1
    quality = Score(
        case=case, judge="quality", criterion="quality", status=Status.SCORED, value=points,
        normalised=(points - 1) / 4,
        rationale=prose(320, k + 1), agreement=0.67, flagged=k % 13 == 12, raw=5 if k % 13 == 12 else None,
        samples=tuple(SampleRecord(Status.SCORED, value, None, prose(90, k + value)) for value in (points, points, 3)),
        usage=usage, notes=("an output was cut at 20,000 characters",) if k % 8 == 0 else (),
    )  # fmt: skip
    ratio = -0.2 if k == 3 else (k * 37 % 100) / 100
    near = Score(case=case, judge="near", criterion="near", status=Status.SCORED, value=ratio, normalised=ratio)
    grade = ("poor", "fair", "good")[k % 3]
    level = Score(case=case, judge="level", criterion="level", status=Status.SCORED, value=grade, normalised=k % 3 / 2)
    rest = Status.SKIPPED if k % 2 else Status.ABSTAINED
    return [correct, quality, near, level, Score(case=case, judge="rare", criterion="rare", status=rest)]


def _summaries(scores: list[Score]) -> list[JudgeSummary]:
    by: dict[str, list[Score]] = {}
    for score in scores:
        by.setdefault(score.judge, []).append(score)
    wilson, student = Interval(0.48, 0.77, 0.95, "Wilson"), Interval(2.8, 3.6, 0.95, "Student's t")
    people = HumanAgreement(n=12, agree=10, false_pass=1, false_fail=1, false_pass_cases=("case-0001",))
    kinds = {"timeout": sum(score.error is not None for score in by["correct"])}
    return [
        summary(by["correct"], "correct", kind="llm", model="opus", metric="pass_rate", value=0.64, interval=wilson,
                unscored_kinds=kinds, first_failure="no answer within 60 s", people=people),
        summary(by["quality"], "quality", kind="llm", model="opus", metric="mean", value=3.2, interval=student,
                stability=Stability(3, 25, 40), flagged=3, usage=Usage(calls=120, cost_usd=0.25)),
        summary(by["near"], "near", kind="builtin", metric="mean", value=0.51, interval=Interval(0.4, 0.6, 0.95, "t")),
        summary(by["level"], "level", kind="llm", model="opus"),
        summary(by["rare"], "rare", kind="code"),
    ]  # fmt: skip


def detail(case: str, *, events: int = 45_000) -> CaseDetail:
    """A case with outputs, a baseline, a reference, and a trajectory of about `events` bytes."""
    seed = sum(map(ord, case))
    made: list[dict[str, object]] = []
    for k in range(max(1, events // 900)):
        made += [
            {"type": "assistant", "text": prose(200, seed + k), "thinking": prose(150, k),
             "tools": [{"name": "Bash", "id": f"t{k}", "input": {"command": "ls " + prose(60, seed - k)}}]},
            {"type": "tool_result", "tool_use_id": f"t{k}", "tool_name": "Bash", "content": prose(300, seed * 7 + k),
             "is_error": k % 9 == 4},
        ]  # fmt: skip
    made.append({"type": "result", "cost_usd": 0.02, "num_turns": 6})
    answer = "\n".join(prose(70, seed + k) for k in range(20))
    return CaseDetail(
        case=Case(
            id=case,
            inputs={"question": f"What does {case} owe?", "limits": {"lines": 20}},
            outputs={"answer.md": answer, "chart.png": BinaryFile("/runs/chart.png", 20_480, "ab" * 32)},
            annotations={"acceptable": True, "gold": "gold.md"},
            references={"gold": answer.replace("the", "THE")},
            events=tuple(made),
            stdout=prose(400, seed),
            directory=f"/runs/1/{case}",
        ),
        exchanges=(
            Exchange(
                judge="correct", prompt="Judge this.\n" + prose(1500, seed), reply='{"value": true}', model="opus"
            ),
        ),
        baseline={"answer.md": answer.replace("wrong", "right", 4)},
    )
