"""adjudge: judge files, answers and agent runs, say how far each verdict can be trusted, gate releases on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge._version import __version__

if TYPE_CHECKING:
    from adjudge.api import code_judge, load, read, run, run_async
    from adjudge.domain import (
        AdjudgeError,
        Binary,
        BuiltinJudge,
        Case,
        CheckJudge,
        CodeJudge,
        ConfigError,
        Criterion,
        Decision,
        DecisionJudge,
        ErrorKind,
        Guard,
        Levels,
        Likert,
        LLMJudge,
        Mode,
        Numeric,
        OpenRouter,
        Problem,
        ProviderOptions,
        RunResult,
        StoreError,
        Suite,
        Threshold,
    )
    from adjudge.engine import RunOptions

__all__ = [
    "AdjudgeError",
    "Binary",
    "BuiltinJudge",
    "Case",
    "CheckJudge",
    "CodeJudge",
    "ConfigError",
    "Criterion",
    "Decision",
    "DecisionJudge",
    "ErrorKind",
    "Guard",
    "LLMJudge",
    "Levels",
    "Likert",
    "Mode",
    "Numeric",
    "OpenRouter",
    "Problem",
    "ProviderOptions",
    "RunOptions",
    "RunResult",
    "StoreError",
    "Suite",
    "Threshold",
    "__version__",
    "code_judge",
    "load",
    "read",
    "run",
    "run_async",
]

_HOMES = ("adjudge.api", "adjudge.engine", "adjudge.domain")


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that `adjudge --version` stays light."""
    if name in __all__:
        import importlib

        for home in _HOMES:
            module = importlib.import_module(home)
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module 'adjudge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
