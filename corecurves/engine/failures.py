"""What becomes of a cell that raised, and what is said of those without a result."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Sequence

from corecurves.engine.ledger import Record
from corecurves.engine.plan import Plan
from corecurves.engine.sink import StoppedError
from corecurves.errors import CellFailure, CorecurvesError
from corecurves.redact import Redactor
from corecurves.schema import STATUSES

__all__ = ["failure", "reraise_if_stopping", "warn_of_failures"]


def failure(error: BaseException) -> tuple[str, str]:
    """Status and reason of a cell that raised.

    Parameters
    ----------
    error : BaseException
        What was raised; values of secret environment variables are hidden.

    Returns
    -------
    status, reason : str
        Those of a `CellFailure`; ``call_failed`` and the error in one line otherwise.

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
    """Raise an error again where it stops the run instead of failing one cell.

    Parameters
    ----------
    error : BaseException
        What a call raised. A cancellation stops the run where the run was cancelled; a call that
        cancels itself, as some clients do after their time-out, has failed.
    """
    ours = isinstance(error, CorecurvesError) and not isinstance(error, CellFailure)
    if ours or isinstance(error, (StoppedError, KeyboardInterrupt, GeneratorExit)):
        raise error
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise error


def warn_of_failures(failed: Sequence[Record], plan: Plan) -> None:
    """Warn, in one line, of the cells of a plan that have no result.

    Parameters
    ----------
    failed : sequence of Record
        Records of cells that did not end well.
    plan : Plan
        The plan; records of other cells are passed over.
    """
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
