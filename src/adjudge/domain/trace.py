"""What an agent did to a repository: the change, and how it came about. Data only."""

from __future__ import annotations

import msgspec


class TouchedFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that a patch adds, changes, deletes or renames.

    Attributes:
        path: Relative to the repository, `/` between parts; the new name of a renamed file.
        status: `added`, `changed`, `deleted` or `renamed`.
        added: Lines; 0 for a binary file, like `removed`.
        before: The old name of a renamed file.
    """

    path: str
    status: str
    added: int = 0
    removed: int = 0
    binary: bool = False
    before: str = ""


class ToolUse(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call of a tool: its name, and what it was called with in a line. What it answered is not kept."""

    name: str
    detail: str = ""


class Trace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One agent's work on one task.

    Attributes:
        prompt: What it was asked.
        start: The commit that it started from.
        diff: Unified, against that commit, with new files and with what the agent committed; binary files by name.
        messages: Of the commits that it made, oldest first.
        final_message: The last thing that it said.
        source: Where the trace comes from: the name of the agent, or of the file.
        notes: What is not in the trace, in words.
    """

    prompt: str
    start: str = ""
    diff: str = ""
    files: tuple[TouchedFile, ...] = ()
    messages: tuple[str, ...] = ()
    tools: tuple[ToolUse, ...] = ()
    final_message: str = ""
    source: str = ""
    notes: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that the patch touches, old names of renamed files among them."""
        names = [name for file in self.files for name in (file.before, file.path) if name]
        return tuple(dict.fromkeys(names))

    @property
    def added(self) -> int:
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        return sum(file.removed for file in self.files)


class Repository(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the work of a task starts.

    Attributes:
        location: A folder or a bundle, absolute, or a URL that git takes.
        revision: Branch, tag or commit.
        install: Commands for `bash -c` that make a fresh checkout ready, in order.
        install_timeout_s: For each of them.
    """

    location: str
    revision: str = "HEAD"
    install: tuple[str, ...] = ()
    install_timeout_s: float = 600.0


class Submission(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Work on a task that was done elsewhere: a patch, and what is known of how it was made.

    Attributes:
        patch: Text of the patch, as git writes one.
        trace: The file with the agent's session, absolute; empty when there is none.
        final_message: What the agent said last, where no session tells.
        source: Where it comes from, for people.
    """

    patch: str
    trace: str = ""
    final_message: str = ""
    source: str = ""
