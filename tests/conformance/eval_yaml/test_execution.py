"""The agent under test of an eval.yaml, on each case: what it is given, how it is started, and what is kept of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import Decision, RunResult, RunState
from tests.support.configs import Files, check, judged, write_suite

INPUT: Files = {"input.yaml": "request: say it\n"}


def agent(script: str, *arguments: str) -> dict[str, Any]:
    """A runner that is a shell script, with further words of its command line."""
    return {"type": "cli", "command": ["sh", "-c", script, "agent", *arguments]}


def ran(folder: Path, script: str, *arguments: str, options: Mapping[str, Any] = {}, **sections: Any) -> RunResult:
    """Run a script as the agent, and judge what it leaves."""
    whole: dict[str, Any] = {
        "runner": agent(script, *arguments),
        "execution": {"prompt": "do it"},
        "cases": {"case-1": INPUT},
        **sections,
    }
    return judged(write_suite(folder, **whole), **options)


def state(result: RunResult, case: str = "case-1") -> RunState:
    assert result.execution is not None
    run = result.execution.run(case)
    assert run is not None
    return run.state


def kept(folder: Path, case: str = "case-1") -> set[str]:
    """The files that are left of a case's outputs."""
    home = folder / "run/cases" / case
    names = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    return {name for name in names if name.startswith(("output/", "_modified/", "docs/"))}


def entry(folder: Path, case: str = "case-1") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run/run_result.json").read_text())["per_case"][case]
    return found


def runs(pid: str) -> bool:
    """True for a process that is there, and is more than an entry that nobody has read."""
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def output(folder: Path, name: str, case: str = "case-1") -> str:
    return (folder / "run/cases" / case / "output" / name).read_text()


def test_an_agent_sees_its_input_answers_and_companions_and_nothing_else_of_the_case(tmp_path: Path) -> None:
    case = {
        **INPUT,
        "answers.yaml": "Which?: this\n",
        "annotations.yaml": "gold: gold.md\n",
        "gold.md": "the solution",
        "notes.txt": "not listed",
        "data/a/b.csv": "1,2",
        "readme.md": "listed",
    }
    listing = "find . -path ./.git -prune -o -path ./output -prune -o -type f -print | sort > output/seen.txt"
    files = {"path": "cases", "workspace": {"files": ["data/", "readme.md", "absent.txt"]}}
    ran(tmp_path, listing, cases={"case-1": case}, dataset=files)
    seen = output(tmp_path, "seen.txt").split()
    assert seen == ["./answers.yaml", "./data/a/b.csv", "./input.yaml", "./readme.md"]


def test_files_of_the_project_are_given_to_every_case_where_they_are_wanted(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures/db.sql").write_text("select 1")
    files = {"path": "cases", "workspace": {"files": [{"dest": "setup/schema.sql", "source": "fixtures/db.sql"}]}}
    ran(tmp_path, "cat setup/schema.sql > output/seen.txt", cases={"a": INPUT, "b": INPUT}, dataset=files)
    assert output(tmp_path, "seen.txt", "a") == output(tmp_path, "seen.txt", "b") == "select 1"


def test_links_of_a_case_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private/key").write_text("SECRET")
    case = tmp_path / "cases/case-1"
    (case / "data").mkdir(parents=True)
    (case / "data/key").symlink_to(tmp_path / "private/key")
    (case / "data/real").write_text("real")
    (case / "folder").symlink_to(tmp_path / "private")
    (case / "single").symlink_to(tmp_path / "private/key")
    (case / "annotations.yaml").write_text("gold: SECRET\n")
    (case / "inner").symlink_to("annotations.yaml")
    files = {"path": "cases", "workspace": {"files": ["data", "folder", "folder/key", "single", "inner"]}}
    script = "cat data/* folder/* single inner > output/seen.txt 2>/dev/null; find . -type l >> output/seen.txt; true"
    ran(tmp_path, script, dataset=files)
    assert output(tmp_path, "seen.txt") == "real"


def test_a_workspace_is_a_repository_with_one_commit_and_no_change(tmp_path: Path) -> None:
    ran(tmp_path, "git status --porcelain > /tmp/x.$$; mv /tmp/x.$$ output/status; git log --format=%H > output/log")
    assert output(tmp_path, "status") == ""
    assert len(output(tmp_path, "log").split()) == 1


def test_what_an_agent_does_to_resources_of_the_project_stays_in_its_workspace(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("the rules\n")
    (tmp_path / "skills/review").mkdir(parents=True)
    (tmp_path / "skills/review/SKILL.md").write_text("how to\n")
    script = "cat CLAUDE.md skills/review/SKILL.md > output/seen.txt; echo worse > CLAUDE.md; rm -r skills"
    ran(tmp_path, script)
    assert output(tmp_path, "seen.txt") == "the rules\nhow to\n"
    assert (tmp_path / "CLAUDE.md").read_text() == "the rules\n"
    assert (tmp_path / "skills/review/SKILL.md").exists()


def test_outputs_and_changes_elsewhere_are_collected_and_counted(tmp_path: Path) -> None:
    files = {"path": "cases", "workspace": {"files": ["src"]}}
    case = {**INPUT, "src/a.py": "a\n", "src/b.py": "b\n", "src/same.py": "s\n"}
    script = "mkdir -p output/deep; echo 1 > output/deep/x; echo 2 >> src/a.py; rm src/b.py; echo 3 > hooks_test.py"
    found = ran(tmp_path, script, cases={"case-1": case}, dataset=files)
    assert kept(tmp_path) == {"output/deep/x", "_modified/src/a.py", "_modified/hooks_test.py"}
    assert json.loads((tmp_path / "run/collection.json").read_text()) == {"case-1": {"output": 1, "_modified": 2}}
    assert found.execution is not None
    assert any("src/b.py" in note for note in found.execution.cases[0].notes)


def test_judges_see_what_was_collected(tmp_path: Path) -> None:
    code = """
    seen = sorted(outputs["files"]), sorted(outputs["modified_files"]), outputs["exit_code"], outputs["stdout"]
    return seen == (["_modified/hooks_test.py", "output/x"], ["hooks_test.py"], 0, "said\\n"), str(seen)
    """
    found = ran(tmp_path, "echo 1 > output/x; echo 2 > hooks_test.py; echo said", judges=[check(code=code)])
    assert found.scores[0].value is True, found.scores[0].rationale


def test_what_an_agent_committed_is_collected_too(tmp_path: Path) -> None:
    script = (
        "echo 1 > new.txt; git add -A; git -c user.name=a -c user.email=a@b commit -qm done; git status --porcelain"
    )
    ran(tmp_path, script)
    assert kept(tmp_path) == {"_modified/new.txt"}


def test_what_an_agent_writes_is_collected_also_under_names_that_we_use_elsewhere(tmp_path: Path) -> None:
    script = "for n in stdout stderr; do echo mine > output/$n.log; done; mkdir .claude; echo > .claude/settings.json"
    ran(tmp_path, script)
    assert kept(tmp_path) == {"output/stdout.log", "output/stderr.log", "_modified/.claude/settings.json"}
    assert output(tmp_path, "stdout.log") == "mine\n"
    assert (tmp_path / "run/cases/case-1/stdout.log").read_text() == ""


def test_links_of_an_agent_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("SECRET")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/inner").write_text("SECRET")
    script = f"ln -s {tmp_path}/secret output/a; ln -s {tmp_path}/folder output/b; ln -s {tmp_path}/folder c; mkfifo p"
    found = ran(tmp_path, script)
    assert state(found) is RunState.OK
    assert kept(tmp_path) == set()


def test_an_output_folder_that_became_a_link_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/inner").write_text("SECRET")
    ran(tmp_path, f"rm -r output; ln -s {tmp_path}/folder output")
    assert kept(tmp_path) == set()


def test_names_that_cannot_be_written_down_stop_nothing(tmp_path: Path) -> None:
    data = tmp_path / "cases/case-1/data"
    data.mkdir(parents=True)
    for name in (b"gone\xff", b"kept\xff"):
        (data / os.fsdecode(name)).write_text("x")
    script = "rm data/gone*; echo 1 >> data/kept*; printf 'echo 2 > output/b\\377' | sh; echo 3 > 'new\nline'"
    found = ran(tmp_path, script, dataset={"path": "cases", "workspace": {"files": ["data"]}})
    assert state(found) is RunState.OK
    assert found.scores[0].value is True
    assert len(kept(tmp_path)) == 3


def test_a_path_that_is_too_long_for_the_run_directory_costs_that_file_only(tmp_path: Path) -> None:
    script = "echo 1 > output/x; d=$(printf '%0200d' 0); for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; "
    script += "do mkdir $d; cd $d; done; d=$(printf '%0190d' 0); mkdir $d; cd $d; echo 2 > f"
    found = ran(tmp_path, script)
    assert state(found) is RunState.OK
    assert kept(tmp_path) == {"output/x"}
    assert found.execution is not None
    assert "could not be copied" in found.execution.cases[0].notes[0]


def test_a_case_is_judged_by_the_input_that_the_agent_was_given(tmp_path: Path) -> None:
    code = "return outputs['input'] == {'request': 'say it'} and 'say it' in outputs['inputs'], str(outputs['input'])"
    found = ran(tmp_path, "echo 'request: do nothing' > input.yaml", judges=[check(code=code)])
    assert found.scores[0].value is True, found.scores[0].rationale
    assert (tmp_path / "run/cases/case-1/input.yaml").read_text() == "request: say it\n"


HOSTILE = "a b\t'c' \"d\" $(touch /tmp/pwned-{n}) `id` ; | && {{model}} {model} \\ * é"


def test_a_value_is_one_argument_that_no_shell_ever_reads(tmp_path: Path) -> None:
    writes = "import json, sys; json.dump(sys.argv[1:], open('output/argv.json', 'w'))"
    runner = {"type": "cli", "command": [sys.executable, "-S", "-c", writes, "{text}", "--as={text}", "{empty}"]}
    case = {"input.yaml": json.dumps({"text": HOSTILE, "empty": ""})}
    found = ran(tmp_path, "", runner=runner, cases={"case-1": case})
    assert state(found) is RunState.OK
    assert json.loads(output(tmp_path, "argv.json")) == [HOSTILE, f"--as={HOSTILE}", ""]


def test_a_command_of_one_string_is_split_before_anything_is_put_in(tmp_path: Path) -> None:
    (tmp_path / "show.sh").write_text('for a in "$@"; do printf "%s\\n" "<$a>"; done > output/argv')
    runner = {"type": "cli", "command": "sh '{config_dir}/show.sh' {text} \"{text}\" 'a b'"}
    ran(tmp_path, "", runner=runner, cases={"case-1": {"input.yaml": 'text: "x  y"\n'}})
    assert output(tmp_path, "argv") == "<x  y>\n<x  y>\n<a b>\n"


def test_places_of_a_command_line(tmp_path: Path) -> None:
    words = ("{workspace}", "{output_dir}", "{model}", "{args}", "{agent}", "{timeout}", "{unknown}", "{request}")
    given: dict[str, Any] = {
        "execution": {"skill": "review", "arguments": "on {request}", "timeout": 7},
        "models": {"skill": "some-model"},
        # Fields that bear the names of places of ours do not stand for them.
        "cases": {"case-1": {"input.yaml": "request: say it\nmodel: other\nargs: other\nworkspace: /\n"}},
    }
    ran(tmp_path, 'pwd > output/cwd; printf "%s\\n" "$@" > output/argv', *words, **given)
    cwd = output(tmp_path, "cwd").strip()
    expected = [cwd, f"{cwd}/output", "some-model", "on say it", "review", "7", "{unknown}", "say it"]
    assert output(tmp_path, "argv").splitlines() == expected


def test_the_prompt_of_a_program_is_its_args_and_its_input_where_a_field_bears_that_name(tmp_path: Path) -> None:
    script = 'cat > output/stdin; printf "%s\\n" "$@" > output/argv'
    case = {"case-1": {"input.yaml": "prompt: as asked\n"}}
    ran(tmp_path, script, "{args}", "{prompt}", execution={"prompt": "Do: {prompt}"}, cases=case)
    assert output(tmp_path, "argv").splitlines() == ["Do: as asked", "as asked"]
    assert output(tmp_path, "stdin") == "Do: as asked"


def test_the_model_of_the_command_line_stands_before_the_suites(tmp_path: Path) -> None:
    ran(tmp_path, 'echo "$1 $ADJUDGE_MODEL" > output/m', "{model}", models={"skill": "a"}, options={"agent_model": "b"})
    assert output(tmp_path, "m") == "b b\n"


def test_variables_of_the_execution_reach_the_agent(tmp_path: Path) -> None:
    env = {"GIVEN": "one", "FROM": "$CALLER/x", "GONE": "$NOT_SET", "NUMBER": 3}
    script = 'echo "$GIVEN $FROM ${GONE-unset} $NUMBER" > output/env'
    ran(tmp_path, script, execution={"prompt": "do it", "env": env}, options={"environ": {"CALLER": "two"}})
    assert output(tmp_path, "env") == "one two/x unset 3\n"


METRICS: dict[str, Any] = {
    "cost_usd": 0.25,
    "num_turns": 3,
    "token_usage": {"input": 10, "output": 5, "cache_read": 2, "cache_create": 1},
    "per_model_usage": {"m": {"input": 10, "output": 5, "cost_usd": 0.25}},
    "per_model_turns": {"m": 3},
}


def test_a_program_tells_of_itself_in_a_file_that_is_no_output(tmp_path: Path) -> None:
    script = 'printf %s "$1" > output/metrics.json; echo 1 > output/x'
    code = "o = outputs; seen = (o['cost_usd'], o['num_turns'], o['token_usage']['input'], sorted(o['files']))\n"
    code += "return seen == (0.25, 3, 10, ['output/x']), str(seen)"
    cases = {"a": INPUT, "b": INPUT}
    found = ran(tmp_path, script, json.dumps(METRICS), cases=cases, judges=[check(code=code)])
    assert [score.value for score in found.scores] == [True, True], found.scores[0].rationale
    assert {key: entry(tmp_path, "a")[key] for key in METRICS} == METRICS
    whole = json.loads((tmp_path / "run/run_result.json").read_text())
    assert (whole["cost_usd"], whole["num_turns"], whole["token_usage"]["input"]) == (0.5, 6, 20)
    assert whole["per_model_usage"] == {"m": {"input": 20, "output": 10, "cost_usd": 0.5}}
    assert whole["per_model_turns"] == {"m": 6}


@pytest.mark.parametrize(
    "metrics",
    [
        "no json",
        "[1, 2]",
        "null",
        '{"cost_usd": -1, "num_turns": -2, "token_usage": {"input": "many", "output": -5}}',
        '{"cost_usd": true, "num_turns": 1.5, "token_usage": [], "per_model_usage": [], "per_model_turns": 3}',
        '{"cost_usd": 1e999, "num_turns": 1' + "0" * 40 + "}",
        '{"per_model_usage": {"m": {"input": 1' + "0" * 40 + ', "output": "x"}}, "per_model_turns": {"m": "x"}}',
        "[" * 5000,
    ],
)
def test_metrics_that_make_no_sense_are_unknown_and_stop_nothing(tmp_path: Path, metrics: str) -> None:
    found = ran(tmp_path, 'printf %s "$1" > output/metrics.json', metrics)
    assert state(found) is RunState.OK
    assert found.scores[0].value is True
    assert entry(tmp_path)["cost_usd"] is None
    assert entry(tmp_path)["num_turns"] is None
    assert (tmp_path / "run/summary.yaml").is_file()


def test_a_case_that_ran_out_of_time_is_not_hidden_by_the_others(tmp_path: Path) -> None:
    script = '[ "$1" = slow ] && sleep 60; echo 1 > output/x; exit "$2"'
    cases = {
        "good": {"input.yaml": "how: fast\ncode: 0\n"},
        "late": {"input.yaml": "how: slow\ncode: 0\n"},
        "bad": {"input.yaml": "how: fast\ncode: 3\n"},
    }
    execution = {"prompt": "do it", "timeout": 1, "parallelism": 3}
    found = ran(tmp_path, script, "{how}", "{code}", cases=cases, execution=execution)
    whole = json.loads((tmp_path / "run/run_result.json").read_text())
    assert whole["exit_code"] == -1
    assert {case: one["exit_code"] for case, one in whole["per_case"].items()} == {"good": 0, "late": -1, "bad": 3}
    assert whole["num_cases"] == 3
    assert sorted(whole["failed_cases"]) == ["bad", "late"]
    assert [state(found, case) for case in ("good", "late", "bad")] == ["ok", "timeout", "failed"]
    assert found.gate.decision is Decision.FAIL
    (told,) = [check.reason for check in found.gate.checks if check.metric == "execution"]
    assert "2 of 3" in told
    assert "bad (failed)" in told
    assert "late (timeout)" in told


def test_everything_that_an_agent_started_is_gone_when_its_time_is_over(tmp_path: Path) -> None:
    script = f"sleep 600 & echo $! > {tmp_path}/a; setsid sleep 601 & echo $! > {tmp_path}/b; echo 1 > output/x; wait"
    began = time.monotonic()
    found = ran(tmp_path, script, execution={"prompt": "do it", "timeout": 1})
    assert time.monotonic() - began < 20
    assert state(found) is RunState.TIMEOUT
    assert found.scores[0].value is True
    assert kept(tmp_path) == {"output/x"}
    for name in ("a", "b"):
        assert not runs((tmp_path / name).read_text().strip())


def test_a_share_of_failures_may_be_admitted(tmp_path: Path) -> None:
    cases = {"a": {"input.yaml": "code: 0\n"}, "b": {"input.yaml": "code: 1\n"}}
    for bound, decision in ((0.5, Decision.PASS), (0.4, Decision.FAIL)):
        execution = {"prompt": "do it", "max_failure_rate": bound}
        found = ran(tmp_path, 'exit "$1"', "{code}", cases=cases, execution=execution)
        assert found.gate.decision is decision


def test_an_agent_that_cannot_start_is_told_in_one_line_and_nothing_runs(tmp_path: Path) -> None:
    runner = {"type": "cli", "command": ["no-such-program-at-all"]}
    config = write_suite(tmp_path, cases={"case-1": INPUT}, runner=runner, execution={"prompt": "do it"})
    adjudge = Path(sys.executable).with_name("adjudge")
    command = [str(adjudge), "run", str(config), "--output", "run", "--quiet"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2, ended.stderr
    (line,) = [line for line in ended.stderr.splitlines() if "no-such-program-at-all" in line]
    assert line.startswith("eval.yaml: error: runner: the agent cli needs no-such-program-at-all")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "line", ["42", "null", "[1, 2]", '"x"', "{", '{"type": null}', '{"message": null}', "\\000\\377"]
)
def test_no_line_of_output_stops_a_run(tmp_path: Path, line: str) -> None:
    assistant = '{"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": "hello"}]}}'
    found = ran(tmp_path, 'printf "$1\\n"; printf \'%s\\n\' "$2"; printf "$1\\n"', line, assistant)
    assert state(found) is RunState.OK
    assert found.scores[0].value is True
    events = json.loads((tmp_path / "run/cases/case-1/events.json").read_text())
    assert [event["text"] for event in events if event["type"] == "assistant"] == ["hello"]


def test_events_of_a_run_are_what_its_judges_read(tmp_path: Path) -> None:
    lines = [
        {"type": "assistant", "message": {"id": "m", "content": [
            {"type": "text", "text": "I look"}, {"type": "tool_use", "id": "t", "name": "Read", "input": {"f": "a"}}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "text"}]}},
    ]  # fmt: skip
    code = "o = outputs; seen = (o['conversation'], [c['name'] for c in o['tool_calls']], len(o['events']))\n"
    code += "return seen == ('I look', ['Read'], 2), str(seen)"
    stream = "\n".join(json.dumps(line) for line in lines)
    found = ran(tmp_path, 'printf "%s\\n" "$1"', stream, judges=[check(code=code)])
    assert found.scores[0].value is True, found.scores[0].rationale


@pytest.mark.parametrize("name", ["stdout", "stderr", "metrics"])
def test_traces_can_be_kept_from_judges(tmp_path: Path, name: str) -> None:
    code = "o = outputs; return True, repr((o['stdout'].strip(), o['stderr'].strip(), o['exit_code']))"
    found = ran(tmp_path, "echo out; echo err >&2", judges=[check(code=code)], traces={name: False})
    expected = {"stdout": "out", "stderr": "err", "metrics": 0} | {name: None if name == "metrics" else ""}
    assert found.scores[0].rationale == repr(tuple(expected.values()))


def test_secrets_of_the_environment_reach_no_file_of_a_run(tmp_path: Path) -> None:
    secrets = {"ANTHROPIC_API_KEY": "sk-ant-0123456789", "DEPLOY_TOKEN": "deploy-0123456789"}
    script = 'for to in 1 2; do echo "{\\"a\\": \\"$ANTHROPIC_API_KEY $DEPLOY_TOKEN\\"}" >&$to; done; '
    script += 'echo "$DEPLOY_TOKEN $ANTHROPIC_API_KEY" >&2; exit 1'
    hooks = {"before_each": [{"command": 'echo "$DEPLOY_TOKEN"; echo "$ANTHROPIC_API_KEY" >&2'}]}
    ran(tmp_path, script, hooks=hooks, options={"environ": secrets})
    assert "[secret]" in (tmp_path / "run/cases/case-1/stdout.log").read_text()
    for path in (tmp_path / "run").rglob("*"):
        for secret in secrets.values() if path.is_file() else ():
            assert secret.encode() not in path.read_bytes(), path


def test_nothing_of_a_workspace_is_left_behind(tmp_path: Path) -> None:
    ran(tmp_path, "pwd > output/cwd; mkdir -m 000 locked")
    assert not Path(output(tmp_path, "cwd").strip()).exists()
