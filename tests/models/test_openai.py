from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
import sys
import threading
import time
import traceback

import pytest

from corecurves.engine import loop
from corecurves.errors import CellFailure, PermanentFailure, UsageError
from corecurves.models.base import Completion, CutOff, TemporaryFailure
from corecurves.models.openai import OpenAIModel, OpenAISettings
from corecurves.models.resolve import as_model

from .conftest import ASK, failure_of, refusal, reply, run, silence, user

pytest.importorskip("openai")

SECRET = 'sk-"test/000'
JSON = {"Content-Type": "application/json"}


def test_a_reply_with_its_costs(endpoint, once):
    endpoint.script(reply("Yes."))
    assert run(once.generate(ASK, seed=7, temperature=0.5, max_tokens=9)) == Completion(
        "Yes.", "stop", tokens_in=12, tokens_out=3, tokens_cached=8
    )
    _, body = endpoint.requests[0]
    assert body == {
        "model": "m",
        "messages": ASK,
        "seed": 7,
        "temperature": 0.5,
        "max_tokens": 9,
    }


def test_an_empty_text_is_an_answer_and_null_is_none(endpoint, once):
    endpoint.script(reply("", "stop"))
    assert run(once.generate(ASK, seed=1)).text == ""
    endpoint.script(reply(None, "stop", refusal="I won't."))
    assert run(once.generate(ASK, seed=1)).text == "I won't."
    endpoint.script(reply(None, "stop"))
    failure = failure_of(once)
    assert (failure.status, str(failure)[:25]) == ("unparsable", "the reply has no content:")


@pytest.mark.parametrize("content", [None, "", "Ye"])
def test_stopped_by_length_is_cut_off_with_or_without_content(endpoint, once, content):
    endpoint.script(reply(content, "length"))
    failure = failure_of(once)
    assert isinstance(failure, CutOff)
    assert failure.status == "cut_off"
    assert failure.completion.text == (content or "")
    assert failure.completion.tokens_out == 3


@pytest.mark.parametrize(
    "answer",
    [
        refusal(400, "bad"),
        refusal(401),
        refusal(403),
        refusal(404),
        refusal(422),
        refusal(429, "pay first", "insufficient_quota"),
        refusal(429, "You exceeded your current quota, please check your plan."),
    ],
)
def test_what_no_retry_can_mend(endpoint, answer):
    endpoint.script(answer)
    model = OpenAIModel("m", endpoint.url)
    assert isinstance(failure_of(model), PermanentFailure)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        refusal(400, "too long", "context_length_exceeded"),
        refusal(400, "too long", None, "exceed_context_size_error"),
        reply("x", "content_filter"),
        reply("x", "tool_calls"),
    ],
)
def test_what_is_wrong_with_one_prompt_or_reply_alone(endpoint, once, answer):
    endpoint.script(answer)
    failure = failure_of(once)
    assert isinstance(failure, CellFailure)
    assert not isinstance(failure, TemporaryFailure)
    assert failure.status == "call_failed"


@pytest.mark.parametrize(
    ("answer", "wait"),
    [
        (refusal(429, retry_after="7"), 7),
        (refusal(429, retry_after_ms="20"), 0.02),
        (refusal(503, retry_after="soon"), None),
        (refusal(500), None),
        (refusal(408), None),
        ((502, {}, b"<html>bad gateway"), None),
        ((200, {}, None), None),
        (refusal(429, "You exceeded your current quota.", retry_after="7"), 7),
        ((200, JSON, b"{not json"), None),
        ((200, JSON, b""), None),
        ((200, JSON, b"\xff\xfe"), None),
        ((200, {"Content-Type": "text/html"}, b"<html>hello"), None),
        ((200, JSON, {"choices": []}), None),
        ((200, JSON, {"choices": [{"index": 0}]}), None),
        ((200, JSON, {"id": "x"}), None),
    ],
)
def test_what_may_succeed_later(endpoint, once, answer, wait):
    endpoint.script(answer)
    failure = failure_of(once)
    assert isinstance(failure, TemporaryFailure)
    assert failure.retry_after == wait


def test_a_wait_until_a_date(endpoint, once):
    endpoint.script(refusal(429, retry_after="Wed, 21 Oct 2099 07:28:00 GMT"))
    assert failure_of(once).retry_after > 1e9


def test_tries_again_after_a_temporary_failure(endpoint):
    endpoint.script(refusal(503, retry_after_ms="10"), refusal(429, retry_after="0.01"), reply())
    assert run(OpenAIModel("m", endpoint.url).generate(ASK, seed=1)).text == "Yes."
    assert len(endpoint.requests) == 3


def test_a_wait_of_a_day_is_not_waited(endpoint):
    endpoint.script(refusal(429, retry_after="86400"))
    began = time.monotonic()
    assert isinstance(failure_of(OpenAIModel("m", endpoint.url)), TemporaryFailure)
    assert time.monotonic() - began < 20
    assert len(endpoint.requests) == 1


def test_a_reply_that_never_ends(endpoint):
    endpoint.script(silence(3))
    model = OpenAIModel("m", endpoint.url, settings=OpenAISettings(attempts=1, timeout=0.3))
    began = time.monotonic()
    assert "no reply within 0.3 s" in str(failure_of(model))
    assert time.monotonic() - began < 20


def test_nobody_listens(endpoint):
    model = OpenAIModel("m", "http://127.0.0.1:9/v1", settings=OpenAISettings(attempts=1))
    failure = failure_of(model)
    assert isinstance(failure, TemporaryFailure)
    assert "no connection" in str(failure)


def test_cancelling_ends_the_call(endpoint, once):
    endpoint.script(silence(3))

    async def go():
        task = asyncio.create_task(once.generate(ASK, seed=1))
        await asyncio.sleep(0.5)
        task.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - began

    assert run(go()) < 1


def test_serves_one_event_loop_after_another(endpoint, once):
    endpoint.script(reply())
    for _ in range(2):
        assert run(once.generate(ASK, seed=1)).text == "Yes."
        assert loop.wait(once.generate(ASK, seed=1)).text == "Yes."


def test_the_key_comes_from_the_environment_and_goes_nowhere_else(endpoint, monkeypatch):
    monkeypatch.setenv("TEST_ENDPOINT_KEY", SECRET)
    model = as_model(f"openai:m@{endpoint.url}?key_env=TEST_ENDPOINT_KEY&attempts=1")

    def echo(handler):
        said = handler.headers["Authorization"]
        return refusal(401, f"wrong key: {said}, {SECRET!r}")

    endpoint.script(echo)
    with pytest.raises(PermanentFailure) as caught:
        run(model.generate(ASK, seed=1))
    sent = endpoint.requests[0][0]
    assert sent["authorization"] == f"Bearer {SECRET}"
    shown = [
        str(caught.value),
        repr(caught.value),
        "".join(traceback.format_exception(caught.value, chain=True)),
        repr(model),
        repr(model.model),
        repr(vars(model.model)),
        str(model.identity.content()),
        repr(pickle.dumps(model.model)),
    ]
    assert all("test/000" not in text for text in shown)
    assert caught.value.__context__ is None


def test_an_endpoint_on_this_machine_is_not_shown_the_key(endpoint, once, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    endpoint.script(reply())
    run(once.generate(ASK, seed=1))
    assert SECRET not in str(endpoint.requests[0][0])


def test_no_key_no_model(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set"):
        as_model("openai:m@https://models.example/v1")


def test_openais_own_endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert as_model("openai:m").identity.settings["endpoint"].startswith("https://")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1/")
    assert as_model("openai:m").identity.settings["endpoint"] == "http://localhost:1/v1"


@pytest.mark.parametrize(
    "url", ["ftp://h/v1", "h:80", "http://", "http://u:sk-test-000@h/v1", "http://[::1"]
)
def test_what_is_no_endpoint(url):
    with pytest.raises(UsageError) as caught:
        OpenAIModel("m", url)
    assert "sk-test-000" not in str(caught.value)


def test_the_identity_is_the_name_and_the_endpoint(endpoint):
    quick = as_model(f"openai:org/m@1@{endpoint.url}?timeout=3&attempts=2")
    assert quick.identity.name == "org/m@1"
    assert quick.identity == as_model(f"openai:org/m@1@{endpoint.url}").identity
    assert pickle.loads(pickle.dumps(quick.model)).identity == quick.identity


_SERVER = """
import sys, threading, xllamacpp
options = xllamacpp.CommonParams()
options.model.path = sys.argv[1]
options.n_ctx, options.n_parallel, options.verbosity = 1024, 1, -1
options.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
options.cpuparams.n_threads = options.cpuparams_batch.n_threads = 1
options.api_keys = ["let-me-in"]
server = xllamacpp.Server(options)
print(server.listening_address, flush=True)
threading.Timer(240, lambda: sys.stdin.close()).start()
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def real_endpoint(weights):
    """llama.cpp's own endpoint, in another process; it ends when its input does."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(weights)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    limit = threading.Timer(240, process.kill)
    limit.start()
    try:
        yield process.stdout.readline().strip() + "/v1"
    finally:
        limit.cancel()
        process.kill()
        process.communicate(timeout=30)


@pytest.mark.slow
class TestRealEndpoint:
    @pytest.fixture(autouse=True)
    def _key(self, monkeypatch):
        monkeypatch.setenv("TEST_ENDPOINT_KEY", "let-me-in")

    def model(self, url, **settings):
        return OpenAIModel("m", url, settings=OpenAISettings("TEST_ENDPOINT_KEY", **settings))

    def test_answers_as_the_same_weights_in_this_process_do(self, real_endpoint, smollm2):
        ask = user("Name a fruit.")
        there = run(self.model(real_endpoint).generate(ask, seed=0, max_tokens=60))
        here = run(smollm2.generate(ask, seed=0, max_tokens=60))
        assert there.text == here.text != ""
        assert (there.tokens_in, there.finish) == (here.tokens_in, "stop")
        assert abs(there.tokens_out - here.tokens_out) <= 1
        again = run(self.model(real_endpoint).generate(ask, seed=0, max_tokens=60))
        assert again.tokens_cached > 0

    def test_seeds_are_heeded(self, real_endpoint):
        model = self.model(real_endpoint)

        def text(seed):
            ask = user("Invent a name for a cat.")
            try:
                return run(model.generate(ask, seed=seed, temperature=1.5, max_tokens=24)).text
            except CutOff as cut:
                return cut.completion.text

        assert text(1) == text(1)
        assert len({text(seed) for seed in range(1, 5)}) > 1

    def test_cut_off(self, real_endpoint):
        with pytest.raises(CutOff) as caught:
            run(self.model(real_endpoint).generate(user("Tell me a story."), seed=0, max_tokens=4))
        assert caught.value.completion.tokens_out == 4

    def test_a_prompt_that_is_too_long_fails_its_cell_alone(self, real_endpoint):
        with pytest.raises(CellFailure, match="context"):
            run(self.model(real_endpoint).generate(user("word " * 3000), seed=0))

    def test_a_wrong_key_stops_the_run(self, real_endpoint, monkeypatch):
        monkeypatch.setenv("TEST_ENDPOINT_KEY", "wrong-key-000")
        with pytest.raises(PermanentFailure) as caught:
            run(self.model(real_endpoint).generate(ASK, seed=0))
        assert "wrong-key-000" not in str(caught.value)
        assert "401" in str(caught.value)


def test_no_key_is_left_in_the_environment():
    assert "TEST_ENDPOINT_KEY" not in os.environ
