"""One run of a model in a container of its provider's, by the Responses API, and the record of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from adjudge.agents import Told
from adjudge.domain import ErrorKind, RunState, StepRun, Usage
from adjudge.execution.container import packed
from adjudge.execution.hosted_run import HostedRun
from adjudge.execution.programs import access_of, no_skill, seen_by, settings_of, skill_folder
from adjudge.execution.response_events import flat_events
from adjudge.execution.running import LAST_WORDS, NEVER_RAN, Done, Order, token_usage
from adjudge.models import CredentialsError
from adjudge.models.responses import Answer
from adjudge.models.service import Service

_NOT_ITS_WORK = NEVER_RAN | {ErrorKind.REQUEST_REJECTED, ErrorKind.INTERRUPTED, ErrorKind.INPUT}
_NOTHING = Usage()


async def run_hosted(order: Order, environ: Mapping[str, str]) -> Done:
    """Run the model to its end or its limit. What keeps it from running is told in the record, not raised."""
    began = time.monotonic()
    seen = seen_by(order.spec, environ, order.env)
    try:
        settings = settings_of(order.spec, seen)
        access = access_of(order.spec, seen, model=order.model)
        skill = _skill(order)
    except CredentialsError as error:
        return _record(order, Answer(failure=(ErrorKind.CREDENTIALS, str(error))), began=began)
    except (OSError, LookupError) as error:
        return _record(order, Answer(failure=(ErrorKind.CONFIG, str(error))), began=began)
    service = Service(access.base, access.headers, secrets=_domain_secrets(settings), retry=order.retry)
    run = HostedRun(order, settings, skill, access, service)
    try:
        answer = await run.go()
    except OSError as error:
        answer = Answer(failure=(ErrorKind.INPUT, f"its files cannot be read or written: {error}"))
    finally:
        await service.close()
    return _record(order, answer, began=began, had=run.had, spent=run.spent, log=run.log)


def _skill(order: Order) -> dict[str, Any] | None:
    """The skill that is to be used, packed.

    Raises:
        LookupError: it is not in the workspace.
        OSError: it cannot be read.
    """
    name = order.task.values.get("agent", "")
    if not name:
        return None
    folder = skill_folder(order.workspace, name)
    if folder is None:
        raise LookupError(no_skill(name))
    return packed(folder, name)


def _domain_secrets(settings: Mapping[str, Any]) -> list[str]:
    policy = settings.get("network_policy") or {}
    values = [str(entry.get("value") or "") for entry in policy.get("domain_secrets") or []]
    return [value for value in values if len(value) >= 8]


def _record(
    order: Order,
    answer: Answer,
    *,
    began: float,
    had: bool = False,
    spent: Usage = _NOTHING,
    log: Sequence[str] = (),
) -> Done:
    """How the run went; `had` is true if `answer` is a response, and not only why there is none."""
    usage = spent + answer.usage
    kind, error = answer.failure or (None, "")
    state = RunState.OK
    if kind is ErrorKind.TIMEOUT:
        state = RunState.TIMEOUT
    elif kind is not None:
        state = RunState.ERROR if not had or kind in _NOT_ITS_WORK else RunState.FAILED
    codes = {RunState.OK: 0, RunState.TIMEOUT: -1, RunState.FAILED: 1}
    turns = max(1, len(answer.messages)) if had else None
    said = f"response {answer.id}: {answer.status}" if answer.id else ""
    told = Told(
        text=answer.messages[-1] if answer.messages else "",
        events=flat_events(answer.items),
        usage=usage,
        turns=turns,
        model=answer.model if had else "",
        failure=answer.failure,
    )
    return Done(
        run=StepRun(
            id=order.id,
            state=state,
            exit_code=codes.get(state, 1 if had else None),
            duration_s=round(time.monotonic() - began, 3),
            cost_usd=usage.cost_usd,
            num_turns=turns,
            token_usage=token_usage(usage),
            error=error,
            kind=kind,
            output=told.text[:LAST_WORDS],
        ),
        stdout="\n".join(answer.messages).encode("utf-8", "replace"),
        stderr="".join(f"{line}\n" for line in (*log, said, error) if line).encode("utf-8", "replace"),
        told=told,
        events=told.events,
    )
