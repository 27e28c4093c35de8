"""What is known of a run: results, rungs tried, rankings, and what is to be asked next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from corecurves.descent.ranking import Standing
from corecurves.descent.trails import Rung
from corecurves.replay.work import Prompt
from corecurves.selectors.work import Ask

__all__ = ["Opened", "Ranking", "Result", "Tried"]


@dataclass(frozen=True)
class Result:
    """What is known of one replay or judgement.

    Parameters
    ----------
    status : str
        How it ended.
    values : mapping of str to JSON
        The candidate's values, overridden by those of its grade.
    """

    status: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool | None:
        """None where it was not judged."""
        found = self.values.get("passed")
        return None if self.status != "ok" or found is None else bool(found)


@dataclass(frozen=True)
class Tried:
    """A rung that was tried.

    Parameters
    ----------
    rung : Rung
        What was served.
    key : str
        Key of the replay.
    result : Result
        How it ended.
    """

    rung: Rung
    key: str
    result: Result


@dataclass(frozen=True)
class Ranking:
    """Claims of a case in order, or why there is no order.

    Parameters
    ----------
    standings : tuple of Standing
        The most promising first.
    status, reason : str
        ``ok``; or how the judge's call ended.
    values : mapping of str to float
        What the judge took, in its own tokens.
    """

    standings: tuple[Standing, ...]
    status: str = "ok"
    reason: str = ""
    values: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Opened:
    """What must be asked next.

    Parameters
    ----------
    prompts : dict of str to Prompt
        Replays by key.
    tasks : dict of str to str
        Their tasks.
    asks : dict of str to Ask
        Judgements by key, those of one case together.
    """

    prompts: dict[str, Prompt] = field(default_factory=dict)
    tasks: dict[str, str] = field(default_factory=dict)
    asks: dict[str, Ask] = field(default_factory=dict)

    def any(self) -> bool:
        """Whether there is anything."""
        return bool(self.prompts or self.asks)

    def add(self, other: Opened) -> None:
        """Take over what another has."""
        self.prompts.update(other.prompts)
        self.tasks.update(other.tasks)
        self.asks.update(other.asks)
