import bs4
import pytest
from matplotlib.figure import Figure

from corecurves.explore import html
from corecurves.explore.steps_svg import Line, svg_image, svg_of

HOSTILE = '<b onclick="x()">&\'"\x00\ud800'


@pytest.mark.parametrize(
    "make",
    [
        html.shown,
        html.heading,
        html.paragraphs,
        html.boxed,
        html.nothing,
        lambda text: html.table([text], [[text, text]], text),
        lambda text: html.facts({text: text}),
        lambda text: html.folded(text, ""),
        lambda text: html.struck(text, f"{text} more"),
        lambda text: html.struck(f"{text} more", "else"),
        lambda text: html.image(Figure(), text),
        lambda text: svg_image("<svg/>", text),
    ],
)
def test_every_text_is_escaped_and_can_be_sent(make):
    made = make(HOSTILE)
    made.encode("utf-8")
    assert "<b o" not in made
    soup = bs4.BeautifulSoup(made, "html.parser")
    assert not [name for e in soup.find_all(True) for name in e.attrs if name.startswith("on")]


def test_texts_in_a_drawing_are_escaped():
    line = Line(HOSTILE, (0.0, 1.0), "#000000")
    drawing = svg_of([line], title=HOSTILE, x=HOSTILE, y=HOSTILE, top=1, mark=0)
    assert "<b" not in drawing
    drawing.encode("utf-8")


def test_a_line_breaks_where_there_is_no_result():
    line = Line("original", (0.0, float("nan"), 2.0), "#000000")
    drawing = svg_of([line], title="t", x="k", y="hits", top=2, mark=0)
    path = bs4.BeautifulSoup(drawing, "html.parser").find("path", stroke="#000000", fill="none")
    assert path["d"].count("M") == 2
    assert drawing.count("<circle") == 3, "two points and the key"
    assert "no result" in drawing


def test_struck_keeps_both_texts():
    full, short = "Wait two full seconds.\nThen retry twice.", "Wait two seconds.\nThen retry once."
    soup = bs4.BeautifulSoup(html.struck(full, short), "html.parser")
    before, after = [
        "".join(t for t in soup.find_all(string=True) if t.parent.name != hidden)
        for hidden in ("ins", "del")
    ]
    assert before.split() == full.split()
    assert after.split() == short.split()
    assert [e.get_text().split() for e in soup.find_all("del")] == [["full"], ["twice."]]


def test_struck_is_quick_for_long_texts():
    text = "\n".join(f"line {i} of a long lesson with some words" for i in range(2000))
    assert "<del>" in html.struck(text, text[: len(text) // 2])


def test_images_are_the_same_for_the_same_figure():
    assert html.image(Figure(), "x") == html.image(Figure(), "x")
