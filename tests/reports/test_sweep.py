"""A report for each combination, and the index of them."""

from pathlib import Path

import bs4
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecurves.cli.main import main
from corecurves.errors import ReportError, UsageError
from corecurves.reports import Parameter, parse_sweep, render_sweep
from corecurves.reports.outputs import FIGURES
from corecurves.reports.repeat import assignment, repeat_command
from corecurves.reports.values import literal

DECLARED = {
    "samples": Parameter("samples", 3),
    "margin": Parameter("margin", 0.1),
    "arms": Parameter("arms", ("a",)),
    "split": Parameter("split", "public"),
    "path": Parameter("path", None, "str | None"),
    "any": Parameter("any", {}),
}


def test_values_are_literals():
    found = parse_sweep("samples=[3,5], margin=(0.05,0.1),arms=[('a','b')]", DECLARED)
    assert found == {"samples": [3, 5], "margin": [0.05, 0.1], "arms": [("a", "b")]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names no parameter"),
        ("samples", "cannot be read"),
        ("samples=3", "`samples` in a sweep takes a list"),
        ("samples='35'", "`samples` in a sweep takes a list"),
        ("samples=[3", "cannot be read"),
        ("samples=[3],samples=[5]", "`samples` is given twice in the sweep"),
        ("samples=[3]) + dict(margin=[1]", "cannot be read"),
        ("samples=[x for x in (1,2)]", "no literals"),
        ("samples=[__import__('os').getpid()]", "no literals"),
        ("split=[a,b]", "no literals"),
        ("**{}", "cannot be read"),
        ("sample=[3]", "did you mean 'samples'?"),
        ("samples=[" + "(" * 300 + ")" * 300 + "]", "samples"),
    ],
)
def test_what_is_no_sweep(text, message):
    with pytest.raises(UsageError) as caught:
        parse_sweep(text, DECLARED)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("grid", "more", "message"),
    [
        ({}, {}, "at least one parameter"),
        ({"sample": [1]}, {}, "did you mean 'samples'?"),
        ({"samples": []}, {}, "has no values"),
        ({"samples": "35"}, {}, "takes a list of values"),
        ({"samples": [1, 1]}, {}, "has 1 twice"),
        ({"samples": [1, "x"]}, {}, "takes int (default 3), received 'x'"),
        ({"samples": [1]}, {"parameters": {"samples": 2}}, "`samples` is given twice"),
        ({"samples": [1]}, {"parameters": {"margn": 2}}, "did you mean 'margin'?"),
        ({"samples": list(range(11)), "margin": list(range(10))}, {}, "110 reports; it may make"),
        ({"samples": [1]}, {"out": "full"}, "full is there already"),
        ({"samples": [1]}, {"out": "a.html"}, "a sweep writes a folder, received a.html"),
        ({"samples": [1]}, {"out": "no/new"}, "cannot make the folder no/new"),
    ],
)
def test_everything_is_checked_before_anything_runs(template, no_kernel, grid, more, message):
    template("samples = 3\nmargin = 0.1")
    Path("full").mkdir()
    Path("full/x").write_text("x")
    before = sorted(Path.cwd().rglob("*"))
    with pytest.raises(UsageError) as caught:
        render_sweep("own.ipynb", **{"out": "new", **more}, grid=grid)
    assert message in str(caught.value)
    assert sorted(Path.cwd().rglob("*")) == before


def fake(monkeypatch, failing=()):
    """Instead of a kernel: each report offers its parameters; some fail."""
    import nbformat

    from corecurves.reports.execute import Failure

    calls = []

    def execute(book, name, **options):
        source = next(c.source for c in book.cells if "injected-parameters" in str(c.metadata))
        calls.append(source)
        output = nbformat.v4.new_output("display_data", {FIGURES: {"seen": str(len(calls))}})
        book.cells[-1].outputs = [output]
        if len(calls) in failing:
            return Failure(len(book.cells) - 1, 2, "ValueError: <b>no</b>")
        return None

    monkeypatch.setattr("corecurves.reports.render.execute", execute)
    return calls


def test_a_page_each_and_an_index(template, monkeypatch, capsys, remote_references):
    calls = fake(monkeypatch)
    template("samples = 3\nsplit = 'a'\nseed = 0", "1")
    grid = {"samples": [3, 5], "split": ["a", "<b>"]}
    index = render_sweep("own.ipynb", "out", grid=grid, parameters={"seed": 7})
    assert index == Path("out/index.html")
    assert len(calls) == 4
    assert all("seed = 7" in call for call in calls)
    shown = capsys.readouterr().err.splitlines()
    assert shown[0] == "4 reports: 2 of samples × 2 of split; to out"
    assert shown[1] == "report 1 of 4: samples=3, split=a"
    page = index.read_text(encoding="utf-8")
    soup = bs4.BeautifulSoup(page, "html.parser")
    assert [th.text for th in soup.thead.find_all("th")] == [
        "report", "samples", "split", "status", "seen",
    ]  # fmt: skip
    rows = [[cell.text for cell in row.find_all(["th", "td"])] for row in soup.tbody.find_all("tr")]
    assert rows[1] == ["2", "3", "<b>", "fine", "2"]
    links = [a["href"] for a in soup.find_all("a")]
    assert [Path("out", link).is_file() for link in links] == [True] * 4
    assert [ref for ref in remote_references(page) if "href" not in ref] == []
    box = soup.select_one(".provenance").text
    assert "-p seed=7 -o out" in box
    assert "seed=7" in box
    assert sorted(path.name for path in Path("out").iterdir()) == sorted([*links, "index.html"])


def test_a_failed_one_is_marked_and_the_others_are_rendered(template, monkeypatch, capsys):
    fake(monkeypatch, failing={2})
    template("samples = 3", "1")
    with pytest.raises(ReportError) as caught:
        render_sweep("own.ipynb", "out", grid={"samples": [1, 2, 3]}, progress=False)
    message = str(caught.value)
    assert message.startswith("1 of 3 reports failed, first 2_samples-2.html: cell 2 failed: Value")
    assert message.endswith("the index is out/index.html")
    soup = bs4.BeautifulSoup(Path("out/index.html").read_text(encoding="utf-8"), "html.parser")
    assert "3 reports, 2 fine, 1 failed." in soup.text
    assert soup.select_one(".failed").text == "2, samples=2: cell 2 failed: ValueError: <b>no</b>"
    assert capsys.readouterr().err == ""


def test_a_sweep_that_is_stopped_leaves_an_index(template, monkeypatch):
    template("samples = 3", "1")
    calls = []

    def execute(book, name, **options):
        calls.append(name)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("corecurves.reports.render.execute", execute)
    with pytest.raises(KeyboardInterrupt):
        render_sweep("own.ipynb", "out", grid={"samples": [1, 2, 3]}, progress=False)
    text = bs4.BeautifulSoup(Path("out/index.html").read_text(encoding="utf-8"), "html.parser").text
    assert "3 reports, 1 fine, 0 failed, 2 not rendered yet." in text


@pytest.mark.parametrize(("failing", "code"), [((), 0), ((1,), 1)])
def test_the_command(template, monkeypatch, capsys, failing, code):
    fake(monkeypatch, failing)
    template("samples = 3\nmargin = 0.1", "1")
    with pytest.raises(SystemExit) as caught:
        main(["report", "own.ipynb", "--sweep", "samples=[1,2]", "-p", "margin=0.2", "--quiet"])
    assert caught.value.code == code
    out, err = capsys.readouterr()
    assert ("own-sweep/index.html" in err) == bool(code)
    assert (out == "own-sweep/index.html\n") == (not code)


def test_the_command_bounds_the_reports(template, no_kernel, capsys):
    template("samples = 3", "1")
    with pytest.raises(SystemExit) as caught:
        main(["report", "own.ipynb", "--sweep", "samples=[1,2]", "--most", "1"])
    assert caught.value.code == 2
    assert "would make 2 reports; it may make 1" in capsys.readouterr().err


def test_a_bound_without_a_sweep_is_refused(template, no_kernel, capsys):
    template("samples = 3", "1")
    with pytest.raises(SystemExit) as caught:
        main(["report", "own.ipynb", "--most", "1"])
    assert caught.value.code == 2
    assert "--most bounds a sweep" in capsys.readouterr().err


VALUES = {
    "samples": st.integers(),
    "margin": st.floats(allow_nan=True),
    "arms": st.lists(st.text(max_size=8), max_size=3).map(tuple),
    "split": st.text(max_size=12),
    "path": st.none() | st.text(max_size=6),
}


@given(st.sampled_from(sorted(VALUES)).flatmap(lambda name: st.tuples(st.just(name), VALUES[name])))
def test_an_assignment_reads_back_or_is_none(pair):
    from corecurves.reports import parse_assignments

    name, value = pair
    text = assignment(name, value, DECLARED)
    if text is not None:
        assert literal(parse_assignments([text], DECLARED)[name]) == literal(value)


def test_the_command_that_repeats():
    said = repeat_command("own", "a.html", {"split": "my set", "arms": ("x",)}, DECLARED)
    assert said == "corecurves report own -p 'split=my set' -p 'arms=['\"'\"'x'\"'\"']' -o a.html"
    # "None" would read as no path at all.
    said = repeat_command("/far/own.ipynb", "a.html", {"path": "None"}, DECLARED)
    assert said == "corecurves.render_report('own.ipynb', 'a.html', parameters={'path': 'None'})"
