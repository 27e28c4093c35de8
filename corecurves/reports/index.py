"""The page that lists the reports of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from corecurves.markup import Html, badge, escaped, short, table
from corecurves.redact import Redactor
from corecurves.reports.notebook import as_notebook, title_of
from corecurves.reports.repeat import software

__all__ = ["Row", "index_page"]

_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'"
)
_COLOURS = {"fine": "good", "failed": "bad", "waiting": "plain"}


@dataclass(frozen=True)
class Row:
    """A report of a sweep.

    Parameters
    ----------
    values : mapping of str to str
        ``name=value`` by name.
    file : str
        Its file beside the index; empty where there is none.
    status : str
        ``fine``, ``failed`` or ``waiting``.
    error : str
        Why it failed, in one line.
    figures : mapping of str to str
        Key figures that it offers.
    """

    values: Mapping[str, str]
    file: str
    status: str = "waiting"
    error: str = ""
    figures: Mapping[str, str] = field(default_factory=dict)


def index_page(template: Path, rows: Sequence[Row], about: Mapping[str, str]) -> str:
    """Page with a row a report.

    Examples
    --------
    >>> from corecurves.bundled import bundled_path
    >>> page = index_page(
    ...     bundled_path("notebooks", "what_if.ipynb"),
    ...     [Row({"seed": "seed=0"}, "1_seed-0.html", "fine")],
    ...     {"template": "what_if", "shared": "", "command": "…"},
    ... )
    >>> 'href="1_seed-0.html"' in page
    True
    """
    redactor = Redactor()
    title = title_of(as_notebook(template)) or template.stem
    names = list(rows[0].values)
    offered = list(dict.fromkeys(label for row in rows for label in row.figures))
    failed = [row for row in rows if row.status == "failed"]
    waiting = sum(row.status == "waiting" for row in rows)
    body = table(
        ["report", *names, "status", *offered],
        [
            (
                _link(number, row),
                *(short(row.values[name].partition("=")[2], 60) for name in names),
                badge(row.status, _COLOURS[row.status]),
                *(row.figures.get(label, "–") for label in offered),
            )
            for number, row in enumerate(rows, start=1)
        ],
    )
    said = f"{len(rows)} reports, {len(rows) - len(failed) - waiting} fine, {len(failed)} failed"
    if waiting:
        said += f", {waiting} not rendered yet"
    errors = "".join(
        f'<p class="failed"><strong>{_link(rows.index(row) + 1, row)}, '
        f"{escaped(', '.join(row.values.values()))}:</strong> {escaped(row.error)}</p>"
        for row in failed
    )
    box = {
        "template": about["template"],
        "the same in all": about["shared"],
        "rendered with": software(),
        "to repeat": about["command"],
    }
    listed = "".join(
        f"<dt>{escaped(label)}</dt>"
        f"<dd{' class=command' if label == 'to repeat' else ''}>{escaped(text)}</dd>"
        for label, text in box.items()
        if text
    )
    style = (Path(__file__).parent / "template" / "page.css").read_text(encoding="utf-8")
    return redactor.text(
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>Sweep: {escaped(title)}</title>\n<style>\n{style}\n</style>\n</head>\n<body>\n"
        f"<main>\n<h1>Sweep: {escaped(title)}</h1>\n<p>{said}.</p>\n{errors}\n"
        f'<div class="wide" tabindex="0">{body}</div>\n'
        "<p>A setting that is chosen after these results were seen looks better than it is: its "
        "interval does not know of the choice.</p>\n"
        f'<section class="provenance"><h2>Provenance</h2><dl>{listed}</dl></section>\n'
        "</main>\n</body>\n</html>\n"
    )


def _link(number: int, row: Row) -> Html:
    if not row.file or row.status == "waiting":
        return Html(f"{number}")
    return Html(f'<a href="{escaped(quote(row.file))}">{number}</a>')
