"""git, asked so that nothing that an agent left in its repository is run: our own folder for objects and settings."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec

from adjudge.domain import AdjudgeError, TouchedFile

TIMEOUT_S = 600.0
CACHES = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache")
"""Folders that running tests leaves, also where no ignore rule names them. They are no work of anybody's."""
_ATTRIBUTES = "* !diff !filter !ident !working-tree-encoding\n"
"""Whatever .gitattributes says: a patch could hide what it changes, or keep it from being recorded at all."""
_STATUS = {"A": "added", "D": "deleted", "R": "renamed", "C": "added"}
_LINK = "160000"
"""The mode of a repository within a repository, of which git keeps only the commit's name."""
_PLACES = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
)  # fmt: skip
"""Variables by which git finds another repository than that of its folder; hooks have them."""


class GitError(AdjudgeError):
    """git is not there, or did not do what was asked."""


class Shadow(msgspec.Struct, frozen=True, kw_only=True):
    """A repository of ours beside a work tree, which knows its states without asking the repository within it.

    Attributes:
        folder: Ours, a bare repository.
        tree: The work tree.
    """

    folder: Path
    tree: Path

    def begin(self, commit: str) -> None:
        """Take the files of a commit for known. Submodules, which are absent, are folders like any other."""
        index = {"GIT_INDEX_FILE": str(self.folder / "index")}
        self._git("read-tree", commit, more=index)
        entries = self._git("ls-files", "--stage", "-z", more=index).split("\0")
        links = [entry.partition("\t")[2] for entry in entries if entry.startswith(_LINK)]
        if links:
            self._git("update-index", "-z", "--force-remove", "--stdin", more=index, given="\0".join(links))

    def record(self) -> str:
        """The state of the work tree now, as the name of a tree object. New files that its ignore rules name are left
        out, and so are `CACHES`.

        Raises:
            GitError: a file cannot be read.
        """
        index = {"GIT_INDEX_FILE": str(self.folder / "index")}
        try:
            self._git("add", "--all", "--", ".", more=index)
        except GitError:
            self._open()
            self._git("add", "--all", "--", ".", more=index)
        return self._git("write-tree", more=index).strip()

    def _open(self) -> None:
        """Make everything in the work tree readable by its owner, who we are."""
        for folder, names, files in os.walk(self.tree):
            for path in [Path(folder, name) for name in (*names, *files)]:
                if not path.is_symlink():
                    mode = path.stat().st_mode
                    path.chmod(mode | (0o700 if path.is_dir() else 0o400))

    def absorb(self) -> bool:
        """Make the files of repositories within the work tree that have no commit, which git refuses to record, files
        of the work tree; says whether there were any."""
        found = False
        for folder, names, files in os.walk(self.tree):
            place = Path(folder)
            if ".git" in names:
                names.remove(".git")
            elif ".git" not in files:
                continue
            if place == self.tree:
                continue
            try:
                git("rev-parse", "--verify", "--quiet", "HEAD^{commit}", cwd=place, timeout_s=30)
            except GitError:
                own = place / ".git"
                own.unlink() if own.is_file() or own.is_symlink() else shutil.rmtree(own)
                found = True
        return found

    def patch(self, before: str, after: str, *, binary: bool = False) -> str:
        """The difference of two states as a unified diff; with `binary` one that can be applied again."""
        kind = ["--binary", "--full-index"] if binary else []
        return self._git(*_DIFF, "--patch", *kind, before, after)

    def touched(self, before: str, after: str) -> tuple[TouchedFile, ...]:
        """Every file that differs between two states, by path."""
        names = self._git(*_DIFF, "--name-status", "-z", before, after).split("\0")
        lines: dict[str, tuple[int, int, bool]] = {}
        counts = self._git(*_DIFF, "--numstat", "-z", before, after).split("\0")
        at = 0
        while at + 1 < len(counts):
            plus, minus, path = counts[at].split("\t", 2)
            if not path:  # a rename: the old and the new name follow
                path = counts[at + 2]
                at += 2
            lines[path] = (0, 0, True) if plus == "-" else (int(plus), int(minus), False)
            at += 1
        found = []
        at = 0
        while at + 1 < len(names):
            letter = names[at][:1]
            old, path = "", names[at + 1]
            at += 2
            if letter in "RC":
                old, path = path, names[at]
                at += 1
            added, removed, is_binary = lines.get(path, (0, 0, False))
            found.append(
                TouchedFile(
                    path=path,
                    status=_STATUS.get(letter, "changed"),
                    added=added,
                    removed=removed,
                    binary=is_binary,
                    before=old if letter == "R" else "",
                )
            )
        return tuple(sorted(found, key=lambda file: file.path))

    def nested(self, before: str, after: str) -> tuple[str, ...]:
        """Repositories within the work tree that were not there before; nobody sees what they hold."""
        told = self._git("diff-tree", "-r", "-z", before, after).split("\0")
        pairs = zip(told[::2], told[1::2], strict=False)
        return tuple(path for head, path in pairs if head.split(" ")[1:2] == [_LINK])

    def messages(self, since: str) -> tuple[str, ...]:
        """Messages of the commits that the work tree's own repository has on top of one, oldest first."""
        own = self.tree / ".git"
        if own.is_symlink() or not own.is_dir():
            return ()
        try:
            head = git("rev-parse", "--verify", "--quiet", "HEAD^{commit}", cwd=self.tree, timeout_s=30).strip()
            if not head or head == since:
                return ()
            objects = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(own / "objects")}
            told = self._git("log", "--reverse", "--format=%B%x00", f"{since}..{head}", more=objects)
        except GitError:
            return ()
        return tuple(text.strip() for text in told.split("\0") if text.strip())

    def apply(self, patch: str) -> None:
        """Change the work tree as a patch says; nothing is written when a part of it does not fit.

        Raises:
            GitError: it does not fit, is no patch, or leads out of the work tree.
        """
        if not patch.strip():
            return
        text = patch if patch.endswith("\n") else patch + "\n"
        self._git("apply", "--binary", "--whitespace=nowarn", "-", given=text)

    def _git(self, *words: str, more: Mapping[str, str] = {}, given: str = "") -> str:
        where = {"GIT_DIR": str(self.folder), "GIT_WORK_TREE": str(self.tree)}
        return git(*words, cwd=self.tree, more={**where, **more}, given=given)


_DIFF = ("diff-tree", "-r", "-M", "--no-ext-diff", "--no-textconv")


def make_shadow(folder: Path, tree: Path, objects: Path, *, start: str) -> Shadow:
    """A shadow of a work tree, in a folder that is made for it. `objects` are those of a repository that holds the
    commit `start`, whose files count whatever ignore rules say.

    Raises:
        GitError: git is not there.
    """
    git("init", "--quiet", "--bare", "--template=", str(folder), cwd=tree)
    (folder / "info").mkdir(exist_ok=True)
    (folder / "info" / "exclude").write_text("".join(f"{name}/\n" for name in CACHES), encoding="utf-8")
    (folder / "info" / "attributes").write_text(_ATTRIBUTES, encoding="utf-8")
    (folder / "objects" / "info").mkdir(parents=True, exist_ok=True)
    (folder / "objects" / "info" / "alternates").write_text(f"{objects}\n", encoding="utf-8")
    shadow = Shadow(folder=folder, tree=tree)
    shadow.begin(start)
    return shadow


def git(
    *words: str,
    cwd: Path,
    more: Mapping[str, str] = {},
    given: str = "",
    timeout_s: float = TIMEOUT_S,
    plain: bool = True,
) -> str:
    """What git says. With `plain` neither the user's nor the machine's settings count.

    Raises:
        GitError: with the last lines of what it complains of.
    """
    env = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", **more}
    if plain:
        env |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "HOME": os.devnull}
    else:
        env = {**elsewhere(os.environ), **env}
    quiet = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "core.quotePath=false")
    try:
        ended = subprocess.run(
            ["git", *quiet, *words],
            cwd=cwd,
            env=env,
            input=given.encode("utf-8", "surrogateescape"),
            capture_output=True,
            check=False,
            timeout=timeout_s,
        )
    except FileNotFoundError:
        raise GitError("git is not installed") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git {words[0]} took longer than {timeout_s:g} s") from None
    if ended.returncode != 0:
        raise GitError(f"git {words[0]}: {complaint(ended.stderr)}")
    return ended.stdout.decode("utf-8", "surrogateescape")


def elsewhere(environ: Mapping[str, str]) -> dict[str, str]:
    """An environment without what a hook is told of its own repository, which git would take for the one meant."""
    return {name: value for name, value in environ.items() if name not in _PLACES}


def complaint(stderr: bytes, *, lines: int = 3) -> str:
    """The last lines of what a program complained of, as one."""
    said = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return "; ".join(said[-lines:])[:500] or "it said nothing"
