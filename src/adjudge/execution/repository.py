"""Work on a repository: what an agent changed in its checkout, and work that was done elsewhere."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from email.parser import HeaderParser
from email.policy import default
from pathlib import Path
from typing import Any

import msgspec

from adjudge.cases import PATCH, TRACE, CaseFolder, last_words, read_session, tools_of
from adjudge.domain import CaseRun, ErrorKind, Repository, RunState, Submission, ToolUse, Trace
from adjudge.sandbox import Checkout, GitError, make_checkout
from adjudge.whole_files import write_json, write_whole


def check_out(repository: Repository, folder: Path, environ: Mapping[str, str]) -> Checkout:
    """A fresh checkout for one run. Our own part of it lies beside the folder, where the agent does not look.

    Raises:
        GitError: it cannot be made.
    """
    return make_checkout(repository, folder, folder.with_name(f"{folder.name}.shadow"), environ=environ)


def keep_work(
    checkout: Checkout,
    home: Path,
    *,
    prompt: str,
    events: Sequence[Mapping[str, Any]],
    said: str,
    source: str,
    messages: Sequence[str] = (),
) -> tuple[int, tuple[str, ...]]:
    """Write what was changed since the checkout was ready as `patch.diff`, and the whole as `trace.json`; returns the
    number of files that it touches, and what is not in it.

    Raises:
        GitError: the work tree cannot be read.
    """
    before, shadow = checkout.state, checkout.shadow
    try:
        after = shadow.record()
    except GitError:
        if not shadow.absorb():
            raise
        after = shadow.record()
    files = shadow.touched(before, after)
    notes = [*checkout.notes]
    nested = shadow.nested(before, after)
    if nested:
        notes.append(f"repositories that were made within the repository are not looked into: {', '.join(nested)}")
    if any(file.path.rpartition("/")[2] == ".gitignore" for file in files):
        notes.append("a .gitignore was changed: what it names now is not in the diff")
    trace = Trace(
        prompt=prompt,
        start=checkout.start,
        diff=_text(shadow.patch(before, after)),
        files=tuple(msgspec.structs.replace(file, path=_text(file.path), before=_text(file.before)) for file in files),
        messages=tuple(_text(text) for text in (messages or shadow.messages(checkout.start))),
        tools=tuple(_at_home(tool, checkout.folder) for tool in tools_of(events)),
        final_message=_text(last_words(events) or said),
        source=source,
        notes=tuple(notes),
    )
    home.mkdir(parents=True, exist_ok=True)
    write_whole(home / PATCH, shadow.patch(before, after, binary=True).encode("utf-8", "surrogateescape"))
    write_json(home / TRACE, trace)
    return len(files), trace.notes


def submitted_run(
    case: CaseFolder, submission: Submission, folder: Path, home: Path, environ: Mapping[str, str]
) -> CaseRun:
    """The record of work that was done elsewhere, kept as if an agent had done it here."""
    assert case.repository is not None
    events: Sequence[Mapping[str, Any]] = ()
    source = submission.source
    try:
        if submission.trace:
            session = read_session(Path(submission.trace))
            events, source = session.events, f"{source} ({session.kind})".strip()
        plain = msgspec.structs.replace(case.repository, install=())
        checkout = check_out(plain, folder, environ)
        checkout.shadow.apply(submission.patch)
        shutil.rmtree(home, ignore_errors=True)
        count, notes = keep_work(
            checkout,
            home,
            prompt=str(case.inputs.get("prompt", "")),
            events=events,
            said=submission.final_message,
            source=source,
            messages=_subjects(submission.patch),
        )
    except (GitError, OSError, ValueError) as error:
        return CaseRun(case=case.id, state=RunState.ERROR, kind=ErrorKind.INPUT, error=str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(folder.with_name(f"{folder.name}.shadow"), ignore_errors=True)
    if events:
        write_json(home / "events.json", list(events))
    return CaseRun(case=case.id, exit_code=0, notes=tuple(notes), collected={PATCH: count})


def _subjects(patch: str) -> tuple[str, ...]:
    """The commit messages of a patch as `git format-patch` writes it."""
    found = []
    for part in re.split(r"^From [0-9a-f]{40,} .*\n", patch, flags=re.MULTILINE)[1:]:
        head, _, rest = part.partition("\n\n")
        mail = HeaderParser(policy=default).parsestr(f"{head}\n\n")
        if subject := " ".join(str(mail["Subject"] or "").split()):
            text = re.sub(r"^\[[^\]]*PATCH[^\]]*\] ", "", subject)
            found.append(f"{text}\n\n{re.split('^---$', rest, maxsplit=1, flags=re.MULTILINE)[0]}".strip())
    return tuple(found)


def _at_home(tool: ToolUse, folder: Path) -> ToolUse:
    """The call with paths that start at the checkout, whose own place says nothing and differs from run to run."""
    places = sorted({str(folder), str(folder.resolve())}, key=len, reverse=True)
    pattern = rf"(?:{'|'.join(map(re.escape, places))})(?:(/)|(?![\w.-]))"
    return ToolUse(tool.name, re.sub(pattern, lambda found: "" if found[1] else ".", tool.detail))


def _text(name: str) -> str:
    """What UTF-8 can hold of it."""
    return name.encode("utf-8", "backslashreplace").decode()
