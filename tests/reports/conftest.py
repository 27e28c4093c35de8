import re

import bs4
import nbformat
import pytest


def code(source, *tags):
    metadata = {"tags": list(tags)} if tags else {}
    return nbformat.v4.new_code_cell(source, metadata=metadata)


@pytest.fixture
def book():
    """Maker of notebooks: (tagged source or None, further cells), text for markdown as '# …'."""

    def make(parameters=None, *cells):
        first = [] if parameters is None else [code(parameters, "parameters")]
        rest = [
            nbformat.v4.new_markdown_cell(cell) if cell.startswith("#") else code(cell)
            for cell in cells
        ]
        return nbformat.v4.new_notebook(cells=first + rest)

    return make


@pytest.fixture
def template(book, tmp_path, monkeypatch):
    """Maker of notebook files in an own current folder."""
    monkeypatch.chdir(tmp_path)

    def make(parameters=None, *cells, name="own"):
        path = tmp_path / f"{name}.ipynb"
        nbformat.write(book(parameters, *cells), path)
        return path

    return make


@pytest.fixture
def no_kernel(monkeypatch):
    """Failure of the test when anything is executed."""

    def execute(*args, **kwargs):
        raise AssertionError("a kernel would have started")

    monkeypatch.setattr("corecurves.reports.render.execute", execute)


LINKS = ("https:", "http:", "mailto:", "#")
LOADING = ("action", "background", "data", "formaction", "poster", "srcset")
FETCHES = r"@import[^;]*|url\((?!\s*['\"]?(?:data:|#))[^)]*"


@pytest.fixture(scope="session")
def remote_references():
    """Finder of everything in a page that a browser would fetch or run."""

    def find(page):
        soup = bs4.BeautifulSoup(page, "html.parser")
        live = ["script", "link", "iframe", "object", "embed", "base"]
        found = [str(tag) for tag in soup.find_all(live)]
        found += [str(tag) for tag in soup.find_all("meta", {"http-equiv": "refresh"})]
        for tag in soup.find_all(True):
            for name, value in tag.attrs.items():
                text = str(value).strip()
                if name.startswith("on") or name in LOADING:
                    found.append(f"{tag.name} {name}={text}")
                elif name in ("src", "href", "xlink:href"):
                    if not text.startswith(LINKS if tag.name == "a" else ("data:image/", "#")):
                        found.append(f"{tag.name} {name}={text}")
                elif name != "alt":
                    found += re.findall(FETCHES, text)
            if tag.name == "style":
                found += re.findall(FETCHES, tag.get_text())
        return found

    return find
