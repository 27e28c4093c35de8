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
    values = {
        "surface": ODD, "empty": "", "json": "[1, 2]", "nul": "a\0b\0", "accent": "é", "hits": 2,
        "big": 2**70,
        "score": -0.1 - 0.2, "whole": 2.0, "flag": True, "list": [1, 0, 1], "nested": {"a": [None]},
        'qu"ote': "x",
    }  # fmt: skip
    with Ledger(path, plan()) as ledger:
        ledger.write(Record("a", "ok", {**values, "none": None}))
    with Ledger(path, plan()) as ledger:
        (record,) = ledger.records()
        (block,) = ledger.blocks("score", "absent")
    assert record.values == values, "None is no value"
    assert [type(value) for value in record.values.values()] == [*map(type, values.values())]
    assert (block.keys, block.statuses, block.columns) == (
        ("a",), ("ok",), {"score": (-0.1 - 0.2,)},
    )  # fmt: skip


def test_values_that_json_does_not_have_are_refused_by_name(tmp_path):
    with Ledger(tmp_path / "run.sqlite", plan()) as ledger:
        with pytest.raises(ValueError, match="score is nan"):
            ledger.write(Record("a", "ok", {"score": float("nan")}))
        with pytest.raises(ValueError, match="cannot be named status"):
            ledger.write(Record("a", "ok", {"status": "ok"}))
        assert list(ledger.records()) == []


def test_many_records_are_committed_together_or_not_at_all(tmp_path):
    path = tmp_path / "run.sqlite"
    with Ledger(path, plan()) as ledger:
        good = [Record(key, "ok", {"hits": i}) for i, key in enumerate("abc")]
        ledger.write(*good[:1])
        with pytest.raises(ValueError, match="score is inf"):
            ledger.write(*good[1:], Record("d", "ok", {"score": float("inf")}))
        assert ledger.done() == {"a"}
        with pytest.raises(LedgerError):
            ledger.write(*good[1:], Record(("no text",), "ok", {"hits": 3}))
        assert ledger.done() == {"a"}
        ledger.write(*good)
    with Ledger(path, plan()) as ledger:
        assert {r.key: r.values for r in ledger.records()} == {
            "a": {"hits": 0}, "b": {"hits": 1}, "c": {"hits": 2},
        }  # fmt: skip


def test_a_success_leaves_nothing_of_the_failure_before_it(tmp_path):
    with Ledger(tmp_path / "run.sqlite", plan()) as ledger:
        ledger.write(Record("a", "call_failed", {"reason": "no answer"}))
        ledger.write(Record("b", "cut_off", {"reason": "too long"}))
        assert [(r.key, r.values) for r in ledger.failed()] == [
            ("a", {"reason": "no answer"}), ("b", {"reason": "too long"}),
        ]  # fmt: skip
        ledger.write(Record("a", "ok", {"hits": 1}))
        assert {r.key: r.values for r in ledger.records()} == {
            "a": {"hits": 1}, "b": {"reason": "too long"},
        }  # fmt: skip
        assert [r.key for r in ledger.failed()] == ["b"]


def test_an_older_ledger_is_refused_in_one_line(tmp_path):
    path = tmp_path / "old.sqlite"
    Ledger(path, plan()).close()
    db = sqlite3.connect(path)
    db.execute("UPDATE meta SET value = 'corecurves-ledger-1' WHERE name = 'format'")
    db.commit()
    db.close()
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=r"ledger format 1, and this one reads 2\); delete it"):
        Ledger(path, plan())
    assert path.read_bytes() == before


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
