"""Section 8: the command, its flags and variables, its exit codes, and the other verbs on a tests folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from adjudge.cli import cli, main
from tests.support.judge_folders import GOOD, HEAD, Files, answers, put
from tests.support.llm import call, command, environment
from tests.support.provider import LoopbackProvider
from tests.support.rewardkit import HEAD as PY
from tests.support.rewardkit import listed, returns, scores

FLAT = {"a.py": scores(1), "b.py": scores(0.5)}
DIES = returns("1 / 0")
JUDGE = {"quality.toml": HEAD + GOOD}


class Done:
    """What one call of the command left behind."""

    def __init__(self, folder: Path, code: int, out: str, err: str) -> None:
        self.folder, self.code, self.out, self.err = folder, code, out, err

    @property
    def reward(self) -> Any:
        return load(self.folder / "out" / "reward.json")

    @property
    def details(self) -> Any:
        return load(self.folder / "out" / "reward-details.json")


def load(path: Path) -> Any:
    return json.loads(path.read_text()) if path.exists() else None


def flags(folder: Path) -> list[str]:
    home = put(folder / "app", {})
    return ["--workspace", str(home), "--output", str(folder / "out" / "reward.json")]


def process(folder: Path, *arguments: str, tests: Files | None = None) -> Done:
    """The command as a process, with the tests folder `tests` unless others are named."""
    put(folder / "tests", FLAT if tests is None else tests)
    done = call("rewardkit", "tests", *flags(folder), *arguments, cwd=folder, env=environment(folder))
    assert "Traceback" not in done.stderr
    return Done(folder, done.returncode, done.stdout, done.stderr)


class Command:
    """The command in this process."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.capsys, self.monkeypatch = folder, capsys, monkeypatch

    def __call__(self, *arguments: str, tests: Files | None = None) -> Done:
        put(self.folder / "tests", FLAT if tests is None else tests)
        return self.verb("rewardkit", "tests", *flags(self.folder), *arguments)

    def verb(self, *arguments: str) -> Done:
        self.monkeypatch.setattr(sys, "argv", ["adjudge", *arguments])
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        said = self.capsys.readouterr()
        assert "Traceback" not in said.err
        code = ended.value.code
        return Done(self.folder, code if isinstance(code, int) else 0, said.out, said.err)


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Command(tmp_path, capsys, monkeypatch)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A provider in the environment, which says yes to everything."""
    with LoopbackProvider(answers({"good": True})) as provider:
        for name, value in provider.env().items():
            monkeypatch.setenv(name, value)
        yield provider


def test_a_run_from_end_to_end(tmp_path: Path) -> None:
    """7: both files; `name: score` on standard output, nothing else there; exit 0."""
    done = process(tmp_path)
    assert (done.code, done.reward) == (0, {"reward": 0.75})
    assert done.details["reward"]["kind"] == "group"
    assert (done.out, done.err) == ("reward: 0.75\n", "")


def test_a_score_of_0_is_exit_0(tmp_path: Path) -> None:
    """8."""
    done = process(tmp_path, tests={"a.py": scores(0)})
    assert (done.code, done.reward, done.out) == (0, {"reward": 0.0}, "reward: 0.0\n")


def test_nothing_found_is_exit_0_with_a_warning(tmp_path: Path) -> None:
    """1.2: reward.json is {}, and there are no details."""
    put(tmp_path / "out", {"reward.json": "1", "reward-details.json": "2"})
    done = process(tmp_path, tests={})
    assert (done.code, done.reward, done.details) == (0, {}, None)
    assert "tests: warning: no criteria and no judges" in done.err


def test_an_error_in_the_tests_is_exit_2_and_removes_what_was_there(tmp_path: Path) -> None:
    """11.11, 11.18: nothing ran; one line an error, no traceback."""
    put(tmp_path / "out", {"reward.json": "1", "reward-details.json": "2"})
    done = process(tmp_path, tests={"a.py": PY + "1 / 0", "q.toml": "[judges]", "z.py": PY + "open('ran', 'w')"})
    assert (done.code, done.reward, done.details, done.out) == (2, None, None, "")
    lines = done.err.splitlines()
    assert lines[0].endswith("a.py:4:1: error: cannot be imported: ZeroDivisionError: division by zero")
    assert "did you mean [judge]?" in lines[1]
    assert lines[2:] == ["2 errors; nothing was run"]


def test_a_reward_without_a_value_is_exit_4(tmp_path: Path) -> None:
    """11.1: no reward.json, whatever was there; the details are; the run directory is kept and named."""
    put(tmp_path / "out", {"reward.json": '{"reward": 1}'})
    done = process(tmp_path, tests={"a.py": DIES, "b.py": scores(1)})
    assert (done.code, done.reward) == (4, None)
    assert done.details["reward"]["score"] is None
    assert "error: reward has no value: a: a:c: raised: ZeroDivisionError" in done.err
    assert "--on-error zero" in done.err
    kept = Path(done.err.splitlines()[-1].removeprefix("run directory: "))
    assert (kept / "journal.db").is_file()
    for file in sorted(kept.iterdir()):
        file.unlink()
    kept.rmdir()


def test_a_reward_json_that_a_criterion_forges_is_gone(tmp_path: Path) -> None:
    """11.11: it cannot be written beforehand, nor while criteria run."""
    forged = tmp_path / "out" / "reward.json"
    body = f"@criterion\ndef c(ws):\n    p = Path({str(forged)!r}); p.parent.mkdir(exist_ok=True); p.write_text('1')\n"
    done = process(tmp_path, "--run-dir", "run", tests={"a.py": PY + body + "    return None\n"})
    assert (done.code, done.reward) == (4, None)
    done = process(tmp_path, "--run-dir", "run2", tests={"a.py": PY + body + "    return 0.5\n"})
    assert (done.code, done.reward) == (0, {"reward": 0.5})


@pytest.mark.parametrize("policy", ["zero", "fail"])
def test_on_error(run: Command, policy: str) -> None:
    done = run("--on-error", policy, "--run-dir", "run", tests={"a.py": DIES, "b.py": scores(1)})
    assert (done.code, done.reward) == ((0, {"reward": 0.5}) if policy == "zero" else (4, None))


@pytest.mark.parametrize(
    "arguments",
    [
        ("--max-concurrent-programmatic", "1"),
        ("--mcprog", "3"),
        ("--mcp", "0"),
        ("--max-concurrent-llm", "1"),
        ("--mcllm", "1"),
        ("--mcl", "0"),
        ("--max-concurrent-agent", "1"),
        ("--mcagent", "1"),
        ("--mca", "0"),
        ("--judge-env", "A=b"),
        ("--je", "A=b=c", "--je", "D="),
        ("--judge", "openai/x"),
        ("-j", "openai/x"),
        ("--model", "x"),
        ("-m", "x"),
        ("--reasoning-effort", "high"),
        ("--effort", "none"),
        ("--yolo",),
    ],
    ids=" ".join,
)
def test_every_flag_and_alias_is_taken(run: Command, arguments: tuple[str, ...]) -> None:
    """8."""
    for name in ("A", "D"):
        run.monkeypatch.setenv(name, "before")  # so that it is put back
    done = run(*arguments, tests={"a.py": scores(1)})
    assert (done.code, done.reward) == (0, {"reward": 1.0})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--mcp", "-1"), "-1"),
        (("--mcl", "many"), "many"),
        (("--effort", "huge"), "huge"),
        (("--je", "novalue"), "--je takes NAME=VALUE, got 'novalue'"),
        (("--je", "=x"), "--je takes NAME=VALUE"),
        (("--on-error", "ignore"), "ignore"),
        (("--nope",), "--nope"),
    ],
)
def test_an_argument_that_is_wrong_is_exit_2(run: Command, arguments: tuple[str, ...], told: str) -> None:
    """8."""
    done = run(*arguments)
    assert (done.code, done.reward) == (2, None)
    assert told in done.err


def test_a_tests_folder_must_be_named(run: Command) -> None:
    """8."""
    done = run.verb("rewardkit")
    assert done.code == 2
    assert "TESTS_DIRS" in done.err


@pytest.mark.parametrize("name", ["nowhere", "file.py"])
def test_a_folder_that_is_not_there_is_exit_2(run: Command, name: str) -> None:
    """1.1: and what an earlier run left is gone."""
    put(run.folder, {"file.py": scores(1), "out/reward.json": "1"})
    done = run.verb("rewardkit", name, *flags(run.folder))
    assert (done.code, done.reward) == (2, None)
    assert f"{name}: error: there is no such folder" in done.err


def test_the_defaults_are_those_of_the_container(run: Command) -> None:
    """8: /app and /logs/verifier/reward.json; 8, 8 and 2 at once."""
    params = {p.name: p.default for p in cli.get_command(None, "rewardkit").params}  # type: ignore[arg-type,union-attr]
    assert (str(params["workspace"]), str(params["output"])) == ("/app", "/logs/verifier/reward.json")
    assert (params["criteria_at_once"], params["calls_at_once"], params["agents_at_once"]) == (8, 8, 2)


def test_a_workspace_that_is_not_there_is_a_warning(run: Command) -> None:
    put(run.folder / "tests", {"a.py": PY + "rk.file_exists('x')"})
    done = run.verb("rewardkit", "tests", "--workspace", "nowhere", "--output", "out/reward.json")
    assert "nowhere: warning: the workspace does not exist" in done.err
    assert (done.code, done.reward) == (0, {"reward": 0.0})


def test_je_sets_a_variable_of_the_run_also_for_criteria(tmp_path: Path) -> None:
    """8, 0: before anything is imported; a name that looks like a secret is for models only."""
    seen = "(os.environ.get('PLAIN'), os.environ.get('MY_API_KEY')) == ('x=y', None)"
    done = process(tmp_path, "--je", "PLAIN=x=y", "--je", "MY_API_KEY=k", tests={"a.py": returns(seen)})
    assert done.reward == {"reward": 1.0}


def test_judge_and_effort_stand_over_every_file(run: Command, asked: LoopbackProvider) -> None:
    """8: --judge and --reasoning-effort."""
    done = run("--judge", "openai/gpt-5.4", "--effort", "high", tests=JUDGE)
    assert done.reward == {"reward": 1.0}
    judge = done.details["reward"]["judge"]
    assert (judge["model"], judge["reasoning_effort"]) == ("openai/gpt-5.4", "high")
    assert [request.model for request in asked.requests] == ["gpt-5.4"]


def test_variables_do_the_same_and_flags_win(run: Command, asked: LoopbackProvider) -> None:
    """8: REWARDKIT_JUDGE, REWARDKIT_REASONING_EFFORT."""
    run.monkeypatch.setenv("REWARDKIT_JUDGE", "openai/gpt-5.4")
    run.monkeypatch.setenv("REWARDKIT_REASONING_EFFORT", "low")
    judge = run(tests=JUDGE).details["reward"]["judge"]
    assert (judge["model"], judge["reasoning_effort"]) == ("openai/gpt-5.4", "low")
    judge = run("-j", "openai/gpt-5.1", "--effort", "high", tests=JUDGE).details["reward"]["judge"]
    assert (judge["model"], judge["reasoning_effort"]) == ("openai/gpt-5.1", "high")


@pytest.mark.parametrize("by", ["flag", "variable"])
def test_the_model_of_jev(run: Command, by: str) -> None:
    """8: --model and REWARDKIT_MODEL."""
    if by == "variable":
        run.monkeypatch.setenv("REWARDKIT_MODEL", "jev-9")
    put(run.folder / "app", {"a.txt": "x"})
    tests = {"quality.toml": '[judge]\njudge = "jev"\nfiles = ["a.txt"]\n' + GOOD}
    with LoopbackProvider(answers({"good": 0.9})) as provider:
        for name, value in provider.env("jev").items():
            run.monkeypatch.setenv(name, value)
        done = run(*(["-m", "jev-9"] if by == "flag" else []), tests=tests)
    assert done.details["reward"]["judge"]["model"] == "jev-9"
    assert done.reward == {"reward": 1.0}


def test_an_agent_judge_is_told_to_be_missing_with_a_way_out(run: Command, asked: LoopbackProvider) -> None:
    tests = {"quality.toml": '[judge]\njudge = "claude-code"\n' + GOOD}
    run.monkeypatch.setenv("PATH", "/usr/bin:/bin")
    done = run(tests=tests)
    assert done.code == 2
    assert "needs claude, which is not on the PATH" in done.err
    assert run("--judge", "openai/gpt-5.2", tests=tests).reward == {"reward": 1.0}


def test_a_missing_key_is_told_before_anything_runs(run: Command) -> None:
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        run.monkeypatch.delenv(name)
    body = "@criterion\ndef c(ws): (ws / 'ran').touch(); return True\n"
    done = run(tests={**JUDGE, "a.py": PY + body})
    assert (done.code, done.reward) == (2, None)
    assert "OPENAI_API_KEY" in done.err
    assert not (run.folder / "app" / "ran").exists()


def test_several_folders_are_compared(run: Command) -> None:
    """7: `dir/name: score`, and a table with the first minus the last."""
    put(run.folder, {"one/a.py": scores(1), "two/a.py": scores(0.25), "two/b/c.py": scores(0.5)})
    done = run.verb("rewardkit", "one", "two", *flags(run.folder))
    assert done.reward == {"one/reward": 1.0, "two/a": 0.25, "two/b": 0.5}
    lines = done.out.splitlines()
    assert lines[:3] == ["one/reward: 1.0", "two/a: 0.25", "two/b: 0.5"]
    table = [line.split() for line in lines if not line.startswith("-")]
    assert ["reward", "one", "two", "diff"] in table
    assert ["reward", "1.0000", "-", "-"] in table
    assert ["a", "-", "0.2500", "-"] in table


def test_the_diff_is_first_minus_last(run: Command) -> None:
    """7."""
    put(run.folder, {"x/a.py": scores(0.25), "y/a.py": scores(1), "z/a.py": scores(0.75)})
    done = run.verb("rewardkit", "x", "y", "z", *flags(run.folder))
    assert ["reward", "0.2500", "1.0000", "0.7500", "-0.5000"] in [line.split() for line in done.out.splitlines()]


def test_the_names_of_several_folders_must_differ(run: Command) -> None:
    """8."""
    put(run.folder, {"p/same/a.py": scores(1), "q/same/a.py": scores(1)})
    done = run.verb("rewardkit", "p/same", "q/same", *flags(run.folder))
    assert done.code == 2
    assert "two tests folders have this name" in done.err


def test_criteria_run_at_the_same_time(run: Command) -> None:
    """8: as many as --mcp says."""
    body = (
        "import time\n@criterion\ndef meets(ws, k):\n    (ws / str(k)).touch()\n    end = time.monotonic() + 20\n"
        "    while len(list(ws.iterdir())) < 4 and time.monotonic() < end: time.sleep(0.01)\n"
        "    return time.monotonic() < end\n" + "".join(f"rk.meets({k})\n" for k in range(4))
    )
    assert run("--mcp", "4", tests={"a.py": PY + body}).reward == {"reward": 1.0}


def test_the_run_directory_is_kept_where_it_is_asked_for(run: Command) -> None:
    """11.25: journal.db and result.json, which other verbs read."""
    done = run("--run-dir", "kept")
    assert {"journal.db", "result.json"} <= set(listed(Path("kept")))
    assert "run directory: kept" in done.err
    report = run.verb("report", "kept")
    assert report.code == 0
    assert "reward" in report.out
    told = json.loads(run.verb("report", "kept", "--json").out)
    assert told["rewards"][0]["rewards"][0]["score"] == 0.75


def test_without_it_nothing_is_left(run: Command) -> None:
    scratch = put(run.folder / "scratch", {})
    run.monkeypatch.setattr("tempfile.tempdir", str(scratch))
    done = run()
    assert done.code == 0
    assert listed(scratch) == []
    assert listed(run.folder) == ["app", "out", "scratch", "tests"]


def test_the_same_run_directory_goes_on_where_it_was_stopped(run: Command, asked: LoopbackProvider) -> None:
    """11.25: nothing is paid for twice."""
    assert run("--run-dir", "kept", tests=JUDGE).reward == {"reward": 1.0}
    assert run("--run-dir", "kept", tests=JUDGE).reward == {"reward": 1.0}
    assert len(asked.requests) == 1


def test_an_interrupted_run_keeps_what_it_has(tmp_path: Path) -> None:
    body = "import time\n@criterion\ndef slow(ws):\n    (ws / 'begun').touch()\n    time.sleep(60)\n"
    put(tmp_path / "tests", {"a.py": PY + body})
    arguments = command("rewardkit", "tests", *flags(tmp_path), "--run-dir", "kept")
    begun = tmp_path / "app" / "begun"
    with subprocess.Popen(
        arguments, cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE, text=True
    ) as done:
        deadline = time.monotonic() + 10
        while not begun.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        done.send_signal(signal.SIGINT)
        _, err = done.communicate(timeout=20)
    assert done.returncode == 130
    assert "--run-dir kept goes on from there" in err
    assert (tmp_path / "kept" / "journal.db").is_file()


def test_a_place_that_cannot_be_written_is_told(run: Command) -> None:
    put(run.folder, {"tests/a.py": scores(1), "file": "x"})
    done = run.verb("rewardkit", "tests", "--workspace", "tests", "--output", "file/reward.json")
    assert done.code in (2, 4)
    assert "file" in done.err


@pytest.mark.parametrize("verb", ["validate", "plan"])
def test_validate_and_plan_run_no_criterion(run: Command, verb: str) -> None:
    """11.25: a dry run."""
    body = "@criterion\ndef marks(ws): (ws / 'ran').touch(); return True\n"
    put(run.folder, {"tests/a.py": PY + body, **{f"tests/{name}": text for name, text in JUDGE.items()}})
    home = put(run.folder / "app", {})
    done = run.verb(verb, "tests", "--workspace", str(home))
    assert done.code == 0
    assert "1 case, 2 judges" in done.out
    assert listed(home) == []
    assert ("(rewardkit)" in done.out) is (verb == "validate")


@pytest.mark.parametrize("verb", ["validate", "plan", "run"])
def test_every_verb_tells_what_is_wrong_in_the_tests(run: Command, verb: str) -> None:
    put(run.folder, {"tests/a.py": PY + "1 / 0", "tests/q.toml": "[judge]\nx = 1\n"})
    done = run.verb(verb, "tests")
    assert done.code == 2
    assert "a.py:4:1: error: cannot be imported" in done.err
    assert "q.toml:2:1: error: judge.x" in done.err


def test_run_on_a_tests_folder(run: Command) -> None:
    put(run.folder / "tests", FLAT)
    home = put(run.folder / "app", {})
    done = run.verb("run", "tests", "--workspace", str(home), "--output", "kept")
    assert done.code == 0
    assert load(run.folder / "kept" / "reward.json") == {"reward": 0.75}
    assert {"journal.db", "result.json", "summary.md", "junit.xml", "reward-details.json"} <= set(listed(Path("kept")))


def test_run_on_a_tests_folder_whose_reward_has_no_value_is_broken(run: Command) -> None:
    put(run.folder / "tests", {"a.py": DIES})
    done = run.verb("run", "tests", "--workspace", str(put(run.folder / "app", {})), "--output", "kept")
    assert done.code == 4
    assert not (run.folder / "kept" / "reward.json").exists()


def test_run_on_several_tests_folders(run: Command) -> None:
    put(run.folder, {"one/a.py": scores(1), "two/a.py": scores(0.5)})
    home = put(run.folder / "app", {})
    assert run.verb("run", "one", "two", "--workspace", str(home), "--output", "kept").code == 0
    assert load(run.folder / "kept" / "reward.json") == {"one/reward": 1.0, "two/reward": 0.5}


def test_python_m_does_the_same(tmp_path: Path) -> None:
    """8: also `python -m`."""
    put(tmp_path / "tests", FLAT)
    arguments = [sys.executable, "-m", "adjudge", "rewardkit", "tests", *flags(tmp_path)]
    done = subprocess.run(
        arguments, check=True, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True
    )
    assert done.stdout == "reward: 0.75\n"


def test_help_names_every_flag_and_the_exit_codes(run: Command) -> None:
    shown = run.verb("rewardkit", "--help").out
    for flag in ("--workspace", "--output", "--mcp", "--mcl", "--mca", "--je", "-j,", "-m,", "--effort", "--yolo"):
        assert flag in shown
    assert "Exit codes: 0 every reward has a value" in " ".join(shown.split())
