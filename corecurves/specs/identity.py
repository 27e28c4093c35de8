"""Who answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from corecurves.canonical import JSON, as_json

__all__ = ["Identity"]


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
