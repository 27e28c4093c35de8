"""What an endpoint's reply says, in the forms that endpoints give it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from corecurves.errors import CellFailure, a_type
from corecurves.models.base import Completion, CutOff
from corecurves.models.openai_errors import Refusal, mappings

__all__ = ["body_of", "read_reply"]

_ENDED = frozenset(
    {"stop", "eos", "eos_token", "end_turn", "stop_sequence", "stop_token", "completed", "complete"}
)
_CUT_OFF = frozenset(
    {"length", "max_tokens", "model_length", "max_length", "max_new_tokens", "max_output_tokens"}
)
_TEXTS = {"text": "text", "output_text": "text", "refusal": "refusal"}
"""Parts of a reply that are text, by type, and where they hold it."""


def body_of(content: bytes) -> Mapping[str, Any]:
    """Reply of status 200, where it has a message."""
    try:
        body = json.loads(content)
    except ValueError:
        raise Refusal(200, content.decode("utf-8", "replace")) from None
    choices = body.get("choices") if isinstance(body, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    there = isinstance(choice, dict) and isinstance(choice.get("message"), dict)
    if isinstance(choice, dict) and choice.get("error"):
        body = {"error": choice["error"]}
    elif there and not body.get("error"):
        return body  # type: ignore[no-any-return]
    fault = isinstance(body, dict) and any(body.get(key) for key in ("error", "message", "detail"))
    raise Refusal(_code(body) if fault else 200, body)


def _code(body: object) -> int | None:
    """What would be the status, had the error not come in a reply of status 200."""
    for about in mappings(body):
        for key in ("code", "status", "status_code"):
            if re.fullmatch("[45][0-9]{2}", str(about.get(key))):
                return int(about[key])
    return None


def read_reply(body: Mapping[str, Any], longest: int | None) -> Completion:
    """Completion in an endpoint's reply."""
    choice = body["choices"][0]
    message = choice["message"]
    content, thought = _parts(message.get("content"))
    # A refusal is an answer too.
    content = content or str(message.get("refusal") or "")
    thought = thought or _text(message.get("reasoning_content") or message.get("reasoning"))
    given = choice.get("finish_reason")
    finish = str(given or "").casefold()
    usage = body.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    said = _count(usage.get("completion_tokens"))
    cut = finish in _CUT_OFF or (not finish and None not in (longest, said) and said >= longest)  # type: ignore[operator]
    completion = Completion(
        _with_thought(content, thought, closed=bool(content) or not cut),
        "length" if cut else "stop" if finish in _ENDED or not finish else finish,
        _count(usage.get("prompt_tokens")),
        said,
        _count(cached),
    )
    if cut:
        at = "by its length" if said is None else f"at {said} tokens"
        raise CutOff(f"the reply was cut off {at}", completion)
    if completion.finish != "stop":
        raise CellFailure("call_failed", f"the reply ended by {given}")
    called = message.get("tool_calls") or message.get("function_call")
    if message.get("content") is None and not completion.text and not called:
        raise CellFailure(
            "unparsable", "the reply has no content: it is null, and nothing else came"
        )
    if not finish and not completion.text:
        raise CellFailure("call_failed", "the reply is empty and does not say how it ended")
    return completion


def _parts(content: object) -> tuple[str, str]:
    """Text of a content, which may come in parts, and the reasoning among them."""
    if content is None or isinstance(content, str):
        return content or "", ""
    if not isinstance(content, Sequence):
        raise CellFailure("call_failed", f"the reply's content is {a_type(content)}")
    texts, thoughts = [], []
    for part in content:
        kind = part.get("type", "text") if isinstance(part, Mapping) else "text"
        if kind in ("thinking", "reasoning"):
            thoughts.append(_text(part.get(kind) or part.get("text")))
        elif kind in _TEXTS:
            texts.append(_text(part if isinstance(part, str) else part.get(_TEXTS[kind])))
        else:
            raise CellFailure("call_failed", f"the reply has a part of type {kind}, no text")
    return "".join(texts), "".join(thoughts)


def _text(value: object) -> str:
    """Text of a value that may be one, a part, or a list of parts."""
    if isinstance(value, Mapping):
        return _text(value.get("text") or value.get("content"))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "".join(map(_text, value))
    return "" if value is None else str(value)


def _with_thought(content: str, thought: str, *, closed: bool) -> str:
    if not thought:
        return content
    # The reasoning is what the endpoint says it is: no mark that it quotes ends it, and no code
    # that it leaves open goes on behind it.
    thought = re.sub(r"</(?=\s*(think|thought|reason))", "< /", thought, flags=re.IGNORECASE)
    for fence in ("```", "~~~"):
        if closed and thought.count(fence) % 2:
            thought += f"\n{fence}\n"
    return f"<think>{thought}" + (f"</think>\n{content}" if closed else "")


def _count(value: object) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if whole else None  # type: ignore[return-value]
