"""What an endpoint's errors mean: for this cell, for now, or for the whole run."""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Mapping

from corecurves.errors import CellFailure, CorecurvesError, PermanentFailure
from corecurves.models.base import TemporaryFailure
from corecurves.redact import Redactor, spellings

__all__ = ["as_failure"]

_THIS_PROMPT = (
    "context_length_exceeded",
    "exceed_context_size_error",
    "content_filter",
    "content_policy_violation",
)
"""Codes of a refusal that is about this one prompt; the next may be fine."""
_NO_MONEY = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_NO_MONEY_SAID = re.compile(
    "insufficient (balance|credits?|funds|quota)|quota (is |has been )?(exhausted|used up)|"
    "exceeded your current quota|out of credits",
    re.IGNORECASE,
)
"""Some endpoints say it in words alone."""
_LONGEST = 300
"""Characters of an error that are kept."""


def as_failure(error: Exception, name: str, key: str, timeout: float) -> CorecurvesError:
    """Failure that an exception of the SDK stands for.

    Parameters
    ----------
    error : Exception
        What was raised.
    name : str
        The model's name.
    key : str
        The key, which must not occur in the message.
    timeout : float
        Seconds that the attempt had.

    Returns
    -------
    CorecurvesError
        `PermanentFailure`, `TemporaryFailure` or `CellFailure`, in one line.
    """
    import openai

    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return TemporaryFailure(f"{name}: no reply within {timeout:g} s")
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, name, key)
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__ or error
        return TemporaryFailure(f"{name}: no connection: {_clean(str(cause), key)}")
    unread = json.JSONDecodeError | UnicodeDecodeError | openai.APIResponseValidationError
    if isinstance(error, unread):
        # Its JSON is cut off, or there is none.
        return TemporaryFailure(f"{name}: the reply cannot be read: {_clean(str(error), key)}")
    return CellFailure("call_failed", f"{name}: {type(error).__name__}: {_clean(str(error), key)}")


def _of_status(error: object, name: str, key: str) -> CorecurvesError:
    status = int(getattr(error, "status_code", 0))
    body = getattr(error, "body", None)
    about = body if isinstance(body, Mapping) else {}
    codes = {str(about.get("code")), str(about.get("type")), str(getattr(error, "code", ""))}
    said = about.get("message") or getattr(error, "message", "")
    text = f"{name}: {status}: {_clean(str(said), key)}"
    headers = getattr(getattr(error, "response", None), "headers", {})
    wait = _stated_wait(headers)
    if codes.intersection(_THIS_PROMPT):
        return CellFailure("call_failed", text)
    # Where a wait is stated, it is a limit that passes.
    said_so = status == 429 and wait is None and _NO_MONEY_SAID.search(text)
    if codes.intersection(_NO_MONEY) or said_so:
        return PermanentFailure(text)
    if status in (408, 409, 425, 429) or status >= 500:
        return TemporaryFailure(text, wait)
    return PermanentFailure(text)


def _stated_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait, as a number or as a date."""
    for header, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        stated = headers.get(header)
        if stated is None:
            continue
        try:
            return max(0.0, float(stated) * scale)
        except ValueError:
            date = email.utils.parsedate_tz(stated)
            if date is not None:
                return max(0.0, email.utils.mktime_tz(date) - time.time())
    return None


def _clean(text: str, key: str) -> str:
    for form in sorted(spellings(key), key=len, reverse=True) if key else ():
        text = text.replace(form, "[the key]")
    # Other secrets go before anything is cut, for half of one is known to no later look.
    text = Redactor().text(text)
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
