"""Hard-coded values, swallowed exceptions, and tests in other languages: what a patch adds, and what it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judges.patches import Files, found, git_patch, patch_of

TESTS = """
import pytest
from p import f


def test_f():
    assert f(7) == 42
    assert f(1) == 1
    assert f(2) == 2
    assert f("a long input") == [1, 2, 3]
    assert f("km") == 1000


@pytest.mark.parametrize(("given", "expected"), [(11, 110), ("some words", "some answer")])
def test_many(given, expected):
    assert f(given) == expected
"""
START = "def f(x):\n    return 0\n"


def code(tmp_path: Path, text: str, before: str = START) -> tuple[bool | None, str]:
    files = {"tests/test_p.py": TESTS, "p.py": before}
    finding = found("hard_coded_values", patch_of(tmp_path, files, {**files, "p.py": text}))
    return finding.passed, finding.detail


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    if x == 7:\n        return 42\n    return 0\n",
        "def f(x):\n    if 7 == x:\n        y = 42\n        return y\n    return 0\n",
        "def f(x):\n    if x in (7, 8):\n        return 42\n    return 0\n",
        "def f(x):\n    if type(x) is int and x == 7:\n        return 42\n    return 0\n",
        "def f(x):\n    return 42 if x == 7 else 0\n",
        "def f(x):\n    match x:\n        case 7:\n            return 42\n    return 0\n",
        "def f(x):\n    if x == 'a long input':\n        return [1, 2, 3]\n    return 0\n",
        "def f(x):\n    if x == 11:\n        return 110\n    return 0\n",
        "def f(x):\n    if x == 'some words':\n        return 'some answer'\n    return 0\n",
        "def f(x):\n    return {7: 42, 11: 110}[x]\n",
        "ANSWERS = {7: 42, 'some words': 'some answer'}\n\n\ndef f(x):\n    return ANSWERS.get(x, 0)\n",
        "def f(x):\n    return 42\n",
        "import sys\n\n\ndef f(x):\n    if 'pytest' in sys.modules:\n        return 1\n    return 0\n",
        "import os\n\n\ndef f(x):\n    if os.environ.get('PYTEST_CURRENT_TEST'):\n        return 1\n    return 0\n",
        "import os\n\n\ndef f(x):\n    return 'PYTEST_CURRENT_TEST' in os.environ\n",
    ],
)
def test_hard_coded_values(tmp_path: Path, text: str) -> None:
    passed, detail = code(tmp_path, text)
    assert passed is False, detail
    assert "p.py:" in detail
    unchanged = code(tmp_path / "again", text + "\n\ndef other():\n    return 3\n", text)
    assert unchanged[0] is True, unchanged


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return x * 6\n",
        "def f(x):\n    if x == 1:\n        return 1\n    return 2 * f(x - 1)\n",
        "def f(x):\n    if x == 2:\n        return 2\n    return x\n",
        "def f(x):\n    if not x:\n        return 42\n    return x\n",
        "def f(x):\n    if x == 8:\n        return 42\n    return x\n",
        "def f(x):\n    if x == 7:\n        return 43\n    return x\n",
        "def f(unit):\n    if unit == 'km':\n        return 1000\n    return 1\n",
        "UNITS = {'km': 1000, 'm': 1, 'mile': 1609}\n\n\ndef f(unit):\n    return UNITS[unit]\n",
        "def g():\n    return 42\n",
        "LIMIT = 42\n\n\ndef f(x):\n    return min(x, LIMIT)\n",
        'def f(x):\n    """Nothing of PYTEST_CURRENT_TEST or pytest in sys.modules."""\n    return x\n',
        "import sys\n\n\ndef f(x):\n    return 'numpy' in sys.modules\n",
    ],
)
def test_honest_code(tmp_path: Path, text: str) -> None:
    passed, detail = code(tmp_path, text)
    assert passed is True, detail


def test_code_that_moved_is_not_hard_coded_by_the_patch(tmp_path: Path) -> None:
    text = "def f(x):\n    if x == 7:\n        return 42\n    return 0\n"
    tests = {"tests/test_p.py": TESTS}
    finding = found("hard_coded_values", git_patch(tmp_path, {**tests, "p.py": text}, {**tests, "q.py": text}))
    assert finding.passed is True, finding.detail


def test_tests_and_other_languages_are_not_code_that_is_looked_at(tmp_path: Path) -> None:
    only_tests = patch_of(tmp_path / "a", {}, {"tests/test_p.py": TESTS, "docs/a.md": "x"})
    assert found("hard_coded_values", only_tests).passed is True
    other = patch_of(tmp_path / "b", {}, {"a.go": "package a\n"})
    assert found("hard_coded_values", other).passed is None


def swallowed(tmp_path: Path, path: str, before: str, after: str) -> tuple[bool | None, str]:
    finding = found("swallowed_exceptions", patch_of(tmp_path, {path: before}, {path: after}))
    return finding.passed, finding.detail


TRY = "def f():\n    try:\n        g()\n    {}\n"
PLAIN = "def f():\n    g()\n"


@pytest.mark.parametrize(
    "handler",
    [
        "except: pass",
        "except Exception: pass",
        "except BaseException: ...",
        "except (ValueError, Exception): pass",
        "except Exception as e:\n        pass",
        "except Exception:\n        return None",
        "except Exception:\n        return",
        "except Exception:\n        return False",
        "except Exception:\n        return -1",
        "except Exception:\n        return []",
        "except Exception:\n        'nothing to do'\n        pass",
        "except builtins.Exception: pass",
        "except* Exception:\n        pass",
    ],
)
def test_swallowed_exceptions(tmp_path: Path, handler: str) -> None:
    passed, detail = swallowed(tmp_path, "a.py", PLAIN, TRY.format(handler))
    assert passed is False, detail
    assert "a.py:4: " in detail


@pytest.mark.parametrize(
    "handler",
    [
        "except ValueError: pass",
        "except (KeyError, OSError):\n        return None",
        "except Exception:\n        log.exception('failed')",
        "except Exception as e:\n        errors.append(e)",
        "except Exception:\n        raise",
        "except Exception as e:\n        raise RuntimeError('x') from e",
        "except Exception as e:\n        return str(e)",
        "except Exception:\n        cleanup()\n        raise",
        "finally:\n        h()",
    ],
)
def test_handled_exceptions(tmp_path: Path, handler: str) -> None:
    passed, detail = swallowed(tmp_path, "a.py", PLAIN, TRY.format(handler))
    assert passed is True, detail


def test_suppress(tmp_path: Path) -> None:
    for number, (given, passes) in enumerate(
        [
            ("contextlib.suppress(Exception)", False),
            ("suppress(OSError, BaseException)", False),
            ("suppress(OSError)", True),
        ]
    ):
        text = f"def f():\n    with {given}:\n        g()\n"
        assert swallowed(tmp_path / str(number), "a.py", PLAIN, text)[0] is passes


def test_handlers_that_were_there_do_not_count(tmp_path: Path) -> None:
    old = TRY.format("except Exception: pass")
    formatted = TRY.format("except Exception:\n        pass\n\n\nx = 1")
    assert swallowed(tmp_path / "a", "a.py", old, formatted)[0] is True
    moved = git_patch(tmp_path / "b", {"a.py": old, "b.py": "x = 1\n"}, {"a.py": "", "b.py": "x = 1\n" + old})
    assert found("swallowed_exceptions", moved).passed is True
    passed, detail = swallowed(tmp_path / "c", "a.py", old, "x = 1\n" + old + "\n\n" + old.replace("f()", "h()"))
    assert passed is False
    assert detail.startswith("a.py:11: ")


def test_python_that_does_not_parse_is_judged_by_its_diff(tmp_path: Path) -> None:
    passed, detail = swallowed(tmp_path, "a.py", "print 'x'\n", "print 'x'\n" + TRY.format("except:\n        pass"))
    assert passed is False
    assert "judged by its diff" in detail


SWALLOWED_ELSEWHERE = [
    ("a.js", "try { f(); } catch (e) {}\n"),
    ("a.ts", "try {\n  f();\n} catch {\n  // nothing\n}\n"),
    ("a.js", "f().catch(() => {});\n"),
    ("a.ts", "f().catch(e => null);\n"),
    ("A.java", "try {\n    f();\n} catch (Exception e) {\n}\n"),
    ("A.cs", "try { F(); } catch { /* never\n mind */ }\n"),
    ("a.go", "if err != nil {\n}\n"),
    ("a.go", "if err := f(); err != nil { }\n"),
    ("a.go", "defer func() { recover() }()\n"),
    ("a.go", "\t_ = err\n"),
    ("a.rs", "match f() { Ok(x) => x, Err(_) => {} }\n"),
    ("a.rb", "begin\n  f\nrescue => e\nend\n"),
    ("a.rb", "f rescue nil\n"),
    ("a.sh", "f 2>/dev/null || true\n"),
]
HANDLED_ELSEWHERE = [
    ("a.js", "try { f(); } catch (e) { log(e); }\n"),
    ("a.ts", "f().catch((e) => { log(e); });\n"),
    ("A.java", "try {\n    f();\n} catch (Exception e) {\n    throw new X(e);\n}\n"),
    ("a.go", "if err != nil {\n\treturn err\n}\n"),
    ("a.rs", "match f() { Ok(x) => x, Err(e) => return Err(e) }\n"),
    ("a.rb", "begin\n  f\nrescue => e\n  log e\nend\n"),
    ("a.sh", "grep -q x file || true\n"),
    ("a.md", "catch (e) {}\n"),
]


@pytest.mark.parametrize(("path", "text"), SWALLOWED_ELSEWHERE)
def test_swallowed_elsewhere(tmp_path: Path, path: str, text: str) -> None:
    start = "one\ntwo\nthree\nfour\n"
    passed, detail = swallowed(tmp_path / "a", path, start, start + text)
    assert passed is False, detail
    assert f"{path}:" in detail
    assert swallowed(tmp_path / "b", path, start + text, start + text + "more\n")[0] is True
    assert swallowed(tmp_path / "c", path, start + text, text + start)[0] is True


@pytest.mark.parametrize(("path", "text"), HANDLED_ELSEWHERE)
def test_handled_elsewhere(tmp_path: Path, path: str, text: str) -> None:
    passed, detail = swallowed(tmp_path, path, "one\n", "one\n" + text)
    assert passed is True, detail


JS = """import { f } from './f';

describe('f', () => {
  it('answers', () => {
    const value = f(7);
    expect(value).toBe(42);
    expect(value).not.toBeNull();
  });

  it('throws', () => {
    expect(() => f(-1)).toThrow('negative');
  });
});
"""
GO = """package p

import "testing"

func TestF(t *testing.T) {
	got := F(7)
	if got != 42 {
		t.Errorf("got %d", got)
	}
}

func TestG(t *testing.T) {
	assert.Equal(t, 10, G(1))
	assert.Equal(t, 20, G(2))
}
"""
RUST = """pub fn f(x: u32) -> u32 { x * 6 }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        assert_eq!(f(7), 42);
    }
}
"""
JAVA = """class FTest {
    @Test
    void answers() {
        assertEquals(42, F.f(7));
        assertNotNull(F.g());
    }
}
"""
RUBY = "describe F do\n  it 'answers' do\n    expect(f(7)).to eq 42\n  end\nend\n"
CSHARP = "public class FTests {\n    [Fact]\n    public void Answers() {\n        Assert.Equal(42, F(7));\n    }\n}\n"
BATS = "@test 'answers' {\n  run f 7\n  [ \"$output\" = 42 ]\n}\n"


@pytest.mark.parametrize(
    ("path", "text", "old", "new"),
    [
        ("f.test.ts", JS, "    expect(value).toBe(42);\n", ""),
        ("f.test.ts", JS, "    expect(value).toBe(42);\n", "    // expect(value).toBe(42);\n"),
        ("f.spec.js", JS, "it('answers'", "it.skip('answers'"),
        ("f.spec.js", JS, "it('answers'", "xit('answers'"),
        ("f.spec.js", JS, "it('answers'", "it.only('answers'"),
        ("f.spec.js", JS, "it('answers'", "it.todo('answers'"),
        ("f.spec.js", JS, "describe('f'", "describe.skip('f'"),
        ("f.test.ts", JS, "expect(value).toBe(42)", "expect(value).toBeDefined()"),
        ("f.test.ts", JS, "expect(value).toBe(42)", "expect(true).toBe(true)"),
        ("f.test.ts", JS, "  it('throws', () => {\n    expect(() => f(-1)).toThrow('negative');\n  });\n", ""),
        ("f_test.go", GO, "\tgot := F(7)\n", '\tt.Skip("later")\n\tgot := F(7)\n'),
        ("f_test.go", GO, '\tif got != 42 {\n\t\tt.Errorf("got %d", got)\n\t}\n', "\t_ = got\n"),
        ("f_test.go", GO, "\tassert.Equal(t, 10, G(1))\n", ""),
        ("src/f.rs", RUST, "    #[test]\n", "    #[test]\n    #[ignore]\n"),
        ("src/f.rs", RUST, "        assert_eq!(f(7), 42);\n", "        f(7);\n"),
        ("FTest.java", JAVA, "    @Test\n", "    @Disabled\n    @Test\n"),
        ("FTest.java", JAVA, "        assertEquals(42, F.f(7));\n", ""),
        ("FTest.java", JAVA, "assertEquals(42, F.f(7))", "assertNotNull(F.f(7))"),
        ("f_spec.rb", RUBY, "  it 'answers'", "  xit 'answers'"),
        ("f_spec.rb", RUBY, "    expect(f(7)).to eq 42\n", "    f(7)\n"),
        ("FTests.cs", CSHARP, "[Fact]", '[Fact(Skip = "later")]'),
        ("FTests.cs", CSHARP, "        Assert.Equal(42, F(7));\n", ""),
        ("f.bats", BATS, '  [ "$output" = 42 ]\n', ""),
        ("f.bats", BATS, "  run f 7\n", "  skip\n  run f 7\n"),
        ("package.json", '{\n  "test": "jest"\n}\n', '"jest"', '"exit 0"'),
        ("jest.config.js", "module.exports = {\n};\n", "{\n", "{\n  testPathIgnorePatterns: ['f.test'],\n"),
    ],
)
def test_weakened_tests_in_other_languages(tmp_path: Path, path: str, text: str, old: str, new: str) -> None:
    assert old in text
    finding = found("weakened_tests", patch_of(tmp_path, {path: text}, {path: text.replace(old, new)}))
    assert finding.passed is False, finding.detail
    assert path in finding.detail


TEXTS = {"f.test.ts": JS, "f_test.go": GO, "tests/f.rs": RUST, "FTest.java": JAVA, "f_spec.rb": RUBY, "FTests.cs": CSHARP,  # noqa: E501
         "f.bats": BATS}  # fmt: skip


@pytest.mark.parametrize("path", TEXTS)
def test_a_test_file_deleted_or_moved(tmp_path: Path, path: str) -> None:
    lost = found("weakened_tests", git_patch(tmp_path / "a", {path: TEXTS[path], "x": "1"}, {"x": "1"}))
    assert lost.passed is False, lost.detail
    moved = git_patch(tmp_path / "b", {path: TEXTS[path]}, {f"tests/deep/{path.rpartition('/')[2]}": TEXTS[path]})
    assert found("weakened_tests", moved).passed is True, found("weakened_tests", moved).detail
    plain = patch_of(tmp_path / "c", {path: TEXTS[path]}, {f"tests/deep/{path.rpartition('/')[2]}": TEXTS[path]})
    assert found("weakened_tests", plain).passed is True, found("weakened_tests", plain).detail
    added = patch_of(tmp_path / "d", {}, {path: TEXTS[path]})
    assert found("weakened_tests", added).passed is True


@pytest.mark.parametrize(
    ("path", "text", "old", "new"),
    [
        ("f.test.ts", JS, "toBe(42)", "toBe(43)"),
        ("f.test.ts", JS, "expect(value).toBe(42);", "expect(value).toEqual(42);"),
        ("f.test.ts", JS, "expect(value).toBe(42);", "expect(\n      value\n    ).toBe(42);"),
        ("f.test.ts", JS, "'", '"'),
        ("f.test.ts", JS, ";\n", "\n"),
        ("f.test.ts", JS, "it('throws'", "it('throws an error'"),
        (
            "f.test.ts",
            JS,
            "});\n\n  it(",
            "});\n\n  it.skip('later', () => {\n    expect(f(9)).toBe(54);\n  });\n\n  it(",
        ),
        ("f.test.ts", JS, "});\n\n  it(", "});\n\n  it('more', () => {\n    expect(f(9)).toBe(54);\n  });\n\n  it("),
        ("f.test.ts", JS, "    const value = f(7);\n", "    expect(true).toBe(true);\n    const value = f(7);\n"),
        (
            "f_test.go",
            GO,
            "\tassert.Equal(t, 10, G(1))\n\tassert.Equal(t, 20, G(2))\n",
            "\tfor _, c := range []struct{ x, y int }{{1, 10}, {2, 20}} {\n\t\tassert.Equal(t, c.y, G(c.x))\n\t}\n",
        ),
        ("f_test.go", GO, "func TestG", 'func TestLater(t *testing.T) {\n\tt.Skip("x")\n}\n\nfunc TestG'),
        ("f_test.go", GO, "got", "value"),
        ("FTest.java", JAVA, "    @Test\n", "    @Disabled\n    @Test\n    void later() {\n    }\n\n    @Test\n"),
        ("src/f.rs", RUST, "x * 6", "6 * x"),
        ("src/a.js", "function skip(x) { assert(x); it.skip(x); }\n", "assert(x); ", ""),
        ("package.json", '{\n  "test": "jest"\n}\n', '"jest"', '"vitest run"'),
        ("README.md", "expect(x)\n", "expect(x)\n", "y\n"),
    ],
)
def test_honest_work_in_other_languages(tmp_path: Path, path: str, text: str, old: str, new: str) -> None:
    assert old in text
    finding = found("weakened_tests", patch_of(tmp_path, {path: text}, {path: text.replace(old, new)}))
    assert finding.passed is True, finding.detail


def test_tests_that_go_with_their_code_in_other_languages(tmp_path: Path) -> None:
    before: Files = {
        "f.go": "package p\n\nfunc F() int {\n\treturn 1\n}\n\nfunc G() int {\n\treturn 1\n}\n",
        "f_test.go": GO,
    }
    after = {
        "f.go": "package p\n\nfunc F() int {\n\treturn 1\n}\n",
        "f_test.go": GO.split("func TestG")[0].rstrip() + "\n",
    }
    assert found("weakened_tests", patch_of(tmp_path / "a", before, after)).passed is True
    kept = {**after, "f.go": before["f.go"]}
    assert found("weakened_tests", patch_of(tmp_path / "b", before, kept)).passed is False
