"""The documentation runs, its links lead somewhere, and its examples of files are read."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import matplotlib as mpl
import pytest
import yaml

import corecurves as cc
import corecurves.schema
from corecurves.cli.main import main

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LINKED = [ROOT / "README.md", ROOT / "CHANGELOG.md", *PAGES,
          *(ROOT / name / "README.md" for name in ("curricula", "episodes"))]  # fmt: skip
BLOCK = re.compile(
    r"(?:^<!-- (?P<key>[a-z ]+?)(?:: (?P<value>[^\n]*?))? -->\n|^`(?P<file>[\w./-]+)`:\n\n)?"
    r"^```(?P<kind>[\w{}.-]*)[^\n]*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")


def blocks(page):
    return list(BLOCK.finditer(page.read_text(encoding="utf-8")))


def runnable(page):
    return any(block["kind"] in ("python", "sh") or block["file"] for block in blocks(page))


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *filter(runnable, PAGES)], ids=lambda p: p.stem
)
def test_what_a_page_says_to_write_and_run(page, tmp_path, monkeypatch, capsys):
    """In order, in one folder: files are written, Python and the commands are run."""
    monkeypatch.chdir(tmp_path)
    space = {"cc": cc, "__name__": "page"}
    said = ""
    with mpl.rc_context():
        for block in blocks(page):
            if block["file"]:
                path = tmp_path / block["file"]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block["text"], encoding="utf-8")
            elif block["key"] == "output":
                for part in filter(None, re.split(r"\s*(?:\n|…\s)\s*", block["text"])):
                    before, found, said = said.partition(part)
                    assert found, f"{part!r} is not in {before!r}"
            elif block["key"] == "not run":
                assert block["value"], "a reason"
                compile(block["text"], str(page), "exec") if block["kind"] == "python" else None
            elif block["kind"] == "python":
                exec(compile(block["text"], str(page), "exec"), space)
                said = "".join(capsys.readouterr())
            elif block["kind"] == "sh":
                expected = int(block["value"]) if block["key"] == "exit" else 0
                for command in block["text"].splitlines():
                    said = run(command, expected, capsys)


def run(command, expected, capsys):
    name, *arguments = shlex.split(command, comments=True)
    assert name == "corecurves", f"{command}: mark what cannot run with <!-- not run: why -->"
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = "".join(capsys.readouterr())
    assert ended.value.code == expected, said
    return said


def markdown_of(page):
    if page.suffix == ".ipynb":
        cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
        return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def anchors(page):
    """Anchors of a page's headings, as hosts of repositories and the site make them."""
    titles = re.findall(r"^#+ (.*)$", markdown_of(page), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.strip().replace(" ", "-") for title in plain}


@pytest.mark.parametrize("page", [*LINKED, *NOTEBOOKS], ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_every_relative_link_leads_somewhere(page):
    for link in LINK.findall(markdown_of(page)):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name}: {link}"
        assert target.is_relative_to(ROOT), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


def test_the_readme_is_short_and_has_both_figures():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 90
    for figure in ("lane", "rose"):
        assert f"](notebooks/figures/{figure}.png)" in text
        assert re.search(rf"--plot\s+notebooks/figures/{figure}\.png", text), "what makes it"


def test_what_is_generated_is_whole(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    generated = __import__("generated")
    names = [name for group in generated.public_names().values() for name in group]
    assert sorted(names) == sorted(name for name in dir(cc) if not name.startswith("_"))
    assert set(generated.public_names()) <= generated.GROUPS.keys()
    tables = generated.schema_tables()
    for schema in (value for value in vars(cc.schema).values() if hasattr(value, "variables")):
        assert f"## {schema.question}\n" in tables
        assert all(f"| `{variable.name}`" in tables for variable in schema.variables)
    assert "## corecurves rose eval\n" in generated.commands()
    source = ["Before.\n\n```{generated} commands\n```\n"]
    generated.fill(None, "", source)
    assert "{generated}" not in source[0]


def test_how_to_cite_agrees_with_the_project():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {key: citation[key] for key in ("version", "license")} == {
        key: project[key] for key in ("version", "license")
    }
    assert f"version {project['version']}" in (ROOT / "docs/cite.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_needs_no_other_host(tmp_path):
    result = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", "docs",
         "-d", str(tmp_path / "doctrees"), ".", str(tmp_path / "site")],
        cwd=ROOT, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    pages = sorted((tmp_path / "site").rglob("*.html"))
    reference = "".join(p.read_text() for p in (tmp_path / "site/docs/api").glob("*.html"))
    names = [name for name in dir(cc) if not name.startswith("_")]
    assert [name for name in names if f'id="corecurves.{name}"' not in reference] == []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(?:script|img|link|iframe)[^>]+(?:src|href)=\"(?:https?:)?//", text)
        assert "{generated}" not in text
    styles = "".join(path.read_text() for path in (tmp_path / "site/_static").rglob("*.css"))
    assert not re.search(r"@import|url\(['\"]?(?:https?:)?//", styles)
    assert "docs/index.html" in (tmp_path / "site/index.html").read_text()
