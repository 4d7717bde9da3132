"""Hooks: commands of the suite's author, around cases and steps."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from adjudge.agents import run_process, without_secrets
from adjudge.domain import ALWAYS, Hook, OnFailure, Problem
from adjudge.execution.running import secret_values
from adjudge.located import parse_yaml, read_text

CONDITION_S = 30.0
OUTPUTS = (".hook-outputs.yaml", ".hook-outputs.json")


class HookError(Exception):
    """A hook failed that must not."""


class HookOutputs(msgspec.Struct, frozen=True):
    """What a phase hands on: variables for the agent, data for judges."""

    env: dict[str, str] = {}
    data: dict[str, Any] = {}


class Hooks:
    """Runs the hooks of one run. `failures` collects in words what failed, also where that stopped nothing."""

    def __init__(
        self,
        hooks: Mapping[str, tuple[Hook, ...]],
        logs: Path,
        variables: Mapping[str, str],
        *,
        environ: Mapping[str, str],
        note: Callable[[str], None],
    ) -> None:
        self.failures: list[str] = []
        self._hooks = hooks
        self._logs = logs
        self._variables = variables
        self._environ = environ
        self._note = note

    async def run(
        self,
        phase: str,
        cwd: Path,
        *,
        case: str = "",
        step: str = "",
        variables: Mapping[str, str] | None = None,
        also: Path | None = None,
    ) -> HookOutputs:
        """Run a phase's hooks one after the other in `cwd`, and read what they hand on, there or in the folder `also`.

        Raises:
            HookError: one failed, and its phase and its own settings do not let that pass.
        """
        env = {**self._environ, **self._variables, **(variables or {})}
        failed = ""
        for index, hook in enumerate(self._hooks.get(phase, ())):
            name = ".".join(filter(None, (phase, case, step, str(index))))
            wrong = await self._one(hook, name, cwd, env)
            if not wrong:
                continue
            text = f"hook {name} ({hook.description or hook.command.strip()[:60]}): {wrong}"
            self.failures.append(text)
            self._note(text)
            if hook.on_failure is OnFailure.FAIL and phase not in ALWAYS:
                failed = text
                break
        if failed:
            raise HookError(failed)
        return self._outputs(cwd, *filter(None, (also,))) if phase in self._hooks else HookOutputs()

    async def _one(self, hook: Hook, name: str, cwd: Path, env: Mapping[str, str]) -> str:
        """What went wrong; nothing when it ran well, or its condition does not hold."""
        self._logs.mkdir(parents=True, exist_ok=True)
        log = self._logs / f"{name}.log"
        errors = self._logs / f"{name}.stderr.log"

        async def bash(command: str, limit_s: float) -> tuple[int | None, bool]:
            ran = await run_process(
                ["bash", "-c", command], env=env, cwd=cwd, stdin=b"", stdout=log, stderr=errors, limit_s=limit_s
            )
            return ran.status, ran.timed_out

        try:
            if hook.condition:
                status, _ = await bash(hook.condition, CONDITION_S)
                if status != 0:
                    log.write_text("left out: its condition does not hold\n")
                    return ""
            status, timed_out = await bash(hook.command, hook.timeout_s)
        except OSError as error:
            return f"cannot be started: {error}"
        finally:
            with contextlib.suppress(OSError):
                for path in (log, errors):
                    without_secrets(path, secret_values(env))
                if errors.exists() and not errors.stat().st_size:
                    errors.unlink()
        if timed_out:
            return f"ran longer than {hook.timeout_s:g} s and was ended, with all it started"
        return "" if status == 0 else f"ended with exit status {status}; see {log}"

    def _outputs(self, *folders: Path) -> HookOutputs:
        """Read and remove what the phase left for us."""
        env: dict[str, str] = {}
        data: dict[str, Any] = {}
        for path in [folder / name for folder in folders for name in OUTPUTS]:
            name = path.name
            if path.is_symlink() or not path.is_file():
                continue
            text = read_text(path, name)
            path.unlink()
            root, problems = (None, [text]) if isinstance(text, Problem) else parse_yaml(text, name)
            loaded = root.plain() if root is not None and not problems else None
            if not isinstance(loaded, dict):
                self._note(f"{name} of a hook is not understood, and left out")
                continue
            given = loaded.get("env")
            env |= {str(key): str(value) for key, value in given.items()} if isinstance(given, dict) else {}
            more = loaded.get("data")
            data |= more if isinstance(more, dict) else {}
        return HookOutputs(env, data)


def hook_variables(*, workspace: Path, run_id: str, config: str, project: str, model: str) -> dict[str, str]:
    """What every hook sees."""
    return {
        "AGENT_EVAL_WORKSPACE": str(workspace),
        "AGENT_EVAL_RUN_ID": run_id,
        "AGENT_EVAL_CONFIG": config,
        "AGENT_EVAL_PROJECT_ROOT": project,
        "AGENT_EVAL_MODEL": model,
    }


def case_variables(case: str, workspace: Path, source: str) -> dict[str, str]:
    """What the hooks of a case see besides."""
    names = [name for name in ("input.yaml", "input.yml", "input.json") if os.path.exists(workspace / name)]  # noqa: PTH110
    return {
        "CASE_ID": case,
        "CASE_WORKSPACE": str(workspace),
        "CASE_SOURCE_DIR": source,
        "CASE_INPUT": str(workspace / (names[0] if names else "input.yaml")),
    }
