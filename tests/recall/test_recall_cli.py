import json

import pytest

import corecurves as cc
from corecurves.cli import main


@pytest.fixture
def run(capsys):
    def call(*args):
        with pytest.raises(SystemExit) as stop:
            main(["rose", *(str(arg) for arg in args)])
        out, err = capsys.readouterr()
        return stop.value.code, out, err

    return call


def test_eval_recall_prints_serve_all_first_and_writes_files(run, kitchen, tmp_path):
    out, plot = tmp_path / "a" / "r.nc", tmp_path / "b" / "r.png"
    code, text, err = run(
        "eval-recall", kitchen, "--selector", "bm25", "--sweep", "--out", out, "--plot", plot,
        "--ledger", "none",
    )  # fmt: skip
    assert code == 0
    rows = text.splitlines()
    assert [row.split()[0] for row in rows[:3]] == ["run", "serve-all", "bm25"]
    assert "skipped, 2: nothing was served (s3, s4)" in text
    assert "gone no longer exists" in text
    assert cc.load(out).attrs["selector"] == "bm25"
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert str(plot) in err


def test_save_and_against(run, kitchen, tmp_path):
    kept = ("--baselines", tmp_path / "kept", "--ledger", "none")
    code, _, err = run("eval-recall", kitchen, "--selector", "serve-all", "--save", "before", *kept)
    assert code == 0
    assert "before.nc" in err
    code, text, _ = run("eval-recall", kitchen, "--against", "before", *kept)
    assert code == 0
    assert "against 'before'" in text
    assert "new: bm25" in text
    assert "a direction, not a decimal place" in text


def test_json_is_strict(run, kitchen):
    code, text, _ = run("eval-recall", kitchen, "--json", "--ledger", "none")
    found = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert code == 0
    assert set(found) == {"serve-all", "bm25"}


def test_coverage_lists_and_exits_with_1(run, kitchen):
    code, text, _ = run("coverage", kitchen, "--probe", "Wash the cups.")
    assert code == 1
    assert text.splitlines()[0].startswith("2 of 3 lessons are reached by none of 1 prompts")
    assert "knives: always below the threshold" in text
    code, text, _ = run("coverage", kitchen, "--selector", "serve-all")
    assert code == 0


def test_tree_and_recall(run, kitchen):
    code, text, _ = run("tree", kitchen)
    assert (code, text.splitlines()[1].split()[:2]) == (0, ["cups", "L0"])
    code, text, _ = run("recall", kitchen, "--prompt", "Wash the cups.")
    assert code == 0
    assert text.splitlines()[1].split()[0] == "cups"
    assert text.splitlines()[-1].startswith("1 of 3 served, ")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["eval-recall", "--selector", "bm52"], "did you mean 'bm25'"),
        (["eval-recall", "--save", "../x"], "is no name for a baseline"),
        (["eval-recall", "--against", "nothing"], "`baseline` has no 'nothing'; it has none"),
        (["eval-recall", "--plot", "x.gif"], "--plot is x.gif"),
        (["eval-recall", "rose_bench"], "records no episode that was served"),
        (["eval-recall", "--selector", "bm25", "--selector", "embedding", "--save", "x"],
         "--save goes with one --selector"),
        (["recall"], "--prompt"),
        (["coverage", "demo_store", "--max-pack-tokens", "0"], "`max_pack_tokens` is 0"),
    ],
)  # fmt: skip
def test_errors_are_one_line(run, args, message):
    code, out, err = run(*args)
    assert code == 2
    assert out == ""
    assert message in err
    assert len(err.strip().splitlines()) == 1
