"""A lesson parted into units, each of which a compressor keeps or drops whole.

A paragraph is parted into its sentences, and these into clauses or words; any other block is one
unit, with its line breaks. What is kept is put together in one way: a block of which nothing is
gone stands as in the source; a paragraph that lost something is one line of its sentences. Words
change in one case alone, a sentence that lost its beginning or its end: it begins with a capital
where it did before, and ends with the stop that it had, if it had one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

from corecurves.blocks import Block, blocks, lines_of, pair_of
from corecurves.scripts import UNSEPARATED

__all__ = ["Note", "Unit", "by_clause", "by_word"]

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
_SUBORDINATE = re.compile(rf"(?:{_JOINS})\s")
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

Cut = Callable[[str], "list[tuple[int, int, int]]"]
"""From a sentence to its units: beginning, end, and the unit that it rests on, or -1."""


@dataclass(frozen=True)
class Unit:
    """What is kept or dropped whole.

    Parameters
    ----------
    text : str
        As it stands in the source.
    block : int
        Number of its block.
    start : int
        Where it begins in the block.
    sentence : int
        Number of its sentence in the block; -1 for a block that is no paragraph.
    rests : int
        Number of the unit that it means nothing without; -1 where there is none.
    opens : bool
        Whether it is kept only, and always, with something that is under it.
    """

    text: str
    block: int
    start: int = 0
    sentence: int = -1
    rests: int = -1
    opens: bool = False


@dataclass(frozen=True)
class Note:
    """A text and its units.

    Parameters
    ----------
    source : str
        The text.
    cut : callable
        How a sentence is parted: `by_clause` or `by_word`.
    """

    source: str
    cut: Cut

    @cached_property
    def blocks(self) -> list[Block]:
        """Blocks of the text."""
        return blocks(self.source)

    @cached_property
    def _texts(self) -> list[str]:
        lines = lines_of(self.source)
        return ["\n".join(lines[block.start : block.end]) for block in self.blocks]

    @cached_property
    def units(self) -> list[Unit]:
        """Units in their order."""
        found: list[Unit] = []
        for number, (block, text) in enumerate(zip(self.blocks, self._texts, strict=True)):
            if block.kind != "prose":
                found.append(Unit(text, number, opens=block.opens))
                continue
            whole = _sentences(text)
            # After `Note: …` the whole paragraph is a note: nothing of it stands without that.
            label = len(found) if pair_of(text.split("\n")[0]) else -1
            for count, (start, end) in enumerate(whole):
                leads = block.opens and count == len(whole) - 1
                parts = [(0, end - start, -1)] if leads else self.cut(text[start:end])
                first = len(found)
                found += [
                    Unit(
                        text[start + a : start + b], number, start + a, count,
                        first + rests if rests >= 0 else label if first > label else -1, leads,
                    )
                    for a, b, rests in parts
                ]  # fmt: skip
        return found

    @cached_property
    def _sentences(self) -> dict[tuple[int, int], list[int]]:
        found: dict[tuple[int, int], list[int]] = {}
        for number, unit in enumerate(self.units):
            found.setdefault((unit.block, unit.sentence), []).append(number)
        return found

    @property
    def free(self) -> list[int]:
        """Numbers of the units that may be chosen; the others go with them."""
        return [number for number, unit in enumerate(self.units) if not unit.opens]

    def without(self, kept: Iterable[int], gone: Iterable[int]) -> list[int]:
        """Units that are left when some are dropped, and what rests on them.

        Parameters
        ----------
        kept, gone : iterable of int
            Numbers of units.

        Returns
        -------
        list of int
            Numbers in order.
        """
        lost = set(gone)
        left = []
        for number in sorted(kept):
            if self.units[number].rests in lost:
                lost.add(number)
            if number not in lost:
                left.append(number)
        return left

    def closed(self, kept: Iterable[int]) -> list[int]:
        """Units that stand in the text of some: with their headings, heads and leading lines.

        Parameters
        ----------
        kept : iterable of int
            Numbers of free units.

        Returns
        -------
        list of int
            Numbers in order.
        """
        chosen = {number for number in kept if not self.units[number].opens}
        over = {n for number in chosen for n in self.blocks[self.units[number].block].under}
        return sorted(
            chosen | {n for n, unit in enumerate(self.units) if unit.opens and unit.block in over}
        )

    def beginnings(self) -> list[str]:
        """Text up to the end of each unit.

        Returns
        -------
        list of str
            One a unit.
        """
        lines, found = lines_of(self.source), []
        for unit in self.units:
            before = "\n".join([*lines[: self.blocks[unit.block].start], ""])
            found.append(before + self._texts[unit.block][: unit.start + len(unit.text)])
        return found

    def text(self, kept: Iterable[int], *, mend: bool = True) -> str:
        """Text of units.

        Parameters
        ----------
        kept : iterable of int
            Numbers of free units.
        mend : bool
            Whether a sentence that lost its beginning or end gets its capital and stop again.

        Returns
        -------
        str
            What is kept, in its order.
        """
        units = self.units
        sizes = Counter(unit.block for unit in units)
        found, before = "", -1
        for number, inner in groupby(self.closed(kept), lambda n: units[n].block):
            numbers = list(inner)
            whole = len(numbers) == sizes[number]
            part = self._texts[number] if whole else self._prose(numbers, mend=mend)
            found += (self._between(before, number) if found else "") + part
            before = number
        return found

    def gone(self, kept: Iterable[int]) -> list[str]:
        """Text of what is dropped.

        Parameters
        ----------
        kept : iterable of int
            Numbers of free units that are kept.

        Returns
        -------
        list of str
            In order.
        """
        stays = set(self.closed(kept))
        return [unit.text for n, unit in enumerate(self.units) if n not in stays]

    def gone_runs(self, kept: Iterable[int]) -> list[str]:
        """Text of what is dropped, with what stood together in a paragraph as one.

        Parameters
        ----------
        kept : iterable of int
            Numbers of free units that are kept.

        Returns
        -------
        list of str
            In order.
        """
        stays, last = set(self.closed(kept)), -2
        found: list[str] = []
        for n, unit in enumerate(self.units):
            if n in stays:
                continue
            if last == n - 1 and unit.block == self.units[last].block:
                found[-1] += self._gap(last, n) + unit.text
            else:
                found.append(unit.text)
            last = n
        return found

    def _prose(self, kept: list[int], *, mend: bool) -> str:
        """A paragraph that lost something."""
        found, before = "", -1
        for key, inner in groupby(kept, lambda n: (self.units[n].block, self.units[n].sentence)):
            numbers, mates = list(inner), self._sentences[key]
            part = _flat(self.units[numbers[0]].text)
            for a, b in pairwise(numbers):
                part += self._gap(a, b) + _flat(self.units[b].text)
            if mend and numbers != mates:
                first, last = self.units[mates[0]], self.units[mates[-1]]
                whole = self._texts[last.block][first.start : last.start + len(last.text)]
                part = _mended(
                    part, whole, begins=numbers[0] == mates[0], ends=numbers[-1] == mates[-1]
                )
            found += (self._gap(before, numbers[0]) if found else "") + part
            before = numbers[-1]
        return found

    def _gap(self, before: int, number: int) -> str:
        """What stands between two units of a paragraph when those between them are gone."""
        units, text = self.units, self._texts[self.units[number].block]
        ends = [unit.start + len(unit.text) for unit in units[before:number]]
        starts = [unit.start for unit in units[before + 1 : number + 1]]
        around = (text[end - 1 : start + 1] for end, start in zip(ends, starts, strict=True))
        edges = units[before].text[-1:] + units[number].text[:1]
        if number > before + 1 and re.fullmatch(f"(?:{UNSEPARATED.pattern}){{2}}", edges):
            return ""
        return " " if any(re.search(r"\s", _flat(gap)) for gap in around) else ""

    def _between(self, before: int, number: int) -> str:
        """Line break between two blocks: an empty line where the source has one, or more went."""
        a, b = self.blocks[before], self.blocks[number]
        tight = all(x.end == y.start for x, y in pairwise(self.blocks[before : number + 1]))
        return "\n" if tight and (number == before + 1 or a.group == b.group) else "\n\n"


def by_clause(sentence: str) -> list[tuple[int, int, int]]:
    """Clauses of a sentence: at commas, semicolons, conjunctions, and some colons.

    What follows a colon rests on what stands before it, and on its own first clause. Nothing is cut
    where a colon stands after fewer than four words, as in ``Port: 6112``, or where several stand
    before the next semicolon.

    Parameters
    ----------
    sentence : str
        The sentence.

    Returns
    -------
    list of tuple of int
        Beginning, end, and number of the clause that it rests on, or -1.

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

    Parameters
    ----------
    sentence : str
        The sentence.

    Returns
    -------
    list of tuple of int
        Beginning, end, and -1. In a script without spaces, what stands between its stops and
        commas.

    Examples
    --------
    >>> text = "Run `make  all` on port: 6112 (once)."
    >>> [text[a:b] for a, b, _ in by_word(text)]
    ['Run', '`make  all`', 'on', 'port: 6112', '(once).']
    """
    gaps = [gap for gap in _gaps(_WORD, sentence, _WORDS_SPAN) if not _is_pair(sentence, *gap)]
    ends = pairwise([(0, 0), *gaps, (len(sentence), 0)])
    return [(start, end, -1) for (_, start), (end, _) in ends]


def _sentences(text: str) -> list[tuple[int, int]]:
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


def _flat(text: str) -> str:
    return re.sub(r"[^\S\n]*\n\s*", " ", _WRAP.sub("", text))


def _mended(part: str, whole: str, *, begins: bool, ends: bool) -> str:
    """A sentence with the capital and the stop that it had."""
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
