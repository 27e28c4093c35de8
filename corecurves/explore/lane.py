"""Exploring a lane: edit a curriculum and see its curve beside the original's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from corecurves.files.curricula import CurriculumSource, load_curricula

if TYPE_CHECKING:
    from corecurves.explore.lane_widget import LaneExplorer

__all__ = ["explore_lane"]


def explore_lane(
    curricula: CurriculumSource = "public",
    system: object = "grounded",
    *,
    systems: Sequence[object] | None = None,
    concept: str | None = None,
    seed: int = 0,
    mode: Literal["fresh", "prefix"] = "fresh",
    max_concurrency: int = 8,
) -> LaneExplorer:
    """Controls that edit a curriculum, with its curve beside the original's.

    Parameters
    ----------
    curricula : str, Path, Curriculum, mapping, or iterable of these
        What can be chosen, see `load_curricula`.
    system : str, System or callable
        What is taught at first, see `run_lane`.
    systems : sequence of str, System or callable, or None
        What else can be chosen; None for the systems that need nothing but their name.
    concept : str or None
        What is chosen at first; None for the first.
    seed : int
        Seed of the runs.
    mode : {"fresh", "prefix"}
        See `run_lane`; a slow system that can fork answers sooner with ``"prefix"``.
    max_concurrency : int
        Snapshots at work at once.

    Returns
    -------
    Explorer
        A widget: as the last line of a cell it shows itself, and in an exported page its figure and
        tables. Runs are in the arm ``taught``, one sample, one replay. ``.edited`` is the edited
        curriculum, ``.wait()`` waits for a run that goes on.

    Raises
    ------
    UsageError
        If there is no such concept, system or split.
    FileFaults
        If a curriculum is at fault.

    See Also
    --------
    run_lane : Runs with controls, samples and replays.

    Examples
    --------
    >>> import corecurves as cc
    >>> explorer = cc.explore_lane("dev", concept="wisdom")
    >>> explorer.edited
    Curriculum('wisdom', chain, 5 corrections, split='dev')
    """
    loaded = load_curricula(curricula)
    from corecurves.explore.lane_widget import LaneExplorer

    return LaneExplorer(
        loaded, system, systems=systems, concept=concept, seed=seed, mode=mode,
        max_concurrency=max_concurrency,
    )  # fmt: skip
