"""Do the agent's commit messages say what was done?"""

from __future__ import annotations

import re

from adjudge.judges.patch.base import Finding, Patch, printable, told

MAX_SUBJECT = 100
# fmt: off
_VAGUE = frozenset(
    {
        "a", "again", "all", "an", "and", "bug", "bugfix", "bugs", "bugfixes", "change", "changed",
        "changes", "chore", "clean", "cleanup", "code", "commit", "commits", "done", "edit",
        "edits", "error", "errors", "feat", "final", "fix", "fixed", "fixes", "fixing", "file",
        "files", "hotfix", "in", "init", "initial", "issue", "issues", "it", "minor", "misc",
        "miscellaneous", "modified", "modify", "more", "my", "new", "patch", "problem",
        "problems", "progress", "quick", "refactor", "review", "save", "small", "some",
        "stuff", "style", "task", "temp", "test", "tests", "that", "the", "things", "this", "tmp", "to",
        "tweak", "tweaks", "up", "update", "updated", "updates", "various", "wip", "work",
        "works", "working",
    }
)
# fmt: on
_TYPE = re.compile(r"^[a-z]{2,12}(?:\([^)]{0,60}\))?!?:\s*", re.I)
_REFERENCE = re.compile(r"\(?(?:[\w.-]{1,40}/[\w.-]{1,40})?#\d{1,9}\)?|\b[A-Z][A-Z0-9]{1,9}-\d{1,9}\b")
_TRAILER = re.compile(r"^(?:[A-Z][a-z]+-)+(?:by|with|to|id|Id):", re.I)
_FILE = re.compile(r"^[\w./\\+-]{0,200}\.[A-Za-z][A-Za-z0-9]{0,7}$|^[\w.+-]{1,60}(?:/[\w.+-]{1,60}){1,20}$")


def commit_message(patch: Patch) -> Finding:
    """Pass when each commit has a subject of its own words, of at most 100 characters."""
    if not patch.messages:
        return Finding(None, "the agent made no commit")
    faults = [fault for message in patch.messages if (fault := _fault(message))]
    count = len(patch.messages)
    return told(faults, clean=f"{count} commit message{'s' if count > 1 else ''} with a subject that says something")


def _fault(message: str) -> str:
    subject = next((line.strip() for line in message[:100_000].splitlines() if line.strip()), "")
    if not subject or _TRAILER.match(subject):
        return "an empty message"
    quoted = f"{printable(subject, 60)!r}"
    if len(subject) > MAX_SUBJECT:
        return f"a subject of {len(subject)} characters, over {MAX_SUBJECT}: {quoted}"
    bare = _REFERENCE.sub(" ", _TYPE.sub("", subject)).strip()
    tokens = [token for token in bare.split() if re.search(r"\w", token)]
    if tokens and all(_FILE.match(token.strip("`'\",:;()")) for token in tokens):
        return f"only a file name: {quoted}"
    words = re.findall(r"\w+", bare.lower())
    if all(word in _VAGUE for word in words):
        return f"says nothing of what was done: {quoted}"
    # Languages written without spaces say a whole sentence in one token.
    if len(tokens) < 2 and not (bare[:1] and sum(ord(c) > 0x2E80 for c in bare) >= 4):
        return f"a single word: {quoted}"
    return ""
