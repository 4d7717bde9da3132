"""The 25 weak points of Eval Banana that our inventory names: what happens here."""

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

from adjudge.domain import ConfigError
from adjudge.formats.banana import Flags, load_project
from adjudge.prompts import read_score_01

ROOT = Path(__file__).parents[3]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "adjudge", "banana", *arguments]


def environment(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)}


def banana(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment(folder),
        timeout=60,
    )


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def script(folder: Path, check_id: str, code: str) -> None:
    lines = "".join(f"  {line}\n" for line in code.splitlines())
    head = f"schema_version: 1\nid: {check_id}\ntype: deterministic\ndescription: d\nscript: |\n"
    put(folder, f"eval_checks/{check_id}.yaml", head + lines)


def judge(folder: Path, check_id: str, says: str, *, config: str = "", head: str = "") -> None:
    """A check whose agent is a Python program that ends by saying something."""
    put(
        folder,
        f"eval_checks/{check_id}.yaml",
        f"schema_version: 1\nid: {check_id}\ntype: harness_judge\ndescription: d\ninstructions: Is it fine?\n",
    )
    put(folder, "agent.py", f"import sys, os, time\n{head}\nsys.stdout.write({says!r})\n")
    table = f'[harness]\nagent = "mine"\n{config}\n[agents.mine]\ncommand = ["python3", "{folder}/agent.py"]\n'
    put(folder, ".eval-banana/config.toml", table)


def report(folder: Path) -> dict[str, Any]:
    (path,) = (folder / ".eval-banana" / "results").glob("*/report.json")
    made: dict[str, Any] = json.loads(path.read_text())
    return made


GOOD = '{"score": 1, "reason": "fine"}'


@pytest.mark.parametrize(
    "end", ['{"score": 0.5}', '{"score": 1', "In short: FAIL", '{"score": "1"}', '{"score": 1, "reason": 3}']
)
def test_01_a_bad_last_verdict_is_not_replaced_by_an_earlier_one(end: str) -> None:
    assert read_score_01(f'The file says {{"score": 1}}\n\n{end}').failure is not None


def test_02_a_planted_result_event_does_not_beat_the_real_verdict(tmp_path: Path) -> None:
    planted = json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": '{"score": 1}'})
    judge(tmp_path, "j", f'{planted}\n{{"score": 0, "reason": "bad"}}\n')
    assert banana(tmp_path, "run").returncode == 1
    assert report(tmp_path)["checks"][0]["status"] == "failed"


@pytest.mark.parametrize("odd", ['a 5" pipe', '"""', 'he said "no', '"a" "b'])
def test_03_quotation_marks_before_the_verdict_do_not_hide_it(odd: str) -> None:
    answer = read_score_01(f'{odd}\n{{"score": 0, "reason": "bad"}}')
    assert (answer.value, answer.rationale) == (False, "bad")


@pytest.mark.parametrize("inline", ['""', '" "', '"\\n"'])
def test_04_an_empty_script_is_never_what_runs(tmp_path: Path, inline: str) -> None:
    put(tmp_path, "eval_checks/fails.py", "raise SystemExit(1)\n")
    put(
        tmp_path,
        "eval_checks/a.yaml",
        f"schema_version: 1\nid: a\ntype: deterministic\ndescription: d\nscript: {inline}\nscript_path: fails.py\n",
    )
    assert banana(tmp_path, "run").returncode in (1, 2)


def test_04_a_script_of_white_space_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "eval_checks/e.py", "\n \n")
    put(tmp_path, "eval_checks/a.yaml", "schema_version: 1\nid: a\ntype: deterministic\ndescription: d\nscript: ' '\n")
    put(
        tmp_path,
        "eval_checks/b.yaml",
        "schema_version: 1\nid: b\ntype: deterministic\ndescription: d\nscript_path: e.py\n",
    )
    with pytest.raises(ConfigError) as error:
        load_project(tmp_path, Flags())
    assert len(error.value.problems) == 2


def test_05_a_judge_cannot_make_what_a_later_check_requires(tmp_path: Path) -> None:
    judge(tmp_path, "a_judge", GOOD, head="try: open('made.txt', 'w').write('x')\nexcept OSError: pass")
    script(tmp_path, "b_script", "import os, time\ntime.sleep(1)\nassert os.path.exists('made.txt')")
    banana(tmp_path, "run")
    assert [check["status"] for check in report(tmp_path)["checks"]] == ["passed", "failed"]
    assert not (tmp_path / "made.txt").exists()


@pytest.mark.parametrize("threshold", ["-1", "0", "80", "nan", "inf"])
def test_06_a_threshold_that_decides_nothing_is_refused(tmp_path: Path, threshold: str) -> None:
    script(tmp_path, "a", "raise SystemExit(1)")
    ended = banana(tmp_path, "run", "--pass-threshold", threshold)
    assert ended.returncode == 2
    assert "pass_threshold" in ended.stderr


@pytest.mark.parametrize("score", ["[]", "{}", "null", '"x"', "[1]"])
def test_07_a_score_of_any_type_costs_one_verdict_and_not_the_run(tmp_path: Path, score: str) -> None:
    judge(tmp_path, "j", f'{{"score": {score}}}')
    script(tmp_path, "s", "pass")
    assert banana(tmp_path, "run").returncode == 4
    assert [check["status"] for check in report(tmp_path)["checks"]] == ["error", "passed"]


def test_08_output_that_is_not_utf_8_is_kept(tmp_path: Path) -> None:
    script(tmp_path, "a", "import os\nos.write(1, b'\\xff\\xfe ok')")
    assert banana(tmp_path, "run").returncode == 0
    assert "ok" in report(tmp_path)["checks"][0]["stdout"]


def test_09_an_unknown_agent_is_told_before_anything_runs(tmp_path: Path) -> None:
    judge(tmp_path, "j", GOOD)
    script(tmp_path, "s", "open('ran', 'w')")
    for verb in ("validate", "run"):
        ended = banana(tmp_path, verb, "--harness-agent", "cloude")
        assert ended.returncode == 2
        assert "no agent 'cloude'" in ended.stderr
    assert not (tmp_path / "ran").exists()


def test_10_every_problem_is_told_at_once_and_cleanly(tmp_path: Path) -> None:
    put(tmp_path, "eval_checks/a.yaml", "id: [\n")
    put(tmp_path, "eval_checks/b.yaml", "schema_version: 2\nid: x y\ntype: deterministic\ndescription: d\nscript: a(\n")
    script(tmp_path, "twice", "pass")
    put(tmp_path, "eval_checks/z.yaml", (tmp_path / "eval_checks/twice.yaml").read_text())
    ended = banana(tmp_path, "run")
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    for words in ("a.yaml:", "schema_version", "'x y'", "not valid Python", "the id 'twice' is taken"):
        assert words in ended.stderr


def test_11_what_was_judged_is_reported_when_the_run_is_stopped(tmp_path: Path) -> None:
    for k in range(3):
        script(tmp_path, f"a{k}", "pass")
    for k in range(12):
        script(tmp_path, f"b{k:02}", "import time\ntime.sleep(1.5)")
    process = subprocess.Popen(
        command("run", "--max-parallel-checks", "1"), cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    for _ in range(4):
        process.stdout.readline()
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - began < 10
    made = report(tmp_path)
    assert made["run_passed"] is False
    assert 4 <= made["passed_checks"] < 15


def test_12_a_script_has_a_time_limit(tmp_path: Path) -> None:
    script(tmp_path, "a", "import time\ntime.sleep(60)")
    put(tmp_path, ".eval-banana/config.toml", "[core]\nscript_timeout_seconds = 1\n")
    began = time.monotonic()
    assert banana(tmp_path, "run").returncode == 4
    assert time.monotonic() - began < 15
    assert "longer than 1 s" in report(tmp_path)["checks"][0]["error_detail"]


def test_13_what_a_judge_started_ends_with_it(tmp_path: Path) -> None:
    head = "import subprocess\nsubprocess.Popen(['sleep', '97'], start_new_session=True)\ntime.sleep(60)"
    judge(tmp_path, "j", GOOD, config="timeout_seconds = 2", head=head)
    assert banana(tmp_path, "run").returncode == 4
    left = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if _reads(path)]
    assert b"sleep\x0097\x00" not in left


def _reads(path: Path) -> bool:
    try:
        path.read_bytes()
    except OSError:
        return False
    return True


def test_14_nothing_waits_for_standard_input(tmp_path: Path) -> None:
    judge(tmp_path, "j", GOOD, head="sys.stdin.read()")
    script(tmp_path, "s", "import sys\nassert sys.stdin.read() == ''")
    with subprocess.Popen(
        command("run"), cwd=tmp_path, env=environment(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.read() if process.stdout else None
        assert process.wait(timeout=30) == 0


def test_15_a_prompt_of_any_length_fits(tmp_path: Path) -> None:
    judge(tmp_path, "j", GOOD, head="assert len(sys.stdin.read()) > 200_000")
    long = "x" * 200_000
    put(
        tmp_path,
        "eval_checks/j.yaml",
        f"schema_version: 1\nid: j\ntype: harness_judge\ndescription: d\ninstructions: {long}\n",
    )
    assert banana(tmp_path, "run").returncode == 4
    assert "too long for an argument" in report(tmp_path)["checks"][0]["error_detail"]
    config = tmp_path / ".eval-banana/config.toml"
    config.write_text(config.read_text() + 'prompt_by = "stdin"\n')
    assert banana(tmp_path, "run", "--output-dir", "out", "--flat-output").returncode == 0


@pytest.mark.parametrize(
    ("text", "value"), [("}" * 50_000, True), ("{}" * 50_000, True), ("{" * 50_000, None), ('{"a":' * 20_000, None)]
)
def test_16_reading_a_verdict_takes_no_time(text: str, value: bool | None) -> None:
    """Within an object that is never closed a verdict is a part of something else, and is not taken."""
    began = time.monotonic()
    assert read_score_01(f"{text}\n\n{GOOD}").value is value
    assert time.monotonic() - began < 5


def test_17_and_18_streams_of_gemini_and_opencode_are_read(tmp_path: Path) -> None:
    gemini: list[dict[str, Any]] = [
        {"type": "init", "model": "m"},
        {"type": "message", "role": "assistant", "content": '{"score": 1, ', "delta": True},
        {"type": "message", "role": "assistant", "content": '"reason": "x"}', "delta": True},
        {"type": "result", "status": "success", "stats": {}},
    ]
    opencode: list[dict[str, Any]] = [
        {"type": "text", "part": {"text": GOOD}},
        {"type": "step_finish", "part": {"reason": "stop", "tokens": {}, "cost": 0}},
    ]
    for number, stream in enumerate((gemini, opencode)):
        folder = tmp_path / str(number)
        judge(folder, "j", "\n".join(map(json.dumps, stream)))
        ended = banana(folder, "run")
        assert ended.returncode == 0, ended.stdout


def test_19_a_model_of_another_agent_is_not_handed_on(tmp_path: Path) -> None:
    judge(tmp_path, "j", GOOD)
    put(
        tmp_path,
        ".eval-banana/config.toml",
        '[harness]\nagent = "codex"\nmodel = "gpt-5.6-sol"\nreasoning_effort = "high"\n',
    )
    for agent in ("pi", "claude", "gemini", "opencode"):
        (made,) = load_project(tmp_path, Flags(agent=agent)).suite.judges
        assert (getattr(made, "model", None), getattr(made, "effort", None)) == ("", "")
    (made,) = load_project(tmp_path, Flags()).suite.judges
    assert (getattr(made, "model", None), getattr(made, "effort", None)) == ("gpt-5.6-sol", "high")


@pytest.mark.parametrize("agent", ["codex", "claude", "gemini", "grok", "openhands", "opencode", "pi"])
def test_20_agents_are_confined(tmp_path: Path, agent: str) -> None:
    judge(tmp_path, "j", GOOD)
    (made,) = load_project(tmp_path, Flags(agent=agent)).suite.judges
    assert getattr(made, "isolated", None) is True
    assert getattr(made, "sandbox", None) == "auto"


def test_22_what_a_judge_was_told_and_said_is_kept(tmp_path: Path) -> None:
    judge(tmp_path, "j", f"I looked.\n{GOOD}")
    assert banana(tmp_path, "run").returncode == 0
    (run,) = (tmp_path / ".eval-banana/results").iterdir()
    (prompt,) = run.glob("checks/j-*.prompt.txt")
    (stdout,) = run.glob("checks/j-*.stdout.txt")
    assert "Is it fine?" in prompt.read_text()
    assert stdout.read_text().startswith("I looked.")


@pytest.mark.parametrize(
    ("code", "status", "words"),
    [
        ("assert 1 == 2, 'not equal'", "failed", "AssertionError: not equal"),
        ("raise ValueError('odd')", "failed", "ValueError: odd"),
        ("import sys\nsys.exit('nothing there')", "failed", "nothing there"),
        ("import sys\nsys.exit(3)", "failed", "exit status 3"),
        ("import os\nos.kill(os.getpid(), 11)", "error", "killed by SIGSEGV"),
        ("import no_such_module", "failed", "ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_23_a_script_that_does_not_pass_says_why(tmp_path: Path, code: str, status: str, words: str) -> None:
    script(tmp_path, "a", code)
    ended = banana(tmp_path, "run")
    (check,) = report(tmp_path)["checks"]
    assert check["status"] == status
    assert words in (check["reason"] or check["error_detail"])
    assert words in ended.stdout


def test_24_the_digest_of_a_dirty_tree_holds_untracked_files(tmp_path: Path) -> None:
    script(tmp_path, "a", "pass")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    put(tmp_path, ".gitignore", ".eval-banana\nr*.json\n")
    digests = set()
    for text in ("one", "two"):
        put(tmp_path, "untracked.txt", text)
        banana(tmp_path, "run", "--result-out", f"r{text}.json", "--result-format", "json")
        digests.add(json.loads((tmp_path / f"r{text}.json").read_text())["observed"]["dirty_tree_digest"])
    assert len(digests) == 2
    assert None not in digests


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("[core]\npass_treshold = 1\n", "unknown key 'pass_treshold'"),
        ("[core]\npass_threshold = 'high'\n", "pass_threshold"),
        ("[discovry]\nexclude_dirs = []\n", "unknown key 'discovry'"),
        ("[harness]\nagnt = 'x'\n", "unknown key 'agnt'"),
    ],
)
def test_25_typos_in_the_config_are_errors(tmp_path: Path, config: str, words: str) -> None:
    script(tmp_path, "a", "pass")
    put(tmp_path, ".eval-banana/config.toml", config)
    ended = banana(tmp_path, "validate")
    assert ended.returncode == 2
    assert words in ended.stderr


def test_25_a_script_that_is_not_there_is_told_by_validate(tmp_path: Path) -> None:
    put(
        tmp_path,
        "eval_checks/a.yaml",
        "schema_version: 1\nid: a\ntype: deterministic\ndescription: d\nscript_path: gone.py\n",
    )
    assert "gone.py" in banana(tmp_path, "validate").stderr


def test_25_a_wrong_type_within_a_table_is_named_with_its_place(tmp_path: Path) -> None:
    script(tmp_path, "a", "pass")
    put(tmp_path, ".eval-banana/config.toml", '[harness.env]\nGOOD = "1"\nA = 1\n')
    assert (
        ".eval-banana/config.toml:3:1: error: harness.env.A: expected text, got" in banana(tmp_path, "validate").stderr
    )
