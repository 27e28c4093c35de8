"""What becomes of a cell that raised, and what is said of those without a result."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from corecurves.engine.ledger import Record
from corecurves.engine.plan import Plan
from corecurves.errors import CellFailure, PermanentFailure, UsageError

__all__ = ["STOPPING", "failure", "warn_of_failures"]

STOPPING = (PermanentFailure, UsageError)
"""Errors that stop the run instead of failing one cell."""


def failure(error: Exception) -> tuple[str, str]:
    """Status and reason of a cell that raised.

    Parameters
    ----------
    error : Exception
        What was raised.

    Returns
    -------
    status, reason : str
        Those of a `CellFailure`; ``call_failed`` and the error in one line otherwise.

    Examples
    --------
    >>> failure(ValueError("no answer"))
    ('call_failed', 'ValueError: no answer')
    """
    if isinstance(error, CellFailure):
        return error.status, str(error)
    return "call_failed", f"{type(error).__name__}: {error}"


def warn_of_failures(records: Iterable[Record], plan: Plan) -> None:
    """Warn, in one line, of the cells of a plan that have no result.

    Parameters
    ----------
    records : iterable of Record
        What is known of the cells.
    plan : Plan
        The plan; records of other cells are passed over.
    """
    wanted = set(plan.keys)
    failed = [record for record in records if record.key in wanted and record.status != "ok"]
    if not failed:
        return
    statuses = [record.status for record in failed]
    named = ", ".join(f"{status} {statuses.count(status)}" for status in sorted(set(statuses)))
    warnings.warn(
        f"{len(failed)} of {len(plan)} cells have no result ({named}); "
        f"the first: {failed[0].values.get('reason', '')}",
        stacklevel=4,
    )
