import json
import os
import shutil
import subprocess
import sys

import pytest

import corecurves as cc
from corecurves.bundled import bundled_path
from corecurves.cli import main


def run(capsys, *args):
    with pytest.raises(SystemExit) as stop:
        main([str(arg) for arg in args])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_lane_prints_a_table_and_writes_files(capsys, tmp_path):
    out, plot = tmp_path / "a" / "lane.nc", tmp_path / "b" / "lane.png"
    code, text, err = run(
        capsys, "lane", "dev", "--system", "grounded?max_hops=2", "--out", out, "--plot", plot,
        "--ledger", "none",
    )  # fmt: skip
    assert code == 0
    assert "0 1 2 2 2 2" in text
    assert text.splitlines()[-1].startswith("gate: passed")
    assert str(out) in err
    assert cc.load(out).attrs["system"] == "grounded?max_hops=2"
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_lane_as_json_is_strict(capsys):
    code, text, _ = run(capsys, "lane", "dev", "--json", "--ledger", "none")
    found = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert code == 0
    assert found["aggregates"]["gate"] == "passed"
    assert found["aggregates"]["mean_corrections_to_first_hit"] == [1.0, None]
    assert len(found["curves"]["gain"]) == 3


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["lane", "publik"], 2, "did you mean 'public'"),
        (["lane", "dev", "--arm", "contrl"], 2, "did you mean 'control'"),
        (["lane", "dev", "--samples", "x"], 2, "'x' is not a valid integer"),
        (["lane", "dev", "--system", "groundet"], 2, "did you mean 'grounded'"),
        (["lane", "dev", "--out", "x.zarr"], 2, "--out is x.zarr; give a file that ends in .nc"),
        (["lane", "dev", "--plot", "x.gif"], 2, "--plot is x.gif"),
        (["lane", "dev", "--smples", "1"], 2, "--samples"),
        (["lnae"], 2, "lnae"),
        (["report"], 2, "'corecurves report --list' shows what there is"),
        (["report", "sample_eficiency"], 2, "sample_efficiency"),
        (["report", "sample_efficiency", "-p", "sample=3"], 2, "did you mean 'samples'"),
        (["check", "nowhere"], 2, "nowhere"),
    ],
)
def test_errors_are_one_line_and_exit_codes_say_the_kind(capsys, args, code, message):
    found, out, err = run(capsys, *args)
    assert (found, out) == (code, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err


def test_check_is_silent_about_what_is_fine(capsys):
    code, out, err = run(capsys, "check")
    assert (code, out) == (0, "")
    assert "faults: 0" in err


def test_check_prints_every_fault_and_exits_1(capsys, tmp_path):
    (tmp_path / "a.yaml").write_text(
        "concept: courage\nprobe: Is courage resolve?\ncorrections:\n"
        "  - {text: 'No, courage is resolve.', adds: resolve}\n"
        "  - {text: 'Courage zaps patience.', adds: patience}\n"
    )
    (tmp_path / "b.yaml").write_text("")
    code, out, err = run(capsys, "check", tmp_path)
    lines = [line.removeprefix(f"{tmp_path}/") for line in out.splitlines()]
    assert code == 1
    assert [line.split(" ")[0] for line in lines] == ["a.yaml:2:", "a.yaml:5:", "b.yaml:1:"]
    assert "the review rejects correction 2" in lines[1]
    assert "faults: 3" in err


def test_check_reads_benches_and_stores_too(capsys, tmp_path):
    code, out, err = run(capsys, "check", "rose_bench", "demo_store")
    assert (code, out) == (0, "")
    assert "rose_bench: read as a bench: lessons:" in err
    assert "demo_store: read as a ROSE store: lessons: 10, episodes: 31\n" in err
    assert "faults: 0" in err
    (tmp_path / "bench.yaml").write_text("family: build\nlessons:\n  - id: a\n")
    code, out, err = run(capsys, "check", tmp_path)
    assert code == 1
    assert out.startswith(f"{tmp_path}/bench.yaml:3: ")
    assert "concept" not in out


PACK = """pack: bakery
relations: [{name: is, base: be, third: is, gloss: kind}]
lemmas: [{lemma: yeast, pos: noun, gloss: what raises}]
"""
BENCH = """family: f
lessons:
  - {id: port, title: P, kind: detail, levels: [{text: Port 6112.}], episodes: [
     {id: e, task: Start., good: [Use 6112., Take 6112.], trap: [Use 5672., Take 5672.]}]}
"""
MINE = "concept: rye\nprobe: What?\ncorrections: [{text: Rye is grain., adds: grain}]\n"


def mixed(folder):
    """A folder with one thing of each kind, in the same places as a project has them."""
    shutil.copytree(bundled_path("episodes", "own_notes"), folder / "notes")
    shutil.copytree(bundled_path("episodes", "demo_store"), folder / ".rose")
    for name, text in (("rye.yaml", MINE), ("bakery.yaml", PACK), ("bench.yaml", BENCH),
                       ("sub/cases.jsonl", ""), ("fill.yaml", "filler: [A mug is blue.]\n"),
                       ("papers/todo.md", "# Later"), (".git/x.yaml", "a: [")):  # fmt: skip
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    case = {"concept": "oat", "curriculum": ["Oat is hardy."], "probe": "What is oat?",
            "expected_tokens": ["hardy"]}  # fmt: skip
    (folder / "sub" / "cases.jsonl").write_text(json.dumps(case) + "\n")
    return folder


def test_check_says_what_it_read_as_what(capsys, tmp_path):
    folder = mixed(tmp_path / "project")
    code, out, err = run(capsys, "check", folder)
    assert (code, out) == (0, "")
    lines = [line.removeprefix(f"{folder}/") for line in err.splitlines()]
    for expected in (
        ".rose: read as a ROSE store: lessons: 10, episodes: 31",
        "notes: read as lessons in Markdown: lessons: 2, episodes: 6",
        "bakery.yaml: read as a vocabulary pack: words: 1, relations: 1",
        "bench.yaml: read as a bench: lessons: 1, episodes: 1",
        "fill.yaml: read as filler for control arms: corrections: 1",
        f"note: {folder}: not read: todo.md",
        "faults: 0",
    ):
        assert expected in lines, err
    assert any(
        line.startswith("rye.yaml, ")
        and line.endswith("sub/cases.jsonl: read as curricula: 2, of them under the contract: 2")
        for line in lines
    )
    for one in ("notes/frozen-samples.md", ".rose/nodes/lab/prewet-tips.md", "bakery.yaml",
                ".rose/episodes/2025-02-03-acetone.json", "notes/episodes.jsonl"):  # fmt: skip
        path = folder / one
        if not path.exists():
            path = next(path.parent.glob("*.*"))
        code, out, err = run(capsys, "check", path)
        assert (code, out) == (0, ""), one
        assert err.count("read as") == 1


def test_check_tells_every_fault_of_every_kind_at_once(capsys, tmp_path):
    folder = mixed(tmp_path / "project")
    (folder / "bakery.yaml").write_text(PACK.replace("pos: noun", "pos: nown"))
    (folder / "bench.yaml").write_text(BENCH.replace("title: P, ", "").replace("Take 5672.", "5"))
    (folder / "rye.yaml").write_text(MINE.replace("probe", "prob"))
    (folder / "sub" / "cases.jsonl").write_text('{"concept": "oat"}\n')
    (folder / "notes" / "frozen-samples.md").write_text("---\ntitle: x\n")
    (folder / "skills" / "a").mkdir(parents=True)
    (folder / "skills" / "a" / "text.md").write_text("Text.")
    (folder / "skills" / "episodes.jsonl").write_text('{"task": "a", "good": "b"}\n')
    node = next((folder / ".rose" / "nodes" / "lab").glob("*.md"))
    node.write_text("no front matter")
    code, out, _ = run(capsys, "check", folder)
    assert code == 1
    for expected in (
        "bakery.yaml:3: `pos` has no 'nown'",
        "bench.yaml:3: a lesson lacks `title`",
        "bench.yaml:4: the trap has",
        "rye.yaml:1: a curriculum lacks `probe`",
        "rye.yaml:2: a curriculum has no key `prob`",
        'cases.jsonl:1: a curriculum lacks `probe`; write `"probe": "…"`',
        "frozen-samples.md:1: begins with `---`",
        "skills/episodes.jsonl: has episodes, and no lesson in Markdown lies beside it",
        f"{node.name}:1: has no front matter",
    ):
        assert expected in out, out
    assert "a curriculum" not in "".join(line for line in out.splitlines() if "skills" in line)


def test_check_advises_a_JSON_file_in_JSON_after_the_review_too(capsys, tmp_path):
    case = {"concept": "trust", "curriculum": ["Trust zaps courage."], "probe": "What is trust?",
            "expected_tokens": ["courage"], "pack": "en_core_cognition_v1"}  # fmt: skip
    (tmp_path / "cases.jsonl").write_text(json.dumps(case) + "\n")
    code, out, _ = run(capsys, "check", tmp_path)
    assert code == 1
    assert "the review rejects correction 1" in out
    assert out.rstrip().endswith('or `"contract": false`')


def test_check_finds_nothing_to_read(capsys, tmp_path):
    (tmp_path / "a.txt").write_text("x")
    code, out, err = run(capsys, "check", tmp_path)
    assert (code, out) == (2, "")
    assert f"nothing in {tmp_path} is read" in err
    (tmp_path / "nodes").mkdir()
    code, out, err = run(capsys, "check", tmp_path, "demo_store")
    assert code == 1
    assert "has no lesson that could be used" in out
    assert "demo_store: read as" in err, "one empty store stops no other"


def test_check_names_what_is_bundled_where_nothing_is_there(capsys):
    code, _, err = run(capsys, "check", "demo_stor")
    assert code == 2
    assert "no file or folder 'demo_stor'" in err
    assert "did you mean 'demo_store'?" in err


def test_check_prints_what_no_terminal_can_show(tmp_path):
    text = 'concept: "a\\ud800"\nprobe: What?\ncorrections:\n  - {text: No., adds: no}\n'
    text += "pack: en_core_cognition_v1\n"
    (tmp_path / "half.yaml").write_text(text, encoding="ascii")
    command = [sys.executable, "-m", "corecurves", "check", str(tmp_path / "half.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "half.yaml:1: the concept 'a\\ud800' is not in the pack" in done.stdout


def test_a_fault_in_a_file_stops_the_lane_with_all_of_them(capsys, tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("concept: courage\n")
    code, _, err = run(capsys, "lane", path)
    assert code == 1
    assert len(err.splitlines()) == 2


def test_report_list_names_the_parameters(capsys):
    code, out, _ = run(capsys, "report", "--list")
    assert code == 0
    assert "sample_efficiency: " in out
    assert "    samples: int = 1  # independent repeats" in out


@pytest.mark.filterwarnings("default")  # the command line shows it on a line of its own
def test_failed_cells_have_their_exit_code(capsys, monkeypatch):
    import corecurves.systems.resolve as resolve

    def broken(spec):
        return type("Broken", (), {"identity": cc.Identity("broken"), "travels": False,
                                   "start": lambda self: self,
                                   "turn": lambda self, text: 1 / 0})()  # fmt: skip

    monkeypatch.setitem(resolve._BUNDLED, "broken", broken)
    code, out, err = run(capsys, "lane", "dev", "--system", "broken", "--ledger", "none")
    assert code == 3
    assert "80 of 80 cells have no result (call_failed 80)" in err
    assert "undecided" in out


def test_a_folder_without_permission_is_one_line(capsys, tmp_path):
    target = tmp_path / "file"
    target.write_text("")
    code, _, err = run(capsys, "lane", "dev", "--ledger", "none", "--quiet", "--out",
                       target / "lane.nc")  # fmt: skip
    assert code == 2
    assert "cannot be made" in err.splitlines()[-1]


def test_the_module_runs_and_a_closed_pipe_is_no_error():
    process = subprocess.run(
        f"{sys.executable} -m corecurves report --list | head -n 1",
        shell=True, capture_output=True, text=True, timeout=60, env=dict(os.environ), check=False,
    )  # fmt: skip
    assert process.returncode == 0
    assert "Traceback" not in process.stderr
    assert "BrokenPipe" not in process.stderr


@pytest.mark.notebook
def test_demo_writes_everything_it_names(capsys, tmp_path, monkeypatch):
    # CI runs the whole demo from the README.
    monkeypatch.setattr(sys.modules["corecurves.cli.demo"], "_SPLITS", ("public",))
    code, out, _ = run(capsys, "demo", "--out", tmp_path / "demo", "--offline", "--quiet")
    assert code == 0
    names = {path.name for path in (tmp_path / "demo").iterdir()}
    assert names == {
        "lane_public.nc", "lane_public.png", "delay_public.png", "sample_efficiency.html",
        "rose_demo.nc", "rose_demo.png",
    }  # fmt: skip
    assert all(name in out for name in names)
    assert out.count("gate: passed") == 1
    assert "SIMULATED" in out


@pytest.mark.parametrize(
    ("command", "option", "name"),
    [("eval", "--out", "ds.nc"), ("eval", "--plot", "a.png"), ("screen", "--out", "t.tsv"),
     ("descend", "--out", "ds.nc"), ("descend", "--plot", "a.png"),
     ("eval-recall", "--out", "ds.nc"), ("eval-recall", "--plot", "a.svg")],
)  # fmt: skip
def test_nothing_is_written_into_a_store(capsys, tmp_path, command, option, name):
    store = tmp_path / "store"
    shutil.copytree(bundled_path("episodes", "demo_store"), store)
    before = sorted(store.rglob("*"))
    code, _, err = run(capsys, "rose", command, store, option, store / "nodes" / name)
    assert code == 2
    assert "lies inside the store" in err
    assert sorted(store.rglob("*")) == before


def test_a_file_that_cannot_be_replaced_is_named_before_the_run(capsys, tmp_path, monkeypatch):
    target = tmp_path / "kept.nc"
    target.write_bytes(b"older")
    access = os.access
    monkeypatch.setattr(
        os, "access", lambda p, mode: (mode, str(p)) != (os.W_OK, str(target)) and access(p, mode)
    )
    code, out, err = run(capsys, "lane", "dev", "-o", target)
    assert (code, out) == (2, "")
    assert "kept.nc cannot be written to; give another file" in err
    assert target.read_bytes() == b"older"


def test_check_and_lane_tell_curricula_from_lessons_beside_them(capsys, tmp_path):
    shutil.copytree(bundled_path("episodes", "own_notes"), tmp_path / "mine" / "notes")
    shutil.copy(bundled_path("curricula", "dev", "hope.yaml"), tmp_path / "mine")
    code, out, err = run(capsys, "check", tmp_path / "mine")
    assert (code, out) == (0, "")
    assert "mine/hope.yaml: read as curricula: 1, of them under the contract: 1" in err
    assert "mine/notes: read as lessons in Markdown: lessons: 2, episodes: 6" in err
    assert [c.concept for c in cc.load_curricula(tmp_path / "mine")] == ["hope"]


def test_a_split_is_the_name_of_the_folder_however_it_is_given(tmp_path, monkeypatch):
    shutil.copy(bundled_path("curricula", "dev", "hope.yaml"), tmp_path)
    text = (tmp_path / "hope.yaml").read_text().replace("split: dev\n", "")
    (tmp_path / "hope.yaml").write_text(text)
    (tmp_path / "inner").mkdir()
    plans = []
    for folder, path in ((tmp_path, "hope.yaml"), (tmp_path / "inner", "../hope.yaml")):
        monkeypatch.chdir(folder)
        assert cc.load_curricula(path)[0].split == tmp_path.name
        plans.append(cc.plan_lane(path).hash)
    assert plans[0] == plans[1]


def test_compress_says_when_nothing_is_left_to_evaluate_with(capsys, tmp_path):
    shutil.copytree(bundled_path("episodes", "own_notes"), tmp_path / "notes")
    lesson = cc.open_store(tmp_path / "notes").lessons[0].id
    args = ("rose", "compress", tmp_path / "notes", "--model", "simulated", "--lesson", lesson)
    _, _, err = run(capsys, *args, "-o", tmp_path / "short", "--holdout", "0.001", "--quiet")
    assert err.startswith("warning: no episode is held out at --holdout 0.001")
    assert "shorter levels that stood there before are replaced in the copy, in lessons: 1" in err


@pytest.mark.parametrize(("debug", "shown"), [("", False), ("1", True)])
def test_tracebacks_are_shown_when_asked_for(capsys, monkeypatch, debug, shown):
    monkeypatch.setenv("CORECURVES_DEBUG", debug)
    monkeypatch.setenv("MY_API_KEY", "sk-planted-0123456789")
    for args in (["lane", "publik"], ["lane", "sk-planted-0123456789"], ["lane", "--smples", "1"]):
        code, _, err = run(capsys, *args)
        assert code == 2
        assert ("Traceback (most recent call last)" in err) is shown
        assert err.rstrip().splitlines()[-1].startswith("corecurves: ")
        assert not shown or "sk-planted" not in err.rpartition("corecurves: ")[0]


def test_the_help_names_every_exit_code(capsys):
    _, out, _ = run(capsys, "--help")
    for code in ("0 fine", "1 findings", "2 usage", "3 finished", "130 interrupted"):
        assert code in " ".join(out.split())
