"""The text of a model's reply that is judged: its answer, without its reasoning.

A block of reasoning stands between ``<think>`` and ``</think>``, or ``<thinking>``, ``<thought>``
or ``<reasoning>``, in any case, with attributes or a namespace; ``[THINK]`` and ``◁think▷`` are the
same. Servers that separate it (vLLM, SGLang, llama.cpp, Ollama) take the block that opens the
reply, or everything up to a closing tag whose opening one the chat template has written already.
Here a block further on does not count either, for some models think again before they go on.

A tag in a code fence, in backticks or between quotation marks is a mention, and ordinary text; so
is an opening tag within a line that nothing closes, and any tag in a JSON object or list that is
the whole reply, or all that follows the reasoning.
"""

from __future__ import annotations

import json
import re

from corecurves.errors import CellFailure

__all__ = ["judged"]

_TAG = (
    r"(?:[<\u25c1]\s*/?\s*(?:[a-z][\w.-]*:)?(?:think(?:ing)?|thought|reasoning)"
    r"(?:\s+[\w:-]+=[^<>]*)?\s*(?<!/)[>\u25b7]"
    r"|\[/?(?-i:THINK)\])"
)
_PIECE = re.compile(
    rf"""
    (?:^[ ]{{0,3}}|(?<=[>\u25b7\]]))(?P<fence>`{{3,}}|~{{3,}})[^\n]*\n
        (?:.*?\n)??[ ]{{0,3}}(?P=fence)[`~]*[ \t]*$
    | (?<!`)(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`)
    | (?P<quote>["'])(?:{_TAG}[^\n]*?)?{_TAG}(?P=quote)
    | [\u201c\u2018\u201e\u00ab\u300c](?:{_TAG}[^\n]*?)?{_TAG}[\u201d\u2019\u201c\u00bb\u300d]
    | (?P<tag>{_TAG})
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_ANY = re.compile(_TAG, re.IGNORECASE)


def judged(reply: str) -> str:
    r"""Text of a reply that is judged; every grader, judge, selector and system reads this one.

    Examples
    --------
    >>> judged("<think>Not 3, it must be 7.</think>\nPut in roll 7.")
    'Put in roll 7.'
    >>> judged("Not 3, it must be 7.\n</think>\n\nPut in roll 7.")
    'Put in roll 7.'
    >>> judged("Close it with `</think>`.")
    'Close it with `</think>`.'
    """
    if not _ANY.search(reply) or _is_json(reply):
        return reply
    kept: list[str] = []
    at, opened = 0, -1
    for tag in (piece for piece in _PIECE.finditer(reply) if piece["tag"]):
        if tag[0].lstrip("<\u25c1[ \t\r\n").startswith("/"):
            if opened < 0:
                # Its opening tag stands in the prompt: all so far is reasoning.
                kept.clear()
            at, opened = tag.end(), -1
            if _is_json(reply[at:]):
                break
        elif opened < 0:
            kept.append(reply[at : tag.start()])
            opened = tag.start()
    if opened < 0:
        kept.append(reply[at:])
    elif kept[-1].rpartition("\n")[2].strip():
        kept[-1] += reply[opened:]
    else:
        raise CellFailure("cut_off", "the reply ends within its reasoning, not closed", reply)
    answer = "\n".join(kept)
    if answer != reply and not (answer := answer.strip()):
        raise CellFailure("unparsable", "the reply has reasoning and then no answer", reply)
    return answer


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False
