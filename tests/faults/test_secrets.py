"""No file that a run writes holds the key, whatever the endpoint says of it."""

from __future__ import annotations

import html
import json
import sqlite3
import zlib
from contextlib import closing, suppress
from urllib.parse import quote

import pytest
from faults.material import ARMS, bench, told
from faults.servers import Endpoint, answer, is_judge, refusal

import corecurves as cc
from corecurves.cli import main
from corecurves.errors import ReportError

pytest.importorskip("openai")

KEY = 'sk-live"4f/9a+Zq<7>&xyz\\0123456789-abcdef'
OTHER = "ok-team-7788990011223344556677"
PIECE = 14
"""Characters of a key that no file may hold either: half of a key is a leak too."""


def forms(key):
    return {
        key, json.dumps(key)[1:-1], repr(key)[1:-1], html.escape(key), quote(key, safe=""),
        quote(key), json.dumps(json.dumps(key)[1:-1])[1:-1],
    }  # fmt: skip


NEEDLES = sorted(
    {form[at] for key in (KEY, OTHER) for form in forms(key)
     for at in (slice(None), slice(PIECE), slice(-PIECE, None))}
)  # fmt: skip


@pytest.fixture(autouse=True)
def planted(monkeypatch, tmp_path):
    monkeypatch.setenv("TEST_ENDPOINT_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", OTHER)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


class Talker:
    """An endpoint whose refusals repeat the key that they were sent, in every spelling."""

    def __init__(self):
        self.said = 0

    def __call__(self, call):
        sent = call.headers["authorization"]
        assert sent == f"Bearer {KEY}"
        kind = int(call.name[:4], 16) % 5
        if kind > 2:
            return answer(call.messages, call.body["seed"])
        self.said += 1
        spelled = " ".join(sorted(forms(KEY))) + " " + OTHER
        if kind == 0:
            return refusal(400, f"wrong: {sent} {spelled}", "content_filter")
        if kind == 1:
            # The key lies where a long message is cut.
            pad = "x" * (300 - len(f"m: {500}: ") - PIECE - int(call.name[4:6], 16) % 20)
            return refusal(500, f"{pad}{KEY} and {OTHER}")
        return refusal(503, f"{'y' * (270 + int(call.name[4:6], 16) % 30)}{OTHER}")


def texts(path):
    """Everything that a file says, however it is packed."""
    raw = path.read_bytes()
    yield raw.decode("latin-1")
    yield raw.decode("utf-8", "replace")
    if path.suffix == ".nc":
        ds = cc.load(path)
        yield json.dumps(ds.attrs, ensure_ascii=False)
        for variable in (*ds.variables.values(),):
            yield " ".join(map(str, variable.values.ravel().tolist()))
            yield str(variable.attrs)
    if path.suffix == ".sqlite":
        with closing(sqlite3.connect(path)) as db:
            for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
                for row in db.execute(f"SELECT * FROM {table}"):
                    for value in row:
                        yield value.decode("latin-1") if isinstance(value, bytes) else str(value)
    if path.suffix == ".html":
        yield html.unescape(raw.decode())
    if path.suffix == ".ipynb":
        yield str(json.loads(raw))
    if path.suffix == ".png":
        from PIL import Image

        with Image.open(path) as image:
            yield str(image.info)
    at = raw.find(b"x\x9c")
    while at >= 0:
        with suppress(zlib.error):
            yield zlib.decompressobj().decompress(raw[at:]).decode("latin-1")
        at = raw.find(b"x\x9c", at + 1)


def leaks(folder, *shown):
    """Where any piece of a key stands; and how many files were looked at."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    found = [
        f"{path.name}: {needle}"
        for path in files
        for text in texts(path)
        for needle in NEEDLES
        if needle in text
    ]
    found += [f"shown: {needle}" for text in shown for needle in NEEDLES if needle in text]
    return sorted(set(found)), files


def run(capsys, *args):
    with pytest.raises(SystemExit) as stop:
        main([str(arg) for arg in args])
    return stop.value.code, *capsys.readouterr()


def spec(endpoint):
    return endpoint.spec(key_env="TEST_ENDPOINT_KEY", attempts=2, first_wait=0.01)


def test_a_search_finds_what_it_should(tmp_path):
    (tmp_path / "a.txt").write_text(f"so {KEY} it is")
    (tmp_path / "b.json").write_text(json.dumps({"said": KEY}))
    (tmp_path / "c.bin").write_bytes(b"head" + zlib.compress(f"half {OTHER[:PIECE]}".encode()))
    assert {found.split(":")[0] for found in leaks(tmp_path)[0]} == {"a.txt", "b.json", "c.bin"}
    ds = cc.run_lane("dev", "parrot", replays=1, ledger=False, progress=False)
    ds.surface.values[0, 0, 0, 0] = KEY
    cc.save(ds, tmp_path / "d.nc")
    assert any(found.startswith("d.nc") for found in leaks(tmp_path)[0])


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("question", ["rose", "lane"])
def test_runs_of_the_command_line(tmp_path, capsys, question):
    talker = Talker()
    with Endpoint(talker) as endpoint:
        args = {
            "rose": ["rose", "eval", bench(tmp_path / "bench", 4), "--model", spec(endpoint),
                     "--grader", "judge", "--samples", "1"],
            "lane": ["lane", "dev", "--system", f"in-context:{spec(endpoint)}", "--replays", "1"],
        }[question]  # fmt: skip
        files = ["--out", "run.nc", "--plot", "run.png"]
        first = run(capsys, *args, *files, "--ledger", "run.sqlite")
        (tmp_path / "first.json").write_text(run(capsys, *args, "--json", "--quiet")[1])
        judged = sum(is_judge(call.messages) for call in endpoint.calls)
    assert first[0] == 3
    assert "cells have no result" in first[2]
    found, read = leaks(tmp_path, *first[1:])
    assert found == []
    names = {path.suffix for path in read}
    assert names >= {".nc", ".png", ".sqlite", ".json"}
    # The reasons are there, with something in the place of the key.
    reasons = " ".join(map(str, cc.load("run.nc").reason.values.ravel()))
    assert "[the key]" in reasons
    assert "[redacted: OPENAI_API_KEY]" in reasons
    told(
        f"secrets, {question}",
        {"refusals with the key": talker.said, "judge calls": judged, "files": len(read),
         "spellings looked for": len(NEEDLES), "found": len(found)},
    )  # fmt: skip


def test_what_stops_the_run(tmp_path, capsys):
    with Endpoint(lambda call: refusal(401, f"wrong key {KEY}, not {OTHER}")) as endpoint:
        code, out, err = run(
            capsys,
            "rose",
            "eval",
            bench(tmp_path / "bench"),
            "--model",
            spec(endpoint),
            "--grader",
            "checklist",
            "--ledger",
            "a.sqlite",
        )
    assert code == 2
    assert "401: wrong key [the key], not [redacted: OPENAI_API_KEY]" in err
    assert leaks(tmp_path, out, err)[0] == []


@pytest.mark.slow
@pytest.mark.notebook
@pytest.mark.parametrize("fails", [False, True], ids=["whole", "failed"])
def test_reports(tmp_path, fails):
    talker = Talker()

    def refuse(call):
        talker.said += 1
        return refusal(401, f"wrong key {KEY}, not {OTHER}")

    with Endpoint(refuse if fails else talker) as endpoint:
        parameters = {
            "store": str(bench(tmp_path / "bench")), "model": spec(endpoint), "arms": ARMS,
            "grader": "checklist", "samples": 1, "ledger": str(tmp_path / "run.sqlite"),
        }  # fmt: skip
        options = {"parameters": parameters, "progress": False, "keep_notebook": True}
        shown = ""
        if fails:
            with pytest.raises(ReportError) as caught:
                cc.render_report("rose_transfer", tmp_path / "report.html", **options)
            shown = str(caught.value)
        else:
            cc.render_report("rose_transfer", tmp_path / "report.html", **options)
    found, read = leaks(tmp_path, shown)
    assert found == []
    assert {path.name for path in read} >= {"report.html", "report.ipynb", "run.sqlite"}
    assert talker.said > 0
    counts = {"refusals with the key": talker.said, "files": len(read), "found": len(found)}
    told(f"secrets, report{' that failed' if fails else ''}", counts)
