"""Where the data files that come with the library lie."""

from __future__ import annotations

from pathlib import Path

from corecurves.errors import UsageError

__all__ = ["bundled_names", "bundled_path"]

_HERE = Path(__file__).resolve().parent


def bundled_path(*parts: str) -> Path:
    """Path of a bundled file or folder.

    Examples
    --------
    >>> bundled_path("curricula", "public").is_dir()
    True
    """
    path = _root(parts[0]).joinpath(*parts)
    if not path.exists():
        names = ", ".join(bundled_names(*parts[:-1]))
        raise UsageError(f"nothing bundled is called {'/'.join(parts)}; there is {names}")
    return path


def bundled_names(*parts: str) -> list[str]:
    """Names that a bundled folder holds, without hidden ones.

    Examples
    --------
    >>> "public" in bundled_names("curricula")
    True
    """
    if not parts:
        return ["curricula", "episodes", "notebooks"]
    folder = _root(parts[0]).joinpath(*parts)
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def _root(folder: str) -> Path:
    # An editable install would keep a stale copy, so a source tree wins where there is one.
    if (_HERE.parent / "pyproject.toml").is_file() and (_HERE.parent / folder).is_dir():
        return _HERE.parent
    return _HERE / "_bundled"
