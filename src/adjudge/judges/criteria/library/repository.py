"""Criteria on what changed since a commit.

What is judged may have written git's own settings, ignore rules and index, so none of these is asked: the tree of the
commit is compared with the files on disk, and only the ignore rules in that tree count.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from adjudge.domain import MissingExtraError
from adjudge.judges.criteria.finding import Finding
from adjudge.judges.criteria.library.globs import Globs, walk
from adjudge.judges.criteria.library.reading import UnusableError, brief, clean, cut, failing, need_string
from adjudge.judges.criteria.library.running import folder

_SECONDS = 60
_MAX_IGNORE = 1024 * 1024
_MAX_NORMALISED = 16 * 1024 * 1024
_ENVIRON = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


@failing(False)
def git_diff_within(workspace: Path, paths: str | Sequence[str], base: str = "HEAD", cwd: str | None = None) -> Finding:
    """Whether every file that changed, is new or is gone since `base` matches one of the globs, relative to `cwd`.

    Whoever is judged can commit, which moves `HEAD`, and can move branches and tags: the safe `base` is a hash.
    """
    globs = Globs(paths, name="paths")
    home = folder(workspace, cwd)
    tree = _tree(home, base)
    changed = sorted([*_changed(home, tree), *_new(home, tree)])
    return _verdict(changed, globs, f"changed since {base}", "outside the globs")


@failing(False)
def no_new_files(workspace: Path, allowed: str | Sequence[str] = (), base: str = "HEAD") -> Finding:
    """Whether every file of the workspace is in `base`, is ignored by it, or matches one of the globs `allowed`.

    As for `git_diff_within`, the safe `base` is a hash.
    """
    globs = Globs(allowed, name="allowed")
    home = folder(workspace, None)
    return _verdict(sorted(_new(home, _tree(home, base))), globs, f"new since {base}", "not allowed")


class _Entry(NamedTuple):
    mode: str
    digest: str
    size: int


def _verdict(found: list[str], globs: Globs, kind: str, outside: str) -> Finding:
    wrong = [path for path in found if not globs.match(path)]
    counted = f"{len(found)} {'file is' if len(found) == 1 else 'files are'} {kind}"
    if not wrong:
        return Finding(True, f"{counted}, none {outside}")
    more = f" and {len(wrong) - 20} more" if len(wrong) > 20 else ""
    return Finding(False, f"{counted}, {len(wrong)} {outside}: {', '.join(map(brief, wrong[:20]))}{more}")


class _Tree(NamedTuple):
    commit: str
    entries: dict[str, _Entry]


def _tree(home: Path, base: str) -> _Tree:
    """The files of a commit below a folder, relative to it.

    Raises:
        UnusableError: there is no repository or no such commit.
        ValueError: `base` cannot name a commit.
    """
    if not need_string("base", base) or base.startswith("-") or not base.isprintable():
        raise ValueError(f"base must name a commit, got {brief(base)}")
    _git(home, "rev-parse", "--git-dir")
    try:
        named = _git(home, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    except UnusableError:
        raise UnusableError(f"the repository has no commit {brief(base)}") from None
    commit = named.decode().strip()
    listed = _git(home, "ls-tree", "-r", "-z", "-l", commit)
    entries = {}
    for line in listed.split(b"\0"):
        if line:
            head, _, path = line.partition(b"\t")
            mode, _, digest, length = head.decode().split()
            entries[os.fsdecode(path)] = _Entry(mode, digest, int(length) if length.isdigit() else 0)
    return _Tree(commit, entries)


def _changed(home: Path, tree: _Tree) -> list[str]:
    return [path for path, entry in tree.entries.items() if not _unchanged(home / path, entry)]


def _unchanged(place: Path, entry: _Entry) -> bool:
    """Whether a file is as in the tree; ends of lines do not count, as git may write them either way."""
    try:
        status = place.lstat()
        if entry.mode == "160000":
            return stat.S_ISDIR(status.st_mode)
        if entry.mode == "120000":
            return stat.S_ISLNK(status.st_mode) and _hash(os.fsencode(os.readlink(place)), entry) == entry.digest  # noqa: PTH115
        if not stat.S_ISREG(status.st_mode) or bool(status.st_mode & 0o100) != (entry.mode == "100755"):
            return False
        if status.st_size > _MAX_NORMALISED:
            return status.st_size == entry.size and _hash_file(place, entry) == entry.digest
        data = place.read_bytes()
    except OSError:
        return False
    variants = [data]
    if b"\r\n" in data:
        variants.append(data.replace(b"\r\n", b"\n"))
    if b"\n" in data:
        variants.append(data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    return any(_hash(variant, entry) == entry.digest for variant in variants)


def _hash(data: bytes, entry: _Entry) -> str:
    return str(_algorithm(entry)(b"blob %d\0" % len(data) + data).hexdigest())


def _hash_file(place: Path, entry: _Entry) -> str:
    digest = _algorithm(entry)(b"blob %d\0" % entry.size)
    with place.open("rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return str(digest.hexdigest())


def _algorithm(entry: _Entry) -> Any:
    return hashlib.sha256 if len(entry.digest) == 64 else hashlib.sha1


def _new(home: Path, tree: _Tree) -> list[str]:
    """Files that are not in the tree, and that its ignore rules do not ignore."""
    modules = frozenset(path for path, entry in tree.entries.items() if entry.mode == "160000")
    files = walk(home, skip=modules | {".git"})
    new = [path for path in files if path not in tree.entries and path != ".git"]
    return _without_ignored(home, new, tree.commit) if new else []


def _without_ignored(home: Path, paths: list[str], commit: str) -> list[str]:
    """Ask git in a repository of our own that holds nothing but the commit's ignore rules."""
    listed = _git(home, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")
    entries = [line.partition(b"\t") for line in listed if line]
    rules = [
        (os.fsdecode(path), head.split()[2].decode())
        for head, _, path in entries
        if path.rpartition(b"/")[2] == b".gitignore" and head.startswith(b"100")
    ]
    if not rules:
        return paths
    prefix = os.fsdecode(_git(home, "rev-parse", "--show-prefix").rstrip(b"\n"))
    with tempfile.TemporaryDirectory(prefix="adjudge-ignore-") as name:
        own = Path(name)
        _git(own, "init", "--quiet", "--template=")
        for path, digest in rules:
            (own / path).parent.mkdir(parents=True, exist_ok=True)
            (own / path).write_bytes(_git(home, "cat-file", "blob", digest)[:_MAX_IGNORE])
        asked = b"".join(os.fsencode(f"{prefix}{path}") + b"\0" for path in paths)
        answer = _git(own, "check-ignore", "--no-index", "-z", "--stdin", given=asked, fine=(0, 1))
    ignored = {os.fsdecode(path) for path in answer.split(b"\0")}
    return [path for path in paths if f"{prefix}{path}" not in ignored]


def _git(home: Path, *arguments: str, given: bytes = b"", fine: tuple[int, ...] = (0,)) -> bytes:
    """
    Raises:
        MissingExtraError: git is not installed.
        UnusableError: it fails.
    """
    git = shutil.which("git")
    if git is None:
        raise MissingExtraError("criteria on what changed need git: install it with your system's packages")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _ENVIRON
    try:
        done = subprocess.run(
            [git, "-c", "safe.directory=*", "-c", "protocol.allow=never", "-c", "core.excludesFile=", *arguments],
            cwd=home,
            env=environ,
            input=given,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UnusableError(f"git {arguments[0]} took longer than {_SECONDS} seconds") from None
    if done.returncode not in fine:
        reason = cut(clean(done.stderr.decode("utf-8", "replace").strip()), 200)
        raise UnusableError(f"git {arguments[0]} fails: {reason or f'exit code {done.returncode}'}")
    return done.stdout
