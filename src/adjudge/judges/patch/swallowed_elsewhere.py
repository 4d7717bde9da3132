"""Errors that are hidden in other languages, by plain patterns over the lines of a diff."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

LANGUAGES = ("Python", "JavaScript, TypeScript", "Java", "Kotlin", "C#", "C++", "PHP", "Go", "Rust", "Ruby", "shell")
_KINDS = {
    **dict.fromkeys(("py",), "python"),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte"), "javascript"),
    **dict.fromkeys(("java", "kt", "kts", "cs", "cpp", "cc", "cxx", "hpp", "php", "scala", "swift", "dart"), "braces"),
    **dict.fromkeys(("go",), "go"),
    **dict.fromkeys(("rs",), "rust"),
    **dict.fromkeys(("rb", "rake"), "ruby"),
    **dict.fromkeys(("sh", "bash", "zsh"), "shell"),
}
# Possessive, so that no text takes more than one pass.
_NOTHING = r"(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/)){0,2000}+\*/|;)*+"
_CATCH = (rf"\bcatch\s{{0,20}}(?:\([^()\n]{{0,200}}\))?\s{{0,20}}\{{{_NOTHING}\}}", "an empty catch block")
_PATTERNS: dict[str, list[tuple[str, str]]] = {
    # Only where a Python file does not parse.
    "python": [
        (
            r"^[ \t]*except[ \t]*(?:\(?[ \t]*(?:Base)?Exception\b[^:\n]{0,80})?:[ \t]*(?:#[^\n]*)?\n?[ \t]*pass\b",
            "except: pass",
        ),
        (r"\bsuppress\(\s{0,9}(?:Base)?Exception\b", "suppress(Exception)"),
    ],
    "javascript": [
        _CATCH,
        (
            (
                rf"\.catch\(\s{{0,9}}(?:async\s)?(?:\(\s{{0,9}}[\w$]{{0,40}}\s{{0,9}}\)|[\w$]{{1,40}})\s{{0,9}}=>"
                rf"\s{{0,9}}(?:\{{{_NOTHING}\}}|null|undefined|void 0)\s{{0,9}}\)"
            ),
            "a promise's error thrown away",
        ),
        (
            rf"\.catch\(\s{{0,9}}function\s{{0,9}}\([^()\n]{{0,40}}\)\s{{0,9}}\{{{_NOTHING}\}}",
            "a promise's error thrown away",
        ),
    ],
    "braces": [_CATCH],
    "go": [
        (rf"\bif\s[^{{\n]{{0,200}}\berr\s{{0,9}}!=\s{{0,9}}nil\s{{0,9}}\{{{_NOTHING}\}}", "an error found and ignored"),
        (
            rf"\bdefer\s+func\(\)\s{{0,9}}\{{\s{{0,20}}(?:_\s{{0,9}}=\s{{0,9}})?recover\(\){_NOTHING}\}}",
            "a panic thrown away",
        ),
        (r"^[ \t]*_[ \t]*=[ \t]*err[ \t]*$", "an error thrown away"),
    ],
    "rust": [
        (rf"\bErr\(_\w{{0,40}}\)\s{{0,9}}=>\s{{0,9}}(?:\(\)|\{{{_NOTHING}\}})", "an error thrown away"),
    ],
    "ruby": [
        (r"\brescue[ \t]+nil[ \t]*$", "rescue nil"),
        (
            (
                r"^[ \t]*rescue(?:[ \t]+(?:StandardError|Exception))?(?:[ \t]*=>[ \t]*\w{1,40})?[ \t]*(?:#[^\n]*)?\n"
                r"(?:[ \t]*(?:#[^\n]*|nil)?\n){0,20}[ \t]*end\b"
            ),
            "an empty rescue",
        ),
    ],
    "shell": [
        (r"2>[ \t]*(?:/dev/null|&1)[ \t]*\|\|[ \t]*(?:true|:)[ \t]*$", "a command whose errors are hidden and ignored"),
    ],
}
_COMPILED = {
    kind: [(re.compile(pattern, re.M), what) for pattern, what in patterns] for kind, patterns in _PATTERNS.items()
}


def language(path: str) -> str | None:
    """The family of patterns for a file by its ending."""
    return _KINDS.get(path.rpartition(".")[2].lower()) if "." in path else None


def swallows_in_text(lines: list[str], kind: str) -> Iterator[tuple[int, int, str]]:
    """Where errors are hidden: the first and last line, counted from 0, and what it is."""
    text = "\n".join(lines)
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    for pattern, what in _COMPILED[kind]:
        for match in pattern.finditer(text):
            yield (
                bisect_right(starts, match.start()) - 1,
                bisect_right(starts, max(match.start(), match.end() - 1)) - 1,
                what,
            )
