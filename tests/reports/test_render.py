import asyncio
import json
import subprocess
import sys
import threading
import time
import warnings
from datetime import date
from pathlib import Path

import nbformat
import numpy as np
import pytest

import corecurves
from corecurves.errors import ExitCode, ReportError, UsageError
from corecurves.redact import Redactor
from corecurves.reports import list_reports, render_report
from corecurves.reports.tidy import notebook_text, own_frames, settled, tidy


def strict(path):
    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=refuse)


def files():
    return sorted(path.name for path in Path.cwd().iterdir())


def test_importing_reports_loads_nothing_heavy():
    heavy = ["papermill", "nbconvert", "nbformat", "nbclient", "jinja2", "matplotlib", "IPython"]
    code = f"import sys, corecurves.reports; print(*[m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"name": "sample_eficiency"}, "`report` has no 'sample_eficiency'"),
        ({"name": "gone.ipynb"}, "there is no notebook gone.ipynb"),
        ({"name": "own.ipynb", "out": "x.pdf"}, "as .html or .ipynb, received x.pdf"),
        ({"name": "own.ipynb", "out": "no/x.html"}, "there is no folder no to write x.html to"),
        ({"name": "own.ipynb", "out": "folder.html"}, "folder.html is a folder"),
        ({"name": "own.ipynb", "out": "own.ipynb"}, "would overwrite its template"),
        ({"name": "own.ipynb", "keep_notebook": True}, "would overwrite its template"),
        ({"name": "own.ipynb", "timeout": 0}, "`timeout` takes seconds above 0"),
        ({"name": "broken.ipynb"}, "broken.ipynb holds no notebook"),
        ({"name": "own.ipynb", "parameters": {"kmax": 1}}, "did you mean 'k_max'?"),
        ({"name": "own.ipynb", "parameters": {"api_key": "x"}}, "looks like a secret"),
        ({"name": "own.ipynb", "parameters": {"cut": {1: 2}}}, "`cut` has the key 1"),
    ],
)
def test_what_is_wrong_is_said_before_a_kernel_starts(template, no_kernel, call, message):
    template("k_max = 4\ncut = {}")
    Path("folder.html").mkdir()
    Path("broken.ipynb").write_text("{")
    before = sorted(Path.cwd().iterdir())
    with pytest.raises(UsageError) as caught:
        render_report(**call)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert sorted(Path.cwd().iterdir()) == before


def test_bundled_reports_are_listed(tmp_path, monkeypatch, book):
    nbformat.write(book("k_max = 4  # most corrections", "# How fast?"), tmp_path / "lane.ipynb")
    monkeypatch.setattr("corecurves.reports.templates.bundled_names", lambda *_: ["lane.ipynb"])
    monkeypatch.setattr(
        "corecurves.reports.templates.bundled_path", lambda *parts: tmp_path / parts[-1]
    )
    (report,) = list_reports()
    assert (report.name, report.title) == ("lane", "How fast?")
    assert [(it.name, it.help) for it in report.parameters] == [("k_max", "most corrections")]


def test_old_notebooks_are_read_without_a_warning(tmp_path, monkeypatch, no_kernel):
    monkeypatch.chdir(tmp_path)
    cell = {"cell_type": "code", "metadata": {}, "source": ["1"], "outputs": [], "id": "x"}
    old = {
        "cells": [{**cell, "execution_count": None}, {**cell, "execution_count": None}],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 2,
    }
    Path("old.ipynb").write_text(json.dumps(old))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(AssertionError, match="would have started"):
            render_report("old.ipynb")


def test_written_text_is_strict_json(book):
    notebook = book("cut = 0.5", "1")
    notebook.cells[1].outputs = [
        nbformat.v4.new_output("display_data", {"application/json": {"a": float("nan")}}),
        nbformat.v4.new_output("stream", name="stdout", text="10 %\r"),
        nbformat.v4.new_output("stream", name="stdout", text="100 %\n\u2028\x85\x00"),
        nbformat.v4.new_output("stream", name="stderr", text="x"),
    ]
    notebook.metadata["papermill"] = {"input_path": "/home/someone/x.ipynb", "duration": 1.0}
    notebook.cells[0].metadata["papermill"] = {"start_time": "2026"}
    clean = tidy(notebook, {"cut": float("inf")}, Redactor({}))
    written = json.loads(notebook_text(clean), parse_constant=pytest.fail)
    assert written["metadata"]["papermill"] == {"parameters": {"cut": "inf"}}
    assert "papermill" not in written["cells"][0]["metadata"]
    outputs = written["cells"][1]["outputs"]
    assert outputs[0]["data"]["application/json"] == {"a": "nan"}
    assert ["".join(output["text"]) for output in outputs[1:]] == ["100 %\n\u2028\x85\x00", "x"]
    nbformat.validate(nbformat.reads(notebook_text(clean), as_version=4))


def test_tracebacks_keep_the_notebook_s_own_frames():
    frames = [
        "ValueError   Traceback (most recent call last)",
        "Cell \x1b[32mIn[1], line 4\x1b[39m\n----> 4 f()\n",
        "File \x1b[32m/lib/a.py:84\x1b[39m, in f()\n",
        "File /lib/b.py:1, in g()\n",
        "ValueError: File x",
    ]
    assert own_frames(frames) == [*frames[:2], "(2 frames outside the notebook)", frames[4]]
    assert own_frames([]) == []


def test_one_render_at_a_time(template, monkeypatch):
    running, most = [], []

    def execute(*args, **kwargs):
        running.append(1)
        most.append(len(running))
        time.sleep(0.05)
        running.pop()

    monkeypatch.setattr("corecurves.reports.render.execute", execute)
    template(None, "1")
    threads = [
        threading.Thread(target=render_report, args=("own.ipynb", f"{i}.html")) for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1, 1, 1]


def test_progress_is_rare_lines_off_a_terminal(book, monkeypatch, capsys):
    module = sys.modules["corecurves.reports.execute"]
    notebook = book(None, "# Title", "1", "", "2")
    for after, expected in ((60.0, ""), (0.0, "lane: 0 of 2 cells done\n")):
        monkeypatch.setattr(module, "_FIRST_LINE_AFTER", after)
        with module._shown(notebook, "lane", progress=True) as step:
            step(0)
            step(1)
        assert capsys.readouterr() == ("", expected)


def test_overwritten_lines_settle():
    assert settled("a\r\nb") == "a\nb"
    assert settled("10%\r20%\r30%") == "30%"


@pytest.mark.notebook
def test_every_kind_of_parameter_reaches_the_notebook(template):
    names = ["threshold", "cut", "since", "path", "k", "arms", "levels"]
    template(
        "threshold = 0.5\ncut = {}\nsince = ''\npath = ''\nk = 1\narms = ('a',)\nlevels = ['a']",
        f"print({', '.join(names)}, sep='|')",
    )
    parameters = {
        "threshold": float("nan"),
        "cut": {"a": [float("inf"), -float("inf")]},
        "since": date(2026, 1, 31),
        "path": Path("a") / "b",
        "k": np.int64(4),
        "arms": ["x", "y"],
        "levels": ("x", "y"),
    }
    assert render_report("own.ipynb", "out.ipynb", parameters=parameters) == Path("out.ipynb")
    written = strict("out.ipynb")
    (output,) = written["cells"][2]["outputs"]
    assert "".join(output["text"]).strip() == (
        f"nan|{{'a': [inf, -inf]}}|2026-01-31|{Path('a') / 'b'}|4|('x', 'y')|['x', 'y']"
    )
    recorded = written["metadata"]["papermill"]["parameters"]
    assert recorded["threshold"] == "nan"
    assert recorded["cut"] == {"a": ["inf", "-inf"]}
    nbformat.validate(nbformat.read("out.ipynb", as_version=4))
    assert files() == ["out.ipynb", "own.ipynb"]


@pytest.mark.notebook
def test_a_page_and_its_notebook(template, remote_references, capfd, monkeypatch):
    monkeypatch.setenv("ACME_API_KEY", "sk-test-000<&")
    template(
        "split = 'public'  # curricula",
        "# How fast?\n\nProse.",
        "import sys, os, warnings\nprint(sys.executable, os.getcwd())\nwarnings.warn('own')",
        "import os\nprint(os.environ['ACME_API_KEY'])\nos.environ['ACME_API_KEY']",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = render_report("own.ipynb", "sub.html", keep_notebook=False)
        render_report("own.ipynb", "both.html", keep_notebook=True)
    page = out.read_text(encoding="utf-8")
    assert "<title>How fast?</title>" in page
    assert sys.executable in page
    assert str(Path.cwd()) in page
    assert remote_references(page) == []
    assert capfd.readouterr() == ("", "")
    for file in Path.cwd().iterdir():
        assert "sk-test-000" not in file.read_text(encoding="utf-8")
    assert files() == ["both.html", "both.ipynb", "own.ipynb", "sub.html"]
    text = json.dumps(strict("both.ipynb")["metadata"])
    assert "corecurves report own.ipynb -o both.html" in text
    assert str(Path.cwd()) not in text


@pytest.mark.notebook
@pytest.mark.parametrize("suffix", [".html", ".ipynb"])
def test_a_failed_cell(template, remote_references, monkeypatch, suffix):
    monkeypatch.setenv("ACME_API_KEY", "sk-test-000")
    template(
        None,
        "# Report",
        "print('made before')",
        "raise ValueError('refused `sk-test-000` <script>\\nsecond line')",
        "print('never' + 'run')",
    )
    out = Path(f"out{suffix}")
    out.write_text("an older report")
    with pytest.raises(ReportError) as caught:
        render_report("own.ipynb", out)
    error = "cell 2 failed: ValueError: refused `[redacted: ACME_API_KEY]` <script>"
    assert out.read_text() == "an older report"
    out = Path(f"out.failed{suffix}")
    assert str(caught.value) == f"own: {error}; the report up to there is in {out}"
    assert caught.value.exit_code is ExitCode.FINDINGS
    text = out.read_text(encoding="utf-8")
    assert "sk-test-000" not in text
    assert "made before" in text
    assert "neverrun" not in text
    if suffix == ".html":
        assert "<title>Failed: Report</title>" in text
        assert text.index("This report failed") < text.index("<h1")
        assert 'id="failed-cell"' in text
        assert remote_references(text) == []
    else:
        first = strict(out)["cells"][0]
        assert first["cell_type"] == "markdown"
        assert "**This report failed** at cell 2" in "".join(first["source"])


@pytest.mark.notebook
def test_a_failure_inside_a_library_shows_no_path_of_it(template):
    template(None, "import corecurves as cc\ncc.load_curricula('nope')")
    for out in ("out.html", "out.ipynb"):
        with pytest.raises(ReportError, match="cell 1 failed: UsageError: `split` has no 'nope'"):
            render_report("own.ipynb", out)
        text = Path(out).read_text(encoding="utf-8")
        assert str(Path(corecurves.__file__).parent) not in text
        assert "outside the notebook)" in text


@pytest.mark.notebook
@pytest.mark.parametrize(
    ("source", "timeout", "error"),
    [
        ("import time; time.sleep(60)", 1, "took longer than 1 s"),
        ("import os; os._exit(3)", None, "the kernel died"),
        ("import sys; sys.exit(1)", None, "SystemExit: 1"),
        ("%nosuchmagic", None, "UsageError: Line magic function `%nosuchmagic` not found"),
    ],
)
def test_other_ends(template, source, timeout, error):
    template(None, "1", "", source)
    with pytest.raises(ReportError, match=f"cell 2 failed: {error}"):
        render_report("own.ipynb", timeout=timeout)
    assert error in Path("own.html").read_text(encoding="utf-8")


@pytest.mark.notebook
def test_a_notebook_may_end_early(template):
    template(None, "print('all' + 'said')", "import sys; sys.exit(0)", "1 / 0")
    page = render_report("own.ipynb").read_text(encoding="utf-8")
    assert "allsaid" in page
    assert "SystemExit" not in page
    assert "The notebook ends here, by sys.exit: 1 cell below not run." in page


@pytest.mark.notebook
def test_inside_a_running_event_loop(template):
    template(None, "1 + 1")

    async def cell():
        return render_report("own.ipynb")

    assert asyncio.run(cell()) == Path("own.html")


@pytest.mark.notebook
def test_a_kernel_that_dies_at_the_start_is_tried_once_more(template, monkeypatch):
    import ipykernel.kernelspec as spec

    real, calls = spec.get_kernel_dict, []

    def flaky(*args):
        calls.append(args)
        found = real(*args)
        if len(calls) <= deaths:
            last = "print('Address already in use', file=sys.stderr); sys.exit(1)"
            found["argv"] = [sys.executable, "-c", f"import sys; {last}"]
        return found

    monkeypatch.setattr(spec, "get_kernel_dict", flaky)
    template(None, "1 + 1")
    deaths = 1
    assert render_report("own.ipynb").exists()
    Path("own.html").unlink()
    deaths = 10_000
    with pytest.raises(ReportError, match="own: no kernel starts: Address already in use"):
        render_report("own.ipynb")
    assert files() == ["own.ipynb"]


@pytest.mark.notebook
def test_an_expected_exception_is_no_failure(template):
    path = template(None, "1 / 0", "print('went' + 'on')")
    book = nbformat.read(path, as_version=4)
    book.cells[0].metadata["tags"] = ["raises-exception"]
    nbformat.write(book, path)
    assert "wenton" in render_report(path).read_text(encoding="utf-8")
