"""A model behind an endpoint that speaks OpenAI's protocol.

The key is read from the environment when a client is made. It is no attribute of the model, no part
of its identity, and is taken out of every error before it is raised.
"""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from corecurves.canonical import JSON
from corecurves.errors import CellFailure, UsageError
from corecurves.models.base import Completion, CutOff, Message, TemporaryFailure
from corecurves.models.openai_errors import as_failure
from corecurves.models.retry import Patience, with_patience
from corecurves.specs import Identity

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["OpenAIModel", "OpenAISettings"]

_Clients: TypeAlias = (
    "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, "
    "tuple[AsyncOpenAI, AsyncGenerator[None, None]]]"
)

_OWN = "https://api.openai.com/v1"
_KEY = "OPENAI_API_KEY"
_NO_KEY = "no-key"
"""Endpoints on this machine need none, but the protocol has a place for it."""


@dataclass(frozen=True)
class OpenAISettings:
    """How an endpoint is called; none of it changes an answer.

    Parameters
    ----------
    key_env : str
        Environment variable that holds the key. An endpoint on this machine gets none unless
        another variable than ``OPENAI_API_KEY`` is named.
    timeout : float
        Seconds that one attempt may take.
    attempts : int
        Attempts of a call. Of an endpoint that fails in 30 % of calls, 6 lose 1 call in 1,400.
    patience : float
        Seconds that all attempts of a call may take together, waits included.
    first_wait : float
        Seconds before the second attempt; each later wait is twice as long, up to 30 s. A wait is
        drawn between half of that and all of it.
    """

    key_env: str = _KEY
    timeout: float = 120.0
    attempts: int = 6
    patience: float = 300.0
    first_wait: float = 1.0


class OpenAIModel:
    """A model behind an endpoint.

    Parameters
    ----------
    name : str
        The model's name at the endpoint.
    base_url : str or None
        The endpoint; None for what ``OPENAI_BASE_URL`` names, or OpenAI's own.
    settings : OpenAISettings
        How it is called.

    Raises
    ------
    UsageError
        If the SDK is not installed, the endpoint is no address or holds a password, or there is no
        key.
    """

    concurrency = None

    def __init__(
        self,
        name: str,
        base_url: str | None = None,
        *,
        settings: OpenAISettings = OpenAISettings(),
    ) -> None:
        if find_spec("openai") is None:
            raise UsageError(
                "the OpenAI SDK is not installed; install it with: pip install 'corecurves[openai]'"
            )
        self.name = name
        self.base_url = (base_url or os.environ.get("OPENAI_BASE_URL") or _OWN).rstrip("/")
        self._settings = settings
        self._local = _check_address(self.base_url)
        # A client belongs to its event loop, and cannot be used in another one.
        self._clients: _Clients = weakref.WeakKeyDictionary()
        if not self._key():
            raise UsageError(f"{settings.key_env} is not set; put the key of {self.base_url} there")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.base_url!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self.name, self.base_url, asdict(self._settings))

    @property
    def identity(self) -> Identity:
        """Who answers: the name and the endpoint; which weights are there is not known here."""
        return Identity(self.name, "", {"backend": "openai", "endpoint": self.base_url})

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        seed: int,
        temperature: float = 0.0,
        max_tokens: int = 512,
    ) -> Completion:
        """Complete messages.

        Parameters
        ----------
        messages : sequence of Message
            The prompt.
        seed : int
            Seed of the sampling, where the endpoint heeds it.
        temperature : float
            0 takes the likeliest token each time.
        max_tokens : int
            Longest reply, in the model's own tokens.

        Returns
        -------
        Completion
            The reply.

        Raises
        ------
        CutOff
            If the reply was stopped by its length, with or without content.
        TemporaryFailure
            If all attempts met a rate limit, a fault of the server, silence, or a reply that
            cannot be read.
        CellFailure
            If this prompt is refused or its reply ended otherwise than by itself.
        PermanentFailure
            If the call, the key or the account is refused.
        """
        longest = "max_completion_tokens" if self.base_url == _OWN else "max_tokens"
        body: dict[str, Any] = {
            "model": self.name,
            "messages": list(messages),
            "seed": seed,
            "temperature": temperature,
            longest: max_tokens,
        }
        patience = Patience(
            attempts=self._settings.attempts,
            seconds=self._settings.patience,
            first_wait=self._settings.first_wait,
        )
        # The first client loads the SDK, which is no time of the endpoint's.
        client = await self._client()
        return await with_patience(lambda: self._attempt(client, body), patience)

    async def _attempt(self, client: AsyncOpenAI, body: dict[str, Any]) -> Completion:
        try:
            async with asyncio.timeout(self._settings.timeout):
                reply = await client.chat.completions.create(**body)
            return _completion(reply)
        except CellFailure:
            raise
        except Exception as error:
            failure = as_failure(error, self.name, self._key(), self._settings.timeout)
        # Raised out here, so that no traceback leads to the request and its headers.
        raise failure

    async def _client(self) -> AsyncOpenAI:
        loop = asyncio.get_running_loop()
        if loop in self._clients:
            return self._clients[loop][0]
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        client = AsyncOpenAI(
            api_key=self._key(),
            base_url=self.base_url,
            max_retries=0,
            timeout=self._settings.timeout,
            # A proxy has no business between this process and this machine.
            http_client=DefaultAsyncHttpxClient(trust_env=False) if self._local else None,
        )
        closing = _closing(client)
        self._clients[loop] = client, closing
        # Held from outside too: what is collected together with its connections cannot close them.
        dropped = weakref.finalize(self, _close_soon, weakref.ref(loop), closing)
        dropped.atexit = False
        await anext(closing)
        return client

    def _key(self) -> str:
        if self._local and self._settings.key_env == _KEY:
            return _NO_KEY
        return os.environ.get(self._settings.key_env, "").strip()


async def _closing(client: AsyncOpenAI) -> AsyncGenerator[None, None]:
    """Close a client when its event loop shuts its generators down, or the model is dropped."""
    try:
        yield
    finally:
        await client.close()


def _close_soon(
    where: weakref.ref[asyncio.AbstractEventLoop], closing: AsyncGenerator[None, None]
) -> None:
    loop = where()
    if loop is not None and not loop.is_closed():
        loop.call_soon_threadsafe(lambda: loop.create_task(_end(closing)))


async def _end(closing: AsyncGenerator[None, None]) -> None:
    await closing.aclose()


def _remake(name: str, base_url: str, settings: dict[str, JSON]) -> OpenAIModel:
    return OpenAIModel(name, base_url, settings=OpenAISettings(**settings))  # type: ignore[arg-type]


def _check_address(url: str) -> bool:
    """Whether an endpoint is on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https"):
        raise UsageError("the endpoint is no address; write openai:NAME@http://HOST:PORT/v1")
    if parts.username is not None or parts.password is not None or parts.query:
        raise UsageError(f"the endpoint holds more than an address; put the key in {_KEY}")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _completion(reply: Any) -> Completion:
    choices = getattr(reply, "choices", None)
    if not isinstance(choices, list) or not choices or getattr(choices[0], "message", None) is None:
        # An HTML page of a proxy's, for instance.
        raise TemporaryFailure("the reply is no completion")
    choice, usage = choices[0], getattr(reply, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    completion = Completion(
        # A refusal is an answer too.
        choice.message.content or getattr(choice.message, "refusal", None) or "",
        choice.finish_reason or "",
        getattr(usage, "prompt_tokens", None) or 0,
        getattr(usage, "completion_tokens", None) or 0,
        getattr(details, "cached_tokens", None) or 0,
    )
    if completion.finish == "length":
        raise CutOff(f"the reply was cut off at {completion.tokens_out} tokens", completion)
    if completion.finish != "stop":
        raise CellFailure("call_failed", f"the reply ended by {completion.finish or 'nothing'}")
    return completion
