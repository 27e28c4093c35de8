"""What-if edits of a curriculum: pure functions, each of which returns a new one.

An edited curriculum may not keep the contract any more, so it says ``contract=False`` and stays out
of the contract's aggregates, unless the edit cannot break it (`head`, which keeps every correction
that it leaves, and its tokens).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from corecurves.canonical import digest, stable_seed
from corecurves.errors import UsageError
from corecurves.files.curricula import load_filler
from corecurves.protocol.arms import control_corrections
from corecurves.specs import Correction, Curriculum, Token
from corecurves.text import contains

__all__ = ["drop", "head", "insert", "reorder", "shuffle", "with_distractors"]


def drop(curriculum: Curriculum, *ks: int) -> Curriculum:
    """The curriculum without some corrections.

    Parameters
    ----------
    curriculum : Curriculum
        The original.
    *ks : int
        Positions, counted from 1 as k is.

    Returns
    -------
    Curriculum
        Its expected tokens are those that the remaining corrections add.

    Raises
    ------
    UsageError
        If a position is not there, or nothing would remain.

    Examples
    --------
    >>> import corecurves as cc
    >>> first = cc.load_curricula("public")[0]
    >>> len(drop(first, 2)) == len(first) - 1
    True
    """
    gone = {_position(curriculum, k) for k in ks}
    return _edited(curriculum, [c for i, c in enumerate(curriculum.corrections) if i not in gone])


def insert(
    curriculum: Curriculum, k: int, text: str, *, adds: str | Token | None = None
) -> Curriculum:
    """The curriculum with one more correction.

    Parameters
    ----------
    curriculum : Curriculum
        The original.
    k : int
        Position that the new correction gets, from 1 to one past the end.
    text : str
        What is said.
    adds : str, Token or None
        The expected token that it adds; None for a distractor.

    Returns
    -------
    Curriculum
        With the correction in its place.

    Raises
    ------
    UsageError
        If there is no such position, or the text does not contain the token.

    Examples
    --------
    >>> import corecurves as cc
    >>> first = cc.load_curricula("public")[0]
    >>> insert(first, 1, "A river is water.").corrections[0].text
    'A river is water.'
    """
    if not 1 <= k <= len(curriculum) + 1:
        raise UsageError(f"`k` is {k}; '{curriculum.concept}' takes 1 to {len(curriculum) + 1}")
    token = Token(adds) if isinstance(adds, str) else adds
    if not text.strip():
        raise UsageError("the correction is empty; write what is said")
    for asked in (curriculum.probe, curriculum.opening):
        if token is not None and any(contains(asked, form) for form in token.forms):
            raise UsageError(f"\"{asked}\" already contains '{token.text}'; take another token")
    if token is not None and not any(contains(text, form) for form in token.forms):
        raise UsageError(f"the correction \"{text}\" does not contain '{token.text}'")
    new = Correction(text, (token,) if token else ())
    kept = list(curriculum.corrections)
    return _edited(curriculum, [*kept[: k - 1], new, *kept[k - 1 :]])


def reorder(curriculum: Curriculum, order: Sequence[int]) -> Curriculum:
    """The curriculum in another order.

    Parameters
    ----------
    curriculum : Curriculum
        The original.
    order : sequence of int
        Every position once, counted from 1, in the order to teach them.

    Returns
    -------
    Curriculum
        With the same corrections.

    Raises
    ------
    UsageError
        If a position is missing, unknown or repeated.

    Examples
    --------
    >>> import corecurves as cc
    >>> first = cc.load_curricula("public")[0]
    >>> backwards = reorder(first, range(len(first), 0, -1))
    >>> backwards.corrections[0] == first.corrections[-1]
    True
    """
    if sorted(order) != list(range(1, len(curriculum) + 1)):
        raise UsageError(
            f"`order` is {list(order)}; give each of 1 to {len(curriculum)} exactly once"
        )
    return _edited(curriculum, [curriculum.corrections[k - 1] for k in order])


def shuffle(curriculum: Curriculum, seed: int = 0) -> Curriculum:
    """The curriculum in a random order.

    Parameters
    ----------
    curriculum : Curriculum
        The original.
    seed : int
        The same seed gives the same order.

    Returns
    -------
    Curriculum
        With the same corrections.

    Examples
    --------
    >>> import corecurves as cc
    >>> first = cc.load_curricula("public")[0]
    >>> shuffle(first, 1) == shuffle(first, 1)
    True
    """
    order = list(range(1, len(curriculum) + 1))
    random.Random(stable_seed("shuffle", curriculum.concept, seed)).shuffle(order)
    return reorder(curriculum, order)


def with_distractors(
    curriculum: Curriculum,
    n: int,
    seed: int = 0,
    *,
    pool: Sequence[Curriculum] = (),
) -> Curriculum:
    """The curriculum with corrections in it that add none of its expected tokens.

    Parameters
    ----------
    curriculum : Curriculum
        The original.
    n : int
        How many.
    seed : int
        Decides which ones, and at which positions.
    pool : sequence of Curriculum
        Other concepts to take them from before the bundled filler.

    Returns
    -------
    Curriculum
        Longer by `n`.

    Raises
    ------
    UsageError
        If `n` is negative or there are not so many.

    Examples
    --------
    >>> import corecurves as cc
    >>> first = cc.load_curricula("public")[0]
    >>> len(with_distractors(first, 3, seed=1)) == len(first) + 3
    True
    """
    if n < 0:
        raise UsageError(f"`n` is {n}; give 0 or more")
    named = [c for other in pool if other.concept != curriculum.concept for c in other.corrections]
    ordered = [
        correction
        for source in (named, load_filler())
        for correction in sorted(source, key=lambda c: digest(["distractor", seed, c.text]))
    ]
    new = [replace(c, adds=()) for c in control_corrections(curriculum, (), ordered, n)]
    rng = random.Random(stable_seed("distractors", curriculum.concept, seed, n))
    corrections = list(curriculum.corrections)
    for correction in new:
        corrections.insert(rng.randint(0, len(corrections)), correction)
    return _edited(curriculum, corrections)


def head(curriculum: Curriculum, n: int) -> Curriculum:
    """The first corrections of the curriculum.

    Parameters
    ----------
    curriculum : Curriculum
        The original.
    n : int
        How many, at least 1.

    Returns
    -------
    Curriculum
        It keeps the contract where the original does.

    Raises
    ------
    UsageError
        If `n` is below 1.

    Examples
    --------
    >>> import corecurves as cc
    >>> len(head(cc.load_curricula("public")[0], 2))
    2
    """
    if n < 1:
        raise UsageError(f"`n` is {n}; a curriculum has at least 1 correction")
    kept = _edited(curriculum, curriculum.corrections[:n])
    return replace(kept, contract=curriculum.contract)


def _position(curriculum: Curriculum, k: int) -> int:
    if not 1 <= k <= len(curriculum):
        raise UsageError(f"`k` is {k}; '{curriculum.concept}' has 1 to {len(curriculum)}")
    return k - 1


def _edited(curriculum: Curriculum, corrections: Sequence[Correction]) -> Curriculum:
    if not any(correction.adds for correction in corrections):
        raise UsageError(f"no correction of '{curriculum.concept}' that adds a token would remain")
    return replace(curriculum, corrections=tuple(corrections), contract=False)
