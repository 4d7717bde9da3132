"""The map in DESIGN.md, enforced."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCE = ROOT / "src" / "adjudge"
FILES = sorted(SOURCE.rglob("*.py"))

TIERS = [
    {"domain", "_version"},
    {"located", "whole_files"},
    {"sheets"},
    {"prompts", "models", "stats", "agents", "sandbox"},
    {"judges", "scoring"},
    {"formats", "cases", "engine", "execution", "report", "trust"},
    {"api"},
    {"cli", "__init__"},
    {"__main__"},
]
ACROSS = {
    ("engine", "cases"),
    ("formats", "cases"),
    ("execution", "cases"),
    ("engine", "execution"),
    ("engine", "trust"),
}
"""Rooms of one tier that may know each other's public face."""


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> list[str]:
    """Modules of adjudge that a file imports anywhere, also lazily."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found += [f"{node.module}.{name.name}" if node.module == "adjudge" else node.module for name in node.names]
        elif isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            raise AssertionError(f"{path}: relative import")
    return sorted({name for name in found if name.split(".")[0] == "adjudge"})


def tier(name: str) -> int:
    return next(level for level, rooms in enumerate(TIERS) if name in rooms)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_down_the_map(path: Path) -> None:
    here = room(path)
    for module in imports(path):
        parts = module.split(".")
        there = parts[1] if len(parts) > 1 else "__init__"
        allowed = there == here or tier(there) < tier(here) or (here, there) in ACROSS
        assert allowed, f"{here} must not import {module}"


def test_no_circle_of_imports_between_modules() -> None:
    names = {
        ".".join(["adjudge", *p.relative_to(SOURCE).with_suffix("").parts]).removesuffix(".__init__"): p for p in FILES
    }
    graph: dict[str, set[str]] = {}
    for name, path in names.items():
        top = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ImportFrom)]
        pairs = [(node.module or "", f"{node.module}.{alias.name}") for node in top for alias in node.names]
        graph[name] = {longer if longer in names else module for module, longer in pairs if module in names}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join([*trail, name])
        if name in done or name not in graph:
            return
        for other in graph[name]:
            if other != name:
                visit(other, (*trail, name))
        done.add(name)

    for name in graph:
        visit(name, ())


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_stay_readable(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 420


def modules_after(code: str) -> set[str]:
    shown = f"import sys; {code}; print(*sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_version_imports_next_to_nothing() -> None:
    code = "sys.argv = ['adjudge', '--version']; import adjudge.cli; adjudge.cli.cli.main(standalone_mode=False)"
    loaded = modules_after(code)
    heavy = {"msgspec", "yaml", "jinja2", "httpx", "rich", "asyncio", "sqlite3", "genai_prices", "pydantic", "numpy"}
    assert not loaded & heavy
    assert len(loaded) < 230


def test_what_runs_agents_and_scripts_is_imported_for_them_alone() -> None:
    """Workers and verifiers start thousands of times within containers."""
    loaded = modules_after("import adjudge.engine.run, adjudge.judges.criteria.loader")
    assert not [name for name in loaded if name.startswith(("adjudge.agents", "adjudge.sandbox"))]
    assert "asyncio" not in modules_after("import adjudge.engine.worker, adjudge.judges.criteria.loader")


def test_validate_imports_no_network_and_no_tables() -> None:
    loaded = modules_after("import adjudge.cli.validate, adjudge.formats")
    assert not loaded & {"httpx", "rich", "asyncio", "sqlite3", "genai_prices", "pydantic", "numpy", "ssl"}
    assert len(loaded) < 420


def test_every_public_name_can_be_imported() -> None:
    import adjudge

    for name in adjudge.__all__:
        assert getattr(adjudge, name) is not None
    with pytest.raises(AttributeError):
        adjudge.nothing  # noqa: B018
