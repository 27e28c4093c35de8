"""The ledger: a SQLite file with the record of every finished cell.

Each record is committed as soon as its cell is finished, so a killed run loses only what was in
flight. The file is in WAL mode: its ``-wal`` file belongs to it until the ledger is closed. A run
holds the file alone while it is open, and each record carries a checksum, so that two runs never
pay for the same cells and a damaged file is never read as other results.

A cell is a row and a value a column, so a million cells come back in columns, at about the speed of
SQLite. What SQLite does not have (lists, booleans, lone surrogates in a text) stands in its column
as JSON, in bytes. A column is added when the first value of its name comes.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from corecurves.canonical import canonical_json
from corecurves.engine.ledger_file import FORMAT, OWN, check, checksum, connect, damaged, explained
from corecurves.engine.plan import Plan
from corecurves.engine.records import Block, Record, from_column, to_stored
from corecurves.errors import LedgerError

__all__ = ["Ledger", "Record", "default_path"]

_BLOCK = 1000
"""Rows that are read at once: with more, making room for them takes longer than reading them."""


def default_path(plan: Plan) -> Path:
    """Ledger file of a plan in the user's cache folder."""
    from platformdirs import user_cache_path

    # The format is in the name, so that what another version left there is in nobody's way.
    name = f"{plan.question}-{plan.hash[:24]}.{FORMAT.rpartition('-')[2]}.sqlite"
    return user_cache_path("corecurves") / "ledgers" / name


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
        If the file is damaged, is no ledger, belongs to another plan, was written by a newer
        version, is in use by another run, or cannot be written; it is left untouched.
    """

    def __init__(self, path: Path | None, plan: Plan) -> None:
        self.path = path
        self.closed = False
        self._lock = threading.Lock()
        if path is not None:
            check(path, plan)
        self._db = connect(path)
        self._statements: dict[tuple[str, ...], tuple[str, tuple[str, ...]]] = {}
        meta = {
            "format": FORMAT,
            "question": plan.question,
            "plan_hash": plan.hash,
            "config": canonical_json(dict(plan.config)),
        }
        try:
            self._begin(meta)
        except BaseException:
            self._db.close()
            raise

    def _begin(self, meta: dict[str, str]) -> None:
        # One transaction: a run that is killed here leaves no half of a ledger behind.
        with explained(self.path), self._lock, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
            )
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS cells (key TEXT PRIMARY KEY, status TEXT NOT NULL,"
                " checksum INTEGER NOT NULL)"
            )
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

    def write(self, *records: Record) -> None:
        """Commit the records of finished cells, together; a failure never replaces a success."""
        with explained(self.path), self._lock:
            rows = [self._row(record) for record in records]
            with self._db:
                if len(rows) > 1:
                    self._db.execute("BEGIN IMMEDIATE")
                for statement, row in rows:
                    self._db.execute(statement, row)

    def done(self) -> set[str]:
        """Keys of the cells that ended well and need not be run again."""
        return {key for (key,) in self._read("SELECT key FROM cells WHERE status = 'ok'")}

    def blocks(self, *names: str) -> Iterator[Block]:
        """What is known of all cells, one row a cell, in blocks of columns."""
        there = self._names()
        wanted = tuple(name for name in names if name in there) if names else there
        query = (
            f"SELECT {', '.join(['rowid', 'key', 'status', *map(_quoted, wanted)])} FROM cells"
            " WHERE rowid > ? ORDER BY rowid LIMIT ?"
        )
        last = -1
        while rows := self._read(query, last, _BLOCK):
            numbers, keys, statuses, *columns = zip(*rows, strict=True)
            last = numbers[-1]
            yield Block(keys, statuses, dict(zip(wanted, map(self._values, columns), strict=True)))

    def records(self) -> Iterator[Record]:
        """Records of all cells, one a cell, in the order in which they were written."""
        for block in self.blocks():
            yield from block.records()

    def failed(self) -> list[Record]:
        """Records of the cells that did not end well, with the reason alone."""
        reason = "reason" if "reason" in self._names() else "NULL"
        rows = self._read(f"SELECT key, status, {reason} FROM cells WHERE status != 'ok'")
        reasons = self._values([text for *_, text in rows])
        return [
            Record(key, status, {"reason": text or ""})
            for (key, status, _), text in zip(rows, reasons, strict=True)
        ]

    def close(self) -> None:
        """Move everything into the main file and close it."""
        with self._lock:
            if self.path is not None:
                # On a full disk the -wal file stays, and is read like the rest by the next run.
                with suppress(sqlite3.Error):
                    self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.close()
            self.closed = True

    def _read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with explained(self.path), self._lock:
            return self._db.execute(query, values).fetchall()

    def _values(self, column: Sequence[Any]) -> Sequence[Any]:
        try:
            return from_column(column)
        except ValueError as error:
            raise LedgerError(damaged(self.path or "in memory", str(error))) from error

    def _names(self) -> tuple[str, ...]:
        """Names of the values that any cell has, in the order of their columns."""
        columns = self._read("SELECT name FROM pragma_table_info('cells')")
        return tuple(name for (name,) in columns if name not in OWN)

    def _row(self, record: Record) -> tuple[str, list[Any]]:
        """What writes a record: a statement, and its values."""
        names = tuple(record.values)
        if names not in self._statements:
            self._statements[names] = self._statement(names)
        statement, order = self._statements[names]
        values = [to_stored(record.values[name], name) for name in order]
        return statement, [
            record.key,
            record.status,
            checksum(record.key, record.status, values),
            *values,
            record.status,
            record.key,
        ]

    def _statement(self, names: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        """What writes a record with these values, and the order of their columns."""
        if taken := set(names) & set(OWN):
            raise ValueError(f"a value cannot be named {' or '.join(sorted(taken))}")
        query = "SELECT name FROM pragma_table_info('cells')"
        there = [name for (name,) in self._db.execute(query)]
        for name in names:
            if name not in there:
                # Without a type, so that SQLite leaves what it is given as it is.
                self._db.execute(f"ALTER TABLE cells ADD COLUMN {_quoted(name)}")
                there.append(name)
        order = tuple(sorted(names, key=there.index))
        columns = ", ".join((*OWN, *map(_quoted, order)))
        marks = ", ".join("?" * (len(OWN) + len(order)))
        return (
            f"REPLACE INTO cells ({columns}) SELECT {marks} WHERE ? = 'ok' OR NOT EXISTS"
            " (SELECT 1 FROM cells WHERE key = ? AND status = 'ok')",
            order,
        )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
