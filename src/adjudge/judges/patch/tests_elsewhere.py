"""Tests in other languages, and Python that does not parse, by plain patterns over the diff."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from adjudge.judges.patch.pytest_names import is_for_tests, is_other_test
from adjudge.judges.patch.unified import FileDiff, Line

_ASSERTION = re.compile(
    r"""\b(?:expect|assert|assertThat|assertSame|ASSERT_\w{1,30}|EXPECT_\w{1,30}|Assert\.\w{1,40}|assert\w{0,30}|
        assert_\w{1,40}|refute\w{0,30}|debug_assert\w{0,9}|require\.\w{1,30}|verify)!?\s{0,3}[(.{]
    | \bt\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow|is|deepEqual|equal|throws)\(
    | \bassert\s | \.should(?:_not)?\b | \bis_expected\b | \bmust_(?:equal|be)\b
    | \bself\.assert\w{1,40}\( | \bpytest\.raises\(
    | ^\s*\[\[?\s.{1,300}\s\]\]?\s*$""",
    re.X,
)
_HEADER = re.compile(
    r"""(?:\b(?:it|test|describe|context|specify|suite)(?:\.\w{1,20}){0,3}|\bx(?:it|test|describe|context|specify))\s{0,3}
        [( ]\s{0,3}(?P<title>"[^"]{0,300}"|'[^']{0,300}'|`[^`]{0,300}`)
    | \bfunc\s+(?P<go>(?:Test|Fuzz|Example)\w{0,200})\s{0,3}\(
    | \bfn\s+(?P<rust>\w{1,200})\s{0,3}[(<]
    | \bdef\s+(?P<def>test\w{0,200}) | ^\s*@test\s+(?P<bats>["'].{1,200}["'])
    | (?:\bvoid|\bTask(?:<\w{1,40}>)?|\bfun|\bfunction|\bpublic)\s+(?P<java>[\w`]{1,200})\s{0,3}\(""",
    re.X,
)
_SKIP_HEADER = re.compile(
    r"\b(?:it|test|describe|context|suite|specify)(?:\.\w{1,20})?\.(?:skip|todo|only|fixme|fails|failing)\s{0,3}[(`.]"
    r"|(?<![\w.])(?:x(?:it|test|describe|context|specify)|f(?:it|describe))\s{0,3}\(|^\s*x(?:it|describe|context)\s+[\"']"
)
_SKIP_LINE = re.compile(
    r"""\bt\.Skip(?:f|Now)?\( | \#\[ignore\b | \#\[should_panic\]\s*$ | @(?:Disabled|Ignore|Ignored|Exclude)\b
    | \[(?:Ignore|Explicit)\b | \bSkip\s{0,3}=\s{0,3}" | \bAssert\.(?:Ignore|Inconclusive)\(
    | \bthis\.skip\(\) | ^\s*(?:skip|pending)(?:\s*$|\s*\(|\s+["']) | ^\s*//\s?go:build\s+ignore
    | \$this->markTest\w{1,20}\(
    | \bpytest\.(?:skip|xfail)\( | @pytest\.mark\.(?:skip|xfail)\b(?!if)
    | @unittest\.(?:skip|expectedFailure)\b(?!If|Unless)
    | \bself\.skipTest\(""",
    re.X,
)
_TRIVIAL = re.compile(
    r"""\bexpect\(\s*(?P<a>true|false|\d{1,9})\s*\)\.(?:toBe|toEqual|toStrictEqual)\(\s*(?P=a)\s*\)
    | \b(?:assert|assertTrue|Assert\.(?:True|IsTrue)|require\.True)!?\s{0,3}\(\s*(?:t,\s*)?true\s*\)
    | \bexpect\(\s*true\s*\)\.toBeTruthy\(\) | \bassert_eq!\(\s*(?P<b>true|\d{1,9})\s*,\s*(?P=b)\s*\)
    | \bassert\s+True\b | \bassert\s+true\s*$""",
    re.X,
)
_EXACT = re.compile(
    r"\.(?:toBe|toEqual|toStrictEqual)\(|\b(?:assertEquals|assert_eq!|assert_equal|assertEqual|Assert\.(?:Equal|AreEqual))\b"
    r"|\bto eq\b"
)
_VAGUE = re.compile(
    r"\.(?:toBeTruthy|toBeDefined|toBeFalsy|toBeInstanceOf|toBeGreaterThan\w{0,7}|toBeLessThan\w{0,7}|toContain|toMatchObject)\("
    r"|\.not\.to(?:Be(?:Null|Undefined|NaN)|Equal)\b|\b(?:assertNotNull|assert_not_nil|refute_nil|Assert\.(?:NotNull|IsNotNull))\b"
    r"|expect\.anything\(\)"
)
_LITERAL = re.compile(r"\"[^\"]{0,200}\"|'[^']{0,200}'|`[^`]{0,200}`|(?<![\w.])-?\d[\w.]{0,30}")
_DEFINES = re.compile(
    r"\b(?:func(?:\s*\([^)]{0,100}\))?|function\*?|fn|def|class|struct|interface|trait|enum|type|const|let|var|void|static)\s+(?:self\.)?(\w{1,80})"
    r"|\b(?:public|private|protected|internal)\s[^=;(){]{0,150}?\b(\w{1,80})\s{0,3}\("
)
_WORD = re.compile(r"\w{3,80}|\b\w{1,2}(?=\()")
"""A name that a line uses: a short one only where it is called, since `i` is everywhere."""
_SETTINGS = re.compile(r"^\s*[\"']?(?:testPathIgnorePatterns|modulePathIgnorePatterns|passWithNoTests)[\"']?\s{0,3}:")
_LEAVES_NOTHING = re.compile(r"Patterns[\"']?\s{0,9}:\s{0,9}\[\s{0,9}\]|:\s{0,9}false")
_NO_TESTS = re.compile(
    r"^\s*\"test(?::\w{1,30})?\"\s{0,3}:\s{0,3}\"\s{0,3}(?:exit 0|true|echo\b[^&|;\"]{0,200}|:)?\s{0,3}\""
)


@dataclass(slots=True)
class Moves:
    """Over the whole patch: lines added to tests, the literals in them, and names that the code no longer defines."""

    lines: Counter[str]
    literals: dict[str, set[str]]
    gone: set[str]
    titles: Counter[str]
    """Titles of tests on added lines, less those on removed ones."""


def moves_of(diffs: list[FileDiff]) -> Moves:
    moves = Moves(Counter(), {}, set(), Counter())
    defined: dict[str, set[str]] = {"-": set(), "+": set(), " ": set()}
    for diff in diffs:
        for hunk in diff.hunks:
            for line in hunk:
                if not is_for_tests(diff.path):
                    for match in _DEFINES.finditer(line.text):
                        defined[line.sign].add(match[1] or match[2])
                elif line.sign == "+" and not _is_comment(line.text):
                    moves.lines[_squeezed(line.text)] += 1
                    moves.literals.setdefault(diff.path, set()).update(_LITERAL.findall(line.text))
                    if title := _title(line.text):
                        moves.titles[title] += 1
    moves.gone = defined["-"] - defined["+"] - defined[" "]
    return moves


def weakened_by_diff(diff: FileDiff, moves: Moves, *, in_code: bool = False) -> tuple[list[str], list[str]]:
    """What the tests of one file lost, and what changed; `in_code`: a file with code too, where only tests count."""
    faults: list[str] = []
    notes: list[str] = []
    for hunk in diff.hunks:
        for start, end in _blocks(hunk):
            removed = [line for line in hunk[start:end] if line.sign == "-"]
            added = [line for line in hunk[start:end] if line.sign == "+"]
            if in_code and not any(_HEADER.search(line.text) or "#[" in line.text for line in hunk):
                continue
            _block(diff.path, removed, added, moves, faults, notes)
        faults += _skips(diff.path, hunk, moves)
    if diff.new is None and diff.old is not None and not faults and not in_code:
        headers = [title for line in diff.lines("-") if (title := _title(line.text))]
        lost = [title for title in headers if not moves.titles[title] and not set(_WORD.findall(title)) & moves.gone]
        body = {word for line in diff.lines("-") for word in _WORD.findall(line.text)}
        if lost and not body & moves.gone:
            faults.append(f"{diff.path}: deleted, with {lost[0]}")
    return faults, notes


def weakened_scripts(diff: FileDiff) -> Iterator[str]:
    """Settings of JavaScript's test runners, and scripts that no longer test."""
    name = diff.path.rpartition("/")[2]
    if not (name == "package.json" or name.startswith(("jest.config", "vitest.config", "vite.config"))):
        return
    removed = {_squeezed(line.text) for line in diff.lines("-")}
    for line in diff.lines("+"):
        leaves_out = _SETTINGS.match(line.text) or _NO_TESTS.match(line.text)
        if leaves_out and _squeezed(line.text) not in removed and not _LEAVES_NOTHING.search(line.text):
            yield f"{diff.path}:{line.number}: {line.text.strip()}"


def _blocks(hunk: list[Line]) -> Iterator[tuple[int, int]]:
    """Runs of changed lines; one line of context within a run does not end it."""
    start: int | None = None
    for at, line in enumerate([*hunk, Line(" ", 0, ""), Line(" ", 0, "")]):
        changed = line.sign != " "
        if changed and start is None:
            start = at
        elif not changed and start is not None and (at + 1 >= len(hunk) or hunk[at + 1].sign == " "):
            yield start, min(at, len(hunk))
            start = None


def _block(
    path: str, removed: list[Line], added: list[Line], moves: Moves, faults: list[str], notes: list[str]
) -> None:
    before = [line for line in removed if _asserts(line.text)]
    after = [line for line in added if _asserts(line.text)]
    same = Counter(_squeezed(line.text) for line in after)
    left = []
    for line in before:
        if same[_squeezed(line.text)]:
            same[_squeezed(line.text)] -= 1
        else:
            left.append(line)
    new = [line for line in after if same[_squeezed(line.text)] > 0]
    gone = [line for line in left if not _explained(path, line, moves)]
    if any(set(_WORD.findall(line.text)) & moves.gone for line in removed):
        gone = []
    if len(gone) > len(new):
        count = len(gone) - len(new)
        faults.append(
            f"{path}:{gone[0].number}: {count} assertion{'s' if count > 1 else ''} removed: {gone[0].text.strip()}"
        )
    elif left and any(_TRIVIAL.search(line.text) for line in new):
        line = next(line for line in new if _TRIVIAL.search(line.text))
        faults.append(f"{path}:{line.number}: always true now: {line.text.strip()}")
    elif gone:
        exact = [sum(bool(_EXACT.search(line.text)) for line in lines) for lines in (gone, new)]
        vague = [line for line in new if _VAGUE.search(line.text) and not _EXACT.search(line.text)]
        if exact[1] < exact[0] and vague and len(gone) == len(new):
            faults.append(f"{path}:{vague[0].number}: loosened: {gone[0].text.strip()} to {vague[0].text.strip()}")
        else:
            notes.append(f"{path}:{gone[0].number}: expected value changed: {gone[0].text.strip()}")


def _is_comment(text: str) -> bool:
    bare = text.strip()
    return bare.startswith(("//", "*", "/*")) or (bare.startswith("#") and not bare.startswith("#["))


def _asserts(text: str) -> bool:
    imports = text.strip().startswith(("import ", "use ", "from "))
    return not (imports or _is_comment(text)) and bool(_ASSERTION.search(text))


def _explained(path: str, line: Line, moves: Moves) -> bool:
    """Whether an assertion was moved, put into a table, or went with what it tested."""
    key = _squeezed(line.text)
    if moves.lines[key] > 0:
        moves.lines[key] -= 1
        return True
    literals = set(_LITERAL.findall(line.text))
    values = {literal for literal in literals if "%" not in literal}
    return bool(values) and any(values <= theirs for theirs in moves.literals.values())


def _skips(path: str, hunk: list[Line], moves: Moves) -> Iterator[str]:
    """Skips on added lines, of tests that were there before."""
    removed = Counter(_squeezed(line.text) for line in hunk if line.sign == "-")
    titles = {title for line in hunk if line.sign == "-" and (title := _title(line.text))}
    for at, line in enumerate(hunk):
        bare = line.text.strip()
        if line.sign != "+" or bare.startswith(("*", "/*")) or removed[_squeezed(line.text)]:
            continue
        if _SKIP_HEADER.search(line.text):
            title = _title(line.text)
            focus = re.search(r"\.only\b|\bf(?:it|describe)\b", line.text)
            if focus or title is None or title in titles:
                yield f"{path}:{line.number}: {'others are skipped' if focus else 'skipped'}: {bare}"
        elif _SKIP_LINE.search(line.text) and not (bare.startswith("//") and "go:build" not in bare):
            ahead = bare.startswith(("@", "#[", "["))
            around = hunk[at + 1 : at + 12] if ahead else reversed(hunk[:at])
            header = next((other for other in around if other.sign != "-" and _HEADER.search(other.text)), None)
            # A test that is new with its skip takes nothing away.
            if header is None or header.sign == " " or _title(header.text) in titles:
                yield f"{path}:{line.number}: skipped: {bare}"


def _title(text: str) -> str | None:
    match = _HEADER.search(text)
    return next((group.strip("\"'`") for group in match.groups() if group), None) if match else None


def _squeezed(text: str) -> str:
    return re.sub(r"[\s;,]+", "", text).replace("'", '"')


def holds_tests(diff: FileDiff) -> bool:
    """Whether a file of another language holds tests: by its name, or Rust's way, beside the code."""
    if is_other_test(diff.path) or (diff.old is not None and is_other_test(diff.old)):
        return True
    return diff.path.endswith(".rs") and any(
        "#[test]" in line.text or "#[cfg(test)]" in line.text or "assert" in line.text
        for hunk in diff.hunks
        for line in hunk
    )
