"""Every public name has a whole docstring: parameters, returns, and what numpydoc asks."""

import tomllib
from pathlib import Path

import pytest
from numpydoc.validate import validate

import corecurves

CONFIG = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
# Parameters that are those of another call are named together, without types.
STRICT = {"PR01", "PR02", "RT01"}
PASSED_OVER = {*CONFIG["tool"]["numpydoc_validation"]["checks"]} - STRICT
NAMES = [
    name
    for name in dir(corecurves)
    if not name.startswith("_") and callable(getattr(corecurves, name))
]


@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_is_whole(name):
    thing = getattr(corecurves, name)
    found = validate(f"{thing.__module__}.{thing.__qualname__}")["errors"]
    assert [error for error in found if error[0] not in PASSED_OVER] == []
