"""Where a prompt goes, and which key goes with it: as it is written, or nowhere."""

from __future__ import annotations

import pickle

import pytest

from corecurves.errors import PermanentFailure, UsageError
from corecurves.graders import as_grader
from corecurves.models.openai import OpenAIModel, OpenAISettings
from corecurves.models.resolve import as_model
from corecurves.selectors import as_selector
from corecurves.systems.resolve import as_system

from .conftest import refusal, reply, run, user

pytest.importorskip("openai")

ASK = user("Say yes.")
HERE = "http://127.0.0.1:9/v1"
SECRET = "sk-test-000"


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    """With a key for OpenAI's own endpoint, no spec that falls back to it lacks one."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("K", "sk-test-111")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


WRONG = [
    f"m?key_env=K@{HERE}",
    f"m?timeout=3&key_env=K@{HERE}",
    f"m?omit=seed@{HERE}",
    f"m?timeout=3@{HERE}?key_env=K",
    f"m?@{HERE}",
    f"m@{HERE}&key_env=K",
    f"m&key_env=K@{HERE}",
    "m&key_env=K",
    "m@",
    "m@ ",
    "m@127.0.0.1:9/v1",
    "m@localhost:9/v1",
    "m@models.example",
    f"m @ {HERE}",
    f"m@{HERE}#part",
    f"m@{HERE} /x",
    "m@http://127.0.0.1:9 /v1",
    "m@http://",
    "m@http:/127.0.0.1:9/v1",
    "m@http//127.0.0.1:9/v1",
    "m@ftp://127.0.0.1/v1",
    "m@http://127.0.0.1:99999/v1",
    f"m@{HERE}@{HERE}",
    HERE,
    f"{HERE}@m",
    f"@{HERE}",
    f"m@{HERE}?key_env={SECRET}",
    f"m@{HERE}?key_env=K?timeout=3",
    f"m@{HERE}?key_env=K;timeout=3",
    f"m@{HERE}?base_url={HERE}",
    f"m?base_url={HERE}",
    f"m@{HERE}?key=K",
    f"m@{HERE}?omit=messages",
    f"m@{HERE}/chat/completions",
    f"m@{HERE}/chat/completions/",
]
FORMS = {
    "model": lambda spec: as_model(spec),
    "system": lambda spec: as_system(f"in-context:{spec}"),
    "judge": lambda spec: as_grader(f"judge:{spec}", as_model("simulated"), []),
    "selector": lambda spec: as_selector(f"judge:{spec}"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("spec", WRONG)
def test_a_spec_that_cannot_be_read_is_refused_and_goes_nowhere(form, spec):
    with pytest.raises(UsageError) as caught:
        FORMS[form](f"openai:{spec}")
    said = str(caught.value)
    assert "\n" not in said
    assert SECRET not in said


@pytest.mark.parametrize(
    ("spec", "name", "endpoint"),
    [
        (f"m@{HERE}", "m", HERE),
        (f" m@{HERE}/ ", "m", HERE),
        (f"m@{HERE}?key_env=K", "m", HERE),
        (f"org/m@1@{HERE}", "org/m@1", HERE),
        (f"@cf/meta/m@{HERE}", "@cf/meta/m", HERE),
        (f"m:7b@{HERE}", "m:7b", HERE),
        ("m@HTTP://LocalHost:9/v1", "m", "HTTP://LocalHost:9/v1"),
        ("m@http://[::1]:9/v1", "m", "http://[::1]:9/v1"),
        ("m@https://models.example", "m", "https://models.example"),
        ("m", "m", "https://api.openai.com/v1"),
    ],
)
def test_a_spec_goes_where_it_says(spec, name, endpoint):
    for identity in (
        as_model(f"openai:{spec}").identity.content(),
        as_system(f"in-context:openai:{spec}").identity.content()["settings"]["model"],
        as_grader(f"judge:openai:{spec}", None, []).identity.content()["settings"]["model"],
    ):
        assert (identity["name"], identity["settings"]["endpoint"]) == (name, endpoint)


def test_the_pasted_path_is_told(monkeypatch):
    with pytest.raises(UsageError, match=f"write {HERE}$"):
        as_model(f"openai:m@{HERE}/chat/completions")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{HERE}/chat/completions")
    with pytest.raises(UsageError, match=f"in OPENAI_BASE_URL ends .* write {HERE}$"):
        as_model("openai:m")


@pytest.mark.parametrize("named", ["", " ", "localhost:9", "m@http://h/v1"])
def test_a_base_url_that_is_set_to_no_address_is_no_reason_to_go_elsewhere(monkeypatch, named):
    monkeypatch.setenv("OPENAI_BASE_URL", named)
    with pytest.raises(UsageError, match="the endpoint in OPENAI_BASE_URL"):
        as_model("openai:m")


@pytest.mark.parametrize("wrap", [as_model, lambda spec: as_system(f"in-context:{spec}")])
def test_a_copy_elsewhere_goes_to_the_same_place_or_nowhere(monkeypatch, wrap):
    monkeypatch.setenv("OPENAI_BASE_URL", HERE)
    frozen = pickle.dumps(wrap("openai:m"))
    assert HERE in str(pickle.loads(frozen).identity.content())
    monkeypatch.delenv("OPENAI_BASE_URL")
    with pytest.raises(UsageError, match=r"is another one in this process: .*api\.openai\.com"):
        _ = pickle.loads(frozen).identity


@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        ("", "no-key"),
        ("?key_env=OPENAI_API_KEY", SECRET),
        ("?key_env=K", "sk-test-111"),
        ("?key_env=none", "no-key"),
        ("?key_env=", "no-key"),
    ],
)
def test_the_key_that_an_endpoint_on_this_machine_gets(endpoint, settings, sent):
    endpoint.script(reply())
    run(as_model(f"openai:m@{endpoint.url}{settings}").generate(ASK, seed=1))
    headers = endpoint.requests[0][0]
    assert headers["authorization"] == f"Bearer {sent}"


def test_who_pays_is_not_told_to_others(endpoint, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-test-000")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-test-000")
    endpoint.script(reply())
    run(OpenAIModel("m", endpoint.url).generate(ASK, seed=1))
    assert "test-000" not in str(endpoint.requests[0][0])


def test_a_key_that_is_named_and_not_set(monkeypatch):
    with pytest.raises(UsageError, match=r"NO_SUCH_KEY is not set; .*key_env=NAME, or none"):
        as_model(f"openai:m@{HERE}?key_env=NO_SUCH_KEY")
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set"):
        as_model("openai:m@https://models.example/v1")
    assert as_model("openai:m@https://models.example/v1?key_env=none").identity.name == "m"


def test_a_refused_call_without_a_key_says_how_to_name_one(endpoint):
    endpoint.script(refusal(401, "who are you"))
    with pytest.raises(PermanentFailure) as caught:
        run(OpenAIModel("m", endpoint.url).generate(ASK, seed=1))
    assert str(caught.value) == (
        "m: 401: who are you; no key was sent: name the variable that holds it, "
        f"openai:m@{endpoint.url}?key_env=NAME"
    )
    settings = OpenAISettings("K")
    with pytest.raises(PermanentFailure) as caught:
        run(OpenAIModel("m", endpoint.url, settings=settings).generate(ASK, seed=1))
    assert "no key was sent" not in str(caught.value)
