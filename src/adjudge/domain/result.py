"""What a run came to: the contents of `result.json`."""

from __future__ import annotations

from typing import Any

import msgspec

from adjudge.domain.case import CaseStub
from adjudge.domain.errors import Failure, Problem
from adjudge.domain.execution import Execution, ExecutionResult
from adjudge.domain.gate import GateResult, Threshold
from adjudge.domain.judge import Judge
from adjudge.domain.pairwise import PairwiseResult
from adjudge.domain.reward import OnError, RewardFormula, RewardNode, RewardScore
from adjudge.domain.scale import Value
from adjudge.domain.standings import TaskTable
from adjudge.domain.tasks import TaskRules
from adjudge.domain.verdict import Status, Usage

SCHEMA_VERSION = 1


class Interval(msgspec.Struct, frozen=True):
    """A confidence interval: bounds in the unit of the estimate, `level` in (0, 1), and the method by name."""

    low: float
    high: float
    level: float
    method: str


class SampleRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of several samples of a score."""

    status: Status
    value: Value | None = None
    error: Failure | None = None
    rationale: str = ""


class Score(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The samples of one (case, judge, criterion), reduced.

    Attributes:
        value: On the criterion's scale; absent unless `status` is scored.
        normalised: In [0, 1], where the scale allows it, after `negate`.
        agreement: Share of usable samples that agree with the reduced value; absent with one sample.
        rationale: Of a sample whose value is the reduced one.
        samples: Every sample, when more than one was asked.
        flagged: The judge met material that tries to instruct it, so `value` is the lowest there is and `raw` what
            the judge said.
        notes: What was cut from what the judge saw, what in it addresses the judge, what the model would not take.
        tool_choice: How the verdict's tool was asked for, when the model would not be forced to call it.
        confidence: The probability that a decision model gave, or what a criterion in Python says of itself.
        model: Who judged, where a criterion in Python says so.
        denials: Tool -> how many calls of an agent judge were refused.
        exit_code: How the script or the agent ended.
        shown_chars: Of a comparison: characters of the output that stood first, and of the other, as they were shown.
    """

    case: str
    judge: str
    criterion: str
    status: Status
    value: Value | None = None
    normalised: float | None = None
    error: Failure | None = None
    rationale: str = ""
    printed: str = ""
    agreement: float | None = None
    samples: tuple[SampleRecord, ...] = ()
    usage: Usage | None = None
    flagged: bool = False
    raw: Value | None = None
    notes: tuple[str, ...] = ()
    tool_choice: str = ""
    confidence: float | None = None
    model: str = ""
    denials: dict[str, int] = {}
    exit_code: int | None = None
    shown_chars: tuple[int, ...] = ()


class HumanAgreement(msgspec.Struct, frozen=True, omit_defaults=True):
    """A judge beside what people said of the same cases.

    `cut` is the value from which a numeric judge counts as passing; a false pass is a case that the judge passes and
    people fail. `false_pass_cases` and `false_fail_cases` name the cases.
    """

    n: int
    agree: int
    false_pass: int
    false_fail: int
    cut: float | None = None
    false_pass_cases: tuple[str, ...] = ()
    false_fail_cases: tuple[str, ...] = ()


class Stability(msgspec.Struct, frozen=True):
    """How often the samples of one case agree: all of them usable and equal."""

    samples: int
    stable_cases: int
    cases: int


class PanelAgreement(msgspec.Struct, frozen=True):
    """How far the models of a panel agree: the share of equal answers over all pairs of members and cases."""

    members: tuple[str, ...]
    pairs: int
    agreement: float | None


class JudgeSummary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One criterion of one judge over all cases.

    Attributes:
        metric: `pass_rate` when every value is a boolean, `mean` when every value is a number, else absent.
        value: That metric over the `n` scored cases.
        interval: 95%: Wilson for rates, Student's t for means; cases are the unit, however many samples each had.
        sample_mean: Mean over all usable samples, with a standard error clustered by case; when samples > 1.
    """

    judge: str
    criterion: str
    kind: str
    model: str = ""
    metric: str | None = None
    value: float | None = None
    interval: Interval | None = None
    n: int = 0
    unscored: int = 0
    abstained: int = 0
    skipped: int = 0
    unscored_kinds: dict[str, int] = {}
    first_failure: str = ""
    """What the first unscored verdict says, as an example."""
    sample_mean: float | None = None
    sample_interval: Interval | None = None
    stability: Stability | None = None
    people: HumanAgreement | None = None
    usage: Usage | None = None
    panel: PanelAgreement | None = None
    member_of: str = ""
    """The panel that this judge's answers go into; the gate asks the panel, not its members."""
    flagged: int = 0
    """Cases whose score is the lowest because something in them tries to instruct the judge."""
    noted: int = 0
    """Cases with notes on what the judge saw."""
    tool_choice_fallbacks: int = 0
    """Cases for which the model would not be forced to call the verdict's tool."""


class LeftOut(msgspec.Struct, frozen=True):
    """A judge of the suite that this run did not ask, and why."""

    judge: str
    why: str


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a run directory must remember so that everything can be recomputed from it."""

    suite: str
    description: str = ""
    format: str = ""
    cases: tuple[CaseStub, ...] = ()
    judges: tuple[Judge, ...] = ()
    models: dict[str, str] = {}
    """Judge name -> the model that answered for it, with its wire format."""
    panels: dict[str, tuple[str, ...]] = {}
    """Panel -> the judges that answer for it, one a model."""
    thresholds: dict[str, Threshold] = {}
    rewards: tuple[RewardNode, ...] = ()
    on_error: OnError = OnError.FAIL
    reward: RewardFormula | None = None
    pass_threshold: float | None = None
    left_out: tuple[LeftOut, ...] = ()
    warnings: tuple[Problem, ...] = ()
    selection: str = ""
    seed: int = 0
    execution: Execution | None = None
    collected: ExecutionResult | None = None
    baseline: str = ""
    tasks: TaskRules | None = None


class CaseRewards(msgspec.Struct, frozen=True):
    """The rewards of one case."""

    case: str
    rewards: tuple[RewardScore, ...]


class RunResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A whole run. Holds nothing that depends on when or how fast it ran, so equal verdicts give equal bytes."""

    schema_version: int = SCHEMA_VERSION
    adjudge: str = ""
    suite: str
    description: str = ""
    format: str = ""
    selection: str = ""
    seed: int = 0
    gate: GateResult
    judges: tuple[JudgeSummary, ...] = ()
    scores: tuple[Score, ...] = ()
    rewards: tuple[CaseRewards, ...] = ()
    cases: tuple[CaseStub, ...] = ()
    usage: Usage = Usage()
    left_out: tuple[LeftOut, ...] = ()
    warnings: tuple[Problem, ...] = ()
    execution: ExecutionResult | None = None
    """How the agent under test went, when it was run."""
    pairwise: tuple[PairwiseResult, ...] = ()
    baseline: str = ""
    """The run that this one is compared with."""
    tasks: TaskTable | None = None
    """Coding tasks beside their baseline."""

    @property
    def decision(self) -> str:
        return self.gate.decision.value

    @property
    def exit_code(self) -> int:
        return self.gate.decision.exit_code

    def summary(self, judge: str, criterion: str | None = None) -> JudgeSummary:
        """The summary of a judge (of its first criterion, unless one is named).

        Raises:
            KeyError: there is no such judge or criterion.
        """
        for summary in self.judges:
            if summary.judge == judge and criterion in (None, summary.criterion):
                return summary
        raise KeyError(judge if criterion is None else f"{judge}.{criterion}")

    def score(self, case: str, judge: str, criterion: str | None = None) -> Score:
        """The score of one case by one judge.

        Raises:
            KeyError: there is none.
        """
        for score in self.scores:
            if score.case == case and score.judge == judge and criterion in (None, score.criterion):
                return score
        raise KeyError((case, judge, criterion))


def result_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of `result.json`."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(RunResult)}
