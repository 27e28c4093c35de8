"""From whatever names a compressor to one."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from corecurves.compress.base import Draft, TrainView
from corecurves.compress.claims import derived_claims
from corecurves.compress.counted import CountedModel, counted
from corecurves.compress.extractive import Extractive
from corecurves.compress.prune import Prune
from corecurves.compress.rewrite import Rewrite
from corecurves.errors import CellFailure, UsageError, a_type, unknown
from corecurves.spec_strings import parse_spec, typed_settings
from corecurves.specs import Dropped, Identity

__all__ = ["COMPRESSORS", "as_compressor", "label"]

COMPRESSORS = ("extractive", "prune", "rewrite:MODEL")
"""What a spec string may name."""
_SCORED: dict[str, Callable[..., Any]] = {"extractive": Extractive, "prune": Prune}


def as_compressor(compressor: object, model: Any) -> Any:
    """Compressor that a name, object or callable stands for.

    Examples
    --------
    >>> from corecurves.models.resolve import as_model
    >>> as_compressor("extractive?wordings=2", as_model("simulated")).wordings
    2
    """
    if not isinstance(compressor, str):
        return _object(compressor)
    spec = parse_spec(compressor)
    if spec.name == "rewrite":
        own = {key: text for key, text in spec.settings.items() if key == "max_tokens"}
        rest = {key: text for key, text in spec.settings.items() if key not in own}
        if rest and not spec.argument:
            raise UsageError(unknown("setting", next(iter(rest)), ("max_tokens",)))
        writer = f"{spec.argument}?{urlencode(rest)}" if rest else spec.argument
        beside = model if isinstance(model, CountedModel) else None
        return Rewrite(counted(writer, beside) if writer else model, **_typed(Rewrite, own))
    if spec.name not in _SCORED:
        raise UsageError(unknown("compressor", spec.name, COMPRESSORS))
    if spec.argument:
        raise UsageError(f"'{spec.name}' takes nothing after ':'; write {spec.name}?setting=value")
    if not model.scores:
        raise UsageError(
            f"the compressor {spec.name} needs a model that can be scored, and "
            f"{model.identity.name} cannot; take rewrite:MODEL, or another model"
        )
    make = _SCORED[spec.name]
    return make(model, **_typed(make, spec.settings))


def label(compressor: Any) -> str:
    """What a level says of who made it.

    Examples
    --------
    >>> from corecurves.models.resolve import as_model
    >>> label(as_compressor("prune", as_model("simulated")))
    'prune?negations=True&model=simulated'
    """
    found = {}
    for key, value in compressor.identity.settings.items():
        if isinstance(value, dict):
            value = value.get("name", "")
        if isinstance(value, str | int | float) and key != "recognisable":
            found[key] = value
    return str(compressor.identity.name) + (f"?{urlencode(found, safe=':/@')}" if found else "")


def _typed(make: Callable[..., Any], given: Any) -> dict[str, Any]:
    for key in given:
        if key == "model" or key.startswith("_"):
            raise UsageError(f"`{key}` cannot be set here; give it as the option `model`")
    return typed_settings(make, given)


def _object(compressor: Any) -> Any:
    if inspect.isclass(compressor):
        raise UsageError(f"`compressor` is the class {compressor.__name__}; give an instance of it")
    if hasattr(compressor, "compress"):
        if not isinstance(getattr(compressor, "identity", None), Identity):
            raise UsageError("the compressor has no `identity`; give it a corecurves.Identity")
        return _Checked(compressor)
    if callable(compressor):
        return _Checked(compressor)
    raise UsageError(
        f"`compressor` is {a_type(compressor)}; give one of {', '.join(COMPRESSORS)}, or "
        "a function TrainView -> Draft or text"
    )


@dataclass(frozen=True)
class _Checked:
    """A compressor from elsewhere: what it returns is a draft, or is said not to be one."""

    source: Any

    @property
    def identity(self) -> Identity:
        own = getattr(self.source, "identity", None)
        if isinstance(own, Identity):
            return own
        name = getattr(self.source, "__qualname__", type(self.source).__qualname__)
        return Identity(name, "", {"recognisable": False})

    async def compress(self, view: TrainView) -> Draft:
        call = getattr(self.source, "compress", self.source)
        found = (
            call(view) if inspect.iscoroutinefunction(call) else await asyncio.to_thread(call, view)
        )
        found = await found if inspect.isawaitable(found) else found
        if isinstance(found, str):
            return Draft(found, derived_claims(view.before, found, view.holder))
        if not isinstance(found, Draft):
            raise CellFailure(
                "unparsable", f"the compressor returned {found!r}; it must return a Draft or text"
            )
        claims = found.dropped
        if not isinstance(found.text, str) or not (
            isinstance(claims, list | tuple) and all(isinstance(x, Dropped) for x in claims)
        ):
            raise CellFailure(
                "unparsable",
                "a Draft has a text, and claims that are cc.Dropped(claim, kind, holder); the "
                f"compressor returned {found!r}",
            )
        return found
