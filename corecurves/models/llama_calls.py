"""What is asked of a llama.cpp server: tokens, and the log-probability of a text.

A text is scored by *forcing* it: the prompt goes in as token ids, with a grammar that allows the
text's own token ids alone, one after the other, and the log-probabilities that the model gave them
before the grammar had its say are summed. A grammar of characters would be wrong: it lets the model
spell the text with other tokens.

A score must not depend on what was scored before it, though the prompt's common beginning is kept
from call to call. llama.cpp computes a token that is read alone in another order than one that is
read among others, and rounding to 8 bits magnifies that to 0.1 nats a token. So three things are
needed: flash attention off; a *priming* call that reads the prompt first, so that the forcing call
always reads the prompt's last token alone; and that the tokens of a reply are read again, together,
before they become part of a prompt (see `prime`). The next text after the same prompt needs no
priming, and what it has in common with the text before is not forced twice: both read the same
tokens in the same order, each alone.

A model with a recurrent memory (Mamba, RWKV), or with one beside its attention (LFM2, Granite 4),
cannot go back to the token before the last. Nothing is kept of it from call to call: each reads its
prompt from nothing, which takes longer and depends on nothing before it either.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from corecurves.canonical import JSON
from corecurves.errors import CellFailure
from corecurves.models.base import Message
from corecurves.models.llama_server import Calls, Forced, RefusedError

__all__ = ["force", "keeps", "prime", "prompt_text", "token_ids"]

_PROBABILITIES = "completion_probabilities"
_CERTAIN = 1e6
"""A bias that makes a token the likeliest; the log-probabilities are of before it."""
_ALL_TOKENS = 1_000_000_000
_LOWEST = -1e30
"""llama.cpp writes about −3.4e38 where a probability was too small for its number type."""


def prompt_text(calls: Calls, messages: Sequence[Message]) -> str:
    """Messages in the model's own chat template."""
    return str(calls.post("/apply-template", {"messages": list(messages)})["prompt"])


def token_ids(calls: Calls, text: str, *, begin: bool = True) -> list[int]:
    """Tokens of a text; `begin` adds those that a prompt begins with."""
    body = {"content": text, "parse_special": True, "add_special": begin}
    return [int(token) for token in calls.post("/tokenize", body)["tokens"]]


def keeps(calls: Calls) -> bool:
    """Whether the server can go back to any token that it has read; tried once, on a few."""
    if calls.keeps is None:
        calls.keeps = True
        tokens = token_ids(calls, "one two three four", begin=False)
        _read(calls, tokens)
        calls.keeps = _read(calls, tokens) == len(tokens) - 1
    return bool(calls.keeps)


def prime(calls: Calls, prompt: list[int]) -> int:
    """Read a prompt; how many of its tokens were known already.

    Tokens that were read alone, as those of a reply are and the last one of a prompt, are not used
    again, so that no number depends on what was said before.
    """
    if not keeps(calls):
        return 0
    if calls.forced is not None and calls.forced.prompt == prompt:
        return len(prompt) - 1
    calls.forced = None
    usable = _common(prompt, calls.clean)
    known = _read(calls, prompt)
    if known > usable:
        # A prompt that goes another way from there makes the server forget the rest.
        other = 0 if prompt[usable] else 1
        _read(calls, [*prompt[:usable], other, other])
        known = _read(calls, prompt)
    if known > usable:
        raise CellFailure("call_failed", "llama.cpp went on from a prompt that it should not know")
    calls.clean = prompt[:-1]
    return known


def _read(calls: Calls, prompt: list[int]) -> int:
    body = {"prompt": prompt, "n_predict": 1, **_greedy(calls), "response_fields": ["timings"]}
    return int(calls.post("/completion", body)["timings"]["cache_n"])


def _greedy(calls: Calls) -> dict[str, JSON]:
    return {"cache_prompt": keeps(calls), "temperature": 0}


def _common(left: list[int], right: list[int]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(left), len(right)))


def force(calls: Calls, prompt: list[int], reply: list[int]) -> float:
    """Log-probability of tokens after a prompt that is primed."""
    before = calls.forced or Forced(prompt, [], [])
    calls.forced = None
    kept = keeps(calls)
    done = _common(reply, before.reply)
    steps = before.steps[:done]
    try:
        if done < len(reply):
            steps += _forced_at_once(calls, [*prompt, *reply[:done]], reply[done:])
        if kept:
            calls.forced = Forced(prompt, reply, steps) if done < len(reply) else before
    except RefusedError:
        steps = [_forced_alone(calls, [*prompt, *reply[:i]], reply[i]) for i in range(len(reply))]
    if min(steps) < _LOWEST:
        raise CellFailure("call_failed", "the text is too unlikely for a number")
    return math.fsum(steps)


def _forced_at_once(calls: Calls, before: list[int], forced: list[int]) -> list[float]:
    """Log-probability of each token, in one call; refused where a token is no whole text.

    A grammar cannot be followed through a token that is part of a character (as in rare scripts
    and emoji), a NUL, or one that ends a turn.
    """
    grammar = "root ::= " + " ".join(f"<[{token}]>" for token in forced)
    body = {"prompt": before, "n_predict": len(forced), "n_probs": 1, "grammar": grammar}
    fields: JSON = [_PROBABILITIES, "timings"]
    reply = calls.post("/completion", {**body, **_greedy(calls), "response_fields": fields})
    steps = reply.get(_PROBABILITIES, [])
    if [step["id"] for step in steps] != forced:
        raise RefusedError("call_failed", "llama.cpp did not follow the text to its end")
    if int(reply["timings"]["cache_n"]) != (len(before) - 1 if keeps(calls) else 0):
        raise CellFailure("call_failed", "llama.cpp did not begin where it should have")
    return [float(step["logprob"]) for step in steps]


def _forced_alone(calls: Calls, before: list[int], token: int) -> float:
    """Log-probability of one token; the same number, for any token, one call each."""
    asked: dict[str, JSON] = {"n_predict": 1, "response_fields": [_PROBABILITIES]}
    body = {"prompt": before, **asked, **_greedy(calls)}
    reply = calls.post("/completion", {**body, "n_probs": 1, "logit_bias": [[token, _CERTAIN]]})
    for step in reply.get(_PROBABILITIES, []):
        if step["id"] == token:
            return float(step["logprob"])
    # llama.cpp gives no numbers for part of a character. It gives those of all tokens beside the
    # number of another one.
    other = token_ids(calls, "a", begin=False)[0]
    reply = calls.post(
        "/completion", {**body, "n_probs": _ALL_TOKENS, "logit_bias": [[other, _CERTAIN]]}
    )
    for choice in reply[_PROBABILITIES][0]["top_logprobs"]:
        if choice["id"] == token:
            return float(choice["logprob"])
    raise CellFailure("call_failed", "llama.cpp gave no log-probability for a token of the text")
