"""What criteria files register while they are imported: factories by name, and checks by file."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adjudge.judges.criteria.library import LIBRARY, describe, load

NAME_CHARACTERS = 50
"""Of the first argument, in the name that a check gets."""


@dataclass(slots=True)
class Check:
    """One question about the workspace that a criteria file asks."""

    name: str
    description: str
    weight: float
    function: Callable[..., Any]
    arguments: inspect.BoundArguments
    isolated: bool = False
    bounds: tuple[float, float] = (0.0, 1.0)
    timeout_s: float | None = None
    automatic: bool = False
    """Registered because the criterion takes no arguments; a call of its own replaces it."""

    def run(self, workspace: Path) -> Any:
        """What the criterion returns for a workspace, awaited if need be."""
        returned = self.function(workspace, *self.arguments.args, **self.arguments.kwargs)
        if not inspect.isawaitable(returned):
            return returned
        import asyncio

        return asyncio.run(_awaited(returned))


async def _awaited(value: Any) -> Any:
    return await value


@dataclass(slots=True)
class Factory:
    """A criterion by name: calling it registers a check with the arguments given."""

    name: str
    function: Callable[..., Any]
    description: str | None
    shared: bool
    bounds: tuple[float, float] = (0.0, 1.0)
    timeout_s: float | None = None
    file: str = ""
    used: bool = False
    builtin: bool = False

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """What a call may give: everything but the workspace, which comes first whatever it is called."""
        return list(inspect.signature(self.function).parameters.values())[1:]


@dataclass(slots=True)
class Registry:
    """Everything that one tests folder registers. `file` is the criteria file being imported."""

    factories: dict[str, Factory] = field(default_factory=dict)
    checks: dict[str, list[Check]] = field(default_factory=dict)
    warnings: list[tuple[str, str]] = field(default_factory=list)
    """(file, what is worth saying)"""
    file: str = ""

    def add(self, factory: Factory) -> None:
        """Make a criterion callable by its name; one without arguments is a check at once.

        Raises:
            TypeError: the function does not take the workspace.
        """
        if factory.name in LIBRARY:
            self.warn(f"the criterion {factory.name} stands in for the built-in one of that name")
        if not inspect.signature(factory.function).parameters:
            raise TypeError(f"the criterion {factory.name} must take the workspace as its first parameter")
        self.factories[factory.name] = factory
        if not factory.shared and not factory.parameters:
            bound = inspect.Signature().bind()
            self._register(factory, Check(factory.name, "", 1.0, factory.function, bound, automatic=True))

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Register a check: `name` with the arguments of one call.

        Raises:
            TypeError: the arguments do not fit the criterion.
            ValueError: the weight is not finite.
        """
        factory = self.factory(name)
        options = {key: kwargs.pop(key, default) for key, default in _OPTIONS.items()}
        bound = inspect.Signature(factory.parameters).bind(*args, **kwargs)
        bound.apply_defaults()
        first = [f"{name}:{str(value)[:NAME_CHARACTERS]}" for value in list(bound.arguments.values())[:1]]
        title = str(options["name"] or (first or [name])[0])
        weight = float(options["weight"])
        if not math.isfinite(weight):
            raise ValueError(f"the weight of {title} must be a finite number, got {options['weight']}")
        check = Check(title, "", weight, factory.function, bound, isolated=bool(options["isolated"]))
        self._register(factory, check)

    def factory(self, name: str) -> Factory:
        """The criterion of that name: of the user's, else from the library.

        Raises:
            AttributeError: there is none.
        """
        if name in self.factories:
            return self.factories[name]
        if name in LIBRARY:
            made = Factory(name, load(name), None, shared=True, builtin=True)
            self.factories[name] = made
            return made
        import difflib

        close = difflib.get_close_matches(name, [*self.factories, *LIBRARY], n=1)
        raise AttributeError(f"there is no criterion {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""))

    def warn(self, text: str) -> None:
        self.warnings.append((self.file, text))

    def unused(self) -> None:
        """Warn of criteria that wait for arguments and were never called."""
        for factory in self.factories.values():
            if not factory.used and not factory.shared:
                text = (
                    f"the criterion {factory.name} takes arguments and is never called: rewardkit.{factory.name}(...)"
                )
                self.warnings.append((factory.file, text))

    def _register(self, factory: Factory, check: Check) -> None:
        factory.used = True
        check.bounds, check.timeout_s = factory.bounds, factory.timeout_s or _limit(check.arguments.arguments)
        check.description = _description(factory, check.arguments.arguments)
        held = self.checks.setdefault(self.file, [])
        if not check.automatic:
            held[:] = [other for other in held if not (other.automatic and other.function is check.function)]
        held.append(check)


_OPTIONS: dict[str, Any] = {"weight": 1.0, "name": None, "isolated": False}


def criterion_decorator(registry: Callable[[], Registry]) -> Callable[..., Any]:
    """The decorator `criterion`, which registers with whatever registry is the current one."""

    def criterion(
        function: Callable[..., Any] | None = None,
        *,
        description: str | None = None,
        shared: bool = False,
        range: tuple[float, float] = (0.0, 1.0),
        timeout: float | None = None,
    ) -> Any:
        """Make a function of the workspace a criterion.

        `description` is a template over its arguments. `shared` ones are for the folders below, and register nothing
        by themselves. Numbers that it returns must lie within `range`; after `timeout` seconds it has no score.
        """
        low, high = range
        if not low < high:
            raise ValueError(f"range must be (low, high) with low < high, got {range}")

        def decorate(function: Callable[..., Any]) -> Any:
            name = function.__name__
            current = registry()
            factory = Factory(
                name, function, description, shared, (float(low), float(high)), timeout, file=current.file
            )
            current.add(factory)
            return _NotCallable(name)

        return decorate if function is None else decorate(function)

    return criterion


class _NotCallable:
    """What the decorated name stands for: a check is made by calling the criterion through the module."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"call {self.__name__} as rewardkit.{self.__name__}(...), without the workspace")


def _description(factory: Factory, arguments: dict[str, Any]) -> str:
    if factory.builtin:
        return describe(factory.name, arguments)
    if factory.description is None:
        return factory.name
    try:
        return factory.description.format(**arguments)
    except (IndexError, KeyError, ValueError, AttributeError, TypeError):
        return factory.description  # braces that stand for themselves


def _limit(arguments: dict[str, Any]) -> float | None:
    """Longer than usual where the criterion has a time limit of its own that is."""
    own = arguments.get("timeout")
    return own + 60.0 if isinstance(own, int | float) and not isinstance(own, bool) and own > 540 else None
