"""Whether a curriculum's corrections are accepted by the review of the embedded system.

The contract asks that every correction is a proposition that the teaching review accepts.
"""

from __future__ import annotations

from collections.abc import Iterable

from corecurves.errors import Fault
from corecurves.files.packs import pack_path
from corecurves.specs import Curriculum
from corecurves.systems.resolve import as_system

__all__ = ["check_reviewed"]


def check_reviewed(curricula: Iterable[Curriculum]) -> list[Fault]:
    """Faults of contract curricula whose corrections the review rejects.

    Parameters
    ----------
    curricula : iterable of Curriculum
        Those that say ``contract: false``, and those without a pack, are passed over.

    Returns
    -------
    list of Fault
        One a rejected correction, with the reason of the review.

    Examples
    --------
    >>> import corecurves as cc
    >>> check_reviewed(cc.load_curricula("public"))
    []
    """
    faults = []
    for curriculum in curricula:
        if not curriculum.contract or not curriculum.pack:
            continue
        file = curriculum.source.rpartition(":")[0] or curriculum.source
        session = as_system(f"grounded?pack={pack_path(curriculum.pack)}").start(0)
        session.turn(curriculum.opening)
        for k, correction in enumerate(curriculum.corrections, start=1):
            turn = session.turn(correction.text)
            if not turn.accepted:
                message = (
                    f'the review rejects correction {k}, "{correction.text}" ({turn.review}); '
                    "write one proposition over pack words, or `contract: false`"
                )
                faults.append(Fault(file, correction.line, message))
    return faults
