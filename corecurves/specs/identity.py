"""Who answered, and whether it is somebody real whom another process would recognise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from corecurves.canonical import JSON, as_json

__all__ = ["SIMULATED", "Identity", "is_simulated", "unrecognisable"]

SIMULATED = "SIMULATED: a labelled simulation acts in it, so nothing is shown about a real model"
"""What every text says of a Dataset whose attribute ``simulated`` is ``yes``."""

_INNER = ("model", "system", "grader", "selector", "compressor", "function")
_DEEPEST = 4


@dataclass(frozen=True)
class Identity:
    """Who answered: part of every key, and of every Dataset.

    Parameters
    ----------
    name, version : str
        What it is called, and which version of it.
    settings : mapping of str to JSON
        Everything else that can change an answer.
    """

    name: str
    version: str = ""
    settings: Mapping[str, JSON] = field(default_factory=dict)

    def content(self) -> dict[str, JSON]:
        """The identity as JSON."""
        return {
            "name": self.name,
            "version": self.version,
            "settings": as_json(dict(self.settings), f"settings of {self.name}"),
        }


def is_simulated(*actors: object) -> bool:
    """Whether a labelled simulation acts in a run, itself or inside of another.

    Examples
    --------
    >>> is_simulated(None, Identity("judge", "1", {"model": {"name": "simulated"}}))
    True
    >>> is_simulated("prune?model=smollm2")
    False
    """
    return any(_simulated(actor, 0) for actor in actors)


def _simulated(actor: object, depth: int) -> bool:
    if isinstance(actor, str):
        return re.search(r"\bsimulated\b", actor) is not None and depth == 0
    if actor is None or depth > _DEEPEST:
        return False
    identity = actor if isinstance(actor, Identity) else getattr(actor, "identity", None)
    named = isinstance(identity, Identity) and _names_one(identity.content())
    inside = (getattr(actor, name, None) for name in _INNER)
    return (
        named
        or bool(getattr(actor, "simulated", False))
        or any(_simulated(inner, depth + 1) for inner in inside)
    )


def _names_one(content: JSON) -> bool:
    if not isinstance(content, Mapping):
        return False
    return content.get("name") == "simulated" or any(map(_names_one, content.values()))


class Unrecognised(str):
    """Role and name of actors that have no identity, and the objects that this process knows."""

    objects: tuple[object, ...] = ()


def unrecognisable(**actors: object) -> Unrecognised:
    """Which of the actors another process could not recognise, by role and name of the first."""
    there = {role: one for role, one in actors.items() if getattr(one, "volatile", False)}
    named = [f"the {role} '{one.identity.name}'" for role, one in there.items()]  # type: ignore[attr-defined]
    found = Unrecognised(named[0] if named else "")
    found.objects = tuple(map(_innermost, there.values()))
    return found


def _innermost(actor: object) -> object:
    """What the user gave, without the wrappers that each call makes anew."""
    if type(actor).__module__.startswith("corecurves."):
        for name in _INNER:
            if (inner := getattr(actor, name, None)) is not None:
                return _innermost(inner)
    return actor
