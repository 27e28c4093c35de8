"""Replies, errors and refused fields in the shapes that real endpoints give them."""

from __future__ import annotations

import asyncio
import json
import time
import warnings

import numpy as np
import pytest

import corecurves as cc
from corecurves.errors import CellFailure, PermanentFailure
from corecurves.models.base import CutOff, TemporaryFailure
from corecurves.models.openai import OpenAIModel, OpenAISettings
from corecurves.models.openai_waits import stated_wait
from corecurves.reply import judged

from .conftest import ASK, failure_of, refusal, reply, run

pytest.importorskip("openai")

TYPE = {"Content-Type": "application/json"}
ABSENT = object()


def changed(answer, change):
    status, headers, body = answer
    body = json.loads(json.dumps(body))
    change(body)
    return status, headers, body


def ended(finish, text="Yes.", **message):
    def change(body):
        if finish is ABSENT:
            del body["choices"][0]["finish_reason"]

    return changed(reply(text, None if finish is ABSENT else finish, **message), change)


@pytest.mark.parametrize(
    "finish", ["stop", "eos", "eos_token", "end_turn", "STOP", None, "", ABSENT]
)
def test_a_reply_that_ended_by_itself(endpoint, once, finish):
    endpoint.script(ended(finish))
    found = run(once.generate(ASK, seed=1))
    assert (found.text, found.finish) == ("Yes.", "stop")


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
def test_a_reply_that_was_cut_off(endpoint, once, finish):
    endpoint.script(ended(finish))
    assert isinstance(failure_of(once), CutOff)


@pytest.mark.parametrize("finish", ["content_filter", "tool_calls", "error", "FOO"])
def test_a_reply_that_ended_otherwise(endpoint, once, finish):
    endpoint.script(ended(finish))
    failure = failure_of(once)
    assert (failure.status, str(failure)) == ("call_failed", f"the reply ended by {finish}")


def test_a_reply_that_does_not_say_how_it_ended_is_cut_off_at_its_bound(endpoint, once):
    endpoint.script(ended(None))  # of 3 tokens
    assert isinstance(failure_of(once, max_tokens=3), CutOff)
    endpoint.script(ended(None, ""))
    assert str(failure_of(once)) == "the reply is empty and does not say how it ended"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "Roll 7."}], "Roll 7."),
        ([{"type": "text", "text": "Roll "}, {"type": "output_text", "text": "7."}], "Roll 7."),
        (["Roll ", "7."], "Roll 7."),
        ([{"type": "refusal", "refusal": "I won't."}], "I won't."),
        (
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "3?"}]},
                {"type": "text", "text": "7"},
            ],
            "<think>3?</think>\n7",
        ),
    ],
)
def test_content_in_parts(endpoint, once, content, text):
    endpoint.script(reply(content))
    assert run(once.generate(ASK, seed=1)).text == text


def test_a_part_that_is_no_text(endpoint, once):
    endpoint.script(reply([{"type": "image_url", "image_url": {"url": "data:"}}]))
    assert str(failure_of(once)) == "the reply has a part of type image_url, no text"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_beside_the_content_is_kept_before_it(endpoint, once, field):
    for content in ("", None, "Roll 7."):
        endpoint.script(reply(content, **{field: "Not roll 3."}))
        text = run(once.generate(ASK, seed=1)).text
        assert text == f"<think>Not roll 3.</think>\n{content or ''}"
    endpoint.script(reply("", "length", **{field: "Not roll 3."}))
    assert failure_of(once).completion.text == "<think>Not roll 3."
    endpoint.script(reply("7", **{field: "They write </think> here."}))
    assert run(once.generate(ASK, seed=1)).text.count("</think>") == 1


@pytest.mark.parametrize(
    "thought",
    [
        "Not roll 3.", "They write </think> here, </thinking> there.", "</thought> 3?", "<think>3?",
        "So:\n```\nroll 3", "`<think>", '"3', "~~~\nroll 3", "[/THINK] 3?",
    ],
)  # fmt: skip
@pytest.mark.parametrize("content", ["Put in roll 7.", "Code:\n```\nroll 7\n```", 'a `b` "c"'])
def test_reasoning_beside_the_content_is_never_judged(endpoint, once, thought, content):
    endpoint.script(reply(content, reasoning_content=thought))
    assert judged(run(once.generate(ASK, seed=1)).text) == content


def without_usage(body):
    del body["usage"]


@pytest.mark.parametrize(
    ("change", "costs"),
    [
        (without_usage, (None, None, None)),
        (lambda body: body.update(usage=None), (None, None, None)),
        (lambda body: body["usage"].pop("prompt_tokens_details"), (12, 3, None)),
        (lambda body: body["usage"].update(prompt_tokens="many"), (None, 3, 8)),
        (lambda body: body["usage"].update(completion_tokens=0), (12, 0, 8)),
    ],
)
def test_what_usage_does_not_say_is_not_known(endpoint, once, change, costs):
    endpoint.script(changed(reply(), change))
    found = run(once.generate(ASK, seed=1))
    assert (found.tokens_in, found.tokens_out, found.tokens_cached) == costs


def test_unknown_usage_is_nan_in_the_dataset(endpoint):
    endpoint.script(changed(reply(), without_usage))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds = rose(endpoint)
    for name in ("tokens_in", "tokens_out", "tokens_cached"):
        assert np.isnan(ds[name]).all()
    assert (ds.status == "ok").any()


def test_reasoning_without_an_answer_is_neither_a_pass_nor_a_fail(endpoint):
    endpoint.script(reply("", reasoning_content="Not roll 3."))
    with pytest.warns(UserWarning, match="cells have no result"):
        ds = rose(endpoint)
    assert set(np.unique(ds.status)) == {"", "unparsable"}
    assert np.isnan(ds.passed).all()


class Passes:
    identity = cc.Identity("passes", "1", {})
    wants = "answer"

    async def grade(self, case):
        return cc.Grade(True)


def rose(endpoint, ledger=False, **settings):
    told = "&".join(f"{name}={value}" for name, value in settings.items())
    return cc.run_rose_eval(
        "own_notes", f"openai:m@{endpoint.url}" + (f"?{told}" if told else ""),
        grader=Passes(), arms=["control", "ceiling"], samples=1, ledger=ledger, progress=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        ({"error": {"message": "it is down", "code": 502}}, TemporaryFailure, "502: it is down"),
        ({"error": {"message": "no credit", "code": 402}}, PermanentFailure, "402: no credit"),
        ({"error": {"message": "slow down", "code": "429"}}, TemporaryFailure, "429: slow down"),
        ({"error": "model is loading"}, CellFailure, "m: model is loading"),
        ({"object": "error", "message": "bad", "code": 400}, PermanentFailure, "400: bad"),
        ({"detail": "no such thing"}, CellFailure, "m: no such thing"),
        ({"choices": [{"finish_reason": "error", "error": {"message": "broke", "code": 502},
                       "message": {"content": "Ye"}}]}, TemporaryFailure, "502: broke"),
        ([{"error": {"message": "bad", "code": 503}}], TemporaryFailure, "no completion: bad"),
    ],
)  # fmt: skip
def test_an_error_in_a_reply_of_status_200(endpoint, once, body, kind, said):
    endpoint.script((200, TYPE, body))
    failure = failure_of(once)
    assert type(failure) is kind
    assert said in str(failure)


def test_an_error_in_a_200_without_a_code_is_not_tried_again(endpoint):
    endpoint.script((200, TYPE, {"error": {"message": "who knows"}}))
    began = time.monotonic()
    assert "who knows" in str(failure_of(OpenAIModel("m", endpoint.url)))
    assert len(endpoint.requests) == 1
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (400, {"error": "the text"}, "m: 400: the text"),
        (400, {"error": "Bad Request", "message": "the text"}, "m: 400: Bad Request: the text"),
        (422, {"detail": [{"loc": ["body", "n"], "msg": "be 1"}]}, "m: 422: body.n: be 1"),
        (422, {"detail": "the text"}, "m: 422: the text"),
        (400, b"the\nplain text", "m: 400: the plain text"),
        (400, [{"error": {"message": "the text", "status": "INVALID"}}], "m: 400: the text"),
        (400, {"errors": [{"message": "one"}, {"message": "two"}]}, "m: 400: one; two"),
        (400, {"error": {"message": "Provider returned error", "metadata": {"raw": "why"}}},
         "m: 400: Provider returned error: why"),
        (400, b"", "m: 400: it does not say why"),
        (400, {"strange": 1}, 'm: 400: {"strange": 1}'),
        (451, b"<!doctype html><style>p{}</style><h1>Not here &amp; now</h1>",
         "m: 451: Not here & now"),
    ],
)  # fmt: skip
def test_what_an_error_says_in_any_shape(endpoint, once, status, body, said):
    endpoint.script((status, TYPE, body))
    assert str(failure_of(once)) == said


@pytest.mark.parametrize("shape", [{"error": "{}"}, {"detail": [{"msg": "{}"}]}, "{}", "<html>{}"])
def test_no_shape_shows_a_key(endpoint, monkeypatch, shape):
    monkeypatch.setenv("TEST_ENDPOINT_KEY", "sk-test-000")
    monkeypatch.setenv("OTHER_API_KEY", "sk-other-000")
    text = shape if isinstance(shape, str) else json.dumps(shape)
    told = "x" * 290 + " sk-test-000 sk-other-000 " + "x" * 290
    endpoint.script((400, TYPE, text.replace("{}", told).encode()))
    model = OpenAIModel("m", endpoint.url, settings=OpenAISettings("TEST_ENDPOINT_KEY"))
    said = str(failure_of(model))
    assert "sk-" not in said
    assert len(said) < 340


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 4096 tokens, however you requested 5000",
        "'max_tokens' is too large: 512. The maximum context length is 4096 tokens",
        "prompt is too long: 5000 tokens",
        "Your input was flagged by moderation",
    ],
)
def test_a_refusal_of_one_prompt_in_words_alone_costs_its_cell_alone(endpoint, once, said):
    endpoint.script((400, TYPE, {"object": "error", "message": said, "code": 400}))
    assert type(failure_of(once)) is CellFailure
    assert len(endpoint.requests) == 1


def refusing(*fields, shape=None):
    """An endpoint that takes some fields only; it names the first that it does not take."""

    def answer(handler):
        sent = handler.server.requests[-1][1]
        for name in fields:
            if name in sent:
                if shape is not None:
                    return (*shape(name)[:1], TYPE, shape(name)[1])
                return refusal(400, f"Unsupported value: '{name}' does not support {sent[name]}.")
        return reply(f"seed {sent.get('seed')}")

    return answer


@pytest.fixture
def refuses(endpoint):
    endpoint.server.requests = endpoint.requests

    def script(*fields, **more):
        endpoint.script(refusing(*fields, **more))

    return script


SHAPES = {
    "param": lambda name: (400, {"error": {"message": "not supported", "param": name}}),
    "words": lambda name: (400, {"error": f"Unrecognized request argument supplied: {name}"}),
    "detail": lambda name: (422, {"detail": [{"loc": ["body", name], "msg": "not permitted"}]}),
    "plain": lambda name: (400, f"unknown field {name}".encode()),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("field", ["seed", "temperature", "max_tokens"])
def test_a_field_that_is_refused_by_name_is_left_out_once(endpoint, once, refuses, field, shape):
    refuses(field, shape=SHAPES[shape])
    before = once.identity
    for _ in range(3):
        run(once.generate(ASK, seed=7, temperature=0.5, max_tokens=9))
    # One call to learn it, for the life of the model.
    assert len(endpoint.requests) == 4
    bodies = [body for _, body in endpoint.requests]
    assert [field in body for body in bodies] == [True, False, False, False]
    assert bodies[-1].get("max_completion_tokens") == (9 if field == "max_tokens" else None)
    # Keys are made before the first call, so what it teaches is no part of them.
    assert once.identity == before


def test_all_fields_may_be_refused_and_no_more(endpoint, once, refuses):
    refuses("seed", "temperature", "max_tokens")
    run(once.generate(ASK, seed=7))
    assert set(endpoint.requests[-1][1]) == {"model", "messages", "max_completion_tokens"}
    assert len(endpoint.requests) == 4
    # The last refusal is of what no request can do without.
    refuses("seed", "temperature", "max_tokens", "max_completion_tokens")
    assert isinstance(failure_of(OpenAIModel("m", endpoint.url)), PermanentFailure)
    assert len(endpoint.requests) == 4
    refuses("messages")
    assert isinstance(failure_of(OpenAIModel("m", endpoint.url)), PermanentFailure)
    assert len(endpoint.requests) == 1


def test_first_calls_at_once_are_each_refused_once_at_the_most(endpoint, once, refuses):
    refuses("temperature", "seed")

    async def go():
        return await asyncio.gather(*(once.generate(ASK, seed=n) for n in range(12)))

    assert {one.text for one in run(go())} == {"seed None"}
    assert len(endpoint.requests) <= 12 * 3
    endpoint.requests.clear()
    run(go())
    assert len(endpoint.requests) == 12


def test_what_is_not_sent_is_kept_with_the_cells_and_survives_a_resume(endpoint, refuses, tmp_path):
    refuses("seed", "max_tokens")
    ledger = tmp_path / "run.sqlite"
    there = f"m at {endpoint.url}"
    expected = [
        f"{there} is not sent `seed`: its samples cannot be reproduced",
        f"{there} is sent `max_tokens` as `max_completion_tokens`",
    ]
    with pytest.warns(UserWarning, match="cannot be reproduced") as told:
        first = rose(endpoint, ledger=ledger)
    assert len(told) == 1
    assert json.loads(first.attrs["remarks"]) == expected
    assert cc.provenance(first)["remarks"] == "; ".join(expected)
    endpoint.requests.clear()
    with pytest.warns(UserWarning, match="cannot be reproduced"):
        again = rose(endpoint, ledger=ledger)
    assert endpoint.requests == []
    assert again.attrs == first.attrs
    assert again.identical(first)


def test_a_taught_model_says_what_it_is_not_sent(endpoint, refuses):
    refuses("seed")
    concept = {"concept": "play", "probe": "What is play?",
               "corrections": [{"text": "Play is joy.", "adds": "joy"}]}  # fmt: skip
    with pytest.warns(UserWarning, match="is not sent `seed`") as told:
        ds = cc.run_lane([concept], f"in-context:openai:m@{endpoint.url}", arms=["taught"],
                         replays=1, ledger=False, progress=False)  # fmt: skip
    assert len(told) == 1
    assert "is not sent `seed`" in ds.attrs["remarks"]


def test_fields_that_the_user_leaves_out_are_never_sent_and_part_of_the_identity(endpoint):
    endpoint.script(reply())
    spec = f"openai:m@{endpoint.url}"
    from corecurves.models.resolve import as_model

    model = as_model(f"{spec}?omit=temperature,seed")
    run(model.generate(ASK, seed=1))
    assert set(endpoint.requests[0][1]) == {"model", "messages", "max_tokens"}
    assert model.identity.settings["omit"] == ["seed", "temperature"]
    assert model.identity == as_model(f"{spec}?omit=seed,temperature").identity
    assert "omit" not in as_model(spec).identity.settings
    with pytest.warns(UserWarning, match="is not sent `seed`"):
        rose(endpoint, omit="seed")
    with pytest.raises(cc.errors.UsageError, match="`omit` has no 'top_p'; it has seed"):
        as_model(f"{spec}?omit=top_p")


def test_a_redirect_sends_nothing_on(endpoint, once):
    endpoint.script((307, {"Location": "http://127.0.0.1:9/v1/chat/completions"}, {}))
    failure = failure_of(once)
    assert isinstance(failure, PermanentFailure)
    assert "sends calls on to http://127.0.0.1:9/v1/chat/completions" in str(failure)


def test_a_missing_v1_is_told(endpoint):
    bare = endpoint.url.removesuffix("/v1")
    model = OpenAIModel("m", bare, settings=OpenAISettings(attempts=1))
    for answer in (
        (404, TYPE, {"detail": "Not Found"}),
        (200, TYPE, {"error": "Unexpected endpoint or method"}),
        (200, {"Content-Type": "text/html"}, b"<html>Welcome"),
    ):
        endpoint.script(answer)
        assert f"write openai:m@{bare}/v1" in str(failure_of(model))
    endpoint.script((404, TYPE, {"detail": "Not Found"}))
    said = str(failure_of(OpenAIModel("m", endpoint.url)))
    assert said.endswith(f"is there a {endpoint.url}/chat/completions, and the model m?")


@pytest.mark.parametrize(
    ("headers", "text", "wait"),
    [
        ({"retry-after": "45"}, "", 45),
        ({"retry-after-ms": "1500", "retry-after": "2"}, "", 1.5),
        ({"x-ratelimit-reset-requests": "6m0s"}, "", 360),
        ({"x-ratelimit-reset-tokens": "850ms"}, "", 0.85),
        ({"x-ratelimit-reset-requests": "17h", "x-ratelimit-remaining-requests": "12",
          "x-ratelimit-reset-tokens": "3s", "x-ratelimit-remaining-tokens": "0"}, "", 3),
        ({"ratelimit-reset": "30"}, "", 30),
        ({}, "Rate limit reached. Please try again in 1m20s. Visit", 80),
        ({}, "retry after 7 s", 7),
        ({}, '{"@type": "RetryInfo", "retryDelay": "34s"}', 34),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "nan"}, "", None),
        ({"content-type": "text/html"}, "try again later", None),
    ],
)  # fmt: skip
def test_a_stated_wait(headers, text, wait):
    found = stated_wait(headers, text)
    assert found is wait or found == pytest.approx(wait)


def test_a_reset_at_a_time():
    soon = time.time() + 60
    for stated in (f"{soon:.0f}", f"{soon * 1000:.0f}"):
        assert stated_wait({"x-ratelimit-reset": stated}, "") == pytest.approx(60, abs=3)
    assert stated_wait({"anthropic-ratelimit-tokens-reset": "2099-01-01T00:00:00Z"}, "") > 1e9


def test_a_wait_of_45_seconds_twice_is_waited_for(endpoint, monkeypatch):
    """The waits themselves are passed over."""
    sleep, waits = asyncio.sleep, []

    async def at_once(seconds, *result):
        if seconds >= 1:
            waits.append(seconds)
        return await sleep(0, *result)

    monkeypatch.setattr(asyncio, "sleep", at_once)
    slow = refusal(429, retry_after="45")
    endpoint.script(slow, slow, reply())
    assert run(OpenAIModel("m", endpoint.url).generate(ASK, seed=1)).text == "Yes."
    assert waits == [45, 45]


def test_a_wait_beyond_the_patience_says_so(endpoint):
    endpoint.script(refusal(429, retry_after="86400"))
    said = str(failure_of(OpenAIModel("m", endpoint.url)))
    assert "it asks for a wait of 86400 s, and the patience is 300 s" in said
