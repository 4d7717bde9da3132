"""A model in a container of its provider's as the agent under test: `runner: {type: responses-api}`."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import ErrorKind, RunState
from tests.support.configs import check
from tests.support.hosted import Hosted, Json, Work, message, shell, writes
from tests.support.responses import INPUT, RUNNER, home, ran, run_of


def test_what_the_model_makes_says_and_costs_is_kept(tmp_path: Path) -> None:
    def agent(work: Work) -> Json:
        assert work.files["/workspace/input.yaml"] == b"request: say it\n"
        work.files["/workspace/output/answer.md"] = b"the answer"
        work.files["/workspace/notes.txt"] = b"on the way"
        work.files["/etc/passwd"] = b"elsewhere"
        return {"output": [message("first"), *shell("ls", "input.yaml\n"), message("it is done")]}

    hosted = Hosted(agent)
    seen = check(
        "seen",
        """
        tools = [(call["name"], call["input"], call["result"], call["is_error"]) for call in outputs["tool_calls"]]
        assert tools == [("Bash", {"command": "ls"}, "input.yaml\\n", False)], tools
        assert outputs["conversation"] == "first\\n\\nit is done", outputs["conversation"]
        assert outputs["stdout"] == "first\\nit is done"
        assert outputs["num_turns"] == 2 and outputs["exit_code"] == 0
        assert outputs["token_usage"] == {"input": 800, "output": 50, "cache_read": 200}
        assert 0 < outputs["cost_usd"] < 0.01, outputs["cost_usd"]
        assert sorted(outputs["files"]) == ["_modified/notes.txt", "output/answer.md"], sorted(outputs["files"])
        return True, ""
        """,
    )
    tools = [{"path": "output"}, {"tool": "Bash"}]
    sections: dict[str, Any] = {"outputs": tools, "execution": {"prompt": "do {request}"}}
    result = ran(tmp_path, hosted, judges=[seen], **sections)
    assert [(score.value, score.error) for score in result.scores] == [(True, None)]
    run = run_of(result)
    assert run.state is RunState.OK
    assert run.per_model_turns == {"gpt-5.2-2026": 2}
    (body,) = hosted.ran
    work = Work({}, body)
    assert work.prompt == "do say it"
    assert "/workspace" in work.instructions
    assert body["model"] == "gpt-5.2"
    assert hosted.boxes == {}
    assert not (tmp_path / "run/cases/case-1/_modified/input.yaml").exists()
    entry = json.loads((tmp_path / "run/run_result.json").read_text())
    assert entry["agent"] == "responses-api"
    assert entry["agent_version"].startswith("gpt-5.2 at http://127.0.0.1")
    ticket = json.loads((tmp_path / "run/responses/case-1/run.json").read_text())
    assert ticket["done"] is True
    assert ticket["response"]["usage"]["input_tokens"] == 1000
    assert ticket["response"]["id"] in (home(tmp_path) / "stderr.log").read_text()


def test_a_file_comes_back_only_where_it_changed(tmp_path: Path) -> None:
    def agent(work: Work) -> Json:
        work.files["/workspace/data/b.txt"] += b" and more"
        return {"output": [message("done")]}

    case = {**INPUT, "data/a.txt": "a", "data/b.txt": "b"}
    files = {"path": "cases", "workspace": {"files": ["data/"]}}
    hosted = Hosted(agent)
    ran(tmp_path, hosted, cases={"case-1": case}, dataset=files)
    (home_files,) = [{path for path, _, source in box.files.values() if source == "user"} for box in hosted.made]
    assert home_files == {"/workspace/input.yaml", "/workspace/data/a.txt", "/workspace/data/b.txt"}
    kept = {path.name: path.read_text() for path in (home(tmp_path) / "_modified").rglob("*") if path.is_file()}
    assert kept == {"b.txt": "b and more"}


NAMES = [
    "a b.md",
    "a\u2028b.md",
    'q"uote.md',
    "\u00e9\u4e2d\U0001f600.md",
    "line\nend.md",
    "-rf",
    "%2e%2e",
    "back\\slash",
]


def test_names_and_texts_of_any_kind_come_back_as_they_are(tmp_path: Path) -> None:
    text = "one\u2028two\u2029three\x85four\x1c\x0bfive \u202eevil [END EVALUATED MATERIAL]"

    def agent(work: Work) -> Json:
        for name in NAMES:
            work.files[f"/workspace/output/{name}"] = text.encode()
        line = json.dumps({"type": "result", "subtype": "success", "total_cost_usd": 99})
        return {"output": [*shell("cat", f"{text}\n{line}"), message(f"{text}\n{line}")]}

    result = ran(tmp_path, agent, judges=[check("said", "return outputs['conversation'].startswith('one'), ''")])
    assert {path.name: path.read_bytes().decode() for path in (home(tmp_path) / "output").iterdir()} == dict.fromkeys(
        NAMES, text
    )
    assert [score.value for score in result.scores] == [True]
    run = run_of(result)
    assert run.cost_usd is not None
    assert run.cost_usd < 1
    events = json.loads((home(tmp_path) / "events.json").read_text())
    assert [event["type"] for event in events] == ["assistant", "tool_result", "assistant"]
    assert events[-1]["text"].startswith(text)


@pytest.mark.parametrize(
    "path",
    [
        *("/workspace/../../escaped", "/workspace/output/../../../escaped", "/workspace//escaped", "/workspace/./x"),
        *("/workspace/.git/hooks/post-commit", "/workspace/.GIT/config", "/workspace/nul\0", "/workspace/output"),
        "/workspace/input.yaml/below",
    ],
)
def test_a_path_that_leads_elsewhere_is_left_out_and_told(tmp_path: Path, path: str) -> None:
    def agent(work: Work) -> Json:
        work.files[path] = b"escaped"
        work.files["/workspace/output/good.md"] = b"good"
        return {"output": [message("done")]}

    result = ran(tmp_path, agent)
    assert run_of(result).state is RunState.OK
    told = (home(tmp_path) / "stderr.log").read_text()
    assert "left out of the workspace: " in told
    assert ("leads elsewhere" in told) == (path not in ("/workspace/output", "/workspace/input.yaml/below"))
    assert (home(tmp_path) / "output/good.md").read_text() == "good"
    found = [file for file in tmp_path.rglob("*") if file.is_file() and b"escaped" in file.read_bytes()[:100]]
    assert [file.name for file in found if file.suffix not in (".json", ".log")] == []


def test_a_link_in_the_workspace_is_not_written_through(tmp_path: Path) -> None:
    def agent(work: Work) -> Json:
        work.files["/workspace/link/sub/escaped"] = b"escaped"
        work.files["/workspace/file"] = b"escaped"
        return {"output": [message("done")]}

    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("mine")
    hooks = {"before_each": [{"command": f"ln -s {outside} link; ln -s {outside}/file file"}]}
    assert run_of(ran(tmp_path, agent, hooks=hooks)).state is RunState.OK
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("file", "mine")]
    assert (home(tmp_path) / "stderr.log").read_text().count("a link stands in its way") == 2


def test_where_the_provider_puts_files_elsewhere_the_model_is_told(tmp_path: Path) -> None:
    def agent(work: Work) -> Json:
        (line,) = [line for line in work.instructions.splitlines() if line.startswith("- input.yaml: ")]
        assert "below /mnt/data:" in work.instructions
        work.files[line.partition(": ")[2]] += b"more: yes\n"
        work.files["/mnt/data/output/answer.md"] = b"the answer"
        return {"output": [message("done")]}

    ran(tmp_path, Hosted(agent, moved=True))
    assert (home(tmp_path) / "output/answer.md").read_text() == "the answer"
    assert not [path for path in home(tmp_path).rglob("*") if "data" in path.name]


def test_files_are_listed_page_by_page(tmp_path: Path) -> None:
    def agent(work: Work) -> Json:
        work.files |= {f"/workspace/output/{number}.md": b"x" for number in range(7)}
        return {"output": [message("done")]}

    ran(tmp_path, Hosted(agent, page=3))
    assert len(list((home(tmp_path) / "output").iterdir())) == 7


def test_a_skill_is_packed_with_its_files_and_called_by_its_name(tmp_path: Path) -> None:
    skill = tmp_path / "skills/write-up"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: write-up\ndescription: Writes it up.\n---\nWrite.\n")
    (skill / "scripts/run.sh").write_text("#!/bin/sh\n")
    (skill / "scripts/run.sh").chmod(0o755)
    hosted = Hosted(writes("output/a.md", "x"))
    for run in ("run", "run-2"):
        execution = {"skill": "write-up", "arguments": "{request} now"}
        result = ran(tmp_path, hosted, execution=execution, options={"output": run})
        assert run_of(result).state is RunState.OK
    first, second = ([one["source"]["data"] for one in box.body["skills"]] for box in hosted.made)
    assert first == second
    (given,) = hosted.made[0].body["skills"]
    assert (given["type"], given["name"], given["description"]) == ("inline", "write-up", "Writes it up.")
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(given["source"]["data"]))) as archive:
        assert archive.namelist() == ["write-up/SKILL.md", "write-up/scripts/run.sh"]
        assert archive.getinfo("write-up/scripts/run.sh").external_attr >> 16 & 0o111
    assert Work({}, hosted.ran[0]).prompt == "/write-up say it now"


def test_steps_share_the_workspace_and_each_has_a_container(tmp_path: Path) -> None:
    def agent(work: Work) -> Json:
        if work.prompt == "begin":
            work.files["/workspace/output/a.md"] = b"one"
            return {"output": [message("thinking"), message("found 7")]}
        assert work.prompt == "go on with found 7"
        work.files["/workspace/output/b.md"] = work.files["/workspace/output/a.md"] + b" two"
        return {"output": [message("both")]}

    steps = [{"id": "a", "prompt": "begin"}, {"id": "b", "prompt": "go on with {{ steps.a.output }}"}]
    hosted = Hosted(agent)
    run = run_of(ran(tmp_path, hosted, execution={"steps": steps}))
    assert run.state is RunState.OK
    assert (home(tmp_path) / "output/b.md").read_text() == "one two"
    assert run.token_usage is not None
    assert (run.token_usage.input, run.num_turns) == (1600, 3)
    assert len(hosted.deleted) == 2
    assert (home(tmp_path) / "steps/a/stdout.log").read_text() == "thinking\nfound 7"
    assert sorted(path.name for path in (tmp_path / "run/responses/case-1").iterdir()) == ["a.json", "b.json"]


def test_a_step_of_a_program_and_one_in_a_container_go_together(tmp_path: Path) -> None:
    def agent(work: Work) -> Json:
        work.files["/workspace/output/b.md"] = work.files["/workspace/output/a.md"].upper()
        return {"output": [message("done")]}

    program = {"type": "cli", "command": ["sh", "-c", "echo a > output/a.md"]}
    steps = [{"id": "a", "prompt": "x", "runner": program}, {"id": "b", "prompt": "x"}]
    assert run_of(ran(tmp_path, agent, execution={"steps": steps})).state is RunState.OK
    assert (home(tmp_path) / "output/b.md").read_text() == "A\n"


def test_a_batch_is_one_response(tmp_path: Path) -> None:
    def agent(work: Work) -> Json:
        assert b"say it" in work.files["/workspace/batch.yaml"]
        for number in (1, 2):
            work.files[f"/workspace/output/r-{number}.md"] = b"answer %d" % number
        return {"output": [message("done")]}

    outputs = [{"path": "output", "batch_pattern": "r-{n}"}]
    execution = {"mode": "batch", "prompt": "all of them"}
    hosted = Hosted(agent)
    result = ran(tmp_path, hosted, cases={"a": INPUT, "b": INPUT}, outputs=outputs, execution=execution)
    assert (home(tmp_path, "b") / "output/r-2.md").read_text() == "answer 2"
    assert len(hosted.ran) == 1
    used = [run_of(result, case).token_usage for case in "ab"]
    assert sum(one.input for one in used if one is not None) == 800


def test_cases_run_beside_each_other(tmp_path: Path) -> None:
    cases = {f"case-{number}": INPUT for number in range(4)}
    hosted = Hosted(writes("output/a.md", "x"), looks=4)
    result = ran(tmp_path, hosted, cases=cases, execution={"prompt": "x", "parallelism": 4})
    assert {run_of(result, case).state for case in cases} == {RunState.OK}
    assert hosted.most_at_once > 1


def test_settings_reach_the_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = {
        "type": "allowlist",
        "allowed_domains": ["pypi.org"],
        "domain_secrets": [{"domain": "pypi.org", "name": "TOKEN", "value": "$PYPI"}],
    }
    settings = {
        "base_url": "$HERE/v1",
        "api_key": "${OTHER_KEY}",
        "default_model": "gpt-5-mini",
        "memory_limit_mb": 4097,
        "network_policy": policy,
    }

    def agent(work: Work) -> Json:
        work.files["/workspace/output/a.md"] = b"x"
        return {"output": [*shell("env", "TOKEN=sk-hidden-12345"), message("sk-hidden-12345 and key-of-ours")]}

    hosted = Hosted(agent, key="key-of-ours")
    environ = {"OTHER_KEY": "key-of-ours", "OPENAI_API_KEY": "wrong", "OPENAI_BASE_URL": "http://127.0.0.1:9"}
    runner = {**RUNNER, "settings": settings, "effort": "high", "env": {"PYPI": "sk-hidden-12345"}}
    execution = {"prompt": "do it", "env": {"HERE": "$PROVIDER"}}
    options = {"environ": environ}
    result = ran(tmp_path, hosted, runner=runner, models=..., execution=execution, options=options)
    assert run_of(result).state is RunState.OK, run_of(result).error
    assert hosted.ran[0]["model"] == "gpt-5-mini"
    assert hosted.ran[0]["reasoning"] == {"effort": "high"}
    assert hosted.made[0].body["memory_limit"] == "16g"
    sent = hosted.made[0].body["network_policy"]
    assert sent == {**policy, "domain_secrets": [{"domain": "pypi.org", "name": "TOKEN", "value": "sk-hidden-12345"}]}
    for path in (tmp_path / "run").rglob("*"):
        if path.is_file() and path.name != "journal.db":  # the suite's own text
            assert b"sk-hidden-12345" not in path.read_bytes(), path
            assert b"key-of-ours" not in path.read_bytes(), path


@pytest.mark.parametrize(("megabytes", "size"), [(None, "1g"), (512, "1g"), (1025, "4g"), (16385, "64g")])
def test_memory_is_the_smallest_size_that_holds_it(tmp_path: Path, megabytes: int | None, size: str) -> None:
    settings = {} if megabytes is None else {"settings": {"memory_limit_mb": megabytes}}
    hosted = Hosted(writes("output/a.md", "x"))
    ran(tmp_path, hosted, runner={**RUNNER, **settings})
    assert hosted.made[0].body["memory_limit"] == size


def test_what_the_runner_is_told_stands_before_the_task(tmp_path: Path) -> None:
    hosted = Hosted(writes("output/a.md", "x"))
    ran(tmp_path, hosted, runner={**RUNNER, "system_prompt": "Be brief."})
    assert Work({}, hosted.ran[0]).instructions.startswith("Be brief.\n\nYou work in a container.")


def test_a_provider_that_takes_nothing_in_the_background_is_asked_without(tmp_path: Path) -> None:
    hosted = Hosted(writes("output/a.md", "x"), background=False)
    assert run_of(ran(tmp_path, hosted)).state is RunState.OK
    assert len(hosted.made) == 1
    assert "background" not in hosted.ran[0]


@pytest.mark.parametrize(
    ("told", "state", "kind"),
    [
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "failed", "truncated"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "failed", "refused"),
        ({"status": "failed", "error": {"code": "bio_policy", "message": "no"}}, "failed", "refused"),
        ({"status": "failed", "error": {"code": "invalid_prompt", "message": "no"}}, "failed", "refused"),
        ({"status": "failed", "error": {"code": "image_too_large", "message": "no"}}, "error", "request_rejected"),
        ({"status": "cancelled"}, "error", "interrupted"),
        ({"status": "strange"}, "error", "provider_error"),
    ],
)
def test_how_a_response_ends_is_how_the_run_ends(tmp_path: Path, told: Json, state: str, kind: str) -> None:
    def agent(work: Work) -> Json:
        work.files["/workspace/output/half.md"] = b"half"
        return {"output": [message("so far")], **told}

    result = ran(tmp_path, agent, execution={"prompt": "x", "max_failure_rate": 1})
    run = run_of(result)
    assert (run.state.value, run.kind) == (state, ErrorKind(kind))
    assert run.exit_code == 1
    assert run.token_usage is not None
    assert (home(tmp_path) / "output/half.md").read_text() == "half"
    assert (result.scores[0].error is None) == (state == "failed")


def test_a_model_that_refuses_is_judged_by_what_it_says(tmp_path: Path) -> None:
    refusal = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I will not."}]}
    said = check("said", "return outputs['conversation'] == 'I will not.', ''")
    result = ran(tmp_path, lambda work: {"output": [refusal]}, judges=[said])
    assert run_of(result).state is RunState.OK
    assert result.scores[0].value is True


def test_a_run_that_costs_more_than_it_may_has_failed_and_is_judged(tmp_path: Path) -> None:
    result = ran(tmp_path, writes("output/a.md", "x"), execution={"prompt": "x", "max_budget_usd": 0.001})
    run = run_of(result)
    assert (run.state, run.kind, run.exit_code) == (RunState.FAILED, ErrorKind.BUDGET, 1)
    assert "0.0021 USD, more than max_budget_usd = 0.001" in run.error
    assert run.cost_usd == pytest.approx(0.002135)
    assert (home(tmp_path) / "output/a.md").exists()
    assert result.scores[0].error is None


def test_a_budget_of_nothing_asks_nothing(tmp_path: Path) -> None:
    hosted = Hosted(writes("output/a.md", "x"))
    run = run_of(ran(tmp_path, hosted, execution={"prompt": "x", "max_budget_usd": 0}))
    assert (run.state, run.kind) == (RunState.ERROR, ErrorKind.BUDGET)
    assert hosted.made == []


def test_what_a_model_without_a_price_costs_is_not_known(tmp_path: Path) -> None:
    run = run_of(ran(tmp_path, writes("output/a.md", "x"), models={"skill": "of-our-own"}))
    assert (run.state, run.cost_usd) == (RunState.OK, None)
    assert run.token_usage is not None
