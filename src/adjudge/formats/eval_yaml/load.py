"""eval.yaml -> Suite."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from adjudge.cases import DatasetFolder, harvest, read_dataset
from adjudge.domain import (
    AgentSpec,
    ConfigError,
    Discovered,
    Execution,
    ExecutionResult,
    Judge,
    LLMJudge,
    Problem,
    RunMode,
    StoreError,
    Suite,
    Traces,
    closest,
)
from adjudge.formats.convert import Converter
from adjudge.formats.eval_yaml.agents import read_runner
from adjudge.formats.eval_yaml.execution import ExecutionReader, missing_fields
from adjudge.formats.eval_yaml.judges import JudgeReader
from adjudge.formats.eval_yaml.matrix import read_matrix
from adjudge.formats.eval_yaml.openrouter import OpenRouterReader
from adjudge.formats.eval_yaml.places import place_of
from adjudge.formats.eval_yaml.profiles import Chain
from adjudge.formats.eval_yaml.routing import model_problem
from adjudge.formats.eval_yaml.schema import ASIDE, EvalConfig, ExecutionConfig, RunnerConfig, TracesConfig
from adjudge.formats.eval_yaml.summary import collected_run
from adjudge.formats.eval_yaml.thresholds import read_reward, read_thresholds
from adjudge.located import Located
from adjudge.prompts import entries, entry_fields


def load(
    path: Path, *, workspace: Path | None = None, discover: Callable[[Sequence[str]], Discovered] | None = None
) -> Suite:
    """Read an eval.yaml and find its cases.

    `workspace` is the folder that holds the collected outputs: a run directory with `cases/<id>/`, or a folder with
    one sub-folder a case; by default the outputs lie beside each case's input.

    Raises:
        ConfigError: with every problem of the file and its dataset.
    """
    shown = _shown(path)
    chain = Chain(path, shown)
    root, problems = chain.root, chain.problems
    if root is None:
        raise ConfigError(
            problems or [Problem(file=shown, message="the file is empty", hint="adjudge init writes one")]
        )
    reader = _Reader(chain.base, shown, root, workspace)
    suite = reader.read()
    errors = [problem for problem in (*problems, *reader.converter.problems) if not problem.warning]
    if errors or suite is None:
        every = sorted([*problems, *reader.converter.problems], key=lambda p: (p.warning, p.line, p.column))
        raise ConfigError(every)
    return suite


class _Reader:
    def __init__(self, path: Path, shown: str, root: Located, workspace: Path | None) -> None:
        self.path = path
        self.root = root
        self.workspace = workspace
        self.converter = Converter(shown)

    def read(self) -> Suite | None:
        root = self.root
        if not isinstance(root.value, dict):
            self.converter.add(root, "", f"expected a mapping of keys such as dataset and judges, got {root.kind}")
            return None
        judges_node = root.value.get("judges")
        config = self._config()
        if config is None:
            return None
        self._aside()
        default_model = (config.models.judge if config.models else None) or os.environ.get("EVAL_JUDGE_MODEL", "")
        outputs = self._outputs(config)
        judges = self._judges(judges_node, default_model, outputs, config.execution)
        if config.models and config.models.judge is not None:
            problem = model_problem(config.models.judge)
            if problem:
                self._report("models.judge", problem[0], hint=problem[1])
        names = [node.value["name"].value for node in _items(judges_node) if _has_name(node)]
        if not any(not problem.warning for problem in self.converter.problems):
            names = [judge.name for judge in judges]  # without those that are skipped
        thresholds = read_thresholds(config.thresholds or {}, names, judges, self._report)
        reward = read_reward(config.reward, names, judges, self._report) if config.reward is not None else None
        execution = ExecutionReader(self.converter, self.root, config, path=self.path, find=self._find).read()
        matrix = None
        if config.matrix is not None:
            matrix = read_matrix(config.matrix, self._report, runs=execution is not None)
        admitted = execution.max_failure_rate if execution is not None else 0.0
        if self.workspace is not None:
            execution = None  # what is there is judged
        cases = self._cases(config, outputs, runs=execution is not None)
        if cases is not None and execution is not None:
            self._fields(execution, cases)
        if cases is None:
            return None
        self._labels(cases, names)
        name = self._name(config)
        judges = [self._with_examples(judge, name, outputs) for judge in judges]
        return Suite(
            name=name,
            description=config.description or "",
            cases=cases,
            judges=tuple(judges),
            thresholds=thresholds,
            reward=reward,
            default_model=(config.models.judge if config.models else None) or "",
            openrouter=OpenRouterReader(self.converter, self.root).read(config.models),
            runner=self._runner(judges, default_model),
            execution=execution,
            collected=self._collected(cases, admitted),
            matrix=matrix,
            runs=str(runs_folder(name)) if execution is not None else "",
            code_paths=self._code_paths(),
            format="eval_yaml",
            warnings=tuple(problem for problem in self.converter.problems if problem.warning),
        )

    def _collected(self, cases: DatasetFolder, admitted: float) -> ExecutionResult | None:
        if self.workspace is None:
            return None
        try:
            found = collected_run(self.workspace, [stub.id for stub in cases.stubs()])
        except StoreError as error:
            text = f"{error}: how the agent's runs went is not known"
            self.converter.problems.append(Problem(key="--workspace", message=text, warning=True))
            return None
        return found and msgspec.structs.replace(found, max_failure_rate=admitted)

    def _config(self) -> EvalConfig | None:
        """Everything but the judges, which are read one by one."""
        without = {key: node for key, node in self.root.value.items() if key != "judges"}
        return self.converter.struct(Located(without, self.root.line, self.root.column, self.root.keys), EvalConfig)

    def _report(self, key: str, message: str, *, hint: str = "", warning: bool = False) -> None:
        self.converter.add_at(place_of(self.root, key), key, message, hint=hint, warning=warning)

    def _aside(self) -> None:
        for key in ASIDE:
            if key in self.root.value and self.root.value[key].value:
                self.converter.add_at(self.root.keys[key], key, f"is not used: {ASIDE[key]}", warning=True)
        if "providers" in self.root.value:
            self.converter.add_at(self.root.keys["providers"], "providers", "has moved", hint="write models.providers")

    def _runner(self, judges: Sequence[Judge], default_model: str) -> AgentSpec | None:
        """The suite's own runner, which answers for `runner:/` models. Where no judge names one, its faults are those
        of the agent under test, and nobody's here."""
        node = self.root.value.get("runner")
        if node is None or not isinstance(node.value, dict):
            return None
        converter = Converter(self.converter.shown)
        config = converter.struct(node, RunnerConfig, "runner")

        def report(key: str, message: str, *, hint: str = "", warning: bool = False) -> None:
            converter.add_at(place_of(self.root, key), key, message, hint=hint, warning=warning)

        runner = read_runner(config or RunnerConfig(), report, "runner", config_dir=self._code_paths()[0], judge=False)
        asked = [judge for judge in judges if isinstance(judge, LLMJudge)]
        models = [model for judge in asked for model in judge.panel or (judge.model or default_model,)]
        if any(model.startswith("runner:/") for model in models):
            self.converter.problems += converter.problems
        return runner

    def _judges(
        self,
        node: Located | None,
        default_model: str,
        outputs: tuple[str, ...],
        execution: ExecutionConfig | None,
    ) -> list[Judge]:
        if node is None or node.value in (None, []):
            place = node or self.root
            self.converter.add(place, "judges", "there are no judges", hint="a judge needs a name and, say, a check")
            return []
        if not isinstance(node.value, list):
            self.converter.add(node, "judges", f"expected a list, got {node.kind}")
            return []
        reader = JudgeReader(
            self.converter,
            self._find,
            self._code_paths(),
            default_model,
            outputs=outputs,
            execution_timeout=_seconds(execution.timeout if execution else None),
            steps=tuple(step.id for step in execution.steps or ()) if execution else (),
        )
        judges = []
        seen: dict[str, int] = {}
        for index, child in enumerate(node.value):
            path = f"judges[{index}]"
            judge = reader.read(child, path)
            if _has_name(child):
                name = child.value["name"].value
                if name in seen:
                    message = f"a judge {name!r} is already defined on line {seen[name]}"
                    self.converter.add(child.value["name"], f"{path}.name", message)
                seen.setdefault(name, child.value["name"].line)
            if judge is not None:
                judges.append(judge)
        if not judges and not any(not problem.warning for problem in self.converter.problems):
            self.converter.add(node, "judges", "no judge is left to run")
        return judges

    def _with_examples(self, judge: Judge, name: str, outputs: tuple[str, ...]) -> Judge:
        """The judge with what people said of earlier runs, when it asks for that."""
        if not isinstance(judge, LLMJudge) or judge.examples is None:
            return judge
        runs = runs_folder(name)
        found = harvest(runs, judge, outputs=outputs, own_run=self.workspace)
        for problem in found.problems:
            self.converter.problems.append(problem)
        if not found.pool:
            text = (
                f"judge {judge.name!r}: no review below {_shown(runs)} has a label for it, so it is shown no examples"
            )
            self.converter.problems.append(Problem(message=text, warning=True))
        examples = msgspec.structs.replace(judge.examples, pool=found.pool)
        return msgspec.structs.replace(judge, examples=examples)

    def _outputs(self, config: EvalConfig) -> tuple[str, ...]:
        paths = []
        for index, output in enumerate(config.outputs or []):
            node = self.root.value["outputs"].value[index]
            where = f"outputs[{index}]"
            if output.path is None and output.tool is None:
                self.converter.add(node, where, "an output needs a path or a tool")
            if output.path is None:
                continue
            problem = _path_problem(output.path)
            if problem:
                self.converter.add(node.value["path"], f"{where}.path", f"{problem}, got {output.path!r}")
            else:
                paths.append(str(PurePosixPath(output.path)))
        return tuple(dict.fromkeys(paths))

    def _fields(self, execution: Execution, cases: DatasetFolder) -> None:
        """Every case must fill the templates, which is known before any agent runs; of a batch the first entry, with
        which they are filled once."""
        for stub in cases.stubs():
            fields = cases.inputs(stub.id)
            if execution.mode is RunMode.BATCH:
                own = entries(fields)
                if not own:
                    continue
                fields = entry_fields(own[0])
            for text in missing_fields(execution, fields):
                self.converter.problems.append(Problem(file=stub.id, key="execution", message=text))
            if execution.mode is RunMode.BATCH:
                break

    def _cases(self, config: EvalConfig, outputs: tuple[str, ...], *, runs: bool) -> DatasetFolder | None:
        node = self.root.value.get("dataset")
        if config.dataset is None:
            if node is None or node.value in (None, {}):
                hint = "dataset: {path: cases} names a folder with one sub-folder a case"
                self.converter.add(node or self.root, "dataset", "there is no dataset", hint=hint)
            return None
        assert node is not None
        place = node.value["path"]
        if ".." in Path(config.dataset.path).parts:
            self.converter.add(place, "dataset.path", f"must not contain .., got {config.dataset.path!r}")
            return None
        folder = self.path.parent / config.dataset.path
        if len(config.dataset.path) > 1024 or "\0" in config.dataset.path:
            self.converter.add(place, "dataset.path", "is no path that a folder can have")
            return None
        if not os.path.isdir(folder):  # noqa: PTH112 - says no where Path.is_dir raises
            what = "is not a folder" if os.path.exists(folder) else "does not exist"  # noqa: PTH110
            self.converter.add(place, "dataset.path", f"the folder {_shown(folder)} {what}")
            return None
        if self.workspace is not None and not self.workspace.is_dir():
            self.converter.problems.append(Problem(key="--workspace", message=f"{self.workspace} is not a folder"))
            return None
        source, problems = read_dataset(
            folder,
            workspace=self.workspace,
            outputs=outputs,
            shown=_shown(folder),
            tools=tuple(output.tool for output in config.outputs or () if output.tool),
            traces=_traces(config),
        )
        for problem in problems:
            self.converter.problems.append(problem)
        if not any(not problem.warning for problem in problems) and not source.stubs():
            self.converter.add(
                place, "dataset.path", f"the folder {_shown(folder)} has no cases", hint="a case is a sub-folder"
            )
        elif not runs and outputs and source.stubs() and not source.any_outputs():
            where = _shown(self.workspace or folder)
            besides = source.any_traces()  # of an agent that only edits in place, or only talks
            hint = "adjudge judges outputs that are already collected: point --workspace at them"
            if self.workspace is not None and (self.workspace / "summary.yaml").is_file():
                hint = f"that run kept no outputs: adjudge report {where} shows what its judges said"
            self.converter.add(
                self.root.value["outputs"],
                "outputs",
                f"no case has any output below {where}" + (": judged is what else is there" if besides else ""),
                hint="" if besides else hint,
                warning=besides,
            )
        return source

    def _labels(self, cases: DatasetFolder, judges: list[str]) -> None:
        """What people said of the cases must be said of a judge that exists, in a form that can be compared."""
        for stub in cases.stubs():
            said = stub.annotations.get("verdicts")
            acceptable = stub.annotations.get("acceptable")
            problems = [] if isinstance(acceptable, bool | None) else ["acceptable is neither true nor false"]
            unknown = [name for name in said if name not in judges] if isinstance(said, dict) else []
            problems += [f"verdicts: there is no judge {name!r} {closest(name, judges)}".strip() for name in unknown]
            file = f"{stub.id}/annotations.yaml"
            self.converter.problems += [Problem(file=file, message=text, warning=True) for text in problems]

    def _code_paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((str(self.path.parent.resolve()), str(Path.cwd()))))

    def _find(self, name: str) -> Path | None:
        """A path as the user wrote it: from the config's folder, then from the current one."""
        for base in (self.path.parent, Path.cwd()):
            candidate = base / name
            try:
                if candidate.is_file():
                    return candidate
            except (OSError, ValueError):  # a name that no file can have
                continue
        return None

    def _name(self, config: EvalConfig) -> str:
        """The name of the runs: skill, else name, else the path."""
        skill = (config.execution.skill if config.execution else None) or config.skill
        if isinstance(skill, str) and skill.strip():
            return skill.strip() if re.fullmatch(r"[\w.-]{1,80}", skill.strip()) else _segment(skill)
        if config.name and config.name.strip():
            return _segment(config.name)
        stem = self.path.stem
        parent = self.path.resolve().parent.name
        return _segment(parent if stem == "eval" and parent else stem)


def runs_folder(name: str) -> Path:
    """Where the runs of a suite lie, by the format's own convention."""
    return Path(os.environ.get("AGENT_EVAL_RUNS_DIR") or "eval/runs") / name


def _traces(config: EvalConfig) -> Traces:
    """Which of an agent's traces judges see; all, unless it is said."""
    given = config.traces or TracesConfig()
    names = ("stdout", "stderr", "events", "metrics")
    return Traces(**{name: getattr(given, name) is not False for name in names})


def _segment(name: str) -> str:
    """One path segment that reads like the name."""
    return re.sub(r"[^\w.-]+", "-", name.strip().lower())[:80].strip("-.") or "eval"


def _path_problem(path: str) -> str | None:
    parts = Path(path).parts
    if not path.strip() or path.strip("/") in ("", "."):
        return "must name a folder or file below the case"
    if path.startswith("/") or Path(path).is_absolute():
        return "must be relative to the case"
    return "must not contain .." if ".." in parts else None


def _items(node: Located | None) -> list[Located]:
    return node.value if node is not None and isinstance(node.value, list) else []


def _has_name(node: Located) -> bool:
    return isinstance(node.value, dict) and "name" in node.value and isinstance(node.value["name"].value, str)


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None


def _shown(path: Path) -> str:
    """The path as a user would write it from here."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
