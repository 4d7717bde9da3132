#!/usr/bin/env python3
"""Stands on the PATH as `claude`, where the real one is not wanted: shows how it was started, and acts by its prompt.

A prompt holds lines `DO: <python>`, which are run in the working directory, `SAY: <text>`, which is its answer,
and `STRUCTURED: <json>`, which is its structured answer.
"""

from __future__ import annotations

import json
import os
import sys

FLAGS = "--permission-prompts --permission-mode --json-schema --strict-mcp-config --max-budget-usd"


def main() -> None:
    if sys.argv[1:] == ["--help"]:
        print("Usage: claude" if os.path.exists(__file__ + ".old") else FLAGS)  # noqa: PTH110
        return
    if sys.argv[1:] == ["--version"]:
        print("2.1.332 (fake)")
        return
    prompt = sys.stdin.read()
    said, failures, structured = "", [], {}
    for line in prompt.splitlines():
        if line.startswith("DO: "):
            try:
                exec(line[4:], {"os": os, "json": json})
            except Exception as error:
                failures.append(repr(error))
        if line.startswith("STRUCTURED: "):
            structured = {"structured_output": json.loads(line[12:])}
        if line.startswith("SAY: "):
            said = line[5:]
    started = {"argv": sys.argv, "env": dict(os.environ), "cwd": os.getcwd(), "failures": failures}  # noqa: PTH109
    print(json.dumps({"type": "system", "subtype": "started", "started": started}))
    usage = {"inputTokens": 10, "outputTokens": 5, "costUSD": 0.25}
    denials = [{"tool_name": "Bash", "tool_use_id": "1"}, {"tool_name": "Bash", "tool_use_id": "1"}]
    result = {"type": "result", "subtype": "success", "is_error": False, "result": said, "total_cost_usd": 0.25}
    print(json.dumps({**result, **structured, "modelUsage": {"m": usage}, "permission_denials": denials}))


if __name__ == "__main__":
    main()
