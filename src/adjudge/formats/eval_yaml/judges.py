"""The `judges:` list: types and their precedence, and every rule between keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from adjudge.domain import (
    BUILTIN_JUDGES,
    EFFORTS,
    AgentSpec,
    BuiltinJudge,
    CheckJudge,
    CodeJudge,
    Guard,
    Judge,
    LLMJudge,
    Problem,
    closest,
    compile_snippet,
    upgraded,
)
from adjudge.formats.convert import Converter, nearest
from adjudge.formats.eval_yaml.agents import agent_fields, read_runner
from adjudge.formats.eval_yaml.entry import LLM_KEYS, Entry
from adjudge.formats.eval_yaml.python import code_problem
from adjudge.formats.eval_yaml.schema import AgentConfig, JudgeConfig, RunnerConfig
from adjudge.located import Located, read_text
from adjudge.prompts import mentions, shows_work, template_problem

RUBRIC_TAIL = "\n\n# Agent Response to Evaluate\n\n{{ conversation }}"

_BUILTIN_EXCLUDES = ("check", "prompt", "prompt_file", "llm_rubric", "agent", "module", "function")
_BUILTINS_TO_COME = (
    "consulted_docs",
    "no_harmful_content",
    "output_completeness",
    "simulator_provenance",
    "tool_call_validation",
)


class JudgeReader:
    """Reads one judge at a time; `find` resolves a path the user wrote to a file that exists, or `None`."""

    def __init__(
        self,
        converter: Converter,
        find: Callable[[str], Path | None],
        code_paths: tuple[str, ...],
        default_model: str = "",
        *,
        outputs: tuple[str, ...] = (),
        execution_timeout: float | None = None,
    ) -> None:
        self.converter = converter
        self.find = find
        self.code_paths = code_paths
        self.default_model = default_model
        self.outputs = outputs
        self.execution_timeout = execution_timeout

    def read(self, node: Located, path: str) -> Judge | None:
        """The judge, or `None` after reporting why there is none."""
        before = sum(not problem.warning for problem in self.converter.problems)
        config = self.converter.struct(node, JudgeConfig, path)
        if config is None:
            return None
        entry = Entry(self.converter, node, path, config)
        if not config.name.strip():
            entry.error("name", "must not be empty")
        if config.name == "pairwise":
            entry.error("name", "the reserved pairwise judge is not available yet", hint="leave it out for now")
            return None
        entry.check_keys()
        judge = self._build(entry)
        after = sum(not problem.warning for problem in self.converter.problems)
        return judge if after == before else None

    def _build(self, entry: Entry) -> Judge | None:
        config = entry.config
        if config.builtin is not None:
            return self._builtin(entry)
        if config.check is not None:
            return self._check(entry)
        if config.agent is not None:
            return self._agent(entry)
        if any(getattr(config, key) is not None for key in LLM_KEYS):
            return self._llm(entry)
        if config.module is not None and config.function is not None:
            entry.must_be_identifiers()
            problem = code_problem(config.module, config.function, self.code_paths)
            if problem:
                entry.error(*problem)
            return CodeJudge(module=config.module, function=config.function, **entry.common(entry.code_scale()))
        missing = "function" if config.module is not None else "module" if config.function is not None else None
        if missing:
            entry.error("", f"a code judge needs both module and function: {missing!r} is missing")
        else:
            keys = "builtin, check, agent, prompt, prompt_file, llm_rubric or module + function"
            entry.warn("", f"judge {config.name!r} is skipped: it has none of {keys}")
        return None

    def _builtin(self, entry: Entry) -> Judge | None:
        config = entry.config
        name = config.builtin or ""
        others = [key for key in _BUILTIN_EXCLUDES if getattr(config, key) is not None]
        if others:
            entry.error("builtin", f"cannot be combined with {', '.join(others)}")
        flat = name.rpartition("/")[2]
        known = BUILTIN_JUDGES.get(flat)
        if known is None or name not in {flat, f"{known.category}/{flat}"}:
            listed = ", ".join(f"{info.category}/{key}" for key, info in sorted(BUILTIN_JUDGES.items()))
            hint = closest(flat, BUILTIN_JUDGES)
            if flat in _BUILTINS_TO_COME:
                entry.error("builtin", f"the builtin judge {flat!r} is not available yet", hint="leave it out for now")
                return None
            entry.error("builtin", f"there is no builtin judge {name!r}; there are: {listed}", hint=hint)
            return None
        for key in config.arguments or {}:
            if key not in known.arguments:
                hint = nearest(key, known.arguments)
                entry.error(f"arguments.{key}", f"the builtin judge {flat!r} takes no argument {key!r}", hint=hint)
        return BuiltinJudge(builtin=flat, **entry.common(entry.code_scale()))

    def _check(self, entry: Entry) -> Judge:
        code = entry.config.check or ""
        if not code.strip():
            entry.error("check", "the check is empty")
        try:
            compile_snippet(code, entry.config.name)
        except SyntaxError as error:
            place = f"line {error.lineno} of the check" if error.lineno else "the check"
            entry.error("check", f"{place} is not valid Python: {error.msg}")
        except (ValueError, RecursionError, MemoryError) as error:
            entry.error("check", f"is not valid Python: {error or 'nested too deeply'}")
        return CheckJudge(code=code, **entry.common(entry.code_scale()))

    def _agent(self, entry: Entry) -> Judge | None:
        """An LLM judge that its block upgrades to an agent."""
        block = entry.config.agent or AgentConfig()
        runner = block.runner or RunnerConfig()
        report = entry.error
        spec = read_runner(runner, report, "agent.runner", config_dir=self.code_paths[0], judge=True)
        judge = self._llm(entry)
        if runner.effort is not None and runner.effort not in EFFORTS:
            entry.error("agent.runner.effort", f"must be one of {', '.join(EFFORTS)}, got {runner.effort!r}")
        if isinstance(entry.config.model, list):
            entry.error("model", "an agent judge takes one model")
        fields = agent_fields(
            block,
            report,
            spec=spec or AgentSpec(),
            outputs=self.outputs,
            roots=[Path(path) for path in self.code_paths],
            execution_timeout=self.execution_timeout,
        )
        return upgraded(judge, options=None, attempts=1, effort=judge.effort or runner.effort or "", **fields)

    def _llm(self, entry: Entry) -> LLMJudge:
        config = entry.config
        agent = config.agent is not None
        if agent and not any(getattr(config, key) is not None for key in LLM_KEYS):
            entry.error("agent", "an agent judge needs instructions", hint="prompt, prompt_file or llm_rubric")
        prompt, key = self._prompt(entry)
        if prompt is not None:
            problem = template_problem(prompt) if prompt.strip() else "the prompt is empty"
            if problem:
                entry.error(key, problem)
        context: list[tuple[str, str]] = []
        for index, name in enumerate(config.context or []):
            text = self._file(entry, f"context[{index}]", name)
            if text is not None:
                problem = template_problem(text)
                if problem:
                    entry.error(f"context[{index}]", f"{name}: {problem}")
                context.append((Path(name).name, text))
        models = entry.models()
        if prompt and not agent and not any(map(shows_work, [prompt, *(text for _, text in context)])):
            entry.warn(key, "the prompt shows nothing of what the agent made", hint="such as {{ outputs }}")
        return LLMJudge(
            prompt=prompt or "",
            context=tuple(context),
            model=models[0] if len(models) == 1 else "",
            panel=models if len(models) > 1 else (),
            options=entry.provider_options([*models] or [self.default_model]),
            examples=entry.examples(),
            effort=entry.one_of("reasoning_effort", EFFORTS),
            guard=Guard(entry.one_of("guard", [guard.value for guard in Guard]) or "off"),
            early_stop=bool(config.early_stop),
            **entry.common(entry.model_scale()),
        )

    def _prompt(self, entry: Entry) -> tuple[str | None, str]:
        """llm_rubric before prompt before prompt_file."""
        config = entry.config
        if config.llm_rubric is not None:
            text = config.llm_rubric
            if text.strip() and config.agent is None and not mentions(text, "conversation"):
                text = text.rstrip() + RUBRIC_TAIL
            return text, "llm_rubric"
        if config.prompt is not None:
            return config.prompt, "prompt"
        if config.prompt_file is None:
            return None, "prompt_file"
        return self._file(entry, "prompt_file", config.prompt_file), "prompt_file"

    def _file(self, entry: Entry, key: str, name: str) -> str | None:
        found = self.find(name)
        if found is None:
            entry.error(
                key, f"there is no file {name!r}", hint="paths start at this file's folder, then at the current one"
            )
            return None
        text = read_text(found, name)
        if isinstance(text, Problem):
            entry.error(key, f"{name}: {text.message}")
            return None
        return text
