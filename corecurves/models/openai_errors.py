"""What an endpoint's errors mean: for this cell, for now, or for the whole run."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from corecurves.errors import CellFailure, CorecurvesError, PermanentFailure
from corecurves.models.base import TemporaryFailure
from corecurves.models.openai_waits import stated_wait
from corecurves.redact import Redactor, spellings

__all__ = ["Refusal", "as_failure", "as_refusal", "mappings", "refused_field"]

_THIS_PROMPT = frozenset(
    {
        "context_length_exceeded",
        "exceed_context_size_error",
        "content_filter",
        "content_policy_violation",
    }
)
"""Codes of a refusal that is about this one prompt; the next may be fine."""
_THIS_PROMPT_SAID = re.compile(
    r"(context|prompt|input) (length|window|size)|(prompt|input|request) is too (long|large)|"
    r"too many (input |prompt )?tokens|was flagged|content (management )?(policy|filter)",
    re.IGNORECASE,
)
_NO_MONEY = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_NO_MONEY_SAID = re.compile(
    "insufficient (balance|credits?|funds|quota)|quota (is |has been )?(exhausted|used up)|"
    "exceeded your current quota|out of credits",
    re.IGNORECASE,
)
"""Some endpoints say it in words alone."""
_SAYING = (
    "error", "message", "msg", "detail", "details", "errors", "error_description", "description",
    "title", "raw",
)  # fmt: skip
"""Fields of an error's body that say something, outermost first."""
_LONGEST = 300
"""Characters of an error that are kept."""


@dataclass
class Refusal(Exception):
    """What an endpoint sent in place of a completion.

    Parameters
    ----------
    status : int or None
        Of the reply. Of an error within a reply of status 200 its code, None where it has none; 200
        where there is no error either.
    body : object
        Its JSON, or its text.
    headers : mapping of str to str
        Those of the reply.
    """

    status: int | None
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def codes(self) -> set[str]:
        """What its body calls it."""
        return {str(about[key]) for about in mappings(self.body) for key in ("code", "type")
                if about.get(key) is not None}  # fmt: skip

    @property
    def text(self) -> str:
        """What its body says."""
        return _said(self.body)


def as_refusal(error: Exception) -> Refusal | None:
    """Refusal that an exception of the SDK stands for."""
    import openai

    if isinstance(error, Refusal) or not isinstance(error, openai.APIStatusError):
        return error if isinstance(error, Refusal) else None
    text = error.response.text
    try:
        body = json.loads(text)
    except ValueError:
        body = text
    return Refusal(error.status_code, body, error.response.headers)


def refused_field(refusal: Refusal, names: Mapping[str, str]) -> str | None:
    """Optional field of a request that a refusal is about."""
    if refusal.status not in (400, 422) or _is_of_this_prompt(refusal):
        return None
    by_name = {name: given for given, name in names.items()}
    for about in mappings(refusal.body):
        if (param := about.get("param")) in by_name:
            return by_name[str(param)]
    text = refusal.text
    named = (given for name, given in by_name.items() if re.search(rf"\b{name}\b", text))
    return next(named, None)


def as_failure(
    error: Exception, name: str, key: str, timeout: float, hint: str = ""
) -> CorecurvesError:
    """Failure that an exception of the SDK stands for."""
    import openai

    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return TemporaryFailure(f"{name}: no reply within {timeout:g} s")
    if isinstance(error, Refusal):
        return _of_refusal(error, name, key, hint)
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__ or error
        return TemporaryFailure(f"{name}: no connection: {_clean(str(cause), key)}")
    return CellFailure("call_failed", f"{name}: {type(error).__name__}: {_clean(str(error), key)}")


def _of_refusal(refusal: Refusal, name: str, key: str, hint: str) -> CorecurvesError:
    status = refusal.status
    said = _clean(refusal.text, key) or "it does not say why"
    if status == 200:
        return TemporaryFailure(f"{name}: the reply is no completion: {said}{hint}")
    text = f"{name}: {said}{hint}" if status is None else f"{name}: {status}: {said}{hint}"
    if refusal.status in (301, 302, 303, 307, 308):
        # What is asked is not sent on to an address that nobody wrote.
        where = _clean(refusal.headers.get("location", "another address"), key)
        return PermanentFailure(f"{name}: {status}: it sends calls on to {where}; write that one")
    if _is_of_this_prompt(refusal):
        return CellFailure("call_failed", text)
    wait = stated_wait(refusal.headers, refusal.text)
    # Where a wait is stated, it is a limit that passes.
    said_so = status == 429 and wait is None and _NO_MONEY_SAID.search(text)
    if refusal.codes & _NO_MONEY or said_so:
        return PermanentFailure(text)
    if status is None:
        return CellFailure("call_failed", text)
    if status in (408, 409, 425, 429) or status >= 500:
        return TemporaryFailure(text, wait)
    return PermanentFailure(text)


def _is_of_this_prompt(refusal: Refusal) -> bool:
    in_words = refusal.status in (None, 400, 403, 413, 422)
    return bool(
        refusal.codes & _THIS_PROMPT or (in_words and _THIS_PROMPT_SAID.search(refusal.text))
    )


def mappings(body: object) -> Iterator[Mapping[str, Any]]:
    """Those parts of a body that may describe an error, outermost first."""
    if isinstance(body, Mapping):
        yield body
        body = [body.get("error")]
    if isinstance(body, list):
        for one in body:
            yield from mappings(one)


def _said(body: object) -> str:
    """What a body says, whatever its shape."""
    if isinstance(body, Mapping):
        parts = [
            _said(body[key]) for key in _SAYING if isinstance(body.get(key), str | list | dict)
        ]
        if isinstance(handed_on := body.get("metadata"), Mapping):
            parts.append(_said(handed_on.get("raw")))
        found = [part for i, part in enumerate(parts) if part and part not in parts[:i]]
        where = ".".join(map(str, body.get("loc") or ()))
        if not found:
            return json.dumps(body, ensure_ascii=False, default=str) if body else ""
        return ": ".join([where, *found] if where else found)
    if isinstance(body, list):
        return "; ".join(filter(None, map(_said, body)))
    text = "" if body is None else str(body)
    if re.match(r"\s*<(!doctype|html|head|body|\?xml)", text, re.IGNORECASE):
        text = re.sub(r"(?is)<(script|style)\b.*?</\1>|<!--.*?-->|<[^>]*>", " ", text)
        return html.unescape(text)
    return text


def _clean(text: str, key: str) -> str:
    for form in sorted(spellings(key), key=len, reverse=True) if key else ():
        text = text.replace(form, "[the key]")
    # Other secrets go before anything is cut, for half of one is known to no later look.
    text = Redactor().text(text)
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
