"""Markup and script in any text of data or of a model stay text, wherever they are shown."""

import io
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import hostile
import matplotlib as mpl
import nbformat
import pytest
from matplotlib.figure import Figure

import corecurves as cc
from corecurves import markup
from corecurves.errors import ReportError

EMPTY = {
    "img",
    "br",
    "hr",
    "input",
    "meta",
    "link",
    "col",
    "wbr",
    "source",
    "embed",
    "base",
    "area",
}


class Live(HTMLParser):
    """What of the planted texts a browser would take for markup, and the text that it shows."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.found, self.shown, self.open = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "planted", "iframe", "object", "embed"):
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            text = (value or "").strip().lower()
            if name.startswith("on") or name == "planted":
                self.found.append(f"<{tag} {name}={value}>")
            if name in ("href", "src", "action", "xlink:href") and not text.startswith(
                ("data:image/", "#", "https:", "http:")
            ):
                self.found.append(f"<{tag} {name}={value}>")
            self.shown.append(value or "")
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_comment(self, data):
        if "planted" in data:
            self.found.append(f"<!--{data}-->")

    def handle_data(self, data):
        if self.open and self.open[-1] == "style" and "planted{" in data:
            self.found.append(f"<style>{data}")
        self.shown.append(data)

    def unknown_decl(self, data):
        self.found.append(f"<![{data}")


def test_the_finder_finds_what_is_live():
    for plant in hostile.PLANTS[1:]:
        page = f"<p title='{plant}'>{plant}</p>"
        assert Live(page).found or plant.startswith(("[x]", "]]>")), plant
        assert not Live(f"<p>{markup.escaped(plant)}</p>").found


def html_of(thing):
    if hasattr(thing, "_repr_html_"):
        return thing._repr_html_()
    from ipywidgets import HTML
    from ipywidgets.widgets.widget import _instances

    live = "\n".join(str(w.value) for w in _instances.values() if isinstance(w, HTML))
    return f"{thing._repr_mimebundle_()['text/html']}\n{live}"


def svg_of(figure):
    picture = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(picture, format="svg")
    return picture.getvalue().decode()


@pytest.mark.parametrize("name", hostile.THINGS)
def test_nothing_planted_is_live(name):
    thing = hostile.THINGS[name]()
    if isinstance(thing, Figure):
        text = svg_of(thing)
        root = ET.fromstring(text)
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert not tags & {"script", "planted", "img", "a", "foreignObject"}
        names = {key for element in root.iter() for key in element.attrib}
        assert not {key for key in names if key.startswith("on") or key == "planted"}
        shown = "".join(root.itertext())
        assert name in hostile.SHOWS_NO_NAME or "$x$" in shown  # no formula either
        return
    live = Live(html_of(thing))
    assert live.found == []
    assert name in hostile.SHOWS_NO_NAME or "<script>" in " ".join(live.shown)


@pytest.mark.parametrize("name", ["Curriculum", "Lesson", "Store", "Plan", "Verdict"])
def test_views_are_whole_and_keep_formulas_from_being_typeset(name):
    live = Live(html_of(hostile.THINGS[name]()))
    assert live.open == []
    assert live.shown[0] == "tex2jax_ignore mathjax_ignore"
    # Light and dark: no colour of text or ground but a badge's.
    assert all("color" not in text or "color:#fff" in text for text in live.shown if ";" in text)


def test_views_say_what_a_person_needs():
    (curriculum, *_) = cc.load_curricula("dev")
    text = " ".join(Live(curriculum._repr_html_()).shown)
    assert curriculum.probe in text
    assert all(correction.text in text for correction in curriculum.corrections)
    store = cc.open_store("rose_bench")
    text = " ".join(Live(store._repr_html_()).shown)
    assert f"and {len(store.lessons) - 30} more" in text
    lesson = store.lessons[0]
    text = " ".join(Live(lesson._repr_html_()).shown)
    assert all(level.text in text and level.name in text for level in lesson.levels)
    plan = cc.plan_lane("dev", "grounded")
    text = " ".join(Live(plan._repr_html_()).shown)
    assert f"{len(plan)} cells" in text
    assert plan.hash in text
    found = cc.verdict(hostile.rose_run())
    text = " ".join(Live(found._repr_html_()).shown)
    assert all(reason in text for reason in found.reasons)


def test_text_that_no_page_can_hold():
    assert markup.escaped("a\x00b\ud800c\n") == "a\ufffdb\ufffdc\n"
    markup.box("\ud800", "\x1b").encode()
    assert markup.escaped(markup.escaped("<")) == "&lt;"


def test_a_long_name_keeps_both_ends_and_the_whole_in_its_tooltip():
    name = "lesson-" + "x" * 90 + "-7"
    found = markup.short(name)
    assert f'title="{name}"' in found
    text = "".join(Live(found).shown[1:])
    assert len(text) == 40
    assert text.startswith("lesson-")
    assert text.endswith("-7")


CELL = """
import sys
sys.path.insert(0, {folder!r})
from IPython.display import display
from matplotlib.figure import Figure
import hostile
for build in hostile.THINGS.values():
    thing = build()
    if isinstance(thing, Figure):
        cc.show_figure(thing, hostile.PLANT)
    else:
        display(thing)
print(hostile.PLANT, word)
print(hostile.PLANT, file=sys.stderr)
print(cc.text_lane(hostile.lane_summary()), cc.text_rose(hostile.rose_summary()))
cc.show_provenance(hostile.lane(), hostile.lane())
cc.show_key_figures({{hostile.PLANT: hostile.PLANT}})
"""


@pytest.mark.notebook
def test_a_rendered_report_shows_them_as_text(tmp_path):
    # Prose is its author's, who may use elements; but neither script nor what fetches.
    prose = " ".join(p for p in hostile.PLANTS if "<planted" not in p and "<style" not in p)
    cells = [
        nbformat.v4.new_markdown_cell(f"# Title {prose}\n\n{prose}"),
        nbformat.v4.new_code_cell("word: str = ''", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(
            "import corecurves as cc\n" + CELL.format(folder=str(Path(__file__).parent))
        ),
        nbformat.v4.new_code_cell("raise ValueError(hostile.PLANT)"),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "own.ipynb")
    grid = {"word": [hostile.PLANT]}
    with pytest.raises(ReportError, match="1 of 1 report failed"):
        cc.render_sweep(tmp_path / "own.ipynb", tmp_path / "out", grid=grid, progress=False)
    pages = sorted((tmp_path / "out").glob("*.html"))
    assert len(pages) == 2
    for page in pages:
        live = Live(page.read_text(encoding="utf-8"))
        links = {f"<a href={other.name}>" for other in pages}
        assert set(live.found) <= links
        assert " ".join(live.shown).count("<script>planted()</script>") >= 3


def test_what_nobody_sees_is_shown_and_lines_stay_lines():
    assert markup.escaped("a\u202eb\u200bc") == "a\\u202eb\\u200bc"
    assert "one<br>&lt;two&gt;" in markup.pairs([("system", "one\n<two>")])
    assert "one<br>two" in markup.table(["a", "b"], [["x", "one\ntwo"]])
