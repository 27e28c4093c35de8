"""What an endpoint's errors mean: for this cell, for now, or for the whole run."""

from __future__ import annotations

import email.utils
import json
import time
from collections.abc import Mapping
from urllib.parse import quote

from corecurves.errors import CellFailure, CorecurvesError, PermanentFailure
from corecurves.models.base import TemporaryFailure

__all__ = ["as_failure"]

_THIS_PROMPT = (
    "context_length_exceeded",
    "exceed_context_size_error",
    "content_filter",
    "content_policy_violation",
)
"""Codes of a refusal that is about this one prompt; the next may be fine."""
_NO_MONEY = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
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
    return CellFailure("call_failed", f"{name}: {type(error).__name__}: {_clean(str(error), key)}")


def _of_status(error: object, name: str, key: str) -> CorecurvesError:
    status = int(getattr(error, "status_code", 0))
    body = getattr(error, "body", None)
    about = body if isinstance(body, Mapping) else {}
    codes = {str(about.get("code")), str(about.get("type")), str(getattr(error, "code", ""))}
    said = about.get("message") or getattr(error, "message", "")
    text = f"{name}: {status}: {_clean(str(said), key)}"
    if codes.intersection(_THIS_PROMPT):
        return CellFailure("call_failed", text)
    if codes.intersection(_NO_MONEY):
        return PermanentFailure(text)
    if status in (408, 409, 425, 429) or status >= 500:
        headers = getattr(getattr(error, "response", None), "headers", {})
        return TemporaryFailure(text, _stated_wait(headers))
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
    for form in {key, json.dumps(key)[1:-1], quote(key, safe="")} if key else ():
        text = text.replace(form, "[the key]")
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
