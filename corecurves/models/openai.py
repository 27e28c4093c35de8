"""A model behind an endpoint that speaks OpenAI's protocol.

The key is read from the environment when a client is made. It is no attribute of the model, no part
of its identity, and is taken out of every error before it is raised.
"""

from __future__ import annotations

import asyncio
import os
import re
import weakref
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from corecurves.canonical import JSON
from corecurves.errors import CellFailure, CorecurvesError, UsageError, unknown
from corecurves.models.base import Completion, Message
from corecurves.models.openai_address import OWN, advice, endpoint_of, is_local
from corecurves.models.openai_errors import Refusal, as_failure, as_refusal, refused_field
from corecurves.models.openai_fields import OPTIONAL, Fields
from corecurves.models.openai_reply import body_of, read_reply
from corecurves.models.retry import Patience, with_patience
from corecurves.specs import Identity

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["OpenAIModel", "OpenAISettings"]

_Clients: TypeAlias = (
    "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, "
    "tuple[AsyncOpenAI, AsyncGenerator[None, None]]]"
)

_KEY = "OPENAI_API_KEY"
_NO_KEY = "no-key"
"""The protocol has a place for a key, also where there is none."""


@dataclass(frozen=True)
class OpenAISettings:
    """How an endpoint is called; none of it but `omit` changes an answer.

    Parameters
    ----------
    key_env : str or None
        Environment variable that holds the key. The default, ``""``, is ``OPENAI_API_KEY``, and no
        key for an endpoint on this machine; None sends no key anywhere.
    timeout : float
        Seconds that one attempt may take.
    attempts : int
        Attempts of a call. Of an endpoint that fails in 30 % of calls, 6 lose 1 call in 1,400.
    patience : float
        Seconds that all attempts of a call may take together, waits included.
    first_wait : float
        Seconds before the second attempt; each later wait is twice as long, up to 30 s. A wait is
        drawn between half of that and all of it. One that the endpoint asks for is kept, where the
        patience allows it.
    omit : str
        Optional fields that are not sent, with commas: ``seed``, ``temperature``, ``max_tokens``.
        A field that the endpoint refuses by name is left out without being asked to.

    Raises
    ------
    UsageError
        If `key_env` is no name of a variable, or `omit` names another field.
    """

    key_env: str | None = ""
    timeout: float = 120.0
    attempts: int = 6
    patience: float = 300.0
    first_wait: float = 1.0
    omit: str = ""

    def __post_init__(self) -> None:
        if self.key_env and not re.fullmatch(r"[A-Za-z_]\w*", self.key_env, re.ASCII):
            # What was given may be the key itself.
            raise UsageError("`key_env` must be the name of the variable that holds the key")
        for name in self.omitted:
            if name not in OPTIONAL:
                raise UsageError(unknown("omit", name, OPTIONAL))

    @property
    def omitted(self) -> list[str]:
        """The fields that `omit` names, sorted."""
        return sorted({name.strip() for name in self.omit.split(",")} - {""})


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
        If the SDK is not installed, the endpoint is no address or more than one, or the variable of
        the key is not set.
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
        self.base_url = endpoint_of(base_url)
        self._settings = settings
        self._local = is_local(self.base_url)
        self._fields = Fields(self.base_url, settings.omitted)
        # A client belongs to its event loop, and cannot be used in another one.
        self._clients: _Clients = weakref.WeakKeyDictionary()
        if not self._key():
            raise UsageError(
                f"{settings.key_env or _KEY} is not set; put the key of {self.base_url} there, or "
                "name another variable: ?key_env=NAME, or none"
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.base_url!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self.name, self.base_url, asdict(self._settings))

    @property
    def identity(self) -> Identity:
        """Who answers: the name and the endpoint; which weights are there is not known here.

        What the endpoint refuses is no part of it, for it is known after the first call only, and
        is the endpoint's own: it is kept with each cell.
        """
        settings: dict[str, JSON] = {"backend": "openai", "endpoint": self.base_url}
        if self._settings.omitted:
            settings["omit"] = list(self._settings.omitted)
        return Identity(self.name, "", settings)

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        seed: int,
        temperature: float = 0.0,
        max_tokens: int = 512,
    ) -> Completion:
        """Complete messages."""
        values = {"seed": seed, "temperature": temperature, "max_tokens": max_tokens}
        patience = Patience(
            attempts=self._settings.attempts,
            seconds=self._settings.patience,
            first_wait=self._settings.first_wait,
        )
        # The first client loads the SDK, which is no time of the endpoint's.
        client = await self._client()
        return await with_patience(lambda: self._attempt(client, list(messages), values), patience)

    async def _attempt(
        self, client: AsyncOpenAI, messages: list[Any], values: Mapping[str, Any]
    ) -> Completion:
        """A call; another one at once for each field that is refused by name, at most once each."""
        while True:
            names = self._fields.names
            sent = {names[field]: value for field, value in values.items() if field in names}
            try:
                async with asyncio.timeout(self._settings.timeout):
                    raw = await client.chat.completions.with_raw_response.create(
                        model=self.name, messages=messages, **sent
                    )
                reply = body_of(raw.http_response.content)
                self._fields.remark(f"{self.name} at {self.base_url}", names)
                return read_reply(reply, values["max_tokens"] if "max_tokens" in names else None)
            except CellFailure:
                raise
            except Exception as error:
                refusal = as_refusal(error)
                failure = self._failure(refusal or error)
                field = None if refusal is None else refused_field(refusal, names)
            # Raised out here, so that no traceback leads to the request and its headers.
            if field is None or not self._fields.without(field, names):
                raise failure

    def _failure(self, error: Exception) -> CorecurvesError:
        key = self._key()
        status = error.status if isinstance(error, Refusal) else 0
        hint = advice(status, self.name, self.base_url, keyless=key == _NO_KEY)
        return as_failure(error, self.name, key, self._settings.timeout, hint)

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
            # A proxy has no business between this process and this machine, and no endpoint sends
            # a prompt on to another.
            http_client=DefaultAsyncHttpxClient(trust_env=not self._local, follow_redirects=False),
        )
        if self.base_url != OWN:
            # They are read from the environment, and are nobody else's.
            client.organization = client.project = None
        closing = _closing(client)
        self._clients[loop] = client, closing
        # Held from outside too: what is collected together with its connections cannot close them.
        dropped = weakref.finalize(self, _close_soon, weakref.ref(loop), closing)
        dropped.atexit = False
        await anext(closing)
        return client

    def _key(self) -> str:
        named = self._settings.key_env
        if named is None or (self._local and not named):
            return _NO_KEY
        return os.environ.get(named or _KEY, "").strip()


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
