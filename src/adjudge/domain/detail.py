"""What a report shows of a case beside its scores: read again from the run directory, never part of a result."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from adjudge.domain.case import BinaryFile, Case


class Exchange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question to a model or an agent, with its answer, as they went over the wire.

    `criteria` are the criteria that it answers; `prompt` is everything that was sent, as text.
    """

    judge: str
    criteria: tuple[str, ...] = ()
    sample: int = 0
    prompt: str = ""
    reply: str = ""
    model: str = ""
    cost_usd: float | None = None
    seconds: float | None = None


class CaseDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A case as it was judged. `problem` says why nothing of it can be shown, when its files are gone.

    `baseline` are the outputs of the same case in the baseline run, when there is one.
    """

    case: Case
    exchanges: tuple[Exchange, ...] = ()
    baseline: Mapping[str, str | BinaryFile] | None = None
    problem: str = ""
