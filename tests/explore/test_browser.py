"""The explorers in a real JupyterLab, driven through Chromium as a person would."""

import os
import time
from pathlib import Path

import nbformat
import pytest
from explore_data import PLANTED
from lab import browser, jupyterlab

pytestmark = [pytest.mark.slow, pytest.mark.browser]

CELLS = [
    """
from dataclasses import replace
import corecurves as cc
store = cc.open_store("rose_bench").demo()
store = replace(store, lessons=store.lessons[:3])
common = {"ledger": False, "progress": False}
rose = cc.run_rose_eval(store, "simulated", samples=1, **common)
served = cc.run_recall_eval("demo_store", "bm25", **common)
everything = cc.run_recall_eval("demo_store", "serve-all", **common)
""",
    'cc.explore_lane("dev", concept="wisdom")',
    "cc.explore_rose(rose)",
    "cc.explore_recall(served, everything)",
    """
import time

class Slow:
    def start(self):
        return lambda text: time.sleep(3) or "noted"

cc.explore_lane("dev", Slow(), max_concurrency=1)
""",
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Page of a notebook in which all cells were run."""
    path = browser()
    if path is None:
        pytest.skip("no browser is installed: apt-get install chromium")
    sync = pytest.importorskip("playwright.sync_api", reason="the extra `browser` is not installed")
    pytest.importorskip("jupyterlab", reason="the extra `browser` is not installed")
    folder, root = tmp_path_factory.mktemp("lab"), tmp_path_factory.mktemp("work")
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source.strip()) for source in CELLS],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(book, root / "tour.ipynb")
    with (
        jupyterlab(folder, root) as (address, token),
        sync.sync_playwright() as driver,
    ):
        # As root, Chromium runs only without its sandbox; it opens nothing but this notebook.
        chromium = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            page = chromium.new_page(viewport={"width": 1200, "height": 1400})
            page.set_default_timeout(30_000)
            page.goto(f"{address}/doc/tree/tour.ipynb?token={token}")
            page.get_by_text("| Idle").wait_for()
            page.get_by_role("menuitem", name="Run", exact=True).click()
            page.get_by_text("Run All Cells", exact=True).click()
            page.locator(".cc-explore").nth(3).wait_for(timeout=60_000)
            yield page
        finally:
            chromium.close()


def explorer(page, number):
    box = page.locator(".cc-explore").nth(number)
    box.scroll_into_view_if_needed()
    return box


def alt(box):
    return box.locator("img.cc").get_attribute("alt")


def change(box, what, seconds=20):
    """Do something, and wait until the figure is another; its alternative text then."""
    before, began = alt(box), time.monotonic()
    what()
    while alt(box) == before:
        assert time.monotonic() < began + seconds, "the figure is as it was"
        time.sleep(0.01)
    return alt(box)


def slide(box, label, key, times=1):
    handle = box.get_by_label(label, exact=True).locator("[role=slider], .noUi-handle").first
    if not handle.count():
        handle = box.locator(f".widget-slider:has-text('{label}') .noUi-handle").first
    handle.focus()
    for _ in range(times):
        handle.press(key)


def test_a_slow_run_is_cancelled(page):
    box = explorer(page, 3)
    box.get_by_role("button", name="Cancel").click()
    box.get_by_role("alert").wait_for()
    assert "cancelled: " in box.get_by_role("alert").inner_text()
    assert not box.get_by_role("button", name="Cancel").is_visible()


def test_a_correction_is_edited(page):
    box = explorer(page, 0)
    assert "original 0, 1, 2, 3, 4, 5. Marked: k=5." in alt(box)
    # By mouse: dropped, and taken back.
    text = change(box, lambda: box.get_by_title("Drop correction 1").click())
    assert "edited 0, 0, 0, 0, 0." in text
    text = change(box, lambda: box.get_by_role("button", name="Back to the original").click())
    assert "edited" not in text
    # By keyboard: another text in a row, and the next control with the tab key.
    row = box.get_by_label("5", exact=True)
    row.fill(f"{row.input_value()} {PLANTED}")
    text = change(box, lambda: row.press("Enter"))
    assert "edited 0, 1, 2, 3, 4" in text
    row.press("Tab")
    assert page.evaluate("document.activeElement.value") != ""
    assert page.evaluate("typeof planted") == "undefined"
    # A fault is shown in the box, and the curve stays.
    row.fill("Nothing of the kind.")
    row.press("Enter")
    box.get_by_role("alert").wait_for()
    assert "correction 5: the correction does not contain" in box.get_by_role("alert").inner_text()
    assert alt(box) == text


def test_k_is_slid(page):
    box = explorer(page, 0)
    text = change(box, lambda: slide(box, "k", "ArrowLeft"))
    assert "Marked: k=4." in text
    assert "The turn at k = 4" in box.inner_text()


def test_a_point_is_clicked_and_the_margin_slid(page):
    box = explorer(page, 1)
    text = change(box, lambda: box.get_by_role("button", name="L1").click())
    assert "Marked: L1." in text
    assert box.locator(".cc-text del").count() > 0
    box.get_by_label("View").select_option("as the blind grader")
    box.get_by_text("What the blind grader sees").wait_for()
    assert box.locator(".cc-text del").count() == 0
    text = change(box, lambda: slide(box, "Margin", "ArrowRight", 3))
    box.get_by_text("Verdict at a margin of 0.13").wait_for()


def test_the_threshold_is_slid(page):
    box = explorer(page, 2)
    before = box.locator("table.cc").last.inner_text()
    change(box, lambda: slide(box, "Threshold", "ArrowRight", 8))
    box.get_by_text("lost that mattered").wait_for()
    assert box.locator("table.cc").last.inner_text() != before


def test_the_pictures_are_whole(page, tmp_path):
    # EXPLORER_SHOTS=folder keeps them for a person to look at.
    folder = Path(os.environ.get("EXPLORER_SHOTS", tmp_path))
    for number in range(3):
        box = explorer(page, number)
        picture = box.locator("img.cc")
        assert picture.evaluate("image => image.complete && image.naturalWidth > 500")
        shot = box.screenshot(path=folder / f"explorer{number}.png")
        assert len(shot) > 20_000
        # Nothing is wider than the explorer.
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth + 1")
