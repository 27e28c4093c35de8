"""Models whose memory is of another kind are scored too: a window that slides, a recurrent state.

The models are tiny and their weights are random; llama.cpp that runs them is the real one.
"""

from __future__ import annotations

import random

import pytest

from corecurves.errors import UsageError
from corecurves.models.base import CutOff
from corecurves.models.llama import LlamaModel
from corecurves.models.llama_calls import keeps, prompt_text, token_ids
from corecurves.models.resolve import as_model

from .conftest import run, user
from .tiny_gguf import write_tiny

pytest.importorskip("xllamacpp")
pytestmark = pytest.mark.timeout(120)

LESSON = "The broker listens on port 6112."
HEADS = [LESSON, f"{LESSON}!", f"{LESSON} A", LESSON[:12], LESSON * 5, "Hi."]
# No grammar can be followed through the last one: it is forced token by token.
TEXTS = ("It is 6112.", "It is 5672.", "ok 😀")
CASES = [(user(head + ask), text) for head in HEADS for ask in ("", "\n\nWhich port?")
         for text in TEXTS]  # fmt: skip


@pytest.fixture(scope="module", params=["llama", "gemma3", "mamba", "lfm2"])
def tiny(request, tmp_path_factory):
    return write_tiny(tmp_path_factory.mktemp("tiny") / f"{request.param}.gguf", request.param)


def scores(path, seed):
    """Scores in an order of their own, on a server of their own, with talk between them."""
    order = list(range(len(CASES)))
    random.Random(seed).shuffle(order)
    model, found, said = LlamaModel(path, context=2048), {}, []
    try:
        for i in order:
            found[i] = run(model.logprob(*CASES[i]))
            if i % 3 == seed % 3:
                with pytest.raises(CutOff):
                    run(model.generate(CASES[i][0], seed=seed, temperature=1.0, max_tokens=3))
        for messages, _ in CASES[:: 3 if seed % 2 else -3]:
            with pytest.raises(CutOff) as caught:
                run(model.generate(messages, seed=1, max_tokens=8))
            said.append((messages[0]["content"], caught.value.completion.text))
    finally:
        model.close()
    return [found[i] for i in range(len(CASES))], dict(said)


def test_scores_do_not_depend_on_what_was_asked_before(tiny):
    (first, said), (second, said_again) = scores(tiny, 1), scores(tiny, 2)
    assert [one.total for one in first] == [one.total for one in second]
    assert {key: said[key] for key in said_again if key in said} == {
        key: said_again[key] for key in said if key in said_again
    }
    cached = sum(one.tokens_cached for one in first)
    assert (cached > 0) == (tiny.stem in ("llama", "gemma3"))


def test_scores_are_those_of_a_model_that_is_read_from_nothing(tiny):
    """No grammar, nothing kept: the token's number among all numbers, one call each."""
    model = LlamaModel(tiny, context=2048)

    def steps(calls, messages, text):
        written = prompt_text(calls, messages)
        before = token_ids(calls, written)
        total = 0.0
        # It gives no numbers where it says half of a character; they are those of before the bias.
        bias = [[token_ids(calls, "a", begin=False)[0], 1e6]]
        for token in token_ids(calls, written + text)[len(before) :]:
            body = {"prompt": before, "n_predict": 1, "n_probs": 10**9, "cache_prompt": False}
            reply = calls.post("/completion", {**body, "temperature": 0, "logit_bias": bias})
            choices = reply["completion_probabilities"][0]["top_logprobs"]
            total += next(one["logprob"] for one in choices if one["id"] == token)
            before = [*before, token]
        return total

    try:
        for messages, text in CASES[:2] + CASES[-6:-4]:
            expected = model._server.run_blocking(lambda c, m=messages, t=text: steps(c, m, t))
            assert run(model.logprob(messages, text)).total == pytest.approx(expected, abs=1e-3)
        kept = model._server.run_blocking(keeps)
    finally:
        model.close()
    assert kept == (tiny.stem in ("llama", "gemma3")) == model.identity.settings["primed"]


def test_a_base_model_is_said_to_be_one(tmp_path):
    path = write_tiny(tmp_path / "base.gguf", "llama", template=None)
    with pytest.raises(UsageError) as caught:
        as_model(f"gguf:{path}")
    assert str(caught.value) == (
        f"{path} has no chat template, so it is a base model, or lost it; write "
        f"gguf:{path}?template=plain to put the bare texts to it"
    )
    model = as_model(f"gguf:{path}?template=plain&context=512")
    sent = []

    def prompt(calls):
        written = model.model._prompt(calls, [{"role": "system", "content": "One."}, *user("Two?")])
        sent.append(written)

    model.model._server.run_blocking(prompt)
    score = run(model.logprob(user(LESSON), "It is 6112."))
    model.close()
    assert sent == ["One.\n\nTwo?\n\n"]
    # Its characters, two line ends, and the token that begins a text.
    assert (score.tokens, score.tokens_in) == (11, len(LESSON) + 3)
