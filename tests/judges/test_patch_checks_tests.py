"""Python tests that a patch weakens, and honest work on tests that must pass."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.judges.patches import Files, found, git_patch, patch_of

TESTS = '''
import pytest
from p import f, g, Thing


def test_f():
    """It is the answer."""
    value = f(7)
    assert value == 42
    assert g(value) == "forty-two"


def test_errors():
    with pytest.raises(ValueError, match="negative"):
        f(-1)


@pytest.mark.parametrize(("given", "expected"), [(1, 10), (2, 20), (3, 30)])
def test_many(given, expected):
    assert f(given) == expected


def test_near():
    assert f(0.1) == pytest.approx(0.3)


class TestThing:
    def test_name(self):
        assert Thing("a").name == "a"

    def test_mock(self, mock):
        Thing(mock).run()
        mock.assert_called_once_with(3)
'''
UNITTEST = """
import unittest


class ThingTest(unittest.TestCase):
    def test_a(self):
        self.assertEqual(f(7), 42)
        self.assertTrue(g(7))

    def test_b(self):
        with self.assertRaises(KeyError):
            f(8)
        self.assertAlmostEqual(f(9), 1.25, places=5)
"""


def changed(tmp_path: Path, text: str, old: str, new: str, path: str = "tests/test_p.py") -> tuple[bool | None, str]:
    assert old in text
    finding = found("weakened_tests", patch_of(tmp_path, {path: text}, {path: text.replace(old, new)}))
    return finding.passed, finding.detail


WEAKENED = {
    "assert removed": ("    assert value == 42\n", ""),
    "last assert removed": ('    assert g(value) == "forty-two"\n', ""),
    "commented out": ("    assert value == 42\n", "    # assert value == 42\n"),
    "in": ("value == 42", "value in (41, 42)"),
    "is not None": ("value == 42", "value is not None"),
    "at least": ("value == 42", "value >= 42"),
    "truthy": ("value == 42", "value"),
    "isinstance": ("value == 42", "isinstance(value, int)"),
    "or": ("value == 42", "value == 42 or True"),
    "or another": ("value == 42", "value == 42 or value is None"),
    "not equal": ("value == 42", "value != 41"),
    "true": ("assert value == 42", "assert True"),
    "one": ("assert value == 42", "assert 1 == 1"),
    "itself": ("value == 42", "value == value"),
    "tuple": ("assert value == 42", 'assert (value == 42, "the answer")'),
    "string": ("assert value == 42", 'assert "value == 42"'),
    "if False": ("    assert value == 42\n", "    if False:\n        assert value == 42\n"),
    "if 0": ("    assert value == 42\n", "    if 0:\n        assert value == 42\n"),
    "while False": ("    assert value == 42\n", "    while False:\n        assert value == 42\n"),
    "return first": ("    value = f(7)\n", "    return\n    value = f(7)\n"),
    "swallowed": (
        "    assert value == 42\n",
        "    try:\n        assert value == 42\n    except AssertionError:\n        pass\n",
    ),
    "suppressed": ("    assert value == 42\n", "    with suppress(AssertionError):\n        assert value == 42\n"),
    "approx": ("value == 42", "value == pytest.approx(42, rel=0.5)"),
    "larger tolerance": ("pytest.approx(0.3)", "pytest.approx(0.3, abs=0.2)"),
    "broad error": ("pytest.raises(ValueError", "pytest.raises(Exception"),
    "broad error among others": ("pytest.raises(ValueError", "pytest.raises((ValueError, BaseException)"),
    "raises removed": ('    with pytest.raises(ValueError, match="negative"):\n        f(-1)\n', "    f(-1)\n"),
    "case removed": (", (3, 30)]", "]"),
    "cases removed": ("(1, 10), (2, 20), (3, 30)", ""),
    "case skipped": ("(3, 30)]", "pytest.param(3, 30, marks=pytest.mark.skip)]"),
    "case xfailed": ("(3, 30)]", "pytest.param(3, 30, marks=pytest.mark.xfail(reason='x'))]"),
    "skip": ("def test_f():", "@pytest.mark.skip\ndef test_f():"),
    "skip with reason": ("def test_f():", "@pytest.mark.skip(reason='flaky')\ndef test_f():"),
    "xfail": ("def test_f():", "@pytest.mark.xfail\ndef test_f():"),
    "skipif True": ("def test_f():", "@pytest.mark.skipif(True, reason='x')\ndef test_f():"),
    "skipif on every Python": (
        "def test_f():",
        "@pytest.mark.skipif(sys.version_info >= (3, 8), reason='x')\ndef test_f():",
    ),
    "skipif on CI": ("def test_f():", "@pytest.mark.skipif(os.environ.get('CI'), reason='x')\ndef test_f():"),
    "skip called": ("    value = f(7)\n", "    pytest.skip('later')\n    value = f(7)\n"),
    "skip of a failure": (
        "    value = f(7)\n",
        "    try:\n        value = f(7)\n    except Exception:\n        pytest.skip('later')\n",
    ),
    "class skipped": ("class TestThing:", "@pytest.mark.skip\nclass TestThing:"),
    "module skipped": ("import pytest\n", "import pytest\npytestmark = pytest.mark.skip\n"),
    "module skipped by a call": ("import pytest\n", "import pytest\npytest.skip('x', allow_module_level=True)\n"),
    "test renamed away": ("def test_f():", "def check_f():"),
    "class renamed away": ("class TestThing:", "class ThingTests:"),
    "class with init": ("class TestThing:\n", "class TestThing:\n    def __init__(self):\n        pass\n\n"),
    "not a test": ("class TestThing:\n", "class TestThing:\n    __test__ = False\n\n"),
    "deleted afterwards": ("class TestThing:", "del test_f\n\n\nclass TestThing:"),
    "hidden by a second one": ("class TestThing:", "def test_f():\n    pass\n\n\nclass TestThing:"),
    "below if False": ("def test_errors():\n", "if False:\n  def test_errors():\n    pass\n\ndef errors():\n"),
    "mock": ("assert_called_once_with(3)", "assert_called_once()"),
    "emptied": ('        assert Thing("a").name == "a"\n', "        pass\n"),
    "emptied to dots": ('        assert Thing("a").name == "a"\n', "        ...\n"),
    "emptied to true": ('        assert Thing("a").name == "a"\n', "        assert True\n"),
    "test deleted": ('    def test_name(self):\n        assert Thing("a").name == "a"\n\n', ""),
}


@pytest.mark.parametrize("name", WEAKENED)
def test_a_weakened_test(tmp_path: Path, name: str) -> None:
    passed, detail = changed(tmp_path, TESTS, *WEAKENED[name])
    assert passed is False, detail
    assert "tests/test_p.py:" in detail


@pytest.mark.parametrize("name", [name for name in WEAKENED if "test_f" not in WEAKENED[name][0]])
def test_a_weakened_test_beside_new_ones(tmp_path: Path, name: str) -> None:
    """New tests make up for nothing."""
    more = "\n\ndef test_new():\n    assert h(5) == 50\n    assert h(6) == 60\n"
    old, new = WEAKENED[name]
    finding = found(
        "weakened_tests",
        patch_of(tmp_path, {"test_p.py": TESTS}, {"test_p.py": TESTS.replace(old, new) + more, "test_q.py": more}),
    )
    assert finding.passed is False, finding.detail


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.assertEqual(f(7), 42)", "self.assertTrue(f(7))"),
        ("self.assertEqual(f(7), 42)", "self.assertIsNotNone(f(7))"),
        ("self.assertEqual(f(7), 42)", "self.assertIn(f(7), [41, 42])"),
        ("self.assertEqual(f(7), 42)", "self.assertEqual(42, 42)"),
        ("self.assertEqual(f(7), 42)", "self.assertTrue(True)"),
        ("        self.assertEqual(f(7), 42)\n", ""),
        ("self.assertTrue(g(7))", "g(7)"),
        ("assertRaises(KeyError)", "assertRaises(Exception)"),
        ("places=5", "places=0"),
        ("    def test_a(self):\n", "    @unittest.skip('x')\n    def test_a(self):\n"),
        ("    def test_a(self):\n", "    @unittest.expectedFailure\n    def test_a(self):\n"),
        ("    def test_a(self):\n", "    def test_a(self):\n        self.skipTest('x')\n"),
        ("    def test_a(self):\n", "    def test_a(self):\n        raise unittest.SkipTest('x')\n"),
        ("class ThingTest(unittest.TestCase)", "@unittest.skip('x')\nclass ThingTest(unittest.TestCase)"),
        ("class ThingTest(unittest.TestCase)", "class ThingTest"),
    ],
)
def test_a_weakened_unittest(tmp_path: Path, old: str, new: str) -> None:
    passed, detail = changed(tmp_path, UNITTEST, old, new)
    assert passed is False, detail


HONEST = {
    "value changed": ("value == 42", "value == 43"),
    "message": ("assert value == 42", 'assert value == 42, "the answer"'),
    "turned around": ("value == 42", "42 == value"),
    "inlined": ("    value = f(7)\n    assert value == 42\n", "    value = f(7)\n    assert f(7) == 42\n"),
    "renamed variable": (
        '    value = f(7)\n    assert value == 42\n    assert g(value) == "forty-two"\n',
        '    got = f(7)\n    assert got == 42\n    assert g(got) == "forty-two"\n',
    ),
    "joined": (
        '    assert value == 42\n    assert g(value) == "forty-two"\n',
        '    assert value == 42 and g(value) == "forty-two"\n',
    ),
    "into one tuple": (
        '    assert value == 42\n    assert g(value) == "forty-two"\n',
        '    assert (value, g(value)) == (42, "forty-two")\n',
    ),
    "assert added": ("    assert value == 42\n", "    assert value == 42\n    assert value > 0\n"),
    "stricter": ("pytest.approx(0.3)", "pytest.approx(0.3, rel=1e-9)"),
    "floats": ("value == 42", "value == pytest.approx(42)"),
    "other error": ("pytest.raises(ValueError", "pytest.raises(NegativeError"),
    "message of the error": ('match="negative"', 'match="below zero"'),
    "test renamed": ("def test_f():", "def test_answer():"),
    "class renamed": ("class TestThing:", "class TestThings:"),
    "out of the class": (
        '    def test_name(self):\n        assert Thing("a").name == "a"\n\n',
        '    pass\n\n\ndef test_name():\n    assert Thing("a").name == "a"\n\n\nclass TestMock:\n',
    ),
    "case added": (", (3, 30)]", ", (3, 30), (4, 40)]"),
    "case changed": ("(3, 30)]", "(3, 33)]"),
    "case named": ("(3, 30)]", 'pytest.param(3, 30, id="three")]'),
    "cases by name": (
        '@pytest.mark.parametrize(("given", "expected"), [(1, 10), (2, 20), (3, 30)])',
        'CASES = [(1, 10), (2, 20), (3, 30)]\n\n\n@pytest.mark.parametrize(("given", "expected"), CASES)',
    ),
    "cases with one more column": (
        '(("given", "expected"), [(1, 10), (2, 20), (3, 30)])',
        '(("given", "other", "expected"), [(1, 0, 10), (2, 0, 20), (3, 0, 30)])',
    ),
    "cases to a loop": (
        '@pytest.mark.parametrize(("given", "expected"), [(1, 10), (2, 20), (3, 30)])\ndef test_many(given, expected):\n',  # noqa: E501
        "def test_many():\n  for given, expected in [(1, 10), (2, 20), (3, 30)]:\n",
    ),
    "formatted": (
        'with pytest.raises(ValueError, match="negative"):',
        "with pytest.raises(\n        ValueError,\n        match='negative',\n    ):",
    ),
    "fixture": ("def test_f():", "def test_f(tmp_path):"),
    "usefixtures": ("def test_f():", '@pytest.mark.usefixtures("db")\ndef test_f():'),
    "async": ("def test_f():", "@pytest.mark.asyncio\nasync def test_f():"),
    "slow mark": ("def test_f():", "@pytest.mark.slow\ndef test_f():"),
    "skip elsewhere": (
        "def test_f():",
        "@pytest.mark.skipif(sys.platform == 'win32', reason='paths')\ndef test_f():",
    ),
    "skip without a program": (
        "    value = f(7)\n",
        "    if shutil.which('git') is None:\n        pytest.skip('no git')\n    value = f(7)\n",
    ),
    "docstring": ('    """It is the answer."""\n', ""),
    "new test that is skipped": (
        "class TestThing:",
        "@pytest.mark.skip(reason='not yet')\ndef test_later():\n    assert f(9) == 90\n\n\nclass TestThing:",
    ),
    "new test": ("class TestThing:", "def test_g():\n    assert g(1) is None\n\n\nclass TestThing:"),
    "moved to a helper": (
        '    value = f(7)\n    assert value == 42\n    assert g(value) == "forty-two"\n',
        '    right(f(7))\n\n\ndef right(got):\n    assert got == 42\n    assert g(got) == "forty-two"\n',
    ),
    "split": (
        '    assert g(value) == "forty-two"\n',
        '\n\ndef test_g_of_f():\n    value = f(7)\n    assert g(value) == "forty-two"\n',
    ),
    "mock": ("mock.assert_called_once_with(3)", "mock.assert_called_once_with(4)"),
    "monkeypatch context": ("    value = f(7)\n", "    with freeze_time():\n        value = f(7)\n"),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_work_on_a_test(tmp_path: Path, name: str) -> None:
    passed, detail = changed(tmp_path, TESTS, *HONEST[name])
    assert passed is True, detail


def test_a_changed_value_is_told(tmp_path: Path) -> None:
    assert "expected value changed" in changed(tmp_path, TESTS, *HONEST["value changed"])[1]


PYTEST_STYLE = """
import pytest


def test_a():
    assert f(7) == 42
    assert g(7)


def test_b():
    with pytest.raises(KeyError):
        f(8)
    assert f(9) == pytest.approx(1.25, abs=1e-5)
"""
FUNCTIONS = "def test_one():\n    assert f(1) == 10\n\n\ndef test_two():\n    assert f(2) == 20\n\n\ndef test_three():\n    assert f(3) == 30\n"  # noqa: E501
PARAMETRIZED = """
import pytest


@pytest.mark.parametrize(("given", "expected"), [(1, 10), (2, 20), (3, 30)])
def test_f(given, expected):
    assert f(given) == expected
"""
OLD_CODE = "def old(x):\n    return x\n\n\ndef kept(x):\n    return x\n"
NEW_CODE = "def kept(x):\n    return x\n"
OLD_TESTS = (
    "def test_old():\n    assert old(1) == 1\n\n\ndef test_kept():\n    assert kept(3) == 3\n    assert old(2) == 2\n"
)
MOVES: dict[str, tuple[Files, Files]] = {
    "file renamed": ({"tests/test_p.py": TESTS}, {"tests/unit/test_things.py": TESTS}),
    "file renamed, other suffix": ({"test_p.py": TESTS}, {"p_test.py": TESTS}),
    "unittest to pytest": ({"test_p.py": UNITTEST}, {"test_p.py": PYTEST_STYLE}),
    "functions to parametrize": ({"test_p.py": FUNCTIONS}, {"test_p.py": PARAMETRIZED}),
    "parametrize to functions": ({"test_p.py": PARAMETRIZED}, {"test_p.py": FUNCTIONS}),
    "file split": (
        {"test_p.py": TESTS},
        {
            "test_p.py": TESTS.split("class TestThing")[0],
            "test_t.py": "class TestThing" + TESTS.split("class TestThing")[1],
        },
    ),
    "code removed with its tests": (
        {"p.py": OLD_CODE, "tests/test_p.py": OLD_TESTS},
        {"p.py": NEW_CODE, "tests/test_p.py": "def test_kept():\n    assert kept(3) == 3\n"},
    ),
    "code renamed": (
        {"p.py": OLD_CODE, "tests/test_p.py": OLD_TESTS},
        {"p.py": OLD_CODE.replace("old", "new"), "tests/test_p.py": OLD_TESTS.replace("old", "new")},
    ),
    "only code": ({"p.py": OLD_CODE}, {"p.py": NEW_CODE}),
    "tests added": ({"p.py": OLD_CODE}, {"p.py": OLD_CODE, "tests/test_new.py": TESTS}),
    "quotes and lines": (
        {"test_p.py": TESTS},
        {"test_p.py": dedent(TESTS).replace('"', "'").replace("'''", '"""').replace("\n\n\n", "\n\n")},
    ),
    "duplicate removed": (
        {"test_p.py": FUNCTIONS + "\n\ndef test_again():\n    assert f(1) == 10\n"},
        {"test_p.py": FUNCTIONS},
    ),
}


@pytest.mark.parametrize("name", MOVES)
def test_moved_tests_are_not_weakened(tmp_path: Path, name: str) -> None:
    finding = found("weakened_tests", git_patch(tmp_path, *MOVES[name]))
    assert finding.passed is True, finding.detail


LOST: dict[str, tuple[Files, Files]] = {
    "file deleted": ({"tests/test_p.py": TESTS}, {}),
    "file renamed away": ({"tests/test_p.py": TESTS}, {"tests/p_tests.py": TESTS}),
    "file renamed to another ending": ({"tests/test_p.py": TESTS}, {"tests/test_p.py.bak": TESTS}),
    "one function fewer": ({"test_p.py": FUNCTIONS}, {"test_p.py": PARAMETRIZED.replace(", (3, 30)", "")}),
    "deleted beside other code": (
        {"p.py": OLD_CODE, "tests/test_p.py": OLD_TESTS + "\n\ndef test_other():\n    assert kept(4) == 4\n"},
        {"p.py": NEW_CODE, "tests/test_p.py": "def test_kept():\n    assert kept(3) == 3\n"},
    ),
    "broken": ({"test_p.py": FUNCTIONS}, {"test_p.py": FUNCTIONS.replace("    assert f(3) == 30\n", "    (((\n")}),
    "was broken": (
        {"test_p.py": FUNCTIONS + "def ("},
        {"test_p.py": FUNCTIONS.replace("    assert f(3) == 30\n", "    pass\n")},
    ),
}


@pytest.mark.parametrize("name", LOST)
def test_lost_tests_are(tmp_path: Path, name: str) -> None:
    finding = found("weakened_tests", git_patch(tmp_path, *LOST[name]))
    assert finding.passed is False, finding.detail
    if "broken" in name:
        assert "judged by its diff" in finding.detail


SUITE = {
    "tests/test_a.py": FUNCTIONS,
    "tests/slow/test_b.py": "@pytest.mark.old\n" + FUNCTIONS,
    "conftest.py": "x = 1\n",
}
INI = "[pytest]\naddopts = -q\ntestpaths = tests other\n"
RUNSLOW = """
def pytest_collection_modifyitems(config, items):
    if config.getoption("--runslow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="needs --runslow"))
"""


@pytest.mark.parametrize(
    ("before", "after", "passes"),
    [
        ({"pytest.ini": INI}, {"pytest.ini": INI.replace("-q", "-q --deselect tests/test_a.py::test_one")}, False),
        ({"pytest.ini": INI}, {"pytest.ini": INI.replace("-q", "-q --ignore=tests/slow")}, False),
        ({"pytest.ini": INI}, {"pytest.ini": INI.replace("-q", "-q -k 'not one'")}, False),
        ({"pytest.ini": INI}, {"pytest.ini": INI.replace("-q", '-q -m "not slow"')}, False),
        ({"pytest.ini": INI}, {"pytest.ini": INI + "norecursedirs = slow\n"}, False),
        ({"pytest.ini": INI}, {"pytest.ini": INI.replace("tests other", "tests/slow other")}, False),
        ({"pytest.ini": INI}, {"pytest.ini": INI + "python_files = test_b.py\n"}, False),
        ({"pytest.ini": INI}, {"pytest.ini": INI + "python_functions = check_*\n"}, False),
        ({}, {"pytest.ini": "[pytest]\naddopts = --ignore tests\n"}, False),
        ({}, {"pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["--collect-only"]\n'}, False),
        ({}, {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-m smoke'\n"}, False),
        ({}, {"setup.cfg": "[tool:pytest]\naddopts = -k one\n"}, False),
        ({}, {"tox.ini": "[pytest]\naddopts = -k one\n"}, False),
        ({}, {"conftest.py": "collect_ignore = ['tests/test_a.py']\n"}, False),
        ({}, {"conftest.py": "collect_ignore_glob = ['*_a.py']\n"}, False),
        ({}, {"conftest.py": "collect_ignore = []\nif True:\n    collect_ignore.append('tests/test_a.py')\n"}, False),
        ({}, {"conftest.py": RUNSLOW.replace('if "slow" in item.keywords', "if item.name")}, False),
        (
            {},
            {
                "conftest.py": RUNSLOW,
                "tests/test_a.py": FUNCTIONS.replace("def test_one", "@pytest.mark.slow\ndef test_one"),
            },
            False,
        ),
        ({}, {"conftest.py": "def pytest_collection_modifyitems(items):\n    items[:] = items[1:]\n"}, False),
        ({}, {"conftest.py": "def pytest_ignore_collect(path):\n    return True\n"}, False),
        (
            {},
            {"conftest.py": "@pytest.fixture(autouse=True)\ndef never():\n    pytest.skip('x')\n"},
            False,
        ),
        (
            {},
            {
                "conftest.py": "@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item):\n    r = yield\n    r.outcome = 'passed'\n"  # noqa: E501
            },
            False,
        ),
        ({}, {"conftest.py": RUNSLOW}, True),
        ({}, {"conftest.py": "@pytest.fixture\ndef git():\n    pytest.skip('x')\n"}, True),
        ({}, {"conftest.py": "def pytest_collection_modifyitems(items):\n    items.sort()\n"}, True),
        ({}, {"pytest.ini": "[pytest]\naddopts = -q --strict-markers -x -p no:cacheprovider\n"}, True),
        ({}, {"pytest.ini": "[pytest]\ntestpaths = tests\nmarkers =\n    slow: takes time\n"}, True),
        ({"pytest.ini": INI.replace("-q", "-k one")}, {"pytest.ini": INI}, True),
        ({"pytest.ini": INI}, {"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-q"\n'}, True),
        ({"pyproject.toml": "[tool.x]\na = 1\n"}, {"pyproject.toml": "[tool.x]\na = 2\n"}, True),
        ({"pytest.ini": INI}, {"pytest.ini": INI + "norecursedirs = build dist\n"}, True),
        ({"pyproject.toml": "[tool.x]\n"}, {"pyproject.toml": "[tool.x\n"}, None),
    ],
)
def test_settings_that_leave_tests_out(tmp_path: Path, before: Files, after: Files, passes: bool | None) -> None:
    finding = found("weakened_tests", patch_of(tmp_path, {**SUITE, **before}, {**SUITE, **after}))
    assert finding.passed is passes, finding.detail


def test_a_mark_of_untouched_tests_is_known(tmp_path: Path) -> None:
    after = {**SUITE, "conftest.py": RUNSLOW.replace('"slow"', '"old"')}
    finding = found("weakened_tests", patch_of(tmp_path, SUITE, after))
    assert finding.passed is False, finding.detail


def test_many_faults_are_counted(tmp_path: Path) -> None:
    before = "\n\n".join(f"def test_{n}():\n    assert f({n}) == {n}0\n" for n in range(40))
    finding = found("weakened_tests", patch_of(tmp_path, {"test_p.py": before}, {"test_p.py": "x = 1\n"}))
    assert finding.passed is False
    assert " more" in finding.detail
