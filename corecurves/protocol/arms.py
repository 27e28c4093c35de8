"""Arms of the lane: what is taught in each.

``taught`` gets the first k corrections of the concept. ``control`` gets k corrections about *other*
concepts, none of which mentions the concept or any of its expected tokens: it measures the prior.
"""

from __future__ import annotations

from collections.abc import Sequence

from corecurves.canonical import digest
from corecurves.errors import UsageError, unknown
from corecurves.specs import Correction, Curriculum
from corecurves.text import contains

__all__ = ["LANE_ARMS", "arm_corrections", "check_arms", "control_corrections"]

LANE_ARMS = ("taught", "control")


def check_arms(arms: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Arms, checked against those there are.

    Examples
    --------
    >>> check_arms("taught", LANE_ARMS)
    ('taught',)
    """
    names = (arms,) if isinstance(arms, str) else tuple(dict.fromkeys(arms))
    for name in names:
        if name not in known:
            raise UsageError(unknown("arm", name, known))
    if not names:
        raise UsageError(f"`arms` is empty; give some of {', '.join(known)}")
    return names


def control_corrections(
    target: Curriculum,
    pool: Sequence[Curriculum],
    filler: Sequence[Correction],
    n: int | None = None,
) -> tuple[Correction, ...]:
    """Corrections about other concepts, as a control arm teaches them."""
    others = [c for c in pool if c.concept != target.concept and _unrelated(target, c.corrections)]
    others.sort(key=lambda c: digest(["control", target.concept, c.concept]))
    each = [correction for donor in others for correction in donor.corrections]
    each += [correction for correction in filler if _unrelated(target, [correction])]
    # Said once, where it stands first: a later chain that holds it too has been told that link.
    found = list({correction.text: correction for correction in each}.values())
    wanted = len(target) if n is None else n
    if len(found) < wanted:
        raise UsageError(
            f"'{target.concept}' needs {wanted} corrections about other concepts that share no "
            f"expected token with it, and there are {len(found)}; add other concepts, or ask for "
            "fewer (for a control arm: leave the arm out)"
        )
    return tuple(found[:wanted])


def arm_corrections(
    arm: str, target: Curriculum, pool: Sequence[Curriculum], filler: Sequence[Correction]
) -> tuple[Correction, ...]:
    """Corrections that an arm teaches."""
    return target.corrections if arm == "taught" else control_corrections(target, pool, filler)


def _unrelated(target: Curriculum, corrections: Sequence[Correction]) -> bool:
    return not any(
        contains(correction.text, target.concept) or any(target.hits(correction.text))
        for correction in corrections
    )
