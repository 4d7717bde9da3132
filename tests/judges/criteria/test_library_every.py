"""What holds for every ready criterion: its name and arguments, its description, and that bad work is no error."""

from __future__ import annotations

import inspect
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from adjudge.judges import embedding
from adjudge.judges.criteria import Finding
from adjudge.judges.criteria.library import LIBRARY, describe, load, meaning
from adjudge.judges.criteria.library.descriptions import DESCRIPTIONS

TRAJECTORY = "/logs/agent/trajectory.json"


class Known(NamedTuple):
    """Arguments as they are documented, and a call in which FILE stands for what is judged."""

    signature: str
    call: dict[str, Any]
    said: str


FILE = "\0file"
REWARD_KIT = {
    "file_exists": Known("path", {"path": FILE}, "out.txt exists"),
    "file_not_exists": Known("path", {"path": FILE}, "out.txt does not exist"),
    "file_contains": Known("path, text", {"path": FILE, "text": "x"}, "out.txt contains 'x'"),
    "file_contains_regex": Known(
        "path, pattern", {"path": FILE, "pattern": "^x+y"}, "out.txt has a match of the pattern '^x+y'"
    ),
    "file_matches": Known("path, expected", {"path": FILE, "expected": "x"}, "out.txt reads exactly 'x'"),
    "files_equal": Known("path1, path2", {"path1": FILE, "path2": FILE}, "out.txt and out.txt have the same content"),
    "diff_ratio": Known(
        "path, expected", {"path": FILE, "expected": "x" * 300}, f"how much of out.txt is as in '{'x' * 76}..."
    ),
    "command_succeeds": Known("cmd, cwd=None, timeout=30", {"cmd": f"cat {FILE}"}, "`cat out.txt` succeeds"),
    "command_output_contains": Known(
        "cmd, text, cwd=None, timeout=30", {"cmd": f"cat {FILE}", "text": "x"}, "`cat out.txt` prints 'x'"
    ),
    "command_output_matches": Known(
        "cmd, expected, cwd=None, timeout=30",
        {"cmd": f"cat {FILE}", "expected": "x", "cwd": "."},
        "`cat out.txt` prints exactly 'x' in .",
    ),
    "command_output_matches_regex": Known(
        "cmd, pattern, cwd=None, timeout=30",
        {"cmd": f"cat {FILE}", "pattern": "x"},
        "`cat out.txt` prints a match of the pattern 'x'",
    ),
    "json_key_equals": Known("path, key, expected", {"path": FILE, "key": "k", "expected": 1}, "k is 1 in out.txt"),
    "json_path_equals": Known(
        "path, json_path, expected", {"path": FILE, "json_path": "a.0", "expected": None}, "a.0 is None in out.txt"
    ),
    "csv_cell_equals": Known(
        "path, row, col, expected",
        {"path": FILE, "row": 9, "col": "name", "expected": "x"},
        "row 9, column name of out.txt is 'x'",
    ),
    "xlsx_cell_equals": Known(
        "path, cell, expected, sheet=None",
        {"path": FILE, "cell": "A1", "expected": 1, "sheet": "S"},
        "cell A1 of out.txt on the sheet 'S' is 1",
    ),
    "sqlite_query_equals": Known(
        "db_path, query, expected",
        {"db_path": FILE, "query": "SELECT a FROM t", "expected": 1},
        "'SELECT a FROM t' on out.txt gives 1",
    ),
    "http_status_equals": Known(
        "url, status=200, timeout=10", {"url": "http://127.0.0.1:9/"}, "http://127.0.0.1:9/ answers with status 200"
    ),
    "http_response_contains": Known(
        "url, text, timeout=10", {"url": "http://127.0.0.1:9/", "text": "x"}, "http://127.0.0.1:9/ answers with 'x'"
    ),
    "image_size_equals": Known(
        "path, width, height", {"path": FILE, "width": 1, "height": 2}, "out.txt is 1 by 2 pixels"
    ),
    "image_similarity": Known(
        "path1, path2", {"path1": FILE, "path2": FILE}, "share of equal pixels of out.txt and out.txt"
    ),
    "trajectory_tool_used": Known(
        f"tool_name, min_count=1, path='{TRAJECTORY}'",
        {"tool_name": "bash", "path": FILE},
        "the agent calls bash at least 1 time(s)",
    ),
    "trajectory_tool_not_used": Known(
        f"tool_name, path='{TRAJECTORY}'", {"tool_name": "bash", "path": FILE}, "the agent never calls bash"
    ),
    "trajectory_turn_count": Known(
        f"max_turns, path='{TRAJECTORY}'", {"max_turns": 3, "path": FILE}, "the agent takes at most 3 turn(s)"
    ),
}
OURS = {
    "json_schema_valid": Known(
        "path, schema", {"path": FILE, "schema": {"type": "array"}}, "out.txt is valid by the schema given"
    ),
    "yaml_key_equals": Known("path, key, expected", {"path": FILE, "key": "a.b", "expected": 1}, "a.b is 1 in out.txt"),
    "file_count": Known(
        "pattern, minimum=None, maximum=None, exactly=None",
        {"pattern": FILE, "minimum": 1},
        "files that match out.txt, at least 1",
    ),
    "git_diff_within": Known(
        "paths, base='HEAD', cwd=None", {"paths": [FILE, "src"]}, "only out.txt, src changed since HEAD"
    ),
    "no_new_files": Known("allowed=(), base='HEAD'", {}, "no new files since HEAD"),
    "pytest_passes": Known("path='.', args=(), timeout=300, cwd=None", {"path": FILE}, "all tests of out.txt pass"),
    "coverage_at_least": Known(
        "percent, source='.', path='.', timeout=300",
        {"percent": 50, "path": FILE},
        "the tests of out.txt cover at least 50 % of the project",
    ),
    "http_json_equals": Known(
        "url, json_path, expected, timeout=10",
        {"url": "http://127.0.0.1:9/", "json_path": "a", "expected": 1},
        "a is 1 in what http://127.0.0.1:9/ answers",
    ),
    "image_ssim": Known("path1, path2", {"path1": FILE, "path2": FILE}, "structural similarity of out.txt and out.txt"),
    "semantic_similarity": Known(
        "path, reference, minimum=None",
        {"path": FILE, "reference": "x", "minimum": 0.5},
        "closeness in meaning of out.txt to 'x', at least 0.5",
    ),
}
KNOWN = REWARD_KIT | OURS
PRESENT = {"file_exists", "file_count", "files_equal", "command_succeeds"}
"""Criteria that a file's being there may satisfy, whatever is in it."""


def filled(value: Any, path: str) -> Any:
    if isinstance(value, list):
        return [filled(item, path) for item in value]
    return value.replace(FILE, path) if isinstance(value, str) else value


def arguments(name: str, path: str = "out.txt") -> dict[str, Any]:
    return {key: filled(value, path) for key, value in KNOWN[name].call.items()}


def content(kind: str) -> bytes:
    if kind == "random":
        return random.Random(11).randbytes(200_000)
    return {
        "empty": b"",
        "Latin-1": "caf\u00e9 na\u00efve\n".encode("latin-1") * 50,
        "zeros": bytes(5000),
        "large text": b"some text, of no kind at all\n" * (50 * 1024 * 1024 // 29),
        "large binary": random.Random(11).randbytes(1024 * 1024) * 50,
        "deep": b"[" * 100_000,
        "PNG": b"\x89PNG\r\n\x1a\n" + bytes(100),
        "zip": b"PK\x03\x04" + bytes(100),
        "SQLite": b"SQLite format 3\0" + bytes(4096),
    }[kind]


KINDS = ("empty", "random", "Latin-1", "zeros", "large text", "large binary", "deep", "PNG", "zip", "SQLite")


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A workspace for every kind of bad file, made once."""
    homes = {}
    for kind in (*KINDS, "missing", "folder", "loop"):
        homes[kind] = home = tmp_path_factory.mktemp("home")
        if kind == "folder":
            (home / "out.txt").mkdir()
        elif kind == "loop":
            (home / "out.txt").symlink_to("out.txt")
        elif kind != "missing":
            (home / "out.txt").write_bytes(content(kind))
    return homes


def test_all_criteria_are_known_here() -> None:
    assert set(LIBRARY) == set(KNOWN) == set(DESCRIPTIONS)
    assert len(REWARD_KIT) == 23


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_arguments_are_those_that_are_documented(name: str) -> None:
    function = load(name)
    assert function.__name__ == name
    assert function.__doc__
    first, *others = inspect.signature(function).parameters.values()
    assert first.name == "workspace"
    shown = ", ".join(
        other.name if other.default is inspect.Parameter.empty else f"{other.name}={other.default!r}"
        for other in others
    )
    assert shown == KNOWN[name].signature


@pytest.mark.parametrize("kind", [*KINDS, "missing", "folder", "loop"])
@pytest.mark.parametrize("name", sorted(KNOWN))
def test_bad_files_are_bad_work_and_no_error(
    name: str, kind: str, homes: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another Python may have plugins of pytest that are slow or leave files.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    monkeypatch.setattr(meaning, "_MAX_CHARACTERS", 50)  # the model is the slower, the more the machine has to do
    if name == "semantic_similarity" and embedding.missing() is not None:
        pytest.skip("the embedded model is not installed")
    home = homes[kind]
    before = sorted(path.name for path in home.rglob("*")) if kind != "loop" else []
    started = time.monotonic()
    finding = load(name)(home, **arguments(name))
    taken = time.monotonic() - started
    assert isinstance(finding, Finding)
    assert finding.evidence
    assert len(finding.evidence) <= 2_500
    assert isinstance(finding.value, bool) or 0.0 <= finding.value <= 1.0
    if name not in PRESENT and not (name == "file_not_exists" and kind == "missing"):
        if name.startswith("command_output_contains"):
            assert finding.value == (b"x" in content(kind) if kind in KINDS else False)
        elif "regex" not in name and name not in ("file_contains", "diff_ratio", "image_similarity", "image_ssim"):
            assert not finding.value, finding
    assert taken < 20  # the embedded model takes seconds on a busy machine
    if kind != "loop":
        assert sorted(path.name for path in home.rglob("*")) == before


# --- descriptions


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_descriptions(name: str) -> None:
    assert describe(name, arguments(name)) == KNOWN[name].said


@pytest.mark.parametrize("name", sorted(KNOWN))
@pytest.mark.parametrize(
    "value", ["{}", "{path!r} {0} {{", "[x]", "x" * 10_000, "a\x1b[2J\nb", "\\1", None, 3, ["{"], {}]
)
def test_any_argument_survives(name: str, value: Any) -> None:
    for given in (dict.fromkeys(KNOWN[name].call, value), {}, {"path": value, "expected": value}):
        text = describe(name, given)
        assert 0 < len(text) <= 200
        assert text.isprintable()


def test_braces_stay_what_they_are() -> None:
    assert describe("file_contains", {"path": "{text}", "text": "{path}"}) == "{text} contains '{path}'"
    assert describe("file_count", {"pattern": "[ab].txt", "exactly": 2}) == "files that match [ab].txt, exactly 2"


def test_unknown_names() -> None:
    for call in (lambda: load("file_exist"), lambda: describe("file_exist", {})):
        with pytest.raises(KeyError):
            call()


# --- what is imported


@pytest.mark.parametrize("name", sorted(set(LIBRARY.values())))
def test_modules_import_nothing_heavy(name: str) -> None:
    heavy = {
        *("PIL", "openpyxl", "numpy", "yaml", "jsonschema", "sqlite3", "urllib.request", "http.client"),
        *("tokenizers", "safetensors", "coverage", "pytest", "xml.etree.ElementTree"),
    }
    code = (
        "import sys, adjudge.judges; before = set(sys.modules);"
        f"import adjudge.judges.criteria.library.{name}; print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())


def test_the_list_of_criteria_imports_none_of_them() -> None:
    code = "import sys, adjudge.judges.criteria.library; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not {f"adjudge.judges.criteria.library.{module}" for module in LIBRARY.values()} & loaded
