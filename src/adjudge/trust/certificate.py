"""Calibration: how far a judge agrees with people on the same traces, and the certificate that says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median_low

import msgspec

from adjudge.domain import Calibration, JudgeIdentity, StoreError, Trust
from adjudge.stats.agreement import Estimate, bias, cohen_kappa, exact_agreement, rates, within
from adjudge.stats.krippendorff import Level, alpha_estimate
from adjudge.trust.labels import CANNOT_TELL, Labels
from adjudge.whole_files import write_json

CERTIFICATE = "certificate.json"
VERSION = 1
LEAST_TRACES = 20
AGREEMENT = 0.75
"""Share of traces within one point, on the first dimension."""
ALPHA = 0.8
"""Krippendorff (2004), Content Analysis, 11.4: reliable from here, tentative from 0.667."""
TENTATIVE = 0.667
_LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


class Targets(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge must reach on the first dimension of its rubric to be called calibrated."""

    agreement: float = AGREEMENT
    alpha: float = ALPHA
    traces: int = LEAST_TRACES


class DimensionTrust(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A judge beside people on one dimension. What cannot be computed is absent.

    Attributes:
        n: Traces that the judge and people scored.
        exact: Share of equal scores.
        within_1: Share of scores at most one point apart.
        kappa: Cohen's, unweighted; `kappa_quadratic` with squared weights.
        alpha: Krippendorff's by level of measurement: nominal, ordinal, interval.
        people_alpha: The same between people alone, ordinal: no judge can be expected to do better.
        bias: Mean of judge minus people, in points.
        tpr: Share of traces that people pass (at `cut` or above) which the judge passes; `tnr` of those they fail.
        judge_abstained: Traces that people scored and the judge could not tell; `people_abstained` the other way.
        confusion: people's score -> judge's score -> traces.
        farthest: The traces where both differ most: (trace, people's score, judge's score).
    """

    n: int
    exact: Estimate
    within_1: Estimate
    kappa: Estimate
    kappa_quadratic: Estimate
    alpha: dict[str, Estimate] = {}
    people_alpha: Estimate | None = None
    bias: Estimate
    tpr: Estimate
    tnr: Estimate
    cut: float = 0.0
    judge_abstained: int = 0
    people_abstained: int = 0
    confusion: dict[str, dict[str, int]] = {}
    farthest: tuple[tuple[str, float, float], ...] = ()


class Certificate(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was found, and for which judge it holds. `labels` is the digest of the label sheet."""

    version: int = VERSION
    judge: JudgeIdentity
    labels: str = ""
    labellers: int = 1
    targets: Targets = Targets()
    dimensions: dict[str, DimensionTrust] = {}
    trust: Trust = Trust.UNCALIBRATED
    why: str = ""


def calibrate(
    labels: Labels,
    scores: Mapping[str, Mapping[str, float | None]],
    identity: JudgeIdentity,
    *,
    digest: str,
    targets: Targets = Targets(),  # noqa: B008 - frozen
    cut: float = 4.0,
) -> Certificate:
    """Set a judge's scores beside people's. `scores` is dimension -> trace -> score, `None` where it could not tell.

    Several people's scores of a trace are taken for their lower median; a 0 of theirs says that they could not tell,
    and is left out.
    """
    found = {name: _dimension(labels.scores[name], scores.get(name, {}), cut=cut) for name in labels.dimensions}
    trust, why = _verdict(found[labels.dimensions[0]], labels.dimensions[0], targets)
    return Certificate(
        judge=identity,
        labels=digest,
        labellers=len(labels.labellers),
        targets=targets,
        dimensions=found,
        trust=trust,
        why=why,
    )


def _dimension(
    people: Mapping[str, Mapping[str, float]], judge: Mapping[str, float | None], *, cut: float
) -> DimensionTrust:
    human: dict[str, float] = {}
    abstained = 0
    for trace, given in people.items():
        told = [score for score in given.values() if score != CANNOT_TELL]
        if told:
            human[trace] = median_low(told)
        elif judge.get(trace) is not None:
            abstained += 1
    both = [trace for trace in sorted(human) if judge.get(trace) is not None]
    theirs = [human[trace] for trace in both]
    its = [float(judge[trace] or 0.0) for trace in both]
    units = list(zip(theirs, its, strict=True))
    between = [[s for s in given.values() if s != CANNOT_TELL] for given in people.values() if len(given) > 1]
    tpr, tnr = rates([score >= cut for score in its], [score >= cut for score in theirs])
    pairs = Counter(units)
    table: dict[str, dict[str, int]] = {}
    for (person, machine), count in sorted(pairs.items()):
        table.setdefault(f"{person:g}", {})[f"{machine:g}"] = count
    apart = sorted(both, key=lambda trace: (-abs(human[trace] - float(judge[trace] or 0)), trace))
    return DimensionTrust(
        n=len(both),
        exact=exact_agreement(its, theirs),
        within_1=within(its, theirs),
        kappa=cohen_kappa(theirs, its),
        kappa_quadratic=cohen_kappa(theirs, its, weights="quadratic", labels=_scale(theirs, its)),
        alpha={level: alpha_estimate(units, level=level) for level in _LEVELS},
        people_alpha=alpha_estimate(between, level="ordinal") if between else None,
        bias=bias(its, theirs),
        tpr=tpr,
        tnr=tnr,
        cut=cut,
        judge_abstained=sum(trace in judge and judge[trace] is None for trace in human),
        people_abstained=abstained,
        confusion=table,
        farthest=tuple(
            (trace, human[trace], float(judge[trace] or 0)) for trace in apart[:5] if human[trace] != judge[trace]
        ),
    )


def _scale(*given: Sequence[float]) -> Sequence[float]:
    """Every point between the least and the greatest score: a weight is of how far two lie apart, not of how many
    scores that occur lie between them."""
    seen = {score for scores in given for score in scores}
    return sorted({*map(float, range(int(min(seen)), int(max(seen)) + 1)), *seen}) if seen else ()


def _verdict(top: DimensionTrust, name: str, targets: Targets) -> tuple[Trust, str]:
    alpha = top.alpha["ordinal"].value
    share = top.within_1.value
    told = f"{name}: {top.n} traces"
    if share is not None:
        told += f", {share:.0%} within one point"
    told += ", no alpha" if alpha is None else f", alpha {alpha:.2f}"
    if top.n < targets.traces:
        return Trust.UNCALIBRATED, f"{told}; {targets.traces} traces are wanted"
    if share is None or share < targets.agreement:
        return Trust.UNCALIBRATED, f"{told}; {targets.agreement:.0%} within one point are wanted"
    if alpha is not None and alpha >= targets.alpha:
        return Trust.CALIBRATED, told
    if alpha is not None and alpha >= min(TENTATIVE, targets.alpha):
        return Trust.WEAK, f"{told}; alpha {targets.alpha:g} is wanted"
    return Trust.UNCALIBRATED, f"{told}; alpha {targets.alpha:g} is wanted"


def write_certificate(path: Path, certificate: Certificate) -> None:
    """Raises OSError when it cannot be written."""
    write_json(path, certificate)


def read_certificate(path: Path) -> Certificate | None:
    """`None` when there is none.

    Raises:
        StoreError: it cannot be read.
    """
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Certificate)
    except (OSError, msgspec.MsgspecError) as error:
        raise StoreError(f"{path} is no certificate: {error}") from None


def calibration_of(certificate: Certificate | None, identity: JudgeIdentity) -> Calibration:
    """What a certificate says of the judge of a run: nothing, when it is another judge's."""
    if certificate is None:
        return Calibration(trust=Trust.UNCALIBRATED, reason="there is no certificate; adjudge calibrate makes one")
    changes = identity.changes(certificate.judge)
    if changes:
        reason = f"the certificate is stale: it is of a judge with another {', '.join(changes)}"
        return Calibration(trust=Trust.UNCALIBRATED, reason=reason)
    return Calibration(trust=certificate.trust, reason=certificate.why)
