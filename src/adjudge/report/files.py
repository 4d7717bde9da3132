"""The files of a run directory, written so that a reader never sees half of one."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import RunResult, StoreError
from adjudge.report.github import fitted
from adjudge.report.junit import junit_xml
from adjudge.report.markdown import summary_markdown
from adjudge.whole_files import write_whole


def write_files(result: RunResult, run: Path) -> None:
    """Write `result.json`, `junit.xml` and `summary.md`, which is short enough for a comment on GitHub. The same result
    gives the same bytes.

    Raises:
        StoreError: the run directory cannot be written.
    """
    contents = {
        "result.json": result_json(result),
        "summary.md": fitted(summary_markdown(result)).encode("utf-8", "replace"),
        "junit.xml": junit_xml(result),
    }
    for name, data in contents.items():
        try:
            write_whole(run / name, data)
        except OSError as error:
            raise StoreError(f"{run / name} cannot be written: {error.strerror}") from None


def result_json(result: RunResult) -> bytes:
    """The result as JSON, indented, keys in the order of the schema."""
    try:
        encoded = msgspec.json.encode(result)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_without_surrogates(msgspec.to_builtins(result)))
    return msgspec.json.format(encoded, indent=1) + b"\n"


def _without_surrogates(value: Any) -> Any:
    """The same data, where text that UTF-8 cannot hold (half a character, an odd file name) is replaced."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return [_without_surrogates(item) for item in value] if isinstance(value, list | tuple) else value


def append_step_summary(result: RunResult, environ: dict[str, str]) -> None:
    """Append the summary to the file that GitHub names in `GITHUB_STEP_SUMMARY`, when it does."""
    target = environ.get("GITHUB_STEP_SUMMARY")
    if target:
        with contextlib.suppress(OSError), Path(target).open("a", encoding="utf-8", errors="replace") as file:
            file.write(fitted(summary_markdown(result)))
