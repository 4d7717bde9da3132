"""A copy of a folder, for what must not change the original."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path


def copy_folder(folder: Path, copy: Path) -> None:
    """Copy a folder. Links stay links, but point into the copy where they can; sockets, pipes and devices are left out.

    Raises:
        OSError: something cannot be copied.
    """
    shutil.copytree(folder, copy, symlinks=True, ignore=_special)
    for place, folders, files in os.walk(copy):
        for name in (*folders, *files):
            path = Path(place, name)
            if path.is_symlink() and (target := path.readlink()).is_relative_to(folder):
                path.unlink()
                path.symlink_to(copy / target.relative_to(folder))


def _special(folder: str, names: Sequence[str]) -> set[str]:
    modes = {name: os.lstat(os.path.join(folder, name)).st_mode for name in names}  # noqa: PTH118
    return {
        name for name, mode in modes.items() if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))
    }
