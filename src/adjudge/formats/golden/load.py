"""A folder of golden tasks -> Suite: every task is a case, its checks are judges, and so is the rubric."""

from __future__ import annotations

import datetime
import hashlib
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.cases import CaseFolder, DatasetFolder, TraceLimits
from adjudge.domain import (
    AGENTS,
    AgentSpec,
    Binary,
    CodeJudge,
    CommandTemplate,
    ConfigError,
    Criterion,
    Execution,
    Hardness,
    Judge,
    JudgeIdentity,
    LLMJudge,
    PairwiseJudge,
    Permissions,
    Problem,
    PromptBy,
    Repository,
    Suite,
    TaskRules,
)
from adjudge.formats.convert import Converter, nearest
from adjudge.formats.golden.bounds import out_of_bounds, task_out_of_bounds
from adjudge.formats.golden.prompts import PAIRWISE, PROMPT, RULES
from adjudge.formats.golden.rubric import Rubric, read_rubric
from adjudge.formats.golden.schema import AgentFile, JudgeFile, ShownFile, SuiteFile, TaskFile, level
from adjudge.formats.golden.state import (
    BASELINE,
    GOLDEN,
    QUARANTINE,
    read_baseline,
    read_golden,
    read_quarantine,
)
from adjudge.located import parse_yaml, read_text
from adjudge.prompts import verdict_tool

CERTIFICATE = "certificate.json"
TASKS = "tasks"
SETTINGS = "golden.yaml"
RUBRIC = "rubric.md"
JUDGE = "rubric"
MODEL = "claude-sonnet-4-6"
"""Judges when nobody names another."""
LEAST_TOKENS = 800
PARSER = "1"
"""Of how answers are read; a new one is another judge."""
OWN, OWN_SOFT = "checks", "soft_checks"
HARDNESS = {
    "expected_files": Hardness.HARD,
    "blast_radius": Hardness.HARD,
    "diff_size": Hardness.HARD,
    "weakened_tests": Hardness.HARD,
    "circular_imports": Hardness.HARD,
    "hard_coded_values": Hardness.SOFT,
    "swallowed_exceptions": Hardness.SOFT,
    "commit_message": Hardness.SOFT,
}
"""The built-in checks, in the order of reports."""
_MODULE = "adjudge.judges.task_checks"
_SLACK_S = 300.0
_FIXED = re.compile(r"[0-9a-f]{7,40}")
_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")


def load(path: Path, *, workspace: Path | None = None, discover: Any = None) -> Suite:
    """Read a folder that holds `tasks/<id>/task.yaml` and `rubric.md`.

    Raises:
        ConfigError: with every problem of every file.
    """
    return _Reader(path).suite()


class _Reader:
    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.problems: list[Problem] = []

    def shown(self, path: Path) -> str:
        here = Path.cwd()
        return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)

    def add(self, path: Path, key: str, message: str, *, hint: str = "", warning: bool = False) -> None:
        self.problems.append(Problem(file=self.shown(path), key=key, message=message, hint=hint, warning=warning))

    def suite(self) -> Suite:
        settings = self._settings()
        rubric = self._rubric()
        tasks = self._tasks(settings)
        given = settings.judge or JudgeFile()
        shown = settings.shown or ShownFile()
        limits = TraceLimits(diff=shown.diff, message=shown.final_message, tools=shown.tool_calls)
        folders = [self._case(folder, task, settings, limits) for folder, task in tasks]
        hardness: dict[str, dict[str, str]] = {case.id: case.inputs["hardness"] for case in folders}
        checks = tuple(self._checks(folders))
        names = [check.name for check in checks]
        judge = self._judge(rubric, given)
        today = datetime.datetime.now(tz=datetime.UTC).date()
        ids = [case.id for case in folders]
        quarantine = self.root / QUARANTINE
        now, over = read_quarantine(
            quarantine, self.shown(quarantine), today, ids, self.problems, names=[c.name for c in rubric.criteria]
        )
        baseline = self.root / BASELINE
        authors = {task.id: self._author(folder) for folder, task in tasks}
        rules = TaskRules(
            judge=JUDGE,
            hard={case: tuple(n for n in names if levels.get(n) == Hardness.HARD) for case, levels in hardness.items()},
            soft={case: tuple(n for n in names if levels.get(n) == Hardness.SOFT) for case, levels in hardness.items()},
            digests={case.id: str(case.inputs["digest"]) for case in folders},
            identity=identity_of(judge, rubric, shown),
            max_drop=float(settings.max_drop),
            baseline=read_baseline(baseline, self.shown(baseline), self.problems),
            quarantined=now,
            expired=over,
            certificate=str(self.root / CERTIFICATE),
            against_point=settings.gate == "point",
            authors={task: author for task, author in authors.items() if author},
        )
        execution = self._execution(settings)
        if any(not problem.warning for problem in self.problems):
            raise ConfigError(sorted(self.problems, key=lambda p: (p.warning, p.file, p.line, p.column)))
        judges: tuple[Judge, ...] = (*checks, judge, self._pairwise(given))
        return Suite(
            name=settings.name or self.root.name,
            description=settings.description,
            cases=DatasetFolder(folders),
            judges=judges,
            default_model=given.model or os.environ.get("EVAL_JUDGE_MODEL", "") or MODEL,
            execution=execution,
            tasks=rules,
            format="golden",
            warnings=tuple(self.problems),
        )

    def _yaml(self, path: Path, kind: type[Any]) -> Any:
        text = read_text(path, self.shown(path))
        if isinstance(text, Problem):
            self.problems.append(text)
            return None
        root, broken = parse_yaml(text, self.shown(path))
        self.problems += broken
        if root is None or broken:
            if not broken:
                self.add(path, "", "the file is empty")
            return None
        converter = Converter(self.shown(path))
        made = converter.struct(root, kind)
        self.problems += converter.problems
        return made

    def _settings(self) -> SuiteFile:
        path = self.root / SETTINGS
        settings = (self._yaml(path, SuiteFile) if path.is_file() else None) or SuiteFile()
        for key, message in out_of_bounds(settings):
            self.add(path, key, message)
        self._levels(path, settings.checks)
        return settings

    def _levels(self, path: Path, checks: Mapping[str, str | bool]) -> None:
        for name, given in checks.items():
            if name not in HARDNESS:
                self.add(path, f"checks.{name}", "there is no such built-in check", hint=nearest(name, HARDNESS))
            if level(given) not in tuple(Hardness):
                self.add(path, f"checks.{name}", f"must be hard, soft or off, got {level(given)!r}")

    def _rubric(self) -> Rubric:
        path = self.root / RUBRIC
        text = read_text(path, self.shown(path))
        if isinstance(text, Problem):
            self.problems.append(text)
            return Rubric("", ())
        rubric, problems = read_rubric(text, self.shown(path))
        self.problems += problems
        return rubric

    def _tasks(self, settings: SuiteFile) -> list[tuple[Path, TaskFile]]:
        found: list[tuple[Path, TaskFile]] = []
        names: dict[str, Path] = {}
        tasks = self.root / TASKS
        for folder in sorted(path for path in tasks.iterdir() if path.is_dir()) if tasks.is_dir() else ():
            if folder.name.startswith("."):
                continue
            path = folder / "task.yaml"
            if not path.is_file():
                self.add(folder, "", "the task has no task.yaml")
                continue
            task = self._yaml(path, TaskFile)
            if task is None:
                continue
            if not _ID.fullmatch(task.id):
                self.add(path, "id", f"{task.id!r}: an id is letters, digits, _ . and -")
            elif task.id in names:
                self.add(path, "id", f"{task.id!r} is taken by {self.shown(names[task.id])}")
            names[task.id] = path
            self._check_task(path, task)
            found.append((folder, task))
        if not found and not self.problems:
            self.add(self.root / TASKS, "", "there is no task")
        return found

    def _check_task(self, path: Path, task: TaskFile) -> None:
        if not task.prompt.strip():
            self.add(path, "prompt", "must not be empty")
        if not task.repo.strip():
            self.add(path, "repo", "must not be empty")
        elif not _is_url(task.repo) and not self._place(path.parent, task.repo).exists():
            hint = "a path starts at the task's folder, then at the folder of all tasks"
            self.add(path, "repo", f"there is no {task.repo}", hint=hint)
        elif not _FIXED.fullmatch(task.revision) and not self._place(path.parent, task.repo).is_file():
            hint = "name a commit, or scores of another start are held against the baseline's"
            self.add(path, "revision", f"{task.revision} may be another commit tomorrow", hint=hint, warning=True)
        for key, message in task_out_of_bounds(task):
            self.add(path, key, message)
        for name in task.expected_files_touched:
            if name.startswith("/") or ".." in Path(name).parts:
                self.add(path, "expected_files_touched", f"{name!r} must be a path within the repository")
        self._levels(path, task.checks)
        checks = path.parent / "checks.py"
        if not checks.is_file():
            self.add(path.parent, "", "the task has no checks.py: only the built-in checks gate it", warning=True)
            return
        text = read_text(checks, self.shown(checks))
        if isinstance(text, Problem):
            self.problems.append(text)
            return
        try:
            compile(text, str(checks), "exec", dont_inherit=True)
        except SyntaxError as error:
            self.add(checks, "", f"line {error.lineno}: {error.msg}")
        except (ValueError, RecursionError, MemoryError) as error:
            self.add(checks, "", f"is not valid Python: {error}")
        if "run_checks" not in text:
            self.add(checks, "", "defines no run_checks(workdir)")

    def _author(self, folder: Path) -> str:
        """Who wrote the task's reference solution, as far as anybody says; only --golden must be able to read it."""
        golden = read_golden(folder, self.shown(folder / GOLDEN), self.problems, warning=True)
        return golden.author if golden is not None else ""

    def _place(self, folder: Path, name: str) -> Path:
        """A path that starts at the task's folder, else at the folder of all tasks."""
        beside = folder / name
        return beside if beside.exists() else self.root / name

    def _case(self, folder: Path, task: TaskFile, settings: SuiteFile, limits: TraceLimits) -> CaseFolder:
        location = task.repo if _is_url(task.repo) else str(self._place(folder, task.repo).resolve())
        repository = Repository(
            location=location,
            revision=task.revision,
            install=(*settings.install, *task.install),
            install_timeout_s=float(task.install_timeout),
        )
        checks = folder / "checks.py"
        levels: dict[str, str | bool] = {**HARDNESS, **settings.checks, **task.checks}
        absent = {
            "expected_files": not task.expected_files_touched,
            "blast_radius": task.max_files_touched is None,
            "diff_size": task.max_lines_changed is None,
        }
        hardness = {
            name: Hardness.OFF if absent.get(name) else Hardness(level(given))
            for name, given in levels.items()
            if name in HARDNESS and level(given) in tuple(Hardness)
        }
        hardness[OWN] = Hardness.HARD if checks.is_file() else Hardness.OFF
        hardness[OWN_SOFT] = Hardness.SOFT if checks.is_file() else Hardness.OFF
        inputs = {
            "prompt": task.prompt,
            "repository": msgspec.to_builtins(repository),
            "expected_files_touched": task.expected_files_touched,
            "max_files_touched": task.max_files_touched,
            "max_lines_changed": task.max_lines_changed,
            "checks": str(checks.resolve()),
            "checks_timeout": float(task.checks_timeout),
            "hardness": {name: level.value for name, level in hardness.items()},
            "digest": digest_of(folder, settings.install, location),
        }
        annotations = {"tags": task.tags, **({"description": task.description} if task.description else {})}
        return CaseFolder(
            id=task.id,
            source=str(folder),
            home=str(folder),
            declared=(),
            inputs=inputs,
            annotations=annotations,
            repository=repository,
            shown=limits,
        )

    def _checks(self, cases: Sequence[CaseFolder]) -> list[CodeJudge]:
        longest = max((float(case.inputs["checks_timeout"]) for case in cases), default=600.0)
        install = max(
            (len(c.repository.install) * c.repository.install_timeout_s for c in cases if c.repository), default=0.0
        )
        used = {name for case in cases for name, level in case.inputs["hardness"].items() if level != Hardness.OFF}
        made = []
        for name in (*HARDNESS, OWN, OWN_SOFT):
            if name not in used:
                continue
            built_in = name in HARDNESS
            made.append(
                CodeJudge(
                    name=name,
                    criteria=(Criterion(name=name, scale=Binary()),),
                    module=_MODULE,
                    function="built_in" if built_in else "own",
                    arguments={"check": name} if built_in else {"hard": name == OWN},
                    condition=f"outputs['input']['hardness'][{name!r}] != 'off'",
                    timeout_s=longest + install + _SLACK_S,
                    location=f"{self.shown(self.root / TASKS)}:1:1",
                )
            )
        return made

    def _judge(self, rubric: Rubric, given: JudgeFile) -> LLMJudge:
        return LLMJudge(
            name=JUDGE,
            criteria=rubric.criteria or (Criterion(name=JUDGE),),
            instructions=f"{rubric.text}\n{RULES}",
            prompt=PROMPT,
            samples=max(1, given.samples),
            max_tokens=given.max_tokens or max(LEAST_TOKENS, 200 * len(rubric.dimensions)),
            effort=given.effort,
            timeout_s=float(given.timeout),
            location=f"{self.shown(self.root / RUBRIC)}:1:1",
        )

    def _pairwise(self, given: JudgeFile) -> PairwiseJudge:
        return PairwiseJudge(
            name="pairwise",
            prompt=PAIRWISE,
            effort=given.effort,
            timeout_s=float(given.timeout),
            location=f"{self.shown(self.root / RUBRIC)}:1:1",
        )

    def _execution(self, settings: SuiteFile) -> Execution:
        path = self.root / SETTINGS
        given = AgentFile(type=settings.agent) if isinstance(settings.agent, str) else settings.agent or AgentFile()
        template = None
        if given.type == "cli":
            words: list[str] = []
            try:
                words = shlex.split(given.command) if isinstance(given.command, str) else list(given.command or [])
                if not words:
                    self.add(path, "agent.command", "the cli agent needs a command")
            except ValueError as error:
                self.add(path, "agent.command", f"cannot be split into words: {error}")
            template = CommandTemplate(command=tuple(words), prompt_by=PromptBy.STDIN, model_env=("ADJUDGE_MODEL",))
        elif given.type not in AGENTS:
            known = (*AGENTS, "cli")
            self.add(path, "agent.type", f"there is no agent {given.type!r}", hint=nearest(given.type, known))
        spec = AgentSpec(
            name=given.type,
            template=template,
            env=given.env,
            effort=given.effort,
            permission_mode=given.permission_mode,
        )
        return Execution(
            agent=spec,
            prompt="{prompt}",
            models={"skill": given.model} if given.model else {},
            permissions=Permissions(allow=tuple(given.allow), deny=tuple(given.deny)),
            timeout_s=float(given.timeout),
            budget_usd=None if given.max_budget_usd is None else float(given.max_budget_usd),
            parallelism=max(1, settings.parallelism),
            project=str(self.root),
            config=str(path if path.is_file() else self.root),
        )


def identity_of(judge: LLMJudge, rubric: Rubric, shown: ShownFile) -> JudgeIdentity:
    """The judge's identity without its model, which is known when a run is planned."""
    cut = () if shown == ShownFile() else (msgspec.json.encode(shown).decode(),)
    tool = verdict_tool(judge.criteria, instructions="{criteria}")
    return JudgeIdentity(
        rubric=rubric.digest,
        prompt=_digest(RULES, PROMPT, *cut),
        parser=_digest(PARSER, tool.name, tool.system, msgspec.json.encode(tool.schema, order="sorted").decode()),
    )


def digest_of(folder: Path, install: Sequence[str], location: str) -> str:
    """Of everything that makes up a task: its files, what is installed, and a bundle's content. Git's own files
    change when somebody looks at it; what it holds at a revision is the commit's to say."""
    digest = hashlib.sha256("\0".join(install).encode())
    aside = {"__pycache__", ".git"}
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not aside & set(path.parts)):
        digest.update(f"{path.relative_to(folder)}\0".encode("utf-8", "surrogateescape"))
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    if Path(location).is_file() and not Path(location).is_relative_to(folder):
        digest.update(hashlib.sha256(Path(location).read_bytes()).digest())
    return digest.hexdigest()


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _is_url(repo: str) -> bool:
    return "://" in repo or bool(re.match(r"[\w.-]+@[\w.-]+:", repo))
