"""What is left of an explorer in an exported page: its figure and tables, and nothing that runs."""

import bs4
import nbformat
import pytest

import corecurves as cc
from corecurves.reports.page import html_page


def page_of(explorer):
    bundle = explorer._repr_mimebundle_()
    output = nbformat.v4.new_output("execute_result", data=bundle, execution_count=1)
    cell = nbformat.v4.new_code_cell("cc.explore()", outputs=[output])
    return html_page(nbformat.v4.new_notebook(cells=[cell]))


@pytest.fixture(params=["lane", "rose", "recall"])
def explorer(request, no_pictures, dev):
    if request.param == "lane":
        return cc.explore_lane(dev, concept="wisdom")
    run = request.getfixturevalue(f"{request.param}_run")
    return getattr(cc, f"explore_{request.param}")(run)


def test_a_page_shows_the_numbers_without_scripts(explorer):
    page = page_of(explorer)
    body = bs4.BeautifulSoup(page, "html.parser").body
    assert body.find("script") is None
    image = body.find("img")
    assert image["src"].startswith("data:image/")
    assert len(image["alt"]) > 40
    twin = bs4.BeautifulSoup(explorer.twin(), "html.parser")
    cells = [cell.get_text() for cell in twin.find_all("td")]
    assert len(cells) > 5
    # In a page, an interval is kept on one line by spaces that do not break.
    shown = [cell.get_text().replace("\xa0", " ") for cell in body.find_all("td")]
    assert set(cells) <= set(shown)
    assert "it has no form that a page can show" not in page


def test_the_page_shows_what_the_controls_show(dev):
    explorer = cc.explore_lane(dev, concept="wisdom")
    explorer.k.value = 1
    assert "The turn at k = 1" in page_of(explorer)
    explorer.table.rows[0].drop.click()
    assert "hits, edited" in page_of(explorer)


def test_a_fault_stands_in_the_page_too(dev):
    explorer = cc.explore_lane(dev, concept="wisdom")
    explorer.table.rows[0].text.value = "Other."
    assert "does not contain the token" in page_of(explorer)
