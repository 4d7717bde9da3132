"""From an order to a response of the Responses API: asked for, waited for, kept, and its files fetched."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any
from urllib.parse import quote

import msgspec

from adjudge.domain import ErrorKind, Usage
from adjudge.execution.container import Container, delete_container, fetch, is_there, make_container
from adjudge.execution.running import Order
from adjudge.execution.workspace import content_key, states
from adjudge.models import CallError
from adjudge.models.responses import Answer, ResponsesAccess, read_response, response_body
from adjudge.models.service import Service
from adjudge.whole_files import write_json

FETCH_S = 120.0
"""For what lies in the container when the time of the run is over."""
_FIRST_LOOK_S = 0.2
_LOOK_S = 5.0
_CANCEL_S = 10.0


class Ticket(msgspec.Struct, kw_only=True):
    """What a run has paid for, on disk before it is used: a later session goes on with it unless it is `done`.

    Attributes:
        key: Of everything that can change what the model does.
        response: As the provider last told of it.
        spent: On responses before this one.
    """

    key: str
    container: Container
    response: dict[str, Any]
    spent: Usage = Usage()
    done: bool = False


class HostedRun:
    """`had` is true once there is a response that has ended; `spent` is what was paid for others on the way to it."""

    def __init__(
        self,
        order: Order,
        settings: dict[str, Any],
        skill: dict[str, Any] | None,
        access: ResponsesAccess,
        service: Service,
    ) -> None:
        self.log: list[str] = []
        self.had = False
        self.spent = Usage()
        self._order = order
        self._settings = settings
        self._skill = skill
        self._access = access
        self._service = service
        self._background = True
        self._container: Container | None = None
        self._pending = ""
        self._ticket: Ticket | None = None
        self._key = ""
        self._now = asyncio.get_running_loop().time
        self._deadline = self._now() + order.timeout_s

    async def go(self) -> Answer:
        """The response in the end, with what the model left in the container laid into the workspace."""
        self._key = await asyncio.to_thread(self._digest)
        try:
            answer = self._within_budget(await self._answered())
        except CallError as error:
            if error.kind is not ErrorKind.TIMEOUT and self._pending:  # a later session asks for it again
                return Answer(id=self._pending, failure=(error.kind, error.message))
            answer = await self._ended_early(error)
        over = answer.failure is not None and answer.failure[0] is ErrorKind.TIMEOUT
        if self._container is not None and (self.had or over):
            try:
                deadline = max(self._deadline, self._now() + FETCH_S)
                left = await fetch(self._service, self._container, self._order.workspace, deadline=deadline)
            except CallError as error:
                text = f"what it made cannot be fetched: {error.message}"
                return msgspec.structs.replace(answer, failure=(ErrorKind.PROVIDER_ERROR, text))
            self.log += [f"left out of the workspace: {name}" for name in left]
        await self._release()
        if self._ticket is not None:
            self._ticket.done = True
            self._write()
        return answer

    async def _answered(self) -> Answer:
        """A response that has ended. Where the provider failed, it is asked again, with another container: what the
        first one holds by then is not known.

        Raises:
            CallError: there is none.
        """
        answer = await self._resumed()
        if answer is not None:
            return answer
        last = self._service.retry.attempts - 1
        for attempt in range(last + 1):
            self._check_budget()
            self._container = await make_container(
                self._service,
                self._settings,
                workspace=self._order.workspace,
                skill=self._skill,
                deadline=self._deadline,
            )
            try:
                begun = await self._asked(self._container)
            except CallError as caught:
                error = caught
                if not error.retryable or error.kind is ErrorKind.RATE_LIMITED or attempt == last:
                    raise
            else:
                answer = await self._settled(begun)
                if not answer.passing or answer.failure is None or attempt == last:
                    return answer
                error = CallError(*answer.failure)
                self._set_aside(answer)
            wait = self._service.wait_s(attempt, error)
            if self._now() + wait >= self._deadline:
                raise error
            self.log.append(f"tried again in another container: {error.message}")
            await self._release()
            await asyncio.sleep(wait)
        raise AssertionError

    async def _asked(self, container: Container) -> Answer:
        """The response as it begins, or as it ended where the provider does not answer before.

        Raises:
            CallError: there is none.
        """
        order = self._order
        body = response_body(
            self._access.model,
            prompt=order.prompt,
            instructions="\n\n".join(filter(None, (order.task.system_prompt, container.told))),
            container=container.id,
            effort=order.spec.effort,
            background=self._background,
        )
        try:
            payload = await self._service.call(
                "POST", "/responses", json=body, deadline=self._deadline, twice=False, attempt_s=order.timeout_s
            )
        except CallError as error:
            if self._background and (error.rejects("background") or error.rejects("store")):
                self._background = False
                return await self._asked(container)
            raise
        answer = read_response(payload, model=self._access.model)
        self._ticket = Ticket(key=self._key, container=container, response=payload, spent=self.spent)
        self._write()
        return answer

    async def _settled(self, answer: Answer) -> Answer:
        """The response once it is no longer under way.

        Raises:
            CallError: it is not within the time of the run, or the provider does not tell.
        """
        wait = _FIRST_LOOK_S
        while answer.pending:
            self._pending = answer.id
            if self._now() + wait >= self._deadline:
                raise CallError(ErrorKind.TIMEOUT, f"not done within {self._order.timeout_s:g} s")
            await asyncio.sleep(wait)
            wait = min(wait * 1.5, _LOOK_S)
            answer = self._told(await self._service.call("GET", self._url(answer.id), deadline=self._deadline))
        self._pending = ""
        self.had = True
        return answer

    def _told(self, payload: Any) -> Answer:
        """What the provider tells of the response under way, kept once it has ended."""
        answer = read_response(payload, model=self._access.model)
        if self._ticket is not None and not answer.pending:
            self._ticket.response = payload
            self._write()
        return answer

    async def _ended_early(self, error: CallError) -> Answer:
        """What there is of a response when there will be no more of it: one that is under way is stopped."""
        answer = Answer()
        if self._pending:
            try:
                deadline = self._now() + _CANCEL_S
                url = f"{self._url(self._pending)}/cancel"
                answer = self._told(await self._service.call("POST", url, json={}, deadline=deadline))
                self.had = True
            except CallError as failed:
                self.log.append(f"the response {self._pending} could not be stopped: {failed.message}")
        return msgspec.structs.replace(answer, failure=(error.kind, error.message))

    async def _resumed(self) -> Answer | None:
        """The response that an earlier session asked for and did not come to use, if there is one.

        Raises:
            CallError: the provider does not tell of it.
        """
        ticket = self._earlier()
        if ticket is None:
            return None
        self._ticket, self._container, self.spent = ticket, ticket.container, ticket.spent
        try:
            answer = await self._settled(read_response(ticket.response, model=self._access.model))
        except CallError as error:
            if error.kind is not ErrorKind.MODEL_NOT_FOUND:  # HTTP 404
                raise
            self.log.append(f"the response of an earlier session is gone: {error.message}")
            self._pending = ""
        else:
            self._pending, self.had = answer.id, False  # where that cannot be told, a later session asks again
            there = await is_there(self._service, ticket.container, deadline=self._deadline)
            self._pending, self.had = "", True
            if there and not answer.passing:
                self.log.append("went on with the response of an earlier session")
                return answer
            self._set_aside(answer)
        await self._release()
        return None

    def _earlier(self) -> Ticket | None:
        path = self._order.journal
        if path is None:
            return None
        try:
            ticket = msgspec.json.decode(path.read_bytes(), type=Ticket)
        except (OSError, msgspec.MsgspecError):
            return None
        return ticket if ticket.key == self._key and not ticket.done else None

    def _set_aside(self, answer: Answer) -> None:
        """Count what was paid for a response that is not the last one."""
        self.spent += answer.usage
        self.had = False

    def _check_budget(self) -> None:
        """Raise when no further response may be asked for."""
        budget, cost = self._order.budget_usd, self.spent.cost_usd or 0.0
        if budget is not None and cost >= budget:
            raise CallError(ErrorKind.BUDGET, f"{cost:.4f} USD are spent of max_budget_usd = {budget:g}")

    def _within_budget(self, answer: Answer) -> Answer:
        """The response, which has failed if it and those before cost more than the run may."""
        budget, cost = self._order.budget_usd, (self.spent + answer.usage).cost_usd
        if answer.failure is not None or budget is None or cost is None or cost <= budget:
            return answer
        text = f"it cost {cost:.4f} USD, more than max_budget_usd = {budget:g}"
        return msgspec.structs.replace(answer, failure=(ErrorKind.BUDGET, text))

    async def _release(self) -> None:
        if self._container is not None:
            problem = await delete_container(self._service, self._container)
            self.log += [problem] if problem else []
            self._container = None

    def _write(self) -> None:
        path = self._order.journal
        if path is not None and self._ticket is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_json(path, self._ticket)

    def _digest(self) -> str:
        """Of everything that can change what the model does."""
        order, workspace = self._order, self._order.workspace
        asked = (
            *(self._access.base, self._access.model, order.prompt, order.task.system_prompt, order.spec.effort),
            order.spec.settings,
            self._skill,
            [(name, content_key(workspace / name)) for name in sorted(states(workspace))],
        )
        return hashlib.sha256(msgspec.json.encode(asked, order="sorted")).hexdigest()

    @staticmethod
    def _url(name: str) -> str:
        return f"/responses/{quote(name, safe='')}"
