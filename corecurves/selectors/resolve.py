"""From whatever names a selector to one."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar
from urllib.parse import urlencode

import numpy as np

from corecurves.errors import CellFailure, UsageError, a_type, unknown
from corecurves.models.resolve import as_model
from corecurves.selectors.base import Candidate, Opinion
from corecurves.selectors.bm25 import Bm25
from corecurves.selectors.embedding import Lsa
from corecurves.selectors.judge import RelevanceJudge
from corecurves.selectors.relevance import Relevance
from corecurves.selectors.serve_all import ServeAll
from corecurves.spec_strings import Spec, parse_spec, typed_settings
from corecurves.specs import Identity

__all__ = ["SELECTORS", "as_selector"]

SELECTORS = ("serve-all", "bm25", "embedding", "model:MODEL", "judge:MODEL")
"""What a spec string may name."""
_PLAIN: dict[str, Callable[..., Any]] = {"serve-all": ServeAll, "bm25": Bm25, "embedding": Lsa}
_ASKED: dict[str, Callable[..., Any]] = {"model": Relevance, "judge": RelevanceJudge}
_OWN = {"model": ("calibrated",), "judge": ("temperature", "max_tokens")}


def as_selector(selector: object) -> Any:
    """Selector that a name, object or callable stands for.

    Examples
    --------
    >>> as_selector("bm25?b=0.5").b
    0.5
    >>> as_selector("bm52")
    Traceback (most recent call last):
    corecurves.errors.UsageError: `selector` has no 'bm52'; it has serve-all, bm25, embedding, \
model:MODEL, judge:MODEL: did you mean 'bm25'?
    """
    if not isinstance(selector, str):
        return _object(selector)
    spec = parse_spec(selector)
    if spec.name in _ASKED:
        return _asked(spec)
    if spec.name not in _PLAIN:
        raise UsageError(unknown("selector", spec.name, SELECTORS))
    if spec.argument:
        raise UsageError(
            f"'{spec.name}' takes nothing after ':'; its settings are written ?key=value"
        )
    make = _PLAIN[spec.name]
    if "corpus" in spec.settings:
        raise UsageError("`corpus` is the store's; it cannot be set")
    return make(**typed_settings(make, spec.settings))


def _asked(spec: Spec) -> Any:
    if not spec.argument:
        raise UsageError(f"'{spec.name}' needs a model: write {spec.name}:MODEL, as in "
                         f"{spec.name}:smollm2")  # fmt: skip
    own = {key: text for key, text in spec.settings.items() if key in _OWN[spec.name]}
    rest = {key: text for key, text in spec.settings.items() if key not in own}
    model = as_model(f"{spec.argument}?{urlencode(rest)}" if rest else spec.argument)
    make = _ASKED[spec.name]
    return make(model, **typed_settings(make, own))


def _object(selector: Any) -> Any:
    if inspect.isclass(selector):
        raise UsageError(f"`selector` is the class {selector.__name__}; give an instance of it")
    if hasattr(selector, "score"):
        missing = [name for name in ("identity", "threshold") if not hasattr(selector, name)]
        if missing:
            raise UsageError(f"the selector has no `{missing[0]}`; see corecurves.selectors")
        if not isinstance(selector.identity, Identity):
            raise UsageError("`identity` of the selector is no corecurves.Identity; make it one")
        return selector
    if callable(selector):
        return _Callable(selector)
    raise UsageError(
        f"`selector` is {a_type(selector)}; give one of {', '.join(SELECTORS)}, or a "
        "function (task, texts by id) -> ids or scores"
    )


@dataclass(frozen=True)
class _Callable:
    """A function as selector; another process would not recognise it, so nothing is kept of it."""

    function: Callable[[str, Mapping[str, str]], Any]
    threshold: ClassVar[float] = 0.5
    most_samples: ClassVar[int | None] = None
    volatile: ClassVar[bool] = True

    @property
    def concurrency(self) -> int | None:
        """One, as for a function that stands for a model, unless it waits or says otherwise."""
        waits = inspect.iscoroutinefunction(self.function)
        return getattr(self.function, "concurrency", None if waits else 1)

    @property
    def identity(self) -> Identity:
        name = getattr(self.function, "__qualname__", type(self.function).__qualname__)
        return Identity(name, "", {"recognisable": False})

    async def score(
        self, task: str, candidates: Sequence[Candidate], *, sample: int, seed: int
    ) -> Mapping[str, Opinion]:
        texts = {candidate.id: candidate.text for candidate in candidates}
        if inspect.iscoroutinefunction(self.function):
            found = await self.function(task, texts)
        else:
            found = await asyncio.to_thread(self.function, task, texts)
            found = await found if inspect.isawaitable(found) else found
        if isinstance(found, Mapping):
            return {str(key): _opinion(str(key), value) for key, value in found.items()}
        if isinstance(found, Collection) and not isinstance(found, str | bytes):
            _refuse_others(found, texts)
            return {key: Opinion(float(key in found)) for key in texts}
        raise CellFailure(
            "unparsable", f"the selector returned {found!r}; it must return ids, or scores by id"
        )


def _refuse_others(found: Collection[Any], texts: Mapping[str, str]) -> None:
    others = [key for key in found if key not in texts]
    if others:
        raise CellFailure(
            "unparsable", f"the selector names {others[0]!r}, which is no candidate of this task"
        )


def _opinion(key: str, value: object) -> Opinion:
    if value is None:
        return Opinion(None)
    # NumPy's boolean is no number, and says as much as Python's.
    if isinstance(value, Real | np.bool_) and math.isfinite(value):
        return Opinion(float(value))
    raise CellFailure(
        "unparsable", f"the selector's score of {key} is {value!r}; it must be a number or None"
    )
