"""Exceptions and exit codes.

Every exception that a user can meet derives from `CorecurvesError`; its message is one line (a
`FileFaults` has one line a fault) that names the thing, the place, and what to write instead.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from corecurves.names import listed, told_apart, visible

__all__ = [
    "CellFailure",
    "CorecurvesError",
    "DatasetError",
    "ExitCode",
    "Fault",
    "FileFaults",
    "Interrupted",
    "LedgerError",
    "PermanentFailure",
    "ReportError",
    "UsageError",
    "a_type",
    "unknown",
]


class ExitCode(IntEnum):
    """Exit codes of the command line."""

    FINE = 0
    FINDINGS = 1
    """Faults were found in files, a report has a failed cell, or nothing could be taught."""
    USAGE = 2
    """The call or its input is wrong."""
    FAILED_CELLS = 3
    """The run finished, but some cells have no result."""


class CorecurvesError(Exception):
    """Base of every error that is meant for the user."""

    exit_code = ExitCode.USAGE

    def __str__(self) -> str:
        return visible(super().__str__())


class UsageError(CorecurvesError, ValueError):
    """A wrong argument."""


class DatasetError(CorecurvesError, ValueError):
    """A Dataset that lacks what is asked of it, or a file that does not hold a whole one."""


class LedgerError(CorecurvesError):
    """A ledger that cannot be used: damaged, another plan's, in use, or not to be written."""


class Interrupted(KeyboardInterrupt):
    """A run that was interrupted, which says what is kept; no error, so it is caught as one alone.

    Parameters
    ----------
    message : str
        What is done, and where it is kept.
    resumes : bool
        Whether the same call goes on from there.
    """

    def __init__(self, message: str, *, resumes: bool) -> None:
        self.resumes = resumes
        super().__init__(message)


class CellFailure(CorecurvesError):
    """A cell that ended without a result, for systems and models to raise.

    Parameters
    ----------
    status : str
        How it ended: ``call_failed``, ``cut_off``, ``unparsable`` or ``skipped``.
    reason : str
        Why.
    said : str
        What there was of an answer that was cut off: kept, and its words are hits in the lane.
    """

    exit_code = ExitCode.FAILED_CELLS

    def __init__(self, status: str, reason: str, said: str = "") -> None:
        self.status, self.said = status, said
        super().__init__(reason)

    def __reduce__(self) -> tuple[type[CellFailure], tuple[str, ...]]:
        return type(self), (self.status, *self.args, self.said)


class ReportError(CorecurvesError):
    """A report whose notebook failed; the partial report was written."""

    exit_code = ExitCode.FINDINGS


class PermanentFailure(CorecurvesError):
    """A failure that no retry can mend; it stops the run, and what is done stays in the ledger."""


@dataclass(frozen=True, order=True)
class Fault:
    """One thing that is wrong in a file.

    Parameters
    ----------
    file : str
        The file as the user named it.
    line : int
        Line, counted from 1; 0 for data that comes from no file.
    message : str
        What is wrong, and what to write instead.
    """

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return visible(f"{place}: {self.message}")


class FileFaults(CorecurvesError, ValueError):
    """Everything that is wrong in the files that were read.

    Parameters
    ----------
    faults : sequence of Fault
        The faults; they are sorted by file and line.
    """

    exit_code = ExitCode.FINDINGS

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(sorted(set(faults)))
        super().__init__("\n".join(str(fault) for fault in self.faults))

    def __reduce__(self) -> tuple[type[FileFaults], tuple[tuple[Fault, ...]]]:
        return type(self), (self.faults,)


def a_type(value: object) -> str:
    """A value's type with its article, for messages.

    Examples
    --------
    >>> a_type(3), a_type("")
    ('an int', 'a str')
    """
    name = type(value).__name__
    return f"a{'n' * (name[0].lower() in 'aeiou')} {name}"


def unknown(what: str, received: object, options: Iterable[str]) -> str:
    """Message for a name that is not among the options.

    Parameters
    ----------
    what : str
        What the name stands for, e.g. ``"arm"``.
    received : object
        What was given.
    options : iterable of str
        What may be given.

    Returns
    -------
    str
        One line naming the thing, the options and, where one is near, the likely one.

    Examples
    --------
    >>> unknown("arm", "contrl", ["taught", "control"])
    "`arm` has no 'contrl'; it has taught, control: did you mean 'control'?"
    """
    names = list(options)
    first = f"`{what}` has no {received!r}; it has {listed(names)}"
    for name in names:
        if isinstance(received, str) and (why := told_apart(received, name)):
            return f"{first}: '{name}' is {why}"
    near = difflib.get_close_matches(str(received), names, n=1)
    return first + (f": did you mean '{near[0]}'?" if near else "")
