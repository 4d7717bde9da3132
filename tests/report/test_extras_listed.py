"""`adjudge doctor` tells of every extra that the package has."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from adjudge.cli import doctor

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
DECLARED: dict[str, list[str]] = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]


def test_every_extra_is_listed_and_none_else() -> None:
    assert list(doctor.EXTRAS) == sorted(DECLARED)
    assert set(doctor.NEEDED_FOR) == set(doctor.EXTRAS)
    told = CliRunner().invoke(doctor.command, standalone_mode=False).stdout
    lines = told[told.index("extras\n") :].splitlines()[1:]
    assert [line.split()[1] for line in lines] == sorted(DECLARED)


@pytest.mark.parametrize("extra", sorted(DECLARED))
def test_an_extra_is_there_when_every_package_of_it_is(extra: str) -> None:
    """One module a package; of those that are installed, the module is known to be that package's."""
    wanted = sorted(_plain(re.split(r"[\[<>=!~; ]", text)[0]) for text in DECLARED[extra])
    modules = doctor.EXTRAS[extra]
    assert len(modules) == len(wanted)
    brought = importlib.metadata.packages_distributions()
    for module in modules:
        owners = {_plain(name) for name in brought.get(module, wanted)}
        assert owners & set(wanted), module


def test_what_is_missing_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "statsmodels" else object())
    told = {name.split()[0]: (works, text) for works, name, text in doctor._extras()}
    assert told["stats"] == (False, "statsmodels missing: pip install 'adjudge[stats]'")
    assert told["mlflow"] == (True, "installed")
    assert told["jev"] == (True, "nothing to install")


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
