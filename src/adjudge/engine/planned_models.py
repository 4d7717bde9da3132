"""Which model answers for each judge of a plan, where it is reached, and what keeps it from being asked."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import msgspec

from adjudge.domain import (
    AgentJudge,
    AgentSpec,
    AnswerBy,
    DecisionJudge,
    ErrorKind,
    Failure,
    Judge,
    LLMJudge,
    MissingExtraError,
    Mode,
    ModelJudge,
    OpenRouter,
    Place,
    Problem,
    ProviderOptions,
    Suite,
    upgraded,
)
from adjudge.engine.options import RunOptions
from adjudge.models import (
    CHARACTERS_PER_TOKEN,
    CredentialsError,
    Endpoint,
    least_cacheable,
    resolve,
    resolve_decision,
    split,
)
from adjudge.prompts import DOCUMENTS, INSTALL, fixed_prefix, verdict_tool

MANY_CASES = 20
_OFFLINE = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "TYPESAFE_API_KEY")
_HINT = "set model, models.judge, EVAL_JUDGE_MODEL or --judge-model; --no-llm leaves it out"
_WAYS = "openrouter:/<author>/<slug>, or openai:/<model> with OPENAI_BASE_URL, reaches it"


class ModelPlanner:
    """Resolves the models of one suite. `problems` gets what keeps a run from starting."""

    def __init__(self, suite: Suite, options: RunOptions, environ: Mapping[str, str], problems: list[Problem]) -> None:
        self.endpoints: dict[str, Endpoint] = {}
        self.unavailable: dict[str, Failure] = {}
        self._suite = suite
        self._options = options
        self._problems = problems
        offline = dict.fromkeys((*_OFFLINE, (suite.openrouter or OpenRouter()).api_key_env), "offline")
        self._environ = {**offline, **environ} if options.offline else environ

    def judges(self, judge: ModelJudge) -> list[ModelJudge]:
        """The judge with its model and every override; a panel becomes one judge a model."""
        options = self._options
        changes: dict[str, object] = {"samples": options.samples or judge.samples}
        if isinstance(judge, DecisionJudge):
            chosen = msgspec.structs.replace(judge, **changes)
            self._reach(chosen)
            return [chosen]
        if options.effort:
            changes["effort"] = options.effort
        judge = msgspec.structs.replace(judge, **changes)
        if isinstance(judge, AgentJudge):
            return [self._agent(judge)]
        panel = () if options.judge_model else judge.panel
        if len(panel) < 2:
            default = self._suite.default_model or self._environ.get("EVAL_JUDGE_MODEL", "")
            model = options.judge_model or (panel[0] if panel else "") or judge.model or default
            return [self._member(judge, model)]
        return [self._member(_named(judge, model), model) for model in panel]

    def _agent(self, judge: AgentJudge) -> AgentJudge:
        """An agent judge with its model: its own, the suite's, or the one that the agent takes by itself."""
        from adjudge.judges.agent import program_problem  # with what it takes to run agents

        default = "" if judge.agent.template else self._suite.default_model or self._environ.get("EVAL_JUDGE_MODEL", "")
        judge = msgspec.structs.replace(judge, model=self._options.judge_model or judge.model or default)
        problem = program_problem(judge, self._environ)
        if problem and not self._options.offline:
            if self._options.keep_going:
                self.unavailable[judge.name] = Failure(ErrorKind.CONFIG, problem)
            else:
                self._problem(judge, problem, "adjudge doctor shows what is there; --no-llm leaves agent judges out")
        return judge

    def _by_runner(self, judge: LLMJudge, model: str) -> AgentJudge:
        """A judge whose model only the suite's runner serves: the runner is handed the prompt, in an empty folder."""
        agent = upgraded(
            judge,
            model="",
            panel=(),
            options=None,
            attempts=1,
            agent=self._suite.runner or AgentSpec(),
            place=Place.EMPTY,
            answer_by=AnswerBy.STRUCTURED,
        )
        checked = self._agent(agent)
        return msgspec.structs.replace(checked, model=model)

    def _member(self, judge: LLMJudge, model: str) -> LLMJudge:
        judge = msgspec.structs.replace(judge, model=model, panel=())
        provider, separator, name = model.partition(":/")
        if separator and provider == "runner" and name:
            return self._by_runner(judge, name)
        if model and split(model)[0] == "openrouter":
            judge = self._routed(judge, split(model)[1])
        elif judge.options is not None:
            judge = msgspec.structs.replace(judge, options=None)
        self._reach(judge)
        return judge

    def _routed(self, judge: LLMJudge, slug: str) -> LLMJudge:
        """The judge with OpenRouter's options: its own routing, else what the suite says of the model."""
        settings = self._suite.openrouter or OpenRouter()
        own = judge.options or ProviderOptions()
        inherited = settings.routing(slug.partition(":")[0])
        routing = {**settings.defaults, **own.routing} if own.routing else inherited
        fallbacks = own.fallbacks or tuple(routing.get("fallbacks") or ())
        options = msgspec.structs.replace(
            own,
            routing={key: value for key, value in routing.items() if key != "fallbacks"},
            fallbacks=fallbacks,
            extra_body={**settings.extra_body, **own.extra_body},
        )
        return msgspec.structs.replace(judge, options=options, max_tokens=own.max_tokens or judge.max_tokens)

    def _reach(self, judge: ModelJudge) -> None:
        self._check_documents(judge)
        if isinstance(judge, LLMJudge) and not self._names_a_model(judge):
            return
        try:
            if isinstance(judge, DecisionJudge):
                endpoint = resolve_decision(judge.model, self._environ)
            else:
                endpoint = resolve(judge.model, self._environ, openrouter=self._suite.openrouter)
        except (CredentialsError, MissingExtraError) as error:
            if self._options.keep_going:
                kind = ErrorKind.CREDENTIALS if isinstance(error, CredentialsError) else ErrorKind.CONFIG
                self.unavailable[judge.name] = Failure(kind, str(error))
                return
            hint = "--no-llm leaves LLM judges out; --keep-going runs the others; --judge-model names another model"
            self._problem(judge, str(error), hint)
            return
        self.endpoints[judge.name] = endpoint

    def _names_a_model(self, judge: LLMJudge) -> bool:
        if not judge.model:
            self._problem(judge, "no model is named", _HINT)
            return False
        provider, separator, _ = judge.model.partition(":/")
        if separator and provider not in ("anthropic", "openai", "openrouter", "litellm"):
            self._problem(judge, f"there is no model provider {provider!r} ({judge.model})", _WAYS)
            return False
        if not split(judge.model)[1].strip().strip("/") or judge.model.endswith(":/"):
            self._problem(judge, f"{judge.model!r} names no model", "such as openai:/gpt-5.2 or claude-sonnet-5-5")
            return False
        return True

    def _check_documents(self, judge: ModelJudge) -> None:
        names = [*judge.files, judge.reference, *(name for criterion in judge.criteria for name in criterion.files)]
        documents = [name for name in names if PurePosixPath(name).suffix.lower() in DOCUMENTS]
        if documents and importlib.util.find_spec("markitdown") is None:
            self._problem(judge, f"{documents[0]} is shown through markitdown, which is not installed", INSTALL)

    def _problem(self, judge: ModelJudge, message: str, hint: str) -> None:
        file, line, column = place_of(judge.location)
        key = f"judge {judge.name!r}"
        self._problems.append(Problem(file=file, line=line, column=column, key=key, message=message, hint=hint))


def prefix_warnings(judges: Sequence[Judge], endpoints: Mapping[str, Endpoint], cases: int) -> list[Problem]:
    """Judges with many cases whose fixed text is too short for the provider to keep it between calls."""
    short: dict[tuple[str, int], list[str]] = {}
    for judge in judges:
        endpoint = endpoints.get(judge.name)
        if not isinstance(judge, LLMJudge) or endpoint is None or endpoint.wire.name != "anthropic":
            continue
        calls = cases * judge.samples * (len(judge.criteria) if judge.mode is Mode.INDIVIDUAL else 1)
        tool = verdict_tool(judge.criteria, guarded=judge.guards, instructions=judge.instructions)
        schema = len(msgspec.json.encode(tool.schema)) + len(tool.description)
        tokens = round((len(tool.system) + schema + len(fixed_prefix(judge.prompt))) / CHARACTERS_PER_TOKEN)
        least = least_cacheable(endpoint.model)
        if calls >= MANY_CASES and tokens < least:
            short.setdefault((endpoint.model, least), []).append(f"{judge.name} (about {tokens})")
    return [
        Problem(
            message=f"{model} keeps a prompt's beginning between calls from {least} tokens on, and these judges' fixed "
            f"text is shorter, so that all of it is paid for each time: {', '.join(names)}",
            hint="what stands before the first variable counts",
            warning=True,
        )
        for (model, least), names in short.items()
    ]


def place_of(location: str) -> tuple[str, int, int]:
    """(file, line, column) of a judge's location; the whole text as file when it holds no place."""
    file, _, rest = location.rpartition(":")
    file, _, line = file.rpartition(":")
    return (file, int(line), int(rest)) if line.isdigit() and rest.isdigit() else (location, 0, 0)


def _named(judge: LLMJudge, model: str) -> LLMJudge:
    """The judge that answers for a panel with one model."""
    name = f"{judge.name}/{model}"
    criteria = tuple(
        msgspec.structs.replace(criterion, name=name) if criterion.name == judge.name else criterion
        for criterion in judge.criteria
    )
    return msgspec.structs.replace(judge, name=name, criteria=criteria, member_of=judge.name)
