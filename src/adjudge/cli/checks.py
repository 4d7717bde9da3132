"""Running the checks of a project: progress, reports as results arrive, and the result document."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import subprocess
import time
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import click

from adjudge._version import __version__
from adjudge.api import write_run
from adjudge.cli.common import Refused, complain, show_problems
from adjudge.cli.notes import Notes
from adjudge.domain import ConfigError, RunResult, Status, StoreError, Verdict
from adjudge.engine import RunOptions, make_plan
from adjudge.engine.run import execute
from adjudge.formats.banana import Loaded
from adjudge.whole_files import write_whole

REFRESH_S = 1.0


class Document:
    """What `--result-out` writes: the outcome with its provenance, as JSON or as Markdown that holds it."""

    def __init__(self, path: Path, form: str, attempt: int | None, provenance: dict[str, str]) -> None:
        if path.is_symlink():
            raise click.UsageError(f"--result-out {path} is a link")
        self._path = path
        self._form = form
        self._provenance: dict[str, Any] = {**({"attempt": attempt} if attempt is not None else {}), **provenance}
        self._before = ""

    def begin(self, root: Path) -> None:
        self._before = _commit(root)

    def refused(self, problems: list[str], root: Path) -> None:
        """Nothing ran."""
        self._write(
            {"status": "config_error", "run_passed": False, "checks": [], "error": "; ".join(problems)}, root, ""
        )

    def write(self, project: Loaded, made: dict[str, Any] | None, markdown: str) -> None:
        settings = project.settings
        models = {judge.name: getattr(judge, "model", None) or None for judge in project.suite.judges}
        body = {
            "status": "completed" if made else "no_checks",
            "run_passed": bool(made and made["run_passed"]),
            "pass_threshold": settings.pass_threshold,
            "harness": {"family": settings.agent or None, "effort": settings.reasoning_effort or None},
            "checks": [
                {
                    "id": check["check_id"],
                    "status": check["status"],
                    "reason": check["reason"] or check["error_detail"],
                    "model": models.get(check["check_id"]),
                }
                for check in (made["checks"] if made else [])
            ],
            "error": None,
        }
        self._write(body, settings.root, markdown)

    def _write(self, body: dict[str, Any], root: Path, markdown: str) -> None:
        digest = _dirty(root)
        observed = {
            "commit_before": self._before or None,
            "commit_after": _commit(root) or None,
            "dirty_tree_digest": digest,
            "dirty_tree_algorithm": "adjudge-git-status-v1-sha256" if digest else None,
        }
        whole = {
            "schema_version": 1,
            "tool_version": f"adjudge {__version__}",
            **body,
            "observed": observed,
            "produced_at": datetime.now(UTC).isoformat(),
            "provenance": self._provenance,
        }
        text = json.dumps(whole, indent=2, ensure_ascii=False)
        if self._form == "md":
            text = f"```eval-banana-result v1\n{text}\n```\n\n{markdown}"
        write_whole(self._path, text.encode("utf-8", "replace"))
        self._path.chmod(0o600)


def run_project(project: Loaded, *, flat: bool, document: Document | None, verbose: bool) -> int:
    """Run every check; returns the exit code.

    Raises:
        Refused: something keeps the checks from running at all.
        StoreError: the run directory cannot be used.
    """
    settings = project.settings
    show_problems(project.suite.warnings)
    if document is not None:
        document.begin(settings.root)
    if not project.checks:
        if document is not None:
            document.write(project, None, "")
        complain("error: there are no checks to run")
        return 1
    output = settings.root / settings.output_dir
    run_id = f"{datetime.now(UTC):%Y%m%d_%H%M%S}_{secrets.token_hex(4)}"
    run = _flat(output) if flat else output / run_id
    options = RunOptions(
        output=run,
        agents_at_once=settings.max_parallel_checks,
        scripts_at_once=settings.max_parallel_checks,
        cache=run / "cache.db",
    )
    try:
        plan = make_plan(project.suite, options)
    except ConfigError as error:
        raise Refused(error.problems) from None
    watcher = _Watcher(run, len(project.checks))
    ended = asyncio.run(execute(plan, options, watcher))
    if ended.interrupted:
        _refresh(run)
        click.echo(f"interrupted; what was judged is in {run}", err=True)
        return 130
    result = write_run(run)
    made = json.loads((run / "report.json").read_bytes())
    _tell(made, result, run)
    if document is not None:
        document.write(project, made, (run / "report.md").read_text(encoding="utf-8"))
    return result.exit_code


def _flat(output: Path) -> Path:
    if output.is_symlink() or (output.exists() and (not output.is_dir() or any(output.iterdir()))):
        raise click.UsageError(f"--flat-output: {output} must be an empty folder, or not be there")
    return output


class _Watcher(Notes):
    """Shows each check as it ends, and keeps the reports up to date."""

    def __init__(self, run: Path, count: int) -> None:
        self._run = run
        self._count = count
        self._done = 0
        self._written = time.monotonic()

    def verdict(self, verdict: Verdict, *, fresh: bool) -> None:
        self._done += 1
        word = "error" if verdict.status is not Status.SCORED else "passed" if verdict.value is True else "failed"
        said = str(verdict.error) if verdict.error else verdict.rationale
        line = f"[{self._done}/{self._count}] {verdict.judge}: {word}"
        click.echo(f"{line} - {' '.join(said.split())[:300]}" if said and word != "passed" else line)
        if time.monotonic() - self._written > REFRESH_S and self._done < self._count:
            _refresh(self._run)
            self._written = time.monotonic()


def _refresh(run: Path) -> None:
    with contextlib.suppress(StoreError, OSError):
        write_run(run)


def _tell(made: dict[str, Any], result: RunResult, run: Path) -> None:
    click.echo(f"Run ID: {made['run_id']}")
    click.echo(f"Score: {made['points_earned']}/{made['total_points']}")
    click.echo(f"Percentage: {made['percentage']}%")
    click.echo(f"Passed: {'yes' if made['run_passed'] else 'no'}")
    if not made["run_passed"]:
        for reason in result.gate.reasons[:5]:
            click.echo(f"  {reason}")
    shown = os.path.relpath(run)
    click.echo(f"Report: {shown}/report.md")


def _git(root: Path, *arguments: str) -> bytes | None:
    try:
        ended = subprocess.run(["git", "-C", str(root), *arguments], check=False, capture_output=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ended.stdout if ended.returncode == 0 else None


def _commit(root: Path) -> str:
    return (_git(root, "rev-parse", "HEAD") or b"").decode().strip()


def _dirty(root: Path) -> str | None:
    """A digest of what differs from the commit, the content of untracked files included."""
    status = _git(root, "status", "--porcelain=v1", "-z", "--untracked-files=all")
    if status is None:
        return None
    digest = sha256(status)
    for arguments in (("diff", "--binary"), ("diff", "--binary", "--cached")):
        digest.update(b"\0" + (_git(root, *arguments) or b""))
    top = Path((_git(root, "rev-parse", "--show-toplevel") or b"").decode().strip())
    for name in (_git(root, "ls-files", "--others", "--exclude-standard", "-z", "--full-name", ":/") or b"").split(
        b"\0"
    ):
        path = top / os.fsdecode(name)
        if name and path.is_file() and not path.is_symlink():
            digest.update(b"\0" + name + b"\0" + sha256(path.read_bytes()).digest())
    return digest.hexdigest()
