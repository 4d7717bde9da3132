"""The `judges:` list: types and their precedence, and every rule between keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adjudge.domain import (
    BUILTIN_JUDGES,
    EFFORTS,
    AgentSpec,
    Binary,
    BuiltinJudge,
    CheckJudge,
    CodeJudge,
    Guard,
    Judge,
    LLMJudge,
    PairwiseJudge,
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
from adjudge.located import Located, parse_yaml, read_text
from adjudge.prompts import BUILTIN_PROMPTS, mentions, shows_work, template_problem

RUBRIC_TAIL = "\n\n# Agent Response to Evaluate\n\n{{ conversation }}"

PAIRWISE = "pairwise"
"""The name that is kept for comparing with a baseline."""
_NOT_FOR_PAIRWISE = (
    *("builtin", "check", "agent", "llm_rubric", "module", "function", "examples", "guard"),
    *("early_stop", "abstain", "step"),
)
_SHORTCUT = re.compile(r"""\boutputs(?:\[|\.get\()\s*["']([\w.-]+_(?:content|file))["']""")
"""A check that reads the file of an output folder by its short key."""
_BUILTIN_EXCLUDES = ("check", "prompt", "prompt_file", "llm_rubric", "agent", "module", "function")


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
        steps: tuple[str, ...] = (),
    ) -> None:
        self.converter = converter
        self.find = find
        self.code_paths = code_paths
        self.default_model = default_model
        self.outputs = outputs
        self.execution_timeout = execution_timeout
        self.steps = steps

    def read(self, node: Located, path: str) -> Judge | None:
        """The judge, or `None` after reporting why there is none."""
        before = sum(not problem.warning for problem in self.converter.problems)
        config = self.converter.struct(node, JudgeConfig, path)
        if config is None:
            return None
        entry = Entry(self.converter, node, path, config)
        if not config.name.strip():
            entry.error("name", "must not be empty")
        entry.check_keys(self.steps)
        judge = self._pairwise(entry) if config.name == PAIRWISE else self._build(entry)
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

    def _pairwise(self, entry: Entry) -> Judge:
        """The reserved judge, which compares with a baseline run."""
        config = entry.config
        for key in _NOT_FOR_PAIRWISE:
            if getattr(config, key) is not None:
                name = "if" if key == "condition" else key
                entry.error(name, "the pairwise judge does not take it: it compares two outputs")
        if config.score_range is not None or config.feedback_type not in (None, ""):
            entry.error("score_range", "the pairwise judge answers A, B or tie")
        if isinstance(config.model, list):
            entry.error("model", "the pairwise judge takes one model")
        if isinstance(config.model, str) and config.model.startswith("runner:/"):
            entry.error("model", "the pairwise judge needs a model that is reached directly, not by a runner")
        prompt, key = self._prompt(entry)
        if prompt is not None:
            problem = template_problem(prompt) if prompt.strip() else "the prompt is empty"
            if problem:
                entry.error(key, problem)
        models = entry.models()
        common = entry.common(None)
        del common["criteria"]
        return PairwiseJudge(
            prompt=prompt or "",
            context=self._context(entry),
            model=models[0] if len(models) == 1 else "",
            options=entry.provider_options([*models] or [self.default_model]),
            effort=entry.one_of("reasoning_effort", EFFORTS),
            **{**common, "samples": config.samples or 1},
        )

    def _context(self, entry: Entry) -> tuple[tuple[str, str], ...]:
        """The further sections of a prompt."""
        context: list[tuple[str, str]] = []
        for index, name in enumerate(entry.config.context or []):
            text = self._file(entry, f"context[{index}]", name)
            if text is not None:
                problem = template_problem(text)
                if problem:
                    entry.error(f"context[{index}]", f"{name}: {problem}")
                context.append((Path(name).name, text))
        return tuple(context)

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
            entry.error("builtin", f"there is no builtin judge {name!r}; there are: {listed}", hint=hint)
            return None
        arguments = config.arguments or {}
        for key in arguments:
            if key not in known.names:
                hint = nearest(key, known.names)
                entry.error(f"arguments.{key}", f"the builtin judge {flat!r} takes no argument {key!r}", hint=hint)
        faults = list(known.problems(arguments))
        for key, problem in faults:
            if key:
                entry.error(f"arguments.{key}", problem)
            else:
                entry.error("builtin" if config.arguments is None else "arguments", f"{flat!r} {problem}")
        if known.kind == "llm":
            return self._builtin_llm(entry, BUILTIN_PROMPTS[flat], {**known.defaults, **arguments})
        fields = entry.common(entry.code_scale())
        if flat == "json_schema" and not faults:
            fields["arguments"] = self._with_schema(entry, arguments)
        return BuiltinJudge(builtin=flat, **fields)

    def _builtin_llm(self, entry: Entry, prompt: str, arguments: dict[str, Any]) -> LLMJudge:
        """An LLM judge whose prompt comes with adjudge: pass or fail."""
        config = entry.config
        if config.feedback_type not in (None, "", "bool"):
            entry.error("feedback_type", f"the builtin judge {config.builtin!r} answers pass or fail (bool)")
        if config.score_range is not None and config.feedback_type != "bool":
            entry.error("score_range", f"the builtin judge {config.builtin!r} answers pass or fail")
        fields = {**entry.common(Binary()), "arguments": arguments}
        return LLMJudge(prompt=prompt, context=self._context(entry), **self._asking(entry), **fields)

    def _with_schema(self, entry: Entry, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments of json_schema, with the content of its file in place of the name."""
        schema, key, name = arguments.get("schema"), "arguments.schema", arguments.get("schema_file")
        if name is not None:
            key = "arguments.schema_file"
            text = self._file(entry, key, name)
            if text is None:
                return arguments
            root, problems = parse_yaml(text, name)
            schema = root.plain() if root is not None else None
            if problems or not isinstance(schema, dict):
                reason = problems[0].message if problems else "expected a mapping"
                entry.error(key, f"{name}: {reason}")
                return arguments
        problem = _schema_problem(schema)
        if problem:
            entry.error(key, f"is not a valid JSON Schema: {problem}")
        return {"file": arguments["file"], "schema": schema}

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
        reads = next((name for name in _SHORTCUT.findall(code) if not name.startswith("annotation_")), None)
        if reads and not self.outputs:
            text = f"reads {reads}, but no outputs[].path is declared, so there is no such file"
            entry.warn("check", text, hint="outputs: [{path: artifacts}]")
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
        context = self._context(entry)
        if prompt and not agent and not any(map(shows_work, [prompt, *(text for _, text in context)])):
            entry.warn(key, "the prompt shows nothing of what the agent made", hint="such as {{ outputs }}")
        return LLMJudge(
            prompt=prompt or "",
            context=context,
            **self._asking(entry),
            **entry.common(entry.model_scale()),
        )

    def _asking(self, entry: Entry) -> dict[str, Any]:
        """Who is asked, and how."""
        models = entry.models()
        return {
            "model": models[0] if len(models) == 1 else "",
            "panel": models if len(models) > 1 else (),
            "options": entry.provider_options([*models] or [self.default_model]),
            "examples": entry.examples(),
            "effort": entry.one_of("reasoning_effort", EFFORTS),
            "guard": Guard(entry.one_of("guard", [guard.value for guard in Guard]) or "off"),
            "early_stop": bool(entry.config.early_stop),
        }

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


def _schema_problem(schema: Any) -> str:
    """What is wrong with a JSON Schema; nothing where jsonschema is not installed, which the plan tells."""
    try:
        import jsonschema
    except ImportError:
        return ""
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        return f"{'/'.join(map(str, error.absolute_path)) or 'the whole'}: {error.message[:200]}"
    return ""
