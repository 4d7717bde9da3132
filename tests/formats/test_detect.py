"""Which format a folder is taken for: running a whole project's Python by mistake is worse than asking for --format."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.domain import ConfigError
from adjudge.engine import discover
from adjudge.formats import load, rewardkit

JUDGE = '[judge]\n[[criterion]]\ndescription = "Good?"\n'
CHECKS = "import rewardkit as rk\nrk.file_exists('a.txt')\n"


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    "files",
    [
        {"quality.toml": JUDGE},
        {"quality.toml": '[[criterion]]\ndescription = "Good?"\n'},
        {"style/quality.toml": JUDGE},
        {"reward.toml": '[[reward]]\nname = "total"\n'},
        {"checks.py": CHECKS},
        {"correct/checks.py": "from rewardkit import criterion\n"},
        {"judges.toml": '[judges]\n[[criteria]]\ndescription = "Good?"\n'},
    ],
)
def test_a_tests_folder_is_known_by_what_lies_in_it(files: dict[str, str], tmp_path: Path) -> None:
    assert rewardkit.detect(write(tmp_path, files)) == tmp_path


@pytest.mark.parametrize(
    "files",
    [
        {"notes.txt": "rewardkit"},
        {"app.py": "# talks of rewardkit\n"},
        {"config.toml": "[tool]\nname = 'x'\n"},
        {"a/b/c/checks.py": CHECKS},
        {"__pycache__/checks.py": CHECKS},
        {".venv/checks.py": CHECKS},
        {"pyproject.toml": "", "tests/checks.py": CHECKS},
        {"package.json": "{}", "checks.py": CHECKS},
        {".git/HEAD": "", "checks.py": CHECKS},
    ],
)
def test_nothing_else_is_taken_for_one(files: dict[str, str], tmp_path: Path) -> None:
    assert rewardkit.detect(write(tmp_path, files)) is None


def test_its_python_is_not_run_before_it_is_known(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": "", "evil.py": f"import rewardkit\nopen({str(tmp_path / 'ran')!r}, 'w')\n"})
    with pytest.raises(ConfigError, match="holds no config"):
        load(tmp_path, discover=discover)
    assert not (tmp_path / "ran").exists()


def test_a_project_is_read_when_it_is_called_one(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": "", "checks.py": CHECKS})
    suite = load(tmp_path, name="rewardkit", workspace=tmp_path, discover=discover)
    assert [judge.name for judge in suite.judges] == ["checks:file_exists:a.txt"]


def test_several_folders_are_all_tests_folders(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one", {"checks.py": CHECKS}), write(tmp_path / "two", {"notes.txt": ""})
    with pytest.raises(ConfigError, match="several paths"):
        load(one, two, discover=discover)
