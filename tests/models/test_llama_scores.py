"""Scores of the local model: the same in any order, and right by two other computations."""

from __future__ import annotations

import random

import numpy as np
import pytest

from corecurves.models.llama import LlamaModel
from corecurves.models.llama_calls import force, prime, prompt_text, token_ids

from .conftest import run, user
from .gguf_numpy import NumpyLlama, write_float32

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

LESSON = "The staging message broker listens on port 6112, not on 5672, which the sidecar holds."
LONG = " ".join(f"Item {i} is stored on shelf {i * 7 % 13}." for i in range(48))
CASES = (
    (f"{LESSON}\n\nStart a worker. Give the command.", "BROKER_PORT=6112 python -m worker"),
    (f"{LESSON}\n\nStart a worker. Give the command.", "BROKER_PORT=5672 python -m worker"),
    ("The nightly import failed. What do you do first?", "Copy the input folder and the log."),
    ("Name a colour.", "Green is a colour."),
    ("Say something cheerful.", "What a lovely day 😀 it is!"),
    ("What is the capital of France?", "The capital of France is Paris."),
)


def calls_for(model, prompt, text):
    """Token ids of a case, and its score, as the model itself gets them."""

    def work(calls):
        written = prompt_text(calls, user(prompt))
        before = token_ids(calls, written)
        forced = token_ids(calls, written + text)[len(before) :]
        prime(calls, before)
        return before, forced, force(calls, before, forced)

    return model._server.run_blocking(work)


def test_24_texts_score_the_same_in_any_order(weights, capsys):
    """Prompts that share beginnings of every length, and one longer than a batch of 512 tokens."""
    heads = [
        f"{LESSON}",
        f"{LESSON}!",
        f"{LESSON} A",
        f"{LESSON} A B C D E F G H",
        f"{LESSON} {LESSON}",
        LESSON[:40],
        "Hi.",
        LONG,
    ]
    texts = ["PORT=6112 worker", "PORT=5672 worker", "Copy the log first.", "ok 😀"]
    prompts = [(head, ask) for head in heads[:-1] for ask in ("", "\n\nStart a worker.")]
    cases = [(user("".join(p)), t) for p in prompts for t in (texts[:2] if p[1] else texts[2:3])]
    cases += [(user("".join(prompts[0])), texts[3])]
    cases += [(user(heads[-1]), t) for t in texts[:2]]
    assert len(cases) == 24

    def scores(seed):
        order = list(range(24))
        random.Random(seed).shuffle(order)
        # A server of its own: nothing is left from the other order.
        model = LlamaModel(weights)
        try:
            found = {i: run(model.logprob(*cases[i])) for i in order}
        finally:
            model.close()
        return [found[i] for i in range(24)]

    first, second = scores(1), scores(2)
    difference = max(abs(a.per_token - b.per_token) for a, b in zip(first, second, strict=True))
    cached = [sum(s.tokens_cached for s in found) for found in (first, second)]
    read = sum(s.tokens_in for s in first)
    with capsys.disabled():
        print(
            f"\n24 texts in two orders: greatest difference {difference} nats a token; "
            f"{cached[0] / read:.0%} and {cached[1] / read:.0%} of prompt tokens were cached"
        )
    assert difference == 0
    # The orders really met other prefixes.
    assert cached[0] != cached[1]


def test_what_was_said_before_moves_no_score(weights):
    """Also where the prompt goes on from a reply that this very server wrote token by token."""
    prompt, text = user(CASES[0][0]), CASES[0][1]

    def scores(talk):
        model = LlamaModel(weights)
        try:
            said = run(model.generate(user("Name a fruit."), seed=0)).text if talk else talk_said
            going_on = [
                *user("Name a fruit."),
                {"role": "assistant", "content": said},
                *user("Another one?"),
            ]
            return said, [run(model.logprob(p, t)).total for p, t in order(going_on, talk)]
        finally:
            model.close()

    def order(going_on, talk):
        pairs = [(going_on, "A ripe pear."), (prompt, text)]
        return pairs if talk else pairs[::-1]

    talk_said = ""
    talk_said, first = scores(talk=True)
    assert talk_said
    assert scores(talk=False)[1] == first[::-1]


def test_scores_equal_the_model_read_step_by_step(weights, smollm2, capsys):
    """No grammar, no bias, no priming: plain calls, and the token's number among all numbers."""
    other = LlamaModel(weights)

    def steps(before, forced):
        def work(calls):
            total = 0.0
            for i, token in enumerate(forced):
                body = {"prompt": before + forced[:i], "n_predict": 1, "n_probs": 10**9}
                reply = calls.post("/completion", {**body, "cache_prompt": True, "temperature": 0})
                choices = reply["completion_probabilities"][0]["top_logprobs"]
                total += next(c["logprob"] for c in choices if c["id"] == token)
            return total

        return other._server.run_blocking(work)

    try:
        # Each step writes out the probability of every token there is: three cases take a minute.
        for prompt, text in CASES[:3]:
            before, forced, score = calls_for(smollm2, prompt, text)
            difference = abs(steps(before, forced) - score) / len(forced)
            with capsys.disabled():
                print(f"\n{text!r}: {score / len(forced):.4f} nats a token, off by {difference}")
            assert difference < 1e-2
    finally:
        other.close()


def test_scores_equal_an_independent_forward_pass(weights, tmp_path_factory, capsys):
    """The same weights in float32, computed by NumPy from the file alone.

    Float32, because llama.cpp rounds the inputs of quantised weights to 8 bits a block, which
    moves a score by up to 0.1 nats a token and is not what is tested here.
    """
    whole = tmp_path_factory.mktemp("float32") / "smollm2.gguf"
    write_float32(weights, whole)
    reference = NumpyLlama(weights)
    model = LlamaModel(whole)
    try:
        for prompt, text in CASES:
            before, forced, score = calls_for(model, prompt, text)
            assert run(model.logprob(user(prompt), text)).total == score
            expected = reference.logprobs(before, forced).sum()
            difference = abs(expected - score) / len(forced)
            with capsys.disabled():
                print(
                    f"\n{text!r}: {score / len(forced):.4f} nats a token, off by {difference:.5f}"
                )
            assert difference < 1e-2
    finally:
        model.close()
        whole.unlink()


def test_rounding_to_8_bits_stays_small(weights, smollm2):
    """Against float32 the quantised model is off by what rounding takes, and by no more."""
    reference = NumpyLlama(weights)
    off = []
    for prompt, text in CASES:
        before, forced, score = calls_for(smollm2, prompt, text)
        off.append((score - reference.logprobs(before, forced).sum()) / len(forced))
    assert np.abs(off).max() < 0.25


def test_forcing_one_token_at_a_time_gives_the_same_numbers(smollm2):
    """Texts that a grammar cannot be followed through are forced so; others agree exactly."""
    from corecurves.models.llama_calls import _forced_alone, _forced_at_once

    def work(calls):
        before = token_ids(calls, prompt_text(calls, user(CASES[0][0])))
        forced = token_ids(calls, CASES[0][1], begin=False)
        prime(calls, before)
        at_once = _forced_at_once(calls, before, forced)
        alone = [_forced_alone(calls, before + forced[:i], forced[i]) for i in range(len(forced))]
        return at_once, alone

    at_once, alone = smollm2._server.run_blocking(work)
    assert at_once == alone


@pytest.mark.parametrize(
    "text",
    [
        "ok 😀",
        "ก็ได้",
        "𓀀",
        "a\u2028b",
        "a\x00b",
        "Yes.<|im_end|>",
        "a ] > [ \" \\ 'b",
        "<[12]>",
        " ",
        "\n",
    ],
)
def test_any_text_has_a_score(smollm2, text):
    score = run(smollm2.logprob(user("Say something."), text))
    assert score.tokens > 0
    assert -40 < score.per_token < 0


def test_a_right_answer_is_likelier_with_its_lesson(smollm2):
    def margin(lesson):
        prompt = user(f"{lesson}\n\nStart a worker against the staging broker. Give the command.")
        good, trap = (
            run(smollm2.logprob(prompt, f"BROKER_PORT={port} python -m worker")).per_token
            for port in (6112, 5672)
        )
        return good - trap

    assert margin("Staging workers need BROKER_PORT=6112; production keeps 5672.") > 0.05
    assert margin("(no note available)") < -0.05
