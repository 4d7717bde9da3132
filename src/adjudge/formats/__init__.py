"""Config dialects: found, read and checked, each in a folder of its own."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from adjudge.domain import ConfigError, Discovered, Problem, Suite
from adjudge.formats.convert import nearest

Discover = Callable[[Sequence[str]], Discovered]


class Format(Protocol):
    """What a dialect's folder offers."""

    NAME: str

    def detect(self, path: Path, /) -> Path | None:
        """The config file or folder that this dialect would read, or `None` when it is not one of its."""
        ...

    def load(self, path: Path, /, *, workspace: Path | None = None, discover: Discover | None = None) -> Suite:
        """Read it. `discover` imports Python files elsewhere, for formats whose Python says what there is to judge.

        Raises:
            ConfigError: with every problem found.
        """
        ...


FORMATS: dict[str, str] = {
    "eval_yaml": "adjudge.formats.eval_yaml",
    "rewardkit": "adjudge.formats.rewardkit",
    "banana": "adjudge.formats.banana",
    "golden": "adjudge.formats.golden",
}
"""Every format with its module, in the order in which they are asked whether a path is theirs."""


def detected(path: str | Path) -> list[str]:
    """The formats that find something of theirs at a path."""
    modules: list[tuple[str, Format]] = [(name, importlib.import_module(module)) for name, module in FORMATS.items()]
    return [name for name, module in modules if Path(path).exists() and module.detect(Path(path)) is not None]


def load(
    *paths: str | Path, name: str | None = None, workspace: str | Path | None = None, discover: Discover | None = None
) -> Suite:
    """Read a config file or folder, whose format is detected unless `name` says it.

    Several paths must be tests folders of Reward Kit, which are judged side by side.

    Raises:
        ConfigError: with every problem found, or because no format claims the path.
    """
    home = Path(workspace) if workspace is not None else None
    missing = [
        Problem(file=str(path), message="there is no such file or folder") for path in paths if not Path(path).exists()
    ]
    if missing:
        raise ConfigError(missing)
    if name is not None and name not in FORMATS:
        raise ConfigError(
            [Problem(key="--format", message=f"there is no format {name!r}", hint=nearest(name, FORMATS))]
        )
    for candidate in [name] if name else FORMATS:
        module: Format = importlib.import_module(FORMATS[candidate])
        by_name = name == "rewardkit"  # what it would not be taken for, it may be called
        found = [Path(path) if by_name and Path(path).is_dir() else module.detect(Path(path)) for path in paths]
        if len(paths) == 1 and found[0] is not None:
            return module.load(found[0], workspace=home, discover=discover)
        if len(paths) > 1 and candidate == "rewardkit" and None not in found:
            from adjudge.formats.rewardkit import load_folders

            return load_folders([Path(path) for path in paths], workspace=home, discover=discover)
    if len(paths) > 1:
        raise ConfigError("several paths must each be a tests folder of Reward Kit")
    path = Path(paths[0])
    hint = "an eval.yaml, a tests folder, eval_checks/ or evals/tasks/ is expected; adjudge init writes one"
    what = "this folder holds no config" if path.is_dir() else "no format reads this kind of file"
    raise ConfigError([Problem(file=str(path), message=f"{what} that adjudge knows", hint=hint)])


__all__ = ["FORMATS", "detected", "load"]
