"""A finished run as a table, one row a score: CSV, JSON lines and Parquet. Rows are made and written one by one, so
that a large run needs no more memory than its result does."""

from __future__ import annotations

import contextlib
import csv
import os
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import msgspec

from adjudge.domain import MissingExtraError, RunResult, Score, Status, StoreError, Usage, Value
from adjudge.sheets import guarded

FORMS = ("csv", "jsonl", "parquet")
_BATCH = 5_000


class TableRow(msgspec.Struct, frozen=True, kw_only=True):
    """One score.

    Attributes:
        status: scored, abstained, unscored or skipped.
        value: The number; 1 and 0 for true and false. Absent for labels, and without a score.
        value_text: The value as text: `true`, `4`, `good`; empty without a score.
        normalised: In [0, 1], where the scale allows it.
        error_kind: Why it is unscored; `error` says it in words.
        agreement: Share of usable samples that agree.
        samples: How often the judge was asked; 0 where it skips the case.
        cost_usd: Absent when unknown, and where no model was called.
        input_tokens: Those that went through the provider's cache included.
        flagged: The material tries to instruct the judge, and the value is the lowest there is for that.
    """

    case: str
    judge: str
    criterion: str
    kind: str
    model: str
    status: str
    value: float | None
    value_text: str
    normalised: float | None
    error_kind: str
    error: str
    rationale: str
    agreement: float | None
    samples: int
    cost_usd: float | None
    calls: int
    input_tokens: int
    output_tokens: int
    flagged: bool
    tags: tuple[str, ...]


COLUMNS = TableRow.__struct_fields__


def rows(result: RunResult) -> Iterator[TableRow]:
    """The rows, in the order of the scores."""
    about: dict[tuple[str, str], tuple[str, str]] = {}
    for summary in result.judges:
        about[summary.judge, summary.criterion] = (summary.kind, summary.model)
        about.setdefault((summary.judge, ""), (summary.kind, summary.model))
    tags = {case.id: tuple(map(_clean, case.tags)) for case in result.cases}
    for score in result.scores:
        kind, model = about.get((score.judge, score.criterion)) or about.get((score.judge, "")) or ("", "")
        yield _row(score, kind=kind, model=model, tags=tags.get(score.case, ()))


def _row(score: Score, *, kind: str, model: str, tags: tuple[str, ...]) -> TableRow:
    usage = score.usage or Usage()
    return TableRow(
        case=_clean(score.case),
        judge=_clean(score.judge),
        criterion=_clean(score.criterion),
        kind=kind,
        model=_clean(score.model or model),
        status=score.status.value,
        value=_number(score.value),
        value_text=_clean(value_text(score.value)),
        normalised=score.normalised,
        error_kind=score.error.kind.value if score.error else "",
        error=_clean(str(score.error)) if score.error else "",
        rationale=_clean(score.rationale),
        agreement=score.agreement,
        samples=0 if score.status is Status.SKIPPED else len(score.samples) or 1,
        cost_usd=usage.cost_usd,
        calls=usage.calls,
        input_tokens=usage.input + usage.cache_read + usage.cache_write,
        output_tokens=usage.output,
        flagged=score.flagged,
        tags=tags,
    )


def value_text(value: Value | None) -> str:
    """A value as it can be read again: `true`, `4`, `0.25`, or the label."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(value: Value | None) -> float | None:
    return None if value is None or isinstance(value, str) else float(value)


def _clean(text: str) -> str:
    """Text that UTF-8 can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def write_table(result: RunResult, path: Path, form: str) -> int:
    """Write the rows as `csv` (RFC 4180), `jsonl` or `parquet`, all of them or nothing; returns how many.

    Raises:
        StoreError: the file cannot be written.
        MissingExtraError: pyarrow is not installed.
        ValueError: there is no such form.
    """
    if form not in FORMS:
        raise ValueError(f"a table is one of {', '.join(FORMS)}, got {form!r}")
    if form == "parquet":
        _pyarrow()
    try:
        with _replacing(path) as temporary:
            if form == "parquet":
                return _write_parquet(result, temporary)
            with temporary.open("w", encoding="utf-8", newline="") as file:
                return write_rows(result, file, form)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from None


def write_rows(result: RunResult, file: TextIO, form: str) -> int:
    """Write the rows as `csv` or `jsonl` to an open file; returns how many."""
    written = 0
    if form == "csv":
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(COLUMNS)
        for row in rows(result):
            writer.writerow(_cells(row))
            written += 1
        return written
    encoder = msgspec.json.Encoder()
    for row in rows(result):
        file.write(encoder.encode(row).decode() + "\n")
        written += 1
    return written


def _cells(row: TableRow) -> Iterator[Any]:
    for name in COLUMNS:
        value = getattr(row, name)
        if name == "tags":
            yield guarded(", ".join(value))
        elif isinstance(value, bool):
            yield str(value).lower()
        elif isinstance(value, str) and not (name == "value_text" and row.value is not None):
            yield guarded(value)
        else:
            yield value


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("parquet needs pyarrow: pip install 'adjudge[parquet]'") from None
    return pyarrow


def _write_parquet(result: RunResult, path: Path) -> int:
    arrow = _pyarrow()
    types = {
        **dict.fromkeys(("value", "normalised", "agreement", "cost_usd"), arrow.float64()),
        **dict.fromkeys(("samples", "calls", "input_tokens", "output_tokens"), arrow.int64()),
        "flagged": arrow.bool_(),
        "tags": arrow.list_(arrow.string()),
    }
    schema = arrow.schema([(name, types.get(name, arrow.string())) for name in COLUMNS])
    written = 0
    remaining = rows(result)
    with arrow.parquet.ParquetWriter(path, schema) as writer:
        while batch := list(islice(remaining, _BATCH)):
            columns = {name: [getattr(row, name) for row in batch] for name in COLUMNS}
            writer.write_table(arrow.table(columns, schema=schema))
            written += len(batch)
    return written


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A file to write, which takes the place of `path` once it is whole."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
