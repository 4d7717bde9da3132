"""Every other provider (Bedrock, Vertex, Azure, Gemini, ...) through LiteLLM, which is imported on its first call."""

from __future__ import annotations

import os
import re
from typing import Any

import msgspec

from adjudge.domain import ErrorKind
from adjudge.models.openai import OpenAIWire
from adjudge.models.wire import CallError, ModelRequest, Reply, status_error

_COST = "response_cost"
_GRANTS_ACCESS = re.compile("KEY|TOKEN|SECRET|PASSWORD")
_TRACEBACK = "Traceback (most recent call last)"


class LiteLLMWire(OpenAIWire):
    """`call` holds further arguments of each call; `environ` is where the provider's credentials are."""

    name = "litellm"
    optional: tuple[str, ...] = ("reasoning_effort",)

    def __init__(self, provider: str, environ: dict[str, str], call: dict[str, str]) -> None:
        super().__init__(official=False)
        self.provider = provider
        self._environ = environ
        self._call = call
        self._secrets = [value for name, value in environ.items() if len(value) > 7 and _GRANTS_ACCESS.search(name)]

    async def send(self, body: dict[str, Any], timeout_s: float) -> Any:
        """The response as Chat Completions would give it; LiteLLM's own repetitions are off.

        Raises:
            CallError: whatever LiteLLM raised, by its status.
        """
        library = self._library()
        try:
            response = await library.acompletion(
                **body, **self._call, timeout=timeout_s, num_retries=0, max_retries=0, drop_params=False
            )
        except library.exceptions.Timeout as error:
            raise CallError(ErrorKind.TIMEOUT, self._words(error), retryable=True) from None
        except library.exceptions.APIConnectionError as error:
            raise CallError(ErrorKind.CONNECTION, self._words(error), retryable=True) from None
        except Exception as error:
            status, words = getattr(error, "status_code", None), self._words(error)
            if isinstance(status, int) and 400 <= status < 600:
                raise status_error(status, getattr(error, "litellm_response_headers", None) or {}, words) from None
            if isinstance(status, int):  # a success that LiteLLM cannot read
                raise CallError(ErrorKind.PROVIDER_ERROR, words, retryable=True) from None
            raise CallError(ErrorKind.REQUEST_REJECTED, words) from None
        payload = response.model_dump()
        payload[_COST] = getattr(response, "_hidden_params", {}).get("response_cost")
        return payload

    def reply(self, payload: Any, request: ModelRequest) -> Reply:
        reply = super().reply(payload, request)
        cost = payload.get(_COST)
        if reply.usage.cost_usd is not None or not isinstance(cost, int | float) or cost <= 0:
            return reply
        usage = msgspec.structs.replace(reply.usage, cost_usd=float(cost), price_source="litellm")
        return msgspec.structs.replace(reply, usage=usage)

    def _library(self) -> Any:
        os.environ.update(self._environ)  # LiteLLM reads credentials from there, and nowhere else for all providers
        for variable in ("LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_OFFLINE_MODE"):
            os.environ.setdefault(variable, "True")  # no price list from the network
        import litellm

        litellm.suppress_debug_info = True
        return litellm

    def _words(self, error: Exception) -> str:
        """What LiteLLM says, without its stack and without a key, should the provider quote one."""
        text = str(getattr(error, "message", "") or error).partition(_TRACEBACK)[0]
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return " ".join(text.split())[:300] or type(error).__name__
