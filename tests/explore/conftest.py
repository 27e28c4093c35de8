from dataclasses import replace

import bs4
import ipywidgets
import pytest
from explore_data import inside

import corecurves as cc


@pytest.fixture(scope="session")
def rose_run():
    store = cc.open_store("rose_bench").demo()
    arms = ("control", "ceiling", "treatment", "scrambled")
    few = replace(store, lessons=store.lessons[:3])
    return cc.run_rose_eval(few, "simulated", arms=arms, samples=2, ledger=False, progress=False)


@pytest.fixture(scope="session")
def recall_run():
    ds = cc.run_recall_eval("demo_store", "bm25", ledger=False, progress=False)
    return ds.isel(episode=slice(10, 24))


@pytest.fixture(scope="session")
def serve_all():
    ds = cc.run_recall_eval("demo_store", "serve-all", ledger=False, progress=False)
    return ds.isel(episode=slice(10, 24))


@pytest.fixture(scope="session")
def dev():
    return cc.load_curricula("dev")


@pytest.fixture
def live():
    """Finder of markup in an explorer and its twin that would run or fetch something."""

    def find(explorer):
        texts = [w.value for w in inside(explorer) if isinstance(w, ipywidgets.HTML)]
        twin = explorer._repr_mimebundle_().get("text/html", "")
        found = []
        for text in [*texts, twin]:
            for element in bs4.BeautifulSoup(text, "html.parser").find_all(True):
                own = element.name == "img" and element["src"].startswith("data:image/")
                if element.name in ("script", "iframe", "object") or (
                    element.name == "img" and not own
                ):
                    found.append(str(element))
                found += [f"{element.name} {n}" for n in element.attrs if n.startswith("on")]
        return found

    return find


@pytest.fixture
def unlabelled():
    """Finder of controls that a reader who hears the page could not name."""

    def find(explorer):
        return [
            control
            for control in inside(explorer)
            if isinstance(control, ipywidgets.DOMWidget)
            and hasattr(control, "description")
            and not isinstance(control, ipywidgets.HTML | ipywidgets.IntProgress)
            and not (control.description.strip() and control.tooltip)
        ]

    return find


@pytest.fixture
def no_pictures(monkeypatch):
    """Empty figures: the tests of what controls do need none, and each takes 0.3 s."""
    from matplotlib.figure import Figure

    from corecurves.explore import recall_view, rose_view

    monkeypatch.setattr(rose_view, "draw_curve", lambda *_: Figure(figsize=(0.1, 0.1)))
    monkeypatch.setattr(recall_view, "draw_point", lambda *_: Figure(figsize=(0.1, 0.1)))
