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
from corecurves.compress.cuts import flat, mended, sentences
from corecurves.scripts import UNSEPARATED

__all__ = ["Note", "Unit"]

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
            whole = sentences(text)
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
        """Units that are left when some are dropped, and what rests on them."""
        lost = set(gone)
        left = []
        for number in sorted(kept):
            if self.units[number].rests in lost:
                lost.add(number)
            if number not in lost:
                left.append(number)
        return left

    def closed(self, kept: Iterable[int]) -> list[int]:
        """Units that stand in the text of some: with their headings, heads and leading lines."""
        chosen = {number for number in kept if not self.units[number].opens}
        over = {n for number in chosen for n in self.blocks[self.units[number].block].under}
        return sorted(
            chosen | {n for n, unit in enumerate(self.units) if unit.opens and unit.block in over}
        )

    def beginnings(self) -> list[str]:
        """Text up to the end of each unit."""
        lines, found = lines_of(self.source), []
        for unit in self.units:
            before = "\n".join([*lines[: self.blocks[unit.block].start], ""])
            found.append(before + self._texts[unit.block][: unit.start + len(unit.text)])
        return found

    def text(self, kept: Iterable[int], *, mend: bool = True) -> str:
        """Text of units."""
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
        """Text of what is dropped."""
        stays = set(self.closed(kept))
        return [unit.text for n, unit in enumerate(self.units) if n not in stays]

    def gone_runs(self, kept: Iterable[int]) -> list[str]:
        """Text of what is dropped, with what stood together in a paragraph as one."""
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
            part = flat(self.units[numbers[0]].text)
            for a, b in pairwise(numbers):
                part += self._gap(a, b) + flat(self.units[b].text)
            if mend and numbers != mates:
                first, last = self.units[mates[0]], self.units[mates[-1]]
                whole = self._texts[last.block][first.start : last.start + len(last.text)]
                part = mended(
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
        return " " if any(re.search(r"\s", flat(gap)) for gap in around) else ""

    def _between(self, before: int, number: int) -> str:
        """Line break between two blocks: an empty line where the source has one, or more went."""
        a, b = self.blocks[before], self.blocks[number]
        tight = all(x.end == y.start for x, y in pairwise(self.blocks[before : number + 1]))
        return "\n" if tight and (number == before + 1 or a.group == b.group) else "\n\n"
