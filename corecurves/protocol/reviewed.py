"""Whether a curriculum's corrections are accepted by the review of the embedded system.

The contract asks that every correction is a proposition that the teaching review accepts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from corecurves.errors import Fault
from corecurves.specs import Correction, Curriculum
from corecurves.systems.grounded.parse import explained
from corecurves.systems.resolve import as_system

__all__ = ["check_reviewed", "refusal_notes"]


def check_reviewed(curricula: Iterable[Curriculum]) -> list[Fault]:
    """Faults of contract curricula whose corrections the review rejects.

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
        for k, correction, reason in _refused(curriculum):
            message = (
                f'the review rejects correction {k}, "{correction.text}" ({reason}); '
                "write one proposition over pack words, or `contract: false`"
            )
            faults.append(Fault(file, correction.line, message))
    return faults


def refusal_notes(curricula: Iterable[Curriculum]) -> list[str]:
    """What the embedded system would refuse of curricula that do not promise its words.

    Examples
    --------
    >>> import corecurves as cc
    >>> steps = (cc.Correction("Drain the node, then delete it.", (cc.Token("drain"),)),)
    >>> refusal_notes([cc.Curriculum("node", "What is done?", steps, contract=False)])[0][:63]
    "'node': grounded would refuse 1 of 1 corrections (1 as compound"
    """
    notes = []
    for curriculum in curricula:
        if curriculum.contract and curriculum.pack:
            continue
        reasons = Counter(reason.partition(":")[0] for *_, reason in _refused(curriculum))
        if set(reasons) <= {"duplicate"}:
            continue
        why = "; ".join(f"{n} as {name}{explained(name)}" for name, n in reasons.items())
        file = curriculum.source.rpartition(":")[0] or curriculum.source
        notes.append(
            (f"{file}: " if file else "") + f"'{curriculum.concept}': grounded would "
            f"refuse {reasons.total()} of {len(curriculum)} corrections ({why}); retrieval and "
            "in-context:MODEL take any text"
        )
    return notes


def _refused(curriculum: Curriculum) -> Iterator[tuple[int, Correction, str]]:
    session = as_system("grounded").start(0, curriculum.pack_source)
    session.turn(curriculum.opening)
    for k, correction in enumerate(curriculum.corrections, start=1):
        turn = session.turn(correction.text)
        if not turn.accepted:
            yield k, correction, turn.review or "a question, which teaches nothing"
