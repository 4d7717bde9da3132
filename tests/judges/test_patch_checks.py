"""The checks of a patch that look at its size, its files, its messages and its imports; and that nothing breaks them."""  # noqa: E501

from __future__ import annotations

import os
from dataclasses import replace as _  # noqa: F401
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.judges.patch import CHECKS, Patch
from tests.judges.patches import Files, found, git_patch, patch_of

A, B = {"a.py": "x = 1\n", "b.py": "y = 1\n"}, {"a.py": "x = 2\n", "b.py": "y = 1\n", "c.py": "z = 1\n"}


@pytest.mark.parametrize(
    ("expected", "passes"),
    [
        ((), None),
        (("a.py",), True),
        (("a.py", "c.py"), True),
        (("./a.py",), True),
        (("*.py",), True),
        (("b.py",), False),
        (("a.py", "tests/test_*.py"), False),
        (("../a.py",), False),
    ],
)
def test_expected_files(tmp_path: Path, expected: tuple[str, ...], passes: bool | None) -> None:
    finding = found("expected_files", patch_of(tmp_path, A, B, expected=expected))
    assert finding.passed is passes
    if passes is False:
        assert f"not touched: {expected[-1]}" in finding.detail


@pytest.mark.parametrize(("limit", "passes"), [(None, None), (2, True), (3, True), (1, False), (0, False)])
def test_blast_radius(tmp_path: Path, limit: int | None, passes: bool | None) -> None:
    finding = found("blast_radius", patch_of(tmp_path, A, B, max_files=limit))
    assert finding.passed is passes
    assert limit is None or "2 files touched" in finding.detail


def test_a_renamed_file_is_one(tmp_path: Path) -> None:
    text = "".join(f"x{n} = {n}\n" for n in range(20))
    patch = git_patch(tmp_path, {"a.py": text}, {"b.py": text})
    assert patch.files == ("a.py", "b.py")
    from msgspec.structs import replace

    assert found("blast_radius", replace(patch, max_files=1)).passed is True
    assert found("blast_radius", replace(patch, max_files=0)).passed is False


@pytest.mark.parametrize(("limit", "passes"), [(None, None), (3, True), (2, False)])
def test_diff_size(tmp_path: Path, limit: int | None, passes: bool | None) -> None:
    assert found("diff_size", patch_of(tmp_path, A, B, max_lines=limit)).passed is passes


@pytest.mark.parametrize(
    "message",
    [
        "Fall back to an empty config when the key is missing",
        "fix(loader): handle a missing config key",
        "Fix null dereference in load_widget\n\nThe key may be missing.",
        "Fix #123: keep order of keys",
        "Rename Widget to Gadget (#7)",
        "Add tests for rate limits",
        "修复登录错误",
        "Update README.md with install steps",
        'Revert "Add rate limit"',
        "x" * 50 + " " + "y" * 49,
    ],
)
def test_a_commit_message_that_says_something(tmp_path: Path, message: str) -> None:
    assert found("commit_message", patch_of(tmp_path, A, B, messages=(message,))).passed is True


@pytest.mark.parametrize(
    "message",
    ["", "  \n ", "fix", "Fix bug.", "fix: bug", "WIP", "wip!", "update", "Update code", "changes", "some changes",
     "fixed the issue", "Fix #123", "PROJ-12 fix", "loader", "loader.py", "src/widgets/loader.py", "a.py b.py",
     "chore: update files", "Co-authored-by: A <a@b.c>", "x " * 60, "...", "fix(core): wip\n\nA long body."],
)  # fmt: skip
def test_a_commit_message_that_says_nothing(tmp_path: Path, message: str) -> None:
    assert found("commit_message", patch_of(tmp_path, A, B, messages=(message,))).passed is False


def test_every_message_counts_and_none_is_no_verdict(tmp_path: Path) -> None:
    assert found("commit_message", patch_of(tmp_path, A, B)).passed is None
    good = "Keep the order of keys"
    assert found("commit_message", patch_of(tmp_path, A, B, messages=(good, "wip"))).passed is False


PACKAGE: Files = {
    "src/p/__init__.py": "from p.a import f\n",
    "src/p/a.py": "from p import c\n\ndef f():\n    return 1\n",
    "src/p/b.py": "from .a import f\n",
    "src/p/c.py": "",
    "src/p/sub/__init__.py": "",
    "src/p/sub/d.py": "from ..c import x\n",
    "other.py": "import p.b\n",
}


@pytest.mark.parametrize(
    "changed",
    [
        {"src/p/a.py": "from p.b import f\n"},
        {"src/p/a.py": "from .b import f\n"},
        {"src/p/a.py": "from . import b\n"},
        {"src/p/a.py": "import p.b\n"},
        {"src/p/a.py": "import p.b as other\n"},
        {"src/p/a.py": "try:\n    from p.b import f\nexcept ImportError:\n    pass\n"},
        {"src/p/a.py": "from p import nothing_of_this_name\n"},
        {"src/p/c.py": "from p.sub import d\n"},
        {"src/p/c.py": "from .sub.d import y\n"},
        {"src/p/c.py": "import p.new\n", "src/p/new.py": "from p.sub import d\n"},
        {"src/p/a.py": "import other\n"},
    ],
)
def test_a_new_circle_of_imports(tmp_path: Path, changed: Files) -> None:
    finding = found("circular_imports", patch_of(tmp_path, PACKAGE, {**PACKAGE, **changed}))
    assert finding.passed is False, finding.detail
    assert " -> " in finding.detail
    assert next(iter(changed)) in finding.detail


@pytest.mark.parametrize(
    "changed",
    [
        {"src/p/a.py": "def f():\n    from p.b import f\n"},
        {"src/p/a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.b import f\n"},
        {"src/p/a.py": "import typing\nif typing.TYPE_CHECKING:\n    import p.b\n"},
        {"src/p/a.py": "if __name__ == '__main__':\n    import p.b\n"},
        {"src/p/a.py": "import p\nimport os, sys\nfrom json import b\n"},
        {"src/p/c.py": "import p.new\n", "src/p/new.py": "import a, b, c, d\n"},
        {"other.py": "import p.b, p.a, p.sub.d\n"},
        {"src/p/sub/__init__.py": "from . import d\nfrom .d import y\n"},
        {"README": "from p.b import f\n"},
    ],
)
def test_no_circle_of_imports(tmp_path: Path, changed: Files) -> None:
    finding = found("circular_imports", patch_of(tmp_path, PACKAGE, {**PACKAGE, **changed}))
    assert finding.passed is True, finding.detail


CIRCLE: Files = {"p/__init__.py": "", "p/a.py": "import p.b\nx = 1\n" * 5, "p/b.py": "import p.a\n"}


@pytest.mark.parametrize(
    "after",
    [
        {**CIRCLE, "p/a.py": CIRCLE["p/a.py"] + "y = 1\n"},
        {"p/__init__.py": "", "p/z.py": CIRCLE["p/a.py"], "p/b.py": "import p.z\n"},
        {"p/__init__.py": "", "p/a/__init__.py": CIRCLE["p/a.py"], "p/b.py": "import p.a\n"},
        {**CIRCLE, "p/b.py": ""},
    ],
)
def test_a_circle_that_was_there_is_not_the_patch(tmp_path: Path, after: Files) -> None:
    finding = found("circular_imports", git_patch(tmp_path, CIRCLE, after))
    assert finding.passed is True, finding.detail


def test_a_module_that_joins_a_circle_is_new_in_it(tmp_path: Path) -> None:
    after = {**CIRCLE, "p/b.py": "import p.a, p.c\n", "p/c.py": "import p.a\n"}
    assert found("circular_imports", git_patch(tmp_path, CIRCLE, after)).passed is False


def test_a_touched_module_that_does_not_parse_gives_no_verdict_on_imports(tmp_path: Path) -> None:
    finding = found("circular_imports", patch_of(tmp_path, PACKAGE, {**PACKAGE, "src/p/a.py": "def ("}))
    assert finding.passed is None
    assert "src/p/a.py: no valid Python" in finding.detail


HOSTILE = {
    "deep": "x = " + "(" * 500 + ")" * 500,
    "nested": "x = " + "[" * 150 + "]" * 150,
    "minus": "x = " + "-" * 20_000 + "1",
    "sum": "x = " + "+".join("1" * 3000),
    "dots": "x" + ".y" * 50_000,
    "number": "x = 0x" + "f" * 20_000,
    "decimal": "x = " + "9" * 20_000,
    "nul": "x = '\0'",
    "indents": "".join(" " * n + "if x:\n" for n in range(120)),
    "elif": "if x: pass\n" + "elif y: pass\n" * 3000,
    "huge": "# " + "x" * (2 * 1024 * 1024),
    "surrogate": "assert x == '\\ud800'\n",
    "continued": "\\\n" * 10_000,
    "catch": "catch{/*" * 20_000,
    "spaces": "catch {" + " " * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("path", ["tests/test_a.py", "a.py", "a.test.js", "conftest.py", "pyproject.toml", "setup.cfg"])
def test_hostile_text_is_said_and_breaks_nothing(tmp_path: Path, name: str, path: str) -> None:
    good = "def test_a():\n    assert f(7) == 42\n"
    patch = patch_of(tmp_path, {path: good, "b.py": "import a"}, {path: HOSTILE[name], "b.py": "import a\n"})
    for check in CHECKS:
        finding = found(check, patch)
        if check == "weakened_tests" and path == "tests/test_a.py":
            assert finding.passed is not True


@pytest.mark.parametrize("name", ["deep", "huge", "sum", "nul"])
def test_what_was_not_looked_at_is_no_pass(tmp_path: Path, name: str) -> None:
    before, after = {"a.py": "x = 1\n"}, {"a.py": HOSTILE[name]}
    for check in ("hard_coded_values", "circular_imports"):
        finding = found(check, patch_of(tmp_path, before, after))
        assert finding.passed is None
        assert "not looked at: a.py: " in finding.detail


def test_links_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("def test_a():\n    assert f(7) == 42\n")
    patch = patch_of(tmp_path, {"tests/test_a.py": secret.read_text()}, {})
    (patch.after / "tests").mkdir()
    (patch.after / "tests/test_a.py").symlink_to(secret)
    finding = found("weakened_tests", patch)
    assert finding.passed is not True
    assert "a link" in finding.detail
    (patch.after / "folder").symlink_to(tmp_path)
    os.mkfifo(patch.after / "pipe.py")
    through = Patch(
        before=patch.before,
        after=patch.after,
        files=("folder/secret.py", "../secret.py", str(secret), "pipe.py", "a\0.py", "", "\udcff.py"),
        diff="",
        added=0,
        removed=0,
    )
    for check in CHECKS:
        assert "secret" not in found(check, through).detail or found(check, through).passed is not True
    assert found("hard_coded_values", through).passed is None


def test_too_many_files_are_said(tmp_path: Path) -> None:
    patch = patch_of(tmp_path, {}, {"a.py": "x = 1\n"})
    from msgspec.structs import replace

    many = replace(patch, files=tuple(f"f{n}.py" for n in range(5001)))
    for check in ("weakened_tests", "swallowed_exceptions", "hard_coded_values"):
        assert "1 of 5001 files" in found(check, many).detail
        assert found(check, many).passed is None


NAMES = st.sampled_from(
    ["test_a.py", "a.py", "conftest.py", "tests/a.test.ts", "a_test.go", "a.rs", "A.java", "a_spec.rb", "a.sh", "setup.cfg",  # noqa: E501
     "pyproject.toml", "package.json", "p/__init__.py"]
)  # fmt: skip
PIECES = st.sampled_from(
    ["def test_a():\n", "    assert f(7) == 42\n", "    pass\n", "try:\n", "except Exception:\n", "import a\n", "from . import b\n",  # noqa: E501
     "@pytest.mark.skip\n", "class TestA(B):\n", "if False:\n", "    with pytest.raises(ValueError, match='x'):\n", "        f()\n",  # noqa: E501
     "expect(1).toBe(2);\n", "it.skip('a', () => {\n", "catch (e) {\n", "}\n", "t.Skip()\n", "#[ignore]\n", "[pytest]\n",  # noqa: E501
     "addopts = -k 'not x' --ignore=a\n", "collect_ignore = ['a']\n", "@@ -1 +1 @@\n", "--- a/x\n+++ b/x\n", "diff --git a/a b/b\n",  # noqa: E501
     "    return {7: 42, 8: 43}\n", "    self.assertAlmostEqual(1.0, x, 3)\n", "    assert x == approx(1, rel=1e-3)\n", "\ud800"]  # noqa: E501
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=12).map("".join))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    before=st.dictionaries(NAMES, TEXTS, max_size=3),
    after=st.dictionaries(NAMES, TEXTS, max_size=3),
    noise=st.one_of(st.just(""), TEXTS),
    messages=st.lists(TEXTS, max_size=2),
)
def test_no_text_breaks_a_check(
    tmp_path_factory: pytest.TempPathFactory, before: Files, after: Files, noise: str, messages: list[str]
) -> None:
    def plain(files: Files) -> Files:
        return {name: text.encode("utf-8", "replace").decode().replace("\r", "") for name, text in files.items()}

    root = tmp_path_factory.mktemp("patch")
    patch = patch_of(root, plain(before), plain(after), messages=tuple(messages), expected=("a.py", noise))
    from msgspec.structs import replace

    for given_diff in (patch.diff, noise, patch.diff + noise):
        for check in CHECKS:
            found(check, replace(patch, diff=given_diff))
