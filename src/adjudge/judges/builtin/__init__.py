"""The builtin judges: one file each, with a function `judge(outputs, **arguments)`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from adjudge.domain import BUILTIN_JUDGES


def load_builtin(name: str) -> Callable[..., Any]:
    """Import a builtin judge that is written in Python.

    Raises:
        KeyError: there is none of that name, or it is a prompt, which makes an LLM judge.
    """
    if name not in BUILTIN_JUDGES:
        raise KeyError(f"there is no builtin judge {name!r}; there are: {', '.join(sorted(BUILTIN_JUDGES))}")
    if BUILTIN_JUDGES[name].kind != "python":
        raise KeyError(f"the builtin judge {name!r} asks a model: make an LLMJudge of its prompt in BUILTIN_PROMPTS")
    function: Callable[..., Any] = importlib.import_module(f"adjudge.judges.builtin.{name}").judge
    return function


__all__ = ["load_builtin"]
