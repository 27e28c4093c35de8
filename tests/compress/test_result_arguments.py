"""What is no list of compressions is refused in one line."""

import pytest

import corecurves as cc
from corecurves.errors import UsageError


@pytest.mark.parametrize("given", [cc.open_store("rose_bench"), "rose_bench", None])
def test_table_compressions_says_what_it_needs(given):
    with pytest.raises(UsageError, match="give those of compress_lesson in a list"):
        cc.table_compressions(given)
