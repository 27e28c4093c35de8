"""What the levels and the outcomes of a bench must keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from corecurves.specs.lesson import Level, Outcome
from corecurves.text import contains, count_tokens, counted, words

__all__ = ["check_levels", "check_outcome", "unlike", "unlike_note"]

_LONGEST = 0.75
"""Share of the tokens of the level before that a level may have."""
_APART = 0.25
"""Share of the longer one's tokens by which a known-good and its trap may differ …"""
_ALIKE = 2
"""… or so many tokens, so that two names are a pair."""
_Place: TypeAlias = "tuple[str, int | None]"


def check_levels(levels: Sequence[Level]) -> Iterator[tuple[int, str]]:
    """Levels that are not truly shorter than the one before.

    Examples
    --------
    >>> list(check_levels([Level(0, "Wear gloves at work."), Level(1, "Wear gloves.")]))
    []
    """
    for at, (before, level) in enumerate(pairwise(levels), start=1):
        longer, tokens = count_tokens(before.text), count_tokens(level.text)
        if tokens > _LONGEST * longer:
            yield (
                at,
                (
                    f"level {level.name} has {tokens} tokens, more than 75 % of the {longer} of "
                    f"{before.name}; write at most {int(_LONGEST * longer)}"
                ),
            )


def check_outcome(
    outcome: Outcome, task: str, *, strict: bool = False
) -> Iterator[tuple[_Place, str]]:
    """What keeps a known-good and a trap from being minimal pairs.

    Examples
    --------
    >>> outcome = Outcome(("Port 6112.",), ("Port 5672.",))
    >>> [message for _, message in check_outcome(outcome, "Is it port 6112?")]
    ["the task already holds the answer 'Port 6112.'; ask without it"]
    """
    good, trap = outcome.good, outcome.trap
    if not good:
        yield ("good", None), "`good` has no wording; write the answer itself"
    if strict:
        for key, wordings in (("good", good), ("trap", trap)):
            if len(set(wordings)) < 2 and (wordings or key == "trap"):
                count = "only one wording" if wordings else "no wording"
                yield (key, None), f"`{key}` has {count}; write two or more"
    if trap and len(good) != len(trap):
        yield (
            ("trap", None),
            (f"`good` and `trap` have {len(good)} and {len(trap)} wordings; write them in pairs"),
        )
    yield from _apart(outcome, strict=strict)
    for at, text in enumerate(good):
        if contains(task, text):
            yield ("good", at), f"the task already holds the answer '{text}'; ask without it"
    yield from _checked(outcome)


def unlike(outcome: Outcome) -> tuple[int, int, int] | None:
    """First known-good whose trap is so much longer or shorter that they are no minimal pair.

    Examples
    --------
    >>> unlike(Outcome(("Poppins.",), ("Helvetica.",)))
    >>> unlike(Outcome(("Port 6112.",), ("Some port, and whichever one it is, it is wrong.",)))
    (0, 5, 13)
    """
    for at, (good, trap) in enumerate(zip(outcome.good, outcome.trap, strict=False)):
        a, b = count_tokens(good), count_tokens(trap)
        if good and trap and abs(a - b) > max(_ALIKE, _APART * max(a, b)):
            return at, a, b
    return None


def unlike_note(outcomes: Mapping[str, Outcome]) -> str:
    """What to know of cases whose traps are no minimal pairs."""
    found = {key: apart for key, outcome in outcomes.items() if (apart := unlike(outcome))}
    if not found:
        return ""
    key, (_, good, trap) = next(iter(found.items()))
    return (
        f"{len(found)} of {counted(len(outcomes), 'trap')} differ in length from the known-good "
        f"outcome by more than 25 % ({key}: {trap} and {good} tokens), so a preference between "
        "them is no measure: ask a model that answers, graded by judge or checklist"
    )


def _apart(outcome: Outcome, *, strict: bool) -> Iterator[tuple[_Place, str]]:
    for at, (good, trap) in enumerate(zip(outcome.good, outcome.trap, strict=False)):
        if good and " ".join(good.split()) == " ".join(trap.split()):
            yield ("trap", at), "the trap says the same as the known-good; write what goes wrong"
        if strict and (apart := unlike(Outcome((good,), (trap,)))):
            _, a, b = apart
            yield (
                ("trap", at),
                (f"the trap has {b} tokens and its known-good {a}; write lengths within 25 %"),
            )


def _checked(outcome: Outcome) -> Iterator[tuple[_Place, str]]:
    must, must_not = outcome.checks.must, outcome.checks.must_not
    for token in filter(None, (*must, *must_not)):
        if not words(token):
            yield ("checks", None), f"the token '{token}' has no word in it; write whole words"
    for token in filter(words, must):
        for at, text in enumerate(outcome.good):
            if text and not contains(text, token):
                yield ("good", at), f"the known-good lacks the token '{token}' that it must hold"
        for at, text in enumerate(outcome.trap):
            if contains(text, token):
                yield (
                    ("trap", at),
                    f"the trap holds the token '{token}' of `must`; write it without",
                )
    for token in filter(words, must_not):
        for at, text in enumerate(outcome.good):
            if contains(text, token):
                yield (
                    ("good", at),
                    f"the known-good holds the token '{token}' of `must_not`; write it without, "
                    "or take the token out of `must_not`",
                )
