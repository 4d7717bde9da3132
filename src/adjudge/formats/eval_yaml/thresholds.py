"""`thresholds` and `reward`: what judges must reach, and what is composed of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite

from adjudge.domain import (
    Binary,
    Judge,
    Numeric,
    OnUnscored,
    PairwiseJudge,
    RewardForm,
    RewardFormula,
    Scale,
    Threshold,
)
from adjudge.formats.convert import nearest
from adjudge.formats.eval_yaml.schema import RewardConfig, ThresholdConfig
from adjudge.scoring import Formula, FormulaError

Report = Callable[..., None]
"""`(key, message, hint=, warning=)`"""
PAIRWISE = "pairwise"


def read_thresholds(
    given: Mapping[str, ThresholdConfig], names: Sequence[str], judges: Sequence[Judge], report: Report
) -> dict[str, Threshold]:
    """Thresholds by judge. `names` are all that the file defines, `judges` those that could be read."""
    by_name = {judge.name: judge for judge in judges}
    result: dict[str, Threshold] = {}
    for name, entry in given.items():
        where = f"thresholds.{name}"
        if name not in names:
            report(where, f"there is no judge {name!r}", hint=nearest(name, names))
            continue
        judge = by_name.get(name)
        pairwise = name == PAIRWISE or isinstance(judge, PairwiseJudge)
        _shares(where, entry, report)
        _agreement(where, entry, report)
        _metrics(where, entry, judge.criteria[0].scale if judge else None, report, pairwise=pairwise)
        if entry.max_drop is not None and not (_finite(entry.max_drop) and entry.max_drop >= 0):
            report(f"{where}.max_drop", f"must be 0 or more, got {entry.max_drop}")
        if entry.decide_by not in (None, "point", "interval"):
            report(f"{where}.decide_by", f"must be point or interval, got {entry.decide_by!r}")
        result[name] = Threshold(
            min_mean=entry.min_mean,
            min_pass_rate=entry.min_pass_rate,
            min_win_rate=entry.min_win_rate,
            max_error_rate=entry.max_error_rate,
            decide_by=entry.decide_by or "point",
            max_drop=float(entry.max_drop) if entry.max_drop is not None and _finite(entry.max_drop) else None,
        )
    return result


def _shares(where: str, entry: ThresholdConfig, report: Report) -> None:
    for key in ("min_pass_rate", "min_win_rate", "max_error_rate"):
        share = getattr(entry, key)
        if share is not None and not 0 <= share <= 1:
            hint = f"{share}% is {share / 100:g}" if 1 < share <= 100 else ""
            report(f"{where}.{key}", f"must be from 0 to 1, got {share}", hint=hint)


def _agreement(where: str, entry: ThresholdConfig, report: Report) -> None:
    """Bounds on coefficients of agreement, which are read so that a file loads, and gate nothing."""
    for key in ("min_alpha", "min_panel_alpha", "min_human_agreement"):
        bound = getattr(entry, key)
        if bound is None:
            continue
        if not _finite(bound) or bound > 1:
            report(f"{where}.{key}", f"must be at most 1, got {bound}")
        else:
            report(f"{where}.{key}", "gates nothing: no coefficient of agreement is held against it", warning=True)


def _metrics(where: str, entry: ThresholdConfig, scale: Scale | None, report: Report, *, pairwise: bool) -> None:
    """A bound must be one that the judge can have."""
    if pairwise:
        for key in ("min_mean", "min_pass_rate", "max_drop"):
            if getattr(entry, key) is not None:
                report(f"{where}.{key}", "the pairwise judge has a win rate", hint="use min_win_rate")
        return
    low, high = (scale.min, scale.max) if isinstance(scale, Numeric) and scale.enforced else (-inf, inf)
    if isinstance(scale, Binary):
        low, high = 0, 1
    if entry.min_mean is not None and not (low <= entry.min_mean <= high and abs(entry.min_mean) < 1e300):
        message = f"lies outside the judge's scale, {low:g} to {high:g}, got {entry.min_mean}"
        report(f"{where}.min_mean", message)
    if entry.min_pass_rate is not None and isinstance(scale, Numeric):
        report(f"{where}.min_pass_rate", "the judge answers with a number, and has no pass rate", hint="use min_mean")
    if entry.min_win_rate is not None:
        report(f"{where}.min_win_rate", "belongs to the pairwise judge", hint="use min_pass_rate or min_mean")


def read_reward(given: RewardConfig, names: Sequence[str], judges: Sequence[Judge], report: Report) -> RewardFormula:
    """The reward block, after reporting everything that is wrong with it."""
    form = _form(given, names, report)
    for key, chosen in (("weights", given.weights), ("raw", given.raw)):
        for name in chosen or ():
            if name not in names:
                report(f"reward.{key}.{name}", f"there is no judge {name!r}", hint=nearest(name, names))
    for name, weight in (given.weights or {}).items():
        if not _finite(weight) or weight < 0:
            report(f"reward.weights.{name}", f"must be 0 or more, got {weight}")
    bounds = given.score_range
    if bounds is not None and not (len(bounds) == 2 and all(map(_finite, bounds)) and bounds[0] < bounds[1]):
        report("reward.score_range", f"must be [min, max] with min < max, got {bounds}")
        bounds = None
    if form is RewardForm.WEIGHTED and not any((given.weights or {}).values()):
        report("reward", "needs weights: judge -> number", hint="formula: default takes the mean of all numbers")
    _ranges(given, form, judges, report)
    unscored = given.unscored or "fail"
    if unscored not in tuple(OnUnscored):
        hint = nearest(unscored, tuple(OnUnscored))
        report("reward.unscored", f"must be fail, zero or drop, got {unscored!r}", hint=hint)
        unscored = "fail"
    low, high = bounds or (1.0, 5.0)
    return RewardFormula(
        form=form,
        judge=given.judge or "",
        normalize=bool(given.normalize),
        weights={name: float(weight) for name, weight in (given.weights or {}).items() if _finite(weight)},
        expression=(given.formula or "") if form is RewardForm.EXPRESSION else "",
        gate=given.gate,
        score_range=(float(low), float(high)),
        raw=tuple(given.raw or ()),
        unscored=OnUnscored(unscored),
    )


def _finite(number: float) -> bool:
    """True for numbers that a float can hold."""
    try:
        return isfinite(number)
    except OverflowError:
        return False


def _form(given: RewardConfig, names: Sequence[str], report: Report) -> RewardForm:
    if given.judge is not None:
        for key in ("formula", "weights", "raw"):
            if getattr(given, key) is not None:
                report(f"reward.{key}", "cannot go with judge: one judge is the whole reward")
        if given.judge not in names:
            report("reward.judge", f"there is no judge {given.judge!r}", hint=nearest(given.judge, names))
        return RewardForm.JUDGE
    if given.formula in (None, "weighted"):
        return RewardForm.WEIGHTED
    if given.formula == "default":
        return RewardForm.DEFAULT
    try:
        Formula(given.formula or "", names)
    except FormulaError as error:
        report("reward.formula", str(error))
    return RewardForm.EXPRESSION


def _ranges(given: RewardConfig, form: RewardForm, judges: Sequence[Judge], report: Report) -> None:
    """Ranges that do nothing, or are missing where they matter."""
    for judge in judges:
        scale = judge.criteria[0].scale
        own = isinstance(scale, Numeric) and scale.enforced
        if form is RewardForm.JUDGE and judge.name == given.judge and own and not given.normalize:
            assert isinstance(scale, Numeric)
            if (scale.min, scale.max) != (0, 1):
                text = (
                    f"{judge.name} is on {scale.min:g} to {scale.max:g}, and is cut to 0 to 1 without normalize: true"
                )
                report("reward.judge", text, warning=True)
    shadowed = [j.name for j in judges if isinstance(j.criteria[0].scale, Numeric) and j.criteria[0].scale.enforced]
    if given.score_range is not None and shadowed:
        declare = "declares a range of its own" if len(shadowed) == 1 else "declare ranges of their own"
        text = f"is not used for {', '.join(shadowed)}, which {declare}"
        report("reward.score_range", text, warning=True)
