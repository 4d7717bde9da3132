"""Does the patch touch no more files than the task allows?"""

from __future__ import annotations

from adjudge.judges.patch.base import MAX_DETAIL, Finding, Patch, listed
from adjudge.judges.patch.unified import take_apart


def blast_radius(patch: Patch) -> Finding:
    """Pass when the files touched are at most `max_files`; a file that git saw renamed is one."""
    if patch.max_files is None:
        return Finding(None, "the task sets no limit of files")
    renamed = {file.old: file.new for file in take_apart(patch.diff) if file.renamed}
    files = set(patch.files)
    touched = sorted(path for path in files if renamed.get(path) not in files)
    said = f"{len(touched)} files touched, at most {patch.max_files} allowed"
    if len(touched) <= patch.max_files:
        return Finding(True, said)
    return Finding(False, f"{said}: {listed(touched, MAX_DETAIL - len(said) - 2)}")
