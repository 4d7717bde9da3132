"""`report.html`: the whole run in one file that asks nothing of any network."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from adjudge.domain import CaseDetail, Comparison, RunResult

DETAILS_BUDGET = 700_000
TEXTS_BUDGET = 180_000
"""Bytes for what opens with a case, and for what is searched and shown of each score, in the finished page. Each
grows with the cases beyond what gives a case 600 and 300 bytes."""

__all__ = ["html_report"]


def html_report(
    result: RunResult,
    *,
    details: Callable[[str], CaseDetail] | None = None,
    title: str = "",
    analysis: str = "",
    comparison: object | None = None,
    types: Mapping[str, str] | None = None,
) -> bytes:
    """The report as one HTML file in UTF-8. Equal arguments give equal bytes.

    What was judged is shown as text and never as markup. Texts are cut to a budget shared by all cases, and say so.

    Args:
        result: The run.
        details: Case id -> the case as it was judged; asked once for every case. Where it raises OSError, LookupError
            or ValueError, the case says so in the place of its details.
        title: Stands above everything; the suite's name when empty.
        analysis: Someone's words about the run, shown as they are.
        comparison: A `Comparison` with another run; anything else is left out.
        types: Names or globs of outputs -> how they are shown: code, graph, image, json, markdown, metrics or text.
            What is not named is shown by the end of its name.
    """
    from markupsafe import Markup

    from adjudge.report import words
    from adjudge.report.html import cases, sections
    from adjudge.report.html.page import digest, environment_of, resource
    from adjudge.report.html.payload import embedded, pack_all, visible
    from adjudge.report.html.tasks import task_table

    rows = cases.Rows(result)
    count = len(rows.stubs)
    budget = max(DETAILS_BUDGET, 600 * count)
    documents, known, images = cases.documents(rows, details, budget, types or {})
    tags: dict[str, int] = {}
    index = {
        "columns": [[c.name, c.kind, words.trust(result, c.judge)] for c in rows.columns],
        "words": {case: row.word.value for case, row in rows.tasks.items() if row.word is not None},
        "cases": [cases.row(stub, rows, tags, case) for stub, case in zip(rows.stubs, known, strict=True)],
        "tags": list(tags),
        "states": sections.STATES,
        "details": details is not None,
    }
    room = max(TEXTS_BUDGET, 300 * count)
    said = cases.texts(rows, [rows.said(stub.id) for stub in rows.stubs], room)
    chunks = [said[k : k + _CHUNK] for k in range(0, count, _CHUNK)]
    script = "\n".join(resource(name) for name in _SCRIPTS)
    style = resource("style.css")

    environment = environment_of()
    environment.filters |= {
        "link": sections.link,
        "fragment": sections.fragment,
        "one_line": lambda text: " ".join(text.split()),
        "tokens": words.tokens,
    }
    known_tasks = ""
    if result.tasks is not None:
        made = task_table(result.tasks, {stub.id for stub in rows.stubs})
        known_tasks = environment.from_string(resource("tasks.html")).render(made)
    page = environment.from_string(resource("template.html")).render(
        result=result,
        tasks=Markup(known_tasks),
        title=title or result.suite,
        decision=sections.DECISIONS[result.decision],
        reasons=sections.reasons(result),
        counts=sections.counts(result),
        judges=sections.judges(result),
        execution=sections.execution(result.execution),
        rewards=sections.rewards(result),
        pairwise=sections.pairwise(result.pairwise),
        comparison=comparison if isinstance(comparison, Comparison) else None,
        analysis=Markup(_escape(visible(analysis))) if analysis else "",
        style=Markup(style),
        script=Markup(script),
        style_hash=digest(style),
        script_hash=digest(script),
        index=Markup(embedded(index)),
        texts=[Markup(text.decode()) for text in pack_all(chunks, room)],
        chunk=_CHUNK,
        blobs=Markup(_blobs("d", pack_all(documents, budget - images.size))),
        images=Markup(_blobs("i", [text.encode() for text in images.data])),
        several=count > 1,
    )
    return page.encode("utf-8", "replace")


_SCRIPTS = ("app.js", "diff.js", "kinds.js", "case.js", "list.js")
_CHUNK = 50


def _blobs(letter: str, packed: list[bytes]) -> str:
    return "\n".join(
        f'<script type="application/octet-stream" id="{letter}{k}">{blob.decode()}</script>'
        for k, blob in enumerate(packed)
    )


def _escape(text: str) -> str:
    from html import escape

    return escape(text)
