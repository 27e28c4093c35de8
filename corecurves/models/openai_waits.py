"""The wait that an endpoint asks for, in its headers or in words."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping
from datetime import datetime

__all__ = ["stated_wait"]

_UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LENGTH = r"(?:\d+(?:\.\d+)?(?:ms|[smhd])\s?)+"
_IN_WORDS = re.compile(
    rf"(?:try again|retry) (?:in|after) ({_LENGTH}|\d+(?:\.\d+)? s)|retryDelay\W+({_LENGTH})",
    re.IGNORECASE,
)
_RESET = re.compile(r"(?:x-|anthropic-)?ratelimit(?P<before>-\w+)?-reset(?P<after>-\w+)?$")


def stated_wait(headers: Mapping[str, str], text: str) -> float | None:
    """Seconds that an endpoint asks to wait.

    Examples
    --------
    >>> stated_wait({"retry-after": "45"}, "")
    45.0
    >>> stated_wait({"x-ratelimit-reset-tokens": "1m3s"}, "")
    63.0
    >>> stated_wait({}, "Please try again in 20s.")
    20.0
    """
    for header, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        wait = _seconds(headers.get(header, ""), scale)
        if wait is not None:
            return wait
    found = []
    for header, value in headers.items():
        reset = _RESET.match(header.lower())
        if reset is None:
            continue
        left = headers.get(header.lower().replace("-reset", "-remaining"), "0")
        # A limit of which something is left is not the one that was met.
        if left.strip() in ("", "0") and (wait := _seconds(value, 1.0)) is not None:
            found.append(wait)
    if found:
        return max(found)
    said = _IN_WORDS.search(text)
    return _seconds((said[1] or said[2]).replace(" ", ""), 1.0) if said else None


def _seconds(stated: str, scale: float) -> float | None:
    """Seconds in a number, a length such as ``1m3s``, or a time."""
    stated = stated.strip()
    try:
        number = float(stated)
    except ValueError:
        return _seconds_in_words(stated)
    if number != number or number < 0:
        return None
    # What would be decades is a time: in seconds, or in milliseconds.
    if number >= 1e9:
        return max(0.0, (number / 1e3 if number >= 1e12 else number) - time.time())
    return number * scale


def _seconds_in_words(stated: str) -> float | None:
    if re.fullmatch(_LENGTH, stated):
        parts = re.findall(r"(\d+(?:\.\d+)?)(ms|[smhd])", stated)
        return sum(float(number) * _UNITS[unit] for number, unit in parts)
    if stated and (date := email.utils.parsedate_tz(stated)) is not None:
        return max(0.0, email.utils.mktime_tz(date) - time.time())
    try:
        return max(0.0, datetime.fromisoformat(stated).timestamp() - time.time())
    except ValueError:
        return None
