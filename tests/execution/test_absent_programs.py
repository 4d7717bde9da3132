"""Which programs of an execution are known not to be there before anything runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.domain import ConfigError, RunState
from tests.support.configs import judged, write_suite

HERE = {"PATH": os.environ["PATH"]}


def config(folder: Path, command: object, **sections: Any) -> Path:
    runner = command if isinstance(command, dict) else {"type": "cli", "command": command}
    return write_suite(folder, **{"runner": runner, "execution": {"prompt": "do it"}, **sections})


def refused(suite: Path, **options: Any) -> list[str]:
    with pytest.raises(ConfigError) as error:
        judged(suite, **options)
    assert not Path("run").exists()
    return [str(problem) for problem in error.value.problems]


def states(suite: Path, **options: Any) -> set[RunState]:
    result = judged(suite, **options)
    assert result.execution is not None
    return {run.state for run in result.execution.cases}


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\necho 1 > output/x\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini", "opencode"])
def test_an_agent_that_is_not_installed_is_told_with_how_to_get_it(tmp_path: Path, name: str) -> None:
    (line,) = refused(config(tmp_path, {"type": name}), environ={"PATH": "/nowhere"})
    assert line.startswith(f"eval.yaml: error: runner: the agent {name} needs ")
    assert "which is not on the PATH (npm i" in line


def test_a_path_is_looked_at_and_one_that_is_no_program_is_none(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    for name in ("absent", "text"):
        (line,) = refused(config(tmp_path, ["{config_dir}/" + name, "x"]))
        assert f"needs {tmp_path}/{name}, which is not there, or no program" in line
    program(tmp_path / "good")
    assert states(config(tmp_path, ["{config_dir}/good"])) == {RunState.OK}


@pytest.mark.parametrize("word", ["./absent", "bin/absent", "{request}", "{workspace}/absent", "/opt/{request}/x"])
def test_what_only_the_workspace_or_a_case_decides_is_found_when_it_is_started(tmp_path: Path, word: str) -> None:
    assert states(config(tmp_path, [word])) == {RunState.ERROR}


def test_every_step_has_to_have_its_program_and_each_is_told_once(tmp_path: Path) -> None:
    def step(name: str, program: str) -> dict[str, Any]:
        return {"id": name, "prompt": "x", "runner": {"type": "cli", "command": [program]}}

    steps = [step("a", "no-such-a"), step("b", "true"), step("c", "no-such-c"), step("d", "no-such-c")]
    found = refused(config(tmp_path, {"type": "codex"}, execution={"steps": steps}), environ={"PATH": HERE["PATH"]})
    assert [line.split(": ")[2] for line in found] == ["execution.steps[0].runner", "execution.steps[2].runner"]


def test_the_path_is_that_of_the_run(tmp_path: Path) -> None:
    program(tmp_path / "own/agent-of-ours")
    path = {"PATH": f"{tmp_path}/own:$PATH"}
    assert refused(config(tmp_path, ["agent-of-ours"]))
    assert states(config(tmp_path, ["agent-of-ours"], execution={"prompt": "x", "env": path})) == {RunState.OK}
    runner = {"type": "cli", "command": ["agent-of-ours"], "env": path}
    assert states(config(tmp_path, runner), output="run-2") == {RunState.OK}
    elsewhere = {"prompt": "x", "env": {"PATH": "/nowhere"}}
    Path("run").rename("old")
    assert refused(config(tmp_path, ["sh", "-c", "true"], execution=elsewhere))


def test_a_hook_may_make_the_authors_own_program(tmp_path: Path) -> None:
    made = program(tmp_path / "made-before").rename(tmp_path / "source")
    hooks = {"before_all": [{"command": f"cp -p {made} {tmp_path}/agent"}]}
    assert states(config(tmp_path, ["{config_dir}/agent"], hooks=hooks)) == {RunState.OK}
    (tmp_path / "agent").unlink()
    plan = adjudge.load(config(tmp_path, ["{config_dir}/agent"], hooks={"after_all": [{"command": "true"}]}))
    with pytest.raises(ConfigError, match="not there"):
        judged(plan, output="other")


def test_a_run_may_go_on_with_what_can_run(tmp_path: Path) -> None:
    assert states(config(tmp_path, ["no-such-program"]), keep_going=True) == {RunState.ERROR}
