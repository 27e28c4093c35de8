"""The ledger: a SQLite file with the record of every finished cell.

Each record is committed as soon as its cell is finished, so a killed run loses only what was in
flight. The file is in WAL mode: its ``-wal`` file belongs to it until the ledger is closed. Texts
are stored as ASCII JSON, which keeps line separators, NUL and lone surrogates as they are.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from corecurves.canonical import JSON, as_json, canonical_json, differences
from corecurves.engine.plan import Plan
from corecurves.errors import LedgerError

__all__ = ["Ledger", "Record", "default_path"]

_FORMAT = "corecurves-ledger-1"
_CHECKPOINT_EVERY = 1000


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of one finished cell.

    Parameters
    ----------
    key : str
        Key of the cell.
    status : str
        How it ended, see `corecurves.schema.STATUSES`.
    values : dict of str to JSON
        Its values by variable name.
    """

    key: str
    status: str
    values: dict[str, JSON]


def default_path(plan: Plan) -> Path:
    """Ledger file of a plan in the user's cache folder.

    Parameters
    ----------
    plan : Plan
        The plan whose hash names the file.

    Returns
    -------
    Path
        The file; it need not exist.
    """
    from platformdirs import user_cache_path

    return user_cache_path("corecurves") / "ledgers" / f"{plan.question}-{plan.hash[:24]}.sqlite"


class Ledger:
    """Record of done cells; usable as a context manager.

    Parameters
    ----------
    path : Path or None
        The file, made where there is none; None keeps the ledger in memory.
    plan : Plan
        The plan that the cells belong to.

    Raises
    ------
    LedgerError
        If the file is damaged, is no ledger, or belongs to another plan; it is left untouched.
    """

    def __init__(self, path: Path | None, plan: Plan) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._pending = 0
        if path is not None:
            _check(path, plan)
        self._db = _connect(path)
        with self._lock, self._db:
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
            )
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS cells (key TEXT PRIMARY KEY, status TEXT NOT NULL,"
                " record TEXT NOT NULL) WITHOUT ROWID"
            )
            meta = {
                "format": _FORMAT,
                "question": plan.question,
                "plan_hash": plan.hash,
                "config": canonical_json(dict(plan.config)),
            }
            self._db.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", meta.items())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def write(self, record: Record) -> None:
        """Commit the record of a finished cell; a failure never replaces a success.

        Parameters
        ----------
        record : Record
            The record.

        Raises
        ------
        LedgerError
            If the file cannot be written.
        """
        text = canonical_json(record.values)
        try:
            with self._lock, self._db:
                self._db.execute(
                    "INSERT INTO cells VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE"
                    " SET status = ?2, record = ?3 WHERE status != 'ok' OR ?2 = 'ok'",
                    (record.key, record.status, text),
                )
                self._pending += 1
            if self._pending >= _CHECKPOINT_EVERY:
                self._checkpoint()
        except sqlite3.Error as error:
            raise LedgerError(f"the ledger {self._shown} cannot be written: {error}") from error

    def done(self) -> set[str]:
        """Keys of the cells that ended well and need not be run again."""
        with self._lock:
            rows = self._db.execute("SELECT key FROM cells WHERE status = 'ok'").fetchall()
        return {key for (key,) in rows}

    def records(self) -> Iterator[Record]:
        """Records of all cells, one a cell, in order of key.

        Yields
        ------
        Record
            The record.
        """
        with self._lock:
            rows = self._db.execute("SELECT key, status, record FROM cells").fetchall()
        for key, status, text in rows:
            yield Record(key, status, json.loads(text))

    def close(self) -> None:
        """Move everything into the main file and close it."""
        with self._lock:
            if self.path is not None:
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.close()

    def _checkpoint(self) -> None:
        with self._lock:
            self._pending = 0
            if self.path is not None:
                self._db.execute("PRAGMA wal_checkpoint(PASSIVE)")

    @property
    def _shown(self) -> str:
        return "in memory" if self.path is None else str(self.path)


def _connect(path: Path | None) -> sqlite3.Connection:
    try:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        # The lock of the ledger serialises the threads that write to it.
        db = sqlite3.connect(path or ":memory:", timeout=30, check_same_thread=False)
        db.execute("PRAGMA journal_mode = WAL")
        # A commit survives the death of the process; only a power cut may lose the last ones.
        db.execute("PRAGMA synchronous = NORMAL")
    except (OSError, sqlite3.Error) as error:
        raise LedgerError(
            f"the ledger {path} cannot be opened ({error}); give a file in a writable folder"
        ) from error
    return db


def _check(path: Path, plan: Plan) -> None:
    """Refuse a file that is damaged or belongs elsewhere, before anything writes to it."""
    if path.is_dir():
        raise LedgerError(f"the ledger {path} is a folder; give a file in it")
    if not path.exists() or path.stat().st_size == 0:
        return
    # Reading a file that no run has open must not leave files of the database's beside it.
    alone = not path.with_name(f"{path.name}-wal").exists()
    how = "mode=ro&immutable=1" if alone else "mode=ro"
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True)) as db:
            state = db.execute("PRAGMA quick_check").fetchone()[0]
            tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
            meta = dict(db.execute("SELECT name, value FROM meta")) if "meta" in tables else {}
    except sqlite3.DatabaseError as error:
        raise LedgerError(_damaged(path, str(error))) from error
    if state != "ok":
        raise LedgerError(_damaged(path, state.splitlines()[0]))
    if not tables:
        return
    if meta.get("format") != _FORMAT:
        raise LedgerError(f"{path} is not a ledger of this version; give another file")
    if meta["plan_hash"] == plan.hash:
        return
    theirs = json.loads(meta["config"])
    fields = differences(theirs, as_json(dict(plan.config)))
    named = "; ".join(fields[:5]) + (f"; and {len(fields) - 5} more" if len(fields) > 5 else "")
    raise LedgerError(
        f"the ledger {path} belongs to another plan ({named}); give another file, or the old plan"
    )


def _damaged(path: Path, why: str) -> str:
    return f"the ledger {path} is damaged ({why}) and was left as it is; give another file"
