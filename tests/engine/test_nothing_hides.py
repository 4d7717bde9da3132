"""Ways in which a result could be better, or older, than what was judged."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import msgspec
import pytest

import adjudge
from adjudge.domain import Case, CodeJudge, ConfigError, Numeric, Status, Suite
from adjudge.models import RetryPolicy
from tests.support.llm import judged, llm_judge
from tests.support.provider import LoopbackProvider
from tests.support.replies import HttpError, Reply, Text, Usage, Verdict
from tests.support.request import Request
from tests.support.suites import check, run_suite, write_suite

PASSES = Verdict({"rationale": "fine", "passed": True}, usage=Usage(input=1000, output=100))
NO_SECRET = check("no_secret", "return not any('password' in str(t) for t in outputs['files'].values()), 'looked'")


def test_a_file_too_large_to_read_does_not_hide_the_others(tmp_path: Path) -> None:
    config = write_suite(tmp_path, [NO_SECRET], cases={"a": {"output/z.md": "password"}})
    for k in range(9):
        with (tmp_path / "cases" / "a" / "output" / f"{k}.txt").open("wb") as file:
            file.truncate(9 * 1024 * 1024)
    result = adjudge.run(config)
    assert result.summary("no_secret").unscored_kinds == {"input": 1}


@pytest.mark.parametrize("events", ['[{"type": "assistant"', "5", "[" * 5000])
def test_a_broken_trajectory_is_no_empty_one(tmp_path: Path, events: str) -> None:
    cases = {"a": {"output/a.md": "", "events.json": events}}
    result = run_suite(tmp_path, [check("no_rm", "return 'rm' not in outputs['tool_trace'], 'ok'")], cases=cases)
    assert result.summary("no_rm").unscored_kinds == {"input": 1}


def test_a_case_without_a_folder_in_the_workspace_is_unscored(tmp_path: Path) -> None:
    config = write_suite(tmp_path, [NO_SECRET], cases={"a": {}, "b": {}})
    (tmp_path / "made" / "a" / "output").mkdir(parents=True)
    result = adjudge.run(config, workspace=tmp_path / "made")
    assert result.score("a", "no_secret").value is True
    assert result.summary("no_secret").unscored_kinds == {"input": 1}


def test_a_file_name_that_is_no_text_does_not_make_a_case_unjudgeable(tmp_path: Path) -> None:
    config = write_suite(tmp_path, [NO_SECRET], cases={"a": {"output/a.md": "password"}})
    odd = os.fsencode(tmp_path / "cases" / "a" / "output") + b"/\xff.txt"
    Path(os.fsdecode(odd)).write_text("x")
    assert adjudge.run(config).score("a", "no_secret").value is False


def test_verdicts_of_older_outputs_do_not_count_once_a_new_run_has_begun(tmp_path: Path) -> None:
    config = write_suite(tmp_path, [NO_SECRET], cases={"a": {"output/a.md": "clean"}, "b": {"output/a.md": "clean"}})
    adjudge.run(config, output="run")
    with sqlite3.connect("run/journal.db") as journal:  # a session that was killed before its first verdict
        journal.execute("UPDATE verdicts SET plan = ''")
        journal.execute("DELETE FROM meta WHERE key = 'finished'")
    assert adjudge.read("run").summary("no_secret").unscored_kinds == {"interrupted": 2}
    assert adjudge.run(config, output="run").decision == "pass"


def test_an_edited_function_judges_anew_although_the_suite_names_no_code_path(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    values = []
    for value in (0.1, 0.2):
        file.write_text(f"def judge(outputs):\n    return {value}, 'said'\n")
        judge = CodeJudge(name="j", module=str(file), function="judge")
        result = adjudge.run(Suite(name="s", cases=[Case(id="a")], judges=(judge,)), output="run")
        values.append(result.score("a", "j").value)
    assert values == [0.1, 0.2]


def test_a_module_that_a_check_imports_on_the_way_is_part_of_its_key(tmp_path: Path) -> None:
    config = write_suite(tmp_path, [check("c", "import helper_of_check\nreturn helper_of_check.VALUE, 'said'")])
    values = []
    for value in (1, 1, 2):
        (tmp_path / "helper_of_check.py").write_text(f"VALUE = {value}\n" + "#" * value)
        values.append(adjudge.run(config, output="run").score("case-1", "c").value)
    assert values == [1, 1, 2]


def test_a_binary_output_that_changed_is_judged_anew(tmp_path: Path) -> None:
    code = "return open(outputs['files']['output/b.bin']['path'], 'rb').read()[-1], 'last byte'"
    config = write_suite(tmp_path, [check("c", code)])
    values = []
    for last in (b"\x01", b"\x02"):
        (tmp_path / "cases" / "case-1" / "output" / "b.bin").write_bytes(b"\0\0" + last)
        values.append(adjudge.run(config, output="run").score("case-1", "c").value)
    assert values == [1, 2]


@pytest.mark.parametrize("number", [1e20, 10**30, -(10**20)], ids=str)
def test_a_number_that_no_journal_holds_is_one_unscored_verdict(number: float) -> None:
    loose = Numeric(1, 5, integer=True, enforced=False)
    with LoopbackProvider(lambda _: Verdict({"rationale": "x", "score": number})) as provider:
        result = judged(provider, judges=[llm_judge(scale=loose)])
        assert result.score("case-0000", "good").status in (Status.SCORED, Status.UNSCORED)
        assert len(provider.requests) in (1, llm_judge().attempts)


def test_what_cannot_be_handed_to_a_worker_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be handed to a judge"):
        run_suite(tmp_path, [check("c", "return True", arguments={"n": 10**40})])
    with pytest.raises(ConfigError, match="plain data"):
        adjudge.run(Suite(name="s", cases=[Case(id="a", inputs={"n": 10**40})], judges=()))


@pytest.mark.parametrize("date", ["Thu, 01 Jan 99999999999 00:00:00 GMT", "Thu, 01 Jan 2099 00:00:00 +99999999999999"])
def test_a_date_to_wait_for_that_is_none_does_not_end_the_run(date: str) -> None:
    with LoopbackProvider([HttpError(429, retry_after=date), PASSES]) as provider:
        assert judged(provider).decision == "pass"


def test_one_refused_case_does_not_silence_the_endpoint() -> None:
    """Some gateways answer 403 to what they think is harmful: that is about one case."""

    def reply(request: Request) -> Reply:
        return HttpError(403, message="flagged") if request.index == 0 else PASSES

    with LoopbackProvider(reply) as provider:
        result = judged(provider, count=4, max_concurrency=1)
    assert (result.summary("good").n, result.summary("good").unscored) == (3, 1)


def test_a_damaged_cache_is_told_of_and_not_used(tmp_path: Path) -> None:
    with LoopbackProvider(lambda _: PASSES) as provider:
        judged(provider, output="one")
        with sqlite3.connect(".adjudge/cache.db") as cache:
            cache.execute("UPDATE calls SET reply = 'not JSON'")
        assert judged(provider, output="two").decision == "pass"
        assert len(provider.requests) == 2


def test_a_budget_is_not_overrun_by_a_first_burst_of_dear_calls() -> None:
    dear = Verdict(PASSES.data, usage=Usage(input=1000, output=20_000))
    each = 1000 * 2e-6 + 20_000 * 10e-6
    with LoopbackProvider(lambda _: dear, latency=0.02) as provider:
        result = judged(provider, count=30, budget_usd=each * 4.5, max_concurrency=16)
        assert len(provider.requests) <= 4
    assert result.usage.cost_usd is not None
    assert result.usage.cost_usd <= each * 4.5


def test_what_was_paid_counts_although_it_was_asked_anew() -> None:
    with LoopbackProvider(lambda _: PASSES) as provider:
        for _ in range(3):
            judged(provider, count=2, output="run", fresh=True, budget_usd=0.0095)
        assert len(provider.requests) == 3


@pytest.mark.parametrize("key", ["sk-secret-1234567890\n", " sk-secret-1234567890\r\n"])
def test_a_key_from_a_file_works_and_is_written_nowhere(tmp_path: Path, key: str) -> None:
    def reply(request: Request) -> Reply:
        assert request.headers["authorization"] == "Bearer sk-secret-1234567890"
        return Text("your key is sk-secret-1234567890" + "x" * 50)

    with LoopbackProvider(reply) as provider:
        judged(provider, env={"ANTHROPIC_API_KEY": key}, output="run", retry=RetryPolicy(attempts=1))
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if b"sk-secret" in path.read_bytes()]


def test_json_inputs_are_read_as_json(tmp_path: Path) -> None:
    config = write_suite(tmp_path, [check("c", "return outputs['input']['ask'] == '\\U0001F600', 'ok'")])
    (tmp_path / "cases" / "case-1" / "input.yaml").unlink()
    (tmp_path / "cases" / "case-1" / "input.json").write_text('{"ask": "\\ud83d\\ude00"}')
    assert adjudge.run(config).score("case-1", "c").value is True


def test_a_run_directory_belongs_to_one_suite(tmp_path: Path) -> None:
    adjudge.run(Suite(name="one", cases=[Case(id="a")], judges=()), output="run")
    with pytest.raises(adjudge.StoreError, match="belongs to the suite 'one'"):
        adjudge.run(Suite(name="two", cases=[Case(id="a")], judges=()), output="run")
    assert msgspec.json.decode(Path("run/result.json").read_bytes())["suite"] == "one"


def test_a_prompt_with_nothing_to_show_is_not_asked() -> None:
    with LoopbackProvider(lambda _: PASSES) as provider:
        empty = judged(provider, judges=[llm_judge(prompt="Good? {{ conversation }}")])
        assert provider.requests == []
    assert empty.summary("good").unscored_kinds == {"input": 1}
