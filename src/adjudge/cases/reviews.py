"""What people said of earlier runs: `review.yaml`, as exemplars for judges."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from adjudge.cases.files import plain_files, read_outputs, read_text
from adjudge.domain import Binary, BinaryFile, Exemplar, LLMJudge, Numeric, OffScaleError, Problem, finite, shown
from adjudge.located import parse_yaml
from adjudge.located import read_text as read_text_file
from adjudge.prompts import MAX_EXCERPT

MAX_POOL = 500
_CLEAR = 0.25
"""A number is a clear pass in the top quarter of its scale, a clear fail in the bottom quarter."""


class Harvest(msgspec.Struct, frozen=True):
    """Exemplars, best first, and what could not be read."""

    pool: tuple[Exemplar, ...] = ()
    problems: tuple[Problem, ...] = ()


class _Label(msgspec.Struct, frozen=True):
    case: str
    passed: bool
    verdict: str
    comment: str


def harvest(runs: Path, judge: LLMJudge, *, outputs: tuple[str, ...], own_run: Path | None = None) -> Harvest:
    """Read the reviews of every run below `runs`, the run being scored left out.

    The judge's own verdict of a person wins over the plain feedback of a case, whose comment says that it was
    rejected, and whose silence that it was accepted. Longest comment first, then the newest run by its name.
    """
    pool: list[Exemplar] = []
    problems: list[Problem] = []
    for run in _runs(runs, own_run):
        review, found = _review(run / "review.yaml")
        problems += found
        pool += [_exemplar(run, label, outputs) for label in _labels(review, judge)]
    newest = {run.name: rank for rank, run in enumerate(_runs(runs, own_run))}
    pool.sort(key=lambda entry: (-len(entry.comment.strip()), newest[entry.run], entry.case))
    mix = judge.examples.mix if judge.examples else ()
    kept = [entry for entry in pool if ("pass" if entry.passed else "fail") in mix]
    return Harvest(tuple(kept[:MAX_POOL]), tuple(problems))


def _runs(runs: Path, own_run: Path | None) -> list[Path]:
    """The folders of runs that were reviewed, newest first by name, each once although links lead to it too.

    The run being scored is left out, also when it is named by a folder inside it.
    """
    own = own_run.resolve() if own_run is not None else None
    left_out = {own, *own.parents} if own is not None else set()
    found: dict[Path, Path] = {}
    try:
        for path in sorted(runs.iterdir(), key=lambda path: (path.is_symlink(), path.name)):
            if (path / "review.yaml").is_file() and path.resolve() not in left_out:
                found.setdefault(path.resolve(), path)
    except OSError:
        return []
    return sorted(found.values(), key=lambda path: path.name, reverse=True)


def _review(path: Path) -> tuple[dict[str, Any], list[Problem]]:
    text = read_text_file(path, str(path))
    if isinstance(text, Problem):
        return {}, [msgspec.structs.replace(text, warning=True)]
    root, problems = parse_yaml(text, str(path))
    loaded = root.plain() if root is not None and not problems else None
    return loaded if isinstance(loaded, dict) else {}, [msgspec.structs.replace(p, warning=True) for p in problems]


def _labels(review: Mapping[str, Any], judge: LLMJudge) -> Iterator[_Label]:
    feedback = review.get("feedback")
    comments = {str(case): text for case, text in feedback.items()} if isinstance(feedback, dict) else {}
    verdicts = _verdicts(review.get("verdicts"), judge.name)
    for case in sorted({*comments, *verdicts}):
        comment = _comment(comments.get(case))
        if case not in verdicts:
            passed: bool | None = not comment.strip()
            yield _Label(case, bool(passed), "accepted" if passed else "rejected", comment)
            continue
        value, said = verdicts[case]
        passed = _clearly_passed(value, judge)
        if passed is not None:
            yield _Label(case, passed, shown(value), said or comment)


def _comment(raw: Any) -> str:
    """A comment as text; `404` and `no` are comments too, although YAML reads them as something else."""
    return raw if isinstance(raw, str) else "" if raw is None else str(raw)


def _verdicts(raw: Any, judge: str) -> dict[str, tuple[Any, str]]:
    """Case -> (the person's verdict, their comment), from either nesting: by judge or by case."""
    if not isinstance(raw, dict):
        return {}
    by_case = (
        raw[judge]
        if isinstance(raw.get(judge), dict)
        else {case: given[judge] for case, given in raw.items() if isinstance(given, dict) and judge in given}
    )
    found: dict[str, tuple[Any, str]] = {}
    for case, given in by_case.items():
        value, comment = given, ""
        if isinstance(given, dict):
            value = next((given[key] for key in ("value", "verdict", "score", "passed") if key in given), None)
            said = given.get("comment") or given.get("rationale") or ""
            comment = said if isinstance(said, str) else ""
        if value is not None:
            found[str(case)] = (value, comment)
    return found


def _clearly_passed(value: Any, judge: LLMJudge) -> bool | None:
    """Whether a verdict is a clear pass or a clear fail; `None` for what lies between, or off the scale."""
    if isinstance(value, bool):
        return value
    scale = judge.criteria[0].scale
    if isinstance(scale, Binary):
        return None
    low, high = (scale.min, scale.max) if isinstance(scale, Numeric) else (1.0, 5.0)
    try:
        share = (finite(value) - low) / (high - low)
    except OffScaleError:
        return None
    if not 0 <= share <= 1:
        return None
    return True if share >= 1 - _CLEAR else False if share <= _CLEAR else None


def _exemplar(run: Path, label: _Label, outputs: tuple[str, ...]) -> Exemplar:
    home = run / "cases" / Path(label.case).name
    return Exemplar(
        case=label.case,
        run=run.name,
        passed=label.passed,
        verdict=label.verdict,
        comment=label.comment[: MAX_EXCERPT + 1],
        inputs=_input(str(home))[: MAX_EXCERPT + 1],
        outputs=_outputs(str(home), outputs)[: MAX_EXCERPT + 1],
    )


def _input(home: str) -> str:
    present = plain_files(home)
    name = next((name for name in ("input.yaml", "input.yml", "input.json") if name in present), None)
    return read_text(f"{home}/{name}", [], name) if name else ""


def _outputs(home: str, declared: tuple[str, ...]) -> str:
    if not os.path.isdir(home):  # noqa: PTH112
        return ""
    parts = []
    try:
        for path in declared:
            files = read_outputs(home, path, [])
            parts += [f"{name}:\n{text}" for name, text in files.items() if not isinstance(text, BinaryFile)]
    except (ValueError, OSError):
        return ""
    return "\n\n".join(parts)
