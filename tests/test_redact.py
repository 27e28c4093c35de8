import html
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecurves.redact import Redactor


@pytest.mark.parametrize(
    "name", ["ACME_API_KEY", "HF_TOKEN", "CLIENT_SECRET", "DB_PASSWORD", "hf_token", "APIKEY"]
)
def test_variables_that_hold_secrets(name):
    assert Redactor({name: "sk-test-000"}).text("a sk-test-000 b") == f"a [redacted: {name}] b"


@pytest.mark.parametrize("name", ["PWD", "HOME", "TOKENS", "KEYBOARD", "PATH"])
def test_variables_that_hold_none(name):
    assert Redactor({name: "/home/someone"}).text("/home/someone") == "/home/someone"


def test_short_values_are_left_alone():
    assert Redactor({"A_TOKEN": "true", "B_TOKEN": ""}).text("it is true") == "it is true"


def test_the_longer_of_two_secrets_goes_whole():
    redactor = Redactor({"A_KEY": "sk-test", "B_KEY": "sk-test-000"})
    assert redactor.text("sk-test-000") == "[redacted: B_KEY]"


@given(st.text(alphabet="ab<>&\"'\\\n\té/ ", min_size=6).filter(lambda text: len(text.strip()) > 5))
def test_every_spelling_goes(secret):
    secret = secret.strip()
    redactor = Redactor({"A_KEY": secret})
    for spell in (str, repr, json.dumps, html.escape):
        assert spell(secret).strip("\"'") not in redactor.text(f"x {spell(secret)} y")


def test_trees_are_cleaned_and_images_kept():
    tree = {
        "data": {
            "text/plain": "sk-test-000",
            "image/png": "sk-test-000",
            "image/svg+xml": "sk-test-000",
        },
        "metadata": {"sk-test-000": ["sk-test-000"], "image/png": {"alt": "sk-test-000"}},
    }
    clean = Redactor({"A_KEY": "sk-test-000"}).tree(tree)
    gone = "[redacted: A_KEY]"
    assert clean == {
        "data": {"text/plain": gone, "image/png": "sk-test-000", "image/svg+xml": gone},
        "metadata": {gone: [gone], "image/png": {"alt": gone}},
    }
