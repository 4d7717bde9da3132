"""The keys of an eval.yaml: what each may hold. Rules between keys are in `judges.py` and `load.py`."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

Number = int | float
_Doc = msgspec.Meta


class ExamplesConfig(msgspec.Struct, forbid_unknown_fields=True):
    source: Annotated[str, _Doc(description="Only `reviews`.")] = "reviews"
    count: Annotated[int, _Doc(description="Most exemplars a case.")] = 3
    mix: Annotated[list[str] | None, _Doc(description="`pass`, `fail`, or (default) both, drawn in turn.")] = None


class ProviderOptionsConfig(msgspec.Struct, forbid_unknown_fields=True):
    routing: Annotated[dict[str, Any] | None, _Doc(description="OpenRouter's provider table.")] = None
    fallbacks: Annotated[list[str] | None, _Doc(description="Further models, at most three.")] = None
    max_tokens: Annotated[int | None, _Doc(description="Cap on the answer.")] = None
    extra_body: Annotated[dict[str, Any] | None, _Doc(description="Merged into the request.")] = None


class RunnerConfig(msgspec.Struct, forbid_unknown_fields=True):
    type: Annotated[str | None, _Doc(description="claude-code (default), codex, cli, responses-api, ...")] = None
    command: Annotated[str | list[str] | None, _Doc(description="Of the cli runner.")] = None
    workspace_mode: str | None = None
    settings: dict[str, Any] | None = None
    plugin_dirs: list[str] | None = None
    env: Annotated[dict[str, str] | None, _Doc(description="Set for the agent; $VAR is replaced.")] = None
    system_prompt: str | None = None
    effort: str | None = None
    permission_mode: str | None = None


class AgentConfig(msgspec.Struct, forbid_unknown_fields=True):
    runner: Annotated[RunnerConfig | None, _Doc(description="The judge's own agent.")] = None
    allowed_tools: Annotated[list[str] | None, _Doc(description="[Read(**), Edit(output/**)] by default.")] = None
    denied_tools: Annotated[list[str] | None, _Doc(description="Never used; a written list stands as it is.")] = None
    context: Annotated[list[str] | None, _Doc(description="Copied below ./.context/.")] = None
    inputs: Annotated[list[str] | None, _Doc(description="Output folders to stage; all by default.")] = None
    timeout: Annotated[Number | None, _Doc(description="Seconds; execution.timeout, else 600.")] = None
    max_budget_usd: Annotated[Number | None, _Doc(description="2.0 by default.")] = None
    sandbox: Annotated[str | bool | None, _Doc(description="adjudge: auto (default), strict or off.")] = None


class JudgeConfig(msgspec.Struct, forbid_unknown_fields=True, rename={"condition": "if"}):
    name: Annotated[str, _Doc(description="Unique among the judges.")]
    description: Annotated[str | None, _Doc(description="For people; no judge sees it.")] = None
    builtin: Annotated[str | None, _Doc(description="A judge that comes with adjudge.")] = None
    check: Annotated[
        str | None, _Doc(description="Python over `outputs` and `arguments`, returns (value, rationale).")
    ] = None
    agent: Annotated[AgentConfig | None, _Doc(description="Runs the judge as a tool-using agent.")] = None
    prompt: Annotated[str | None, _Doc(description="Jinja2 template of an LLM judge.")] = None
    prompt_file: Annotated[str | None, _Doc(description="File that holds the prompt.")] = None
    llm_rubric: Annotated[str | None, _Doc(description="Criteria only; the conversation is appended.")] = None
    context: Annotated[list[str] | None, _Doc(description="Files appended to the prompt.")] = None
    module: Annotated[str | None, _Doc(description="Importable module of a code judge.")] = None
    function: Annotated[str | None, _Doc(description="Function in `module`.")] = None
    arguments: Annotated[dict[str, Any] | None, _Doc(description="Passed to the judge.")] = None
    condition: Annotated[str | bool | None, _Doc(description="Skip the case when this expression is false.")] = None
    feedback_type: Annotated[str | None, _Doc(description="bool, int or float.")] = None
    score_range: Annotated[list[Number] | None, _Doc(description="[min, max] of a numeric judge; enforced.")] = None
    model: Annotated[
        str | list[str] | None, _Doc(description="Overrides models.judge; a list makes a panel of judges.")
    ] = None
    samples: Annotated[int | None, _Doc(description="How often an LLM judge is asked per case.")] = None
    step: Annotated[str | None, _Doc(description="Judge one step of a pipeline.")] = None
    consequence: Annotated[
        str | None, _Doc(description="exploratory, safety or gating; asks nothing of the judge here.")
    ] = None
    examples: Annotated[ExamplesConfig | None, _Doc(description="Few-shot exemplars from reviews.")] = None
    provider_options: Annotated[ProviderOptionsConfig | None, _Doc(description="Only with an openrouter:/ model.")] = (
        None
    )
    reasoning_effort: Annotated[
        str | None, _Doc(description="adjudge: none, minimal, low, medium, high, xhigh or max.")
    ] = None
    guard: Annotated[
        str | bool | None, _Doc(description="adjudge: off, flag or penalize material that tries to instruct the judge.")
    ] = None
    early_stop: Annotated[
        bool | None, _Doc(description="adjudge: leave out samples that can no longer change the score.")
    ] = None
    abstain: Annotated[bool | None, _Doc(description="adjudge: the model may say that it cannot tell.")] = None


class WorkspaceFileConfig(msgspec.Struct, forbid_unknown_fields=True):
    dest: Annotated[str, _Doc(description="Path in the agent's workspace.")]
    source: Annotated[str, _Doc(description="File or folder of the project, copied for every case.")]


class WorkspaceConfig(msgspec.Struct, forbid_unknown_fields=True):
    files: Annotated[
        list[str | WorkspaceFileConfig] | None,
        _Doc(description="Case files that the agent is given, besides its input; or {dest, source}."),
    ] = None


class DatasetConfig(msgspec.Struct, forbid_unknown_fields=True):
    path: Annotated[str, _Doc(description="Folder with one sub-folder a case, relative to this file.")]
    schema: Annotated[str | dict[str, Any] | None, _Doc(description="Prose about the layout of a case.")] = None
    workspace: Annotated[WorkspaceConfig | None, _Doc(description="What an agent under test is given.")] = None


class StepConfig(msgspec.Struct, forbid_unknown_fields=True):
    id: Annotated[str, _Doc(description="Unique; one path segment.")]
    name: str | None = None
    skill: Annotated[str | None, _Doc(description="Either a skill or a prompt.")] = None
    prompt: Annotated[str | None, _Doc(description="Template; may use {{ steps.<id>.output }}.")] = None
    arguments: str | None = None
    env: dict[str, str] | None = None
    timeout: Annotated[int | None, _Doc(description="Seconds.")] = None
    max_budget_usd: Number | None = None
    runner: Annotated[RunnerConfig | None, _Doc(description="The step's own agent.")] = None
    on_failure: Annotated[str | None, _Doc(description="fail (default) or continue.")] = None


class ExecutionConfig(msgspec.Struct, forbid_unknown_fields=True):
    mode: Annotated[str | None, _Doc(description="case (default) or batch.")] = None
    skill: Annotated[str | None, _Doc(description="Either a skill or a prompt or steps.")] = None
    prompt: Annotated[str | None, _Doc(description="Template over the case's input: {field}, {field?} or Jinja.")] = (
        None
    )
    arguments: Annotated[str | None, _Doc(description="Template, like prompt.")] = None
    timeout: Annotated[Number | None, _Doc(description="Seconds for one run of the agent; 3600 by default.")] = None
    max_budget_usd: Annotated[Number | None, _Doc(description="For one run of the agent; 100 by default.")] = None
    parallelism: Annotated[int | None, _Doc(description="Cases at once; 1 by default.")] = None
    env: Annotated[dict[str, Any] | None, _Doc(description="Set for the agent; $VAR is replaced.")] = None
    steps: Annotated[list[StepConfig] | None, _Doc(description="A pipeline in one workspace.")] = None
    project_hooks: Annotated[
        bool | None, _Doc(description="Not used: an agent under test never runs the project's own hooks.")
    ] = None
    max_failure_rate: Annotated[
        Number | None, _Doc(description="adjudge: share of cases whose run may fail without the gate failing; 0.")
    ] = None


class PathRuleConfig(msgspec.Struct, forbid_unknown_fields=True):
    path: str
    tools: list[str] | None = None
    reason: Annotated[str | None, _Doc(description="For whoever reads the file.")] = None


class PermissionsConfig(msgspec.Struct, forbid_unknown_fields=True):
    allow: list[str | PathRuleConfig] | None = None
    deny: list[str | PathRuleConfig] | None = None


class ToolConfig(msgspec.Struct, forbid_unknown_fields=True):
    match: Annotated[str | None, _Doc(description="Which calls, in words: tool names, mcp__..., scripts.")] = None
    prompt: Annotated[str | None, _Doc(description="How they are answered.")] = None
    prompt_file: str | None = None
    input_filters: Annotated[list[str] | None, _Doc(description="adjudge: regular expressions for a command.")] = None
    env_checks: Annotated[
        dict[str, list[str]] | None,
        _Doc(description="adjudge: a call goes through when each variable holds one of these texts."),
    ] = None
    answers: Annotated[dict[str, str] | None, _Doc(description="adjudge: question -> answer.")] = None


class InputsConfig(msgspec.Struct, forbid_unknown_fields=True):
    tools: Annotated[list[ToolConfig] | None, _Doc(description="Tool calls that are answered or refused.")] = None


class TracesConfig(msgspec.Struct, forbid_unknown_fields=True):
    stdout: bool | None = None
    stderr: bool | None = None
    events: bool | None = None
    metrics: bool | None = None


class HookConfig(msgspec.Struct, forbid_unknown_fields=True):
    command: Annotated[str, _Doc(description="For bash -c.")]
    timeout: Annotated[int | None, _Doc(description="Seconds; 120 by default.")] = None
    description: str | None = None
    on_failure: Annotated[str | None, _Doc(description="fail (default) or continue.")] = None
    condition: Annotated[str | None, _Doc(description="bash; the hook runs when it ends with 0.")] = None


class HooksConfig(msgspec.Struct, forbid_unknown_fields=True):
    before_all: list[HookConfig] | None = None
    before_each: list[HookConfig] | None = None
    before_step: list[HookConfig] | None = None
    after_step: list[HookConfig] | None = None
    after_each: list[HookConfig] | None = None
    before_scoring: list[HookConfig] | None = None
    after_all: list[HookConfig] | None = None
    before_report: list[HookConfig] | None = None


class RewardConfig(msgspec.Struct, forbid_unknown_fields=True):
    judge: Annotated[str | None, _Doc(description="One judge is the reward.")] = None
    normalize: Annotated[bool | None, _Doc(description="Bring that judge's value to 0..1 by its range.")] = None
    formula: Annotated[str | None, _Doc(description="weighted (default) or an expression over judge names.")] = None
    weights: Annotated[dict[str, Number] | None, _Doc(description="Judge -> weight.")] = None
    gate: Annotated[bool | None, _Doc(description="0 when any judge says false.")] = None
    score_range: Annotated[list[Number] | None, _Doc(description="Of judges that declare none; [1, 5].")] = None
    raw: Annotated[list[str] | None, _Doc(description="Judges whose value is taken as it is, within 0..1.")] = None
    unscored: Annotated[
        str | None, _Doc(description="adjudge: fail (default, no reward), zero, or drop a judge without a value.")
    ] = None


class AnalysisConfig(msgspec.Struct, forbid_unknown_fields=True):
    correction: Annotated[str | None, _Doc(description="holm, bh, fdr_bh or none; p is told as it is.")] = None
    per_judge: Annotated[bool | None, _Doc(description="Not used: the reward alone is analysed.")] = None


class MatrixConfig(msgspec.Struct, forbid_unknown_fields=True):
    factors: Annotated[dict[str, list[Any]], _Doc(description="Factor -> levels.")]
    replications: int | None = None
    analysis: AnalysisConfig | None = None


class OutputConfig(msgspec.Struct, forbid_unknown_fields=True):
    path: Annotated[str | None, _Doc(description="Folder or file, below the case, that holds what was made.")] = None
    tool: Annotated[str | None, _Doc(description="Tool whose calls are an output.")] = None
    schema: Annotated[str | dict[str, Any] | None, _Doc(description="Prose about it.")] = None
    batch_pattern: str | None = None
    types: dict[str, str] | None = None


class OpenRouterJudgeConfig(msgspec.Struct, forbid_unknown_fields=True):
    concurrency: Annotated[int, _Doc(description="Most requests at once.")] = 4
    max_retries: int = 3
    timeout_s: Number = 300
    extra_body: dict[str, Any] | None = None
    inherit_pins: Annotated[bool, _Doc(description="Judges follow order, only and quantizations of the routing.")] = (
        False
    )


class OpenRouterRoutingConfig(msgspec.Struct, forbid_unknown_fields=True):
    defaults: dict[str, Any] | None = None
    models: dict[str, dict[str, Any]] | None = None
    policy: str | None = None
    enforcement: str | None = None
    guardrail: dict[str, Any] | None = None


class AttributionConfig(msgspec.Struct, forbid_unknown_fields=True):
    referer: str | None = None
    title: str | None = None
    run_id_header: Any = None


class OpenRouterConfig(msgspec.Struct, forbid_unknown_fields=True):
    kind: str | None = None
    api_key_env: Annotated[str, _Doc(description="Name of the variable with the key.")] = "OPENROUTER_API_KEY"
    management_key_env: str | None = None
    base_url: Annotated[str | None, _Doc(description="Without /v1; $VAR is replaced.")] = None
    attribution: AttributionConfig | None = None
    background_model: str | None = None
    preflight: str | bool | None = None
    cli_budget_inflation: Number | None = None
    budget: dict[str, Any] | None = None
    routing: OpenRouterRoutingConfig | None = None
    judge: OpenRouterJudgeConfig | None = None


class ProvidersConfig(msgspec.Struct, forbid_unknown_fields=True):
    openrouter: OpenRouterConfig | None = None


class ModelsConfig(msgspec.Struct, forbid_unknown_fields=True):
    judge: Annotated[str | None, _Doc(description="Model of judges that name none.")] = None
    skill: str | None = None
    subagent: str | None = None
    hook: str | None = None
    providers: ProvidersConfig | None = None


class ThresholdConfig(msgspec.Struct, forbid_unknown_fields=True):
    min_mean: Annotated[Number | None, _Doc(description="On the judge's own scale.")] = None
    min_pass_rate: Annotated[Number | None, _Doc(description="Share from 0 to 1.")] = None
    min_win_rate: Annotated[Number | None, _Doc(description="Share from 0 to 1; pairwise only.")] = None
    max_drop: Annotated[
        Number | None, _Doc(description="adjudge: how far it may fall below a --baseline, on its own scale.")
    ] = None
    max_error_rate: Annotated[Number | None, _Doc(description="Share of unscored verdicts that is admitted.")] = None
    decide_by: Annotated[
        str | None, _Doc(description="adjudge: `point` (default), or `interval` to ask for the whole 95% interval.")
    ] = None
    min_alpha: Annotated[Number | None, _Doc(description="Of a judge's own samples. Gates nothing here.")] = None
    min_panel_alpha: Annotated[Number | None, _Doc(description="Of a panel. Gates nothing here.")] = None
    min_human_agreement: Annotated[Number | None, _Doc(description="With people. Gates nothing here.")] = None


class MlflowConfig(msgspec.Struct, forbid_unknown_fields=True):
    experiment: str | None = None
    tracking_uri: str | None = None
    tags: dict[str, Any] | None = None


class EvalConfig(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file."""

    name: str | None = None
    description: str | None = None
    title: str | None = None
    skill: Annotated[str | None, _Doc(extra_json_schema={"deprecated": True})] = None
    dataset: DatasetConfig | None = None
    outputs: list[OutputConfig] | None = None
    models: ModelsConfig | None = None
    judges: list[JudgeConfig] | None = None
    thresholds: dict[str, ThresholdConfig] | None = None
    execution: ExecutionConfig | None = None
    runner: RunnerConfig | None = None
    permissions: PermissionsConfig | None = None
    mlflow: MlflowConfig | None = None
    generation: dict[str, Any] | None = None
    inputs: InputsConfig | None = None
    traces: TracesConfig | None = None
    hooks: HooksConfig | None = None
    reward: RewardConfig | None = None
    matrix: MatrixConfig | None = None
    extends: str | None = None
    providers: dict[str, Any] | None = None


ASIDE = {
    "generation": "it makes cases, not runs",
    "mlflow": "adjudge export RUN --to mlflow logs a finished run",
}
"""Keys that say nothing of running or judging: accepted with a warning."""


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of an eval.yaml, for editors."""
    components = msgspec.json.schema(EvalConfig)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "eval.yaml, as adjudge reads it",
        **components,
    }
