"""From whatever names a model to the one form that evaluations use.

A model may be named by a spec string, be an object that satisfies the Protocol, or be a plain
callable ``messages -> text``, waiting or not. One that does not wait may hold a model in this
process, so it is called one at a time, unless it says otherwise: ``function.concurrency = 8``.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

from corecurves.canonical import differences
from corecurves.errors import UsageError, a_type
from corecurves.models.base import Completion, CutOff, LogProb, Message
from corecurves.models.named import make_model, model_forms, model_names
from corecurves.specs import Identity
from corecurves.text import count_tokens

__all__ = ["ModelAdapter", "as_model", "check_copy", "copied", "model_forms", "model_names"]


@dataclass(frozen=True)
class ModelAdapter:
    """A model behind one form: replies that are always a `Completion`, calls that never block.

    Parameters
    ----------
    source : object
        A spec string, a model, or a callable.
    """

    source: Any

    @cached_property
    def model(self) -> Any:
        """The model itself; for a spec string it is made on first use, in each process anew."""
        if not isinstance(self.source, str):
            return self.source
        made = make_model(self.source)
        check_copy(self, made)
        return made

    @property
    def identity(self) -> Identity:
        """Who answers."""
        identity = getattr(self.model, "identity", None)
        if identity is None:
            name = getattr(self.model, "__qualname__", type(self.model).__qualname__)
            return Identity(name, "", {"recognisable": False})
        if not isinstance(identity, Identity):
            raise UsageError(
                f"`identity` of {type(self.model).__name__} is {a_type(identity)}; "
                "make it a corecurves.Identity(name, version, settings)"
            )
        return identity

    @property
    def volatile(self) -> bool:
        """Whether another process could not recognise this model."""
        return getattr(self.model, "identity", None) is None

    @property
    def concurrency(self) -> int | None:
        """Calls that it takes at once; None for any number. A function takes one, unless it says.

        A function that waits (``async def``) says so: nothing else runs in it meanwhile.
        """
        waits = inspect.iscoroutinefunction(_routine(self.model))
        plain = not hasattr(self.model, "generate") and not waits
        number = getattr(self.model, "concurrency", 1 if plain else None)
        return None if number is None else int(number)

    def beyond_context(self, prompts: Iterable[tuple[int, int]]) -> dict[str, int]:
        """Prompts that, with a full reply, do not fit the model's context, for a plan's cost."""
        context = getattr(self.model, "context", None)
        if context is None:
            return {}
        return {"prompts_beyond_context": sum(sum(both) > context for both in prompts)}

    @property
    def scores(self) -> bool:
        """Whether it can say how likely it finds a text."""
        return callable(getattr(self.model, "logprob", None))

    @property
    def answers(self) -> bool:
        """Whether it can be asked at all, and not only scored."""
        return callable(getattr(self.model, "generate", self.model))

    @property
    def answers_json(self) -> bool:
        """Whether it can judge, in JSON; a model that can only be asked is taken to."""
        return bool(getattr(self.model, "answers_json", not self.scores))

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        seed: int,
        temperature: float = 0.0,
        max_tokens: int = 512,
    ) -> Completion:
        """Complete messages; see `Model.generate`."""
        call = getattr(self.model, "generate", None)
        options = {"seed": seed, "temperature": temperature, "max_tokens": max_tokens}
        if call is None:
            call = self.model
            options = {key: value for key, value in options.items() if key in self._keywords}
        answer = await _unblocked(call, messages, **options)
        if isinstance(answer, Completion):
            return _whole(answer, max_tokens)
        if not isinstance(answer, str):
            raise TypeError(f"the model answered {a_type(answer)}; it must answer text")
        read = sum(count_tokens(message["content"]) for message in messages)
        return Completion(answer, "stop", read, count_tokens(answer))

    async def logprob(self, messages: Sequence[Message], text: str) -> LogProb:
        """Log-probability of a text as the reply to messages; see `ScoringModel.logprob`."""
        if not self.scores:
            raise UsageError(f"{self.identity.name} gives no log-probabilities; it can only answer")
        found = await _unblocked(self.model.logprob, messages, text)
        if not isinstance(found, LogProb):
            raise TypeError(f"the model scored {a_type(found)}; it must be a LogProb")
        if not math.isfinite(found.total) or found.tokens < 1:
            raise ValueError(f"the model scored {found.total} nats over {found.tokens} tokens")
        return found

    def count_tokens(self, text: str) -> int:
        """Tokens of a text: the model's own where it counts them, else o200k."""
        count = getattr(self.model, "count_tokens", None)
        return int(count(text)) if callable(count) else count_tokens(text)

    def close(self) -> None:
        """Free what the model holds; a later call gets it again."""
        close = getattr(self.model, "close", None)
        if callable(close):
            close()

    @cached_property
    def _keywords(self) -> frozenset[str]:
        """Those options of a call that a plain callable declares."""
        try:
            parameters = inspect.signature(self.model).parameters.values()
        except (TypeError, ValueError):
            return frozenset()
        return frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)

    def __getstate__(self) -> dict[str, Any]:
        return copied(self)


def copied(adapter: Any) -> dict[str, Any]:
    """State of an adapter that travels to another process."""
    spec = isinstance(adapter.source, str)
    return {"source": adapter.source, "expected": adapter.identity.content() if spec else None}


def check_copy(adapter: Any, made: Any) -> None:
    """Refuse what a spec string names in this process, where the original was another one."""
    expected = vars(adapter).get("expected")
    identity = getattr(made, "identity", None)
    if expected is None or identity is None or identity.content() == expected:
        return
    named = "; ".join(differences(expected, identity.content()))
    raise UsageError(f"'{adapter.source}' is another one in this process: {named}")


def as_model(model: object) -> ModelAdapter:
    """Adapter of a model.

    Examples
    --------
    >>> as_model("simulated?slip=0.1").identity.settings["slip"]
    0.1
    >>> as_model(lambda messages: messages[-1]["content"].upper()).volatile
    True
    """
    if isinstance(model, ModelAdapter):
        return model
    if not isinstance(model, str) and not hasattr(model, "generate") and not callable(model):
        raise UsageError(
            f"`model` is {a_type(model)}; give a spec string such as 'smollm2', "
            "an object with `generate`, or a function messages -> text"
        )
    if inspect.isclass(model):
        raise UsageError(f"`model` is the class {model.__name__}; give an instance of it")
    adapter = ModelAdapter(model)
    _ = adapter.identity
    return adapter


def _whole(completion: Completion, max_tokens: int) -> Completion:
    """A reply that ended by itself, checked."""
    if not isinstance(completion.text, str):
        raise TypeError(f"`text` of the reply is {completion.text!r}; it must be text")
    for name in ("tokens_in", "tokens_out", "tokens_cached"):
        if not isinstance(getattr(completion, name), Integral | None):
            raise TypeError(f"`{name}` of the reply is {getattr(completion, name)!r}, no number")
    if completion.finish == "length":
        raise CutOff(f"the reply was cut off at {max_tokens} tokens", completion)
    return completion


async def _unblocked(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """The answer of a call that may wait or not; one that does not is kept off the event loop."""
    if inspect.iscoroutinefunction(_routine(call)):
        return await call(*args, **options)
    answer = await asyncio.to_thread(call, *args, **options)
    return await answer if inspect.isawaitable(answer) else answer


def _routine(call: Any) -> Any:
    """The function itself, or that which an object is called by."""
    return call if inspect.isroutine(call) else getattr(call, "__call__", call)  # noqa: B004
