"""Did the patch touch every file that the task says it must?"""

from __future__ import annotations

import posixpath
from fnmatch import fnmatchcase

from adjudge.judges.patch.base import Finding, Patch, told


def expected_files(patch: Patch) -> Finding:
    """Pass when each expected file was added, changed, deleted or renamed; a pattern needs one file."""
    if not patch.expected:
        return Finding(None, "the task expects no files by name")
    touched = {posixpath.normpath(path) for path in patch.files}
    missing = [path for path in patch.expected if not _touched(posixpath.normpath(path), touched)]
    return told(
        [f"not touched: {path}" for path in missing], clean=f"all {len(patch.expected)} expected files were touched"
    )


def _touched(path: str, touched: set[str]) -> bool:
    if path in touched:
        return True
    return any(c in path for c in "*?[") and any(fnmatchcase(other, path) for other in touched)
