"""A copy of a workspace, for a criterion that must not change it."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def copied(workspace: Path) -> Iterator[Path]:
    """A copy of the workspace that is gone afterwards."""
    from adjudge.sandbox import copy_folder  # every worker for criteria imports this module, and few copy anything

    with tempfile.TemporaryDirectory(prefix="adjudge-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder, workspace.name or "workspace")
        if workspace.is_dir():
            copy_folder(workspace, copy)
        yield copy
