"""What a judge in code does to its process costs one verdict, never the run."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

import adjudge
from adjudge.domain import Case, CheckJudge, RunResult, Suite
from adjudge.engine.spawn import worker_environment
from tests.support.llm import command, environment

WILD = {
    "endless loop": ("while True: pass", "timeout"),
    "sleeps": ("import time; time.sleep(60)", "timeout"),
    "swallows everything for ever": ("while True:\n  try:\n    1/0\n  except BaseException: pass", "timeout"),
    "sys.exit": ("import sys; sys.exit(0)", "crashed"),
    "os._exit": ("import os; os._exit(0)", "crashed"),
    "segfault": ("import ctypes; ctypes.string_at(0)", "crashed"),
    "kills itself": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "crashed"),
    "raises": ("raise KeyError('k')", "raised"),
    "interrupt": ("raise KeyboardInterrupt", "raised"),
    "2 GB of output": ("for _ in range(2000): print('x' * 1_000_000)", "output_limit"),
    "400 MB at once": ("print('x' * 400_000_000)", "output_limit"),
    "eats memory": ("x = bytearray(100 << 30)", "raised"),
    "recursion": ("def f(): return f()\nreturn f()", "raised"),
}


def run_checks(limit_s: float = 30, **snippets: str) -> RunResult:
    judges = tuple(CheckJudge(name=name, code=code, timeout_s=limit_s) for name, code in snippets.items())
    cases = [Case(id=name, outputs={"a.txt": name}, annotations={"k": [1]}) for name in ("a", "b")]
    return adjudge.run(Suite(name="suite", cases=cases, judges=judges), workers=1)


@pytest.mark.parametrize("name", WILD)
def test_a_wild_judge_is_one_unscored_verdict_a_case(name: str) -> None:
    code, kind = WILD[name]
    limit_s = 1.5 if kind == "timeout" else 30
    result = run_checks(limit_s, before="return True, 'before'", wild=code, after="return True, 'after'")
    assert result.summary("wild").unscored_kinds == {kind: 2}
    assert result.summary("before").value == 1.0
    assert result.summary("after").value == 1.0
    assert result.exit_code == 4


def test_raw_output_of_a_child_process_is_not_taken_for_a_verdict() -> None:
    code = "import os\nfor fd in range(3, 20):\n  try: os.write(fd, b'junk' * 10)\n  except OSError: pass\nreturn True"
    quiet = run_checks(noisy="import os\nos.system('echo hello; seq 100000')\nreturn True, 'ok'")
    assert quiet.summary("noisy").value == 1.0
    vandal = run_checks(vandal=code, after="return True, 'ok'")
    assert vandal.summary("vandal").n + vandal.summary("vandal").unscored == 2
    assert vandal.summary("after").value == 1.0


def test_each_call_gets_a_record_of_its_own() -> None:
    result = run_checks(
        vandal="outputs['files'].clear(); outputs['annotations']['k'].append(2); arguments['x'] = 1; return True",
        after="return outputs['files'] and outputs['annotations'] == {'k': [1]} and arguments == {}, 'untouched'",
    )
    assert result.summary("after").unscored == 0
    assert result.summary("after").value == 1.0


def test_prints_are_kept_beside_the_verdict_and_capped() -> None:
    result = run_checks(talks="import sys\nprint('to out')\nprint('to err', file=sys.stderr)\nreturn True, 'ok'")
    assert result.score("a", "talks").printed == "to out\nto err\n"
    long = run_checks(talks="print('y' * 1_000_000)\nreturn True, 'ok'").score("a", "talks").printed
    assert len(long) < 25_000
    assert "cut" in long


def test_a_process_started_by_a_judge_that_times_out_is_ended_too() -> None:
    mark = f"31{os.getpid()}"
    run_checks(1.5, parent=f"import subprocess, time\nsubprocess.Popen(['sleep', '{mark}'])\ntime.sleep(60)")
    assert not [p for p in psutil.process_iter(["cmdline"]) if mark in (p.info["cmdline"] or [])]


def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    """Also in the middle of an endless loop, and when that process is killed."""
    (tmp_path / "cases" / "a").mkdir(parents=True)
    (tmp_path / "cases" / "a" / "input.yaml").write_text("ask: x\n")
    mark = tmp_path / "running"
    (tmp_path / "eval.yaml").write_text(
        "dataset: {path: cases}\njudges:\n  - name: loop\n    check: |\n"
        f"      import os\n      open({str(mark)!r}, 'w').write(str(os.getpid()))\n      while True: pass\n"
    )
    process = subprocess.Popen(
        command("run", "-q"),
        cwd=tmp_path,
        env=environment(tmp_path),
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 20
    while not (mark.exists() and mark.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    worker = int(mark.read_text())
    process.send_signal(signal.SIGKILL)
    process.wait()
    while psutil.pid_exists(worker) and psutil.Process(worker).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_judges_do_not_see_secrets_unless_allowed() -> None:
    mine = {"ANTHROPIC_API_KEY": "a", "MY_SERVICE_TOKEN": "b", "PATH": "/bin", "DB_PASSWORD": "c", "LANG": "C"}
    assert {"PATH", "LANG"} <= set(worker_environment(mine))
    assert not {"ANTHROPIC_API_KEY", "MY_SERVICE_TOKEN", "DB_PASSWORD"} & set(worker_environment(mine))
    allowed = worker_environment({**mine, "ADJUDGE_JUDGE_ENV": "MY_SERVICE_TOKEN, OTHER"})
    assert allowed["MY_SERVICE_TOKEN"] == "b"


def test_a_verdict_of_changed_code_is_not_reused(tmp_path: Path) -> None:
    module = tmp_path / "my_judges.py"
    helper = tmp_path / "my_helper.py"
    judge = adjudge.CodeJudge(name="code", module="my_judges", function="judge")
    suite = Suite(name="s", cases=[Case(id="a")], judges=(judge,), code_paths=(str(tmp_path),))
    module.write_text("import my_helper\ndef judge(outputs): return my_helper.VALUE, 'said'\n")
    values = []
    for value in (1, 1, 2):
        helper.write_text(f"VALUE = {value}\nopen('calls', 'a').write('x')\n" + "#" * value)
        values.append(adjudge.run(suite, output="run").score("a", "code").value)
    assert values == [1, 1, 2]


def test_code_judges_that_are_kept_do_not_run_again(tmp_path: Path) -> None:
    count = tmp_path / "count"
    code = f"open({str(count)!r}, 'a').write('x')\nreturn True, 'ok'"
    suite = Suite(name="s", cases=[Case(id="a")], judges=(CheckJudge(name="c", code=code),))
    adjudge.run(suite, output="run")
    adjudge.run(suite, output="run")
    assert count.read_text() == "x"
    adjudge.run(suite, output="run", fresh=True)
    assert count.read_text() == "xx"
