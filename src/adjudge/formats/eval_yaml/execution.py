"""`execution`, `runner`, `permissions`, `inputs`, `hooks`: how the agent under test is run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from adjudge.domain import (
    ALWAYS,
    PHASES,
    RESPONSES_API,
    AgentSpec,
    Execution,
    Hook,
    Interception,
    OnFailure,
    Output,
    PathRule,
    Permissions,
    RunMode,
    Step,
    WorkspaceFile,
)
from adjudge.formats.convert import Converter, nearest
from adjudge.formats.eval_yaml.agents import read_runner
from adjudge.formats.eval_yaml.places import place_of
from adjudge.formats.eval_yaml.plugins import plugin_fault
from adjudge.formats.eval_yaml.responses import check_responses
from adjudge.formats.eval_yaml.schema import (
    EvalConfig,
    ExecutionConfig,
    HookConfig,
    PathRuleConfig,
    RunnerConfig,
    ToolConfig,
)
from adjudge.located import Located, read_text
from adjudge.prompts import InputError, fill, template_faults, uses_steps

PER_CASE = ("before_each", "after_each", "before_step", "after_step")
_EFFORTS = {
    "claude-code": ("low", "medium", "high", "xhigh", "max"),
    "codex": ("minimal", "low", "medium", "high", "xhigh"),
    RESPONSES_API: ("none", "minimal", "low", "medium", "high", "xhigh"),
}
_MODES = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions", "manual")
_KNOWN_TOOLS = ("AskUserQuestion", "Bash", "Read", "Write", "Edit", "Glob", "Grep", "Agent", "Skill")
_WITHOUT_HOOKS = ("codex", "cursor", RESPONSES_API)


class ExecutionReader:
    """Reads one file's sections. `find` resolves a path that the user wrote: config's folder, then project."""

    def __init__(
        self,
        converter: Converter,
        root: Located,
        config: EvalConfig,
        *,
        path: Path,
        find: Callable[[str], Path | None],
    ) -> None:
        self._converter = converter
        self._root = root
        self._config = config
        self._path = path.resolve()
        self._find = find
        self._roots = (self._path.parent, Path.cwd().resolve())

    def read(self) -> Execution | None:
        """`None` when the file names nothing to run."""
        config = self._config
        given = config.execution or ExecutionConfig()
        runner = config.runner or RunnerConfig()
        mode = self._one_of("execution.mode", given.mode, tuple(RunMode), "case")
        skill = self._segment("execution.skill", given.skill or config.skill or "")
        self._rules(given, mode, runner, skill)
        agent = self._agent("runner", runner)
        steps = tuple(self._steps(given, runner))
        self._numbers(given)
        self._faults("execution.prompt", given.prompt)
        self._faults("execution.arguments", given.arguments)
        hooks = self._hooks(mode, in_repo=runner.workspace_mode == "repo")
        interceptions = tuple(self._interceptions(runner, given))
        permissions = Permissions(allow=tuple(self._allowed("allow")), deny=tuple(self._allowed("deny")))
        files = tuple(self._files(mode))
        prompt, arguments = given.prompt or "", given.arguments or ""
        if not any((skill, prompt, steps)) and self._says_no_skill():
            prompt, arguments = arguments, ""
        target = (skill, prompt, steps, agent is not None and agent.template)
        if not any(target):
            return None
        models = config.models
        named = {
            "skill": models and models.skill,
            "subagent": models and models.subagent,
            "hook": models and models.hook,
        }
        budget = given.max_budget_usd
        return Execution(
            mode=RunMode(mode),
            agent=agent or AgentSpec(),
            skill=skill,
            prompt=prompt,
            arguments=arguments,
            steps=steps,
            models={role: model for role, model in named.items() if model},
            env={name: str(value) for name, value in (given.env or {}).items()},
            timeout_s=float(given.timeout or 3600),
            budget_usd=100.0 if budget is None else float(budget),
            parallelism=max(1, given.parallelism or 1),
            max_failure_rate=float(given.max_failure_rate or 0),
            files=files,
            permissions=permissions,
            interceptions=interceptions,
            outputs=tuple(self._outputs()),
            hooks=hooks,
            in_repo=runner.workspace_mode == "repo",
            project=str(self._roots[1]),
            config=str(self._path),
        )

    def _says_no_skill(self) -> bool:
        """True where `skill: null` is written, which makes the arguments the whole prompt."""
        execution = self._root.value.get("execution")
        sections = (self._root, execution)
        maps = [node.value for node in sections if node is not None and isinstance(node.value, dict)]
        return any("skill" in keys and keys["skill"].value is None for keys in maps)

    def _error(self, key: str, message: str, *, hint: str = "", warning: bool = False) -> None:
        self._converter.add_at(place_of(self._root, key), key, message, hint=hint, warning=warning)

    def _one_of(self, key: str, value: str | None, allowed: Sequence[str], default: str) -> str:
        if value is None or value in allowed:
            return value or default
        self._error(key, f"must be {' or '.join(allowed)}, got {value!r}", hint=nearest(value, allowed))
        return default

    def _segment(self, key: str, name: str) -> str:
        name = name.strip()
        if name and (name in (".", "..") or re.search(r"[/\\]", name) or not name.isprintable()):
            self._error(key, f"must be one path segment, got {name!r}")
        return name

    def _faults(self, key: str, template: str | None, steps: Sequence[str] = ()) -> None:
        fault = template_faults(template or "", steps=steps)
        if fault:
            self._error(key, fault)

    def _rules(self, given: ExecutionConfig, mode: str, runner: RunnerConfig, skill: str) -> None:
        """What excludes what."""
        prompt = bool((given.prompt or "").strip())
        if skill and prompt:
            self._error("execution.prompt", "cannot go with a skill: one of them is run")
        if given.prompt is not None and not prompt:
            self._error("execution.prompt", "is empty")
        if given.steps and (skill or prompt):
            self._error("execution.steps", "cannot go with a skill or a prompt: each step has its own")
        if given.project_hooks:
            self._error("execution.project_hooks", "is not used: the project's own hooks are not run", warning=True)
        if given.steps and mode == "batch":
            self._error("execution.steps", "need mode: case")
        if runner.workspace_mode not in (None, "repo"):
            self._error("runner.workspace_mode", f"must be repo, got {runner.workspace_mode!r}")
        if runner.workspace_mode == "repo":
            if given.steps:
                self._error("execution.steps", "do not work in the repository itself (runner.workspace_mode: repo)")
            if runner.type in ("codex", "cli", RESPONSES_API):
                self._error("runner.workspace_mode", f"the {runner.type} runner does not work in the repository itself")
            elif not prompt:
                self._error("runner.workspace_mode", "repo needs execution.prompt")
        if given.parallelism and given.parallelism > 1 and (mode == "batch" or runner.workspace_mode == "repo"):
            self._error("execution.parallelism", "is not used: there is one run at a time", warning=True)

    def _numbers(self, given: ExecutionConfig) -> None:
        if given.timeout is not None and given.timeout <= 0:
            self._error("execution.timeout", f"must be above 0 seconds, got {given.timeout}")
        if given.max_budget_usd is not None and given.max_budget_usd < 0:
            self._error("execution.max_budget_usd", f"must not be negative, got {given.max_budget_usd}")
        if given.parallelism is not None and given.parallelism < 1:
            self._error("execution.parallelism", f"must be 1 or more, got {given.parallelism}")
        if given.max_failure_rate is not None and not 0 <= given.max_failure_rate <= 1:
            self._error("execution.max_failure_rate", f"must be from 0 to 1, got {given.max_failure_rate}")

    def _agent(self, key: str, runner: RunnerConfig) -> AgentSpec | None:
        spec = read_runner(runner, self._error, key, config_dir=str(self._path.parent), judge=False, under_test=True)
        kind = runner.type or "claude-code"
        efforts = _EFFORTS.get(kind)
        if runner.effort is not None and efforts and runner.effort not in efforts:
            self._error(f"{key}.effort", f"must be one of {', '.join(efforts)}, got {runner.effort!r}")
        if runner.permission_mode is not None:
            self._one_of(f"{key}.permission_mode", runner.permission_mode, _MODES, "")
        folders = [self._plugin(f"{key}.plugin_dirs[{i}]", name) for i, name in enumerate(runner.plugin_dirs or [])]
        if kind != "claude-code":
            for name in ("plugin_dirs", "settings", "permission_mode"):
                if getattr(runner, name) and not (name == "settings" and kind in (RESPONSES_API, "codex")):
                    self._error(f"{key}.{name}", f"is for claude-code only, not for {kind}")
        if spec is None:
            return None
        if kind == RESPONSES_API:
            check_responses(runner, self._config, self._error, key)
        return msgspec.structs.replace(
            spec,
            effort=runner.effort or "",
            permission_mode=runner.permission_mode or "",
            plugin_dirs=tuple(str(folder) for folder in folders if folder is not None),
            settings=runner.settings or {},
            own_home=True,
        )

    def _plugin(self, key: str, name: str) -> Path | None:
        """A folder with at least one skill; one that looks to be inside the project must be inside."""
        for root in reversed(self._roots):
            folder = root / name
            if not folder.is_dir():
                continue
            inside = not Path(name).is_absolute() and ".." not in Path(name).parts
            if inside and not folder.resolve().is_relative_to(root):
                self._error(key, f"{name} leads out of the project by a link")
                return None
            fault = plugin_fault(folder, name)
            if fault:
                self._error(key, fault)
            return folder.resolve()
        self._error(key, f"there is no folder {name!r}")
        return None

    def _steps(self, given: ExecutionConfig, runner: RunnerConfig) -> Iterator[Step]:
        seen: list[str] = []
        for index, step in enumerate(given.steps or []):
            key = f"execution.steps[{index}]"
            self._segment(f"{key}.id", step.id)
            if not step.id.strip():
                self._error(f"{key}.id", "must not be empty")
            if step.id in seen:
                self._error(f"{key}.id", f"two steps are called {step.id!r}")
            if bool((step.skill or "").strip()) == bool((step.prompt or "").strip()):
                self._error(key, "a step needs a skill or a prompt, and not both")
            if step.timeout is not None and step.timeout <= 0:
                self._error(f"{key}.timeout", f"must be above 0 seconds, got {step.timeout}")
            if step.max_budget_usd is not None and step.max_budget_usd < 0:
                self._error(f"{key}.max_budget_usd", f"must not be negative, got {step.max_budget_usd}")
            self._faults(f"{key}.prompt", step.prompt, seen)
            self._faults(f"{key}.arguments", step.arguments, seen)
            own = step.runner
            if own is not None and own.workspace_mode == "repo":
                self._error(f"{key}.runner.workspace_mode", "steps do not work in the repository itself")
            on_failure = self._one_of(f"{key}.on_failure", step.on_failure, tuple(OnFailure), "fail")
            seen.append(step.id)
            yield Step(
                id=step.id,
                name=step.name or "",
                skill=self._segment(f"{key}.skill", step.skill or ""),
                prompt=step.prompt or "",
                arguments=step.arguments or "",
                env=step.env or {},
                timeout_s=None if step.timeout is None else float(step.timeout),
                budget_usd=None if step.max_budget_usd is None else float(step.max_budget_usd),
                agent=self._agent(f"{key}.runner", own) if own is not None else None,
                on_failure=OnFailure(on_failure),
            )

    def _hooks(self, mode: str, *, in_repo: bool) -> dict[str, tuple[Hook, ...]]:
        given = self._config.hooks
        found: dict[str, tuple[Hook, ...]] = {}
        for phase in PHASES if given is not None else ():
            entries: list[HookConfig] | None = getattr(given, phase)
            if not entries:
                continue
            if phase in PER_CASE and (mode == "batch" or in_repo):
                where = "in mode: batch" if mode == "batch" else "in the repository itself"
                self._error(
                    f"hooks.{phase}", f"is not used {where}, which has no workspace for each case", warning=True
                )
                continue
            found[phase] = tuple(self._hook(f"hooks.{phase}[{i}]", phase, entry) for i, entry in enumerate(entries))
        return found

    def _hook(self, key: str, phase: str, entry: HookConfig) -> Hook:
        if not entry.command.strip():
            self._error(f"{key}.command", "is empty")
        if entry.timeout is not None and entry.timeout <= 0:
            self._error(f"{key}.timeout", f"must be above 0 seconds, got {entry.timeout}")
        on_failure = self._one_of(f"{key}.on_failure", entry.on_failure, tuple(OnFailure), "fail")
        if phase in ALWAYS:
            on_failure = "continue"
        return Hook(
            command=entry.command,
            timeout_s=float(entry.timeout or 120),
            description=entry.description or "",
            on_failure=OnFailure(on_failure),
            condition=entry.condition or "",
        )

    def _interceptions(self, runner: RunnerConfig, given: ExecutionConfig) -> Iterator[Interception]:
        tools = self._config.inputs.tools if self._config.inputs else None
        runners = [runner, *(step.runner for step in given.steps or [] if step.runner)]
        for kind in {other.type for other in runners} if tools else ():
            if kind in _WITHOUT_HOOKS:
                self._error("inputs.tools", f"the {kind} runner cannot intercept tool calls")
        for index, tool in enumerate(tools or []):
            yield self._interception(f"inputs.tools[{index}]", tool)

    def _interception(self, key: str, tool: ToolConfig) -> Interception:
        match = (tool.match or "").strip()
        if not match:
            self._error(key, "needs match: which calls are meant")
        prompt = tool.prompt or ""
        if not prompt and tool.prompt_file:
            found = self._find(tool.prompt_file)
            text = read_text(found, tool.prompt_file) if found else None
            if isinstance(text, str):
                prompt = text
            else:
                self._error(f"{key}.prompt_file", f"there is no file {tool.prompt_file!r}")
        for index, pattern in enumerate(tool.input_filters or []):
            try:
                re.compile(pattern)
            except re.error as error:
                self._error(f"{key}.input_filters[{index}]", f"is no regular expression: {error}")
        patterns = patterns_of(match)
        if "Bash" in patterns and not tool.input_filters:
            text = "Bash is meant, but no input_filters say which commands: commands are not intercepted"
            self._error(key, text, hint="input_filters: [jira]", warning=True)
        return Interception(
            match=match,
            patterns=patterns,
            prompt=prompt,
            input_filters=tuple(tool.input_filters or ()),
            env_checks={name: tuple(texts) for name, texts in (tool.env_checks or {}).items()},
            answers=tool.answers or {},
        )

    def _allowed(self, which: str) -> Iterator[str | PathRule]:
        given = getattr(self._config.permissions, which) if self._config.permissions else None
        for index, rule in enumerate(given or []):
            if isinstance(rule, PathRuleConfig):
                if not rule.path.strip():
                    self._error(f"permissions.{which}[{index}].path", "is empty")
                yield PathRule(path=rule.path, tools=tuple(rule.tools or ()))
            else:
                yield rule

    def _outputs(self) -> Iterator[Output]:
        for index, output in enumerate(self._config.outputs or []):
            for pattern, kind in (output.types or {}).items():
                if kind not in ("graph", "metrics"):
                    self._error(f"outputs[{index}].types.{pattern}", f"must be graph or metrics, got {kind!r}")
            yield Output(
                path=str(PurePosixPath(output.path)) if output.path else "",
                tool=output.tool or "",
                batch_pattern=output.batch_pattern or "",
                types=output.types or {},
            )

    def _files(self, mode: str) -> Iterator[WorkspaceFile]:
        dataset = self._config.dataset
        given = dataset.workspace.files if dataset and dataset.workspace else None
        if given and mode == "batch":
            self._error("dataset.workspace.files", "is not used in mode: batch", warning=True)
            return
        for index, entry in enumerate(given or []):
            key = f"dataset.workspace.files[{index}]"
            name = entry if isinstance(entry, str) else entry.dest
            parts = PurePosixPath(name).parts
            if not parts or name.startswith("/") or ".." in parts or parts == (".",):
                self._error(key, f"must be a relative path without .., got {name!r}")
                continue
            dest = name.rstrip("/")
            if isinstance(entry, str):
                yield WorkspaceFile(dest=dest)
                continue
            source = self._source(f"{key}.source", entry.source)
            if source is not None:
                yield WorkspaceFile(dest=dest, source=str(source))

    def _source(self, key: str, name: str) -> Path | None:
        for root in self._roots:
            path = root / name
            if path.exists():
                if any(path.resolve().is_relative_to(other) for other in self._roots):
                    return path.resolve()
                self._error(key, f"{name} lies outside of the project")
                return None
        self._error(key, f"there is no {name!r}")
        return None


def patterns_of(match: str) -> tuple[str, ...]:
    """The tools that a text means: those that it names, else commands for scripts and APIs, else every tool."""
    named = [name for name in _KNOWN_TOOLS if re.search(rf"\b{name}\b", match)]
    named += [token.rstrip(".,;") for token in re.findall(r"mcp__[\w*-]+", match)]
    if not named and re.search(r"\b(scripts?|apis?)\b", match, re.IGNORECASE):
        named = ["Bash"]
    return tuple(dict.fromkeys(named)) or ("*",)


def missing_fields(execution: Execution, fields: Mapping[str, Any]) -> list[str]:
    """What keeps the templates of an execution from being filled with these fields, as far as it is known before the
    run."""
    templates = [execution.prompt, execution.arguments]
    templates += [text for step in execution.steps for text in (step.prompt, step.arguments)]
    problems = []
    ids = [step.id for step in execution.steps]
    for template in templates:
        if template_faults(template, steps=ids) or uses_steps(template):
            continue  # told already, or later
        try:
            fill(template, {**fields, **execution.overrides})
        except InputError as error:
            problems.append(str(error))
    return list(dict.fromkeys(problems))
