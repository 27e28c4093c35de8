"""Scripts that do not write their words apart, as ranges of characters, and what stands for words.

Nothing here knows a dictionary: for retrieval a run is the pairs of its characters, as is usual for
Chinese, Japanese and Korean, and groups of four in Thai, Lao, Khmer and Burmese, which are
alphabets. For shuffling and cutting it is pieces of about a word's length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = [
    "ALPHABETIC",
    "HANGUL",
    "KATAKANA",
    "UNSEPARATED",
    "UNSPACED",
    "grams",
    "joined",
    "pieces",
]

KATAKANA = "\u30a1-\u30ff\u31f0-\u31ff"
HANGUL = "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"
ALPHABETIC = (
    "\u0e01-\u0e4f\u0e81-\u0ecf\u0edc-\u0edf\u1000-\u103f\u1050-\u109f\u1780-\u17d3\u17d7\u17dc\u17dd"
    "\u1950-\u19c9\u1a20-\u1a7c\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaadf"
)
"""Thai, Lao, Burmese, Khmer, Tai Le, New Tai Lue, Tai Tham, Tai Viet; their digits are digits."""
_HIRAGANA = "\u3041-\u309f"
_HAN = (
    "\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3100-\u312f\u31a0-\u31bf"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_WHOLE = f"{_HAN}{_HIRAGANA}{KATAKANA}{ALPHABETIC}"
UNSPACED = f"{_WHOLE}{HANGUL}"
"""All of them; Korean puts spaces, but its particles stick to its nouns."""
_RUN = re.compile(f"[{UNSPACED}]")

_ENDING = re.compile(
    f"[{_HIRAGANA}]+|[\ub2c8\uc2b5\uc785\ud569\ub429\uc138\uc2ed\uc2dc][\ub2e4\ub2c8\uc694\uc2dc\uc624]|\uc5d0\uc11c|\uc73c\ub85c"
)
"""What says nothing: hiragana alone, and Korean endings such as ``-ㅂ니다``."""
_PARTICLE = re.compile(
    f"(?<=[{HANGUL}])[\uc740\ub294\uc774\uac00\uc744\ub97c\uc758\uc5d0\ub3c4\ub85c\uc640\uacfc\ub9cc]$"
)
UNSEPARATED = re.compile(f"[{_WHOLE}\u3001-\u303f\uff01-\uff0f\uff1a-\uff1f]")
"""A sign that no space stands beside."""
_PIECE = re.compile(
    rf"(?:[{_HAN}]{{1,4}}[{_HIRAGANA}]*|[{_HIRAGANA}]+|[{KATAKANA}]+|[{ALPHABETIC}]{{1,4}}|[^{_WHOLE}]+)"
    rf"(?:[^\w\s]+(?![^{_WHOLE}\W]))?"
)


def grams(run: str) -> list[str]:
    """What stands for the words of a run, where a script does not write them apart.

    Examples
    --------
    >>> grams("courage"), grams("勇気の決意です"), grams("용기는")
    (['courage'], ['勇気', '気の', 'の決', '決意', '意で'], ['용기'])
    """
    if not _RUN.match(run):
        return [run]
    run = _PARTICLE.sub("", run)
    size = 4 if re.match(f"[{ALPHABETIC}]", run) else 2
    found = [run[i : i + size] for i in range(max(1, len(run) - size + 1))]
    return [gram for gram in found if not _ENDING.fullmatch(gram)]


def pieces(text: str) -> list[str]:
    """Words of a text with what stands at them, for shuffling and cutting.

    Examples
    --------
    >>> pieces("Wear gloves, always."), pieces("勇気は決意です。")
    (['Wear', 'gloves,', 'always.'], ['勇気は', '決意です。'])
    """
    found: list[str] = []
    for chunk in text.split():
        found += _PIECE.findall(chunk) if UNSEPARATED.search(chunk) else [chunk]
    return found


def joined(parts: Sequence[str]) -> str:
    """Pieces as a text again: with spaces between them where their script has spaces.

    Examples
    --------
    >>> joined(["always.", "gloves,"]), joined(["決意です。", "勇気は"])
    ('always. gloves,', '決意です。勇気は')
    """
    text = ""
    for part in parts:
        close = not text or UNSEPARATED.match(text[-1]) or UNSEPARATED.match(part)
        text += part if close else f" {part}"
    return text
