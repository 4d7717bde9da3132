"""The same tests folders judged by Reward Kit and by adjudge: `python -m benchmarks.differential_rewardkit`.

Exit code, reward.json and reward-details.json must be the same, save for the wording of texts; every difference must
be one that `docs/differences.md` names. `--peer`, or `ADJUDGE_BENCH_REWARDKIT`, is the full path of Reward Kit's
executable; without it, harbor-rewardkit is installed for the occasion by a python3.12 on PATH.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import ADJUDGE, clean_env
from benchmarks.rewardkit_folders import FOLDERS, WORKSPACE, Files, Folder
from tests.support.provider import LoopbackProvider
from tests.support.replies import HttpError, Reply, Stall, Verdict
from tests.support.request import Request

ROOT = Path(__file__).parent.parent
DIFFERENCES = ROOT / "docs" / "differences.md"
PEER = "harbor-rewardkit==0.2.3"
WORDING = {"description", "reasoning", "judge_output", "error"}
"""Texts that need only both be there."""
UNORDERED = {"samples"}
"""Samples of one question are asked at the same time, and the provider deals its answers out as they come."""
LIMIT_S = 120

EXPLAINED: tuple[tuple[str, str, str], ...] = (
    ("*", "*.cost_source: only here*", "Usage names where its prices come from"),
    ("*", "*.unscored: only here*", "A criterion without a score says so"),
    ("*", "*.printed: only here*", "What a criterion prints is in the details"),
    *(
        (name, "*.reasoning: only here*", "Ready criteria say what they found")
        for name in ("files", "missing-files", "commands", "json", "csv", "sqlite", "http", "trajectory-criteria")
    ),
    ("sqlite", "*", "A query that is no SQL is an error"),
    ("*required-pass", "*", "required-pass needs a value above 0"),
    ("required-pass-0.75", "*", "required-pass needs a value above 0"),
    ("required-pass-all-optional", "*", "required-pass without a required criterion is 0"),
    ("judges-nested", "*.usage: only there*", "The same question is asked once"),
    *(
        (name, "*", "An answer off the scale is no score")
        for name in (
            "likert-9999",
            "numeric-below",
            "yes-mostly",
            "likert-as-text",
            "rubric-fraction",
            "returns-too-much",
        )
    ),
    *((name, "*", "A time-out must be above 0") for name in ("judge-negative-timeout",)),
    *(
        (name, what, "An error leaves details, and no reward")
        for name in ("provider-*", "raises*", "returns-n*", "returns-text", "returns-more-keys", "exits")
        for what in ("exit code: *, 4 here", "details: no file there*")
    ),
    ("raises-over-stale", "reward.json: *there, no file here", "A reward.json from before is taken away"),
    ("judge-missing-file", "*.warnings: only here*", "Files that a judge cannot see as they are get a warning"),
    ("judge-latin-1-file", "*.warnings: only here*", "Files that a judge cannot see as they are get a warning"),
    ("same-40-characters", "*.name: *", "Criteria without a name get one of their own"),
    ("not-ascii", "*", "Criteria without a name get one of their own"),
    ("judges-lookalike", "*", "A TOML that looks like a judge is an error"),
    *(
        (name, "exit code: 1 there, 2 here", "What is wrong in the tests ends with exit code 2")
        for name in ("same-name", "unknown-*", "not-toml", "negative-weight", "wrong-decorator-call")
    ),
    *(
        (name, "*", "What the workspace holds cannot end the run")
        for name in ("latin-1-*", "missing-cwd", "zero-turns")
    ),
    ("async", "*", "Criteria may be async"),
    ("cannot-import", "*", "Files of tests that register no criterion may fail to import"),
    ("sibling-import", "*", "Criteria files may import their neighbours"),
)
"""(folder, difference, heading of docs/differences.md), the first two as patterns of `fnmatch`."""


class Outcome(NamedTuple):
    """What one tool made of one folder. Files that are not there are `None`."""

    code: int
    reward: Any
    details: Any
    said: str


class Script:
    """Answers a folder's criteria in the form that the caller asks for: Reward Kit's json_schema or our tool."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._asked: Counter[str] = Counter()

    def __call__(self, request: Request) -> Reply:
        if self._folder.fault == "stall":
            return Stall()
        if self._folder.fault:
            return HttpError(int(self._folder.fault))
        properties = (request.schema or {})["properties"]
        if "type" not in properties.get("score", properties.get("passed", properties.get("flagged", {}))):
            return Verdict({name: self._answer(name, one["properties"]) for name, one in properties.items()})
        return Verdict(self._answer(self._only(request, properties), properties))

    def _only(self, request: Request, properties: Mapping[str, Any]) -> str:
        """The criterion of a request that asks but one: where it is described, or the guard's question."""
        known = [name for name in self._folder.answers if f"Ask {name}." in request.system + request.prompt]
        if known:
            return known[0]
        if "flagged" in properties or "guard" in self._folder.answers:
            return "guard"
        return next(iter(self._folder.answers))

    def _answer(self, name: str, properties: Mapping[str, Any]) -> dict[str, Any]:
        value = self._folder.answers[name]
        if isinstance(value, list):
            self._asked[name] += 1
            value = value[(self._asked[name] - 1) % len(value)]
        return {
            key: "because" if key in ("reasoning", "rationale") else _spelled(value, properties[key])
            for key in properties
        }


def _spelled(value: Any, schema: Mapping[str, Any]) -> Any:
    choices = schema.get("enum", ())
    if isinstance(value, bool) and "yes" in choices:
        return "yes" if value else "no"
    if isinstance(value, int) and choices and not isinstance(value, bool) and isinstance(choices[0], str):
        return choices[value]
    return value


def put(folder: Path, files: Files) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def outcome(command: Sequence[str | Path], folder: Folder, home: Path) -> Outcome:
    """Judge a fresh workspace by a fresh copy of the folder."""
    tests = put(home / "tests", folder.tests)
    workspace = put(home / "app", {**WORKSPACE, **folder.workspace})
    output = home / "out" / "reward.json"
    if folder.stale:
        put(output.parent, {output.name: '{"reward": 0.123}'})
    with LoopbackProvider(Script(folder)) as provider:
        env = clean_env(**provider.env(), HOME=str(home), LITELLM_LOCAL_MODEL_COST_MAP="True", TMPDIR=str(home))
        arguments = [*command, *(tests / name for name in folder.folders), "--workspace", workspace, "--output", output]
        written = list(map(str, arguments))
        ran = subprocess.run(
            written, check=False, cwd=workspace, env=env, capture_output=True, text=True, timeout=LIMIT_S
        )
    details = output.with_name("reward-details.json")
    return Outcome(ran.returncode, _read(output), _read(details), f"{ran.stdout}\n{ran.stderr}")


def _read(path: Path) -> Any:
    return json.loads(path.read_text()) if path.exists() else None


def differences(theirs: Outcome, ours: Outcome) -> list[str]:
    found = [] if theirs.code == ours.code else [f"exit code: {theirs.code} there, {ours.code} here"]
    found += _differences(theirs.reward, ours.reward, "reward.json")
    return found + list(_differences(theirs.details, ours.details, "details"))


def _differences(theirs: Any, ours: Any, where: str) -> Iterator[str]:
    if theirs is None or ours is None:
        if theirs is not ours:
            yield f"{where}: {_shown(theirs)} there, {_shown(ours)} here"
    elif isinstance(theirs, dict) and isinstance(ours, dict):
        for key in {**theirs, **ours}:
            place = f"{where}.{key}"
            if key not in ours:
                yield f"{place}: only there, {_shown(theirs[key])}"
            elif key not in theirs:
                yield f"{place}: only here, {_shown(ours[key])}"
            elif key in UNORDERED and isinstance(theirs[key], list) and isinstance(ours[key], list):
                yield from _differences(sorted(map(str, theirs[key])), sorted(map(str, ours[key])), place)
            elif key not in WORDING or not (isinstance(theirs[key], str) and isinstance(ours[key], str)):
                yield from _differences(theirs[key], ours[key], place)
    elif isinstance(theirs, list) and isinstance(ours, list) and not where.endswith(".warnings"):
        if len(theirs) != len(ours):
            yield f"{where}: {len(theirs)} there, {len(ours)} here"
        for index, (one, other) in enumerate(zip(theirs, ours, strict=False)):
            yield from _differences(one, other, f"{where}.{index}")
    elif (isinstance(theirs, bool) != isinstance(ours, bool) or theirs != ours) and not where.endswith(".warnings"):
        yield f"{where}: {_shown(theirs)} there, {_shown(ours)} here"


def _shown(value: Any) -> str:
    text = "no file" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else f"{text[:97]}..."


def explanation(folder: str, difference: str) -> str:
    """The heading that explains a difference, or nothing."""
    found = (told for name, what, told in EXPLAINED if fnmatchcase(folder, name) and fnmatchcase(difference, what))
    return next(found, "")


def headings() -> set[str]:
    """What docs/differences.md names: its headings, and the first cells of its tables."""
    lines = DIFFERENCES.read_text(encoding="utf-8").splitlines()
    cells = {line.split("|")[1].strip() for line in lines if line.startswith("|") and line.count("|") > 1}
    return cells | {line.lstrip("#").strip() for line in lines if line.startswith("#")}


def compare(peer: Sequence[str | Path], names: Sequence[str], *, at_once: int, verbose: bool) -> int:
    """Print every difference; how many are not explained."""

    def both(name: str) -> tuple[Outcome, Outcome]:
        with tempfile.TemporaryDirectory() as room:
            return (
                outcome(peer, FOLDERS[name], Path(room) / "theirs"),
                outcome([*ADJUDGE, "rewardkit"], FOLDERS[name], Path(room) / "ours"),
            )

    unexplained = same = explained = 0
    used: set[str] = set()
    with ThreadPoolExecutor(at_once) as pool:
        for name, (theirs, ours) in zip(names, pool.map(both, names), strict=True):
            found = differences(theirs, ours)
            same += not found
            print(f"{name}: {'the same' if not found else f'{len(found)} differences'}", flush=True)
            for difference in found:
                heading = explanation(name, difference)
                used.add(heading)
                explained += bool(heading)
                unexplained += not heading
                print(f"  {difference}\n    {heading or 'UNEXPLAINED'}", flush=True)
            if verbose and found:
                print(f"  there:\n{theirs.said[-1500:]}\n  here:\n{ours.said[-1500:]}")
    print(f"\n{len(names)} folders, {same} the same; {explained} differences explained")
    for heading in sorted(used - headings() - {""}):
        unexplained += 1
        print(f"docs/differences.md does not have: {heading}")
    print(f"unexplained: {unexplained}")
    return unexplained


def installed(room: Path) -> Path:
    """Reward Kit in a virtual environment of its own, from wherever pip gets its packages here."""
    python = shutil.which("python3.12")
    if python is None:
        raise SystemExit("Reward Kit needs a python3.12 on PATH, or ADJUDGE_BENCH_REWARDKIT with its executable")
    subprocess.run([python, "-m", "venv", room], check=True)
    subprocess.run([room / "bin" / "pip", "install", "--quiet", PEER], check=True)
    return room / "bin" / "rewardkit"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.differential_rewardkit", description=__doc__)
    parser.add_argument("--peer", type=Path, default=os.environ.get("ADJUDGE_BENCH_REWARDKIT"), metavar="EXECUTABLE")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--verbose", action="store_true", help="what each tool said, where they differ")
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="only these, as patterns")
    options = parser.parse_args(arguments)
    wanted = options.folders or ["*"]
    names = [name for name in FOLDERS if any(fnmatchcase(name, pattern) for pattern in wanted)]
    with tempfile.TemporaryDirectory() as room:
        peer = options.peer or installed(Path(room))
        return int(compare([peer], names, at_once=options.at_once, verbose=options.verbose) > 0)


if __name__ == "__main__":
    sys.exit(main())
