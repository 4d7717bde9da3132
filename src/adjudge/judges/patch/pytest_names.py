"""Which files hold tests, and which functions in them are tests, by name."""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatchcase

_TEST_FOLDERS = frozenset({"test", "tests", "testing", "__tests__", "spec", "specs", "testdata", "e2e"})
_OTHER = re.compile(
    r"""(?:
      [._-](?:test|spec|e2e|cy)\.[cm]?[jt]sx?$ | (?:^|/)__tests__/.*\.[cm]?[jt]sx?$ | (?:^|/)tests?/.*\.[cm]?[jt]sx?$
    | _test\.go$
    | (?:^|/)tests/.*\.rs$ | (?:^|/|_)tests?\.rs$
    | (?:^|/)(?:Test\w{1,80}|\w{0,80}(?:Test|Tests|IT|TestCase|Spec))\.(?:java|kt|scala|groovy|cs|php|swift)$
    | _(?:spec|test)\.rb$ | (?:^|/)test_\w{1,80}\.rb$
    | \.bats$ | (?:^|/)test[_-][\w.-]{1,80}\.(?:sh|bash|zsh)$ | [_-]test\.(?:sh|bash|zsh)$ | (?:^|/)tests?/.*\.sh$
    )""",
    re.X,
)
PYTHON_FILES = ("test_*.py", "*_test.py", "tests.py", "test.py")


def is_python_test(path: str, extra: tuple[str, ...] = ()) -> bool:
    """Whether pytest, unittest or Django collects tests from a file of this name."""
    if not path.endswith(".py"):
        return False
    folder, name = posixpath.split(path)
    if any(fnmatchcase(name, pattern) for pattern in (*PYTHON_FILES, *extra)):
        return True
    # unittest's own pattern is wider than pytest's; outside a folder of tests it would take in `testing.py`.
    return (
        name.startswith("test") and bool(set(folder.split("/")) & {"test", "tests"}) and not name.startswith("testing")
    )


def is_other_test(path: str) -> bool:
    """Whether a file in another language holds tests."""
    return bool(_OTHER.search(path[-400:]))


def is_for_tests(path: str) -> bool:
    """Whether a file belongs to the tests at all: tests, their helpers, fixtures and data."""
    folder, name = posixpath.split(path)
    return (
        is_python_test(path)
        or name == "conftest.py"
        or bool(set(folder.split("/")) & _TEST_FOLDERS)
        or is_other_test(path)
    )
