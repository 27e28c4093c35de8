"""Spec strings: ``grounded?max_hops=2`` names a system or model, and its settings."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from corecurves.errors import UsageError, unknown
from corecurves.redact import is_key_like

__all__ = ["Spec", "parse_spec", "typed_settings"]


@dataclass(frozen=True)
class Spec:
    """A parsed spec string.

    Parameters
    ----------
    name : str
        What stands before ``:`` and ``?``.
    argument : str
        What stands after the first ``:``.
    settings : mapping of str to str
        What stands after ``?``.
    """

    name: str
    argument: str
    settings: Mapping[str, str]


def parse_spec(text: str) -> Spec:
    """Parts of a spec string.

    Examples
    --------
    >>> parse_spec("grounded?max_hops=2")
    Spec(name='grounded', argument='', settings={'max_hops': '2'})
    """
    head, mark, tail = text.strip().partition("?")
    if re.search("@[a-z][a-z0-9+.-]*://", tail, re.IGNORECASE):
        # Read as part of a setting it would be passed over, and another endpoint called.
        raise UsageError(
            f"'{head}?…' has an address behind its settings; write NAME:MODEL@BASE_URL?key=value"
        )
    name, _, argument = head.partition(":")
    try:
        pairs = parse_qsl(tail, keep_blank_values=True, strict_parsing=True) if mark else []
    except ValueError:
        raise UsageError(f"'{text}' has settings that cannot be read; write ?key=value") from None
    settings = dict(pairs)
    for key in settings:
        if is_key_like(key):
            raise UsageError(
                f"the setting `{key}` looks like a secret; keys are taken from the environment only"
            )
    if len(settings) != len(pairs):
        raise UsageError(f"'{text}' gives a setting twice; keep one")
    return Spec(name.strip(), argument.strip(), settings)


def typed_settings(factory: Callable[..., object], given: Mapping[str, str]) -> dict[str, object]:
    """Settings of a spec string in the types that a factory's parameters have.

    Examples
    --------
    >>> def system(max_hops: int | None = None): ...
    >>> typed_settings(system, {"max_hops": "2"})
    {'max_hops': 2}
    """
    parameters = inspect.signature(factory).parameters
    hints = typing.get_type_hints(factory.__init__ if inspect.isclass(factory) else factory)
    found: dict[str, object] = {}
    for key, text in given.items():
        if key not in parameters:
            raise UsageError(unknown("setting", key, parameters))
        found[key] = _typed(key, text, hints.get(key, str))
    return found


def _typed(key: str, text: str, hint: object) -> object:
    kinds = typing.get_args(hint) if _is_union(hint) else (hint,)
    if type(None) in kinds and text.lower() in ("none", ""):
        return None
    if bool in kinds and text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        if kind in kinds:
            try:
                return kind(text)
            except ValueError:
                continue
    if str in kinds:
        return text
    names = " or ".join(getattr(kind, "__name__", str(kind)) for kind in kinds)
    raise UsageError(f"the setting `{key}` is {text!r}; give {names.replace('NoneType', 'none')}")


def _is_union(hint: object) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)
