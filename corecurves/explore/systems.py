"""The systems that an explorer offers, with the settings of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import get_args, get_type_hints
from urllib.parse import urlencode

from corecurves.errors import UsageError
from corecurves.spec_strings import parse_spec, typed_settings
from corecurves.systems.resolve import Adapter, as_system, system_names

__all__ = ["Choice", "Setting", "choices", "configured"]


@dataclass(frozen=True)
class Setting:
    """A setting of a system.

    Parameters
    ----------
    name : str
        Its name.
    value : int, float, str, bool or None
        What it is at first.
    kind : type or None
        What a control for it takes: int, float or bool; None for text.
    """

    name: str
    value: object
    kind: type | None


@dataclass(frozen=True)
class Choice:
    """A system that can be chosen.

    Parameters
    ----------
    label : str
        How it is listed.
    source : object
        A spec string, a system or a callable.
    """

    label: str
    source: object

    @property
    def adapter(self) -> Adapter:
        """The system; a UsageError if it cannot be had."""
        return as_system(self.source)

    def settings(self) -> tuple[Setting, ...]:
        """Settings that can be changed: those of a spec string whose system has some."""
        own = getattr(self.adapter.system, "settings", None)
        if not isinstance(self.source, str) or not is_dataclass(own) or isinstance(own, type):
            return ()
        hints = get_type_hints(type(own))
        return tuple(
            Setting(field.name, getattr(own, field.name), _kind(hints[field.name]))
            for field in fields(own)
            if field.init and field.default is not MISSING
        )


def choices(first: object, more: Sequence[object] | None = None) -> tuple[Choice, ...]:
    """Systems that can be chosen.

    Examples
    --------
    >>> [choice.label for choice in choices("grounded?max_hops=2", ["parrot"])]
    ['grounded?max_hops=2', 'parrot']
    """
    others = [name for name in system_names() if name != "in-context"] if more is None else more
    found: list[Choice] = []
    for source in (first, *others):
        if any(source is one.source or source == one.source for one in found):
            continue
        adapter = as_system(source) if more is not None or not found else None
        label = source if isinstance(source, str) else adapter and adapter.identity.name
        found.append(Choice(str(label), source))
    return tuple(found)


def configured(source: object, given: Mapping[str, str]) -> object:
    """A system with other settings.

    Examples
    --------
    >>> configured("grounded", {"max_hops": "2", "seed": "0"})
    'grounded?max_hops=2'
    """
    if not given or not isinstance(source, str):
        return source
    own = getattr(as_system(source).system, "settings", None)
    if own is None:
        raise UsageError(f"{source} has no settings to change")
    typed = typed_settings(type(own), given)
    changed = {name: given[name] for name, value in typed.items() if getattr(own, name) != value}
    if not changed:
        return source
    spec = parse_spec(source)
    head = source.partition("?")[0]
    return f"{head}?{urlencode({**spec.settings, **changed})}"


def _kind(hint: object) -> type | None:
    kinds = get_args(hint) or (hint,)
    if type(None) in kinds:
        return None
    return next((kind for kind in (bool, int, float) if kind in kinds), None)
