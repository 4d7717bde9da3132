"""consulted_docs: what counts as reading a file, and which paths are the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.judges.builtin.trajectories import Event, call, result, sub, verdict


def consulted(expected: Any, *events: Event, **arguments: Any) -> bool:
    return verdict("consulted_docs", list(events), {"expected_files": expected}, **arguments)


@pytest.mark.parametrize("annotations", [{}, {"expected_files": None}, {"expected_files": []}])
@pytest.mark.parametrize("events", [[], [call("Read", file_path="a.md")]], ids=["no trajectory", "trajectory"])
def test_where_no_files_are_expected_there_is_nothing_to_verify(
    annotations: dict[str, Any], events: list[Event]
) -> None:
    assert verdict("consulted_docs", events, annotations)


@pytest.mark.parametrize(
    ("expected", "read", "match", "same"),
    [
        ("report.md", "report.md", "suffix", True),
        ("docs/report.md", "/ws/docs/report.md", "suffix", True),
        ("/ws/docs/report.md", "docs/report.md", "suffix", True),
        ("docs/report.md", "report.md", "suffix", True),
        ("./docs/report.md", "docs\\report.md", "suffix", True),
        ("report.md", "final-report.md", "suffix", False),
        ("final-report.md", "report.md", "suffix", False),
        ("docs/report.md", "docs", "suffix", False),
        ("docs/report.md", "other/report.md", "suffix", False),
        ("Report.md", "report.md", "suffix", False),
        ("docs/report.md", "other/report.md", "basename", True),
        ("report.md", "final-report.md", "basename", False),
        ("docs/report.md", "/ws/docs/report.md", "exact", False),
        ("docs/report.md", "./docs/report.md", "exact", True),
    ],
)
def test_paths_match_at_the_borders_of_components(expected: str, read: str, match: str, same: bool) -> None:
    assert consulted([expected], call("Read", file_path=read), match=match) is same


@pytest.mark.parametrize(
    ("event", "counts"),
    [
        (call("Read", file_path="a.md"), True),
        (call("Read", path="a.md"), True),
        (call("NotebookRead", notebook_path="a.md"), True),
        (call("read_file", path="a.md"), True),
        (call("Grep", pattern="x", path="a.md"), True),
        (call("Grep", pattern="a.md"), False),
        (call("Grep", pattern="x", path="."), False),
        (call("Grep", pattern="x", path="./"), False),
        (call("Glob", pattern="a.md"), False),
        (call("Glob", path="a.md"), False),
        (call("Write", file_path="a.md"), False),
        (call("ReadNotebook", file_path="a.md"), False),
        (call("Bash", command="cat a.md", read_paths=["b.md", "a.md"]), True),
        (call("Bash", command="cat a.md"), False),
        (call("Bash", command="cat a.md", read_paths="a.md"), False),
    ],
)
def test_what_counts_as_reading(event: Event, counts: bool) -> None:
    assert consulted(["a.md"], event) is counts


def test_a_call_that_failed_reads_nothing() -> None:
    read = call("Read", "t1", file_path="a.md")
    assert not consulted(["a.md"], read, result("t1", "no such file", is_error=True))
    assert consulted(["a.md"], read, result("t1", "text", is_error=False))


def test_searches_and_subagents_can_be_left_out() -> None:
    assert not consulted(["a.md"], call("Grep", path="a.md"), include_grep=False)
    assert consulted(["a.md"], sub(call("Read", file_path="a.md")))
    assert not consulted(["a.md"], sub(call("Read", file_path="a.md")), include_subagents=False)


def test_preloaded_files_count_as_read() -> None:
    assert consulted(["a.md"], call("Bash", command="ls"), preloaded_files=["a.md"])
    assert consulted(["a.md"], preloaded_files=["a.md"])


@pytest.mark.parametrize(("coverage", "passes"), [(0.5, True), (0.6, False), (0.0, True), (1.0, False)])
def test_the_share_that_was_read_must_reach_the_coverage(coverage: float, passes: bool) -> None:
    assert consulted(["a.md", "b.md"], call("Read", file_path="a.md"), min_coverage=coverage) is passes


def test_four_of_five_are_the_default_and_a_file_counts_once() -> None:
    read = [call("Read", file_path=f"{name}.md") for name in "abcd"]
    assert consulted([f"{name}.md" for name in "abcde"], *read)
    assert not consulted(["a.md", "a.md", "a.md", "a.md", "x.md"], *read)


def test_one_file_may_be_named_without_a_list() -> None:
    assert consulted("a.md", call("Read", file_path="a.md"))


@pytest.mark.parametrize("expected", [5, {"a": 1}, [1], [""], ["."]])
def test_files_that_are_no_paths_leave_the_case_unscored(expected: Any) -> None:
    with pytest.raises(ValueError, match="must be a list of paths"):
        consulted(expected, call("Read", file_path="a.md"))


def test_without_a_trajectory_it_is_not_known_what_was_read() -> None:
    with pytest.raises(ValueError, match="no trajectory"):
        consulted(["a.md"])
