"""What the criteria files of a tests folder register, as it is told to those that must not import them."""

from __future__ import annotations

import msgspec

from adjudge.domain.errors import Problem


class RegisteredCheck(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One check: see `CriterionJudge`. `timeout_s` is `None` where it states no limit."""

    name: str
    description: str = ""
    weight: float = 1.0
    isolated: bool = False
    bounds: tuple[float, float] = (0.0, 1.0)
    timeout_s: float | None = None


class CriteriaFile(msgspec.Struct, frozen=True):
    """A criteria file, relative to its tests folder, and its checks in order."""

    file: str
    checks: tuple[RegisteredCheck, ...]


class Discovered(msgspec.Struct, frozen=True, tag="discovered"):
    """The criteria files of each tests folder, and what went wrong while they were imported."""

    folders: dict[str, tuple[CriteriaFile, ...]] = {}
    problems: tuple[Problem, ...] = ()
