"""How a run is carried out, as opposed to what it judges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import Baseline
from adjudge.models import RetryPolicy
from adjudge.scoring import BaselineLimits


class BaselineRun(msgspec.Struct, frozen=True, kw_only=True):
    """The run that a run is held against: its folder, its figures, and how far this one may fall below them."""

    folder: Path
    figures: Baseline
    limits: BaselineLimits = BaselineLimits()


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of one run.

    Attributes:
        output: The run directory; by default a new one below `.adjudge/runs/<suite>`.
        cases: Ids to judge; empty for all.
        tags: Judge only cases with at least one of these tags; empty for all.
        judge_model: Answers for every judge that asks a model, whatever the suite says.
        effort: Reasoning effort of every LLM judge.
        samples: Overrides the samples of every LLM judge.
        budget_usd: No new call is made once this much is spent, in USD, resumed runs included.
        max_concurrency: Most requests under way at once.
        agents_at_once: Most agents under way at once.
        scripts_at_once: Most scripts under way at once.
        agent_model: Of the agent under test, whatever the suite says.
        overrides: Input fields that are set for every case of the agent under test.
        baseline: The run to compare with.
        accept_baseline: The scores of this run will be the baseline, so that it need not compare with the old one.
        require_calibration: The gate is inconclusive without a judge that is calibrated.
        offline: Answer only from the journal and the cache.
        no_llm: Leave LLM judges out.
        keep_going: Run what can run when models lack credentials; their verdicts are unscored.
        retry_unscored: Go on in the suite's last run, and ask anew what has no score.
        fresh: Look neither into the journal nor into the cache.
        seed: Of every random choice.
        cache: The cache across runs; `None` for `.adjudge/cache.db`.
        environ: Variables that are set over those of the process, for models and their credentials.
        workers: Worker processes; `None` for one a core.
        retry: How failed calls are repeated; `None` for the default.
    """

    output: Path | None = None
    cases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    judge_model: str | None = None
    effort: str | None = None
    samples: int | None = None
    budget_usd: float | None = None
    max_concurrency: int = 32
    agents_at_once: int = 4
    scripts_at_once: int = 4
    agent_model: str | None = None
    overrides: dict[str, Any] = {}
    baseline: BaselineRun | None = None
    accept_baseline: bool = False
    require_calibration: bool = False
    offline: bool = False
    no_llm: bool = False
    keep_going: bool = False
    retry_unscored: bool = False
    fresh: bool = False
    seed: int = 0
    cache: Path | None = None
    environ: dict[str, str] = {}
    workers: int | None = None
    retry: RetryPolicy | None = None
