"""Requirements 15 to 21 of the article: the trace of an agent's work, and how little of it a judge is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.golden import SOLUTION, SOLVES, Ran, agent, git, patch_of, ran, scoring, write_suite

RAW = "what a tool said, word for word. " * 6_000
LONG = "I changed it. " * 600 + "And that was all."
LINES = [f"def step_{n}(value):\n    return value + {n}\n\n\n" for n in range(900)]
WELL = scoring(correctness=5, scope=4)


def claude(*turns: dict[str, Any]) -> str:
    """A session log of Claude Code: one turn a line."""
    return "".join(json.dumps({"sessionId": "s1", "type": turn["role"], "message": turn}) + "\n" for turn in turns)


def calls(name: str, **arguments: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": name, "input": arguments}]}


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


ANSWER = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": RAW}]}
CODEX = [
    {"type": "session_meta", "payload": {"id": "s2"}},
    {
        "type": "response_item",
        "payload": {"type": "function_call", "name": "shell", "call_id": "c", "arguments": '{"command": ["ls"]}'},
    },
    {
        "type": "response_item",
        "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Codex did."}]},
    },
]
ATIF = {
    "steps": [
        {"source": "agent", "message": "", "tool_calls": [{"function_name": "edit", "arguments": {"path": "app.py"}}]},
        {"source": "agent", "message": "ATIF did."},
    ]
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Four tasks that were done elsewhere, with the session of each."""
    folder = tmp_path_factory.mktemp("trace")
    root = write_suite(
        folder, {name: {"expected_files_touched": []} for name in ("claude", "codex", "atif", "long", "mixed")}
    )
    (root / "repo" / "steps.py").write_text("".join(LINES))
    git(root / "repo", "add", "-A")
    git(root / "repo", "commit", "-q", "-m", "Steps")
    work = folder / "work"
    work.mkdir()
    for name in ("claude", "codex", "atif"):
        (work / f"{name}.patch").write_text(patch_of(root / "repo", SOLUTION))
    every = "".join(line.replace("value +", "value - ") if n % 3 == 0 else line for n, line in enumerate(LINES))
    (work / "long.patch").write_text(patch_of(root / "repo", {"steps.py": every, **SOLUTION}))
    git(root / "repo", "mv", "app.py", "moved.py")
    (work / "mixed.patch").write_text(patch_of(root / "repo", {"test_app.py": None, "new/file.py": "x = 1\n"}))
    (work / "claude.jsonl").write_text(claude(calls("Read", file_path="app.py"), ANSWER, says("Claude did.")))
    (work / "long.jsonl").write_text(claude(calls("Bash", command="pytest -q"), ANSWER, says(LONG)))
    (work / "codex.jsonl").write_text("".join(json.dumps(line) + "\n" for line in CODEX))
    (work / "atif.json").write_text(json.dumps(ATIF))
    return ran(root, WELL, "--patch", work, "--trace", work)


def shown(run: Ran, task: str) -> str:
    """The message of the judge's request about a task."""
    mark = {"long": "steps.py", "claude": "Claude did.", "codex": "Codex did.", "atif": "ATIF did."}[task]
    (prompt,) = [request.prompt for request in run.requests if mark in request.prompt]
    return prompt


def section(prompt: str, heading: str) -> str:
    return prompt.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def test_req_15_a_trace_is_prompt_diff_tool_calls_and_last_words(run: Ran) -> None:
    kept = run.trace("claude")
    assert kept.prompt.startswith("load() raises KeyError")
    assert "+    return config.get('name', 'unnamed')" in kept.diff
    assert [(use.name, "app.py" in use.detail) for use in kept.tools] == [("Read", True)]
    assert kept.final_message == "Claude did."
    prompt = shown(run, "claude")
    for heading, text in (
        ("Task prompt", kept.prompt),
        ("Unified diff", kept.diff),
        ("Tool calls", "1. Read: app.py"),
        ("Agent's final message", "Claude did."),
    ):
        assert text in section(prompt, heading)


def test_req_16_every_touched_file_is_named(run: Ran) -> None:
    assert [(file.path, file.status, file.before) for file in run.trace("mixed").files] == [
        ("moved.py", "renamed", "app.py"),
        ("new/file.py", "added", ""),
        ("test_app.py", "deleted", ""),
    ]
    assert "changed app.py (+1 -1)\nchanged test_app.py (+4 -0)" in section(shown(run, "claude"), "Files touched")


@pytest.mark.parametrize(
    ("task", "kind", "tool"),
    [("claude", "Claude Code session", "Read"), ("codex", "Codex session", "shell"), ("atif", "ATIF", "edit")],
)
def test_req_17_sessions_that_were_held_elsewhere_are_read(run: Ran, task: str, kind: str, tool: str) -> None:
    kept = run.trace(task)
    assert kept.source == f"{task}.patch ({kind})"
    assert [use.name for use in kept.tools] == [tool]
    assert kept.final_message.endswith("did.")


def test_req_17_an_agent_of_ones_own_is_captured(tmp_path: Path) -> None:
    done = ran(write_suite(tmp_path, agent=agent(tmp_path, SOLVES)), WELL)
    kept = done.trace("fix-load")
    assert kept.final_message.strip() == "Made load() fall back to unnamed."
    assert kept.source == "cli"
    assert len(kept.files) == 2


def test_req_18_a_long_diff_is_cut_to_20000_characters_by_whole_hunks(run: Ran) -> None:
    whole = run.trace("long").diff
    assert len(whole) > 30_000
    part = section(shown(run, "long"), "Unified diff")
    assert 15_000 < len(part) < 20_500
    assert "return config.get('name', 'unnamed')" in part  # the small files beside the long one are whole
    hunks = [f"@@ -{text}" for text in part.partition("[...")[0].partition("b/steps.py\n")[2].split("@@ -")[1:]]
    assert len(hunks) > 50
    assert all(hunk in whole for hunk in hunks)


def test_req_19_long_last_words_are_cut_to_4000_characters(run: Ran) -> None:
    assert run.trace("long").final_message == LONG
    part = section(shown(run, "long"), "Agent's final message")
    assert 3_500 < len(part) < 4_300
    assert "I changed it." in part
    assert section(shown(run, "claude"), "Agent's final message").count("Claude did.") == 1


def test_req_20_no_tool_output_reaches_the_judge(run: Ran) -> None:
    events = (run.folder / "cases" / "claude" / "events.json").read_text()
    assert "word for word" in events  # it is kept for people
    assert len(run.requests) == 4  # and none about the task whose test was deleted
    for request in run.requests:
        assert "word for word" not in str(request.body)
        assert len(request.raw) < 40_000


def test_req_20_the_caps_are_settings(tmp_path: Path) -> None:
    caps = {"diff": 300, "final_message": 20, "tool_calls": 0}
    done = ran(write_suite(tmp_path, shown=caps, agent=agent(tmp_path, SOLVES)), WELL)
    (request,) = done.requests
    assert "def test_unnamed" not in request.prompt
    assert "fall back to unnamed" not in request.prompt


def test_req_21_what_is_cut_says_so_where_it_stands_and_while_it_runs(run: Ran) -> None:
    prompt = shown(run, "long")
    assert " hunks, " in section(prompt, "Unified diff").partition("[...")[2]
    assert "[..." in section(prompt, "Agent's final message")
    told = [line for line in run.done.stderr.splitlines() if "left out" in line]
    assert [line.partition(": ")[0] for line in told] == ["long", "long"]
    assert "the diff of steps.py: " in told[0]
    assert "the final message: " in told[1]
    notes = run.score("long", "rubric", "scope").notes
    assert all(any(line.partition(": ")[2] == note for note in notes) for line in told)
