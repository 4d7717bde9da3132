"""What GitLab shows in merge requests: annotations as a Code Quality report."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

import msgspec

from adjudge.report.annotations import Annotation, Level

_SEVERITIES = {Level.ERROR: "major", Level.WARNING: "minor", Level.NOTICE: "info"}


def code_quality(annotations: Iterable[Annotation]) -> bytes:
    """The annotations of files as the JSON that GitLab reads as `artifacts:reports:codequality`.

    A fingerprint is of file and title: the same fault of a task is the same one in the next run, whatever its figures.
    """
    found = []
    seen: Counter[str] = Counter()
    for one in annotations:
        if not one.file:
            continue
        about = f"{one.file}\0{one.title}"
        seen[about] += 1
        found.append(
            {
                "description": _utf8(f"{one.title}: {one.message}"),
                "check_name": "adjudge",
                "fingerprint": hashlib.sha256(_utf8(f"{about}\0{seen[about]}").encode()).hexdigest(),
                "severity": _SEVERITIES[one.level],
                "location": {"path": _utf8(one.file), "lines": {"begin": one.line}},
            }
        )
    return msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
