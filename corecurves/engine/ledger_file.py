"""The file of a ledger: how it is opened, what is refused, and what is said when it fails."""

from __future__ import annotations

import json
import marshal
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from corecurves.canonical import as_json, differences, digest
from corecurves.engine.plan import Plan
from corecurves.errors import LedgerError

__all__ = ["FORMAT", "OWN", "check", "checksum", "connect", "damaged", "explained"]

FORMAT = "corecurves-ledger-2"
OWN = ("key", "status", "checksum")
"""Columns of a cell that come before its values."""
_PAGES = 8000
"""Pages, of 4 KB, that the ``-wal`` file may have before they are moved into the main file."""
_SMALLEST = 512
"""Bytes of a page, and so of a database."""
_IN_USE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def connect(path: Path | None) -> sqlite3.Connection:
    """Connection that holds the file alone."""
    with explained(path):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        # The lock of the ledger serialises the threads that write to it.
        db = sqlite3.connect(
            path or ":memory:", timeout=1, check_same_thread=False, isolation_level=None
        )
        try:
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
            db.execute("PRAGMA journal_mode = WAL")
            # A commit survives the death of the process; only a power cut may lose the last ones.
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute(f"PRAGMA wal_autocheckpoint = {_PAGES}")
        except BaseException:
            db.close()
            raise
        if path is not None:
            # Who holds the file alone needs no index beside it; a killed run may have left one.
            path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    return db


def check(path: Path, plan: Plan) -> None:
    """Refuse a file that is damaged or belongs elsewhere, before anything writes to it."""
    try:
        with explained(path):
            _check(path, plan)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        # What ought to be text or JSON is something else.
        raise LedgerError(damaged(path, str(error).splitlines()[0])) from error


def _check(path: Path, plan: Plan) -> None:
    if path.is_dir():
        raise LedgerError(f"the ledger {path} is a folder; give a file in it")
    size = path.stat().st_size if path.exists() else 0
    if not size:
        return
    if size < _SMALLEST:
        # SQLite would take a file of one byte for an empty one, and write over it.
        raise LedgerError(damaged(path, "it is too short"))
    # Reading a file that no run has open must not leave files of the database's beside it.
    alone = not path.with_name(f"{path.name}-wal").exists()
    how = "mode=ro&immutable=1" if alone else "mode=ro"
    uri = f"{path.resolve().as_uri()}?{how}"
    with closing(sqlite3.connect(uri, uri=True, timeout=1)) as db:
        db.text_factory = bytes
        state = db.execute("PRAGMA quick_check").fetchone()[0].decode()
        if state != "ok":
            raise LedgerError(damaged(path, state.splitlines()[0]))
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
        if not tables:
            return
        if b"meta" not in tables:
            raise LedgerError(f"{path} is not a ledger; give another file")
        rows = db.execute("SELECT name, value FROM meta")
        meta = {name.decode(): value.decode() for name, value in rows}
        _check_meta(path, meta, plan)
        db.text_factory = str
        for key, status, found, *values in _rows(db, path):
            if checksum(key, status, values) != found:
                raise LedgerError(damaged(path, "a record does not fit its checksum"))


def _rows(db: sqlite3.Connection, path: Path) -> Iterator[tuple[Any, ...]]:
    try:
        yield from db.execute("SELECT * FROM cells")
    except sqlite3.OperationalError as error:
        # A text that is none.
        raise LedgerError(damaged(path, str(error).splitlines()[0])) from error


def _check_meta(path: Path, meta: dict[str, str], plan: Plan) -> None:
    name, _, version = meta.get("format", "").rpartition("-")
    ours, _, newest = FORMAT.rpartition("-")
    if name != ours or not version.isdigit():
        raise LedgerError(f"{path} is not a ledger; give another file")
    if int(version) > int(newest):
        raise LedgerError(_newer(path, f"ledger format {version}, and this one reads {newest}"))
    if version != newest:
        raise LedgerError(
            f"the ledger {path} was written by an older version of corecurves (ledger format "
            f"{version}, and this one reads {newest}); delete it, or give another file"
        )
    theirs: dict[str, Any] = json.loads(meta["config"])
    if digest(theirs) != meta["plan_hash"]:
        raise LedgerError(damaged(path, "its plan does not fit its hash"))
    if meta["plan_hash"] == plan.hash:
        return
    schemas = [str(config.get("schema", "")) for config in (theirs, plan.config)]
    if all(map(str.isdigit, schemas)) and int(schemas[0]) > int(schemas[1]):
        raise LedgerError(_newer(path, f"schema {schemas[0]}, and this one has {schemas[1]}"))
    fields = differences(theirs, as_json(dict(plan.config)))
    named = "; ".join(fields[:5]) + (f"; and {len(fields) - 5} more" if len(fields) > 5 else "")
    raise LedgerError(
        f"the ledger {path} belongs to another plan ({named}); give another file, or the old plan"
    )


def checksum(key: str, status: str, values: Iterable[object]) -> int:
    """Checksum of a record.

    Examples
    --------
    >>> checksum("key", "ok", [1, None]) == checksum("key", "ok", [1])
    True
    >>> checksum("key", "ok", ["ab", "c"]) == checksum("key", "ok", ["a", "bc"])
    False
    >>> checksum("key", "ok", [1, 2**40, -0.5, "é", b"[1]"])
    1523244876
    """
    present = [key, status, *[value for value in values if value is not None]]
    # The fastest that tells types and parts apart; version 2 of the format writes no references, so
    # equal records have equal bytes, in every Python.
    return zlib.crc32(marshal.dumps(present, 2))


@contextmanager
def explained(path: Path | None) -> Iterator[None]:
    """Context that turns what goes wrong with the file into one line that says what to do."""
    shown = "in memory" if path is None else str(path)
    try:
        yield
    except sqlite3.Error as error:
        # Its last byte is the kind; errors of the Python module itself have none.
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        if code in _IN_USE:
            text = f"the ledger {shown} is in use by another run; wait for it, or give another file"
        elif code in _FULL and error.sqlite_errorcode != sqlite3.SQLITE_IOERR_LOCK:
            text = (
                f"the ledger {shown} cannot be written ({error}): is the disk full? What is done "
                "is kept, and the same call resumes once there is room"
            )
        elif code in _BROKEN:
            text = damaged(shown, str(error))
        else:
            text = (
                f"the ledger {shown} cannot be opened ({error}); give a file in a writable folder"
            )
        raise LedgerError(text) from error
    except OSError as error:
        raise LedgerError(
            f"the ledger {shown} cannot be opened ({error.strerror}); give a file in a writable "
            "folder"
        ) from error


def damaged(path: Path | str, why: str) -> str:
    """What is said of a damaged ledger."""
    return f"the ledger {path} is damaged ({why}) and was left as it is; give another file"


def _newer(path: Path, how: str) -> str:
    return (
        f"the ledger {path} was written by a newer version of corecurves ({how}); "
        "upgrade corecurves, or give another file"
    )
