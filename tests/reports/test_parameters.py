import contextlib
import enum
import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecurves.errors import UsageError
from corecurves.redact import is_key_like
from corecurves.reports import check_parameters, declared_parameters, parse_assignments
from corecurves.reports.commandline import read_value
from corecurves.reports.kinds import Expression, Kind, MisfitError
from corecurves.reports.parameters import REQUIRED
from corecurves.reports.values import literal, plain, recorded

CELL = """\
%load_ext autoreload
from typing import Literal

split = "public"  # which curricula: a split, a file, a folder
arms: tuple[str, ...] = ("taught", "control")  # the conditions
samples: int = 3  # repeats of each cell
gate = 0.95
flag = False
levels = ["L1", "L2"]
sizes = (1, 2.5)
mode: Literal["fresh", "prefix"] = "fresh"
ledger: str | None = None
margins: list[float] = [
    0.05,  # the near one
    0.1,
]  # tried in turn
cut = {}
anything = None
low = float("-inf")
folder = Path("x") / "y"
a, b = 1, "two"
_private = 4
"""


def test_the_cell_is_read_without_running_it(book):
    found = declared_parameters(book(CELL))
    names = "split arms samples gate flag levels sizes mode ledger margins cut anything low folder"
    assert " ".join(found) == f"{names} a b"
    assert found["arms"].default == ("taught", "control")
    assert found["arms"].annotation == "tuple[str, ...]"
    assert found["arms"].help == "the conditions"
    assert found["split"].help == "which curricula: a split, a file, a folder"
    assert (found["split"].line, found["split"].annotation) == (4, "")
    assert found["margins"].help == "tried in turn"
    assert found["low"].default == -math.inf
    assert found["folder"].default == Expression("Path('x') / 'y'")
    assert (found["a"].default, found["b"].default) == (1, "two")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("arms", "tuple[str, ...]"),
        ("sizes", "tuple[float, ...]"),
        ("levels", "list[str]"),
        ("mode", "'fresh' or 'prefix'"),
        ("ledger", "str or None"),
        ("flag", "bool"),
        ("anything", "any"),
        ("folder", "any"),
        ("cut", "dict[str, any]"),
    ],
)
def test_kinds_follow_annotation_then_default(book, name, kind):
    assert str(declared_parameters(book(CELL))[name].kind) == kind


def test_no_tag_and_no_python(book):
    assert declared_parameters(book(None, "k_max = 4")) == {}
    with pytest.raises(UsageError, match="no Python: line 2"):
        declared_parameters(book("k_max = 4\nsamples ="))


def test_misspelt_name(book):
    with pytest.raises(UsageError, match=r"no 'kmax'; it has k_max: did you mean 'k_max'\?"):
        check_parameters(book("k_max = 4"), {"kmax": 16})


def test_parameters_for_a_notebook_without_the_tag(book):
    with pytest.raises(UsageError, match="takes no parameters, received k_max"):
        check_parameters(book(None, "k_max = 4"), {"k_max": 16})
    assert check_parameters(book(None, "k_max = 4"), {}) == {}


def test_required(book):
    cell = "k_max: int\nsamples = 3"
    assert declared_parameters(book(cell))["k_max"].default is REQUIRED
    with pytest.raises(UsageError, match="needs a value for k_max"):
        check_parameters(book(cell), {})
    assert check_parameters(book(cell), {"k_max": 1}) == {"k_max": 1}


KEYS = [
    "api_key", "apikey", "API_KEY", "apiKey", "openai_key", "openai_api_key", "token", "hf_token",
    "access_token", "authToken", "password", "db_passwd", "secret", "client_secret", "secrets",
    "authorization", "auth_header", "bearer", "credentials", "private_key", "key", "api_keys",
    "access_tokens", "passphrase",
]  # fmt: skip
INNOCENT = [
    "tokens", "max_tokens", "token_counter", "tokens_in", "stop_token", "expected_token", "keys",
    "sort_key", "plan_key", "api_key_env", "token_file", "author", "monkey", "keyword", "k_max",
    "passed", "tokenizer", "secretary", "_",
]  # fmt: skip


@pytest.mark.parametrize("name", KEYS)
def test_key_like_names(book, name):
    assert is_key_like(name)
    with pytest.raises(UsageError, match="looks like a secret") as caught:
        check_parameters(book(f"{name} = ''"), {name: "sk-test-000"})
    assert "sk-test-000" not in str(caught.value)
    with pytest.raises(UsageError, match="looks like a secret") as caught:
        parse_assignments([f"{name}=sk-test-000"], declared_parameters(book(f"{name} = ''")))
    assert "sk-test-000" not in str(caught.value)


@pytest.mark.parametrize("name", INNOCENT)
def test_innocent_names(name):
    assert not is_key_like(name)


def test_keys_inside_a_value(book):
    with pytest.raises(UsageError, match=r"parameter `model\.api_key` looks like a secret"):
        check_parameters(book("model = {}"), {"model": {"api_key": "sk-test-000"}})
    with pytest.raises(UsageError, match="looks like a secret"):
        check_parameters(book("models = []"), {"models": [{"token": "sk-test-000"}]})


def test_error_texts_hold_no_key(book, monkeypatch):
    monkeypatch.setenv("ACME_API_KEY", "sk-test-000")
    with pytest.raises(UsageError, match=r"redacted: ACME_API_KEY") as caught:
        check_parameters(book("k_max = 4"), {"k_max": "sk-test-000"})
    assert "sk-test-000" not in str(caught.value)


class Colour(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (date(2026, 1, 31), "2026-01-31"),
        (datetime(2026, 1, 31, 12, tzinfo=UTC), "2026-01-31T12:00:00+00:00"),
        (Path("a") / "b", str(Path("a") / "b")),
        (np.int64(4), 4),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("x"), "x"),
        (np.array([1, 2]), [1, 2]),
        (np.datetime64("2026-01-31"), "2026-01-31"),
        (Colour.RED, "red"),
        ((1, [2, (3,)]), (1, [2, (3,)])),
        ({"cut": [date(2026, 1, 31)]}, {"cut": ["2026-01-31"]}),
    ],
)
def test_values_become_plain(value, expected):
    taken = plain(value, "x")
    assert taken == expected
    assert type(taken) is type(expected)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({1: "a"}, "`x` has the key 1; keys must be text"),
        ({"cut": {2: "a"}}, r"`x\['cut'\]` has the key 2"),
        (Decimal("1.5"), "`x` is of type Decimal"),
        ([1, object()], r"`x\[1\]` is of type object"),
        ({1, 2}, "`x` is of type set"),
        (b"raw", "`x` is of type bytes"),
        (lambda: 1, "`x` is of type function"),
        (1j, "`x` is of type complex"),
        (np.array([object()]), "`x` is of type ndarray"),
    ],
)
def test_unsupported_values_are_named(book, value, message):
    with pytest.raises(UsageError, match=message):
        check_parameters(book("x = None"), {"x": value})


def test_tuple_or_list_as_the_default_says(book):
    declared = book("arms = ('taught',)\nlevels = ['L1']\nfree = None")
    given = {"arms": ["a", "b"], "levels": ("L1",), "free": (1,)}
    assert check_parameters(declared, given) == {
        "arms": ("a", "b"),
        "levels": ["L1"],
        "free": (1,),
    }


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("samples", "3", "takes int (default 3), received '3'"),
        ("samples", 0.5, "takes int"),
        ("samples", True, "takes int"),
        ("gate", "high", "takes float (default 0.95), received 'high'"),
        ("flag", 1, "takes bool"),
        ("split", 4, "takes str (default 'public'), received 4"),
        ("arms", "taught", "takes tuple[str, ...]"),
        ("arms", ["taught", 1], "takes tuple[str, ...]"),
        ("mode", "frsh", "takes 'fresh' or 'prefix'"),
        ("ledger", 4, "takes str or None"),
    ],
)
def test_values_of_another_kind(book, name, value, expected):
    with pytest.raises(UsageError) as caught:
        check_parameters(book(CELL), {name: value})
    assert f"parameter `{name}` {expected}" in str(caught.value)


def test_whole_numbers_are_taken_as_floats(book):
    (value,) = check_parameters(book("gate = 0.5"), {"gate": 1}).values()
    assert type(value) is float


def test_one_assignment_of_each_kind(book):
    assignments = [
        "split=public",
        "samples=3",
        "arms=[taught,control]",
        "gate=0.95",
        "flag=true",
        "levels=L1, L2",
        "margins=[0.05,1]",
        "sizes=(1,2)",
        "mode=prefix",
        "ledger=None",
        'cut={"a": [1]}',
        "low=nan",
    ]
    parsed = parse_assignments(assignments, declared_parameters(book(CELL)))
    assert math.isnan(parsed.pop("low"))
    assert parsed == {
        "split": "public",
        "samples": 3,
        "arms": ("taught", "control"),
        "gate": 0.95,
        "flag": True,
        "levels": ["L1", "L2"],
        "margins": [0.05, 1.0],
        "sizes": (1.0, 2.0),
        "mode": "prefix",
        "ledger": None,
        "cut": {"a": [1]},
    }


@pytest.mark.parametrize("text", ["010", "no", "13:45", "2.10", "null", "", " a ", "a=b", "[x]"])
def test_text_is_taken_literally(book, text):
    declared = declared_parameters(book("split = 'public'"))
    assert parse_assignments([f"split={text}"], declared) == {"split": text}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[]", []),
        ("[a]", ["a"]),
        ("['a,b', \"c\"]", ["a,b", "c"]),
        ("[it's, 010]", ["it's", "010"]),
        ("[a,]", ["a"]),
        ("['']", [""]),
    ],
)
def test_lists_of_text(book, text, expected):
    declared = declared_parameters(book("levels: list[str] = []"))
    assert parse_assignments([f"levels={text}"], declared) == {"levels": expected}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3", 3), ("0.5", 0.5), ("true", True), ("None", None), ("010", "010"), ("no", "no"),
     ("[1,a]", [1, "a"]), ("2026-01-31", "2026-01-31"), ("1_000", "1_000")],
)  # fmt: skip
def test_text_for_a_parameter_of_no_kind(book, text, expected):
    declared = declared_parameters(book("x = None"))
    (value,) = parse_assignments([f"x={text}"], declared).values()
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("samples=three", "parameter `samples` takes int (default 3), received 'three'"),
        ("samples=3.0", "takes int"),
        ("samples=1_000", "takes int"),
        ("gate=", "takes float"),
        ("flag=maybe", "takes bool"),
        ("margins=[0.1,x]", "takes list[float]"),
        ("margins=[0.1,,1]", "takes list[float]"),
        ("margins=[0.1", "takes list[float]"),
        ("mode=other", "takes 'fresh' or 'prefix'"),
        ("cut={1: 2}", "takes dict"),
        ("split", "given as name=value, received 'split'"),
        ("splt=x", "did you mean 'split'?"),
    ],
)
def test_assignments_that_do_not_fit(book, assignment, message):
    with pytest.raises(UsageError) as caught:
        parse_assignments([assignment], declared_parameters(book(CELL)))
    assert message in str(caught.value)


def test_an_assignment_given_twice(book):
    with pytest.raises(UsageError, match="`samples` is given twice"):
        parse_assignments(["samples=1", "samples=2"], declared_parameters(book(CELL)))


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(PLAIN)
def test_literals_evaluate_to_the_value(value):
    assert repr(eval(literal(value), {"__builtins__": {"float": float}})) == repr(value)


@given(PLAIN)
def test_records_are_strict_json(value):
    json.dumps(recorded(value), allow_nan=False)


@given(st.lists(st.text(alphabet="ab,'\"[](){} =", min_size=1)))
def test_any_list_text_is_read_or_refused(pieces):
    kind = Kind("list", (Kind("str"),))
    with contextlib.suppress(MisfitError):
        assert all(isinstance(item, str) for item in read_value(kind, f"[{','.join(pieces)}]"))
