"""The notebooks that come with the library run, and say what they should."""

import json
import re

import nbformat
import pytest

import corecurves as cc
from corecurves.bundled import bundled_names, bundled_path
from corecurves.reports import declared_parameters

NAMES = [name.removesuffix(".ipynb") for name in bundled_names("notebooks") if ".ipynb" in name]
SIMULATED = {"rose_transfer", "compressors_compared", "00_tour", "bring_your_own"}
SMALL = {
    "00_tour": {"samples": 1, "store": "own_notes"},
    "recall": {"selectors": ("serve-all", "bm25"), "cache": False},
    "bring_your_own": {"samples": 1, "ledger": "none"},
    "sample_efficiency": {"split": "dev", "ledger": "none"},
    "what_if": {"split": "dev", "concept": "wisdom"},
    "systems_compared": {"split": "dev", "systems": ("grounded", "parrot"), "cache": False},
    "rose_transfer": {"model": "simulated", "demo_only": True, "samples": 1, "ledger": "none"},
    "compressors_compared": {
        "model": "simulated",
        "lessons": 3,
        "depths": 1,
        "samples": 1,
        "ledger": "none",
    },
}


def test_every_notebook_is_tried():
    assert set(NAMES) == set(SMALL)


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_are_committed_clean(name):
    book = nbformat.read(bundled_path("notebooks", f"{name}.ipynb"), as_version=4)
    assert declared_parameters(book)
    for cell in book.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    texts = [cell.source for cell in book.cells if cell.cell_type == "markdown"]
    assert re.search(r"\*\*The questions?\.\*\* [^*]*\?", texts[0]), "begins with its question"
    assert re.match(r"## How to read (?:this picture|these pictures) wrongly\n", texts[-1])


@pytest.mark.notebook
@pytest.mark.parametrize("name", NAMES)
def test_notebooks_render_to_one_page_that_needs_nothing(name, tmp_path):
    page = cc.render_report(name, tmp_path / "page.html", parameters=SMALL[name], progress=False)
    text = page.read_text(encoding="utf-8")
    assert not re.search(r'(?:src|href)="(?:https?:)?//', text)
    assert not re.search(r"<script|@import|url\((?!['\"]?data:)", text)
    assert 'alt="' in text
    assert "Figure without a description" not in text
    assert ("SIMULATED" in text) == (name in SIMULATED)
    assert "plan hash" in text


@pytest.mark.notebook
def test_a_page_of_several_runs_says_how_to_repeat_each(tmp_path):
    page = cc.render_report("systems_compared", tmp_path / "page.html",
                            parameters=SMALL["systems_compared"], progress=False)  # fmt: skip
    box = page.read_text(encoding="utf-8").partition("Provenance")[2]
    assert "grounded\nparrot" in box


@pytest.mark.notebook
def test_a_rendered_notebook_is_strict_json(tmp_path):
    out = cc.render_report("sample_efficiency", tmp_path / "r.ipynb",
                           parameters=SMALL["sample_efficiency"], progress=False)  # fmt: skip
    book = json.loads(out.read_text(), parse_constant=lambda name: pytest.fail(name))
    assert "gate: passed" in json.dumps(book)


def test_your_own_skills_are_shown_in_full(tmp_path, capsys):
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "SKILL.md").write_text("Use the port 6112.")
    (tmp_path / "episodes.jsonl").write_text('{"task": "Say the port.", "good": "It is 6112."}')
    notebook = bundled_path("notebooks", "bring_your_own.ipynb")
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    source = next("".join(cell["source"]) for cell in cells if cell["id"] == "cell-03")
    exec(source, {"folder": str(tmp_path)})
    assert "── deploy/SKILL.md\nUse the port 6112." in capsys.readouterr().out
