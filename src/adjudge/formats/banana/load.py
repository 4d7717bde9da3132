"""`eval_checks/` -> Suite: every check is a judge, and the project is the only case."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import (
    AgentJudge,
    AnswerBy,
    Binary,
    Case,
    ConfigError,
    Criterion,
    Judge,
    Place,
    Problem,
    Sandbox,
    ScriptJudge,
    Suite,
)
from adjudge.formats.banana.harness import Harness, harness_of
from adjudge.formats.banana.settings import Flags, Settings, read_settings
from adjudge.formats.convert import Converter, nearest
from adjudge.located import Located, parse_yaml, read_text

FOLDER = "eval_checks"
CASE = "project"
TYPES = ("deterministic", "harness_judge")
_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
_DOMAIN = b"eval-banana/check-definition-sha256/v1\0"
_LABEL = 40


class CheckFile(msgspec.Struct, forbid_unknown_fields=True):
    schema_version: int | float
    id: str
    type: str
    description: str
    tags: list[str] = []
    script: str | None = None
    script_path: str | None = None
    instructions: str | None = None
    model: str | None = None


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check as it was read."""

    id: str
    type: str
    description: str
    tags: tuple[str, ...]
    path: Path
    digest: str
    script: str = ""
    script_path: str = ""
    instructions: str = ""
    model: str = ""
    line: int = 1

    @property
    def stem(self) -> str:
        """The name of its files: a label and a hash of the whole id."""
        return f"{self.id[:_LABEL]}-{hashlib.sha256(self.id.encode()).hexdigest()}"


class Loaded(msgspec.Struct, frozen=True):
    """A project: what holds, its checks in order, and the suite that they make."""

    settings: Settings
    checks: tuple[Check, ...]
    suite: Suite


def load(path: Path, *, workspace: Path | None = None, discover: Any = None) -> Suite:
    """Read a project.

    Raises:
        ConfigError: with every problem of every file.
    """
    return load_project(path, Flags()).suite


def load_project(path: Path, flags: Flags, *, judges: bool = True) -> Loaded:
    """Read a project with what the command line says. Without `judges` no agent need be configured.

    Raises:
        ConfigError: with every problem of every file.
    """
    problems: list[Problem] = []
    settings = read_settings(path, flags, problems)
    root = settings.root
    folder = root / flags.check_dir if flags.check_dir is not None else None
    files = list(check_files(root, settings.exclude_dirs, only=folder))
    checks: list[Check] = []
    for file in files:
        if flags.check_id is not None and not _has_id(file, flags.check_id):
            continue
        check = read_check(file, _shown(file, root), problems)
        if check is not None:
            checks.append(check)
    by_id: dict[str, Check] = {}
    for check in checks:
        first = by_id.setdefault(check.id, check)
        if first is not check:
            text = f"the id {check.id!r} is taken by {_shown(first.path, root)}"
            problems.append(Problem(file=_shown(check.path, root), line=check.line, column=1, key="id", message=text))
    if flags.check_id is not None and not checks and not _errors(problems):
        problems.append(Problem(key="--check-id", message=f"there is no check {flags.check_id!r}"))
    if flags.tags:
        checks = [check for check in checks if set(check.tags) & set(flags.tags)]
    harness = _harness(settings, checks, problems) if judges else None
    if _errors(problems):
        raise ConfigError(sorted(problems, key=lambda p: (p.warning, p.file, p.line, p.column)))
    made = tuple(_judge(check, settings, harness) for check in checks)
    suite = Suite(
        name=root.name if root.name.isprintable() and root.name else "project",
        cases=[Case(id=CASE, directory=str(root))],
        judges=made,
        pass_threshold=float(settings.pass_threshold),
        format="banana",
        warnings=tuple(problems),
    )
    return Loaded(settings, tuple(checks), suite)


def _errors(problems: list[Problem]) -> bool:
    return any(not problem.warning for problem in problems)


def check_files(root: Path, excluded: tuple[str, ...], *, only: Path | None = None) -> Iterator[Path]:
    """The YAML files below every folder called `eval_checks`, or below one folder, sorted by their paths. Links to
    folders are not followed; links to files are."""
    found: list[Path] = []
    start = only if only is not None else root
    for place, folders, files in os.walk(start):
        folders[:] = [name for name in folders if name not in excluded]
        inside = only is not None or FOLDER in Path(place).relative_to(root).parts or Path(place).name == FOLDER
        if inside:
            found += [Path(place, name) for name in files if name.endswith((".yaml", ".yml"))]
    yield from sorted(dict.fromkeys(path.resolve() for path in found))


def read_check(path: Path, shown: str, problems: list[Problem]) -> Check | None:
    """Read one check; `None` after reporting why it cannot be run."""
    text = read_text(path, shown)
    if isinstance(text, Problem):
        problems.append(text)
        return None
    root, broken = parse_yaml(text, shown)
    problems += broken
    if root is None or broken:
        if root is None and not broken:
            problems.append(Problem(file=shown, message="the file is empty"))
        return None
    converter = Converter(shown)
    try:
        return _read(path, root, converter)
    finally:
        problems += converter.problems


def _read(path: Path, root: Located, converter: Converter) -> Check | None:
    if not isinstance(root.value, dict):
        converter.add(root, "", f"expected a mapping of keys such as id and type, got {root.kind}")
        return None
    old = False
    if "target_paths" in root.value:
        hint = "name the files within instructions, or read them in the script"
        text = "is of an older version: agents and scripts look at the files themselves"
        converter.add_at(root.keys["target_paths"], "target_paths", text, hint=hint)
        del root.value["target_paths"]
        old = True
    kind = root.value.get("type")
    if kind is not None and kind.value == "llm_judge":
        converter.add(kind, "type", "llm_judge is of an older version", hint="type: harness_judge, with instructions")
        return None
    config = converter.struct(root, CheckFile)
    if config is None or old:
        return None
    before = len(converter.problems)

    def error(key: str, message: str, hint: str = "") -> None:
        place = root.keys.get(key, (root.line, root.column))
        converter.add_at(place, key, message, hint=hint)

    if config.schema_version != 1:
        error("schema_version", f"must be 1, got {config.schema_version}")
    if not _ID.match(config.id.strip()):
        error("id", f"{config.id!r}: an id is letters, digits, _ and -")
    if not config.description.strip():
        error("description", "must not be empty")
    script = script_path = ""
    if config.type == "deterministic":
        script, script_path = _script(path, config, error)
    elif config.type == "harness_judge":
        if not (config.instructions or "").strip():
            error("instructions", "a harness_judge needs instructions")
        for key in ("script", "script_path"):
            if getattr(config, key) is not None:
                error(key, "is not for a harness_judge")
    else:
        error("type", f"must be deterministic or harness_judge, got {config.type!r}", nearest(config.type, TYPES))
    if config.type == "deterministic":
        for key in ("instructions", "model"):
            if getattr(config, key) is not None:
                error(key, "is for a harness_judge")
    if len(converter.problems) > before:
        return None
    return Check(
        id=config.id.strip(),
        type=config.type,
        description=config.description.strip(),
        tags=tuple(config.tags),
        path=path,
        digest=definition_digest(path, Path(script_path) if script_path else None),
        script=script,
        script_path=script_path,
        instructions=(config.instructions or "").strip(),
        model=(config.model or "").strip(),
        line=root.keys["id"][0],
    )


def _script(path: Path, config: CheckFile, error: Any) -> tuple[str, str]:
    """(the script's text, its file). Exactly one of both keys says something."""
    inline, name = config.script, config.script_path
    if inline and name:
        error("script_path", "stands beside script; give one of them")
        return "", ""
    if not name:
        if not (inline or "").strip():
            error("script", "a deterministic check needs a script or a script_path")
            return "", ""
        _compile(inline or "", "script", error)
        return inline or "", ""
    file = path.parent / name
    text = read_text(file, name)
    if isinstance(text, Problem):
        error("script_path", f"{name}: {text.message}", "paths start at this file's folder")
        return "", ""
    if not text.strip():
        error("script_path", f"{name} is empty, so that it would pass whatever it is to check")
    _compile(text, "script_path", error)
    return text, str(file.absolute())


def _compile(text: str, key: str, error: Any) -> None:
    try:
        compile(text, "<script>", "exec", dont_inherit=True)
    except SyntaxError as problem:
        error(key, f"line {problem.lineno} of the script is not valid Python: {problem.msg}")
    except (ValueError, RecursionError, MemoryError) as problem:
        error(key, f"the script is not valid Python: {problem}")


def definition_digest(path: Path, script: Path | None = None) -> str:
    """`sha256:` and the digest of a check's definition: its YAML, and the script that it refers to.

    Each part is the length of its name, the name, the length of its content and the content, lengths as 8 bytes.
    """
    parts = [(b"definition.yaml", path.read_bytes())]
    if script is not None:
        parts.append((b"referenced-script", script.read_bytes()))
    digest = hashlib.sha256(_DOMAIN)
    for name, content in parts:
        digest.update(len(name).to_bytes(8, "big") + name + len(content).to_bytes(8, "big") + content)
    return f"sha256:{digest.hexdigest()}"


def _has_id(path: Path, wanted: str) -> bool:
    """Whether a file is the check with an id; one that cannot be read is not."""
    text = read_text(path, path.name)
    root = None if isinstance(text, Problem) else parse_yaml(text, path.name)[0]
    node = root.value.get("id") if root is not None and isinstance(root.value, dict) else None
    return node is not None and isinstance(node.value, str) and node.value.strip() == wanted


def _harness(settings: Settings, checks: list[Check], problems: list[Problem]) -> Harness | None:
    judges = [check for check in checks if check.type == "harness_judge"]
    if not judges:
        return None
    if not settings.agent:
        hint = "[harness] agent in .eval-banana/config.toml, EVAL_BANANA_HARNESS_AGENT or --harness-agent names one"
        problems += [
            Problem(
                file=_shown(check.path, settings.root),
                line=check.line,
                column=1,
                message="no agent judges it",
                hint=hint,
            )
            for check in judges
        ]
        return None
    return harness_of(settings, problems)


def _judge(check: Check, settings: Settings, harness: Harness | None) -> Judge:
    common: dict[str, Any] = {
        "name": check.id,
        "description": check.description,
        "location": f"{_shown(check.path, settings.root)}:{check.line}:1",
        "artifacts": f"checks/{check.stem}",
        "arguments": {
            "source_path": str(check.path),
            "definition": check.digest,
            "tags": list(check.tags),
            "project_root": str(settings.root),
        },
    }
    if check.type == "deterministic" or harness is None:
        return ScriptJudge(
            **common,
            criteria=(Criterion(name=check.id, scale=Binary()),),
            script=check.script,
            path=check.script_path,
            context={
                "check_id": check.id,
                "description": check.description,
                "project_root": str(settings.root),
                "source_path": str(check.path),
            },
            spawn=settings.spawn,
            timeout_s=settings.script_timeout_s,
        )
    return AgentJudge(
        **common,
        criteria=(Criterion(name=check.id, description=check.instructions, scale=Binary()),),
        agent=harness.spec,
        model=check.model or harness.model,
        effort=harness.effort,
        place=Place.FOLDER,
        answer_by=AnswerBy.SCORE_01,
        isolated=True,
        sandbox=Sandbox(settings.sandbox),
        timeout_s=float(settings.timeout_s),
    )


def _shown(path: Path, root: Path) -> str:
    return os.path.relpath(path, root) if path.is_relative_to(root) else str(path)
