"""What people said of a run: the contents of its `review.yaml`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from adjudge.domain.judge import Criterion, PairwiseJudge
from adjudge.domain.result import Snapshot
from adjudge.domain.scale import Value


class Label(msgspec.Struct, frozen=True, omit_defaults=True):
    """A person's verdict on one criterion of one case, on the criterion's scale; a comment may stand alone."""

    value: Value | None = None
    comment: str = ""


class Review(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What people said of one run.

    Attributes:
        feedback: Case -> comment; a blank one says that the case is acceptable, any other that it is not.
        verdicts: Label name (see `label_name`) -> case -> label.
        more: Keys of the file that are somebody else's; they are kept.
    """

    reviewer: str = ""
    feedback: dict[str, str] = {}
    verdicts: dict[str, dict[str, Label]] = {}
    more: dict[str, Any] = {}

    def verdict(self, case: str, name: str) -> Value | None:
        """The verdict under a label name, or `None`."""
        label = self.verdicts.get(name, {}).get(case)
        return label.value if label else None

    def acceptable(self, case: str) -> bool | None:
        """Whether people accepted the case; `None` where they did not say."""
        comment = self.feedback.get(case)
        return None if comment is None else not comment.strip()

    @property
    def cases(self) -> set[str]:
        """The cases of which something is said."""
        return {*self.feedback, *(case for given in self.verdicts.values() for case in given)}


class Labelled(msgspec.Struct, frozen=True):
    """A criterion of which people may give verdicts."""

    judge: str
    criterion: Criterion

    @property
    def name(self) -> str:
        return label_name(self.judge, self.criterion.name)


def label_name(judge: str, criterion: str) -> str:
    """How a review names a criterion: by its judge when both are called the same, else `judge.criterion`."""
    return judge if judge == criterion else f"{judge}.{criterion}"


def labelled(snapshot: Snapshot) -> Iterator[Labelled]:
    """Every criterion of a run of which people may give verdicts, in order of the reports. A comparison of two runs
    is none; a panel comes before its members."""
    panels = {members[0]: panel for panel, members in snapshot.panels.items()}
    for judge in snapshot.judges:
        if isinstance(judge, PairwiseJudge):
            continue
        if judge.name in panels:
            panel = panels[judge.name]
            for criterion in judge.criteria:
                own = criterion.name == judge.name
                yield Labelled(panel, msgspec.structs.replace(criterion, name=panel) if own else criterion)
        for criterion in judge.criteria:
            yield Labelled(judge.name, criterion)
