"""`extends`: a config that is laid over another one."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.domain import CheckJudge, LLMJudge, Suite
from tests.support.configs import ANSWER, errors, judged, write_case
from tests.support.llm import call, environment

BASE = """\
name: base
description: of the base
dataset: {path: cases}
outputs: [{path: output}]
judges:
  - name: long
    check: return len(outputs['files']['output/answer.md']) > 5, 'base'
  - name: good
    prompt: Is it good? {{ outputs }}
    model: claude-sonnet-5-5
    feedback_type: bool
    context: [a.md, b.md]
thresholds:
  long: {min_pass_rate: 0.5}
  good: {min_pass_rate: 0.9}
"""


def write(folder: Path, profile: str, base: str = BASE, **more: str) -> Path:
    """A base with one case, a profile that lies in another folder, and further files by their path."""
    write_case(folder / "cases" / "case-1", ANSWER)
    (folder / "a.md").write_text("A")
    (folder / "b.md").write_text("B")
    (folder / "c.md").write_text("C")
    files = {"eval.yaml": base, "profiles/fast.yaml": textwrap.dedent(profile), **more}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / "profiles" / "fast.yaml"


def loaded(folder: Path, profile: str, **more: str) -> Suite:
    return adjudge.load(write(folder, "extends: ../eval.yaml\n" + textwrap.dedent(profile), **more))


def by_name(suite: Suite) -> Mapping[str, Any]:
    return {judge.name: judge for judge in suite.judges}


def test_a_profile_that_says_nothing_is_the_base(tmp_path: Path) -> None:
    suite = loaded(tmp_path, "")
    plain = adjudge.load(tmp_path / "eval.yaml")
    assert suite.thresholds == plain.thresholds
    assert [judge.name for judge in suite.judges] == ["long", "good"]
    assert (suite.name, suite.description) == ("base", "of the base")
    assert [stub.id for stub in suite.source.stubs()] == ["case-1"]


def test_a_value_replaces_and_a_mapping_merges_key_by_key(tmp_path: Path) -> None:
    suite = loaded(tmp_path, "name: fast\nthresholds:\n  long: {min_pass_rate: 0.25}\n  good: {max_error_rate: 0.5}\n")
    assert (suite.name, suite.description) == ("fast", "of the base")
    assert suite.thresholds["long"].min_pass_rate == 0.25
    assert (suite.thresholds["good"].min_pass_rate, suite.thresholds["good"].max_error_rate) == (0.9, 0.5)


def test_null_takes_a_section_away(tmp_path: Path) -> None:
    assert loaded(tmp_path, "thresholds: null\n").thresholds == {}


def test_entries_with_one_name_merge_and_new_ones_stand_at_the_end(tmp_path: Path) -> None:
    suite = loaded(tmp_path, "judges:\n  - {name: new, check: 'return True'}\n  - {name: good, model: gpt-5}\n")
    assert [judge.name for judge in suite.judges] == ["long", "good", "new"]
    good = by_name(suite)["good"]
    assert isinstance(good, LLMJudge)
    assert (good.model, good.prompt) == ("gpt-5", "Is it good? {{ outputs }}")


def test_plain_entries_are_added_once(tmp_path: Path) -> None:
    suite = loaded(tmp_path, "judges:\n  - {name: good, context: [b.md, c.md]}\n")
    assert [name for name, _ in by_name(suite)["good"].context] == ["a.md", "b.md", "c.md"]


def test_equal_entries_without_a_name_are_the_same(tmp_path: Path) -> None:
    write_case(tmp_path / "cases" / "case-1", {"more/x.md": "x"})
    suite = loaded(tmp_path, "outputs: [{path: output}, {path: more}]\n")
    result = judged(suite, no_llm=True)
    assert result.summary("long").n == 1
    assert sorted(suite.source.ref("case-1").load().outputs) == ["more/x.md", "output/answer.md"]


def test_entries_with_one_id_are_the_same_whatever_their_name(tmp_path: Path) -> None:
    steps = "execution:\n  steps:\n    - {id: one, prompt: Do it.}\n"
    profile = "extends: ../eval.yaml\nexecution:\n  steps:\n    - {id: one, prompt: Do that.}\n"
    suite = adjudge.load(write(tmp_path, profile, BASE + steps + "runner: {type: cli, command: 'true'}\n"))
    assert suite.execution is not None
    assert [step.id for step in suite.execution.steps] == ["one"]
    assert "Do that." in repr(suite.execution.steps)


def test_a_list_tagged_replace_stands_alone(tmp_path: Path) -> None:
    suite = loaded(tmp_path, "thresholds: null\njudges: !replace\n  - {name: new, check: 'return True'}\n")
    assert [judge.name for judge in suite.judges] == ["new"]


def test_replace_within_an_entry_leaves_the_rest(tmp_path: Path) -> None:
    suite = loaded(tmp_path, "judges:\n  - {name: good, context: !replace [c.md]}\n")
    assert [judge.name for judge in suite.judges] == ["long", "good"]
    assert [name for name, _ in by_name(suite)["good"].context] == ["c.md"]


def test_another_kind_of_value_replaces(tmp_path: Path) -> None:
    suite = loaded(tmp_path, "judges:\n  - {name: good, model: [gpt-5, claude-opus-5]}\n")
    assert by_name(suite)["good"].panel == ("gpt-5", "claude-opus-5")


def test_two_judges_of_one_profile_with_one_name_are_an_error_and_no_merge(tmp_path: Path) -> None:
    profile = "extends: ../eval.yaml\njudges:\n  - {name: x, check: return 1}\n  - {name: x, check: return 2}\n"
    (error,) = errors(write(tmp_path, profile))
    assert "profiles/fast.yaml:4" in error
    assert "'x' is already defined on line 3" in error
    profile = profile.replace("name: x", "name: long")
    (error,) = errors(write(tmp_path, profile))
    assert "'long' is already defined" in error


def test_a_chain_of_three_is_laid_from_its_end(tmp_path: Path) -> None:
    middle = "extends: ../eval.yaml\nname: middle\ndescription: of the middle\n"
    profile = "extends: middle.yaml\nname: fast\n"
    suite = adjudge.load(write(tmp_path, profile, **{"profiles/middle.yaml": middle}))
    assert (suite.name, suite.description, len(suite.judges)) == ("fast", "of the middle", 2)


def test_paths_start_at_the_folder_of_the_file_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "p.md").write_text("WRONG {{ outputs }}")
    (tmp_path / "p.md").write_text("RIGHT {{ outputs }}")
    suite = loaded(tmp_path, "judges:\n  - {name: filed, prompt_file: p.md, feedback_type: bool}\n")
    assert by_name(suite)["filed"].prompt == "RIGHT {{ outputs }}"
    assert suite.code_paths[0] == str(tmp_path.resolve())


def test_a_profile_is_run_by_its_path(tmp_path: Path) -> None:
    profile = write(tmp_path, "extends: ../eval.yaml\nthresholds: {long: {min_pass_rate: 1}, good: null}\n")
    profile.write_text(
        "extends: ../eval.yaml\nthresholds: null\njudges: !replace [{name: none, check: return False}]\n"
    )
    done = call("run", profile, "--json", cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 0, done.stderr
    assert '"judge": "none"' in done.stdout
    assert '"judge": "long"' not in done.stdout


def test_an_error_names_the_file_that_it_stands_in(tmp_path: Path) -> None:
    profile = "extends: ../eval.yaml\nthresholds:\n  lung: {min_pass_rate: 1}\njudges:\n  - {name: x, chek: return 1}\n"
    base = BASE.replace("min_pass_rate: 0.9", "min_pass_rate: 9")
    found = errors(write(tmp_path, profile, base))
    assert [error.split(": ")[0] for error in sorted(found)] == [
        "eval.yaml:15:10",
        "profiles/fast.yaml:3:3",
        "profiles/fast.yaml:5:15",
    ]


def test_a_fault_of_yaml_names_the_file_that_it_stands_in(tmp_path: Path) -> None:
    found = errors(write(tmp_path, "extends: ../eval.yaml\n", "name: [\n"))
    assert any(error.startswith("eval.yaml:") and "YAML" in error for error in found), found


def test_a_judge_remembers_the_file_that_it_stands_in(tmp_path: Path) -> None:
    suite = loaded(tmp_path, "judges:\n  - {name: new, check: 'return True'}\n")
    assert by_name(suite)["long"].location == "eval.yaml:6:5"
    assert by_name(suite)["new"].location == "profiles/fast.yaml:3:5"
    assert isinstance(by_name(suite)["new"], CheckJudge)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("{tmp}/eval.yaml", "relative to this file"),
        ("[../eval.yaml]", "expected text"),
        ("{{path: ../eval.yaml}}", "expected text"),
        ("3", "expected text"),
        ("gone.yaml", "there is no file 'gone.yaml'"),
        (".", "there is no file '.'"),
        ("''", "there is no file ''"),
        ("fast.yaml", "extends this file"),
        ("../profiles/fast.yaml", "extends this file"),
        ("list.yaml", "holds no mapping"),
        ('"a\\0b"', "there is no file"),
        ('"' + "x" * 5000 + '"', "there is no file"),
    ],
)
def test_what_cannot_be_extended_is_an_error_at_its_place(tmp_path: Path, name: str, why: str) -> None:
    profile = write(tmp_path, f"extends: {name.format(tmp=tmp_path)}\n", **{"profiles/list.yaml": "- a\n"})
    found = [error for error in errors(profile) if "extends" in error]
    assert len(found) == 1
    assert found[0].startswith("profiles/fast.yaml:1:10: error: extends: ")
    assert why in found[0]
    assert len(found[0]) < 500


def test_a_circle_is_an_error_at_the_link_that_closes_it(tmp_path: Path) -> None:
    profile = write(
        tmp_path,
        "extends: b.yaml\n",
        **{"profiles/b.yaml": "name: b\nextends: c.yaml\n", "profiles/c.yaml": "extends: fast.yaml\n"},
    )
    (found,) = [error for error in errors(profile) if "extends" in error]
    assert found.startswith("profiles/c.yaml:1:10: error: extends: fast.yaml extends this file")


def test_a_link_that_closes_a_circle_by_another_name_is_seen(tmp_path: Path) -> None:
    profile = write(tmp_path, "extends: same.yaml\n")
    (tmp_path / "profiles" / "same.yaml").symlink_to(profile)
    (found,) = [error for error in errors(profile) if "extends" in error]
    assert "same.yaml extends this file" in found


@pytest.mark.parametrize(("between", "loads"), [(6, True), (7, True), (8, False), (40, False)])
def test_a_chain_has_an_end(tmp_path: Path, between: int, loads: bool) -> None:
    names = [*(f"p{k}.yaml" for k in range(between)), "../eval.yaml"]
    links = {f"profiles/p{k}.yaml": f"extends: {names[k + 1]}\n" for k in range(between)}
    profile = write(tmp_path, f"extends: {names[0]}\n", **links)
    found = [error for error in errors(profile) if "extends" in error]
    assert len(found) == (not loads)
    if not loads:
        assert "the chain is longer than 8 levels" in found[0]
