"""How the coding tasks of a run stand beside their baseline: what every report shows of them."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from adjudge.domain.tasks import Calibration


class Word(StrEnum):
    """How one dimension of one task stands beside the baseline; the gravest first."""

    FAILED = "failed"
    """A hard check failed, so that no judge was asked."""
    MISSING = "missing"
    REGRESSED = "regressed"
    UNSCORED = "unscored"
    CHANGED = "changed"
    """The task is another one than the baseline's."""
    NOISE = "noise"
    """It fell by more than is admitted, and equal runs fall as far by chance."""
    FLAKY = "flaky"
    """It fell, and is in quarantine."""
    ABSTAINED = "abstained"
    NEW = "new"
    IMPROVED = "improved"
    SAME = "same"

    @property
    def gravity(self) -> int:
        """0 for the gravest."""
        return list(Word).index(self)


class TaskCell(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One dimension of one task, on the rubric's own scale.

    Attributes:
        before: Mean of the baseline's samples.
        after: Mean of this run's samples.
        samples: How many of this run's samples have a score.
        drop: `before` less `after`, with its 95% interval from `low` to `high`, where they are compared.
        p: One-sided, of a fall as large between equal runs; after Holm over everything that is compared.
        note: Why it should be read with care.
    """

    dimension: str
    word: Word
    before: float | None = None
    after: float | None = None
    samples: int = 0
    drop: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    note: str = ""


class TaskRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One task: the gravest word of its cells (`None` when no judge was asked), the checks that it failed, and until
    when it is in quarantine."""

    task: str
    word: Word | None = None
    cells: tuple[TaskCell, ...] = ()
    hard: tuple[str, ...] = ()
    soft: tuple[str, ...] = ()
    quarantined: str = ""


class TaskTable(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Every task of a run and of its baseline, the gravest first, and each dimension over all tasks.

    Attributes:
        judge: Whose criteria the dimensions are.
        calibration: How far that judge is to be trusted.
        compared: There is a baseline.
        against_point: A fall by more than `max_drop` fails also when it may be chance.
    """

    judge: str
    calibration: Calibration
    max_drop: float
    compared: bool = False
    against_point: bool = False
    dimensions: tuple[str, ...] = ()
    rows: tuple[TaskRow, ...] = ()
    overall: tuple[TaskCell, ...] = ()
