"""Where a paragraph is cut: into sentences, and these into clauses or words.

Nothing is cut inside code, a link, an address, a number, a pair of brackets or quotes.
"""

from __future__ import annotations

import re
from itertools import pairwise

from corecurves.scripts import UNSEPARATED

__all__ = ["by_clause", "by_word", "flat", "mended", "sentences"]

_ALONE = (
    r"(?P<ticks>`+)(?!`)(?s:.+?)(?<!`)(?P=ticks)(?!`)"
    r"|!?\[(?:[^\[\]]|\[[^\[\]]*\])*\](?:\((?:[^()\s]|\([^()\s]*\)|\s+[\"'(])*\)|\[[^\[\]]*\])"
    r"|<[^<>\n]+>|\w+://\S+|\d+(?:[ \u00a0\u202f]\d{3})+(?!\w)"
    r"|(?P<mark>\*\*|__|(?<![*\w])\*)(?=[^\s*])[^*\n]+?(?P=mark)(?!\w)"
)
"""Code, a link, a tag, an address, a number in groups, what is emphasised: never cut."""
_SPAN = re.compile(
    _ALONE + r"|\([^()]*\)|\[[^\[\]]*\]|\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』|（[^（）]*）"
)
_WORDS_SPAN = re.compile(_ALONE)
_SENTENCE = re.compile(r"[.!?…][\"'”’)*_`]*(\s+)(?=\S)|[。！？][”’」』）]*(\s*)(?=\S)")
_JOINS = "because|so that|unless|except|although|which|when|if"
_CLAUSE = re.compile(rf"[,;:](\s+)|(\s+)(?=(?:but|{_JOINS})\s)|[，；：](\s*)(?=\S)")
_WORD = re.compile(r"(\s+)|[，。；、！？][”’」』）]*()(?=[^\s，。；、！？])")
_SUBORDINATE = re.compile(rf"(?:{_JOINS})\s|除非|因为|因為|以便|否则|否則")
_SHORT = re.compile(
    r"(?:^|[\s(\[])(?:e\.g|i\.e|cf|vs|al|dr|mrs?|ms|prof|st|inc|ltd|[a-z])\Z", re.IGNORECASE
)
_SHORT_NUMBER = re.compile(
    r"(?:^|[\s(\[])(?:approx|ca|figs?|eqs?|sec|ch|vol|pp?|nos?|min|max|ver?)\Z", re.IGNORECASE
)
_STOP = re.compile(r"[.!?…。！？।۔؟]+(?=[\"'”’)*_`」』）]*\Z)")
_LOOSE = " ,;:，；：、"
_WRAP = re.compile(rf"(?<={UNSEPARATED.pattern})[^\S\n]*\n\s*(?={UNSEPARATED.pattern})")
_LEAST_HEAD = 4
"""Words before a colon, at least, that may stand without what comes after it."""
_LEAST_CLAUSE = 4
"""Letters of a clause in a script without spaces, at least."""


def by_clause(sentence: str) -> list[tuple[int, int, int]]:
    """Clauses of a sentence: at commas, semicolons, conjunctions, and some colons.

    What follows a colon rests on what stands before it, and on its own first clause. Nothing is cut
    where a colon stands after fewer than four words, as in ``Port: 6112``, or where several stand
    before the next semicolon.

    Examples
    --------
    >>> text = "Use 7 jobs, because links are big, and wait for them."
    >>> [text[a:b] for a, b, _ in by_clause(text)]
    ['Use 7 jobs,', 'because links are big,', 'and wait for them.']
    """
    gaps = _gaps(_CLAUSE, sentence, _SPAN)
    heads: list[int] = []
    left: list[tuple[int, int]] = []
    stretch: list[tuple[int, int]] = []
    for gap in [*gaps, (len(sentence), len(sentence))]:
        stretch.append(gap)
        if sentence[gap[0] - 1 : gap[0]] in (";", "；") or gap[0] == len(sentence):
            good, colon = _safe(sentence, left[-1][1] if left else 0, stretch)
            left += good
            heads += colon
            stretch = []
    left = _joined(sentence, [gap for gap in left if gap[0] < len(sentence)])
    found: list[tuple[int, int, int]] = []
    head, after_colon = -1, False
    for (_, start), (end, _) in pairwise([(0, 0), *left, (len(sentence), 0)]):
        rests = len(found) - 1 if found and _SUBORDINATE.match(sentence[start:end]) else head
        # The first clause after a colon rests on what is before it, the others on that clause.
        if end in heads or after_colon:
            head = len(found)
        after_colon = end in heads
        if sentence[end - 1 : end] in (";", "；"):
            head = -1
        found.append((start, end, rests))
    return found


def by_word(sentence: str) -> list[tuple[int, int, int]]:
    """Words of a sentence; code, a link, an address, a number, ``key: value`` are one each.

    Examples
    --------
    >>> text = "Run `make  all` on port: 6112 (once)."
    >>> [text[a:b] for a, b, _ in by_word(text)]
    ['Run', '`make  all`', 'on', 'port: 6112', '(once).']
    """
    gaps = [gap for gap in _gaps(_WORD, sentence, _WORDS_SPAN) if not _is_pair(sentence, *gap)]
    ends = pairwise([(0, 0), *gaps, (len(sentence), 0)])
    return [(start, end, -1) for (_, start), (end, _) in ends]


def sentences(text: str) -> list[tuple[int, int]]:
    """Sentences of a paragraph; a short form such as *e.g.* ends none.

    Examples
    --------
    >>> text = "Use it, e.g. Port 9. 然后等待。结束。"
    >>> [text[a:b] for a, b in sentences(text)]
    ['Use it, e.g. Port 9.', '然后等待。', '结束。']
    """
    gaps = [(0, len(text) - len(text.lstrip()))]
    for start, end in _gaps(_SENTENCE, text, _SPAN):
        after, before = text[end:].lstrip("\"'“‘(`*_["), text[:start].rstrip(".")
        if start < end and (
            not after[:1].isalnum()
            or after[:1].islower()
            or _SHORT.search(before)
            or (after[:1].isdigit() and _SHORT_NUMBER.search(before))
        ):
            continue
        gaps.append((start, end))
    return [(a[1], b[0]) for a, b in pairwise([*gaps, (len(text.rstrip()), 0)])]


def _gaps(pattern: re.Pattern[str], text: str, whole: re.Pattern[str]) -> list[tuple[int, int]]:
    """Gaps of a pattern, its only groups, but for those inside what is never cut."""
    spans = [match.span() for match in whole.finditer(text)]
    gaps = [match.span(match.lastindex or 0) for match in pattern.finditer(text)]
    return [
        (start, end)
        for start, end in gaps
        if start > 0 and not any(a < start < b or a < end < b for a, b in spans)
    ]


def _safe(
    text: str, start: int, stretch: list[tuple[int, int]]
) -> tuple[list[tuple[int, int]], list[int]]:
    """Gaps of a stretch between semicolons at which no value comes to stand by another's name."""
    at = [i for i, gap in enumerate(stretch) if text[gap[0] - 1 : gap[0]] in (":", "：")]
    if not at:
        return stretch, []
    if len(at) > 1:
        return stretch[-1:], []
    begin = stretch[at[0] - 1][1] if at[0] else start
    if len(text[begin : stretch[at[0]][0]].split()) < _LEAST_HEAD:
        return [*stretch[: at[0]], stretch[-1]], []
    return stretch, [stretch[at[0]][0]]


def _is_pair(text: str, start: int, end: int) -> bool:
    """Whether a gap stands between a key and its value."""
    if text[start - 1] not in ":：":
        return False
    key = re.split(r"[.,;，；。]\s*", text[:start])[-1]
    return len(key.split()) < _LEAST_HEAD or not re.match(r"[^\W\d_]+(?!\S)", text[end:])


def _joined(text: str, gaps: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Gaps without those beside a clause of one word, which may be a mere value."""
    found: list[tuple[int, int]] = []
    for gap in gaps:
        part = text[found[-1][1] if found else 0 : gap[0]]
        if _is_clause(part):
            found.append(gap)
    while found and not _is_clause(text[found[-1][1] :]):
        found.pop()
    return found


def _is_clause(part: str) -> bool:
    return len(part.split()) > 1 or len(UNSEPARATED.findall(part)) >= _LEAST_CLAUSE


def flat(text: str) -> str:
    r"""Text in one line; a script without spaces gets none for a line break.

    Examples
    --------
    >>> flat("One\nline."), flat("一\n行。")
    ('One line.', '一行。')
    """
    return re.sub(r"[^\S\n]*\n\s*", " ", _WRAP.sub("", text))


def mended(part: str, whole: str, *, begins: bool, ends: bool) -> str:
    """Sentence that lost something, with the capital and the stop that it had.

    Examples
    --------
    >>> mended("because it is on,", "Use it, because it is on, or wait.", begins=False, ends=False)
    'Because it is on.'
    """
    if not ends:
        stop = _STOP.search(whole)
        part = part.rstrip(_LOOSE) + (stop[0] if stop else "")
    if not begins and whole.lstrip("\"'“‘(*_")[:1].isupper():
        # A name keeps its case: only a word in plain letters begins with a capital.
        first, _, rest = part.partition(" ")
        bare = first.rstrip(",;:.!?")
        if bare.isalpha() and bare.islower() and rest[:1] not in ("=", ":", "<", ">"):
            part = part[:1].upper() + part[1:]
    return part
