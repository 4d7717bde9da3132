"""Criteria on shell commands. What a command prints counts whatever its exit code; running out of time is a failure."""

from __future__ import annotations

from pathlib import Path

from adjudge.judges.criteria.finding import Finding
from adjudge.judges.criteria.library.reading import brief, failing, need_pattern, need_string
from adjudge.judges.criteria.library.running import Ran, folder, need_seconds, run


@failing(False)
def command_succeeds(workspace: Path, cmd: str, cwd: str | None = None, timeout: float = 30) -> Finding:
    """Whether a command ends with exit code 0."""
    ran = _shell(workspace, cmd, cwd, timeout)
    return Finding(ran.code == 0, ran.evidence())


@failing(False)
def command_output_contains(
    workspace: Path, cmd: str, text: str, cwd: str | None = None, timeout: float = 30
) -> Finding:
    """Whether a text occurs in what a command prints on stdout."""
    need_string("text", text)
    ran = _shell(workspace, cmd, cwd, timeout)
    found = any(text in part for part in ran.stdout.parts)
    return _finding(ran, found, f"stdout {'contains' if found else 'does not contain'} {brief(text)}")


@failing(False)
def command_output_matches(
    workspace: Path, cmd: str, expected: str, cwd: str | None = None, timeout: float = 30
) -> Finding:
    """Whether a command prints the expected text on stdout, but for space at both ends."""
    need_string("expected", expected)
    ran = _shell(workspace, cmd, cwd, timeout)
    found = ran.stdout.whole and ran.stdout.parts[0].strip() == expected.strip()
    return _finding(ran, found, f"stdout {'is' if found else 'is not'} {brief(expected)}")


@failing(False)
def command_output_matches_regex(
    workspace: Path, cmd: str, pattern: str, cwd: str | None = None, timeout: float = 30
) -> Finding:
    """Whether a regular expression matches anywhere in what a command prints on stdout."""
    expression = need_pattern(pattern)
    ran = _shell(workspace, cmd, cwd, timeout)
    found = any(expression.search(part) for part in ran.stdout.parts)
    return _finding(ran, found, f"stdout {'has a' if found else 'has no'} match of {brief(pattern)}")


def _shell(workspace: Path, cmd: str, cwd: str | None, timeout: float) -> Ran:
    need_string("cmd", cmd)
    need_seconds(timeout)
    return run(["/bin/sh", "-c", cmd], cwd=folder(workspace, cwd), timeout=timeout)


def _finding(ran: Ran, found: bool, said: str) -> Finding:
    if not ran.stdout.whole:
        said += " (of a very long output, the beginning and the end were kept)"
    return Finding(found and ran.code is not None, ran.evidence(said))
