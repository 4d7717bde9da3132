"""Tests folders -> Suite."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from adjudge.domain import (
    AgentJudge,
    Case,
    ConfigError,
    CriteriaFile,
    Criterion,
    CriterionJudge,
    Discovered,
    Judge,
    Mode,
    OnError,
    Problem,
    RegisteredCheck,
    RewardNode,
    RewardPart,
    RewardRule,
    Suite,
    duplicates,
)
from adjudge.formats.convert import nearest
from adjudge.formats.rewardkit.judge_file import Overrides, read_judge_file
from adjudge.formats.rewardkit.reading import TomlFile, check_weight, read_rule
from adjudge.formats.rewardkit.scan import Folder, scan
from adjudge.formats.rewardkit.schema import RewardFile, RewardTable

WORKSPACE = Path("/app")
CASE = "workspace"
CRITERION_TIMEOUT_S = 600.0

Discover = Callable[[Sequence[str]], Discovered]


def load(
    path: Path,
    *,
    workspace: Path | None = None,
    discover: Discover | None = None,
    overrides: Overrides | None = None,
    on_error: OnError = OnError.FAIL,
) -> Suite:
    """Read one tests folder; see `load_folders`."""
    return load_folders([path], workspace=workspace, discover=discover, overrides=overrides, on_error=on_error)


def _shared(judges: Sequence[Judge]) -> list[Problem]:
    """Agents that would work on one workspace, each upon what the others left there."""
    agents = [judge for judge in judges if isinstance(judge, AgentJudge)]
    runs = sum(judge.samples * (len(judge.criteria) if judge.mode is Mode.INDIVIDUAL else 1) for judge in agents)
    text = f"{runs} runs of agents would share the workspace, and change it for each other"
    hint = "isolated = true gives each its own view; --yolo lets them share it"
    return [
        Problem(file=judge.location.rsplit(":", 2)[0], key="judge.isolated", message=text, hint=hint)
        for judge in agents
        if runs > 1 and not judge.isolated
    ]


def load_folders(
    paths: Sequence[Path],
    *,
    workspace: Path | None = None,
    discover: Discover | None = None,
    overrides: Overrides | None = None,
    on_error: OnError = OnError.FAIL,
    yolo: bool = False,
) -> Suite:
    """Read tests folders into one suite whose only case is the workspace.

    `discover` imports criteria files elsewhere and says what they register. `yolo` lets agents share the workspace.
    With several folders the names of judges and rewards begin with the folder's.

    Raises:
        ConfigError: with every problem of every file.
    """
    problems: list[Problem] = []
    names = [path.resolve().name for path in paths]
    problems += [
        Problem(file=name, message="two tests folders have this name, so their rewards would too")
        for name in duplicates(names)
    ]
    problems += [Problem(file=str(p), message="there is no such folder") for p in paths if not p.is_dir()]
    if problems:
        raise ConfigError(problems)
    folders = [scan(path, problems) for path in paths]
    found = Discovered()
    if any(map(_has_python, folders)):
        if discover is None:
            raise ConfigError("criteria files must be imported by a worker, and there is none here")
        found = discover([os.path.abspath(path) for path in paths])  # noqa: PTH100 - links are kept
        problems += found.problems
    judges: list[Judge] = []
    rewards: list[RewardNode] = []
    for path, folder, name in zip(paths, folders, names, strict=True):
        root = os.path.abspath(path)  # noqa: PTH100
        prefix = f"{name}/" if len(paths) > 1 else ""
        reader = _Reader(root, prefix, found.folders.get(root, ()), overrides or read_overrides(), problems)
        rewards += reader.rewards(folder)
        judges += reader.judges
    problems += [] if yolo else _shared(judges)
    if not judges and all(problem.warning for problem in problems):
        shown = ", ".join(map(str, paths))
        text = "no criteria and no judges, so there is no reward"
        problems.append(Problem(file=shown, message=text, warning=True))
    home = workspace or WORKSPACE
    if not home.is_dir():
        problems.append(Problem(file=str(home), message="the workspace does not exist", warning=True))
    if any(not problem.warning for problem in problems):
        raise ConfigError(sorted(problems, key=lambda p: (p.warning, p.file, p.line, p.column)))
    return Suite(
        name=names[0] if len(names) == 1 else "+".join(names),
        cases=[Case(id=CASE, directory=os.path.abspath(home))],  # noqa: PTH100
        judges=tuple(judges),
        rewards=tuple(rewards),
        on_error=on_error,
        format="rewardkit",
        warnings=tuple(problems),
    )


def read_overrides(*, judge: str | None = None, model: str | None = None, effort: str | None = None) -> Overrides:
    """What stands over every judge file: what is given, else what the environment says."""
    read = os.environ.get
    return Overrides(
        judge=judge or read("REWARDKIT_JUDGE", ""),
        model=model or read("REWARDKIT_MODEL", ""),
        effort=effort or read("REWARDKIT_REASONING_EFFORT", ""),
    )


def _has_python(folder: Folder) -> bool:
    return folder.has_python or any(map(_has_python, folder.children))


class _Reader:
    """Reads one tests folder."""

    def __init__(
        self,
        root: str,
        prefix: str,
        files: Iterable[CriteriaFile],
        overrides: Overrides,
        problems: list[Problem],
    ) -> None:
        self.judges: list[Judge] = []
        self._root = root
        self._prefix = prefix
        self._files: dict[str, list[CriteriaFile]] = {}
        for file in files:
            self._files.setdefault(os.path.dirname(file.file), []).append(file)  # noqa: PTH120
        self._overrides = overrides
        self._problems = problems
        self._names: dict[str, int] = {}

    def rewards(self, folder: Folder) -> list[RewardNode]:
        """One reward for a flat folder, one for each input of a folder with others below, and what reward.toml adds."""
        inputs = self._inputs(folder)
        nested = any(self._input_names(child) for child in folder.children)
        tables = self._tables(folder, inputs)
        if nested:
            made = list(inputs)
        else:
            own = next((node for node in tables if node.name == "reward"), None)
            tables = [node for node in tables if node is not own]
            made = [own or RewardNode(name="reward", inputs=tuple(inputs))] if inputs else []
        taken = {node.name for node in made} if nested else set()
        for node in tables:
            if node.name in taken:
                text = f"{node.name!r} is an input of this folder already"
                self._problems.append(Problem(file=str(folder.path / "reward.toml"), message=text))
            made.append(msgspec.structs.replace(node, listed=False))
        return [msgspec.structs.replace(node, name=self._prefix + node.name) for node in made]

    def _inputs(self, folder: Folder) -> list[RewardNode]:
        nodes: list[RewardNode] = []
        for file in folder.judges:
            read = read_judge_file(file, self._prefix + _below(folder, file.stem), self._overrides)
            self._problems += file.converter.problems
            if read is not None:
                self.judges.append(read.judge)
                nodes.append(read.leaf)
        nodes += [self._python(folder, file) for file in self._files.get(folder.relative, ())]
        for child in folder.children:
            inputs = self._inputs(child)
            tables = self._tables(child, inputs, nested=True)
            if inputs:
                nodes.append(
                    msgspec.structs.replace(tables[0], name=child.name)
                    if tables
                    else RewardNode(name=child.name, inputs=tuple(inputs))
                )
        for name in duplicates([node.name for node in nodes]):
            self._problems.append(
                Problem(file=str(folder.path), message=f"two inputs of this folder are called {name!r}")
            )
        return sorted(nodes, key=lambda node: node.name)

    def _input_names(self, folder: Folder) -> bool:
        return bool(folder.judges or self._files.get(folder.relative)) or any(map(self._input_names, folder.children))

    def _python(self, folder: Folder, file: CriteriaFile) -> RewardNode:
        stem = Path(file.file).stem
        parts = []
        for index, check in enumerate(file.checks):
            judge = self._criterion(_below(folder, stem), file, index, check)
            self.judges.append(judge)
            parts.append(RewardPart(judge=judge.name, criterion=judge.criteria[0].name, weight=check.weight))
        return RewardNode(name=stem, kind="programmatic", parts=tuple(parts))

    def _criterion(self, stem: str, file: CriteriaFile, index: int, check: RegisteredCheck) -> CriterionJudge:
        name = base = f"{self._prefix}{stem}:{check.name}"
        number = self._names[base] = self._names.get(base, 0) + 1
        if number > 1:
            name = f"{base}#{number}"
        criterion = Criterion(name=name, description=check.description, weight=check.weight)
        return CriterionJudge(
            name=name,
            criteria=(criterion,),
            root=self._root,
            file=file.file,
            index=index,
            label=check.name,
            bounds=check.bounds,
            isolated=check.isolated,
            timeout_s=check.timeout_s or CRITERION_TIMEOUT_S,
            location=f"{self._root}/{file.file}",
        )

    def _tables(self, folder: Folder, inputs: list[RewardNode], *, nested: bool = False) -> list[RewardNode]:
        """The nodes that a folder's reward.toml states over its inputs; rules of Python files go into `inputs`."""
        file = folder.reward
        if file is None:
            for node in inputs:
                self._check_leaf(folder, node)
            return []
        config = file.converter.struct(file.root, RewardFile)
        made: list[RewardNode] = []
        if config is not None:
            self._apply_scoring(file, config, inputs)
            for node in inputs:
                self._check_leaf(folder, node)
            if nested and len(config.reward) > 1:
                file.error(["reward", 1], "a folder within the tests folder has one score, and so one [[reward]]")
            for index, table in enumerate(config.reward):
                made.append(self._table(file, index, table, inputs, nested=nested))
            for name in duplicates([node.name for node in made]):
                file.error(["reward"], f"two rewards are called {name!r}")
        self._problems += file.converter.problems
        return made

    def _apply_scoring(self, file: TomlFile, config: RewardFile, inputs: list[RewardNode]) -> None:
        python = {node.name: index for index, node in enumerate(inputs) if node.kind == "programmatic"}
        for stem, table in config.scoring.items():
            rule = read_rule(file, ["scoring", stem], table)
            if stem in python:
                inputs[python[stem]] = msgspec.structs.replace(inputs[python[stem]], rule=rule)
            else:
                file.error(
                    ["scoring", stem], f"there is no Python file {stem!r} with criteria", hint=nearest(stem, python)
                )

    def _check_leaf(self, folder: Folder, node: RewardNode) -> None:
        """Weights of a Python file's criteria fit its rule."""
        if node.kind != "programmatic" or all(part.weight >= 0 for part in node.parts):
            return
        if (node.rule or RewardRule()).aggregation.value != "weighted-sum":
            path = str(folder.path / f"{node.name}.py")
            text = "a negative weight needs aggregation weighted-sum"
            hint = f"[scoring.{node.name}] in reward.toml sets it"
            self._problems.append(Problem(file=path, message=text, hint=hint))

    def _table(
        self, file: TomlFile, index: int, table: RewardTable, inputs: list[RewardNode], *, nested: bool
    ) -> RewardNode:
        keys: list[str | int] = ["reward", index]
        rule = read_rule(file, keys, table)
        names = [node.name for node in inputs]
        if not inputs:
            file.error(keys, "there is nothing in this folder to reward")
        if nested and table.name is not None:
            file.error([*keys, "name"], "a folder within the tests folder is named by itself")
        if not nested and not table.name:
            file.error([*keys, "name"], "the key 'name' is missing")
        for name in table.weights:
            if name not in names:
                file.error([*keys, "weights", name], f"there is no input {name!r}", hint=nearest(name, names))
            check_weight(file, [*keys, "weights", name], table.weights[name], rule)
        gates = [table.gate] if isinstance(table.gate, str) else table.gate
        for name in gates:
            if name not in names:
                file.error([*keys, "gate"], f"there is no input {name!r}", hint=nearest(name, names))
        weighted = tuple(
            msgspec.structs.replace(node, weight=float(table.weights.get(node.name, node.weight))) for node in inputs
        )
        rule = msgspec.structs.replace(rule, gate=tuple(gates), gate_threshold=float(table.gate_threshold))
        return RewardNode(name=table.name or "", rule=rule, inputs=weighted)


def _below(folder: Folder, name: str) -> str:
    return f"{folder.relative}/{name}" if folder.relative else name
