"""Folders of plugins for Claude Code, as far as their skills go."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import msgspec

MANIFEST = ".claude-plugin/plugin.json"
DEFAULT = "skills"


class _Manifest(msgspec.Struct, frozen=True):
    skills: str | list[str] | None = None


def plugin_fault(folder: Path, shown: str) -> str:
    """Why a folder is no plugin with a skill, with what was looked for; empty when it is one. Skills lie below
    `skills/` and where the plugin's manifest says."""
    named: list[str] = []
    manifest = folder / MANIFEST
    if manifest.is_file():
        try:
            given = msgspec.json.decode(manifest.read_bytes(), type=_Manifest).skills
        except (OSError, msgspec.DecodeError, RecursionError) as error:
            return f"{shown}/{MANIFEST} cannot be read: {error}"
        named = [given] if isinstance(given, str) else given or []
    places = [str(PurePosixPath(name)) for name in dict.fromkeys((DEFAULT, *named))]
    for name in places:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            return f"{shown}/{MANIFEST}: skills: {name!r} leads out of the plugin"
        place = folder / path
        if any(place.glob("*/SKILL.md")) or (place / "SKILL.md").is_file():
            return ""
    looked = " or ".join(str(PurePosixPath(shown, name, "*", "SKILL.md")) for name in places)
    return f"{shown} has no skill: there is no {looked}"
