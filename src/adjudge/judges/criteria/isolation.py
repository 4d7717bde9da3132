"""A copy of a workspace, for a criterion that must not change it."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path


@contextlib.contextmanager
def copied(workspace: Path) -> Iterator[Path]:
    """A copy of the workspace that is gone afterwards. Links stay links, but point into the copy where they can."""
    with tempfile.TemporaryDirectory(prefix="adjudge-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder, workspace.name or "workspace")
        if workspace.is_dir():
            shutil.copytree(workspace, copy, symlinks=True, ignore=_special)
            _turn_links(workspace, copy)
        yield copy


def _special(folder: str, names: Sequence[str]) -> set[str]:
    """What cannot be copied: sockets, pipes, devices."""
    modes = {name: os.lstat(os.path.join(folder, name)).st_mode for name in names}  # noqa: PTH118
    return {
        name for name, mode in modes.items() if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))
    }


def _turn_links(workspace: Path, copy: Path) -> None:
    for folder, folders, files in os.walk(copy):
        for name in (*folders, *files):
            path = Path(folder, name)
            if path.is_symlink() and (target := path.readlink()).is_relative_to(workspace):
                path.unlink()
                path.symlink_to(copy / target.relative_to(workspace))
