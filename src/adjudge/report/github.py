"""What GitHub is told: annotations as workflow commands, and summaries that it takes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from adjudge.report.annotations import Annotation, Level

PER_LEVEL = 10
"""GitHub shows no more annotations of one level that come from one step."""
MAX_CHARS = 60_000
"""Of a summary. A comment of a pull request may have 65,536, and whoever posts it adds some."""


def workflow_commands(annotations: Iterable[Annotation]) -> str:
    """One command a line, see GitHub's "Workflow commands". No text of an annotation can end its line or its property,
    so none can be a command of its own.
    """
    lines = []
    order = list(Level)
    for level, group in groupby(sorted(annotations, key=lambda one: order.index(one.level)), lambda one: one.level):
        found = list(group)
        shown = found if len(found) <= PER_LEVEL else found[: PER_LEVEL - 1]
        lines += [_command(one) for one in shown]
        if rest := len(found) - len(shown):
            text = f"{rest} more of this level; the summary and report.html have all of them"
            lines.append(_command(Annotation(level=level, title="adjudge", message=text)))
    return "".join(f"{line}\n" for line in lines)


def _command(one: Annotation) -> str:
    given = {"file": one.file, "line": str(one.line), "title": one.title} if one.file else {"title": one.title}
    properties = ",".join(f"{name}={_property(text)}" for name, text in given.items())
    return f"::{one.level.value} {properties}::{_data(one.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def fitted(markdown: str, limit: int = MAX_CHARS) -> str:
    """Markdown of at most `limit` characters: whole lines, no fold left open, and what was cut is said."""
    if len(markdown) <= limit:
        return markdown
    note = "\n*Cut here: the whole summary is too long for GitHub. report.html and result.json have everything.*\n"
    closing = "\n</details>\n"
    kept = markdown[: limit - len(note) - len(closing)].rpartition("\n")[0] + "\n"
    folded = kept.count("<details>") > kept.count("</details>")
    return kept + (closing if folded else "") + note
