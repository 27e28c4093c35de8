"""What came of a compression: levels made, and every try."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corecurves.errors import UsageError
from corecurves.specs import SIMULATED, Dropped, Level, Store
from corecurves.text import count_tokens

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CompressedStore", "Compression", "Try", "table_compressions"]


@dataclass(frozen=True)
class Try:
    """One draft, and what became of it.

    Parameters
    ----------
    depth, attempt : int
        Level that it was for, and the number of the try, from 1.
    text : str
        The draft; empty where the compressor gave none.
    tokens, budget : int
        Its o200k tokens, and how many it might have.
    dropped : tuple of Dropped
        What it declared.
    refusal : str
        Why it was refused; empty where it was accepted.
    failing : tuple of str
        Ids of the train episodes that passed with L0 and not with the draft.
    calls : int
        Calls of the model that replays and of the one that compresses.
    seconds : float
        What it took.
    """

    depth: int
    attempt: int
    text: str
    tokens: int
    budget: int
    dropped: tuple[Dropped, ...]
    refusal: str
    failing: tuple[str, ...]
    calls: int
    seconds: float

    @property
    def accepted(self) -> bool:
        """Whether a level was made of it."""
        return not self.refusal


@dataclass(frozen=True, repr=False)
class Compression:
    """Levels that were made of a lesson, and every try.

    Parameters
    ----------
    lesson : str
        Id of the lesson.
    compressor, model, grader : str
        Who compressed, who replayed, and who graded.
    full : str
        Text of L0.
    levels : tuple of Level
        Those that were accepted, from L1 on.
    tries : tuple of Try
        Every draft, in order.
    refusal : str
        Why there is no further level, where one was asked for; empty where there is.
    train, not_demanded : tuple of str
        Ids of the train episodes, which the compressor was shown, and of those among them that L0
        itself fails: these are not demanded of a draft.
    calls : int
        Model calls in all, those with L0 among them.
    simulated : bool
        Whether the model is a labelled simulation.
    """

    lesson: str
    compressor: str
    model: str
    grader: str
    full: str
    levels: tuple[Level, ...] = ()
    tries: tuple[Try, ...] = ()
    refusal: str = ""
    train: tuple[str, ...] = ()
    not_demanded: tuple[str, ...] = ()
    calls: int = 0
    simulated: bool = False

    def __repr__(self) -> str:
        tokens = [count_tokens(self.full), *(count_tokens(level.text) for level in self.levels)]
        steps = [f"L0 {tokens[0]} tokens"]
        for level, before, own in zip(self.levels, tokens, tokens[1:], strict=False):
            count = sum(x.depth == level.depth for x in self.tries)
            steps.append(f"{level.name} {own} ({own / before:.0%}, try {count})")
        if self.refusal:
            steps.append(f"no L{len(self.levels) + 1}: {self.refusal}")
        who = f"{self.compressor}, replayed by {self.model}, graded by {self.grader}"
        lines = [
            f"Compression of {self.lesson} by {who}" + (", SIMULATED" if self.simulated else ""),
            f"  {'; '.join(steps)}",
            f"  train episodes: {len(self.train)}, of them not demanded, for L0 fails them: "
            f"{len(self.not_demanded)}; calls: {self.calls}",
        ]
        return "\n".join(lines)


@dataclass(frozen=True, repr=False)
class CompressedStore:
    """A store whose lessons have new levels, and how each came about.

    Parameters
    ----------
    store : Store
        The lessons that were compressed have their L0 and the levels that were accepted; the others
        are as they were.
    compressions : tuple of Compression
        One a lesson that was compressed.
    path : str
        Folder of the copy; empty where none was written.
    """

    store: Store
    compressions: tuple[Compression, ...]
    path: str = ""

    @property
    def without(self) -> tuple[str, ...]:
        """Ids of the lessons that got no level."""
        return tuple(one.lesson for one in self.compressions if not one.levels)

    def __repr__(self) -> str:
        made = sum(bool(one.levels) for one in self.compressions)
        calls = sum(one.calls for one in self.compressions)
        lines = [
            f"CompressedStore({self.store.name!r}: {made} of {len(self.compressions)} lessons have "
            f"a new level, {calls} calls)"
        ]
        if any(one.simulated for one in self.compressions):
            lines.append(f"  {SIMULATED}")
        if self.without:
            lines.append(f"  L0 alone: {', '.join(self.without)}")
        if self.path:
            lines.append(f"  copy: {self.path}")
        return "\n".join(lines)


def table_compressions(compressions: Iterable[Compression]) -> pd.DataFrame:
    """Table of compressions, one row a level that was tried.

    Parameters
    ----------
    compressions : iterable of Compression
        From `compress_lesson`, or those of a `CompressedStore`.

    Returns
    -------
    DataFrame
        Indexed by ``lesson`` and ``level``: ``compressor``, ``tokens`` and their ``share`` of the
        level before (dashes where nothing was accepted), ``tries``, ``calls``, ``outcome`` and the
        claims ``dropped``. A lesson without any try has one row that says why.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> found = cc.compress_lesson(store, "link-jobs-seven", model="simulated", progress=False)
    >>> cc.table_compressions([found]).index.names
    FrozenList(['lesson', 'level'])
    """
    import pandas as pd

    if not isinstance(compressions, Iterable) or isinstance(compressions, str):
        raise UsageError(
            f"`compressions` is a {type(compressions).__name__}; give those of compress_lesson in "
            "a list, or `.compressions` of a CompressedStore"
        )
    rows = [row for one in compressions for row in _rows(one)]
    columns = ["lesson", "level", "compressor", "tokens", "share", "tries", "calls", "outcome",
               "dropped"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns).set_index(["lesson", "level"])


def _rows(one: Compression) -> Iterable[list[object]]:
    before = count_tokens(one.full)
    made = {level.depth: level for level in one.levels}
    for depth in sorted({x.depth for x in one.tries} | ({1} if not one.tries else set())):
        tries = [x for x in one.tries if x.depth == depth]
        calls = sum(x.calls for x in tries)
        level = made.get(depth)
        head = [one.lesson, f"L{depth}", one.compressor]
        if level is None:
            yield [*head, "–", "–", len(tries), calls, f"refused: {one.refusal}", ""]
            continue
        tokens = count_tokens(level.text)
        claims = "; ".join(f"{claim.kind or 'claim'}: {claim.claim}" for claim in level.dropped)
        yield [*head, tokens, f"{tokens / before:.0%}", len(tries), calls, "accepted", claims]
        before = tokens
