"""What can be wrong with the file of a ledger: one clear line each, and nothing lost."""

from __future__ import annotations

import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from faults.material import concepts, results, told
from helpers import Rote

import corecurves as cc
import corecurves.engine.ledger as ledger_module
from corecurves.cli import main
from corecurves.engine.ledger import Ledger, Record
from corecurves.engine.plan import Plan
from corecurves.errors import DatasetError, LedgerError

CELLS = 300


def plan(cells=CELLS, **config):
    return Plan(
        "lane", {"cell": list(range(cells))}, np.arange(cells, dtype=np.int32)[:, None],
        tuple(f"key{i:05}" for i in range(cells)), np.arange(cells),
        {"seed": 0, "schema": "1", **config},
    )  # fmt: skip


def record(i):
    values = {"surface": f"answer {i} " + "x" * (i % 97), "hits": i, "token_hits": [1, 0, i % 2]}
    return Record(f"key{i:05}", "ok", values)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A ledger with all cells."""
    path = tmp_path_factory.mktemp("whole") / "run.sqlite"
    with Ledger(path, plan()) as book:
        for i in range(CELLS):
            book.write(record(i))
    return path


def content(path, of=None):
    with Ledger(path, of or plan()) as book:
        return {found.key: (found.status, found.values) for found in book.records()}


def lane(ledger, system=None, **more):
    return cc.run_lane(
        concepts(8), system or Rote(), replays=1, ledger=ledger, progress=False, **more
    )


def one_line(caught):
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    return text


@contextmanager
def largest_file(size):
    """No file of this process may grow beyond a size: writing there fails, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def most_pages(monkeypatch, pages):
    """The database itself finds no room for more pages."""
    connect = ledger_module.connect

    def small(path):
        db = connect(path)
        db.execute(f"PRAGMA max_page_count = {pages}")
        return db

    with monkeypatch.context() as patch:
        patch.setattr(ledger_module, "connect", small)
        yield


@pytest.mark.parametrize("how", ["no room to write", "no room in the database"])
def test_a_full_disk_stops_the_run_and_keeps_what_is_done(tmp_path, monkeypatch, how):
    path = tmp_path / "run.sqlite"
    expected = lane(False)
    full = largest_file(400_000) if how == "no room to write" else most_pages(monkeypatch, 11)
    first = Rote()
    with full, pytest.raises(LedgerError) as caught:
        lane(path, first, max_concurrency=1)
    assert "cannot be written" in one_line(caught)
    assert "the same call resumes" in str(caught.value)
    plan_of_it = cc.plan_lane(concepts(8), Rote(), replays=1)
    kept = len(content(path, plan_of_it))
    second = Rote()
    found = lane(path, second)
    xr.testing.assert_identical(results(found), results(expected))
    told(f"disk, {how}", {"cells": len(plan_of_it), "kept": kept, "started": first.starts,
                          "started to finish": second.starts})  # fmt: skip
    assert 0 < kept < len(plan_of_it)
    # One start each run is a look at the system; one cell was under way when the disk was full.
    assert kept <= first.starts - 1 <= kept + 1
    assert second.starts - 1 == len(plan_of_it) - kept


def test_a_full_disk_from_the_start(tmp_path):
    with largest_file(0), pytest.raises(LedgerError) as caught:
        Ledger(tmp_path / "run.sqlite", plan())
    assert "cannot be" in one_line(caught)
    with Ledger(tmp_path / "run.sqlite", plan()) as book:
        assert book.done() == set()


def test_a_save_to_a_full_disk_leaves_the_older_file(tmp_path):
    ds, other = lane(False), lane(False, seed=1)
    path = cc.save(ds, tmp_path / "lane.nc")
    before = path.read_bytes()
    with largest_file(8_000), pytest.raises(DatasetError) as caught:
        cc.save(other, path)
    assert "cannot be written" in one_line(caught)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["lane.nc"]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    # The kernel makes no folders in /proc for anyone, root included.
    for path in (tmp_path / "file" / "run.sqlite", Path("/proc/corecurves/run.sqlite")):
        with pytest.raises(LedgerError) as caught:
            Ledger(path, plan())
        assert "give a file in a writable folder" in one_line(caught)
        assert str(path) in str(caught.value)


AS_NOBODY = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from faults.test_disk import Ledger, LedgerError, plan
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
for path in sys.argv[2:]:
    try:
        Ledger(Path(path), plan())
    except LedgerError as error:
        print(error)
    else:
        print("opened")
"""


@pytest.mark.slow
def test_a_folder_and_a_file_without_permission(whole, tmp_path):
    # Reachable by all, as the folders of the tests are not, and writable by none.
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "readonly"
        folder.mkdir()
        shutil.copy(whole, folder / "whole.sqlite")
        closed = Path(name) / "closed"
        closed.mkdir()
        shutil.copy(whole, closed / "whole.sqlite")
        writable = Path(name) / "writable"
        writable.mkdir()
        shutil.copy(whole, writable / "whole.sqlite")
        (folder / "whole.sqlite").chmod(0o444)
        (writable / "whole.sqlite").chmod(0o444)
        before = (folder / "whole.sqlite").read_bytes()
        closed.chmod(0o000)
        folder.chmod(0o555)
        writable.chmod(0o777)
        Path(name).chmod(0o755)
        paths = [folder / "new.sqlite", folder / "whole.sqlite", closed / "whole.sqlite",
                 folder / "deeper" / "new.sqlite", writable / "whole.sqlite"]  # fmt: skip
        try:
            done = subprocess.run(
                [sys.executable, "-c", AS_NOBODY, str(Path(__file__).parents[1]), *paths],
                capture_output=True, text=True, timeout=120, check=False,
            )  # fmt: skip
            assert (folder / "whole.sqlite").read_bytes() == before
            names = sorted(path.name for path in folder.iterdir())
        finally:
            for each in (folder, closed):
                each.chmod(0o755)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert len(lines) == len(paths)
    for line, path in zip(lines, paths, strict=True):
        assert str(path) in line
        assert "give a file in a writable folder" in line
    assert names == ["whole.sqlite"]
    told("disk, no permission", {"places": len(lines), "one line each": len(lines)})


def test_a_ledger_in_use_in_this_process(whole, tmp_path):
    path = Path(shutil.copy(whole, tmp_path))
    with Ledger(path, plan()) as book:
        with pytest.raises(LedgerError, match="in use by another run; wait for it") as caught:
            Ledger(path, plan())
        one_line(caught)
        book.write(Record("key00000", "ok", {"hits": 9}))
    assert content(path)["key00000"] == ("ok", {"hits": 9})


HOLD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from faults.test_disk import Ledger, plan, record
book = Ledger(Path(sys.argv[2]), plan())
book.write(record(0))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_a_ledger_in_use_by_another_process_until_it_dies(tmp_path):
    path = tmp_path / "run.sqlite"
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(Path(__file__).parents[1]), str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(LedgerError, match="in use by another run") as caught:
            Ledger(path, plan())
        one_line(caught)
        process.kill()
        process.wait(timeout=30)
    assert content(path) == {"key00000": ("ok", record(0).values)}
    assert [each.name for each in tmp_path.iterdir()] == ["run.sqlite"]


def edited(whole, path, *statements):
    shutil.copy(whole, path)
    with closing(sqlite3.connect(path)) as db:
        for statement, *values in statements:
            db.execute(statement, values)
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


META = "UPDATE meta SET value = ? WHERE name = ?"


def test_a_ledger_of_a_newer_version(whole, tmp_path):
    path = edited(whole, tmp_path / "format.sqlite", (META, "corecurves-ledger-99", "format"))
    newer = plan(schema="99")
    schema = tmp_path / "schema.sqlite"
    Ledger(schema, newer).close()
    for each, named in ((path, "ledger format 99"), (schema, "schema 99")):
        before = each.read_bytes()
        with pytest.raises(LedgerError, match="newer version of corecurves") as caught:
            Ledger(each, plan())
        assert named in one_line(caught)
        assert "upgrade corecurves, or give another file" in str(caught.value)
        assert each.read_bytes() == before


def test_a_ledger_of_an_older_version_and_what_is_no_ledger(whole, tmp_path):
    older = edited(whole, tmp_path / "old.sqlite", (META, "corecurves-ledger-1", "format"))
    other = edited(whole, tmp_path / "other.sqlite", (META, "somebody-else-7", "format"))
    bare = edited(whole, tmp_path / "bare.sqlite", ("DROP TABLE meta",))
    for path, said in ((older, "older version"), (other, "not a ledger"), (bare, "not a ledger")):
        before = path.read_bytes()
        with pytest.raises(LedgerError, match=said) as caught:
            Ledger(path, plan())
        assert "give another file" in one_line(caught)
        assert path.read_bytes() == before


def test_a_ledger_of_another_plan(whole):
    before = whole.read_bytes()
    with pytest.raises(LedgerError, match=r"belongs to another plan \(seed: 0 → 1\)") as caught:
        Ledger(whole, plan(seed=1))
    one_line(caught)
    assert whole.read_bytes() == before


DAMAGES = 120


def damage(raw, draw):
    """Bytes with a hole: from one flipped bit to a page of noise, or an end that is missing."""
    kind = draw.choice(("bit", "bytes", "page", "end"))
    if kind == "end":
        return kind, raw[: draw.randrange(100, len(raw))]
    size = {"bit": 1, "bytes": draw.randint(2, 600), "page": 4096}[kind]
    at = draw.randrange(0, len(raw) - size)
    noise = bytes([raw[at] ^ (1 << draw.randrange(8))]) if kind == "bit" else draw.randbytes(size)
    return kind, raw[:at] + noise + raw[at + size :]


def test_a_damaged_ledger_is_refused_or_says_what_it_said(whole, tmp_path):
    raw, truth = whole.read_bytes(), content(Path(shutil.copy(whole, tmp_path / "c.sqlite")))
    draw, counts = random.Random(11), Counter()
    for i in range(DAMAGES):
        kind, broken = damage(raw, draw)
        path = tmp_path / f"{i}.sqlite"
        path.write_bytes(broken)
        said, found = "", None
        try:
            found = content(path)
        except LedgerError as error:
            said = str(error)
        if said:
            assert len(said.splitlines()) == 1
            assert str(path) in said
            assert path.read_bytes() == broken
        else:
            # Where nothing stands, nothing is lost.
            assert found == truth
        counts[f"{kind}: {'refused' if said else 'harmless'}"] += 1
        path.unlink()
    told("disk, damaged", dict(sorted(counts.items())))
    assert counts.total() == DAMAGES
    refused = sum(count for name, count in counts.items() if name.endswith("refused"))
    assert refused > DAMAGES / 2


@pytest.mark.parametrize(
    "raw",
    [
        b"this is a text, and no database\n" * 300,
        b"\x00" * 8192,
        b"SQLite format 3\x00",
        b"x",
        b"xy",
    ],
)
def test_what_is_no_database(tmp_path, raw):
    path = tmp_path / "run.sqlite"
    path.write_bytes(raw)
    with pytest.raises(LedgerError, match="damaged") as caught:
        Ledger(path, plan())
    one_line(caught)
    assert path.read_bytes() == raw


def test_a_damaged_wal_only_knows_less(tmp_path):
    path = tmp_path / "run.sqlite"
    book = Ledger(path, plan())
    for i in range(60):
        book.write(record(i))
    names = [path.name, f"{path.name}-wal"]
    left = {name: (tmp_path / name).read_bytes() for name in names}
    book.close()
    draw, kept = random.Random(3), []
    for _ in range(20):
        for name, raw in left.items():
            (tmp_path / name).write_bytes(raw)
        log = left[names[1]]
        at = draw.randrange(32, len(log) - 64)
        (tmp_path / names[1]).write_bytes(log[:at] + draw.randbytes(64) + log[at + 64 :])
        found = content(path)
        assert all(found[key] == ("ok", record(int(key[3:])).values) for key in found)
        kept.append(len(found))
    told(
        "disk, damaged -wal", {"copies": len(kept), "cells written": 60, "cells kept": sorted(kept)}
    )
    assert max(kept) > min(kept)


@pytest.mark.parametrize("kind", ["text", "another plan", "in use", "no folder"])
def test_the_command_line_says_it_in_one_line(tmp_path, capsys, kind):
    path = tmp_path / "run.sqlite"
    args = ["lane", "dev", "--system", "parrot", "--replays", "1", "--quiet", "--ledger"]
    if kind == "text":
        path.write_text("no database")
    elif kind == "no folder":
        path.write_text("")
        path = path / "run.sqlite"
    else:
        Ledger(path, plan()).close()
    held = None
    if kind == "in use":
        path.unlink()
        held = Ledger(path, cc.plan_lane("dev", "parrot", replays=1))
    with pytest.raises(SystemExit) as stop:
        main([*args, str(path)])
    if held is not None:
        held.close()
    out, err = capsys.readouterr()
    assert (stop.value.code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("corecurves: the ledger")
    assert os.fspath(path) in err
