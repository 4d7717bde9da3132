"""A repository at one revision in a folder of its own: for an agent to work in, and for checks to look at."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from adjudge.domain import Repository
from adjudge.domain.secrets import looks_secret
from adjudge.sandbox.git import GitError, Shadow, complaint, elsewhere, git, make_shadow

STORE = Path(".adjudge") / "repositories"
"""Where copies of repositories are kept, below the current folder, so that each is fetched once."""
_LFS = b"filter=lfs"


class Checkout(msgspec.Struct, frozen=True, kw_only=True):
    """A fresh checkout, made ready.

    Attributes:
        folder: The work tree, with a repository that ends with the start commit.
        shadow: Ours, by which later states are told from the first.
        start: The commit.
        state: The state once everything was installed.
        notes: What is absent: submodules, large files.
    """

    folder: Path
    shadow: Shadow
    start: str
    state: str
    notes: tuple[str, ...] = ()


def make_checkout(
    repository: Repository,
    folder: Path,
    shadow: Path,
    *,
    environ: Mapping[str, str],
    start: str = "",
    store: Path = STORE,
) -> Checkout:
    """Check a repository out into `folder`, with the history that leads to the revision and no other, and install.

    `start` is the commit where it is known already. `environ` is for fetching and, without secrets, for installing.

    Raises:
        GitError: the repository or the revision is not there, or an install command fails.
    """
    mirror = mirror_of(repository, store.absolute(), wanted=start or repository.revision)
    commit = commit_of(mirror, start or repository.revision, repository.location)
    for place in (folder, shadow):
        shutil.rmtree(place, ignore_errors=True)
    folder.mkdir(parents=True)
    git("init", "--quiet", "--initial-branch=work", cwd=folder)
    any_commit = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "uploadpack.allowAnySHA1InWant",
        "GIT_CONFIG_VALUE_0": "1",
    }
    git("fetch", "--quiet", "--no-tags", str(mirror), commit, cwd=folder, more=any_commit)
    git("reset", "--quiet", "--hard", commit, cwd=folder)
    for name, value in (("user.name", "agent"), ("user.email", "agent@localhost")):
        git("config", name, value, cwd=folder)
    (folder / ".git" / "FETCH_HEAD").unlink(missing_ok=True)
    notes = _absent(folder)
    for command in repository.install:
        _install(command, folder, repository.install_timeout_s, environ)
    own = make_shadow(shadow, folder, mirror / "objects", start=commit)
    return Checkout(folder=folder, shadow=own, start=commit, state=own.record(), notes=notes)


def export_tree(repository: Repository, commit: str, folder: Path, *, store: Path = STORE) -> None:
    """The files of a commit alone, in a folder that is made for them.

    Raises:
        GitError: the commit is not there.
    """
    mirror = mirror_of(repository, store.absolute(), wanted=commit)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="adjudge-index-") as name:
        more = {"GIT_DIR": str(mirror), "GIT_WORK_TREE": str(folder), "GIT_INDEX_FILE": str(Path(name, "index"))}
        git("read-tree", commit, cwd=folder, more=more)
        git("checkout-index", "--all", "--force", cwd=folder, more=more)


def mirror_of(repository: Repository, store: Path, *, wanted: str = "") -> Path:
    """Our copy of a repository, as new as it has to be: a commit that is there is not fetched again.

    Raises:
        GitError: it cannot be fetched.
    """
    location = repository.location
    if location.startswith("-"):
        raise GitError(f"{location!r} is no repository")
    store.mkdir(parents=True, exist_ok=True)
    mirror = store / f"{hashlib.sha256(location.encode()).hexdigest()[:16]}.git"
    with _locked(store / f"{mirror.name}.lock"):
        if not (mirror / "HEAD").is_file():
            with tempfile.TemporaryDirectory(prefix="new-", dir=store) as name:
                made = Path(name, "mirror.git")
                git("init", "--quiet", "--bare", str(made), cwd=store)
                _fetch(made, location)
                made.rename(mirror)
        elif not _has(mirror, wanted):
            _fetch(mirror, location)
    return mirror


def commit_of(mirror: Path, revision: str, location: str) -> str:
    """The commit that a revision names.

    Raises:
        GitError: there is none of that name.
    """
    # The repository's own HEAD first: that of the mirror names no branch of its.
    names = (f"refs/adjudge/{revision}", revision, f"refs/heads/{revision}", f"refs/tags/{revision}")
    if revision.startswith("-"):
        raise GitError(f"{revision!r} is no revision")
    for name in names:
        with contextlib.suppress(GitError):
            found = git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", cwd=mirror)
            return found.strip().splitlines()[-1]
    raise GitError(f"{location} has no revision {revision!r}")


def _fetch(mirror: Path, location: str) -> None:
    refs = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", "+HEAD:refs/adjudge/HEAD")
    try:
        git("fetch", "--quiet", "--force", "--no-tags", location, *refs, cwd=mirror, plain=False)
    except GitError as error:
        try:  # a bundle need not have a HEAD
            git("fetch", "--quiet", "--force", "--no-tags", location, *refs[:2], cwd=mirror, plain=False)
        except GitError:
            raise GitError(f"the repository {location} cannot be had: {error}") from None


def _has(mirror: Path, revision: str) -> bool:
    """Whether a whole commit name is among what is there; a branch may have moved."""
    if len(revision) != 40 or not all(letter in "0123456789abcdef" for letter in revision):
        return False
    try:
        git("cat-file", "-e", f"{revision}^{{commit}}", cwd=mirror)
    except GitError:
        return False
    return True


def _absent(folder: Path) -> tuple[str, ...]:
    """What a checkout does not bring along."""
    notes = []
    modules = folder / ".gitmodules"
    if modules.is_file() and not modules.is_symlink():
        notes.append("the repository has submodules, which are absent")
    attributes = folder / ".gitattributes"
    if attributes.is_file() and not attributes.is_symlink() and _LFS in attributes.read_bytes():
        notes.append("files of git LFS are absent: there are pointers in their place")
    return tuple(notes)


def _install(command: str, folder: Path, limit_s: float, environ: Mapping[str, str]) -> None:
    env = {name: value for name, value in elsewhere(environ).items() if not looks_secret(name, value)}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            ["bash", "-c", command],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        try:
            status = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise GitError(f"install: {command!r} took longer than {limit_s:g} s") from None
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if status != 0:
            said.seek(max(0, said.seek(0, os.SEEK_END) - 4000))
            raise GitError(f"install: {command!r} ended with {status}: {complaint(said.read())}")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time: several may want the same repository."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
