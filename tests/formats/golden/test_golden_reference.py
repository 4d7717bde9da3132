"""docs/reference/golden.md has every key of every file of golden tasks, with its default, and no other."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from adjudge.domain import JudgeIdentity, Quarantined, SuiteBaseline, TaskBaseline
from adjudge.formats.golden import write_baseline, write_quarantine
from adjudge.formats.golden.load import HARDNESS
from adjudge.formats.golden.schema import AgentFile, GoldenFile, JudgeFile, ShownFile, SuiteFile, TaskFile
from adjudge.trust.certificate import Certificate, DimensionTrust, Targets
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "reference" / "golden.md").read_text()
SECTIONS = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
PARTS: dict[str, type[msgspec.Struct]] = {"agent": AgentFile, "judge": JudgeFile, "shown": ShownFile}


def rows(section: str) -> list[list[str]]:
    lines = [line for line in SECTIONS[section].splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def documented(section: str) -> dict[str, str]:
    """Key -> default, as the page says it."""
    return {row[0].strip("`"): row[1].strip("`") for row in rows(section)}


def keys(section: str) -> set[str]:
    return {name for row in rows(section) for name in re.findall(r"`([^`]+)`", row[0])}


def defaults(kind: type[msgspec.Struct], before: str = "") -> dict[str, str]:
    found = {}
    for field in msgspec.structs.fields(kind):
        value = field.default if field.default is not msgspec.NODEFAULT else None
        found[before + field.encode_name] = "required" if field.required else str(value) if value else ""
    return found


@pytest.mark.parametrize(("section", "kind"), [("task.yaml", TaskFile), ("golden.json", GoldenFile)])
def test_every_key_and_default_is_there(section: str, kind: type[msgspec.Struct]) -> None:
    assert documented(section) == defaults(kind)


def test_every_key_of_golden_yaml_is_there() -> None:
    expected = {key: value for key, value in defaults(SuiteFile).items() if key not in ("judge", "shown")}
    expected["agent"] = defaults(AgentFile)["type"]
    for name, kind in PARTS.items():
        expected |= defaults(kind, f"{name}.")
    assert documented("golden.yaml") == expected


def test_every_builtin_check_is_there_with_its_hardness() -> None:
    assert documented("checks.py") == {name: level.value for name, level in HARDNESS.items()}


def test_every_key_of_a_written_baseline_is_there(tmp_path: Path) -> None:
    judge = JudgeIdentity(**dict.fromkeys(JudgeIdentity.__struct_fields__, "x"))
    task = TaskBaseline(digest="d", scores={"DIMENSION": (4.0,)})
    write_baseline(tmp_path / "b.json", SuiteBaseline(judge=judge, samples=1, tasks={"ID": task}))
    assert keys("baseline.json") == flat(json.loads((tmp_path / "b.json").read_text()))


def test_every_key_of_a_written_quarantine_is_there(tmp_path: Path) -> None:
    entry = Quarantined(task="t", dimension="d", until="2030-01-01", range=1.0, variance=1.0, reruns=3, reason="r")
    write_quarantine(tmp_path / "q.json", [entry])
    (written,) = json.loads((tmp_path / "q.json").read_text())
    assert keys("quarantine.json") == set(written) == set(Quarantined.__struct_fields__)


def test_every_key_of_a_certificate_is_there() -> None:
    assert keys("certificate.json") == {*Certificate.__struct_fields__} - {"dimensions"} | {"dimensions.NAME"}
    told = " ".join(row[1] for row in rows("certificate.json"))
    for name in (*DimensionTrust.__struct_fields__, *Targets.__struct_fields__):
        assert f"`{name}`" in told, name


def flat(data: Mapping[str, Any], before: str = "") -> set[str]:
    found: set[str] = set()
    for key, value in data.items():
        found |= flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {f"{before}{key}"}
    return found
