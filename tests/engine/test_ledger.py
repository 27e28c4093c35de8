import shutil
import sqlite3

import numpy as np
import pytest

from corecurves.engine.ledger import Ledger, Record, default_path
from corecurves.engine.plan import Plan
from corecurves.errors import LedgerError


def plan(keys=("a", "b", "c"), **config):
    n = len(keys)
    return Plan(
        "lane", {"cell": list(range(n))}, np.arange(n, dtype=np.int32)[:, None], tuple(keys),
        np.arange(n), {"seed": 0, **config},
    )  # fmt: skip


ODD = 'line\u2028sep \u0085 nul\x00 lone\ud800 quote" back\\slash 😀'


def test_records_come_back_as_they_were(tmp_path):
    path = tmp_path / "run.sqlite"
    with Ledger(path, plan()) as ledger:
        ledger.write(Record("a", "ok", {"surface": ODD, "hits": 2, "none": None}))
    with Ledger(path, plan()) as ledger:
        (record,) = ledger.records()
    assert record.values == {"surface": ODD, "hits": 2, "none": None}


def test_a_failure_is_kept_but_not_done_and_never_replaces_a_success(tmp_path):
    with Ledger(tmp_path / "run.sqlite", plan()) as ledger:
        ledger.write(Record("a", "call_failed", {}))
        ledger.write(Record("b", "ok", {"hits": 1}))
        ledger.write(Record("b", "call_failed", {}))
        assert ledger.done() == {"b"}
        ledger.write(Record("a", "ok", {"hits": 2}))
        assert {r.key: r.values for r in ledger.records()} == {"a": {"hits": 2}, "b": {"hits": 1}}


def test_another_plan_is_refused_by_the_fields_that_differ(tmp_path):
    path = tmp_path / "run.sqlite"
    Ledger(path, plan(arms=["taught"])).close()
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=r"another plan \(arms\[0\]: \"taught\" → \"control\"; "
                                          r"seed: 0 → 1\)"):  # fmt: skip
        Ledger(path, plan(arms=["control"], seed=1))
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["run.sqlite"]


def test_a_damaged_ledger_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "run.sqlite"
    with Ledger(path, plan()) as ledger:
        for i in range(300):
            ledger.write(Record(f"key{i:05}", "ok", {"text": "x" * 200}))
    whole = path.read_bytes()
    for name, raw in {
        "page": whole[:8192] + b"\xff" * 4096 + whole[12288:],
        "cut": whole[: len(whole) // 2],
        "text": b"this is not a database, it only looks long enough " * 100,
    }.items():
        broken = tmp_path / f"{name}.sqlite"
        broken.write_bytes(raw)
        with pytest.raises(LedgerError, match="damaged") as caught:
            Ledger(broken, plan())
        assert len(str(caught.value).splitlines()) == 1
        assert broken.read_bytes() == raw


def test_a_database_of_another_kind_is_refused(tmp_path):
    path = tmp_path / "other.sqlite"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE people (name TEXT)")
    db.commit()
    db.close()
    with pytest.raises(LedgerError, match="not a ledger"):
        Ledger(path, plan())


def test_a_copy_without_its_wal_only_knows_less(tmp_path):
    path = tmp_path / "run.sqlite"
    ledger = Ledger(path, plan())
    ledger.write(Record("a", "ok", {"hits": 1}))
    copy = tmp_path / "copy.sqlite"
    shutil.copy(path, copy)
    with Ledger(copy, plan()) as other:
        assert other.done() <= {"a"}
    ledger.close()
    with Ledger(path, plan()) as whole:
        assert whole.done() == {"a"}


def test_a_folder_is_no_ledger(tmp_path):
    with pytest.raises(LedgerError, match="is a folder; give a file in it"):
        Ledger(tmp_path, plan())


def test_the_default_file_is_named_by_the_plan():
    assert default_path(plan()) == default_path(plan())
    assert default_path(plan()) != default_path(plan(seed=1))
