"""Verbs and flags of the command, as other tools call it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.support.configs import ANSWER, check, llm, write_suite
from tests.support.llm import call, environment
from tests.support.provider import LoopbackProvider

MARKS = check("marks", "open('ran', 'a').write('x')\nreturn True, 'fine'")


def run(*arguments: str | Path, cwd: Path, **env: str) -> Any:
    done = call(*arguments, cwd=cwd, env={**environment(cwd), **env})
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize("verb", ["validate", "plan"])
def test_validate_and_plan_run_no_judge_and_write_nothing(tmp_path: Path, verb: str) -> None:
    write_suite(tmp_path, [MARKS])
    before = sorted(tmp_path.rglob("*"))
    assert run(verb, cwd=tmp_path).returncode == 0
    assert sorted(tmp_path.rglob("*")) == before


def test_validate_says_how_much_there_is(tmp_path: Path) -> None:
    write_suite(tmp_path, [check("a"), check("b")], ["x", "y", "z"], thresholds={"a": {"min_pass_rate": 1}})
    done = run("validate", cwd=tmp_path)
    assert "3 cases, 2 judges, 1 threshold" in done.stdout
    assert done.stderr == ""


def test_warnings_are_told_and_do_not_stop_a_run(tmp_path: Path) -> None:
    write_suite(tmp_path, [check(), {"name": "undecided"}], generation={"strategy": "skill"})
    for verb in ("validate", "plan", "run"):
        done = run(verb, cwd=tmp_path)
        assert done.returncode == 0
        assert done.stderr.count("warning: ") == 2
        assert "eval.yaml:" in done.stderr


@pytest.mark.parametrize("path", [".", "eval.yaml", None, "../suite", "../suite/eval.yaml"])
def test_the_path_is_a_file_or_a_folder_and_the_current_one_by_default(tmp_path: Path, path: str | None) -> None:
    write_suite(tmp_path / "suite")
    assert run("validate", *([path] if path else []), cwd=tmp_path / "suite", HOME=str(tmp_path)).returncode == 0


def test_eval_yml_is_found_too(tmp_path: Path) -> None:
    write_suite(tmp_path).rename(tmp_path / "eval.yml")
    assert run("run", "-q", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("name", ["mine.yaml", "mine.yml", "with blank.yaml", "größe.yaml"])
def test_a_config_may_have_any_name(tmp_path: Path, name: str) -> None:
    write_suite(tmp_path).rename(tmp_path / name)
    assert run("validate", name, cwd=tmp_path).returncode == 0


def test_a_plan_shows_what_would_be_asked_and_asks_nothing(tmp_path: Path) -> None:
    cases = {name: {**ANSWER, "annotations.yaml": f"kind: {name}\n"} for name in ("a", "b", "c")}
    judges = [check(), llm("twice", samples=2, condition="annotations['kind'] != 'c'")]
    write_suite(tmp_path, judges, cases)
    with LoopbackProvider() as provider:
        env = {**environment(tmp_path, provider)}
        shown = run("plan", cwd=tmp_path, **env)
        planned = {entry["judge"]: entry for entry in json.loads(run("plan", "--json", cwd=tmp_path, **env).stdout)}
        assert not provider.requests
    assert planned["twice"]["calls"] == 4
    assert planned["twice"]["cases"] == 2
    assert planned["twice"]["input_tokens"] > 0
    assert planned["twice"]["model"]
    assert "twice" in shown.stdout
    assert "$" in shown.stdout


def test_a_plan_of_another_model_has_another_price(tmp_path: Path) -> None:
    write_suite(tmp_path, [llm(model="claude-opus-4-1")])
    env = {"ANTHROPIC_API_KEY": "dummy"}
    prices = []
    for model in ("claude-opus-4-1", "claude-3-5-haiku-latest"):
        (entry,) = json.loads(run("plan", "--json", "--judge-model", model, cwd=tmp_path, **env).stdout)
        prices.append(entry["usd"])
    assert prices[0] > prices[1] > 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["run", "-q", "--json"], 1), (["run", "--json"], 1), (["run", "--json", "-v"], 1), (["plan", "--json"], 0)],
)
def test_json_is_one_document_and_nothing_else_also_when_the_gate_fails(
    tmp_path: Path, arguments: list[str], code: int
) -> None:
    loud = "import os, sys\nprint('noise')\nos.write(1, b'raw noise')\nos.system('echo more noise')\nreturn False"
    write_suite(tmp_path, [check(code=loud)], thresholds={"ok": {"min_pass_rate": 1}})
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == code
    json.loads(done.stdout)


@pytest.mark.parametrize("verb", ["run", "plan"])
def test_json_has_nothing_on_standard_output_when_the_config_is_bad(tmp_path: Path, verb: str) -> None:
    write_suite(tmp_path, [check(code="return (")])
    done = run(verb, "--json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "eval.yaml:" in done.stderr


def test_wrong_cases_and_tags_are_told_at_once_with_the_nearest_name(tmp_path: Path) -> None:
    cases = {"first-case": {**ANSWER, "annotations.yaml": "tags: [slow, large]\n"}, "other": ANSWER}
    write_suite(tmp_path, [MARKS], cases)
    done = run("run", "--case", "first-cas", "--case", "zzz", "--case", "other", "--tag", "slwo", cwd=tmp_path)
    assert done.returncode == 2
    assert "--case: there is no case 'first-cas' (did you mean 'first-case'?)" in done.stderr
    assert "--case: there is no case 'zzz'" in done.stderr
    assert "--tag: no case has the tag 'slwo' (did you mean 'slow'?)" in done.stderr
    assert "'other'" not in done.stderr
    assert not (tmp_path / "ran").exists()


def test_a_selection_that_leaves_no_case_is_an_error(tmp_path: Path) -> None:
    write_suite(tmp_path, [MARKS], {"a": {**ANSWER, "annotations.yaml": "tags: slow\n"}, "b": ANSWER})
    done = run("run", "--case", "b", "--tag", "slow", cwd=tmp_path)
    assert done.returncode == 2
    assert "the selection leaves no case" in done.stderr


def test_no_credentials_names_every_judge_at_once_and_runs_nothing(tmp_path: Path) -> None:
    judges = [MARKS, llm("one"), llm("two", model="gpt-4o"), llm("three", model=...)]
    write_suite(tmp_path, judges)
    done = run("run", cwd=tmp_path)
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if "error: judge '" in line]
    assert [line.split("'")[1] for line in lines] == ["one", "two", "three"]
    assert all(line.startswith("eval.yaml:") for line in lines)
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / ".adjudge").exists()


def test_a_plan_needs_no_credentials(tmp_path: Path) -> None:
    write_suite(tmp_path, [llm("one"), llm("two", model="gpt-4o")])
    done = run("plan", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert [entry["judge"] for entry in json.loads(done.stdout)] == ["one", "two"]


def test_no_llm_needs_no_credentials_and_says_what_is_left_out(tmp_path: Path) -> None:
    write_suite(tmp_path, [check(), llm("one"), llm("two", model="gpt-4o")])
    done = run("run", "--no-llm", "--output", "run", cwd=tmp_path)
    assert done.returncode == 0
    assert "one" in done.stdout
    assert "two" in done.stdout
    left_out = json.loads((tmp_path / "run" / "result.json").read_bytes())["left_out"]
    assert [gone["judge"] for gone in left_out] == ["one", "two"]


def test_je_sets_a_variable_for_the_models(tmp_path: Path) -> None:
    write_suite(tmp_path, [llm()])
    with LoopbackProvider() as provider:
        flags = [part for name, value in provider.env().items() for part in ("--je", f"{name}={value}")]
        assert run("run", "-q", *flags, cwd=tmp_path).returncode == 0
        assert len(provider.requests) == 1


def test_offline_reports_what_is_missing_as_unscored_and_calls_nobody(tmp_path: Path) -> None:
    write_suite(tmp_path, [check(), llm()])
    with LoopbackProvider() as provider:
        env = environment(tmp_path, provider)
        done = run("run", "--offline", "--output", "run", cwd=tmp_path, **env)
        assert not provider.requests
    assert done.returncode == 4
    kinds = [score["error"]["kind"] for score in scores(tmp_path) if "error" in score]
    assert kinds == ["offline"]


def test_offline_answers_from_the_cache_of_an_earlier_run(tmp_path: Path) -> None:
    write_suite(tmp_path, [llm()])
    with LoopbackProvider() as provider:
        env = environment(tmp_path, provider)
        assert run("run", "-q", cwd=tmp_path, **env).returncode == 0
        assert run("run", "-q", "--offline", "--output", "run", cwd=tmp_path, **env).returncode == 0
        assert len(provider.requests) == 1


def scores(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "run" / "result.json").read_bytes())["scores"]
    return found


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--budget", "nan"),
        ("--budget", "-1"),
        ("--output", ""),
        ("--samples", "0"),
        ("--max-concurrency", "0"),
        ("--judge-model", "gemini:/pro"),
        ("--judge-model", "openai:/"),
        ("--judge-model", "  "),
        ("--case", ""),
        ("--je", "=x"),
    ],
)
def test_a_flag_that_cannot_be_meant_is_refused(tmp_path: Path, flag: str, value: str) -> None:
    write_suite(tmp_path, [MARKS, llm()])
    with LoopbackProvider() as provider:
        env = {**environment(tmp_path, provider), "OPENAI_API_KEY": "dummy"}
        done = run("run", flag, value, cwd=tmp_path, **env)
        assert not provider.requests
    assert done.returncode == 2
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "journal.db").exists()


def test_the_seed_is_recorded(tmp_path: Path) -> None:
    write_suite(tmp_path)
    assert run("run", "-q", "--seed", "7", "--output", "run", cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "run" / "result.json").read_bytes())["seed"] == 7


def test_the_step_summary_grows_with_every_run(tmp_path: Path) -> None:
    write_suite(tmp_path, [check("a_judge")])
    target = tmp_path / "step.md"
    for _ in range(2):
        run("run", "-q", cwd=tmp_path, GITHUB_STEP_SUMMARY=str(target))
    assert target.read_text().count("## ") >= 2
    assert target.read_text().count("judge | check") == 2


GOOD: dict[str, Any] = {
    "name": "suite",
    "dataset": {"path": "cases", "schema": "prose"},
    "outputs": [{"path": "output"}],
    "models": {"judge": "sonnet"},
    "judges": [
        check(),
        llm(score_range=[0, 2.5], samples=3, condition="True"),
        {"name": "b", "builtin": "cost_budget"},
    ],
    "thresholds": {"ok": {"min_pass_rate": 0.5}, "good": {"min_mean": 1, "max_error_rate": 0.1}},
    "execution": {"mode": "case"},
}


@pytest.mark.parametrize(
    ("change", "valid"),
    [
        ({}, True),
        ({"dataset": None, "outputs": None, "thresholds": None}, True),
        ({"judges": [{"check": "return True"}]}, False),
        ({"judges": [check(chek="x")]}, False),
        ({"judges": [check(score_range="1-5")]}, False),
        ({"judges": [check(samples="3")]}, False),
        ({"judges": {"name": "x"}}, False),
        ({"thresholds": {"ok": {"min_avg": 3}}}, False),
        ({"thresholds": {"ok": 3}}, False),
        ({"dataset": {"pth": "x"}}, False),
        ({"datset": {"path": "x"}}, False),
        ({"models": {"judge": 5}}, False),
    ],
    ids=str,
)
def test_the_schema_accepts_what_loads_and_rejects_what_does_not(
    tmp_path: Path, change: dict[str, Any], valid: bool
) -> None:
    schema = json.loads(run("schema", cwd=tmp_path).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert jsonschema.Draft202012Validator(schema).is_valid({**GOOD, **change}) == valid


def test_the_starter_fits_the_schema_and_every_comment_in_it_is_true(tmp_path: Path) -> None:
    assert run("init", "new", cwd=tmp_path).returncode == 0
    schema = json.loads(run("schema", cwd=tmp_path).stdout)
    text = (tmp_path / "new" / "eval.yaml").read_text()
    jsonschema.validate(yaml.safe_load(text), schema)
    head, name, rest = text.partition("  # - name: answers_the_question")
    block, thresholds, tail = (name + rest).partition("\nthresholds:")
    uncommented = head + re.sub(r"^  # ?", "  ", block, flags=re.MULTILINE) + thresholds + tail
    jsonschema.validate(yaml.safe_load(uncommented), schema)
    (tmp_path / "new" / "eval.yaml").write_text(uncommented)
    done = run("plan", "new", cwd=tmp_path, ANTHROPIC_API_KEY="dummy")
    assert done.returncode == 0
    assert "answers_the_question" in done.stdout
    assert "warning" not in done.stderr


def test_init_does_not_write_over_anything_unless_told(tmp_path: Path) -> None:
    (tmp_path / "cases" / "first-case").mkdir(parents=True)
    (tmp_path / "cases" / "first-case" / "input.yaml").write_text("mine")
    assert run("init", cwd=tmp_path).returncode == 2
    assert not (tmp_path / "eval.yaml").exists()
    assert (tmp_path / "cases" / "first-case" / "input.yaml").read_text() == "mine"
    assert run("init", "--force", cwd=tmp_path).returncode == 0


def test_init_into_a_file_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    assert run("init", "file", cwd=tmp_path).returncode == 2
    assert run("init", "file/below", cwd=tmp_path).returncode == 2


def test_the_shell_completes_verbs_and_flags(tmp_path: Path) -> None:
    script = Path(sys.executable).parent / "adjudge"
    if not script.exists():
        pytest.skip("the adjudge command is not installed beside this Python")
    for words, expected in (("adjudge va", "validate"), ("adjudge run --off", "--offline")):
        env = {**environment(tmp_path), "_ADJUDGE_COMPLETE": "bash_complete", "COMP_WORDS": words}
        env["COMP_CWORD"] = str(len(words.split()) - 1)
        done = subprocess.run([script], check=False, env=env, capture_output=True, text=True, cwd=tmp_path)
        assert f"plain,{expected}" in done.stdout.split()


def test_a_key_in_the_environment_reaches_neither_judges_nor_the_run_directory(tmp_path: Path) -> None:
    code = "import os\nreturn 'sk-' + 'secret' not in repr(dict(os.environ)), repr(sorted(os.environ))"
    write_suite(tmp_path, [check(code=code), llm()])
    with LoopbackProvider() as provider:
        env = {**environment(tmp_path, provider), "ANTHROPIC_API_KEY": "sk-secret", "MY_TOKEN": "sk-secret"}
        run("run", "--output", "run", "--json", cwd=tmp_path, **env)
    assert all(b"sk-secret" not in path.read_bytes() for path in (tmp_path / "run").iterdir())
    assert {score["judge"]: score.get("value") for score in scores(tmp_path)}["ok"] is True


def test_paths_start_at_the_config_wherever_the_command_is_called_from(tmp_path: Path) -> None:
    write_suite(tmp_path / "suite")
    (tmp_path / "else").mkdir()
    done = run("run", "-q", os.path.relpath(tmp_path / "suite", tmp_path / "else"), cwd=tmp_path / "else")
    assert done.returncode == 0
