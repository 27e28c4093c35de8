import pytest

from corecurves.errors import UsageError
from corecurves.spec_strings import parse_spec, typed_settings


def factory(max_hops: int | None = None, rate: float = 0.5, name: str = "x", on: bool = False):
    return max_hops, rate, name, on


def test_parts():
    spec = parse_spec("openai:some-model@http://127.0.0.1:80/v1?temperature=0.7")
    assert (spec.name, spec.argument) == ("openai", "some-model@http://127.0.0.1:80/v1")
    assert spec.settings == {"temperature": "0.7"}


def test_types_follow_the_factory():
    given = {"max_hops": "none", "rate": "1", "name": "010", "on": "true"}
    found = typed_settings(factory, given)
    assert found == {"max_hops": None, "rate": 1.0, "name": "010", "on": True}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grounded?max_hop=2", "did you mean 'max_hops'"),
        ("grounded?max_hops=two", "`max_hops` is 'two'; give int or none"),
        ("grounded?on=maybe", "`on` is 'maybe'; give bool"),
        ("openai:m?api_key=sk-1234567", "taken from the environment only"),
        ("grounded?max_hops", "write .key=value"),
        ("grounded?rate=1&rate=2", "twice"),
    ],
)
def test_a_wrong_setting_is_named(text, message):
    with pytest.raises(UsageError, match=message):
        typed_settings(factory, parse_spec(text).settings)


@pytest.mark.parametrize("text", ["a:m?b=c@http://h/v1", "a:m?@HTTPS://h", "a?b=1@x+y://h?c=2"])
def test_an_address_behind_the_settings_is_refused(text):
    with pytest.raises(UsageError, match="has an address behind its settings"):
        parse_spec(text)
    assert parse_spec("a:m@http://h?url=http://other").settings == {"url": "http://other"}
