"""Section 5: what a script sees, and what its end means."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.banana.projects import CONFIG, checked, ran, script, write_project

_ = pytest.param
HOW = pytest.mark.parametrize("isolation", ["fork", "spawn"])
HEAD = script("a").partition("script:")[0]
SEEN = """\
import json, os, sys
text = open(sys.argv[1]).read()
print(json.dumps({
    "context": json.loads(text), "argv": sys.argv, "cwd": os.getcwd(), "file": __file__, "name": __name__,
    "path": sys.path[0], "stdin": sys.stdin.read(), "main": sys.modules["__main__"].__dict__ is globals(),
    "python": sys.executable, "env": dict(os.environ), "there": os.path.isdir(json.loads(text)["output_dir"]),
}))
"""


def config(isolation: str) -> str:
    return f'[core]\nisolation = "{isolation}"\n'


def seen(check: Any) -> Any:
    assert check["status"] == "passed", check
    stdout = check["stdout"]
    return json.loads(stdout[stdout.index("{") :])


@HOW
def test_what_an_inline_script_sees(tmp_path: Path, isolation: str) -> None:
    body = SEEN.replace("dict(os.environ)", '{k: v for k, v in os.environ.items() if k == "MINE"}')
    files = {"eval_checks/a.yaml": script("a", body), CONFIG: config(isolation)}
    result = ran(tmp_path, files, MINE="value")
    found = seen(result.checks["a"])
    root = tmp_path.resolve()
    stem = next(result.run.glob("checks/*.json")).stem
    assert found["context"] == {
        "check_id": "a",
        "description": "About a.",
        "project_root": str(root),
        "source_path": str(root / "eval_checks" / "a.yaml"),
        "output_dir": str(root / "out" / "checks" / stem),
    }
    assert (found["cwd"], found["name"], found["stdin"], found["main"]) == (str(root), "__main__", "", True)
    assert found["there"] is True
    assert found["env"] == {"MINE": "value"}
    assert found["argv"][0] == found["file"]
    assert len(found["argv"]) == 2
    assert found["path"] == str(Path(found["file"]).parent)
    assert not Path(found["file"]).is_relative_to(root / "eval_checks")
    assert not Path(found["file"]).exists()
    assert not Path(found["argv"][1]).exists()
    assert Path(found["python"]).resolve() == Path(sys.executable).resolve()


@HOW
def test_what_a_script_with_a_file_sees(tmp_path: Path, isolation: str) -> None:
    body = SEEN.replace("dict(os.environ)", "{}") + "import beside\nassert beside.VALUE == 3\n"
    files = {
        "eval_checks/a.yaml": f"{HEAD}script_path: code/check.py\n",
        "eval_checks/code/check.py": body,
        "eval_checks/code/beside.py": "VALUE = 3",
        CONFIG: config(isolation),
    }
    found = seen(ran(tmp_path, files).checks["a"])
    file = tmp_path.resolve() / "eval_checks" / "code" / "check.py"
    assert (found["file"], found["argv"][0], found["path"]) == (str(file), str(file), str(file.parent))
    assert (found["cwd"], found["name"], found["stdin"]) == (str(tmp_path.resolve()), "__main__", "")


@HOW
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        _("pass", "passed", 0, id="end"),
        _("import sys; sys.exit()", "passed", 0, id="exit"),
        _("import sys; sys.exit(0)", "passed", 0, id="exit 0"),
        _("import sys; sys.exit(None)", "passed", 0, id="exit None"),
        _("import sys; sys.exit(1)", "failed", 1, id="exit 1"),
        _("import sys; sys.exit(3)", "failed", 3, id="exit 3"),
        _("import sys; sys.exit(256 + 7)", "failed", 7, id="exit 263"),
        _("import sys; sys.exit('the text')", "failed", 1, id="exit with text"),
        _("import os; os._exit(9)", "failed", 9, id="_exit"),
        _("assert 1 == 2, 'the text'", "failed", 1, id="assert"),
        _("raise ValueError('the text')", "failed", 1, id="exception"),
        _("import atexit; atexit.register(print, 'the text'); raise SystemExit(4)", "failed", 4, id="atexit"),
        _(
            "import threading, time\n"
            "def late():\n    time.sleep(0.3); print('the text')\n"
            "threading.Thread(target=late).start()",
            "passed",
            0,
            id="thread",
        ),
        _(
            "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.fail('the text')\n"
            "unittest.main(argv=['x'])",
            "failed",
            1,
            id="unittest",
        ),
        _("if __name__ == '__main__':\n    raise SystemExit(5)", "failed", 5, id="main guard"),
        _(
            "import multiprocessing as m\nassert m.get_context('fork').Pool(1).map(abs, [-1]) == [1]",
            "passed",
            0,
            id="processes",
        ),
    ],
)
def test_the_end_of_a_script(tmp_path: Path, isolation: str, body: str, status: str, code: int) -> None:
    check = checked(tmp_path, body, config=config(isolation))
    assert (check["status"], check["score"], check["exit_code"]) == (status, int(status == "passed"), code)
    assert ("the text" in body) == ("the text" in check["stdout"] + check["stderr"])


@HOW
def test_the_output_dir_is_kept(tmp_path: Path, isolation: str) -> None:
    body = (
        "import json, sys, pathlib\npathlib.Path(json.load(open(sys.argv[1]))['output_dir'], 'x.txt').write_text('y')"
    )
    found = ran(tmp_path, {"eval_checks/a.yaml": script("a", body), CONFIG: config(isolation)})
    (kept,) = found.run.glob("checks/*/x.txt")
    assert kept.read_text() == "y"


@HOW
def test_what_runs_is_what_was_read(tmp_path: Path, isolation: str) -> None:
    """5: the script is read once, and that is what runs."""
    first = "import pathlib\npathlib.Path('eval_checks/check.py').write_text('raise SystemExit(1)')"
    files = {
        "eval_checks/a.yaml": script("a", first),
        "eval_checks/b.yaml": HEAD.replace("id: a", "id: b") + "script_path: check.py\n",
        "eval_checks/check.py": "print('as it was')",
        CONFIG: f"[core]\nmax_parallel_checks = 1\nisolation = '{isolation}'\n",
    }
    found = ran(tmp_path, files)
    assert found.checks["b"]["status"] == "passed"
    assert "as it was" in found.checks["b"]["stdout"]


def test_scripts_of_one_run_share_no_state(tmp_path: Path) -> None:
    body = "import os, builtins\nassert not hasattr(builtins, 'left')\nbuiltins.left = 1\nos.chdir('/')"
    names = "abcd"
    found = ran(tmp_path, {f"eval_checks/{name}.yaml": script(name, body) for name in names})
    assert found.code == 0, found.out


def test_the_reason_of_a_failed_script_is_in_the_report(tmp_path: Path) -> None:
    assert "the text" in checked(tmp_path, "assert False, 'the text'")["reason"]


def test_isolation_of_another_kind_is_an_error(tmp_path: Path) -> None:
    write_project(tmp_path, {})
    assert ran(tmp_path, {"eval_checks/a.yaml": script("a"), CONFIG: config("none")}).code == 2
