"""What becomes of a cell that raised, and what is said of those without a result."""

from __future__ import annotations

import asyncio
import operator
import re
import warnings
from collections.abc import Sequence

import numpy as np

from corecurves.engine.ledger import Ledger, Record
from corecurves.engine.plan import Plan
from corecurves.engine.sink import StoppedError
from corecurves.errors import CellFailure, CorecurvesError, PermanentFailure
from corecurves.redact import Redactor
from corecurves.schema import STATUSES

__all__ = ["FirstCells", "failure", "reraise_if_stopping", "warn_of_failures"]

_FIRST = 10
_stopped: list[tuple[str, tuple[object, ...]]] = []
"""Plans that were stopped in this process: the same call once more is the answer to run on.

Two functions may share a name, and so a hash: the objects themselves are held beside it."""


def failure(error: BaseException) -> tuple[str, str]:
    """Status and reason of a cell that raised.

    Examples
    --------
    >>> failure(ValueError("no answer"))
    ('call_failed', 'ValueError: no answer')
    """
    hide = Redactor().text
    if isinstance(error, CellFailure) and error.status in STATUSES:
        return error.status, hide(str(error))
    return "call_failed", hide(f"{type(error).__name__}: {error}")


def reraise_if_stopping(error: BaseException) -> None:
    """Raise an error again where it stops the run instead of failing one cell."""
    ours = isinstance(error, CorecurvesError) and not isinstance(error, CellFailure)
    if ours or isinstance(error, (StoppedError, KeyboardInterrupt, GeneratorExit)):
        raise error
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise error


def warn_of_failures(failed: Sequence[Record], plan: Plan) -> None:
    """Warn, in one line, of the cells of a plan that have no result."""
    if not failed:
        return
    place = dict(zip(plan.keys, range(len(plan)), strict=True))
    failed = sorted((r for r in failed if r.key in place), key=lambda record: place[record.key])
    if not failed:
        return
    statuses = [record.status for record in failed]
    named = ", ".join(f"{status} {statuses.count(status)}" for status in sorted(set(statuses)))
    warnings.warn(
        f"{len(failed)} of {len(plan)} cells have no result ({named}); "
        f"the first: {failed[0].values.get('reason', '')}",
        stacklevel=4,
    )


class FirstCells:
    """The first cells of a run, which stop it where all of them fail alike.

    Parameters
    ----------
    plan : Plan
        The plan.
    missing : sequence of bool
        Per cell whether it is still to be run.
    ledger : Ledger
        What failed in an earlier run: who calls again has been told, and wants it to run on.
    """

    def __init__(self, plan: Plan, missing: Sequence[bool], ledger: Ledger) -> None:
        # Cells of a group may come from one call, so it is groups that are counted.
        where = np.flatnonzero(missing)
        self._plan = plan.hash, getattr(plan.volatile, "objects", ())
        groups = list(dict.fromkeys(plan.groups[where].tolist()))
        told = len(ledger.failed()) >= _FIRST or any(map(self._is_this, _stopped))
        asked = told or len(groups) <= _FIRST
        first = where[:0] if asked else where[np.isin(plan.groups[where], groups[:_FIRST])]
        self._open = {plan.keys[i] for i in first}
        self._reasons: list[tuple[str, str]] = []
        self._next = (
            "what is done is in the ledger. Mend it, or make the same call again, which runs on"
            if ledger.path is not None
            else "nothing is kept without a ledger file. Mend it, or call again with the same "
            "objects in this process, which runs all cells"
        )

    def _is_this(self, stopped: tuple[str, tuple[object, ...]]) -> bool:
        alike = stopped[0] == self._plan[0] and len(stopped[1]) == len(self._plan[1])
        return alike and all(map(operator.is_, stopped[1], self._plan[1]))

    def look(self, records: Sequence[Record]) -> None:
        """Raise a PermanentFailure once the last of them has failed like all others."""
        for record in records:
            if record.key not in self._open:
                continue
            self._open.discard(record.key)
            reason = str(record.values.get("reason", ""))
            self._reasons.append((record.status, reason))
            # Two request ids or lengths are one reason.
            alike = {(status, re.sub(r"\w*\d\w*", "#", text)) for status, text in self._reasons}
            if len(alike) > 1 or record.status in ("ok", "skipped"):
                self._open.clear()
            elif not self._open:
                _stopped.append(self._plan)
                raise PermanentFailure(
                    f"the first {len(self._reasons)} cells have failed alike ({record.status}: "
                    f"{reason}), so the run was stopped; {self._next}"
                )
