"""Importing the criteria files of a tests folder, each once, under the name that existing files import: rewardkit."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import sys
import traceback
import types
import warnings
from collections.abc import Iterator
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from adjudge.domain import CriteriaFile, Discovered, Problem, RegisteredCheck
from adjudge.judges.criteria.library import LIBRARY
from adjudge.judges.criteria.registry import Check, Registry, criterion_decorator

ALIAS = "rewardkit"
_NOT_OFFERED = frozenset(
    {
        "AgentAttempt",
        "AgentBackend",
        "AgentJudge",
        "Binary",
        "ComparisonResult",
        "Criterion",
        "JevJudge",
        "LLMJudge",
        "Likert",
        "MCPServerConfig",
        "Numeric",
        "Reward",
        "Rubric",
        "Score",
        "compare",
        "discover",
        "format_comparison",
        "format_trajectory",
        "register_agent",
        "run",
        "run_multi",
    }
)


class Tree:
    """The criteria files of one tests folder, imported in order: a folder's own files before those below it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.registry = Registry()
        self.problems: list[Problem] = []
        self.folder = root
        """Where the file at hand lies: its imports are looked for from here up to the root."""
        self.modules: dict[str, types.ModuleType] = {}
        self._done: set[str] = set()
        self._finder = _Finder(self)
        with self.current():
            for path in criteria_files(root):
                self._import(path)
            self.registry.unused()
        self.problems += [
            Problem(file=str(root / file), message=text, warning=True) for file, text in self.registry.warnings
        ]

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        """While this holds, criteria register here, and modules of the tree can be imported by their plain names."""
        known = set(sys.modules)
        kept = _install(self)
        sys.meta_path.append(self._finder)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)
                yield
        finally:
            sys.meta_path.remove(self._finder)
            self._forget(known)
            _ACTIVE[:] = kept

    def checks(self, file: str) -> list[Check]:
        """The checks that a file registered, in order."""
        return self.registry.checks.get(file, [])

    def run(self, file: str, index: int, workspace: Path) -> Any:
        """What a check returns for a workspace."""
        self.folder = (self.root / file).parent
        with self.current():
            return self.checks(file)[index].run(workspace)

    def execute(self, path: Path, module: types.ModuleType) -> None:
        """Run a file's code; what it registers is its own, also when another file imports it."""
        outer = self.registry.file, self.folder
        relative = path.relative_to(self.root).as_posix()
        self.registry.file, self.folder = relative, path.parent
        self.modules[str(path)] = module
        try:
            code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
            exec(code, module.__dict__)
        except BaseException:
            self.registry.checks.pop(relative, None)
            raise
        finally:
            self._done.add(str(path))
            self.registry.file, self.folder = outer

    def _import(self, path: Path) -> None:
        if str(path) in self._done:
            return
        name = "adjudge_criteria_" + hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:12]
        module = types.ModuleType(name)
        module.__file__ = str(path)
        sys.modules[name] = module
        known = set(sys.modules)
        try:
            self.execute(path, module)
        except (Exception, SystemExit) as error:
            self._failed(path, error)
        self._forget(known)

    def _failed(self, path: Path, error: BaseException) -> None:
        """A file that cannot be imported is an error, unless it has nothing to do with criteria."""
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
        line = frames[-1].lineno or 0 if frames else 0
        if isinstance(error, SyntaxError) and error.filename == str(path):
            line = error.lineno or 0
        message = f"cannot be imported: {type(error).__name__}: {str(error)[:500]}"
        ours = True
        with contextlib.suppress(OSError):
            ours = ALIAS.encode() in path.read_bytes()
        if not ours:
            message += " (it does not import rewardkit, so it is passed over)"
        column = 1 if line else 0
        self.problems.append(Problem(file=str(path), line=line, column=column, message=message, warning=not ours))

    def _forget(self, known: set[str]) -> None:
        """Free the plain names of the tree's modules for a folder that has others of the same name."""
        for name in set(sys.modules) - known:
            if "." not in name and getattr(sys.modules[name], "__file__", None) in self.modules:
                del sys.modules[name]


class _Finder:
    """Finds modules beside a criteria file, or above it, after everything that is installed."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if path is not None:
            return None
        folder = self.tree.folder
        while True:
            file, package = folder / f"{name}.py", folder / name / "__init__.py"
            if package.is_file():
                return importlib.util.spec_from_file_location(
                    name, package, submodule_search_locations=[str(folder / name)]
                )
            if file.is_file():
                return importlib.util.spec_from_file_location(name, file, loader=_Loader(self.tree, file))
            if folder == self.tree.root or self.tree.root not in folder.parents:
                return None
            folder = folder.parent


class _Loader(Loader):
    def __init__(self, tree: Tree, path: Path) -> None:
        self.tree = tree
        self.path = path

    def create_module(self, spec: ModuleSpec) -> types.ModuleType | None:
        return self.tree.modules.get(str(self.path))

    def exec_module(self, module: types.ModuleType) -> None:
        if str(self.path) not in self.tree.modules:
            self.tree.execute(self.path, module)


class _Criteria(types.ModuleType):
    """A module whose attributes are the criteria by name: calling one registers a check."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not _ACTIVE:
            raise AttributeError(name)
        if name in _NOT_OFFERED:
            raise AttributeError(f"{name} is not for criteria files: adjudge reads and runs them itself")
        registry = _ACTIVE[-1].registry
        registry.factory(name)

        def register(*args: Any, **kwargs: Any) -> None:
            registry.call(name, args, kwargs)

        register.__name__ = name
        return register

    def __dir__(self) -> list[str]:
        own = list(_ACTIVE[-1].registry.factories) if _ACTIVE else []
        return sorted({*LIBRARY, *own})


_ACTIVE: list[Tree] = []
"""The trees whose files are being imported or run, innermost last."""


def _install(tree: Tree) -> list[Tree]:
    """Make the alias stand for a tree; returns what it stood for before."""
    kept = list(_ACTIVE)
    _ACTIVE.append(tree)
    if not isinstance(sys.modules.get(ALIAS), _Criteria):
        module, criteria = _Criteria(ALIAS), _Criteria(f"{ALIAS}.criteria")
        module.__path__ = []
        module.criterion = criterion_decorator(lambda: _ACTIVE[-1].registry)  # type: ignore[attr-defined]
        module.criteria = criteria  # type: ignore[attr-defined]
        sys.modules[ALIAS], sys.modules[f"{ALIAS}.criteria"] = module, criteria
    return kept


def criteria_files(root: Path) -> Iterator[Path]:
    """Every Python file of a tests folder: sorted, a folder's own first; hidden and `__` folders are passed over."""
    pending = [str(root)]
    seen: set[str] = set()
    while pending:
        folder = pending.pop()
        if os.path.realpath(folder) in seen:
            continue
        seen.add(os.path.realpath(folder))
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            if entry.name.endswith(".py") and entry.is_file():
                yield Path(entry.path)
        pending += [e.path for e in reversed(found) if e.is_dir() and not e.name.startswith((".", "__"))]


_TREES: dict[str, Tree] = {}


def load_tree(root: str) -> Tree:
    """The tree of a tests folder, imported once in this process."""
    if root not in _TREES:
        _TREES[root] = Tree(Path(root))
    return _TREES[root]


def discover(roots: tuple[str, ...]) -> Discovered:
    """Import the criteria files of tests folders and say what they register."""
    folders: dict[str, tuple[CriteriaFile, ...]] = {}
    problems: list[Problem] = []
    for root in roots:
        tree = load_tree(root)
        problems += tree.problems
        folders[root] = tuple(
            CriteriaFile(file, tuple(map(_registered, checks)))
            for file, checks in tree.registry.checks.items()
            if checks
        )
    return Discovered(folders, tuple(problems))


def _registered(check: Check) -> RegisteredCheck:
    return RegisteredCheck(
        name=check.name,
        description=check.description,
        weight=check.weight,
        isolated=check.isolated,
        bounds=check.bounds,
        timeout_s=check.timeout_s,
    )
