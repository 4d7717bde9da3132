"""`matrix`: the factors of a factorial run, with their levels."""

from __future__ import annotations

from collections.abc import Callable

from adjudge.domain import Matrix
from adjudge.formats.convert import nearest
from adjudge.formats.eval_yaml.schema import AnalysisConfig, MatrixConfig

_CORRECTIONS = ("holm", "bh", "fdr_bh", "none")


def read_matrix(given: MatrixConfig, report: Callable[..., None], *, runs: bool) -> Matrix:
    """The design, after reporting what is wrong with it. `runs` says whether there is an agent to run."""
    if not runs:  # collected outputs can be judged all the same, and --matrix says that it needs one
        text = "is not used without an agent to run: execution with a skill, a prompt or steps, or a cli runner"
        report("matrix", text, warning=True)
    if not given.factors:
        report("matrix.factors", "is empty")
    for name, levels in given.factors.items():
        if not levels:
            report(f"matrix.factors.{name}", "has no levels")
        texts = [str(level) for level in levels]
        if len(set(texts)) < len(texts):
            report(f"matrix.factors.{name}", f"names a level twice: {', '.join(texts)}")
        if any(isinstance(level, dict | list) or level is None for level in levels):
            report(f"matrix.factors.{name}", "a level must be text, a number, or true or false")
    if given.replications is not None and given.replications < 1:
        report("matrix.replications", f"must be 1 or more, got {given.replications}")
    if given.analysis is not None:
        _analysis(given.analysis, report)
    factors = {name: tuple(levels) for name, levels in given.factors.items()}
    return Matrix(factors=factors, replications=max(1, given.replications or 1))


def _analysis(given: AnalysisConfig, report: Callable[..., None]) -> None:
    """What agent-eval-harness may do with the numbers; here each factor has one test, told as it is."""
    correction = (given.correction or "none").lower()
    if correction not in _CORRECTIONS:
        hint = nearest(correction, _CORRECTIONS)
        text = f"must be one of {', '.join(_CORRECTIONS)}, got {given.correction!r}"
        report("matrix.analysis.correction", text, hint=hint)
    elif correction != "none":
        report("matrix.analysis.correction", "is not used: the p of each factor is told uncorrected", warning=True)
    if given.per_judge:
        report("matrix.analysis.per_judge", "is not used: the reward alone is analysed", warning=True)
