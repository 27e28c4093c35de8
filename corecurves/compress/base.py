"""What a compressor sees, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from corecurves.specs import Dropped, Identity, Outcome

__all__ = ["Compressor", "Draft", "TrainEpisode", "TrainView"]


@dataclass(frozen=True)
class TrainEpisode:
    """An episode of the train half.

    Parameters
    ----------
    task : str
        The prompt.
    outcome : Outcome
        What is known to be good, and the trap where there is one.
    """

    task: str
    outcome: Outcome


@dataclass(frozen=True)
class TrainView:
    """Everything that a compressor is given: plain data, from which no test episode can be reached.

    Parameters
    ----------
    lesson, title : str
        Id of the lesson, and what it is called.
    full : str
        Text of L0.
    before : str
        Text of the level before, which is to be shortened.
    holder : str
        Name of the level before: what still holds a claim that is dropped now.
    depth : int
        Depth of the level to be made.
    budget : int
        Most o200k tokens that the draft may have.
    episodes : tuple of TrainEpisode
        Episodes of the train half.
    load_bearing : tuple of str
        Spans of the lesson that were seen doing work.
    preserve : tuple of str
        What a shorter form must keep: hints from the store's files, then the known-good wordings
        and tasks of the episodes that failed with the drafts refused before.
    attempt : int
        0 for the first try.
    seed : int
        Seed of this try.
    """

    lesson: str
    title: str
    full: str
    before: str
    holder: str
    depth: int
    budget: int
    episodes: tuple[TrainEpisode, ...]
    load_bearing: tuple[str, ...] = ()
    preserve: tuple[str, ...] = ()
    attempt: int = 0
    seed: int = 0


@dataclass(frozen=True)
class Draft:
    """A shorter text, and the claims that it no longer makes.

    Parameters
    ----------
    text : str
        The text.
    dropped : tuple of Dropped
        What it leaves out against the level before, each with a holder and a kind
        of `DROPPED_KINDS`, or none where it is not clear. A draft that declares nothing is refused.
    """

    text: str
    dropped: tuple[Dropped, ...] = ()


class Compressor(Protocol):
    """Something that makes drafts."""

    @property
    def identity(self) -> Identity:
        """Who compresses: name, version, and everything that can change a draft."""
        ...

    async def compress(self, view: TrainView) -> Draft:
        """Draft of a level.

        Parameters
        ----------
        view : TrainView
            What may be known.

        Returns
        -------
        Draft
            A shorter text with the claims dropped.
        """
        ...
