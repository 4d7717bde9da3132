"""The hook that an agent under test asks before each tool call: `python -m adjudge.execution.simulator HANDLERS.json`.

Reads the call on standard input. Questions to the user are answered: by the suite's own answers, by the case's
`answers.yaml`, by a model that sees the case, else by the first option. Other calls that are meant are refused, unless
their `env_checks` hold. Whatever else goes through. Each decision is written to a log, with where it came from.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import Interception
from adjudge.execution.interception import Handlers

MODEL_S = 60.0


def decide(call: Mapping[str, Any], handlers: Handlers, environ: Mapping[str, str]) -> dict[str, Any] | None:
    """The hook's answer; `None` to let the call through."""
    name = str(call.get("tool_name") or "")
    given = call.get("tool_input")
    given = given if isinstance(given, dict) else {}
    meant = next((entry for entry in handlers.interceptions if _is_meant(entry, name, given)), None)
    if meant is None:
        return None
    if name == "AskUserQuestion":
        return _answered(given, meant, handlers, environ)
    if meant.env_checks and all(
        any(text in environ.get(variable, "") for text in texts) for variable, texts in meant.env_checks.items()
    ):
        _log(handlers, {"tool": name, "decision": "allow", "source": "env_checks"})
        return _decision("allow", "the environment is one that it may be used in")
    _log(handlers, {"tool": name, "decision": "deny", "source": "handler"})
    said = " ".join(meant.prompt.split())[:500]
    return _decision("deny", f"not in this evaluation: {meant.match}" + (f" ({said})" if said else ""))


def _is_meant(entry: Interception, name: str, given: Mapping[str, Any]) -> bool:
    if not any(fnmatchcase(name, pattern) for pattern in entry.patterns):
        return False
    if name != "Bash":
        return True
    command = str(given.get("command") or "")
    return any(re.search(pattern, command, re.IGNORECASE) for pattern in entry.input_filters)


def _answered(
    given: Mapping[str, Any], meant: Interception, handlers: Handlers, environ: Mapping[str, str]
) -> dict[str, Any]:
    questions = [item for item in _list(given.get("questions")) if isinstance(item, dict)]
    written = _case_answers(Path(handlers.case))
    answers: dict[str, str] = {}
    for item in questions:
        question = str(item.get("question") or "")
        options = [option for option in _list(item.get("options")) if isinstance(option, dict)]
        labels = [str(option.get("label") or "") for option in options]
        answer, source = meant.answers.get(question) or written.get(question) or "", "override"
        if not answer and labels:
            answer, source = _by_model(question, options, meant, handlers, environ)
        if not answer:
            source = "fallback" if source == "override" else source
            answer = labels[0] if labels else "yes"
        answers[question] = answer
        _log(handlers, {"tool": "AskUserQuestion", "question": question, "answer": answer, "source": source})
    return _decision("allow", "answered for the evaluation", {**given, "answers": answers})


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _case_answers(folder: Path) -> dict[str, str]:
    """`answers.yaml` of the case, where it maps questions to answers."""
    import yaml

    try:
        loaded = yaml.safe_load((folder / "answers.yaml").read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    return {str(key): str(value) for key, value in loaded.items()} if isinstance(loaded, dict) else {}


def _by_model(
    question: str,
    options: list[dict[str, Any]],
    meant: Interception,
    handlers: Handlers,
    environ: Mapping[str, str],
) -> tuple[str, str]:
    """(the label that a model chose, `llm`), or (nothing, `fallback` or `error`)."""
    import asyncio

    from adjudge.models import CallError, CredentialsError, ModelRequest, ToolSchema, resolve
    from adjudge.models.client import ModelClient

    labels = [str(option.get("label") or "") for option in options]
    case = "\n\n".join(
        f"## {name}\n\n{(Path(handlers.case) / name).read_text(encoding='utf-8', errors='replace')[:20_000]}"
        for name in ("input.yaml", "input.json", "answers.yaml")
        if (Path(handlers.case) / name).is_file()
    )
    shown = "\n".join(f"- {option.get('label')}: {option.get('description') or ''}" for option in options)
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": labels}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    request = ModelRequest(
        system="You stand in for the user of an agent that is being evaluated. Choose one of the options.",
        prompt=f"{meant.prompt}\n\n{case}\n\n## Question\n\n{question}\n\n## Options\n\n{shown}",
        tool=ToolSchema("answer", "Answer the question by one of its options.", schema),
        max_tokens=500,
    )

    async def ask() -> str:
        endpoint = resolve(handlers.model, environ)
        client = ModelClient()
        try:
            body = msgspec.json.encode(endpoint.wire.body(request, endpoint.model))
            reply = await client.ask(endpoint, request, body, timeout_s=MODEL_S)
        finally:
            await client.close()
        chosen = json.loads(reply.arguments or "{}").get("answer")
        return str(chosen) if chosen in labels else ""

    try:
        answer = asyncio.run(ask())
    except CredentialsError:
        return "", "fallback"
    except (CallError, ValueError, OSError, AttributeError):
        return "", "error"
    return (answer, "llm") if answer else ("", "error")


def _decision(decision: str, reason: str, updated: Mapping[str, Any] | None = None) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    }
    if updated is not None:
        answer["updatedInput"] = dict(updated)
    return {"hookSpecificOutput": answer}


def _log(handlers: Handlers, entry: Mapping[str, str]) -> None:
    with Path(handlers.log).open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def main() -> None:
    handlers = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Handlers)
    try:
        call = json.loads(sys.stdin.read())
    except ValueError:
        return
    try:
        answer = decide(call, handlers, os.environ) if isinstance(call, dict) else None
    except Exception as error:  # a hook that ends badly would let the call through
        answer = _decision("deny", f"the evaluation's own hook failed: {error!r}")
    if answer is not None:
        print(json.dumps(answer, ensure_ascii=False))


if __name__ == "__main__":
    main()
