"""Programs from the npm registry, for end-to-end tests."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def install(folder: Path, *packages: str, scripts: bool = True) -> Path:
    """Install packages below a folder, and return where their programs lie; skips, saying why, where that fails. A
    registry that does not answer costs no more than a minute."""
    if shutil.which("npm") is None:
        pytest.skip(f"npm is not installed, and so are not: {', '.join(packages)}")
    quick = ("--fetch-retries=1", "--fetch-timeout=20000", "--fetch-retry-mintimeout=1000", "--no-audit", "--no-fund")
    command = [
        "npm",
        "install",
        *quick,
        *(() if scripts else ("--ignore-scripts",)),
        "--prefix",
        str(folder),
        *packages,
    ]
    try:
        ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        pytest.skip(f"cannot be installed: {', '.join(packages)}: the registry does not answer")
    if ended.returncode:
        pytest.skip(f"cannot be installed: {', '.join(packages)}: {ended.stderr[-200:]}")
    return folder / "node_modules" / ".bin"
