"""Judges in code: inline checks, functions of modules, and builtin ones. Runs inside a worker process."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import (
    BuiltinJudge,
    CheckJudge,
    CodeJudge,
    CriterionJudge,
    ErrorKind,
    Failure,
    LocalJudge,
    compile_snippet,
)
from adjudge.judges.builtin import load_builtin
from adjudge.judges.outcome import Outcome, cap, read_return

Callback = Callable[[dict[str, Any], dict[str, Any]], Any]


_FUNCTIONS: dict[tuple[str, str], Any] = {}


def remember_function(file: str, name: str, function: Any) -> None:
    """Keep a function under its place, because as a decorator `code_judge` puts the judge in its stead."""
    _FUNCTIONS[file, name] = function


class LocalRunner:
    """One judge, imported or compiled once, called per case.

    Raises (on construction):
        Whatever importing the judge's module raises; SyntaxError for a check that does not compile.
    """

    def __init__(self, judge: LocalJudge, code_paths: tuple[str, ...]) -> None:
        self.judge = judge
        self._scale = judge.criteria[0].scale
        self._paths = code_paths
        if not isinstance(judge, BuiltinJudge | CriterionJudge):
            _import_from(code_paths)
        if isinstance(judge, CheckJudge):
            self._call = _check(judge)
            self._own: tuple[str, ...] = ()
        elif isinstance(judge, CodeJudge):
            self._call, own = _function(judge)
            self._own = (own,) if own else ()
        elif isinstance(judge, CriterionJudge):
            self._call = _criterion(judge)
            self._own = ()
        else:
            assert isinstance(judge, BuiltinJudge)
            builtin = load_builtin(judge.builtin)
            self._call = lambda record, arguments: builtin(record, **arguments)
            self._own = ()

    def fingerprint(self) -> bytes:
        """A hash of every imported source file below the code paths, and of the judge's own file."""
        return b"" if isinstance(self.judge, BuiltinJudge) else _sources(self._paths, self._own, len(sys.modules))

    def run(self, record: dict[str, Any]) -> Outcome:
        """Call the judge with a record that is its own. Exceptions become failures; SystemExit passes through."""
        arguments = msgspec.to_builtins(self.judge.arguments)
        try:
            returned = self._call(record, arguments)
            if isinstance(self.judge, CriterionJudge):
                from adjudge.judges.criteria import read_criterion

                return read_criterion(returned, self.judge.bounds)
            return read_return(returned, self._scale)
        except Exception as error:
            return Outcome(failure=Failure(ErrorKind.RAISED, describe(error)))


def describe(error: BaseException) -> str:
    """The exception with the line that raised it in the user's code."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [
        frame
        for frame in frames
        if "/adjudge/judges/" not in frame.filename and "/adjudge/engine/" not in frame.filename
    ]
    place = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    try:
        text = str(error)
    except Exception:
        text = "(its text cannot be shown)"
    return cap(f"{type(error).__name__}: {text[:2000]}{place}", 4000)


def _import_from(code_paths: tuple[str, ...]) -> None:
    """Look for modules there first: the suite's author says where they lie."""
    for path in reversed(code_paths):
        if path in sys.path:
            sys.path.remove(path)
        sys.path.insert(0, path)


def _check(judge: CheckJudge) -> Callback:
    namespace: dict[str, Any] = {"__name__": f"check_{judge.name}"}
    exec(compile_snippet(judge.code, judge.name), namespace)
    function: Callback = namespace["check"]
    return function


def _function(judge: CodeJudge) -> tuple[Callback, str]:
    """The call, and the file that the judge is in."""
    module = _from_file(judge.module) if judge.module.endswith(".py") else importlib.import_module(judge.module)
    function: Any = module
    for part in judge.function.split("."):
        function = getattr(function, part)
    function = _FUNCTIONS.get((judge.module, judge.function), function)
    if not callable(function):
        raise TypeError(f"{judge.module}.{judge.function} is not callable")
    return lambda record, arguments: function(outputs=record, **arguments), getattr(module, "__file__", None) or ""


def _criterion(judge: CriterionJudge) -> Callback:
    """The check that the judge stands for, with the workspace of the record."""
    from adjudge.judges.criteria import copied, load_tree

    tree = load_tree(judge.root)
    checks = tree.checks(judge.file)
    if judge.index >= len(checks) or checks[judge.index].name != judge.label:
        raise LookupError(
            f"{judge.file} registers other checks than when it was first imported: {judge.label!r} is gone"
        )

    def call(record: dict[str, Any], _: dict[str, Any]) -> Any:
        workspace = Path(record["case_dir"])
        if not judge.isolated:
            return tree.run(judge.file, judge.index, workspace)
        with copied(workspace) as copy:
            return tree.run(judge.file, judge.index, copy)

    return call


def _from_file(path: str) -> Any:
    name = "adjudge_user_" + hashlib.sha256(path.encode()).hexdigest()[:12]
    if name in sys.modules:
        return sys.modules[name]
    folder = str(Path(path).parent)
    if folder not in sys.path:
        sys.path.append(folder)  # as Python does for a script: it may use what lies beside it
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@lru_cache(maxsize=256)
def _sources(code_paths: tuple[str, ...], own: tuple[str, ...], modules: int) -> bytes:
    """What judges in code depend on, as it was imported; looked for anew when the number of modules has changed."""
    files = {getattr(module, "__file__", None) for module in dict(sys.modules).values()}
    below = {f for f in files if isinstance(f, str) and any(f.startswith(path + "/") for path in code_paths)}
    digest = hashlib.sha256()
    for file in sorted({f for f in below if "site-packages" not in f} | set(own)):
        digest.update(file.encode("utf-8", "surrogateescape") + _content(file))
    return digest.digest()


@lru_cache(maxsize=4096)
def _content(file: str) -> bytes:
    try:
        return hashlib.sha256(Path(file).read_bytes()).digest()
    except OSError:
        return b""
