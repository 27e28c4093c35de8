import json
import re
from dataclasses import replace

import bs4
import numpy as np
import pytest
from explore_data import PLANTED, shown
from rose_data import many, rose

import corecurves as cc
from corecurves.errors import DatasetError
from corecurves.explore import rose_view, rose_widget
from corecurves.explore.rose_cases import Cases

pytestmark = pytest.mark.usefixtures("no_pictures")
DRAW = rose_view.draw_curve


@pytest.fixture
def explorer(rose_run):
    return cc.explore_rose(rose_run)


def alt(explorer):
    return re.search('alt="([^"]*)"', explorer.figure.value)[1]


def options(control):
    return [value for _, value in control.options]


def test_points_have_the_transfer_of_the_summary(rose_run):
    summary, cases = cc.summarize_rose(rose_run), Cases(rose_run)
    for lesson in cases.lessons:
        for place in cases.places(lesson, "scrambled"):
            own = summary.lesson_transfer.sel(concept=lesson, level=place.level, arm=place.arm)
            np.testing.assert_allclose(place.transfer, own.item())


def test_a_point_leads_to_its_case(explorer, rose_run):
    lesson = explorer.lesson.value
    for level in options(explorer.point):
        explorer.point.value = level
        arm = {"none": "control", "L0": "ceiling"}.get(level, "treatment")
        one = rose_run.sel(concept=lesson, level=level, arm=arm).isel(episode=0, sample=0)
        case = bs4.BeautifulSoup(explorer.case.value, "html.parser").get_text(" ")
        assert str(one.reason.item()) in case
        assert f"verdict {'passed' if one.passed else 'failed'}" in case
        assert str(rose_run.task.sel(concept=lesson).values[0]) in case
        name = "no lesson" if level == "none" else level
        assert f"Marked: {name}." in alt(explorer)


def test_what_was_dropped_is_struck_through(explorer, rose_run):
    explorer.point.value = "L2"
    texts = rose_run.lesson_text.sel(concept=explorer.lesson.value)
    for against, before in (("L0", "L0"), ("before", "L1")):
        explorer.against.value = against
        soup = bs4.BeautifulSoup(explorer.case.value, "html.parser").find(class_="cc-text")
        kept = "".join(t for t in soup.find_all(string=True) if t.parent.name != "del")
        full = "".join(t for t in soup.find_all(string=True) if t.parent.name != "ins")
        assert kept.split() == str(texts.sel(level="L2").item()).split()
        assert full.split() == str(texts.sel(level=before).item()).split()
        assert soup.find("del") is not None


def test_the_grader_sees_the_blind_case_and_nothing_else(explorer, rose_run):
    explorer.point.value = "L1"
    explorer.view.value = "grader"
    soup = bs4.BeautifulSoup(explorer.case.value, "html.parser")
    heads = [h.get_text() for h in soup.find_all("h4")]
    assert heads == ["Task", "Known-good outcome", "Candidate"]
    lesson = explorer.lesson.value
    episode = json.loads(rose_run.attrs["config"])["episodes"][lesson][0]
    text = soup.get_text(" ")
    assert episode["task"] in text
    assert all(good in text for good in episode["outcome"]["good"])
    for hidden in (lesson, "passed", "failed", "treatment", "L1"):
        assert hidden not in text.replace(episode["task"], "")


def test_answers_are_candidates_too(rose_run):
    answers = np.full(rose_run.answer.shape, "I retry twice.", object)
    ds = rose_run.assign(answer=(rose_run.answer.dims, answers), score=rose_run.score * np.nan)
    cases = Cases(ds)
    lesson = cases.lessons[0]
    case = cases.case(lesson, cases.places(lesson, "treatment")[1], 0, 0)
    assert case.candidate == "I retry twice."
    silent = replace(case, answer="")
    assert silent.candidate == "an empty text"
    assert replace(silent, status="cut_off").candidate == "none"


def test_other_arms_show_what_they_served(explorer, rose_run):
    explorer.arm.value = "scrambled"
    explorer.point.value = "L1"
    served = json.loads(rose_run.attrs["config"])["served"]
    text = served[f"{explorer.lesson.value}/scrambled/L1"]
    assert text in shown(explorer)
    assert "random order" in shown(explorer)


def test_the_margin_moves_the_verdict():
    ds = many(40, lost={"L1": 2})
    explorer = cc.explore_rose(ds, margin=0.1)
    for margin in (0.02, 0.3):
        explorer.margin.value = margin
        found = cc.verdict(ds, margin=margin)
        assert f"thesis: {found.thesis}" in shown(explorer)
        assert f"Margin: {margin:.2f}" in alt(explorer)
    assert [cc.verdict(ds, margin=m).thesis for m in (0.02, 0.3)] == ["inconclusive", "holds"]


def test_cases_that_pass_without_a_lesson_stand_apart():
    lessons = {
        "hard": {"control": [0, 0], "ceiling": [1, 1], "treatment L1": [1, 1]},
        "easy": {"control": [[1, 1], [0, 0]], "ceiling": [1, 1], "treatment L1": [1, 1]},
        "half": {"control": [[1, 0], ["call_failed", 0]], "ceiling": [1, 1],
                 "treatment L1": [1, 1]},
    }  # fmt: skip
    explorer = cc.explore_rose(rose(lessons, samples=2))
    rows = bs4.BeautifulSoup(explorer.apart.value, "html.parser").find_all("tr")[1:]
    assert [[c.get_text() for c in row.find_all(["th", "td"])][:3] for row in rows] == [
        ["easy", "easy/0", "2 of 2"],
        ["half", "half/0", "1 of 2"],
    ]


def test_failed_cells_are_neither_passed_nor_failed():
    lessons = {"one": {"control": [0], "ceiling": ["call_failed"], "treatment L1": [1]}}
    explorer = cc.explore_rose(rose(lessons))
    explorer.point.value = "L0"
    assert "no result: call_failed" in shown(explorer)
    assert [label for label, _ in explorer.point.options] == [
        "no lesson: 0.00", "L0: –", "L1: 1.00",
    ]  # fmt: skip


def test_the_figure_marks_the_chosen_point(explorer, rose_run):
    cases, state = explorer._cases, replace(explorer.state, level="L1")
    (ax,) = DRAW(explorer._summary, cases, state).axes
    (chosen,) = [line for line in ax.lines if line.get_gid() == "chosen"]
    lesson = {"concept": state.lesson, "level": "L1"}
    x = rose_run.lesson_tokens.sel(lesson).sel(arm="treatment")
    y = explorer._summary.lesson_transfer.sel(lesson).sel(arm="treatment")
    np.testing.assert_allclose(chosen.get_xydata(), [[x.item(), y.item()]])
    curve = next(line for line in ax.lines if line.get_label() == "this lesson")
    assert [x.item(), y.item()] in curve.get_xydata().tolist()
    assert "ceiling − margin 0.1" in [text.get_text() for text in ax.texts]


def test_figures_are_unknown_to_pyplot(explorer):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    DRAW(explorer._summary, explorer._cases, explorer.state)
    assert plt.get_fignums() == before == []


def test_each_change_redraws_once(explorer, monkeypatch):
    drawn = {"curve": 0, "case": 0, "verdict": 0}

    def count(name, function):
        def counted(*args):
            drawn[name] += 1
            return function(*args)

        monkeypatch.setattr(rose_widget, f"{name}_html", counted)

    for name in drawn:
        count(name, getattr(rose_view, f"{name}_html"))

    def after(step):
        before = dict(drawn)
        step()
        return tuple(drawn[name] - before[name] for name in ("curve", "verdict", "case"))

    assert after(lambda: setattr(explorer.lesson, "index", 1)) == (1, 0, 1)
    assert after(lambda: setattr(explorer.arm, "value", "scrambled")) == (1, 0, 1)
    assert after(lambda: setattr(explorer.point, "value", "L0")) == (1, 0, 1)
    assert after(lambda: setattr(explorer.margin, "value", 0.2)) == (1, 1, 1)
    assert after(lambda: setattr(explorer.view, "value", "grader")) == (0, 0, 1)
    assert after(lambda: setattr(explorer.episode, "index", 1)) == (0, 0, 1)
    assert after(lambda: setattr(explorer.sample, "value", 1)) == (0, 0, 1)
    assert after(lambda: cc.explore_rose(explorer._cases.ds)) == (1, 1, 1)
    assert after(lambda: setattr(explorer.margin, "value", 0.3)) == (1, 1, 1)


def test_a_lesson_without_the_level_shows_another(explorer, rose_run):
    ds = rose_run.copy(deep=True)
    short = str(ds.concept.values[1])
    for name, empty in (("status", ""), ("passed", np.nan), ("score", np.nan)):
        ds[name].loc[{"concept": short, "level": "L3"}] = empty
    explorer = cc.explore_rose(ds)
    assert explorer.point.value == "L3"
    explorer.lesson.value = short
    assert "L3" not in options(explorer.point)
    assert explorer.fault.value == ""


def test_errors_are_shown_inside(explorer, monkeypatch):
    def broken(*_):
        raise RuntimeError("no case")

    monkeypatch.setattr(rose_widget, "case_html", broken)
    explorer.point.value = "L1"
    assert "RuntimeError: no case (broken)" in explorer.fault.value


def test_the_twin_has_figure_tables_and_verdict(explorer, rose_run):
    page = explorer._repr_mimebundle_()["text/html"]
    assert explorer.figure.value in page
    assert explorer.case.value in page
    table = cc.table_rose(cc.summarize_rose(rose_run))
    for cell in table.transfer:
        assert f"<td>{cell}</td>" in page
    assert "thesis: " in page
    assert "SIMULATED" in page


def test_every_control_has_a_label(explorer, unlabelled):
    assert unlabelled(explorer) == []


def planted(ds):
    """The Dataset with markup in every text."""
    ds = ds.copy(deep=True)
    for name in [*ds.data_vars, *ds.coords]:
        one = ds[name]
        if one.dtype == object and name not in ("level", "arm", "status", "planted", "half"):
            texts = np.array([f"{x} {PLANTED}" if x else "" for x in one.values.ravel()], object)
            ds[name] = (one.dims, texts.reshape(one.shape), one.attrs)
    config = json.loads(ds.attrs["config"])
    config["served"] = {key.replace("/", f" {PLANTED}/", 1): f"{text} {PLANTED}"
                        for key, text in config["served"].items()}  # fmt: skip
    config["episodes"] = {
        f"{lesson} {PLANTED}": [
            {"id": f"{e['id']} {PLANTED}", "task": PLANTED, "outcome": {"good": [PLANTED]}}
            for e in episodes
        ]
        for lesson, episodes in config["episodes"].items()
    }
    return ds.assign_attrs(config=json.dumps(config), model=PLANTED, grader=PLANTED)


def test_nothing_from_data_is_live(rose_run, live):
    ds = planted(rose_run.isel(concept=slice(2)))
    explorer = cc.explore_rose(ds)
    assert explorer.fault.value == ""
    assert "planted()" in shown(explorer)
    assert live(explorer) == []
    cases = explorer._cases
    for view in ("everything", "grader"):
        for arm in cases.arms:
            for place in cases.places(explorer.state.lesson, arm):
                state = replace(explorer.state, arm=arm, level=place.level, view=view)
                explorer.case.value = rose_view.case_html(cases, state)
                assert "planted()" in explorer.case.value
                assert live(explorer.case) == []


@pytest.mark.parametrize(
    "empty",
    [
        lambda ds: ds.isel(concept=slice(0)),
        lambda ds: ds.assign(passed=ds.passed * np.nan, score=ds.score * np.nan),
    ],
)
def test_nothing_to_show(rose_run, empty):
    explorer = cc.explore_rose(empty(rose_run))
    assert "Nothing to show" in shown(explorer)
    assert "Nothing to show" in explorer._repr_mimebundle_()["text/html"]


def test_all_failed_says_how():
    failed = {place: ["call_failed"] for place in ("control", "ceiling", "treatment L1")}
    explorer = cc.explore_rose(rose({"one": failed}))
    assert "no cell has a result (call_failed 3)" in shown(explorer)


@pytest.mark.parametrize("wrong", [{}, None, "x"])
def test_other_things_are_refused(wrong, rose_run):
    with pytest.raises(DatasetError):
        cc.explore_rose(wrong)
    with pytest.raises(DatasetError):
        cc.explore_rose(cc.summarize_rose(rose_run))


def test_the_margin_has_a_span(rose_run):
    with pytest.raises(ValueError, match=r"give a number from 0\.01 and at most 0\.49"):
        cc.explore_rose(rose_run, margin=0.5)


@pytest.mark.parametrize(
    "levels", [["none"], ["L0"], ["none", "L0"], ["L1"], ["L0", "L1"], ["none", "L1"]]
)
def test_a_part_of_the_levels_is_shown(rose_run, levels):
    part = rose_run.sel(level=levels)
    explorer = cc.explore_rose(part)
    assert not explorer.fault.value
    assert ("no shorter level" in shown(explorer)) == ("L1" not in levels)
    cc.plot_rose(part)


@pytest.mark.parametrize(
    "part",
    [{"arm": ["treatment"]}, {"arm": ["control"]}, {"arm": ["ceiling", "treatment"]},
     {"concept": [0]}, {"episode": [0]}, {"sample": [0]}],
)  # fmt: skip
def test_a_part_of_anything_else_is_shown(rose_run, part):
    numbers = {dim: at for dim, at in part.items() if dim != "arm"}
    names = {dim: at for dim, at in part.items() if dim == "arm"}
    assert not cc.explore_rose(rose_run.isel(numbers).sel(names)).fault.value
