"""The deterministic checks of coding tasks: the built-in ones, and those of the task's own `checks.py`.

They look at a fresh checkout with the patch laid over it, so that nothing of what an agent left running, installed or
wrote into ignored files counts. Runs inside a worker process; `checks.py` runs in a process of its own.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import Repository
from adjudge.domain.secrets import looks_secret
from adjudge.judges.criteria.library.running import run
from adjudge.sandbox import STORE, export_tree, git, make_checkout

MAX_DETAIL = 500
MAX_RESULTS = 200
_PATCH = "patch.diff"


class CheckResult(msgspec.Struct, frozen=True):
    """One result of a task's own checks."""

    name: str
    passed: bool
    detail: str = ""
    hard: bool = True


class ChecksError(Exception):
    """The checks of a task could not be had: there is no verdict."""


def built_in(outputs: Mapping[str, Any], *, check: str) -> tuple[bool, str]:
    """One of the built-in checks on the patch of a case. What does not apply passes, and says so.

    Raises:
        ChecksError: the check could not look at what it should.
    """
    from adjudge.judges.patch import CHECKS

    patch = _patch(outputs["case_dir"], _stamp(outputs["case_dir"]), json.dumps(outputs["input"], sort_keys=True))
    finding = CHECKS[check].function(patch)
    if finding.passed is None:
        if check != "commit_message":
            raise ChecksError(finding.detail)
        return True, f"does not apply: {finding.detail}"
    return finding.passed, finding.detail


def own(outputs: Mapping[str, Any], *, hard: bool) -> tuple[bool, str]:
    """The hard, or the soft, results of the task's `checks.py`.

    Raises:
        ChecksError: it raised, ran out of time, or returned something else than a list of results.
    """
    task = outputs["input"]
    home = outputs["case_dir"]
    results = _own_results(home, _stamp(home), json.dumps(task, sort_keys=True))
    if isinstance(results, ChecksError):
        raise results
    mine = [result for result in results if result.hard is hard]
    if not mine:
        return True, f"checks.py has no {'hard' if hard else 'soft'} check"
    failed = [result for result in mine if not result.passed]
    shown = failed or mine
    lines = [f"{'failed' if not one.passed else 'passed'} {one.name}: {one.detail}".rstrip(": ") for one in shown]
    return not failed, "\n".join(lines)


def _stamp(home: str) -> int:
    return os.stat(f"{home}/{_PATCH}").st_mtime_ns  # noqa: PTH116


def _repository(task: Mapping[str, Any]) -> Repository:
    return msgspec.convert(task["repository"], Repository)


@lru_cache(maxsize=1)
def _trees(home: str, stamp: int, task: str) -> tuple[tempfile.TemporaryDirectory[str], Path, Path]:
    """(what holds both, the start tree, a repository at the start commit with the patch in its work tree).

    Raises:
        GitError: they cannot be made.
    """
    asked = json.loads(task)
    repository = _repository(asked)
    trace = json.loads(Path(home, "trace.json").read_bytes())
    holder = tempfile.TemporaryDirectory(prefix="adjudge-patch-", ignore_cleanup_errors=True)
    place = Path(holder.name).resolve()
    before, after = place / "before", place / "work"
    start = trace["start"]
    export_tree(repository, start, before, store=STORE)
    checkout = make_checkout(repository, after, place / "shadow", environ=os.environ, start=start, store=STORE)
    patch = Path(home, _PATCH).read_bytes().decode("utf-8", "surrogateescape")
    checkout.shadow.apply(patch)
    git("add", "--all", "--intent-to-add", "--", ".", cwd=after)  # so that `git diff HEAD` shows new files too
    return holder, before, after


@lru_cache(maxsize=1)
def _patch(home: str, stamp: int, task: str) -> Any:
    from adjudge.judges.patch import Patch

    _, before, after = _trees(home, stamp, task)
    asked = json.loads(task)
    trace = json.loads(Path(home, "trace.json").read_bytes())
    files = trace.get("files", [])
    names = [name for file in files for name in (file.get("before", ""), file["path"]) if name]
    return Patch(
        before=before,
        after=after,
        files=tuple(dict.fromkeys(names)),
        diff=trace.get("diff", ""),
        added=sum(file.get("added", 0) for file in files),
        removed=sum(file.get("removed", 0) for file in files),
        messages=tuple(trace.get("messages", ())),
        expected=tuple(asked.get("expected_files_touched", ())),
        max_files=asked.get("max_files_touched"),
        max_lines=asked.get("max_lines_changed"),
    )


@lru_cache(maxsize=1)
def _own_results(home: str, stamp: int, task: str) -> tuple[CheckResult, ...] | ChecksError:
    """The results, hard and soft, or why there are none: they are run once for both."""
    try:
        return _ran_checks(home, stamp, task)
    except ChecksError as error:
        return error


def _ran_checks(home: str, stamp: int, task: str) -> tuple[CheckResult, ...]:
    asked = json.loads(task)
    _, _, work = _trees(home, stamp, task)
    limit = float(asked["checks_timeout"])
    environ = {name: value for name, value in os.environ.items() if not looks_secret(name, value)}
    environ["PATH"] = os.pathsep.join([environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])
    with tempfile.TemporaryDirectory(prefix="adjudge-checks-") as name:
        answer = Path(name, "answer.json")
        ran = run(
            # -P, and from elsewhere: a file of the patch must not stand in for a module that says how the checks went.
            [sys.executable, "-P", "-c", _RUN, asked["checks"], str(work), f"{home}/trace.json", str(answer)],
            cwd=Path(name),
            timeout=limit,
            environ=environ,
            name="checks.py",
        )
        said = f"{ran.stderr.tail()}\n{ran.stdout.tail()}".strip()[-2000:]
        if ran.code is None:
            raise ChecksError(f"checks.py ran longer than {limit:g} s and was stopped; {said}")
        if ran.code != 0 or not answer.is_file():
            raise ChecksError(f"checks.py ended with {ran.code}: {said}")
        return _results(answer.read_bytes())


def _results(data: bytes) -> tuple[CheckResult, ...]:
    try:
        decoded = msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        raise ChecksError(f"run_checks returned something that is not plain data: {error}") from None
    if not isinstance(decoded, list):
        raise ChecksError(f"run_checks must return a list of {{name, passed, detail}}, got {type(decoded).__name__}")
    if not decoded:
        raise ChecksError("run_checks returned no result, so that nothing was checked")
    found: list[CheckResult] = []
    for item in decoded[:MAX_RESULTS]:
        fields = item if isinstance(item, dict) else {}
        passed, hard = fields.get("passed"), fields.get("hard", True)
        if not isinstance(passed, bool) or not isinstance(hard, bool) or not isinstance(fields.get("name"), str):
            raise ChecksError(f"a result of run_checks needs a name and passed: true or false, got {str(item)[:200]}")
        detail = " ".join(str(fields.get("detail") or "").split())
        found.append(CheckResult(fields["name"], passed, detail[-MAX_DETAIL:], hard))
    if len(decoded) > MAX_RESULTS:
        raise ChecksError(f"run_checks returned {len(decoded)} results; {MAX_RESULTS} can be taken")
    return tuple(found)


# The worker's own limit of memory is not for what it starts: Node, for one, asks for 10 GB of addresses for each memory
# of WebAssembly, and would fail a test that passes elsewhere.
_RUN = """\
import importlib.util, inspect, json, os, resource, sys
from pathlib import Path
file, work, trace, answer = sys.argv[1:]
sys.argv = [file]
os.chdir(work)
most = resource.getrlimit(resource.RLIMIT_AS)[1]
resource.setrlimit(resource.RLIMIT_AS, (most, most))
sys.path.insert(0, str(Path(file).parent))
sys.path.append(work)
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("checks", file)
module = importlib.util.module_from_spec(spec)
sys.modules["checks"] = module
spec.loader.exec_module(module)
wants = [p for p in inspect.signature(module.run_checks).parameters.values() if p.default is p.empty]
more = [json.loads(Path(trace).read_bytes())] if len(wants) > 1 else []
results = module.run_checks(Path(work), *more)
text = json.dumps(results)
handle = os.open(answer, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
with os.fdopen(handle, "w") as out:
    out.write(text)
"""
