"""The case record: the dictionary that checks and templates of the eval_yaml format see as `outputs`."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import msgspec

from adjudge.cases.events import conversation, reasoning, tool_calls, tool_trace
from adjudge.cases.evidence import evidence
from adjudge.domain import BinaryFile, Case


def case_record(case: Case) -> dict[str, Any]:
    """Build the record of a case: plain data only, so that it can be copied and sent to a worker."""
    files: dict[str, Any] = {
        path: {
            "_binary": True,
            "path": content.path,
            "name": PurePosixPath(path).name,
            "size": content.size,
            "sha256": content.sha256,
        }
        if isinstance(content, BinaryFile)
        else content
        for path, content in case.outputs.items()
    }
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
        "tool_calls": calls,
        "evidence": evidence(calls, case.metrics),
        "events": list(case.events),
        "stdout": case.stdout,
        "stderr": case.stderr,
        "case_dir": case.directory,
        "notes": list(case.notes),
        "exit_code": case.metrics.exit_code,
        "duration_s": case.metrics.duration_s,
        "cost_usd": case.metrics.cost_usd,
        "num_turns": case.metrics.num_turns,
        "token_usage": msgspec.to_builtins(case.metrics.token_usage),
    }
    for key, text in case.references.items():
        record[f"annotation_{key}_content"] = text
    for key, value in _shortcuts(case).items():
        record.setdefault(key, value)
    modified = {path: files[path] for path in files if path.startswith("_modified/")}
    if modified:
        record["modified_files"] = modified
    return record


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
    """`<dir>_content` and `<dir>_file`: the first text file that lies directly in each output folder."""
    found: dict[str, str] = {}
    for path, content in case.outputs.items():
        folder = PurePosixPath(path).parent.name
        if folder.startswith("annotation"):
            continue  # such keys hold what people wrote
        if folder and not path.startswith("_modified/") and isinstance(content, str):
            found.setdefault(f"{folder}_content", content)
            found.setdefault(f"{folder}_file", path)
    return found
