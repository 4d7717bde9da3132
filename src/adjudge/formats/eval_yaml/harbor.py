"""Harbor task folders of an eval.yaml: one a case, graded by adjudge itself inside the task's container."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from adjudge.cases import DatasetFolder
from adjudge.domain import Case, ConfigError, Problem, Suite
from adjudge.formats.eval_yaml.load import load
from adjudge.formats.eval_yaml.profiles import Chain
from adjudge.whole_files import write_whole

MARK = ".adjudge-harbor.json"
"""Lists the task folders that are ours, so that they and nothing else are replaced."""
IMAGE = "python:3.12-slim"
ANCHOR = "_harbor"
"""An output folder that is always there: an agent that made nothing is judged too."""
_DROPPED = ("execution", "hooks", "generation", "matrix", "permissions", "inputs", "mlflow", "extends", "skill")
_GIVEN = ("input.yaml", "input.yml", "input.json", "answers.yaml")
_RECORDS = ("run_result.json", "stdout.log", "stderr.log", "events.json", "hook_outputs.yaml", "subagents", "steps")
_FILE_KEYS = ("prompt_file", "context")

_TEST_SH = """\
#!/usr/bin/env bash
# Harbor runs this after the agent. It judges what the agent left and writes reward.json. When the judging itself is
# broken there is no reward.json, and the exit status is not 0.
set -euo pipefail
TESTS_DIR="${TESTS_DIR:-/tests}"
LOGS_DIR="${LOGS_DIR:-/logs/verifier}"
WORKSPACE_DIR="${WORKSPACE_DIR:-/app}"
CASE=@CASE@
OUTPUTS=(@OUTPUTS@)

fail() { echo "error: $*; there is no reward" >&2; exit 4; }

mkdir -p "$LOGS_DIR"
LOGS_DIR="$(cd "$LOGS_DIR" && pwd -P)"
rm -rf "$LOGS_DIR/reward.json" "$LOGS_DIR/reward.txt" "$LOGS_DIR/adjudge"
TESTS_DIR="$(cd "$TESTS_DIR" && pwd -P)" || fail "there are no tests"
WORKSPACE_DIR="$(cd "$WORKSPACE_DIR" && pwd -P)" || fail "there is no workspace"
command -v adjudge > /dev/null || fail "adjudge is not installed in the image"

# Only declared outputs are judged, from a copy: whatever else the agent put there is no record of its run.
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/here" "$work/stage/cases/$CASE/@ANCHOR@"
for path in "${OUTPUTS[@]}"; do
  source="$WORKSPACE_DIR/$path"
  [ -e "$source" ] || continue
  case "$(realpath "$source")" in
    "$WORKSPACE_DIR"/*) ;;
    *) echo "$path leads out of the workspace: it is not judged" >&2; continue ;;
  esac
  target="$work/stage/cases/$CASE/$path"
  mkdir -p "$(dirname "$target")"
  cp -RP "$source" "$target"
done

status=0
cd "$work/here"   # not in the workspace, where the agent may have put modules of its own
adjudge run "$TESTS_DIR/eval.yaml" --workspace "$work/stage" --output "$work/run" --case "$CASE" --quiet || status=$?
mkdir -p "$LOGS_DIR/adjudge"
for name in result.json summary.md junit.xml judges.json; do
  [ ! -f "$work/run/$name" ] || cp "$work/run/$name" "$LOGS_DIR/adjudge/$name"
done
case "$status" in
  0 | 1 | 3) ;;   # judged, whatever the gate says of it
  *) fail "adjudge ended with status $status" ;;
esac
[ -s "$work/run/reward.json" ] || fail "a judge that the reward needs has no score"
cp "$work/run/reward.json" "$LOGS_DIR/.reward.json"
mv "$LOGS_DIR/.reward.json" "$LOGS_DIR/reward.json"
"""


def write_tasks(
    config: Path,
    output: Path,
    *,
    render: Callable[[Case], str],
    image: str = IMAGE,
    env: Sequence[str] = (),
    organisation: str = "adjudge",
) -> list[Path]:
    """Write one task folder a case below `output`, and return them in order of the cases.

    Args:
        render: What the agent is asked in a case: the text of instruction.md.
        image: What the task's image is built from; it must have Python 3.11 or newer with pip.
        env: Names of variables that the judges need, taken from where Harbor runs.

    Raises:
        ConfigError: the config cannot be read, a case cannot be rendered, or `output` holds something else.
    """
    suite = load(config)
    source = suite.source
    problems = _refusals(suite, output)
    if problems or not isinstance(source, DatasetFolder):
        raise ConfigError(problems or "the cases lie in no dataset folder")
    names = _names([stub.id for stub in source.stubs()])
    _clear(output)
    tasks = []
    for case_id, name in names.items():
        folder = source.ref(case_id)
        home = Path(str(getattr(folder, "source", "")))
        case = Case(id=case_id, inputs=source.inputs(case_id), directory=str(home))
        try:
            instruction = render(case)
        except ValueError as error:
            problems.append(Problem(file=case_id, key="execution", message=str(error)))
            continue
        writer = _Task(config, suite, home, output / name)
        writer.write(case, instruction, name=f"{organisation}/{name}", image=image, env=env)
        tasks.append(output / name)
    write_whole(output / MARK, json.dumps({"tasks": [task.name for task in tasks]}, indent=1).encode() + b"\n")
    if problems:
        raise ConfigError(problems)
    return tasks


def _refusals(suite: Suite, output: Path) -> list[Problem]:
    problems = []
    if suite.execution is not None and suite.execution.steps:
        problems.append(Problem(key="execution.steps", message="a Harbor task here is one step"))
    if output.is_symlink() or (output.exists() and not output.is_dir()):
        problems.append(Problem(file=str(output), message="is not a folder"))
    elif output.is_dir() and not (output / MARK).is_file() and any(output.iterdir()):
        text = "holds something that adjudge did not write"
        problems.append(Problem(file=str(output), message=text, hint="name a new or an empty folder"))
    return problems


def _names(cases: Sequence[str]) -> dict[str, str]:
    """Case -> the name of its folder: one path segment of plain characters."""
    names: dict[str, str] = {}
    for case in cases:
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", case).strip("-._")[:80] or "case"
        name, number = stem, 2
        while name.lower() in (taken.lower() for taken in names.values()):
            name, number = f"{stem}-{number}", number + 1
        names[case] = name
    return names


def _clear(output: Path) -> None:
    """Remove the task folders that an earlier call wrote."""
    output.mkdir(parents=True, exist_ok=True)
    try:
        listed = json.loads((output / MARK).read_bytes())["tasks"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    for name in listed if isinstance(listed, list) else []:
        folder = output / str(name)
        if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", str(name)) and folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder)


class _Task:
    """One task folder."""

    def __init__(self, config: Path, suite: Suite, home: Path, folder: Path) -> None:
        self.config = config
        self.suite = suite
        self.home = home
        self.folder = folder
        self.tests = folder / "tests"

    def write(self, case: Case, instruction: str, *, name: str, image: str, env: Sequence[str]) -> None:
        for place in (self.tests / "cases", self.folder / "environment" / "workspace"):
            place.mkdir(parents=True)
        (self.folder / "task.toml").write_text(self._toml(case, name, env), encoding="utf-8", errors="replace")
        text = instruction if instruction.endswith("\n") else f"{instruction}\n"
        (self.folder / "instruction.md").write_text(text, encoding="utf-8", errors="replace")
        self._environment(image)
        outputs = self._config()
        _copy(self.home, self.tests / "cases" / case.id, leave={*_RECORDS, *(path.split("/")[0] for path in outputs)})
        script = _TEST_SH.replace("@ANCHOR@", ANCHOR).replace("@OUTPUTS@", " ".join(map(shlex.quote, outputs)))
        (self.tests / "test.sh").write_text(script.replace("@CASE@", shlex.quote(case.id)), encoding="utf-8")
        (self.tests / "test.sh").chmod(0o755)

    def _toml(self, case: Case, name: str, env: Sequence[str]) -> str:
        timeout = self.suite.execution.timeout_s if self.suite.execution is not None else 3600.0
        content: dict[str, Any] = {
            "schema_version": "1.1",
            "task": {"name": name, "description": self.suite.description or self.suite.name},
            "metadata": {"suite": self.suite.name, "case": case.id},
            "agent": {"timeout_sec": timeout},
            "verifier": {"timeout_sec": 1800.0, "env": {key: "${" + key + "}" for key in env}},
            "environment": {"build_timeout_sec": 600.0},
        }
        return toml(content)

    def _environment(self, image: str) -> None:
        """The workspace that the agent finds, and the image that holds it."""
        place = self.folder / "environment"
        for name in _GIVEN:
            _copy(self.home / name, place / "workspace" / name)
        for file in self.suite.execution.files if self.suite.execution is not None else ():
            _copy(Path(file.source) if file.source else self.home / file.dest, place / "workspace" / file.dest)
        lines = [f"FROM {image}", "RUN pip install --no-cache-dir adjudge", "WORKDIR /app", "COPY workspace/ /app/"]
        lines += ["RUN mkdir -p /app/output", ""]
        (place / "Dockerfile").write_text("\n".join(lines), encoding="utf-8")

    def _config(self) -> list[str]:
        """Write the eval.yaml for one case with every file that it names; returns the output paths."""
        import yaml

        root = Chain(self.config, str(self.config)).root
        assert root is not None  # it was read before
        content = root.plain()
        kept = {key: value for key, value in content.items() if key not in _DROPPED}
        judges = [dict(judge) for judge in content.get("judges") or []]
        if not any(str(model).startswith("runner:/") for judge in judges for model in _models(judge, content)):
            kept.pop("runner", None)
        declared = [str(entry["path"]) for entry in content.get("outputs") or [] if entry.get("path")]
        kept["name"] = self.suite.name
        kept["dataset"] = {"path": "cases"}
        kept["outputs"] = [*(content.get("outputs") or []), {"path": ANCHOR}]
        kept["judges"] = [self._judge(judge) for judge in judges]
        kept.setdefault("reward", {"formula": "default"})
        if kept["reward"] is None:
            kept["reward"] = {"formula": "default"}
        text = yaml.safe_dump(kept, sort_keys=False, allow_unicode=True)
        (self.tests / "eval.yaml").write_text(text, encoding="utf-8")
        return declared

    def _judge(self, judge: dict[str, Any]) -> dict[str, Any]:
        """The judge, whose files lie below `files/` now."""
        for key in _FILE_KEYS:
            given = judge.get(key)
            if isinstance(given, str):
                judge[key] = self._file(given)
            elif isinstance(given, list):
                judge[key] = [self._file(str(name)) for name in given]
        arguments = judge.get("arguments")
        if isinstance(arguments, dict) and isinstance(arguments.get("schema_file"), str):
            judge["arguments"] = {**arguments, "schema_file": self._file(arguments["schema_file"])}
        if isinstance(judge.get("module"), str):
            self._module(judge["module"].split(".")[0], set())
        return judge

    def _file(self, name: str) -> str:
        for base in map(Path, self.suite.code_paths):
            if (base / name).is_file():
                number = len(list((self.tests / "files").glob("*"))) if (self.tests / "files").is_dir() else 0
                kept = f"files/{number:02d}-{Path(name).name}"
                (self.tests / "files").mkdir(exist_ok=True)
                shutil.copyfile(base / name, self.tests / kept)
                return kept
        return name

    def _module(self, name: str, seen: set[str]) -> None:
        """Copy a module of code judges, and those that it imports from the same folders."""
        if name in seen:
            return
        seen.add(name)
        for base in map(Path, self.suite.code_paths):
            for found in (base / f"{name}.py", base / name):
                if found.is_file() or (found / "__init__.py").is_file():
                    _copy(found, self.tests / found.name)
                    for other in _imported(found):
                        self._module(other, seen)
                    return


def _models(judge: Mapping[str, Any], config: Mapping[str, Any]) -> list[Any]:
    own = judge.get("model") or (config.get("models") or {}).get("judge") or ""
    return own if isinstance(own, list) else [own]


def _imported(place: Path) -> Iterator[str]:
    """The first part of every module that the Python files of a place import."""
    for file in [place] if place.is_file() else sorted(place.rglob("*.py")):
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError, OSError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.split(".")[0]


def _copy(source: Path, target: Path, *, leave: set[str] | None = None) -> None:
    """Copy a file or folder when it is there. No link is followed, hence none is copied."""
    if source.is_symlink() or not source.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_file():
        shutil.copyfile(source, target)
        return

    def left_out(folder: str, names: list[str]) -> set[str]:
        here = Path(folder)
        links = {name for name in names if (here / name).is_symlink() or name == "__pycache__"}
        return links | (leave & set(names) if leave and here == source else set())

    shutil.copytree(source, target, ignore=left_out, dirs_exist_ok=True)


def toml(content: Mapping[str, Any]) -> str:
    """A TOML document of strings, numbers, booleans, lists of these, and tables of these."""
    plain = [f"{_key(key)} = {_value(value)}" for key, value in content.items() if not isinstance(value, Mapping)]
    tables = [
        "\n".join([f"[{_key(key)}]", *(f"{_key(name)} = {_value(item)}" for name, item in table.items())])
        for key, table in content.items()
        if isinstance(table, Mapping)
    ]
    return "\n\n".join(["\n".join(plain)] * bool(plain) + tables) + "\n"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    quoted = json.dumps(str(value).encode("utf-8", "replace").decode(), ensure_ascii=False)
    return quoted.replace("\x7f", "\\u007f")  # JSON's escapes are TOML's, but for DEL, which JSON takes as it is
