"""Criteria on SQLite databases."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from adjudge.judges.criteria.finding import Finding
from adjudge.judges.criteria.library.reading import UnusableError, brief, cut, failing, locate, need_string, opened

QUERY_SECONDS = 10.0
_MAX_VALUE = 16 * 1024 * 1024
_STEPS = 10_000


@failing(False)
def sqlite_query_equals(workspace: Path, db_path: str, query: str, expected: Any) -> Finding:
    """Whether the first column of a query's first row is the expected value. The database is opened read-only.

    SQLite has no booleans, so true is 1 here.

    Raises:
        ValueError: the query is not one SQL statement.
    """
    _check(need_string("query", query))
    try:
        row = _first_row(workspace, db_path, query)
    except UnusableError as error:
        return Finding(False, f"{db_path}: {error}" if db_path not in str(error) else str(error))
    if row is None:
        return Finding(False, f"the query gives no row on {db_path}")
    actual = row[0]
    equal = bool(actual == expected)
    return Finding(equal, f"the query gives {brief(actual)} on {db_path}{'' if equal else f', not {brief(expected)}'}")


def _check(query: str) -> None:
    """Find the author's mistakes on an empty database, where nothing else can be at fault."""
    import sqlite3

    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"EXPLAIN {query}")
    except (sqlite3.Warning, sqlite3.ProgrammingError) as error:
        raise ValueError(f"query must be one SQL statement: {error}") from None
    except sqlite3.Error as error:
        if any(sign in str(error) for sign in ("syntax error", "incomplete input", "unrecognized token")):
            raise ValueError(f"query is no SQL: {error}") from None
    except ValueError as error:
        raise ValueError(f"query is no SQL: {error}") from None
    finally:
        connection.close()


def _first_row(workspace: Path, db_path: str, query: str) -> tuple[Any, ...] | None:
    import sqlite3

    with opened(workspace, db_path):
        place = locate(workspace, db_path)
    # Without a log to replay, SQLite need not write files of its own beside the database either.
    unfinished = any(place.with_name(f"{place.name}{end}").exists() for end in ("-wal", "-journal"))
    uri = f"file:{quote(str(place))}?mode=ro{'' if unfinished else '&immutable=1'}"
    deadline = time.monotonic() + QUERY_SECONDS
    connection = None
    try:
        connection = sqlite3.connect(uri, uri=True, timeout=2, isolation_level=None)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE)
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
        connection.execute("PRAGMA trusted_schema = OFF")  # a view of the work must not call what may harm
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        row: tuple[Any, ...] | None = connection.execute(query).fetchone()
        return row
    except sqlite3.OperationalError as error:
        if "interrupted" in str(error):
            raise UnusableError(f"the query took longer than {QUERY_SECONDS:g} seconds and was stopped") from None
        raise UnusableError(f"the query fails: {cut(str(error), 200)}") from None
    except (sqlite3.Error, ValueError, OverflowError, MemoryError) as error:
        raise UnusableError(f"the query fails: {cut(str(error), 200)}") from None
    finally:
        if connection is not None:
            connection.close()
