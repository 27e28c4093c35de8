import math
import subprocess
import sys
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecurves.canonical import as_json, canonical_json, differences, digest, stable_seed

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(json_values)
def test_a_value_does_not_differ_from_itself(value):
    assert differences(value, as_json(value)) == []


@given(json_values, json_values)
def test_equal_text_means_no_difference(left, right):
    same = canonical_json(left) == canonical_json(right)
    assert same == (differences(left, right) == [])


def test_key_order_does_not_matter_and_grouping_does():
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest(["ab", "c"]) != digest(["a", "bc"])


def test_numpy_scalars_are_numbers():
    assert as_json({"k": np.int64(3), "x": np.float64(0.5), "b": np.bool_(True)}) == {
        "k": 3, "x": 0.5, "b": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({"a": [1, math.nan]}, r"value\['a'\]\[1\] is nan"),
        ({"a": math.inf}, r"value\['a'\] is inf"),
        ({1: "x"}, "key 1"),
        ({"d": date(2025, 3, 4)}, r"value\['d'\] is a date"),
        (np.arange(2), "ndarray"),
    ],
)
def test_what_json_does_not_have_is_refused_by_name(value, named):
    with pytest.raises((TypeError, ValueError), match=named):
        canonical_json(value)


def test_differences_name_the_paths():
    left = {"a": {"b": [1, 2]}, "gone": 1}
    right = {"a": {"b": [1, 3]}, "new": None}
    assert differences(left, right) == [
        "a.b[1]: 2 → 3", "gone: 1 → absent", "new: absent → null",
    ]  # fmt: skip


def test_same_digest_and_seed_in_another_interpreter_under_another_hash_seed():
    code = (
        "from corecurves.canonical import digest, stable_seed;"
        "print(digest({'b': [1.5, None], 'a': '\\u2028'}), stable_seed(7, 'wisdom'))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "99"}, timeout=60,
    ).stdout.split()  # fmt: skip
    here = [digest({"b": [1.5, None], "a": "\u2028"}), str(stable_seed(7, "wisdom"))]
    assert found == here
