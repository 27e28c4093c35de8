"""What a draft dropped, where nobody declares it: spans of the level before, each with a kind."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from corecurves.scripts import grams
from corecurves.specs import Dropped
from corecurves.text import words

__all__ = ["NEGATIONS", "UNSPACED_NEGATIONS", "claims_of", "derived_claims", "kind_of", "telling"]

_RULES = (
    ("example", r"(?i:\b(?:e\.g\.|for example|for instance|such as))"),
    ("rationale", r"(?i:\b(?:because|so that|since|therefore|otherwise|reasons?)\b)"),
    ("edge-case", r"(?i:\b(?:except|unless|even if|only if|other than|without)\b)"),
    ("precondition", r"(?i:\b(?:if|when|whenever|once|before|after|as long as)\b)"),
    (
        "parameter",
        r"\d|[\"`'][^\"`']+[\"`']|\w[_=/]\w|\b[A-Z]{2,}\b"
        r"|(?i:\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half)\b)",
    ),
)
"""Kind of a span: that of the first pattern in it; none is claimed where there is none."""
_KINDS = [(kind, re.compile(pattern)) for kind, pattern in _RULES]
_COMMAS = " ,;:，；：、"
_PLAIN = re.compile(r"[\s.,;:!?…–—\-*_=|#>\"'()，。；：、！？]*")
"""Signs that say nothing alone."""
_FUNCTION_WORDS = frozenset(
    words(
        """
        a about all also an and any are as at be been but by can could did do does each for from
        had has have he her his i in into is it its may might more most must my of on or our
        out over own shall she should so some than that the their them then there these they
        this those to too under up us very was we were what which while who will with would you your
        """
    )
)

NEGATIONS = frozenset(
    words(
        "no not never nor none neither without except unless only cannot can't don't doesn't "
        "didn't won't isn't aren't wasn't weren't shouldn't mustn't couldn't wouldn't needn't "
        "haven't hasn't hadn't"
    )
)
"""Words without which a text says something else."""
UNSPACED_NEGATIONS = re.compile("[不别別勿没沒未无無非禁]|否则|否則|ない|ません|ぬ|ずに|だけ|しか")
"""The same in Chinese and Japanese, where words do not stand apart."""


def telling(text: str) -> frozenset[str]:
    """Words of a text that tell it from others.

    Examples
    --------
    >>> sorted(telling("Set the port to 6112."))
    ['6112', 'port', 'set']
    """
    return frozenset(part for word in words(text) for part in grams(word)) - _FUNCTION_WORDS


def kind_of(span: str) -> str:
    """Kind of a dropped span by a plain rule; empty where the rule does not tell.

    Examples
    --------
    >>> kind_of("because the sidecar owns it"), kind_of("on port 6112"), kind_of("rinse it")
    ('rationale', 'parameter', '')
    """
    return next((kind for kind, pattern in _KINDS if pattern.search(span)), "")


def claims_of(spans: Iterable[str], holder: str) -> tuple[Dropped, ...]:
    r"""Claims that spans stand for.

    Examples
    --------
    >>> claims_of(["of the", ", on port 6112"], "L0")
    (Dropped(claim='on port 6112', kind='parameter', holder='L0'),)
    """
    found = [_bare(" ".join(span.split())) for span in spans]
    told = [x for x in found if telling(x) or (not words(x) and not _PLAIN.fullmatch(x))]
    told = told or [" … ".join(filter(None, found))]
    return tuple(Dropped(span, kind_of(span), holder) for span in dict.fromkeys(told) if span)


def _bare(span: str) -> str:
    """A span without the commas and stops around it, which are the sentence's."""
    return span.lstrip(_COMMAS).rstrip(f"{_COMMAS}.。") if words(span) else span


def derived_claims(before: str, text: str, holder: str) -> tuple[Dropped, ...]:
    """Claims that a text dropped, by comparing its words with those of the level before.

    Examples
    --------
    >>> derived_claims("Wear gloves, because acid burns.", "Wear gloves.", "L0")
    (Dropped(claim='because acid burns', kind='rationale', holder='L0'),)
    """
    old, new = before.split(), text.split()
    bare = [[word.strip(".,;:").casefold() for word in side] for side in (old, new)]
    matcher = SequenceMatcher(a=bare[0], b=bare[1], autojunk=False)
    gone = [" ".join(old[a:b]) for tag, a, b, _, _ in matcher.get_opcodes() if tag != "equal"]
    return claims_of(filter(None, gone), holder)
