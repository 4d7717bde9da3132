"""What installing the core takes: the package and its dependencies in a new environment."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from benchmarks.measure import PYTHON, row

ROOT = Path(__file__).parent.parent


def megabytes(folder: Path) -> float:
    """Of every file but compiled ones."""
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return sum(path.stat().st_size for path in files) / 1e6


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        target = Path(name)
        pip = [PYTHON, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-compile"]
        subprocess.run([*pip, "--target", str(target), str(ROOT)], check=True, stderr=subprocess.DEVNULL)
        row("install of the core", f"{megabytes(target):.0f} MB", "<= 60 MB")
