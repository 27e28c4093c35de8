"""Imports point one way, and importing the library loads nothing heavy."""

import ast
import subprocess
import sys
from pathlib import Path

import corecurves

PACKAGE = Path(corecurves.__file__).parent
LINES = [
    {"names"},
    {"errors"},
    {"arguments", "reply", "scripts"},
    {"text", "stats", "canonical", "bundled", "redact", "json_text", "blocks"},
    {"markup"},
    {"specs", "schema", "spec_strings", "lexical"},
    {"files"},
    {"engine"},
    {"models"},
    {"systems", "graders", "selectors"},
    {"protocol"},
    {"replay"},
    {"lane", "rose", "recall", "descent", "compress", "screen"},
    {"summaries"},
    {"plots", "reports"},
    {"explore"},
    {"cli"},
]
UPWARD = {("specs/lesson.py", "files")}
"""`Store.from_markdown` reads files: the one import upward, in the function, when it is called."""
LINE = {name: number for number, line in enumerate(LINES) for name in line}


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[0] not in ("__init__", "__main__", "_bundled"):
            yield path, parts


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            top, _, rest = name.partition(".")
            if top == "corecurves" and rest:
                yield rest.split(".")[0], node.lineno


def test_every_module_has_its_line():
    assert {parts[0] for _, parts in modules()} <= LINE.keys()


def test_imports_point_one_way():
    wrong = []
    for path, parts in modules():
        own = parts[0]
        for other, line in imported(path):
            known = other in LINE and (str(path.relative_to(PACKAGE)), other) not in UPWARD
            if known and other != own and LINE[other] >= LINE[own]:
                wrong.append(f"{path.relative_to(PACKAGE)}:{line} imports {other}")
    assert wrong == []


def test_the_import_upward_happens_in_a_call():
    assert "corecurves.files" not in loaded_by("import corecurves.specs")


def test_stats_knows_no_labelled_arrays():
    for path, parts in modules():
        if parts[0] == "stats":
            text = path.read_text(encoding="utf-8")
            assert "xarray" not in text
            assert "pandas" not in text


HEAVY = ("scipy.stats", "bpe_openai", "matplotlib", "seaborn", "papermill", "ipywidgets",
         "xllamacpp", "openai", "dask", "IPython", "nbconvert", "h5py", "bm25s")  # fmt: skip


def loaded_by(code):
    result = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return set(result.stdout.split())


def test_import_loads_nothing_heavy():
    assert loaded_by("import corecurves").isdisjoint({*HEAVY, "xarray", "pandas", "numpy"})
    assert loaded_by("import corecurves as cc; cc.run_lane").isdisjoint(HEAVY)


def test_help_loads_neither_xarray_nor_pandas():
    code = "from corecurves.cli import main\ntry: main(['lane', '--help'])\nexcept SystemExit: pass"
    assert loaded_by(f"exec({code!r})").isdisjoint({*HEAVY, "xarray", "pandas", "numpy"})


def test_every_public_name_resolves_and_has_an_example():
    without = []
    for name in dir(corecurves):
        if name.startswith("_") or not callable(thing := getattr(corecurves, name)):
            continue
        if not isinstance(thing, type) and ">>>" not in (thing.__doc__ or ""):
            without.append(name)
    assert without == [
        "arun_descent_eval",
        "arun_lane",
        "arun_recall_eval",
        "arun_rose_eval",
        "show_figure",
        "show_key_figures",
        "show_provenance",
    ], "an awaitable twin and what needs a notebook are the exceptions"
