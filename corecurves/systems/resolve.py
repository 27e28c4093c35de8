"""From whatever names a system to the one form that runners use.

A system may be named by a spec string, be an object that satisfies the Protocol, or be a plain
callable: a function ``text -> text`` (one turn, no memory of its own), or a callable without
parameters that makes a session (an object with ``turn``, or a function ``text -> text``).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from importlib.metadata import entry_points
from typing import Any
from urllib.parse import urlencode

from corecurves.errors import UsageError, a_type, unknown
from corecurves.models.resolve import check_copy, copied
from corecurves.spec_strings import Spec, parse_spec, typed_settings
from corecurves.specs import Identity
from corecurves.systems.functions import FunctionSession, takes_text

__all__ = ["Adapter", "as_system", "system_names"]

ENTRY_POINTS = "corecurves.systems"


@dataclass(frozen=True)
class Adapter:
    """A system behind one form: seeded starts, and turns that are always a `Turn`.

    Parameters
    ----------
    source : object
        A spec string, a system, or a callable.
    """

    source: Any

    @cached_property
    def system(self) -> Any:
        """The system itself; for a spec string it is made on first use, in each process anew."""
        if not isinstance(self.source, str):
            return self.source
        spec = parse_spec(self.source)
        make = _factory(spec.name)
        if spec.argument and make is not _in_context:
            raise UsageError(
                f"'{spec.name}' takes nothing after ':'; its settings are written ?key=value"
            )
        made = make(spec)
        check_copy(self, made)
        return made

    @cached_property
    def identity(self) -> Identity:
        """Who answers."""
        identity = getattr(self.system, "identity", None)
        if identity is None:
            name = getattr(self.system, "__qualname__", type(self.system).__qualname__)
            return Identity(name, "", {"recognisable": False})
        if not isinstance(identity, Identity):
            raise UsageError(
                f"`identity` of {type(self.system).__name__} is {a_type(identity)}; "
                "make it a corecurves.Identity(name, version, settings)"
            )
        return identity

    @property
    def volatile(self) -> bool:
        """Whether another process could not recognise this system."""
        anonymous = getattr(self.system, "identity", None) is None
        return anonymous or bool(getattr(self.system, "volatile", False))

    @property
    def travels(self) -> bool:
        """Whether its replays may be run by a copy of it, in another interpreter."""
        return bool(getattr(self.system, "travels", True))

    @property
    def bundled(self) -> bool:
        """Whether all that answers is code of this package."""
        return isinstance(self.source, str) and self.source.partition("?")[0] in (
            *_BUNDLED,
            "in-context:simulated",
        )

    @property
    def stochastic(self) -> bool:
        """Whether the answers of two seeds may differ; one that takes a seed may say that not."""
        takes = hasattr(self.system, "start") and "seed" in self._takes
        return bool(getattr(self.system, "stochastic", takes))

    def identity_over(self, pack: str) -> Identity:
        """Who answers where a curriculum has a pack of its own."""
        if pack and hasattr(self.system, "over"):
            return Adapter(self.system.over(pack)).identity
        return self.identity

    def start(self, seed: int, pack: str = "") -> Any:
        """Start a session that remembers nothing."""
        session = self._start({"seed": seed, "pack": pack})
        if inspect.isawaitable(session):
            getattr(session, "close", lambda: None)()
            raise UsageError("`start` is async; make it a plain function, `turn` may be async")
        if hasattr(session, "turn"):
            return session
        if callable(session):
            return FunctionSession(session)
        raise UsageError(f"the session is {a_type(session)}; it needs a method `turn`")

    def _start(self, options: dict[str, Any]) -> Any:
        begin = getattr(self.system, "start", None)
        if begin is not None:
            return begin(**{name: options[name] for name in self._takes})
        return self.system if takes_text(self.system) else self.system()

    @cached_property
    def _takes(self) -> tuple[str, ...]:
        known = inspect.signature(self.system.start).parameters
        return tuple(name for name in ("seed", "pack") if name in known)

    def __getstate__(self) -> dict[str, Any]:
        return copied(self)


def as_system(system: object) -> Adapter:
    """Adapter of a system.

    Examples
    --------
    >>> as_system("grounded?max_hops=2").identity.settings["max_hops"]
    2
    >>> as_system(str.upper).start(0).turn("yes").surface
    'YES'
    """
    if isinstance(system, Adapter):
        return system
    if not isinstance(system, str) and not hasattr(system, "start") and not callable(system):
        raise UsageError(
            f"`system` is {a_type(system)}; give a spec string such as 'grounded', "
            "an object with `start`, or a function text -> text"
        )
    if inspect.isclass(system) and hasattr(system, "start"):
        raise UsageError(f"`system` is the class {system.__name__}; give an instance of it")
    adapter = Adapter(system)
    try:
        adapter.identity.content()
    except UsageError:
        raise
    except (TypeError, ValueError) as error:
        raise UsageError(f"the identity of the system cannot be kept: {error}") from error
    return adapter


def system_names() -> list[str]:
    """Names that a spec string may begin with.

    Examples
    --------
    >>> "grounded" in system_names()
    True
    """
    return [*_BUNDLED, *(point.name for point in entry_points(group=ENTRY_POINTS))]


def _grounded(spec: Spec) -> object:
    from corecurves.systems.grounded import GroundedSettings, GroundedSystem

    settings = typed_settings(GroundedSettings, spec.settings)
    return GroundedSystem(GroundedSettings(**settings))  # type: ignore[arg-type]


def _in_context(spec: Spec) -> object:
    from corecurves.systems.in_context import InContextSettings, InContextSystem

    if not spec.argument:
        raise UsageError(
            "'in-context' needs a model: write in-context:MODEL, as in-context:smollm2"
        )
    # What is no setting of ours is one of the model: in-context:simulated?slip=0.1&max_tokens=96.
    names = [field.name for field in fields(InContextSettings)]
    own = {key: text for key, text in spec.settings.items() if key in names}
    others = {key: text for key, text in spec.settings.items() if key not in names}
    model = f"{spec.argument}?{urlencode(others)}" if others else spec.argument
    settings = typed_settings(InContextSettings, own)
    return InContextSystem(model, InContextSettings(**settings))  # type: ignore[arg-type]


def _retrieval(spec: Spec) -> object:
    from corecurves.systems.retrieval import RetrievalSettings, RetrievalSystem

    settings = typed_settings(RetrievalSettings, spec.settings)
    return RetrievalSystem(RetrievalSettings(**settings))  # type: ignore[arg-type]


def _parrot(spec: Spec) -> object:
    from corecurves.systems.baselines import ParrotSystem

    return ParrotSystem(**typed_settings(ParrotSystem, spec.settings))


def _blank(spec: Spec) -> object:
    from corecurves.systems.baselines import BlankSystem

    return BlankSystem(**typed_settings(BlankSystem, spec.settings))


_BUNDLED: dict[str, Callable[[Spec], object]] = {
    "grounded": _grounded,
    "in-context": _in_context,
    "retrieval": _retrieval,
    "parrot": _parrot,
    "blank": _blank,
}


def _factory(name: str) -> Callable[[Spec], object]:
    if name in _BUNDLED:
        return _BUNDLED[name]
    for point in entry_points(group=ENTRY_POINTS):
        if point.name == name:
            make = point.load()
            return lambda spec: make(**typed_settings(make, spec.settings))
    raise UsageError(unknown("system", name, system_names()))
