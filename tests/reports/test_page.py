import re

import bs4
import nbformat
import pytest

from corecurves.redact import Redactor
from corecurves.reports.clean import clean_css, clean_html
from corecurves.reports.notebook import as_notebook
from corecurves.reports.outputs import PROVENANCE
from corecurves.reports.page import html_page
from corecurves.reports.tidy import tidy

DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


def shown(*outputs, source="1", tags=(), markdown="# Title"):
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)}, outputs=list(outputs))
    cells = [nbformat.v4.new_markdown_cell(markdown), cell]
    page = html_page(nbformat.v4.new_notebook(cells=cells))
    return bs4.BeautifulSoup(page, "html.parser")


def display(data, **metadata):
    return nbformat.v4.new_output("display_data", data, metadata=metadata)


HOSTILE = [
    '<script src="https://example.org/x.js"></script>',
    "<script>alert(1)</script>",
    '<img src="https://example.org/x.png" alt="x">',
    '<img src="//example.org/x.png">',
    '<img srcset="https://example.org/x.png 2x" src="data:image/png;base64,AA==">',
    '<link rel="stylesheet" href="https://example.org/x.css">',
    "<style>@import url(https://example.org/x.css); p {color: red}</style>",
    "<style>@font-face {font-family: x; src: url(https://example.org/x.woff)}</style>",
    "<p style=\"background: url( 'https://example.org/x.png' )\">x</p>",
    '<iframe src="https://example.org"></iframe>',
    '<object data="https://example.org/x"></object>',
    '<a href="javascript:alert(1)">x</a>',
    '<a href=" java\nscript:alert(1)">x</a>',
    '<svg><use xlink:href="https://example.org/x.svg#a"></use><image href="https://example.org/x.png"/></svg>',
    '<svg onload="alert(1)"><script>alert(1)</script></svg>',
    '<img src=x onerror="alert(1)">',
    '<meta http-equiv="refresh" content="0; url=https://example.org">',
    '<base href="https://example.org/">',
    '<form action="https://example.org"><button formaction="https://example.org">x</button></form>',
    '<video poster="https://example.org/x.png" src="https://example.org/x.mp4"></video>',
    '<table background="https://example.org/x.png"><tr><td>x</td></tr></table>',
    "</div></main></body><script>alert(1)</script>",
    '<svg><rect fill="url(https://example.org/x.svg#a)"></rect></svg>',
    '<p style="background: image-set(url(https://example.org/x.png) 1x)">x</p>',
]
# What the finder of the tests, a simpler parser than a browser, does not see.
PARSER_TRAPS = [
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<![CDATA[><img src=x onerror=alert(1)>]]>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<?x ><img src=x onerror=alert(1)>?>",
    '<textarea><p title="</textarea><img src=x onerror=alert(1)>"></textarea>',
    r'<p style="background: u\72l(https://example.org/x.png)">x</p>',
    '<p style="background: src(&quot;https://example.org/x.png&quot;)">x</p>',
    '<portal src="https://example.org"></portal>',
    '<frame-of-tomorrow prefetch="https://example.org" onsight="alert(1)"></frame-of-tomorrow>',
    '<input type="image" src="https://example.org/x.png">',
    '<img lowsrc="https://example.org/x.png" dynsrc="https://example.org/x.avi">',
]
HOSTILE += PARSER_TRAPS


@pytest.mark.parametrize("fragment", HOSTILE)
def test_nothing_is_fetched_or_run(remote_references, fragment):
    assert remote_references(fragment) or fragment in PARSER_TRAPS
    assert remote_references(clean_html(fragment)) == []
    soup = shown(display({"text/html": fragment}), markdown=f"# Title\n\n{fragment}")
    assert remote_references(str(soup)) == []
    body = str(soup.body)
    assert "<img src=x" not in body
    assert "example.org" not in re.sub(r"\[image, not in this page: [^\]]*\]", "", body)
    assert not soup.body.find_all(["meta", "base", "script"])


@pytest.mark.parametrize("fragment", HOSTILE)
def test_texts_of_models_are_escaped(remote_references, fragment):
    soup = shown(
        display({"text/plain": fragment}),
        nbformat.v4.new_output("stream", name="stdout", text=fragment),
        nbformat.v4.new_output("stream", name="stderr", text=fragment),
        nbformat.v4.new_output("error", ename=fragment, evalue=fragment, traceback=[fragment]),
        display({PROVENANCE: {fragment: fragment}}),
        display({"image/png": DOT}, alt=fragment),
        source=repr(fragment),
    )
    assert remote_references(str(soup)) == []
    texts = [tag.get_text() for tag in soup.body.find_all(["pre", "dt", "dd"])]
    assert sum(fragment in text for text in texts) >= 6
    assert soup.img["alt"] == fragment


def test_the_page_forbids_what_it_does_not_hold():
    policy = shown().find("meta", {"http-equiv": "Content-Security-Policy"})["content"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy


def test_links_that_a_reader_follows_stay():
    soup = shown(markdown="# T\n\n[paper](https://doi.org/10.1/x) <https://example.org>")
    assert [a["href"] for a in soup.find_all("a")] == [
        "https://doi.org/10.1/x",
        "https://example.org",
    ]


def test_title_is_the_first_heading():
    assert shown(markdown="text\n\n## How *fast*, `really`?").title.text == "How fast, really?"
    assert shown(markdown="```\n# code\n```\n# True").title.text == "True"
    assert shown(markdown="# <b>a</b> & b").title.text == "a & b"
    assert shown(markdown="no heading").title.text == "report"


def test_figures_are_embedded_and_described():
    by_metadata = {"image/png": {"alt": "own", "width": 10}}
    outputs = [
        nbformat.v4.new_output("display_data", {"image/png": DOT}, metadata=by_metadata),
        display({"image/png": DOT, "text/plain": "<Figure>"}, alt="plain"),
        display({"image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg'/>", "image/png": DOT}),
    ]
    soup = shown(*outputs, markdown="# T\n\n## The *curves*")
    assert [image["alt"] for image in soup.find_all("img")] == [
        "own",
        "plain",
        "Figure in the section “The curves”",
    ]
    assert soup.img["width"] == "10"
    assert [image["src"][:18] for image in soup.find_all("img")] == [
        "data:image/png;bas",
        "data:image/png;bas",
        "data:image/svg+xml",
    ]
    assert "<Figure>" not in soup.text


def test_images_of_files_are_embedded(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "a b.svg").write_text("<svg/>")
    (tmp_path / "secret.png").write_text("outside")
    (tmp_path / "notebooks" / "key.txt").write_text("text")
    monkeypatch.chdir(tmp_path / "notebooks")
    page = html_page(
        nbformat.v4.new_notebook(
            cells=[
                nbformat.v4.new_markdown_cell(
                    "![one](a%20b.svg) ![two](missing.png) ![three](../secret.png) ![four](key.txt)"
                )
            ]
        )
    )
    soup = bs4.BeautifulSoup(page, "html.parser")
    assert soup.img["src"] == "data:image/svg+xml;base64,PHN2Zy8+"
    assert [tag.text[-4:-1] for tag in soup.select(".missing")] == ["two", "ree", "our"]


def test_attachments():
    cell = nbformat.v4.new_markdown_cell("![a](attachment:x.png) ![gone](attachment:y.png)")
    cell["attachments"] = {"x.png": {"image/png": DOT}}
    soup = bs4.BeautifulSoup(html_page(nbformat.v4.new_notebook(cells=[cell])), "html.parser")
    assert soup.img["src"] == f"data:image/png;base64,{DOT}"
    assert "gone" in soup.select_one(".missing").text


WIDGET = {"application/vnd.jupyter.widget-view+json": {"model_id": "x"}}


@pytest.mark.parametrize(
    ("twin", "expected"),
    [
        ({"text/html": "<table><tr><td>0.75</td></tr></table>"}, "0.75"),
        ({"image/png": DOT}, ""),
        ({"text/plain": "VBox(children=())"}, "An interactive control stands here"),
        ({}, "An interactive control stands here"),
        ({"text/html": "  ", "text/plain": "x"}, "An interactive control stands here"),
    ],
)
def test_widgets_show_their_static_twin(twin, expected):
    soup = shown(display({**WIDGET, **twin}))
    assert expected in soup.select_one("section.cell").text
    assert bool(soup.img) == ("image/png" in twin)
    assert "VBox" not in soup.text


def test_code_is_folded_and_tags_hide_it():
    text = nbformat.v4.new_output("stream", name="stdout", text="out")
    details = shown(text, source="x = 1").select_one("details.code")
    assert not details.has_attr("open")
    assert "x = 1" in details.text
    assert shown(text, tags=["remove-input"]).select("details") == []
    assert "out" not in shown(text, tags=["remove-output"]).text
    assert shown(text, tags=["remove-cell"]).select("section.cell") == []
    assert shown(source="").select("section.cell") == []


def test_provenance_stands_at_the_end():
    box = {"seed": 0, "plan": "ab12", "systems": ["a", "b"]}
    soup = shown(display({PROVENANCE: box, "text/plain": "twin", "text/html": "twin"}))
    last = soup.main.find_all("section")[-1]
    assert last["class"] == ["provenance"]
    assert [tag.text for tag in last.find_all("dd")] == ["0", "ab12", '["a", "b"]']
    assert "twin" not in soup.text
    assert shown().select(".provenance") == []


def test_the_box_says_how_to_repeat():
    book = nbformat.v4.new_notebook(metadata={"corecurves": {"command": "c <x>", "software": "s"}})
    soup = bs4.BeautifulSoup(html_page(book), "html.parser")
    assert [tag.text for tag in soup.find_all("dt")] == ["rendered with", "to repeat"]
    assert soup.select_one("dd.command").text == "c <x>"


def test_an_error_is_shown_as_it_is():
    soup = shown(nbformat.v4.new_output("error", ename="E", evalue="it's <b>", traceback=["t"]))
    assert soup.select_one(".error > pre").text == "E: it's <b>"


def test_math_stays_text():
    soup = shown(markdown="# T\n\nRate $r = h/k < 1$ and\n\n$$\\int x < 3$$")
    assert "$r = h/k < 1$" in soup.text
    assert "$$\\int x < 3$$" in soup.text


def test_tables_scroll_by_themselves():
    soup = shown(markdown="# T\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert soup.table.parent["class"] == ["wide"]
    assert soup.table.parent["tabindex"] == "0"


def test_long_texts_in_tables_wrap():
    long = "x" * 40
    html = f"<table><tr><th class='a'>{long}</th><td>0.5 [0.4, 0.6]</td></tr></table>"
    soup = shown(display({"text/html": html}))
    assert soup.th["class"] == ["a", "long"]
    assert not soup.td.has_attr("class")
    nested = "<table><tr><td><table><tr><td>x</td></tr></table></td></tr></table>"
    assert len(shown(display({"text/html": nested})).select(".wide")) == 1


def test_print_cuts_nothing_off():
    style = shown().style.text
    assert "@page" in style
    printed = style.partition("@media print")[2]
    assert ".wide { overflow: visible; }" in printed
    assert "white-space: normal" in printed


def test_style_sheets_fetch_nothing():
    kept = "p {background: url(data:image/png;base64,AA==); fill: url(#a)}"
    assert clean_css(kept) == kept
    assert clean_css('a {b: URL("https://example.org/a)b"); c: 1}') == "a {b: none; c: 1}"
    assert clean_css("a {b: -webkit-image-set('x.png' 1x); c: 1}") == "a {b: none; c: 1}"
    assert clean_css("@media print {p {b: url(x.png)}} @x y {p {c: 1}} q {d: 1}") == (
        "@media print {p {b: none}}  q {d: 1}"
    )


def test_only_what_is_known_stays():
    kept = '<table class="t"><tbody><tr><td colspan="2">x</td></tr></tbody></table>'
    assert clean_html(kept) == kept
    drawing = '<svg viewBox="0 0 1 1"><defs></defs><use xlink:href="#a"></use></svg>'
    assert clean_html(drawing) == drawing
    assert clean_html('<blink data-x="1">said</blink><new-thing/>') == "said"


def test_open_elements_end_with_their_output():
    soup = shown(display({"text/html": "<div><b>open"}), display({"text/plain": "after"}))
    assert soup.find("pre", string="after").find_parent("b") is None


def test_a_rendered_notebook_keeps_no_widget_state():
    """Other tools prefer it to the static twin, and show a script of another host for it."""
    state = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    book = {"cells": [], "metadata": {"widgets": state}, "nbformat": 4, "nbformat_minor": 5}
    assert "widgets" not in tidy(as_notebook(book), {}, Redactor({})).metadata


def test_a_wide_table_wraps_before_it_scrolls_and_intervals_stay_whole():
    from corecurves.reports import page

    html = page._tables("<table class='dataframe'><tr><td>0.59 [0.46, 0.70]</td></tr></table>")
    assert "0.59 [0.46,\xa00.70]" in html
    rules = (page._TEMPLATE / "page.css").read_text().partition(".dataframe th")[2]
    assert "nowrap" not in rules.partition("}")[0]
