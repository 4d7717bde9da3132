"""`review.yaml` of a run directory: what people said of the run, read and written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import Label, Labelled, OffScaleError, Problem, Review, StoreError, finite, shown
from adjudge.located import parse_yaml, read_text
from adjudge.whole_files import write_whole

REVIEW = "review.yaml"
_VALUE_KEYS = ("value", "verdict", "score", "passed")
_OWN_KEYS = ("run_id", "reviewed_cases", "feedback_cases", "reviewer", "feedback", "verdicts")


class ReviewFile(msgspec.Struct, frozen=True):
    """A review, and what is wrong with its file. `broken` says that nothing could be read of it."""

    review: Review = Review()
    problems: tuple[Problem, ...] = ()
    broken: bool = False


def read_review(run: Path, labels: Iterable[Labelled] = ()) -> ReviewFile | None:
    """The review of a run, or `None` when there is none. `labels` are the criteria that it may speak of.

    Verdicts may be nested by judge or by case. One that cannot be used is a problem, and left out.
    """
    path = run / REVIEW
    if not path.exists() and not path.is_symlink():
        return None
    text = read_text(path, str(path))
    if isinstance(text, Problem):
        return ReviewFile(problems=(text,), broken=True)
    root, problems = parse_yaml(text, str(path))
    loaded = root.plain() if root is not None else {}
    if problems or not isinstance(loaded, dict):
        reason = Problem(file=str(path), message="expected a mapping with feedback and verdicts")
        return ReviewFile(problems=tuple(problems) or (reason,), broken=True)
    return _Reader(str(path), labels).read(loaded)


class _Reader:
    def __init__(self, file: str, labels: Iterable[Labelled]) -> None:
        self.file = file
        self.labels = {label.name: label for label in labels}
        self.problems: list[Problem] = []

    def read(self, loaded: Mapping[str, Any]) -> ReviewFile:
        reviewer = loaded.get("reviewer")
        review = Review(
            reviewer="" if reviewer is None else str(reviewer),
            feedback={str(case): _comment(said) for case, said in self._mapping(loaded, "feedback").items()},
            verdicts=self._verdicts(self._mapping(loaded, "verdicts")),
            more={str(key): value for key, value in loaded.items() if key not in _OWN_KEYS},
        )
        return ReviewFile(review, tuple(self.problems))

    def _mapping(self, loaded: Mapping[str, Any], key: str) -> Mapping[Any, Any]:
        given = loaded.get(key)
        if given is None or isinstance(given, dict):
            return given or {}
        self._add(key, f"expected a mapping, got {shown(given)}")
        return {}

    def _add(self, key: str, message: str) -> None:
        self.problems.append(Problem(file=self.file, key=key, message=message))

    def _verdicts(self, given: Mapping[Any, Any]) -> dict[str, dict[str, Label]]:
        found: dict[str, dict[str, Label]] = {}
        for outer, inner in given.items():
            if not isinstance(inner, dict):
                self._add(f"verdicts.{outer}", f"expected a mapping, got {shown(inner)}")
                continue
            by_case = outer not in self.labels and any(name in self.labels for name in inner)
            for key, said in inner.items():
                name, case = (str(key), str(outer)) if by_case else (str(outer), str(key))
                label = self._label(said, name, case)
                if label is not None:
                    found.setdefault(name, {})[case] = label
        return found

    def _label(self, said: Any, name: str, case: str) -> Label | None:
        value, comment = said, ""
        if isinstance(said, dict):
            value = next((said[key] for key in _VALUE_KEYS if key in said), None)
            comment = _comment(said.get("comment") or said.get("rationale"))
        problem = _value_problem(value, self.labels.get(name))
        if problem:
            self._add(f"verdicts.{name}.{case}", problem)
            return None
        return Label(value, comment) if value is not None or comment else None


def _comment(raw: Any) -> str:
    return raw if isinstance(raw, str) else "" if raw is None else str(raw)


def _value_problem(value: Any, label: Labelled | None) -> str:
    """Why a verdict cannot be used. Pass or fail may be said of any scale."""
    if value is None or isinstance(value, bool):
        return ""
    try:
        if label is not None and label.criterion.scale is not None:
            label.criterion.scale.validate(value)
        elif not isinstance(value, str):
            finite(value)
        elif label is not None:
            return f"expected true, false or a number, got {shown(value)}"
    except OffScaleError as error:
        return str(error)
    return ""


def write_review(run: Path, review: Review) -> Path:
    """Put the review in the place of the run's `review.yaml`, in one step. The same review gives the same bytes.

    Raises:
        StoreError: it cannot be written, or is larger than what is read again.
    """
    import yaml

    path = run / REVIEW
    rejected = sum(bool(comment.strip()) for comment in review.feedback.values())
    content = {
        "run_id": run.resolve().name,
        "reviewed_cases": len(review.cases),
        "feedback_cases": rejected,
        "reviewer": review.reviewer,
        "feedback": dict(sorted(review.feedback.items())),
        "verdicts": {
            name: {case: {"value": said.value, "comment": said.comment} for case, said in sorted(given.items())}
            for name, given in sorted(review.verdicts.items())
            if given
        },
        **review.more,
    }
    dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text = yaml.dump(content, Dumper=dumper, sort_keys=False, allow_unicode=True, width=120)
    _, problems = parse_yaml(text, str(path))
    if problems:
        raise StoreError(f"{path} would not be readable: {problems[0].message}")
    try:
        write_whole(path, text.encode("utf-8", "replace"))
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from None
    return path
