"""Dates as files write them, compared without claiming more than they say."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

__all__ = ["time_span"]

_NUMBER = re.compile(r"[0-9]{9,}(?:\.[0-9]+)?")
_DAY = timedelta(days=1) - timedelta(microseconds=1)


def time_span(text: str) -> tuple[float, float] | None:
    """Earliest and latest moment that a date may mean.

    Examples
    --------
    >>> start, end = time_span("2025-03-04")
    >>> start <= time_span("2025-03-04T10:30:00Z")[0] <= end
    True
    >>> time_span("last week") is None
    True
    """
    text = text.strip()
    try:
        if _NUMBER.fullmatch(text):
            seconds = float(text)
            return (seconds / 1000,) * 2 if seconds > 1e11 else (seconds, seconds)
        if "T" not in text and ":" not in text:
            start = datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
            return start.timestamp(), (start + _DAY).timestamp()
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (moment.timestamp(),) * 2
    except (ValueError, OverflowError):
        return None
