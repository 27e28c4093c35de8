from __future__ import annotations

import pickle
import threading
from importlib.metadata import EntryPoint

import pytest

from corecurves.errors import UsageError
from corecurves.models import named
from corecurves.models.base import Completion, LogProb
from corecurves.models.resolve import ModelAdapter, as_model, model_forms, model_names
from corecurves.specs import Identity, is_simulated
from corecurves.text import count_tokens

from .conftest import run, user

ASK = user("Say yes.")


class Echo:
    identity = Identity("echo", "1")
    concurrency = 2

    def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
        return f"{messages[-1]['content']} {seed} {temperature} {max_tokens}"


def test_settings_of_a_spec_string():
    adapter = as_model("simulated?slip=0.25&seed=3")
    assert adapter.identity.settings == {"slip": 0.25, "seed": 3}
    assert is_simulated(adapter)
    assert adapter.scores
    assert not adapter.volatile


def test_an_object_that_answers_text_without_waiting():
    adapter = as_model(Echo())
    completion = run(adapter.generate(ASK, seed=4, max_tokens=9))
    assert completion.text == "Say yes. 4 0.0 9"
    assert (completion.tokens_in, completion.tokens_out) == (
        count_tokens("Say yes."),
        count_tokens(completion.text),
    )
    assert (adapter.concurrency, adapter.scores, is_simulated(adapter)) == (2, False, False)
    with pytest.raises(UsageError, match="no log-probabilities"):
        run(adapter.logprob(ASK, "Yes."))


def test_a_callable_is_called_off_the_event_loop():
    seen = []

    def model(messages):
        seen.append(threading.current_thread())
        return "yes"

    assert run(as_model(model).generate(ASK, seed=0)).text == "yes"
    assert seen[0] is not threading.main_thread()


def test_a_coroutine_function_is_awaited():
    async def model(messages, *, seed):
        return Completion(f"yes {seed}", tokens_in=7)

    assert run(as_model(model).generate(ASK, seed=5)) == Completion("yes 5", tokens_in=7)


def test_an_object_with_an_async_call():
    class Model:
        async def __call__(self, messages, *, temperature):
            return f"{temperature}"

    assert run(as_model(Model()).generate(ASK, seed=0, temperature=0.5)).text == "0.5"


def test_a_callable_without_identity_is_volatile():
    adapter = as_model(lambda messages: "yes")
    assert adapter.volatile
    assert adapter.identity.settings == {"recognisable": False}


def test_an_answer_that_is_no_text():
    with pytest.raises(TypeError, match="NoneType; it must answer text"):
        run(as_model(lambda messages: None).generate(ASK, seed=0))


def test_a_score_that_is_none():
    class Scores(Echo):
        async def logprob(self, messages, text):
            return -1.0

    with pytest.raises(TypeError, match="LogProb"):
        run(as_model(Scores()).logprob(ASK, "Yes."))


def test_a_score_that_does_not_wait():
    class Scores(Echo):
        def logprob(self, messages, text):
            return LogProb(-1.0, 2)

    assert run(as_model(Scores()).logprob(ASK, "Yes.")) == LogProb(-1.0, 2)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("smolm2", "did you mean 'smollm2'"),
        ("simulated?slipp=1", "slipp"),
        ("simulated:x", "takes nothing after ':'"),
        ("simulated?slip=much", "slip"),
        ("gguf", "gguf:PATH"),
        ("gguf:/nowhere.gguf", "no file"),
        ("openai", "openai:NAME"),
        ("openai:m@nowhere", "http"),
        (3, "int"),
        (Echo, "instance"),
    ],
)
def test_what_names_no_model(source, words):
    with pytest.raises(UsageError, match=words) as caught:
        as_model(source)
    assert "\n" not in str(caught.value)


def test_missing_weights_say_how_to_get_them(monkeypatch, tmp_path):
    monkeypatch.setenv("CORECURVES_CACHE", str(tmp_path))
    with pytest.raises(UsageError, match="corecurves models pull smollm2"):
        as_model("smollm2")


def test_an_identity_of_another_kind():
    class Wrong(Echo):
        identity = "echo"

    with pytest.raises(UsageError, match="Identity"):
        as_model(Wrong())


def test_an_adapter_travels_as_what_it_was_given():
    adapter = as_model("simulated?slip=0.5")
    copy = pickle.loads(pickle.dumps(adapter))
    assert copy == adapter
    assert copy.identity == adapter.identity
    assert as_model(adapter) is adapter


def test_other_packages_register_models(monkeypatch):
    point = EntryPoint("echo", "tests.models.nowhere:Echo", "corecurves.models")
    monkeypatch.setattr(EntryPoint, "load", lambda self: Echo)
    monkeypatch.setattr(named, "entry_points", lambda group: [point])
    assert model_names()[-1] == "echo"
    assert "echo" in model_forms()
    assert isinstance(as_model("echo"), ModelAdapter)
    assert as_model("echo").identity.name == "echo"
    with pytest.raises(UsageError, match="echo"):
        as_model("ekko")
