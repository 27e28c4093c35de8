"""Arms of the rose evaluation: which text is served in each.

``control`` serves nothing, ``ceiling`` the full lesson L0, ``treatment`` the lesson at a level.
Three arms serve another text of this level's length: ``placebo`` a lesson of another family (does
any text help?), ``scrambled`` the level's own words in random order (is it the lesson, or only its
words?), ``truncation`` the first words of L0 (is the compressor better than scissors?).
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from corecurves.canonical import digest, stable_seed
from corecurves.errors import UsageError
from corecurves.files.curricula import load_filler
from corecurves.scripts import joined, pieces
from corecurves.specs import Lesson, Level
from corecurves.text import count_tokens

__all__ = ["ROSE_ARMS", "fit", "served_text", "within_length"]

ROSE_ARMS = ("control", "ceiling", "treatment", "placebo", "scrambled", "truncation")
_TRIES = 40
_STARTS = 60


def within_length(text: str, tokens: int) -> bool:
    """Whether a text has a number of tokens, give or take 10 %, and at least 1."""
    return abs(count_tokens(text) - tokens) <= max(1.0, 0.1 * tokens)


def fit(texts: Sequence[str], tokens: int, *, shift: bool = True) -> str:
    """Texts joined and cut at word boundaries to a number of tokens; their line breaks stay.

    Examples
    --------
    >>> fit(["One two three four five.", "Six seven."], 6)
    'One two three four five.'
    """
    words = _words(texts)
    for start in range(min(_STARTS, len(words)) if shift else 1):
        nearest = _prefix(words[start:], tokens)
        if within_length(nearest, tokens):
            return nearest
    raise UsageError(f"no text of {tokens} tokens can be cut from {len(words)} words")


def _words(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Words of texts, each with the space before it where that is more than one blank."""
    apart = "\n\n" if any("\n" in text for text in texts) else ""
    found: list[tuple[str, str]] = []
    for text in texts:
        before = apart
        for match in re.finditer(r"(\s*)(\S+)", text):
            first, *others = pieces(match[2])
            space = match[1] if match.start() else before
            found.append(("" if space == " " else space, first))
            found += [("", other) for other in others]
    return found


def _text(words: Sequence[tuple[str, str]]) -> str:
    text = ""
    for space, word in words:
        text = f"{text}{space}{word}" if space and text else joined([text, word])
    return text


def _prefix(words: Sequence[tuple[str, str]], tokens: int) -> str:
    """First words whose length is nearest to a number of tokens."""
    low, high = 0, len(words)
    while low < high:
        middle = (low + high) // 2
        if count_tokens(_text(words[:middle])) < tokens:
            low = middle + 1
        else:
            high = middle
    return min(
        (_text(words[:n]) for n in {max(1, low - 1), low}),
        key=lambda text: (abs(count_tokens(text) - tokens), len(text)),
    )


def served_text(
    arm: str, lesson: Lesson, level: Level, donors: Sequence[Lesson], seed: int
) -> str | None:
    """Text that an arm serves."""
    if arm == "control":
        return None
    if arm in ("ceiling", "treatment"):
        return level.text
    tokens = count_tokens(level.text)
    if arm == "scrambled":
        return _scrambled(lesson, level, tokens, seed)
    full = lesson.level(0)
    if arm == "truncation" and full is not None:
        return _truncated(full.text, tokens)
    others = [other for other in donors if other.id != lesson.id]
    strange = [other for other in others if other.family != lesson.family] or others
    strange.sort(key=lambda other: digest(["placebo", lesson.id, other.id]))
    texts = [other.levels[0].text for other in strange]
    return fit(texts if _enough(texts, tokens) else [*texts, *_filler(tokens)], tokens)


def _enough(texts: Sequence[str], tokens: int) -> bool:
    whole = " ".join(texts)
    return within_length(whole, tokens) or count_tokens(whole) > tokens


def _filler(tokens: int) -> list[str]:
    """Neutral sentences of at least so many tokens, again from the first where they run out."""
    sentences = [correction.text for correction in load_filler()]
    return sentences * (1 + tokens // count_tokens(" ".join(sentences)))


def _truncated(text: str, tokens: int) -> str:
    """First words of a text; inside a word only where one has more tokens than may be missed."""
    try:
        return fit([text], tokens, shift=False)
    except UsageError:
        ends = range(1, len(text) + 1)
        return next(text[:end] for end in ends if count_tokens(text[:end]) >= tokens)


def _scrambled(lesson: Lesson, level: Level, tokens: int, seed: int) -> str:
    """The level's words in random order: the first order whose length is near enough.

    Line breaks stay where they are, so that words alone are what is in disorder.
    """
    spaces, words = zip(*_words([level.text]), strict=True)
    for attempt in range(_TRIES):
        order = list(words)
        random.Random(stable_seed("scrambled", lesson.id, level.depth, seed, attempt)).shuffle(
            order
        )
        found = _text(list(zip(spaces, order, strict=True)))
        if tuple(order) != words and within_length(found, tokens):
            return found
    if len(set(words)) > 1:
        raise UsageError(f"no order of the words of '{lesson.id}' {level.name} has its length")
    return level.text
