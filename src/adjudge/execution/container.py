"""A container of the provider's, with a workspace in it: made, filled, emptied and given back."""

from __future__ import annotations

import asyncio
import base64
import io
import secrets
import zipfile
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

import msgspec

from adjudge.domain import ErrorKind
from adjudge.execution.collect import MAX_BYTES, MAX_FILES
from adjudge.execution.workspace import states
from adjudge.models import CallError
from adjudge.models.service import Service

ROOT = "/workspace"
AT_ONCE = 8
"""Files under way at once."""
_PAGE = 100
_SHOWN = 500
"""Files whose place is told to the model, at most."""
_MEMORY = ((1024, "1g"), (4096, "4g"), (16384, "16g"))
_CLEAN_UP_S = 10.0
_OLDEST = (1980, 1, 1, 0, 0, 0)


class Container(msgspec.Struct, frozen=True, kw_only=True):
    """A container with a workspace in it. `moved` tells of the files that the provider put elsewhere than below the
    folder that they were meant for: path in the workspace -> path in the container. `root` is where to work then."""

    id: str
    root: str = ROOT
    moved: dict[str, str] = {}

    @property
    def told(self) -> str:
        """What the model must know of it."""
        text = (
            f"You work in a container. The files of the task lie below {self.root}: paths that are not absolute start "
            f"there, and only what lies below it in the end is kept."
        )
        if not self.moved:
            return text
        lines = [f"- {name}: {path}" for name, path in list(self.moved.items())[:_SHOWN]]
        return "\n".join((text, "These files of the task have other paths than their own:", *lines))


def packed(folder: Path, skill: str) -> dict[str, Any]:
    """A skill as a container takes it: the same bytes for the same files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(states(folder)):
            entry = zipfile.ZipInfo(f"{skill}/{name}", _OLDEST)
            entry.external_attr = ((folder / name).stat().st_mode & 0o777) << 16
            archive.writestr(entry, (folder / name).read_bytes(), zipfile.ZIP_DEFLATED)
    head = _front_matter((folder / "SKILL.md").read_text(encoding="utf-8", errors="replace"))
    source = {"type": "base64", "media_type": "application/zip", "data": base64.b64encode(data.getvalue()).decode()}
    name, description = (str(head.get(key) or skill) for key in ("name", "description"))
    return {"type": "inline", "name": name, "description": description, "source": source}


def _front_matter(text: str) -> dict[str, Any]:
    """What a file in Markdown says of itself between two lines of dashes at its beginning."""
    import yaml

    lines = text.lstrip("\ufeff").split("\n")
    if lines[0].strip() != "---":
        return {}
    end = next((number for number, line in enumerate(lines[1:], 1) if line.strip() == "---"), 0)
    try:
        loaded = yaml.safe_load("\n".join(lines[1:end]))
    except (yaml.YAMLError, ValueError):
        return {}
    return loaded if isinstance(loaded, dict) else {}


async def make_container(
    service: Service, settings: Mapping[str, Any], *, workspace: Path, skill: dict[str, Any] | None, deadline: float
) -> Container:
    """A new container with the workspace's files; git's own are left out, and so are links.

    Raises:
        CallError: the provider does not make it, or does not take a file.
        OSError: a file cannot be read.
    """
    body: dict[str, Any] = {"name": f"adjudge-{secrets.token_hex(6)}", "memory_limit": memory_limit(settings)}
    if settings.get("network_policy"):
        body["network_policy"] = settings["network_policy"]
    if skill is not None:
        body["skills"] = [skill]
    try:
        made = await service.call("POST", "/containers", json=body, deadline=deadline)
    except CallError as error:
        if error.kind is ErrorKind.MODEL_NOT_FOUND:  # HTTP 404
            raise CallError(ErrorKind.CONFIG, f"the endpoint makes no containers: {error.message}") from None
        raise
    name = made.get("id") if isinstance(made, dict) else None
    if not isinstance(name, str) or not name:
        raise CallError(ErrorKind.PROVIDER_ERROR, "the provider made a container without an id")
    container = Container(id=name)
    try:
        return await _fill(service, container, workspace, deadline)
    except BaseException:
        await delete_container(service, container)
        raise


def memory_limit(settings: Mapping[str, Any]) -> str:
    """The smallest size of a container that has so many megabytes."""
    wanted = settings.get("memory_limit_mb") or 0
    return next((label for size, label in _MEMORY if wanted <= size), "64g")


async def _fill(service: Service, container: Container, workspace: Path, deadline: float) -> Container:
    url = f"{_url(container)}/files"

    async def put(name: str) -> tuple[str, str]:
        data = await asyncio.to_thread((workspace / name).read_bytes)
        told = await service.call("POST", url, file=(f"{ROOT}/{name}", data), deadline=deadline)
        path = told.get("path") if isinstance(told, dict) else None
        return name, path if isinstance(path, str) and path else f"{ROOT}/{name}"

    placed = await _all([put(name) for name in sorted(states(workspace))])
    moved = {name: path for name, path in placed if path != f"{ROOT}/{name}"}
    root = str(PurePosixPath(next(iter(moved.values()))).parent) if moved else ROOT
    return msgspec.structs.replace(container, moved=moved, root=root)


async def fetch(service: Service, container: Container, workspace: Path, *, deadline: float) -> list[str]:
    """Bring what lies below the container's folder into the workspace, and say what was left out. Files that are as
    they were stay untouched.

    Raises:
        CallError: the provider does not give a file.
    """
    names = {path: name for name, path in container.moved.items()}
    left: list[str] = []
    room = [MAX_BYTES]

    async def bring(entry: Mapping[str, Any]) -> None:
        path = entry["path"]
        if path not in names and not path.startswith((f"{ROOT}/", f"{container.root}/")):
            return
        name = names.get(path) or path.removeprefix(f"{ROOT}/").removeprefix(f"{container.root}/")
        if not _is_safe(name):
            left.append(f"{path!r}: its path leads elsewhere")
            return
        try:
            url = f"{_url(container)}/files/{quote(str(entry['id']), safe='')}/content"
            data = await service.content(url, deadline=deadline, most=max(0, room[0]))
        except CallError as error:
            if error.kind is not ErrorKind.OUTPUT_LIMIT:
                raise
            left.append(f"{name}: more than {MAX_BYTES} bytes in all")
            return
        room[0] -= len(data)
        problem = await asyncio.to_thread(_put, workspace, name, data)
        left.extend([f"{name}: {problem}"] if problem else [])

    await _all([bring(entry) for entry in await _listed(service, container, deadline, left)])
    return sorted(left)


async def _listed(service: Service, container: Container, deadline: float, left: list[str]) -> list[Mapping[str, Any]]:
    """The container's files, each once; those beyond the cap are left out."""
    found: dict[str, Mapping[str, Any]] = {}
    after = ""
    while True:
        query = f"limit={_PAGE}&order=asc" + (f"&after={quote(after, safe='')}" if after else "")
        page = await service.call("GET", f"{_url(container)}/files?{query}", deadline=deadline)
        data = page.get("data") if isinstance(page, dict) else None
        if not isinstance(data, list):
            raise CallError(ErrorKind.PROVIDER_ERROR, "the provider lists a container's files in a form of its own")
        files = [entry for entry in data if isinstance(entry, dict) and _is_file(entry)]
        new = [entry for entry in files if entry["id"] not in found]
        found |= {entry["id"]: entry for entry in new}
        if not page.get("has_more") or not new:
            break
        if len(found) > MAX_FILES:
            left.append(f"more than {MAX_FILES} files")
            break
        after = new[-1]["id"]
    return list(found.values())[:MAX_FILES]


def _is_file(entry: Mapping[str, Any]) -> bool:
    return isinstance(entry.get("id"), str) and isinstance(entry.get("path"), str)


def _is_safe(name: str) -> bool:
    """True for a path that stays in the workspace, and out of git's own files."""
    parts = name.split("/")
    return "\0" not in name and not any(part in ("", ".", "..") or part.casefold() == ".git" for part in parts)


def _put(workspace: Path, name: str, data: bytes) -> str:
    """Write a file unless it holds that already; says why it cannot be written."""
    place = workspace / name
    try:
        if place.is_symlink() or not place.parent.resolve().is_relative_to(workspace.resolve()):
            return "a link stands in its way"
        place.parent.mkdir(parents=True, exist_ok=True)
        if not (place.is_file() and place.read_bytes() == data):
            place.write_bytes(data)
    except (OSError, ValueError) as error:
        return f"cannot be written: {error}"
    return ""


async def delete_container(service: Service, container: Container) -> str:
    """Give a container back; says why that failed. One that nobody uses ends by itself."""
    deadline = asyncio.get_running_loop().time() + _CLEAN_UP_S
    try:
        await service.call("DELETE", _url(container), deadline=deadline)
    except CallError as error:
        return f"the container {container.id} could not be deleted: {error.message}"
    return ""


async def is_there(service: Service, container: Container, *, deadline: float) -> bool:
    """Whether a container of an earlier session can still be used.

    Raises:
        CallError: the provider does not say.
    """
    try:
        told = await service.call("GET", _url(container), deadline=deadline)
    except CallError as error:
        if error.kind is ErrorKind.MODEL_NOT_FOUND:  # HTTP 404
            return False
        raise
    return isinstance(told, dict) and told.get("status", "active") in ("active", "running")


def _url(container: Container) -> str:
    return f"/containers/{quote(container.id, safe='')}"


async def _all(calls: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
    """The results of calls, some of them under way at once.

    Raises:
        CallError, OSError: the first failure; the others are ended.
    """
    places = asyncio.Semaphore(AT_ONCE)

    async def one(call: Coroutine[Any, Any, Any]) -> Any:
        async with places:
            return await call

    tasks = [asyncio.create_task(one(call)) for call in calls]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    finally:
        for call in calls:
            call.close()
