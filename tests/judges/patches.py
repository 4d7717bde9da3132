"""Small patches: two trees on disk and the diff between them."""

from __future__ import annotations

import subprocess
from difflib import unified_diff
from pathlib import Path
from textwrap import dedent
from typing import Any

from adjudge.judges.patch import CHECKS, Finding, Patch

Files = dict[str, str]


def write(root: Path, files: Files) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).removeprefix("\n"))
    return root


def patch_of(tmp_path: Path, before: Files, after: Files, **more: Any) -> Patch:
    """The patch from one set of files to another; files of `before` that `after` does not name were deleted."""
    old, new = write(tmp_path / "before", before), write(tmp_path / "after", after)
    texts = [{name: (root / name).read_text() for name in files} for root, files in ((old, before), (new, after))]
    touched = sorted(name for name in {*before, *after} if texts[0].get(name) != texts[1].get(name))
    parts = []
    added = removed = 0
    for name in touched:
        sides = [side.get(name) for side in texts]
        names = [
            f"{letter}/{name}" if side is not None else "/dev/null" for letter, side in zip("ab", sides, strict=True)
        ]
        old_lines, new_lines = ((side or "").splitlines() for side in sides)
        lines = list(unified_diff(old_lines, new_lines, names[0], names[1], lineterm=""))
        added += sum(line.startswith("+") for line in lines[2:])
        removed += sum(line.startswith("-") for line in lines[2:])
        parts += [f"diff --git a/{name} b/{name}", *lines]
    given: dict[str, Any] = {
        "files": tuple(touched),
        "diff": "\n".join([*parts, ""]),
        "added": added,
        "removed": removed,
    }
    return Patch(before=old, after=new, **{**given, **more})


def git_patch(tmp_path: Path, before: Files, after: Files) -> Patch:
    """The same by git's own diff, which finds what was renamed."""
    made = patch_of(tmp_path, before, after)
    repository = tmp_path / "repository"
    write(repository, before)

    def git(*words: str) -> str:
        run = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
        return subprocess.run(run, cwd=repository, capture_output=True, text=True, check=True).stdout

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "start")
    for name in before:
        (repository / name).unlink()
    write(repository, after)
    git("add", "-A")
    return Patch(
        before=made.before,
        after=made.after,
        files=made.files,
        diff=git("diff", "--cached", "-M"),
        added=made.added,
        removed=made.removed,
    )


def found(name: str, patch: Patch) -> Finding:
    finding = CHECKS[name].function(patch)
    assert 0 < len(finding.detail) <= 500
    assert finding.detail.isprintable()
    return finding
