"""One self-contained HTML page of an executed notebook."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from corecurves.reports.clean import clean_html
from corecurves.reports.notebook import (
    Notebook,
    headings_in,
    is_tagged,
    nbformat_package,
    quiet,
    title_of,
)
from corecurves.reports.outputs import provenance_of, shown_outputs

__all__ = ["html_page"]

_TEMPLATE = Path(__file__).parent / "template"
_INTERVAL = re.compile(r"\[[^\[\]]{1,24}\]")
_LONG = 32
"""Characters of a table's cell beyond which it wraps."""


def html_page(notebook: Notebook, *, name: str = "report", folder: Path | None = None) -> str:
    """Page that needs no other file, no network and no script.

    Code is folded, figures are embedded and described, texts are escaped, math stays text, and
    provenance stands in a box at the end. Cells tagged ``remove-cell``, ``remove-input`` or
    ``remove-output`` are left out as the tag says.

    Examples
    --------
    >>> page = html_page({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    >>> "<title>report</title>" in page
    True
    """
    with quiet():
        from nbconvert.exporters import templateexporter as exporters
        from nbconvert.filters.ansi import ansi2html

        book = nbformat_package().from_dict(notebook)
        exporter_class: Any = exporters.TemplateExporter
        exporter = exporter_class(
            extra_template_basedirs=[str(_TEMPLATE.parent)],
            template_name=_TEMPLATE.name,
            template_file="page.html.j2",
        )
        folders = [*([folder] if folder else []), Path.cwd()]
        resources = {
            "title": title_of(book) or name,
            "failed": any(is_tagged(cell, "report-failed") for cell in book.cells),
            "parts": _parts(book, folders, ansi2html),
            "provenance": provenance_of(book) | _rendered_with(book),
            "style": (_TEMPLATE / "page.css").read_text(encoding="utf-8"),
        }
        page, _ = exporter.from_notebook_node(book, resources)
    return str(page)


def _rendered_with(book: Notebook) -> dict[str, str]:
    """Rows of the box that the renderer knows, and no cell."""
    own = book.metadata.get("corecurves", {})
    rows = {"rendered with": "software", "to repeat": "command"}
    return {label: str(own[name]) for label, name in rows.items() if name in own}


def _parts(book: Notebook, folders: list[Path], ansi: Any) -> list[dict[str, Any]]:
    """The cells as the template shows them."""
    from nbconvert.filters import highlight as highlighters

    language = book.metadata.get("language_info", {}).get("pygments_lexer", "ipython3")
    highlighter: Any = highlighters.Highlight2HTML
    highlight = highlighter(pygments_lexer=language)
    parts = []
    heading = title_of(book)
    for cell in book.cells:
        if is_tagged(cell, "remove-cell"):
            continue
        if cell.cell_type == "markdown":
            heading = ([heading, *headings_in(cell.source)])[-1]
            html = clean_html(_markdown(cell.source, cell.get("attachments")), folders=folders)
            kind = "failed" if is_tagged(cell, "report-failed") else "prose"
            parts.append({"kind": kind, "html": _tables(html)})
        elif cell.cell_type == "code":
            part = _code_part(cell, highlight)
            if not is_tagged(cell, "remove-output"):
                part["outputs"] = shown_outputs(
                    cell,
                    heading,
                    clean=lambda html: _tables(clean_html(html, folders=folders)),
                    ansi=ansi,
                    markdown=_markdown,
                )
            if part["code"] or part["outputs"]:
                parts.append(part)
    return parts


def _code_part(cell: Notebook, highlight: Any) -> dict[str, Any]:
    label = "Code"
    if is_tagged(cell, "injected-parameters"):
        label = "Parameters of this report"
    elif is_tagged(cell, "parameters"):
        label = "Parameters and their defaults"
    shown = cell.source.strip() and not is_tagged(cell, "remove-input")
    return {
        "kind": "code",
        "label": label,
        "number": cell.execution_count or "",
        "code": str(highlight(cell.source)) if shown else "",
        "outputs": [],
        "failed": is_tagged(cell, "failed-cell"),
    }


def _markdown(source: str, attachments: Any = None) -> str:
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    # A reference to an attachment that is not there would end the whole page.
    attachments = dict(attachments or {})
    for name in re.findall(r"attachment:([^\s)\"']+)", source):
        attachments.setdefault(name, {"text/plain": ""})
    renderer = IPythonRenderer(escape=False, exclude_anchor_links=True, attachments=attachments)
    return str(MarkdownWithMath(renderer=renderer).render(source))


def _tables(html: str) -> str:
    """Tables in boxes that scroll by themselves; long texts in them wrap, but no interval."""
    if "<table" not in html:
        return html
    import bs4

    soup = bs4.BeautifulSoup(html, "html.parser")
    for text in soup.find_all(string=_INTERVAL):
        if text.find_parent("td"):
            text.replace_with(_INTERVAL.sub(lambda m: m[0].replace(" ", "\xa0"), text))
    for cell in soup.find_all(["td", "th"]):
        if len(cell.get_text()) > _LONG:
            cell["class"] = " ".join(
                [*filter(None, map(str, cell.get_attribute_list("class"))), "long"]
            )
    for table in soup.find_all("table"):
        if table.find_parent("table") is None:
            table.wrap(soup.new_tag("div", attrs={"class": "wide", "tabindex": "0"}))
    return str(soup)
