from __future__ import annotations

import os
from hashlib import sha256

import pytest

from corecurves.errors import UsageError
from corecurves.models import weights as module
from corecurves.models.weights import WEIGHTS, cache_folder, file_digest, find_weights, weights_path


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("CORECURVES_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_cache_is_where_the_environment_says(monkeypatch, cache):
    assert cache_folder() == cache
    monkeypatch.setenv("CORECURVES_CACHE", "~/elsewhere")
    assert cache_folder().is_absolute()
    monkeypatch.setenv("CORECURVES_CACHE", " ")
    assert cache_folder().name == "corecurves"


def test_digest_of_a_file(tmp_path, cache):
    path = tmp_path / "a.gguf"
    path.write_bytes(b"weights")
    assert file_digest(path) == sha256(b"weights").hexdigest()
    assert len(list((cache / "digests").iterdir())) == 1


def test_a_file_that_did_not_change_is_not_read_again(tmp_path, monkeypatch):
    path = tmp_path / "a.gguf"
    path.write_bytes(b"weights")
    first = file_digest(path)
    monkeypatch.setattr(module.hashlib, "file_digest", None)
    assert file_digest(path) == first


def test_a_file_that_changed_is_read_again(tmp_path):
    path = tmp_path / "a.gguf"
    path.write_bytes(b"weights")
    first = file_digest(path)
    path.write_bytes(b"wEights")
    os.utime(path, ns=(1, 1))
    assert file_digest(path) != first


def test_a_damaged_note_is_passed_over(tmp_path, cache):
    path = tmp_path / "a.gguf"
    path.write_bytes(b"weights")
    first = file_digest(path)
    for damage in ("", "{", "[]", '["a", 1, 2, 3, 4]', "\x00"):
        next((cache / "digests").iterdir()).write_text(damage)
        assert file_digest(path) == first


def test_a_cache_that_cannot_be_written_costs_time_only(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CORECURVES_CACHE", str(tmp_path / "file"))
    path = tmp_path / "a.gguf"
    path.write_bytes(b"weights")
    assert file_digest(path) == sha256(b"weights").hexdigest()


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="cannot read"):
        file_digest(tmp_path / "none.gguf")


def test_weights_that_are_missing_say_how_to_get_them():
    with pytest.raises(UsageError, match="corecurves models pull smollm2") as caught:
        weights_path("smollm2")
    assert "\n" not in str(caught.value)


def test_weights_of_the_right_size_that_are_damaged(cache):
    known = WEIGHTS["smollm2"]
    known.path.parent.mkdir(parents=True)
    with known.path.open("wb") as stream:
        stream.truncate(known.size)
    with pytest.raises(UsageError, match=r"damaged.*corecurves models pull smollm2"):
        weights_path("smollm2")


def test_unknown_weights():
    with pytest.raises(UsageError, match="did you mean 'smollm2'"):
        find_weights("smolm2")
