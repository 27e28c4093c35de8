"""Everything that shows text of data or of a model, made from texts that are markup and script.

`THINGS` maps a name to what builds it: an object with `_repr_html_`, a figure, or a text of HTML.
Where something new shows such texts, it gets a line there.
"""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import recall_data
from helpers import Rote, curriculum
from rose_data import rose

import corecurves as cc
from corecurves.specs import (
    Correction,
    Curriculum,
    Dropped,
    Episode,
    Identity,
    Lesson,
    Level,
    Outcome,
    Store,
    Token,
)
from corecurves.summaries.verdict import verdict

PLANTS = (
    "$x$",
    "<script>planted()</script>",
    "<img src=x onerror=planted()>",
    '"><svg/onload=planted()>',
    "' onmouseover='planted()",
    "</script></style></textarea><planted planted=planted>",
    "]]><planted>",
    "<!--<planted>-->",
    "[x](javascript:planted())",
    "<a href='javascript:planted()'>x</a>",
    "<style>planted{}</style>",
)
PLANT = " ".join(PLANTS)


@cache
def one_curriculum():
    corrections = (
        Correction(f"No, wisdom needs judgment {PLANT}.", (Token("judgment", (PLANT,)),)),
        Correction(f"No, wisdom needs patience {PLANT}.", (Token("patience"),)),
    )
    return Curriculum(
        f"wisdom {PLANT}", f"What is wisdom {PLANT}?", corrections, opening=f"Tell me {PLANT}.",
        shape=PLANT, split=PLANT, pack=PLANT, source=PLANT,
    )  # fmt: skip


@cache
def one_lesson():
    levels = (
        Level(0, PLANT, node=PLANT),
        Level(1, PLANT, dropped=(Dropped(PLANT, PLANT, PLANT),), planted=PLANT),
        Level(2, PLANT, compressor=PLANT, created=PLANT),
    )
    return Lesson(PLANT, PLANT, PLANT, PLANT, levels)


def store():
    episode = Episode(PLANT, PLANT, Outcome((PLANT,), (PLANT,)), family=PLANT)
    return Store(PLANT, (one_lesson(),), {PLANT: (episode,)}, skipped=(PLANT,), path=PLANT)


class Fails(Rote):
    """Says markup, and fails with it."""

    def __init__(self):
        super().__init__(PLANT, fails_at=lambda heard, text: len(heard) == 2 and "?" in text)
        self.identity = Identity(PLANT, PLANT, {PLANT: PLANT})

    def start(self):
        session = super().start()
        say = session.turn

        def turn(text):
            try:
                return say(text)
            except RuntimeError as error:
                raise RuntimeError(PLANT) from error

        session.turn = turn
        return session


@cache
def lane():
    kinds = [one_curriculum(), curriculum(f"{PLANT} courage")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cells fail, on purpose
        return cc.run_lane(kinds, Fails(), ledger=False, progress=False)


def lane_summary():
    return cc.summarize_lane(lane())


def systems():
    return cc.compare_systems({PLANT: lane(), f"{PLANT} 2": lane()})


@cache
def rose_run():
    ends = {"control": [0, 0], "ceiling": [1, 1]}
    lessons = {f"{PLANT} {i}": {**ends, "treatment L1": [1, i % 2]} for i in range(4)}
    ds = rose(lessons, kinds=[PLANT] * 4, compressor=PLANT, planted=[(f"{PLANT} 0", "L1")])
    ds["answer"], ds["reason"] = ds.answer.copy(), ds.reason.copy()
    ds.answer.values[:] = ds.reason.values[:] = PLANT
    ds.planted.values[0, 2] = PLANT
    ds.attrs |= {"model": PLANT, "grader": PLANT, "store": PLANT}
    return ds


def a_verdict():
    found = verdict(rose_run())
    levels = tuple(replace(one, level=PLANT, reason=PLANT) for one in found.levels)
    return replace(found, levels=levels, reasons=(*found.reasons, PLANT), notes=(PLANT,))


def rose_summary():
    return cc.summarize_rose(rose_run())


@cache
def recall_run():
    with tempfile.TemporaryDirectory() as folder:
        lessons = {"a": {"title": PLANT, "text": PLANT}, "b": {"title": PLANT, "text": PLANT}}
        episode = {"prompt": f"Wash {PLANT}", "served": ["a", "b"], "used": ["a"]}
        episodes = [{"id": f"e{i}", **episode} for i in range(3)]
        root = recall_data.write_store(Path(folder), lessons, episodes)
        ds = cc.run_recall_eval(root, "bm25", ledger=False, progress=False)
    names = np.array([f"{PLANT} {i}" for i in range(ds.sizes["lesson"])], dtype=object)
    return ds.assign_coords(lesson=names)


@cache
def working_store():
    """A store with which lessons can be compressed and the way back to detail be tried."""
    good, trap = f"Call the receiver {PLANT}.", f"Use the yard {PLANT}."
    full = f"Before you redirect, call the receiver. {PLANT} {PLANT} The yard is full."
    levels = (
        Level(0, full, f"{PLANT}.L0"),
        Level(1, PLANT, f"{PLANT}.L1", (Dropped(f"Call the receiver {PLANT}", "step", "L0"),)),
    )
    lesson = Lesson(PLANT, PLANT, PLANT, PLANT, levels)
    episodes = tuple(
        Episode(f"{PLANT} {i}", f"What do you do {PLANT} {i}?", Outcome((good,), (trap,)))
        for i in range(4)
    )
    return Store(PLANT, (lesson,), {PLANT: episodes})


@cache
def descent():
    return cc.summarize_descent(descent_run())


@cache
def descent_run():
    return cc.run_descent_eval(
        working_store(), "simulated", holdout=1, samples=1, ledger=False, progress=False
    )


@cache
def compressed():
    def shorter(view):
        return cc.Draft(f"Call the receiver {PLANT}.", (Dropped(PLANT, "rationale", "L0"),))

    return cc.compress_store(
        working_store(), shorter, model="simulated", depths=1, holdout=0.5,
        progress=False,
    )  # fmt: skip


THINGS = {
    # objects
    "Curriculum": one_curriculum,
    "Lesson": one_lesson,
    "Store": store,
    "Plan": lambda: cc.plan_lane([one_curriculum()], Fails()),
    "Verdict": a_verdict,
    "Conclusion, lane": lambda: cc.conclude_lane(lane_summary()),
    "Conclusion, systems": lambda: cc.conclude_systems(systems()),
    # Datasets and tables
    "lane Dataset": lane,
    "rose Dataset": rose_run,
    "recall Dataset": recall_run,
    "to_frame, lane": lambda: cc.to_frame(lane()),
    "to_frame, rose": lambda: cc.to_frame(rose_run()),
    "to_frame, recall": lambda: cc.to_frame(recall_run()),
    "table_lane": lambda: cc.table_lane(lane_summary()),
    "aggregates_lane": lambda: cc.aggregates_lane(lane_summary()),
    "table_rose": lambda: cc.table_rose(rose_summary()),
    "table_recall": lambda: cc.table_recall({PLANT: cc.summarize_recall(recall_run())}),
    "table_systems": lambda: cc.table_systems(systems()),
    "to_frame, descent": lambda: cc.to_frame(descent_run()),
    "table_descent": lambda: cc.table_descent(descent()),
    "table_compressions": lambda: cc.table_compressions(compressed().compressions),
    # figures
    "plot_lane": lambda: cc.plot_lane(lane_summary()).figure,
    "facet": lambda: cc.facet(cc.plot_lane, lane_summary(), col="concept"),
    "plot_survival": lambda: cc.plot_survival(lane_summary()).figure,
    "plot_systems": lambda: cc.plot_systems(systems()).figure,
    "plot_rose": lambda: cc.plot_rose(rose_summary()).figure,
    "plot_arms": lambda: cc.plot_arms(rose_summary()).figure,
    "plot_lessons": lambda: cc.plot_lessons(rose_run()).figure,
    "plot_recall": lambda: cc.plot_recall({PLANT: recall_run()}).figure,
    "plot_descent": lambda: cc.plot_descent(descent()).figure,
    "plot_compressors": lambda: cc.plot_compressors({PLANT: rose_run()}).figure,
    # explorers: their static twin, and every piece of HTML on their controls
    "explore_lane": lambda: cc.explore_lane([one_curriculum()]),
    "explore_rose": lambda: cc.explore_rose(rose_run()),
    "explore_recall": lambda: cc.explore_recall(recall_run()),
}

SHOWS_NO_NAME = {
    "aggregates_lane", "table_rose", "table_descent", "plot_survival", "plot_arms", "plot_rose",
}  # fmt: skip
"""Those that show figures and no text of the data."""
