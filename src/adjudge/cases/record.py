"""The case record: the dictionary that checks and templates of the eval_yaml format see as `outputs`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import msgspec

from adjudge.cases.events import conversation, reasoning, subagents, tool_calls, tool_trace
from adjudge.cases.evidence import evidence
from adjudge.domain import BinaryFile, Case, Metrics, StepRecord

OF_TRAJECTORY = frozenset(
    {
        *("events", "conversation", "reasoning", "tool_trace", "tool_calls", "evidence", "subagents", "steps"),
        *("stdout", "notes", "exit_code", "duration_s", "cost_usd", "num_turns", "token_usage"),
    }
)
"""Keys whose values come from what was recorded of the agent's run, or depend on it."""
MODIFIED = "_modified/"
"""Where a case's folder holds what was changed elsewhere than in the output folders."""


def case_record(case: Case, step: str = "") -> dict[str, Any]:
    """Build the record of a case: plain data only, so that it can be copied and sent to a worker.

    With a step, the trajectory, what was printed and the metrics are those of the step; files, inputs and annotations
    are the case's.

    Raises:
        LookupError: the step did not run.
    """
    if step:
        case = _only(case, step)
    files = _files(case.outputs)
    calls = tool_calls(case.events)
    record: dict[str, Any] = {
        "case_id": case.id,
        "files": files,
        "inputs": inputs_text(case.inputs),
        "input": case.inputs,
        "annotations": case.annotations,
        "conversation": conversation(case.events) if case.events else case.stdout,
        "reasoning": reasoning(case.events),
        "tool_trace": tool_trace(case.events),
        "tool_calls": tool_calls(case.events, case.tools) if case.tools else calls,
        "evidence": evidence(calls, case.metrics),
        "events": list(case.events),
        "subagents": subagents(case.events),
        "steps": {one.id: _step(one) for one in case.steps},
        "hook_outputs": case.hook_outputs,
        "stdout": case.stdout,
        "stderr": case.stderr,
        "case_dir": case.directory,
        "notes": list(case.notes),
        **_metrics(case.metrics),
    }
    if case.trace:
        record["trace"] = case.trace
    for key, text in case.references.items():
        record[f"annotation_{key}_content"] = text
    for key, value in _shortcuts(case).items():
        record.setdefault(key, value)
    modified = {path.removeprefix(MODIFIED): files[path] for path in files if path.startswith(MODIFIED)}
    if modified:
        record["modified_files"] = modified
    return record


def _only(case: Case, step: str) -> Case:
    """The case as if the step were all that ran."""
    one = next((one for one in case.steps if one.id == step), None)
    if one is None:
        raise LookupError(f"step {step!r} did not run")
    return msgspec.structs.replace(case, events=one.events, stdout=one.stdout, stderr=one.stderr, metrics=one.metrics)


def _step(step: StepRecord) -> dict[str, Any]:
    said = conversation(step.events) if step.events else step.stdout
    return {
        "conversation": said,
        "output": said,
        "stdout": step.stdout,
        "stderr": step.stderr,
        "files": _files(step.outputs),
        **_metrics(step.metrics),
    }


def _metrics(metrics: Metrics) -> dict[str, Any]:
    return {
        "exit_code": metrics.exit_code,
        "duration_s": metrics.duration_s,
        "cost_usd": metrics.cost_usd,
        "num_turns": metrics.num_turns,
        "token_usage": msgspec.to_builtins(metrics.token_usage),
    }


def _files(outputs: Mapping[str, str | BinaryFile]) -> dict[str, Any]:
    return {
        path: {
            "_binary": True,
            "path": content.path,
            "name": PurePosixPath(path).name,
            "size": content.size,
            "sha256": content.sha256,
        }
        if isinstance(content, BinaryFile)
        else content
        for path, content in outputs.items()
    }


def inputs_text(inputs: dict[str, Any]) -> str:
    """The inputs as `**key**: value`, a blank line between fields; nested values as YAML."""
    parts = []
    for key, value in inputs.items():
        text = value if isinstance(value, str) else _yaml(value)
        parts.append(f"**{key}**: {text}")
    return "\n\n".join(parts)


def _yaml(value: Any) -> str:
    if isinstance(value, bool | int | float) or value is None:
        return str(value)
    import yaml

    return yaml.safe_dump(value, allow_unicode=True, sort_keys=False, default_flow_style=False).rstrip()


def _shortcuts(case: Case) -> dict[str, str]:
    """`<dir>_content` and `<dir>_file`: text and whole path of the first text file that lies directly in each output
    folder. Folders that the suite declares come before those that the agent made within them; the first declared
    output that has text is `main` besides."""
    declared: dict[str, tuple[str, str]] = {}
    others: dict[str, tuple[str, str]] = {}
    for path, content in case.outputs.items():
        folder = str(PurePosixPath(path).parent)
        if folder != "." and not path.startswith(MODIFIED) and isinstance(content, str):
            (declared if folder in case.declared else others).setdefault(folder, (path, content))
    first = [folder for folder in case.declared if folder in declared]
    named = [(PurePosixPath(folder).name, declared[folder]) for folder in first]
    named += [("main", found) for found in _main(case, declared)]
    named += [(PurePosixPath(folder).name, found) for folder, found in others.items()]
    shortcuts: dict[str, str] = {}
    for name, (path, content) in named:
        if not name.startswith("annotation"):  # such keys hold what people wrote
            shortcuts.setdefault(f"{name}_content", content)
            shortcuts.setdefault(f"{name}_file", f"{case.directory}/{path}" if case.directory else path)
    return shortcuts


def _main(case: Case, declared: Mapping[str, tuple[str, str]]) -> list[tuple[str, str]]:
    """(path, text) of the first declared output, a file or in a folder, that has any."""
    for place in case.declared:
        content = case.outputs.get(place)
        if isinstance(content, str):
            return [(place, content)]
        if place in declared:
            return [declared[place]]
    return []
