"""Section 1: which files are checks, in which order, and which of them are chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.banana.projects import CONFIG, ids, judge, loaded, refused, script, write_project

TAGGED = {
    "eval_checks/a.yaml": script("a", more="tags: [x, fast]\n"),
    "eval_checks/b.yaml": script("b", more="tags: [y]\n"),
    "eval_checks/c.yaml": script("c"),
}


def test_the_root_is_the_nearest_folder_above_that_holds_a_config(tmp_path: Path) -> None:
    write_project(tmp_path, {CONFIG: "", "eval_checks/a.yaml": script("a"), "deep/down/x": ""})
    project = loaded(tmp_path / "deep" / "down")
    assert project.settings.root == tmp_path.resolve()
    assert [check.id for check in project.checks] == ["a"]


def test_without_a_config_the_root_is_the_folder_itself(tmp_path: Path) -> None:
    write_project(tmp_path, {"eval_checks/a.yaml": script("a"), "deep/eval_checks/b.yaml": script("b")})
    assert ids(tmp_path / "deep") == ["b"]


def test_no_project_config_makes_the_folder_itself_the_root(tmp_path: Path) -> None:
    files = {CONFIG: "not toml [", "eval_checks/a.yaml": script("a"), "deep/eval_checks/b.yaml": script("b")}
    write_project(tmp_path, files)
    assert ids(tmp_path / "deep", project_config=False) == ["b"]


def test_a_root_called_eval_checks_is_a_check_folder(tmp_path: Path) -> None:
    write_project(tmp_path, {"eval_checks/a.yaml": script("a")})
    assert ids(tmp_path / "eval_checks") == ["a"]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("eval_checks/a.yaml", True),
        ("eval_checks/a.yml", True),
        ("eval_checks/a.YAML", False),
        ("eval_checks/a.Yml", False),
        ("eval_checks/a.json", False),
        ("eval_checks/deep/down/a.yaml", True),
        ("eval_checks/eval_checks/a.yaml", True),
        ("some/where/eval_checks/a.yaml", True),
        ("Eval_Checks/a.yaml", False),
        ("eval_checks2/a.yaml", False),
        ("my_eval_checks/a.yaml", False),
        ("a.yaml", False),
        (".hidden/eval_checks/a.yaml", True),
        ("eval_checks/.hidden/a.yaml", True),
        (".git/eval_checks/a.yaml", False),
        (".hg/eval_checks/a.yaml", False),
        (".svn/eval_checks/a.yaml", False),
        (".venv/eval_checks/a.yaml", False),
        ("venv/eval_checks/a.yaml", False),
        ("node_modules/eval_checks/a.yaml", False),
        ("__pycache__/eval_checks/a.yaml", False),
        ("dist/eval_checks/a.yaml", False),
        ("deep/build/eval_checks/a.yaml", False),
        ("eval_checks/build/a.yaml", False),
    ],
)
def test_which_files_are_checks(tmp_path: Path, path: str, found: bool) -> None:
    write_project(tmp_path, {path: script("a")})
    assert ids(tmp_path) == (["a"] if found else [])


def test_exclude_dirs_replaces_the_list(tmp_path: Path) -> None:
    files = {
        CONFIG: '[discovery]\nexclude_dirs = ["old"]\n',
        "build/eval_checks/a.yaml": script("a"),
        "old/eval_checks/b.yaml": script("b"),
    }
    assert ids(write_project(tmp_path, files)) == ["a"]


def test_an_empty_exclude_dirs_excludes_nothing(tmp_path: Path) -> None:
    files = {CONFIG: "[discovery]\nexclude_dirs = []\n", "dist/eval_checks/a.yaml": script("a")}
    assert ids(write_project(tmp_path, files)) == ["a"]


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    write_project(tmp_path, {"away/eval_checks/a.yaml": script("a"), "project/x": "", "project/eval_checks/x": ""})
    (tmp_path / "project" / "link").symlink_to(tmp_path / "away")
    (tmp_path / "project" / "eval_checks" / "link").symlink_to(tmp_path / "away" / "eval_checks")
    assert ids(tmp_path / "project") == []


def test_links_to_files_are_followed_to_what_they_name(tmp_path: Path) -> None:
    write_project(tmp_path, {"away/a.yaml": script("a"), "project/eval_checks/x": ""})
    (tmp_path / "project" / "eval_checks" / "link.yaml").symlink_to(tmp_path / "away" / "a.yaml")
    (check,) = loaded(tmp_path / "project").checks
    assert check.path == (tmp_path / "away" / "a.yaml").resolve()


def test_check_dir_needs_no_name_and_is_relative_to_the_root(tmp_path: Path) -> None:
    files = {
        CONFIG: "",
        "eval_checks/a.yaml": script("a"),
        "mine/b.yaml": script("b"),
        "mine/deep/c.yml": script("c"),
        "sub/x": "",
    }
    write_project(tmp_path, files)
    assert ids(tmp_path / "sub", check_dir="mine") == ["b", "c"]


def test_a_check_dir_that_is_not_there_holds_no_checks(tmp_path: Path) -> None:
    assert ids(write_project(tmp_path, {"eval_checks/a.yaml": script("a")}), check_dir="nowhere") == []


def test_checks_are_in_the_order_of_their_paths(tmp_path: Path) -> None:
    files = {
        "z/eval_checks/a.yaml": script("first"),
        "b/eval_checks/z.yaml": script("third"),
        "b/eval_checks/a.yaml": script("fourth"),
        "a/eval_checks/m.yaml": script("fifth"),
    }
    assert ids(write_project(tmp_path, files)) == ["fifth", "fourth", "third", "first"]


def test_ids_are_unique_over_all_files(tmp_path: Path) -> None:
    text = refused(write_project(tmp_path, {"eval_checks/a.yaml": script("a"), "b/eval_checks/b.yaml": script("a")}))
    assert "'a'" in text
    assert "eval_checks/a.yaml" in text
    assert "b/eval_checks/b.yaml" in text


def test_ids_that_differ_in_case_only_are_two(tmp_path: Path) -> None:
    assert ids(write_project(tmp_path, {"eval_checks/a.yaml": script("a"), "eval_checks/b.yaml": script("A")})) == [
        "a",
        "A",
    ]


@pytest.mark.parametrize(
    "broken", ["{", "id: [a", "just text", "id: other\nwrong: 1", script("a2").replace("schema_version: 1", "x: 2"), ""]
)
def test_check_id_chooses_one_and_minds_no_broken_file(tmp_path: Path, broken: str) -> None:
    write_project(tmp_path, {"eval_checks/a.yaml": script("a"), "eval_checks/b.yaml": broken})
    assert refused(tmp_path)
    assert ids(tmp_path, check_id="a") == ["a"]


def test_the_file_that_check_id_chooses_must_be_valid(tmp_path: Path) -> None:
    write_project(tmp_path, {"eval_checks/a.yaml": script("a", more="wrong: 1\n")})
    assert "wrong" in refused(tmp_path, check_id="a")


def test_an_unknown_check_id_is_an_error(tmp_path: Path) -> None:
    assert "nobody" in refused(write_project(tmp_path, TAGGED), check_id="nobody")


def test_a_check_id_that_two_files_have_is_an_error(tmp_path: Path) -> None:
    write_project(tmp_path, {"eval_checks/a.yaml": script("a"), "eval_checks/b.yaml": script("a")})
    assert "'a'" in refused(tmp_path, check_id="a")


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"tags": ("x",)}, ["a"]),
        ({"tags": ("x", "y")}, ["a", "b"]),
        ({"tags": ("fast",)}, ["a"]),
        ({"tags": ("fas",)}, []),
        ({"tags": ("X",)}, []),
        ({"check_id": "a", "tags": ("x",)}, ["a"]),
        ({"check_id": "a", "tags": ("y",)}, []),
    ],
)
def test_tags_choose_any_and_go_with_check_id(
    tmp_path: Path, flags: dict[str, str | tuple[str, ...]], expected: list[str]
) -> None:
    assert ids(write_project(tmp_path, TAGGED), **flags) == expected


def test_a_judge_that_is_not_chosen_needs_no_agent(tmp_path: Path) -> None:
    write_project(tmp_path, {**TAGGED, "eval_checks/j.yaml": judge("j")})
    assert [check.id for check in loaded(tmp_path, tags=("x",)).checks] == ["a"]
