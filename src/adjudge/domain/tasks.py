"""What is promised of coding tasks: which checks are hard, and what earlier scores later ones are held against."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Hardness(StrEnum):
    """What it means that a check fails."""

    HARD = "hard"
    """The task has failed, and no judge is asked about it."""
    SOFT = "soft"
    """It is shown."""
    OFF = "off"
    """It is not run."""


class JudgeIdentity(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything that can move the scores of a judge. Scores of different identities are not compared.

    `rubric`, `prompt` and `parser` are SHA-256 digests, in hexadecimal; `parser` is of how an answer is asked for and
    read, `decoding` of what is sent along with the request.
    """

    model: str = ""
    rubric: str = ""
    prompt: str = ""
    parser: str = ""
    decoding: str = ""

    def changes(self, other: JudgeIdentity) -> tuple[str, ...]:
        """The names of the fields that differ, with both values where people can read them."""
        found = []
        for name in self.__struct_fields__:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                found.append(f"{name} {theirs} -> {mine}" if name == "model" else name)
        return tuple(found)


class TaskBaseline(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The scores of one task that later runs are held against: dimension -> its samples, on the rubric's own scale.

    `digest` is of the task's content; empty when nobody recorded it.
    """

    digest: str = ""
    scores: dict[str, tuple[float, ...]] = {}


class SuiteBaseline(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The contents of a baseline.json: task -> scores, and who gave them (`None` when nobody recorded it)."""

    judge: JudgeIdentity | None = None
    samples: int = 0
    tasks: dict[str, TaskBaseline] = {}


class Quarantined(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task, or one of its dimensions, that does not gate for a while.

    `until` is the last day, as YYYY-MM-DD. `range` and `variance` are of its means over `reruns` runs.
    """

    task: str
    dimension: str = ""
    until: str = ""
    range: float | None = None
    variance: float | None = None
    reruns: int = 0
    reason: str = ""


class Trust(StrEnum):
    """How far a judge agrees with people, as its certificate says."""

    CALIBRATED = "calibrated"
    WEAK = "weak"
    UNCALIBRATED = "uncalibrated"


class Calibration(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a judge when a run begins: its trust, and why, in a line for people."""

    trust: Trust = Trust.UNCALIBRATED
    reason: str = "no certificate"
    required: bool = False
    """Without it the gate is inconclusive."""


class TaskRules(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a suite of coding tasks is gated by.

    Attributes:
        judge: The judge whose criteria are the dimensions of the rubric.
        hard: Task -> the judges that are hard checks of it.
        soft: Task -> the judges that are soft checks of it.
        digests: Task -> digest of its content.
        identity: Of the rubric's judge; its `model` is known once the run is planned.
        max_drop: How far a mean may fall below the baseline's, on the rubric's own scale.
        baseline: `None` when there is none yet.
        quarantined: What does not gate, as of `today`.
        expired: Quarantines that are over, and gate again.
        selected: Only some of the tasks run, so that the others are not missing.
        certificate: The file with the judge's certificate.
        against_point: A fall by more than `max_drop` fails also when it may be chance.
        authors: Task -> who wrote its reference solution, a person or a model.
    """

    judge: str
    hard: dict[str, tuple[str, ...]] = {}
    soft: dict[str, tuple[str, ...]] = {}
    digests: dict[str, str] = {}
    identity: JudgeIdentity = JudgeIdentity()
    max_drop: float = 0.3
    baseline: SuiteBaseline | None = None
    quarantined: tuple[Quarantined, ...] = ()
    expired: tuple[Quarantined, ...] = ()
    selected: bool = False
    against_point: bool = False
    certificate: str = ""
    calibration: Calibration = Calibration()
    authors: dict[str, str] = {}
