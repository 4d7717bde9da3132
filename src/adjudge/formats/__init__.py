"""Config dialects: found, read and checked, each in a folder of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from adjudge.domain import ConfigError, Problem, Suite
from adjudge.formats import eval_yaml
from adjudge.formats.convert import nearest


class Format(Protocol):
    """What a dialect's folder offers."""

    NAME: str

    def detect(self, path: Path, /) -> Path | None:
        """The config file or folder that this dialect would read, or `None` when it is not one of its."""
        ...

    def load(self, path: Path, /, *, workspace: Path | None = None) -> Suite:
        """Read it.

        Raises:
            ConfigError: with every problem found.
        """
        ...


FORMATS: dict[str, Format] = {eval_yaml.NAME: eval_yaml}


def load(path: str | Path, *, name: str | None = None, workspace: str | Path | None = None) -> Suite:
    """Read a config file or folder, whose format is detected unless `name` says it.

    Raises:
        ConfigError: with every problem found, or because no format claims the path.
    """
    path = Path(path)
    if not path.exists():
        raise ConfigError([Problem(file=str(path), message="there is no such file or folder")])
    if name is not None and name not in FORMATS:
        raise ConfigError(
            [Problem(key="--format", message=f"there is no format {name!r}", hint=nearest(name, FORMATS))]
        )
    candidates = [FORMATS[name]] if name else list(FORMATS.values())
    for module in candidates:
        found = module.detect(path)
        if found is not None:
            return module.load(found, workspace=Path(workspace) if workspace is not None else None)
    hint = "an eval.yaml is expected; adjudge init writes one"
    what = "this folder holds no config" if path.is_dir() else "no format reads this kind of file"
    raise ConfigError([Problem(file=str(path), message=f"{what} that adjudge knows", hint=hint)])


__all__ = ["FORMATS", "load"]
